"""The gate: every rule is red on some mutant, and every named mutant red by the rules it names.

It looks at recorded rows alone, so that a test can blank a rule in them and see it named.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from mutants.matrix import Matrix, noticed_by


class Record(NamedTuple):
    """What the gate asks of one mutant."""

    mutant: str
    """Its id."""
    expect: tuple[str, ...]
    """The rules it names."""
    red: frozenset[str]
    """The rules that were red on it, each by its own check, and whether lockstep was."""


class Shortfall(NamedTuple):
    """A rule that was not shown red where it should have been."""

    rule: str
    """Its id."""
    mutant: str | None
    """The mutant that names it; none if no mutant at all turned it red."""

    def __str__(self) -> str:
        """Name the rule, and the mutant it missed."""
        if self.mutant is None:
            return f"{self.rule}: no mutant turns it red"
        return f"{self.mutant}: not noticed by {self.rule}, which it names"


def records_of(matrix: Matrix) -> list[Record]:
    """Return what the gate asks of each mutant of a matrix."""
    return [
        Record(one.id, one.expect, noticed_by(one, matrix.rows[one.id]))
        for one in matrix.candidates
    ]


def find_never_red(rules: Iterable[str], records: Iterable[Record]) -> list[Shortfall]:
    """Return the rules that no mutant turned red, in their order."""
    red: set[str] = set()
    for record in records:
        red |= record.red
    return [Shortfall(rule, None) for rule in rules if rule not in red]


def find_unnoticed(records: Iterable[Record]) -> list[Shortfall]:
    """Return each rule that a mutant names and that did not notice it."""
    return [
        Shortfall(rule, record.mutant)
        for record in records
        for rule in record.expect
        if rule not in record.red
    ]


def find_shortfalls(rules: Iterable[str], records: Collection[Record]) -> list[Shortfall]:
    """Return all for which a run fails, rules never red first."""
    return [*find_never_red(rules, records), *find_unnoticed(records)]
