"""Arguments: what no refusal has a word for is a clear error, before anything is looked at.

A number of the wrong type is a `TypeError` (a truth value is no number); one that no value of its
kind can be is a `ValueError`. A number that merely names nothing, like page -1, is left to the
refusals. Both name the argument, its value, and what would be right.
"""

import threading
from collections.abc import Sequence

import numpy as np

from device.handles import Handles
from device.layout import BadLayout, Bytes, Numbers
from device.runtime import Device
from reference.refusals import StaleHandle, TierError
from reference.words import Handle, Shape

VALUE_MAX = 2**63 - 1
"""The largest whole number that an argument may be."""


class WrongThread(TierError):
    """A call from another thread than the one that made the tier."""


def check_thread(owner: int) -> None:
    """Raise `WrongThread` unless the thread with this identity is the one that calls."""
    caller = threading.get_ident()
    if caller != owner:
        raise WrongThread(
            f"thread {caller} calls a tier of thread {owner}: only the thread that made a tier"
            " may call it"
        )


def check_device(device: Device) -> Shape:
    """Return the shape of a device. Raises `BadLayout` if its memory is not what it says."""
    shape, layout = Shape(device.pages, device.frames, device.layout.rows), device.layout
    host = device.host_pages().shape
    if host != (shape.pages, layout.rows, layout.row_bytes):
        raise BadLayout(
            f"the host pages have shape {host}: {device.name} says"
            f" {(shape.pages, layout.rows, layout.row_bytes)}"
        )
    return shape


def check_whole(name: str, value: object) -> int:
    """Return a whole number as `int`. Raises `TypeError`; `ValueError` beyond 64 bits."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is {value!r} of {type(value).__name__}: it must be an int")
    if abs(int(value)) > VALUE_MAX:
        raise ValueError(f"{name} is {value}: it must fit in 64 bits")
    return int(value)


def check_truth(name: str, value: object) -> bool:
    """Return a truth value as `bool`. Raises `TypeError`."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} is {value!r} of {type(value).__name__}: it must be a bool")
    return bool(value)


def check_handle(handle: object, tier: object) -> Handle:
    """Return a handle as a plain one.

    Raises `TypeError` if it is none; `StaleHandle` if another tier issued it.
    """
    if not isinstance(handle, Handle):
        raise TypeError(f"handle is {handle!r} of {type(handle).__name__}: it must be a Handle")
    fields = zip(("page", "frame", "generation"), handle, strict=True)
    plain = Handle(*(check_whole(f"the {name} of the handle", value) for name, value in fields))
    if getattr(handle, "tier", None) not in (None, tier):
        raise StaleHandle(plain)
    return plain


def check_numbers(name: str, values: object) -> Numbers:
    """Return whole numbers as an int64 array of one dimension.

    An array is looked at as a whole, by its dtype. Raises `TypeError`; `ValueError`.
    """
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "iu" or values.ndim != 1:
            raise TypeError(
                f"{name} are of {values.dtype} and shape {values.shape}: they must be one"
                " dimension of ints"
            )
        if values.dtype.kind == "u" and values.size and int(values.max()) > VALUE_MAX:
            raise ValueError(f"{name}: {values.max()} must fit in 64 bits")
        numbers = values.astype(np.int64)
        numbers.flags.writeable = False  # the tier keeps it, and gives it out in handles
        return numbers
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise TypeError(f"{name} are {values!r}: they must be a sequence of ints")
    whole = [check_whole(f"{name}[{index}]", value) for index, value in enumerate(values)]
    return np.array(whole, dtype=np.int64)


def check_rows(rows: object, count: int) -> Numbers:
    """Return so many row numbers as an int64 array. Raises `TypeError`; `ValueError`."""
    numbers = check_numbers("rows", rows)
    if len(numbers) != count:
        raise ValueError(f"there are {len(numbers)} rows for {count} handles")
    return numbers


def check_handles(handles: object, tier: object) -> Handles:
    """Return many handles as columns.

    Raises `TypeError` if they are none; `StaleHandle` if another tier issued one.
    """
    if isinstance(handles, Handles):
        _check_columns(handles)
        if handles.tier not in (None, tier) and len(handles):
            raise StaleHandle(Handle(*handles[0]))
        return handles
    if not isinstance(handles, Sequence) or isinstance(handles, str | bytes):
        raise TypeError(f"handles are {handles!r}: they must be Handles or a sequence of Handle")
    columns = np.empty((3, len(handles)), dtype=np.int64)
    for index, handle in enumerate(handles):
        columns[:, index] = check_handle(handle, tier)
    return Handles(columns[0], columns[1], columns[2], tier)


def _check_columns(handles: Handles) -> None:
    columns = (handles.pages, handles.frames, handles.generations)
    shape = getattr(handles.pages, "shape", ())
    for column in columns:
        kind, size = getattr(column, "dtype", type(column).__name__), getattr(column, "shape", ())
        if kind != np.int64 or len(size) != 1 or size != shape:
            raise TypeError(
                f"a column of the handles is of {kind} and shape {size}: all three must be int64,"
                " of one dimension and as long as each other"
            )


def check_content(name: str, content: object, shape: tuple[int, int]) -> Bytes:
    """Return rows of bytes as a uint8 array of this shape. Raises `TypeError`; `ValueError`."""
    if isinstance(content, bytes | bytearray | memoryview):
        content = np.frombuffer(content, dtype=np.uint8)
        content = content.reshape(shape) if content.size == shape[0] * shape[1] else content
    if not isinstance(content, np.ndarray) or content.dtype != np.uint8:
        kind = getattr(content, "dtype", type(content).__name__)
        raise TypeError(f"{name} is of {kind}: it must be bytes, or an array of uint8")
    if content.shape != shape:
        raise ValueError(f"{name} has shape {content.shape}: it must be {shape}")
    return content
