"""Tests of the bytes of a page: sizes, offsets, and the check against a real allocation."""

from typing import Any

import numpy as np
import pytest
from device_samples import numbers

from device.layout import (
    BadLayout,
    Layout,
    as_buffer,
    check_buffer,
    get_buffer_bytes,
    get_content_bytes,
    get_page_bytes,
    get_page_rows,
    get_row_offsets,
    view_padding,
    view_pages,
    view_rows,
)

PADDED = Layout(rows=3, row_bytes=5, row_stride=7)


def test_rows_are_packed_unless_a_stride_is_given() -> None:
    """The common case needs no third number."""
    assert Layout(3, 5, 5) == Layout(3, 5)


def test_sizes_of_a_padded_page() -> None:
    """A copy moves rows; what lies between them only takes room."""
    assert 21 == get_page_bytes(PADDED)
    assert 15 == get_content_bytes(PADDED)
    assert 84 == get_buffer_bytes(PADDED, 4)


def test_offsets_are_those_of_the_rows() -> None:
    """A width in place of a stride, or 32 bits, would be seen here."""
    offsets = get_row_offsets(PADDED, numbers(0, 1, 2), numbers(0, 2, 1))

    assert [0, 35, 49] == offsets.tolist()
    assert np.int64 == offsets.dtype


def test_offsets_reach_beyond_32_bits() -> None:
    """Device memory is larger than what 32 bits can name."""
    layout = Layout(16, 4096)

    assert [65535 * 65536 + 15 * 4096] == get_row_offsets(
        layout, numbers(65535), np.array([15], dtype=np.int8)
    ).tolist()


def test_views_show_rows_and_padding_of_the_buffer() -> None:
    """A view that is a copy would write nowhere."""
    buffer = np.arange(42, dtype=np.uint8)

    view_rows(PADDED, buffer)[4] = 0

    assert (6, 5) == view_rows(PADDED, buffer).shape
    assert [0, 0, 0, 0, 0, 33, 34] == buffer[28:35].tolist()
    assert [[33, 34]] == view_padding(PADDED, buffer)[4:5].tolist()
    assert [21, 22, 23, 24, 25] == view_pages(PADDED, buffer)[1, 0].tolist()


def test_rows_of_pages_are_listed_page_by_page() -> None:
    """Whole pages are copied as their rows."""
    assert [6, 7, 8, 0, 1, 2] == get_page_rows(PADDED, numbers(2, 0)).tolist()


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((0, 5, 7), "rows is 0: it must be at least 1"),
        ((3, -5, 7), "row_bytes is -5: it must be at least 1"),
        ((3, 5, 4), "row_stride is 4: rows of 5 bytes need a stride of at least 5"),
        ((True, 5, 7), "rows is True: it must be a whole number"),
        ((3, 5.0, 7), "row_bytes is 5.0: it must be a whole number"),
        ((3, "5", 7), "row_bytes is '5': it must be a whole number"),
        ((2**32, 5, 2**32), f"one page: {2**64} bytes are out of reach"),
    ],
)
def test_bad_size_is_named(sizes: Any, said: str) -> None:
    """An error that names value, place and what would be right needs no debugger."""
    with pytest.raises(BadLayout) as caught:
        Layout(*sizes)

    assert said in str(caught.value)


def test_largest_page_is_in_reach() -> None:
    """The bound is on the bytes that an offset can name, and not below it."""
    assert 2**63 - 1 == get_page_bytes(Layout(1, 1, 2**63 - 1))


def test_small_allocation_is_refused_with_its_arithmetic() -> None:
    """The last row of the last page would lie outside."""
    check_buffer(PADDED, "frame buffer", 4, 84)

    with pytest.raises(BadLayout) as caught:
        check_buffer(PADDED, "frame buffer", 4, 83)

    said = "the frame buffer has 83 bytes: 4 × 3 rows with a stride of 7 need 84"
    assert said == str(caught.value)


@pytest.mark.parametrize(
    ("buffer", "said"),
    [
        (bytes(84), "the host buffer is of bytes: it must be an array of uint8"),
        (np.zeros(84, dtype=np.int8), "the host buffer is of int8: it must be an array of uint8"),
        (np.zeros(168, dtype=np.uint8)[::2], "the host buffer must be C-contiguous and writable"),
        (np.zeros(60, dtype=np.uint8), "the host buffer has 60 bytes"),
    ],
)
def test_buffer_that_cannot_be_used_is_refused(buffer: Any, said: str) -> None:
    """What cannot be written in place would lose every copy."""
    with pytest.raises(BadLayout) as caught:
        as_buffer(PADDED, "host buffer", 4, buffer)

    assert said in str(caught.value)


def test_read_only_buffer_is_refused() -> None:
    """A copy to it would fail long after."""
    buffer = np.zeros(84, dtype=np.uint8)
    buffer.flags.writeable = False

    with pytest.raises(BadLayout):
        as_buffer(PADDED, "host buffer", 4, buffer)


def test_larger_buffer_is_used_from_its_begin() -> None:
    """What lies behind the last page is somebody else's."""
    buffer = np.zeros((2, 50), dtype=np.uint8)

    flat = as_buffer(PADDED, "host buffer", 4, buffer)
    flat[83] = 1

    assert (84,) == flat.shape
    assert 1 == buffer[1, 33]
