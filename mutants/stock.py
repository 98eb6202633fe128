"""Stock mutmut over all of the reference: its verdict with unit tests and the machine.

Beside the verdict the recorder notes which rule spoke, so that a kill by a unit test, a crash and
a kill by a rule can be told apart.
"""

from collections import Counter

import msgspec

from mutants.scratch import Scratch, Spoke

TESTS = (
    "reference",
    "reference_samples.py",
    "mutation/conftest.py",
    "mutation/test_stock_machine.py",
)
"""What mutmut runs."""

KILLED = frozenset({1, 3})
"""Exit codes of pytest that mutmut counts as a kill."""


class Verdict(msgspec.Struct, frozen=True):
    """What stock mutmut said."""

    killed: int
    """Mutants that some test failed on."""
    by_rule: int
    """Of those, mutants on which a rule spoke."""
    survived: tuple[str, ...]
    """mutmut's names of those that no test failed on."""
    others: dict[str, int]
    """How often each other exit code came up: time-outs and the like."""
    rules: dict[str, int]
    """For each rule, on how many mutants it spoke."""


def run_stock(scratch: Scratch, children: int, names: tuple[str, ...] = ()) -> Verdict:
    """Run mutmut in the scratch copy. Raises `RuntimeError` with its last words if it fails."""
    scratch.add_tests(*TESTS)
    done = scratch.run_mutmut(names, children)
    if done.returncode:
        raise RuntimeError(f"mutmut ended with {done.returncode}: {done.stderr[-500:]}")
    return get_verdict(scratch.read_exit_codes(), scratch.read_record())


def get_verdict(codes: dict[str, int | None], record: list[Spoke]) -> Verdict:
    """Return the verdict of pytest's exit codes and what the recorder saw."""
    ran = {name: code for name, code in codes.items() if code is not None}
    spoke = {(spoken.mutant, rule) for spoken in record for rule in spoken.rules}
    return Verdict(
        killed=sum(code in KILLED for code in ran.values()),
        by_rule=len({mutant for mutant, _ in spoke if ran.get(mutant) in KILLED}),
        survived=tuple(sorted(name for name, code in ran.items() if code == 0)),
        others=dict(
            sorted(Counter(str(c) for c in ran.values() if c not in KILLED and c != 0).items())
        ),
        rules=dict(sorted(Counter(rule for _, rule in spoke).items())),
    )
