"""Errors of a device: which call may raise which, and which must.

They are no refusals, the reference knows none of them. A call that the spec refuses is refused
before the device is asked; one that needs no device never raises; and once a device is lost, no
wait for it ends well.
"""

from collections.abc import Collection

from reference.calls import (
    Call,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Land,
    Outcome,
    Read,
    Truncate,
    Write,
    WriteBack,
)

ERRORS = frozenset({"OutOfMemory", "DeviceLost"})
"""What a call may raise that is no refusal: then it has changed nothing."""

QUEUES = (Read, Write, Truncate)
"""What needs memory of the device, and does not happen without. A copy without it fails late."""

WAITS = (Read, CompleteFill, CompleteWriteBack, Land)
"""What waits for the device."""

COPIES = (Fill, WriteBack)
"""What queues copies, if there are any."""


def judge_error(
    call: Call, expected: Outcome, error: str | None, faults: Collection[str]
) -> str | None:
    """Return what is wrong with the error that a call raised, or with there being none.

    `expected` is what the call comes to on a device that is well; `faults` are the errors that
    the device had reason to raise.
    """
    if error is None:
        is_due = "DeviceLost" in faults and isinstance(call, WAITS) and expected.refused is None
        return "DeviceLost: no wait for a lost device ends well" if is_due else None
    if error not in faults:
        return f"no {error}: nothing of the kind befell the device"
    if expected.refused is not None:
        return f"the refusal {expected.refused.name}: it comes before the device is asked"
    if error == "OutOfMemory":
        needs = isinstance(call, QUEUES)
    else:
        needs = isinstance(call, (*QUEUES, *WAITS)) or (
            isinstance(call, COPIES) and _has_copies(expected)
        )
    return None if needs else f"no {error}: this call needs no device"


def _has_copies(expected: Outcome) -> bool:
    """Return whether a fill or a write-back queues a copy: then it has a ticket."""
    value = expected.value
    return getattr(value, "ticket", value) is not None and not expected.failed
