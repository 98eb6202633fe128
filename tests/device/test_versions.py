"""Tests of versions as bytes: injective, torn rows and poison are none, zero is zero."""

import numpy as np
import pytest
from device_samples import numbers

from device.layout import BadLayout
from device.simulated import POISON
from device.versions import HashCodec, VersionCodec


@pytest.mark.parametrize("row_bytes", [16, 17, 24, 27, 64])
def test_versions_come_back(row_bytes: int) -> None:
    """What was written is what is shown."""
    codec = VersionCodec(row_bytes)
    lives, rows, values = numbers(1, 1, 2, 3), numbers(0, 1, 0, 5), numbers(0, 1, 7, 2**63 - 1)

    content = codec.encode(lives, rows, values)

    assert (4, row_bytes) == content.shape
    assert values.tolist() == codec.decode(lives, rows, content).tolist()


def test_each_life_row_and_version_has_bytes_of_its_own() -> None:
    """A row in a wrong place, or of an earlier life, is seen to be one."""
    codec = VersionCodec(16)
    names = [(life, row, value) for life in (1, 2, 3) for row in (0, 1) for value in (1, 2, 3)]
    columns = np.array(names, dtype=np.int64).T

    contents = {row.tobytes() for row in codec.encode(columns[0], columns[1], columns[2])}

    assert len(names) == len(contents)


def test_bytes_of_another_life_or_row_are_no_version() -> None:
    """Decoding is told where a row is."""
    codec = VersionCodec(27)
    content = codec.encode(numbers(1), numbers(0), numbers(5))

    assert codec.decode(numbers(2), numbers(0), content)[0] < 0
    assert codec.decode(numbers(1), numbers(1), content)[0] < 0


def test_zero_bytes_are_version_zero_everywhere() -> None:
    """A fresh page reads zero in whatever life it is."""
    codec = VersionCodec(27)
    zeros = np.zeros((1, 27), dtype=np.uint8)

    assert [0] == codec.decode(numbers(9), numbers(1), zeros).tolist()
    assert not codec.encode(numbers(9), numbers(1), numbers(0)).any()


def test_each_flipped_byte_makes_it_no_version() -> None:
    """A torn row mixes the bytes of two versions."""
    codec = VersionCodec(27)
    content = codec.encode(numbers(1), numbers(0), numbers(5))
    for index in range(27):
        torn = content.copy()
        torn[0, index] ^= 1

        assert codec.decode(numbers(1), numbers(0), torn)[0] < 0


def test_half_of_each_of_two_versions_is_none() -> None:
    """Halves are what a simulated copy lands."""
    codec = VersionCodec(27)
    old, new = codec.encode(numbers(1, 1), numbers(0, 0), numbers(5, 6))
    for torn in (np.concatenate((old[:14], new[14:])), np.concatenate((new[:14], old[14:]))):
        assert codec.decode(numbers(1), numbers(0), torn[None])[0] < 0


def test_poison_is_no_version() -> None:
    """Who reads memory that nobody wrote has to see it."""
    poison = np.full((1, 27), POISON, dtype=np.uint8)

    assert VersionCodec(27).decode(numbers(1), numbers(0), poison)[0] < 0


def test_version_below_zero_is_an_error() -> None:
    """Negative numbers are what no version is shown as."""
    with pytest.raises(ValueError, match="version -1 is below 0"):
        VersionCodec(27).encode(numbers(1), numbers(0), numbers(-1))


def test_short_row_is_an_error() -> None:
    """Too few bytes cannot tell versions apart."""
    with pytest.raises(BadLayout, match="row_bytes is 15: rows of versions need at least 16"):
        VersionCodec(15)


def test_bytes_of_any_kind_are_shown_by_their_hash() -> None:
    """Rows whose truth the caller keeps are compared by what they hold."""
    content = np.zeros((3, 4), dtype=np.uint8)
    content[1:, 0] = 1

    shown = HashCodec().decode(numbers(1, 1, 2), numbers(0, 1, 0), content).tolist()

    assert 0 == shown[0]
    assert shown[1] == shown[2] < 0


def test_bytes_of_any_kind_have_no_values() -> None:
    """Writing a version into them would be no version after."""
    with pytest.raises(ValueError, match="write_bytes"):
        HashCodec().encode(numbers(1), numbers(0), numbers(1))
