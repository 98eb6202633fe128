"""Who noticed a mutant in a run, and the shortest calls that show it, in a form the docs keep."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from mutants.matrix import Status
from mutants.report.model import MutantEntry, Noticed, Report
from properties.names import shorten_call, shorten_choice
from properties.trace import SymbolicTrace, decode


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one mutant in a run."""

    mutant: str
    """Its id."""
    status: Status
    """What became of it."""
    named: tuple[str, ...] = ()
    """The rules that must notice and did."""
    others: int = 0
    """How many other rules noticed."""
    rule: str = ""
    """The rule of the shortest trace; a named one if one has a trace."""
    scope: str = ""
    """Where that was."""
    calls: tuple[str, ...] = ()
    """The calls of that trace; none if only a whole space shows it."""


def gather_shown(report: Report, folder: Path, mutants: Iterable[str]) -> tuple[Shown, ...]:
    """Return what became of these mutants, sorted by id; `folder` holds the report's traces.

    Raises `KeyError` for a mutant that is not in the report, `OSError` for a trace that is gone
    and `TraceError` for one that cannot be read.
    """
    found = []
    for mutant in sorted(set(mutants)):
        entry = report.get_mutant(mutant)
        if entry is None:
            raise KeyError(mutant)
        found.append(_show(entry, folder))
    return tuple(found)


def _show(entry: MutantEntry, folder: Path) -> Shown:
    named = tuple(one.rule for one in entry.noticed if one.rule in entry.expect)
    shown = Shown(
        mutant=entry.id, status=entry.status, named=named, others=len(entry.noticed) - len(named)
    )
    first = get_shortest(entry)
    if first is None:
        return shown
    calls: tuple[str, ...] = ()
    if first.trace is not None:
        text = (folder / first.trace).read_text(encoding="utf-8")
        calls = say_trace(decode(text, first.trace))
    return msgspec.structs.replace(shown, rule=first.rule, scope=first.scope, calls=calls)


def get_shortest(entry: MutantEntry) -> Noticed | None:
    """Return by which rule a mutant is best shown: one it names, by the fewest calls."""

    def rank(noticed: Noticed) -> tuple[bool, bool, int, str]:
        unnamed = noticed.rule not in entry.expect
        return noticed.trace is None, unnamed, noticed.calls or 0, noticed.rule

    return min(entry.noticed, key=rank, default=None)


def say_trace(trace: SymbolicTrace) -> tuple[str, ...]:
    """Return each call of a trace, with what was chosen where that is not the default."""
    said = []
    for line in trace.lines:
        call = shorten_call(line.op, line.arguments)
        said.append(call if line.choice is None else f"{call} with {shorten_choice(line.choice)}")
    return tuple(said)
