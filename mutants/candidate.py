"""A mutant on its way through the engine, whoever made it."""

from collections.abc import Iterable, Mapping

import msgspec

from mutants.edit import Origin, Original, SourceMutant
from mutants.entry import Named, apply_edits
from mutants.variant import all_sources, is_of_device


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One wrong version, ready to be compiled."""

    id: str
    """Its name."""
    origin: Origin
    """Who made it."""
    does: str
    """What changed, or what a user would see."""
    sources: dict[str, str]
    """The new text of each changed module, by dotted name."""
    places: tuple[tuple[str, str, int], ...]
    """Module, function (`<module>` for none) and first changed line of each change."""
    diff: str
    """Unified."""
    expect: tuple[str, ...] = ()
    """Rules that must notice."""
    seen_in: tuple[str, ...] = ()
    """Public reports or review remarks it mirrors."""
    scope: str | None = None
    """The smallest scope where it shows, if not the first of the ladder."""
    number: int | None = None
    """Its number in the list of changes that every suite must notice."""
    equivalent_because: str = ""
    """Why nothing can notice it."""
    alias: str = ""
    """mutmut's own name."""

    @property
    def of_device(self) -> bool:
        """Whether it is run on the simulated device, in lockstep with the reference."""
        return is_of_device(module for module, _, _ in self.places)


def from_source(mutant: SourceMutant) -> Candidate:
    """Return a generated mutant as a candidate."""
    return Candidate(
        id=mutant.id,
        origin=mutant.origin,
        does=mutant.does,
        sources={mutant.module: mutant.source},
        places=((mutant.module, mutant.function, mutant.line),),
        diff=mutant.diff,
        alias=mutant.alias,
    )


def from_named(named: Named) -> Candidate:
    """Return a catalogue entry as a candidate. Raises `StaleAnchor`."""
    sources = apply_edits(named, all_sources())
    parts = [_original(module).mutant(text, origin="catalogue") for module, text in sources.items()]
    return Candidate(
        id=named.id,
        origin="catalogue",
        does=named.does,
        sources=dict(sources),
        places=tuple((part.module, part.function, part.line) for part in parts),
        diff="".join(part.diff for part in parts),
        expect=named.expect,
        seen_in=named.seen_in,
        scope=named.scope,
        number=named.number,
        equivalent_because=named.equivalent_because,
    )


def from_texts(
    candidate_id: str, does: str, sources: Mapping[str, str], expect: Iterable[str] = ()
) -> Candidate:
    """Return a candidate from changed texts, such as the canary and the no-op."""
    return Candidate(
        id=candidate_id,
        origin="catalogue",
        does=does,
        sources=dict(sources),
        places=tuple((module, "<module>", 1) for module in sources),
        diff="",
        expect=tuple(expect),
    )


def _original(module: str) -> Original:
    path = module.replace(".", "/") + ".py"
    return Original(module, path, all_sources()[module])
