"""Our verdict beside stock mutmut's: for each rule, one or two mutants that it turned red on.

Those it alone noticed come first, and mutmut's own before others. Agreement means that the
recorder saw that very rule while mutmut had that very mutant under test. Random search would be
too shallow for many, so the shortest trace of our matrix is run as an explicit test; rules of the
whole space have a test of their own. A mutant that is not mutmut's is put into the source and the
same tests are run on it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from mutants.candidate import Candidate
from mutants.report.model import Report, RuleEntry
from mutants.scratch import Scratch, Spoke

PER_RULE = 2
"""Mutants that are confirmed for each rule, where there are so many."""


class Chosen(msgspec.Struct, frozen=True):
    """A cell of the matrix that is to be confirmed."""

    rule: str
    mutant: str
    alias: str
    """mutmut's name of it; empty if it is not mutmut's."""
    trace: str | None
    """Its shortest trace, relative to the report; none for a rule of the whole space."""

    @property
    def label(self) -> str:
        """The name under which the recorder knows it."""
        return self.alias or self.mutant


class Confirmed(msgspec.Struct, frozen=True):
    """A cell and what was seen of it outside our engine."""

    rule: str
    mutant: str
    by: Literal["mutmut", "edited source"]
    rules: tuple[str, ...]
    """Every rule that the recorder saw."""
    agrees: bool


def choose(report: Report) -> list[Chosen]:
    """Return the cells to confirm, in the order of the rules."""
    return [chosen for rule in report.rules for chosen in _choose_for(report, rule)]


def _choose_for(report: Report, rule: RuleEntry) -> list[Chosen]:
    found = []
    for red in rule.red_on:
        entry = report.get_mutant(red.mutant)
        assert entry is not None, red.mutant
        if entry.of_device:
            continue  # the tests of the scratch copy drive the reference
        # A mutant that also crashes may crash before the rule can speak in another order of calls.
        rank = (bool(entry.crash), not entry.alias, red.mutant not in rule.alone_on, red.calls or 0)
        chosen = Chosen(rule.id, red.mutant, entry.alias, red.trace)
        found.append((rank, red.mutant, chosen))
    return [chosen for _, _, chosen in sorted(found, key=lambda one: one[:2])[:PER_RULE]]


def confirm(
    report: Report,
    folder: Path,
    scratch: Scratch,
    chosen: Sequence[Chosen],
    candidates: dict[str, Candidate],
    *,
    children: int,
    say: Callable[[str], None],
) -> list[Confirmed]:
    """Run the chosen cells outside our engine and return what was seen of each.

    `folder` holds the report and its traces; `candidates` the mutants by id.
    """
    scratch.add_tests(
        "mutation/conftest.py", "mutation/test_confirm_traces.py", "mutation/test_confirm_space.py"
    )
    _copy_traces(folder, scratch, chosen)
    events = sorted(_tiny_events(report))
    (scratch.folder / "tests" / "events.json").write_bytes(msgspec.json.encode(events))
    names = sorted({one.alias for one in chosen if one.alias})
    say(f"mutmut runs {len(names)} mutants")
    done = scratch.run_mutmut(names, children)
    if done.returncode:
        raise RuntimeError(f"mutmut ended with {done.returncode}: {done.stderr[-500:]}")
    others = sorted({one.mutant for one in chosen if not one.alias})
    for number, mutant in enumerate(others, start=1):
        say(f"edited source {number} of {len(others)}: {mutant}")
        scratch.run_edited(mutant, candidates[mutant].sources)
    return [_compare(one, scratch.read_record()) for one in chosen]


def _copy_traces(folder: Path, scratch: Scratch, chosen: Sequence[Chosen]) -> None:
    target = scratch.folder / "tests" / "traces"
    target.mkdir()
    for one in chosen:
        if one.trace is not None:
            text = (folder / one.trace).read_bytes()
            (target / f"{one.rule}--{one.mutant}.jsonl").write_bytes(text)


def _tiny_events(report: Report) -> set[str]:
    for scope in report.exploration:
        if scope.scope == "tiny":
            return set(scope.counts)
    raise ValueError("the report has no search of tiny")


def _compare(one: Chosen, record: Sequence[Spoke]) -> Confirmed:
    rules = {rule for spoke in record if spoke.mutant == one.label for rule in spoke.rules}
    by: Literal["mutmut", "edited source"] = "mutmut" if one.alias else "edited source"
    return Confirmed(one.rule, one.mutant, by, tuple(sorted(rules)), one.rule in rules)
