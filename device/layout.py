"""Where the bytes of a page lie: pure arithmetic, and the check against a real allocation.

A buffer holds pages (frames) one after the other. A page is `rows` rows, `row_stride` bytes from
the begin of one to the begin of the next; the first `row_bytes` of them are the row, the rest is
padding, which is somebody else's and is neither read nor written. The same layout holds in device
frames and in host pages. Owned here: sizes and offsets. Not owned: who allocates.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]
"""Bytes as they are in memory."""

Numbers: TypeAlias = npt.NDArray[np.int64]
"""Pages, frames, rows or offsets in bytes: always 64 bits wide."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""Which entries of a table something is true of."""

BYTES_MAX = 2**63 - 1
"""The largest size that an offset of 64 bits with a sign can reach."""


class BadLayout(ValueError):
    """A size that cannot be: the message names it, its value, and what would be right."""


class _Fields(NamedTuple):
    rows: int
    row_bytes: int
    row_stride: int


class Layout(_Fields):
    """The bytes of a page: `rows` rows of `row_bytes`, one every `row_stride` bytes.

    No size need be a multiple of anything. `Layout(2, 24)` packs the rows: stride equals row.
    Raises `BadLayout` for a size that is no whole number of at least 1, a stride below the row,
    or a page that an offset of 64 bits cannot reach.
    """

    __slots__ = ()

    def __new__(cls, rows: int, row_bytes: int, row_stride: int | None = None) -> "Layout":
        """Check the sizes; without a stride the rows are packed."""
        stride = row_bytes if row_stride is None else row_stride
        for name, value in (("rows", rows), ("row_bytes", row_bytes), ("row_stride", stride)):
            check_size(name, value)
        if stride < row_bytes:
            raise BadLayout(
                f"row_stride is {stride}: rows of {row_bytes} bytes need a stride of at least"
                f" {row_bytes}"
            )
        layout = super().__new__(cls, rows, row_bytes, stride)
        check_reach(layout, "one page", 1)
        return layout


def get_page_bytes(layout: Layout) -> int:
    """Return the bytes from the begin of one page to the begin of the next, padding included."""
    return layout.rows * layout.row_stride


def get_content_bytes(layout: Layout) -> int:
    """Return the bytes of a page that are rows: what a copy moves."""
    return layout.rows * layout.row_bytes


def get_buffer_bytes(layout: Layout, count: int) -> int:
    """Return the bytes that so many pages need. Python's integers do not overflow."""
    return count * get_page_bytes(layout)


def get_row_offsets(layout: Layout, pages: Numbers, rows: Numbers) -> Numbers:
    """Return where rows begin in the buffer: bytes, int64, of the shape the numbers broadcast to.

    `pages` are numbers of pages or frames in the buffer, `rows` of rows in each. Not checked.
    """
    wide = np.asarray(pages, dtype=np.int64) * np.int64(get_page_bytes(layout))
    offsets: Numbers = wide + np.asarray(rows, dtype=np.int64) * np.int64(layout.row_stride)
    return offsets


def check_size(name: str, value: object) -> None:
    """Raise `BadLayout` unless the value is a whole number of at least 1, and no truth value."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadLayout(f"{name} is {value!r}: it must be a whole number of at least 1")
    if value < 1:
        raise BadLayout(f"{name} is {value}: it must be at least 1")


def check_reach(layout: Layout, place: str, count: int) -> None:
    """Raise `BadLayout` if an offset of 64 bits does not reach the end of so many pages."""
    size = get_buffer_bytes(layout, count)
    if size > BYTES_MAX:
        raise BadLayout(f"{place}: {size} bytes are out of reach, at most {BYTES_MAX}")


def check_buffer(layout: Layout, place: str, count: int, size_bytes: int) -> None:
    """Check a real allocation of `size_bytes` against what `count` pages need.

    Raises `BadLayout`, naming the place, both sizes, and how they come about. A larger buffer is
    fine: what lies behind the last page is somebody else's.
    """
    check_reach(layout, place, count)
    needed = get_buffer_bytes(layout, count)
    if size_bytes < needed:
        raise BadLayout(
            f"the {place} has {size_bytes} bytes: {count} × {layout.rows} rows with a stride of"
            f" {layout.row_stride} need {needed}"
        )


def as_buffer(layout: Layout, place: str, count: int, buffer: object) -> Bytes:
    """Return the first bytes of a host array as one flat uint8 view, checked against the layout.

    Raises `BadLayout` if it is no writable, C-contiguous array of bytes, or too small.
    """
    if not isinstance(buffer, np.ndarray) or buffer.dtype != np.uint8:
        kind = getattr(buffer, "dtype", type(buffer).__name__)
        raise BadLayout(f"the {place} is of {kind}: it must be an array of uint8")
    if not (buffer.flags.c_contiguous and buffer.flags.writeable):
        raise BadLayout(f"the {place} must be C-contiguous and writable")
    check_buffer(layout, place, count, buffer.nbytes)
    return buffer.reshape(-1)[: get_buffer_bytes(layout, count)]


def view_rows(layout: Layout, buffer: Bytes) -> Bytes:
    """Return the rows of a flat buffer as a view, shape (pages × rows, row_bytes), no copy.

    Row `r` of page `p` is entry `p * rows + r`. The buffer holds whole pages.
    """
    return buffer.reshape(-1, layout.row_stride)[:, : layout.row_bytes]


def view_padding(layout: Layout, buffer: Bytes) -> Bytes:
    """Return the padding after each row as a view, shape (pages × rows, stride - row bytes)."""
    return buffer.reshape(-1, layout.row_stride)[:, layout.row_bytes :]


def view_pages(layout: Layout, buffer: Bytes) -> Bytes:
    """Return the pages of a flat buffer as a view, shape (pages, rows, row_bytes), no copy."""
    whole = buffer.reshape(-1, layout.rows, layout.row_stride)
    return whole[:, :, : layout.row_bytes]


def get_page_rows(layout: Layout, pages: Numbers) -> Numbers:
    """Return the entries of `view_rows` that are the rows of these pages, page by page, int64."""
    first = np.asarray(pages, dtype=np.int64)[:, None] * np.int64(layout.rows)
    return (first + np.arange(layout.rows, dtype=np.int64)).reshape(-1)
