"""The roster: every mutant there is, the named ones and the generated, as candidates.

Owned here: who is on it, and finding one by its id. Not here: making them (`catalogue`,
`generated`, `operators`) and judging them (`matrix`).
"""

import difflib
import importlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from mutants import generated, operators
from mutants.candidate import Candidate, from_named, from_source
from mutants.catalogue import all_mutants
from mutants.edit import Generated, Origin, joined
from mutants.variant import PACKAGE, SHARED

ORIGINS: tuple[Origin, ...] = ("catalogue", "mutmut", "operator")
SCRATCH = Path("build") / "mutmut"
"""Where mutmut may write, relative to where the command is run."""
CLOSE_MAX = 3
"""Ids that are offered for one that is unknown."""


class UnknownMutant(LookupError):
    """No mutant has this id."""

    def __init__(self, mutant: str, close: Sequence[str]) -> None:
        what = f"close are {', '.join(close)}" if close else "`python -m mutants list` shows them"
        super().__init__(f"no mutant is called {mutant!r}; {what}")
        self.mutant = mutant
        self.close = tuple(close)


def catalogue() -> tuple[Candidate, ...]:
    """Return the named mutants, sorted by id. Raises `StaleAnchor`."""
    return tuple(from_named(named) for named in all_mutants())


@cache
def generate(origins: tuple[Origin, ...] = ORIGINS) -> tuple[Candidate, ...]:
    """Return the generated mutants of these makers, one program once, by module, line and id.

    Raises `MutmutChanged`.
    """
    package = Path(str(importlib.import_module(PACKAGE).__file__)).parent
    parts: list[Generated] = []
    if "mutmut" in origins:
        parts.append(generated.generate(package, SCRATCH))
    if "operator" in origins:
        parts.append(operators.generate(package))
    # The vocabulary is the harness's too: a mutant of it would change what judges it.
    return tuple(from_source(one) for one in joined(parts).mutants if one.module not in SHARED)


def gather(origins: Sequence[Origin] = ORIGINS) -> tuple[Candidate, ...]:
    """Return all mutants of these makers, the named ones first.

    Raises `StaleAnchor`, `MutmutChanged`.
    """
    named = catalogue() if "catalogue" in origins else ()
    return (*named, *generate(tuple(origins)))


def choose(ids: Iterable[str]) -> tuple[Candidate, ...]:
    """Return the mutants with these ids, in this order, each once.

    Raises `UnknownMutant`, `StaleAnchor`, and `MutmutChanged` if one of them is no named mutant.
    """
    wanted = tuple(dict.fromkeys(ids))
    named = {one.id: one for one in all_mutants()}
    made = {} if named.keys() >= set(wanted) else {one.id: one for one in generate()}
    for mutant in wanted:
        if mutant not in named and mutant not in made:
            raise UnknownMutant(mutant, get_close(mutant, (*named, *made)))
    return tuple(from_named(named[one]) if one in named else made[one] for one in wanted)


def get_close(mutant: str, ids: Iterable[str]) -> list[str]:
    """Return the ids most like this one, the most alike first."""
    return difflib.get_close_matches(mutant, list(ids), n=CLOSE_MAX)
