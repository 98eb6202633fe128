"""Looking up a mutant as a subject: what replays a trace that was recorded on one."""

from functools import cache

from mutants.entry import StaleAnchor
from mutants.roster import UnknownMutant, choose
from mutants.variant import Variant
from properties.subject import Model
from reference.words import Shape


def model(mutant: str, shape: Shape, off: bool) -> Model:
    """Return the model of a mutant, named or generated. Raises `LookupError` if there is none."""
    return _variant(mutant).model(shape, off)


@cache
def _variant(mutant: str) -> Variant:
    try:
        (candidate,) = choose([mutant])
    except UnknownMutant as unknown:
        close = f"close are {', '.join(unknown.close)}" if unknown.close else "nor is any like it"
        raise LookupError(f"no mutant is called so; {close}") from None
    except StaleAnchor as stale:
        raise LookupError(f"it cannot be made: {stale}") from None
    return Variant(candidate.sources)
