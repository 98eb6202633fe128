"""The roster: every mutant there is, the named ones and the generated, as candidates.

Owned here: who is on it, and finding one by its id. Not here: making them (`catalogue`,
`generated`, `operators`) and judging them (`matrix`).

Of the reference all generated mutants are on it. Of the device those of the modules that do the
bookkeeping (`DEVICE_MODULES`): all of `tier` and `pool`, of the others one of two in the order of
their ids, which are hashes, since running them takes a hundred times as long. Left out are the
simulated device, the modules for a GPU, the containers (`victims`, `free_set`, `page_map`, ...),
which have unit tests, and what only shows.
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
from mutants.variant import DEVICE, PACKAGE, SHARED

ORIGINS: tuple[Origin, ...] = ("catalogue", "mutmut", "operator")
SCRATCH = Path("build") / "mutmut"
"""Where mutmut may write, relative to where the command is run."""
DEVICE_MODULES = tuple(
    f"{DEVICE}.{name}"
    for name in (
        "data_path",
        "dirt",
        "fill",
        "frames",
        "holds",
        "leave",
        "pins",
        "pool",
        "quarantine",
        "tier",
    )
)
"""The modules of the device whose generated mutants are judged."""
JUDGED_WHOLE = (f"{DEVICE}.pool", f"{DEVICE}.tier")
"""Those of which every generated mutant is judged."""
ONE_OF = 2
"""Of so many of each of the others, in the order of their ids, the first is judged."""
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


@cache
def generate_of_device(origins: tuple[Origin, ...] = ORIGINS) -> tuple[Candidate, ...]:
    """Return the generated mutants of the device, as `generate`, those not judged too.

    Raises `MutmutChanged`.
    """
    package = Path(str(importlib.import_module(DEVICE).__file__)).parent
    parts: list[Generated] = []
    if "mutmut" in origins:
        parts.append(generated.generate(package, SCRATCH, DEVICE_MODULES))
    if "operator" in origins:
        parts.append(operators.generate(package, DEVICE_MODULES))
    return tuple(from_source(one) for one in joined(parts).mutants)


def sample(made: Iterable[Candidate], one_of: int = ONE_OF) -> tuple[Candidate, ...]:
    """Return one of so many of each module, the first in the order of their ids, as they were.

    Of the modules that are judged whole, all.
    """
    by_module: dict[str, list[str]] = {}
    made = tuple(made)
    for one in made:
        by_module.setdefault(one.places[0][0], []).append(one.id)
    kept = {
        mutant
        for module, ids in by_module.items()
        for mutant in sorted(ids)[:: 1 if module in JUDGED_WHOLE else one_of]
    }
    return tuple(one for one in made if one.id in kept)


def gather_of_device(origins: Sequence[Origin] = ORIGINS) -> tuple[Candidate, ...]:
    """Return the mutants of the device that are judged, the named ones first.

    Raises `StaleAnchor`, `MutmutChanged`.
    """
    named = catalogue() if "catalogue" in origins else ()
    of_device = tuple(one for one in named if one.of_device)
    return (*of_device, *sample(generate_of_device(tuple(origins))))


def gather(origins: Sequence[Origin] = ORIGINS) -> tuple[Candidate, ...]:
    """Return all mutants of these makers that are judged, the named ones first.

    Raises `StaleAnchor`, `MutmutChanged`.
    """
    named = catalogue() if "catalogue" in origins else ()
    makers = tuple(origins)
    return (*named, *generate(makers), *sample(generate_of_device(makers)))


def choose(ids: Iterable[str]) -> tuple[Candidate, ...]:
    """Return the mutants with these ids, in this order, each once.

    Raises `UnknownMutant`, `StaleAnchor`, and `MutmutChanged` if one of them is no named mutant.
    """
    wanted = tuple(dict.fromkeys(ids))
    named = {one.id: one for one in all_mutants()}
    others = set(wanted) - named.keys()
    made: dict[str, Candidate] = {}
    if any(not mutant.startswith(f"{DEVICE}.") for mutant in others):
        made |= {one.id: one for one in generate()}
    if any(mutant.startswith(f"{DEVICE}.") for mutant in others):
        made |= {one.id: one for one in generate_of_device()}
    for mutant in wanted:
        if mutant not in named and mutant not in made:
            raise UnknownMutant(mutant, get_close(mutant, (*named, *made)))
    return tuple(from_named(named[one]) if one in named else made[one] for one in wanted)


def get_close(mutant: str, ids: Iterable[str]) -> list[str]:
    """Return the ids most like this one, the most alike first."""
    return difflib.get_close_matches(mutant, list(ids), n=CLOSE_MAX)
