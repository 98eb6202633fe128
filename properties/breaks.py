"""The trace of a break that a survey found."""

from properties.survey import Broken
from properties.trace import Header, Trace, record
from reference.calls import DEFAULT


def trace_of(broken: Broken, subject: str) -> Trace | None:
    """Return the shortest trace of a break; a rule of the whole space has none."""
    search = broken.search
    first = None if search is None else search.breaks.get(broken.rule)
    if search is None or first is None:
        return None
    calls = search.path(first.node)
    if first.call is not None:
        calls.append((first.call, first.choice or DEFAULT))
    header = Header(
        shape=search.scope.shape,
        off=search.scope.off,
        subject=subject,
        rule=broken.rule,
        because=broken.because,
        scope=search.scope.name,
    )
    return record(search.model, header, calls)
