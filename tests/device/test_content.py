"""Content: what a K/V cache holds comes back byte for byte, whatever the bytes mean.

Written, written back, evicted and filled again, on a device whose copies land in any order. A tier
moves bytes: it must not know that some of them are NaN, or that half a byte is a number.
"""

from random import Random
from typing import Any

import numpy as np
import pytest
from device_samples import pin

from device.layout import Bytes, Layout
from device.schedule import Moody
from device.simulated import SimulatedDevice
from device.tier import Tier
from device.versions import HashCodec

ROWS = 3
VALUES = 48
"""Numbers in a row."""
GROUP = 16
"""Numbers that share a scale."""


def come_back(content: Bytes, seed: int) -> tuple[Bytes, Bytes, Bytes]:
    """Pages of these bytes (pages, rows, row_bytes): as written, from the host, and read again."""
    pages, rows, row_bytes = content.shape
    layout = Layout(rows, row_bytes, row_bytes + 5)
    device = SimulatedDevice(layout, pages + 2, 2, pick=Moody(Random(seed), 0.5))
    tier = Tier(device, codec=HashCodec())
    lease = tier.open(2)
    held = [tier.alloc(lease) for _ in range(pages + 2)]
    for page in range(pages):
        (handle,) = pin(tier, lease, page)
        tier.mark_dirty(lease, handle)
        tier.write_bytes_all(lease, [handle] * rows, range(rows), content[page])
        ticket = tier.write_back(lease, handle)
        assert ticket is not None
        assert tier.complete_write_back(lease, ticket)
        tier.unpin(lease, handle)
    for handle in pin(tier, lease, *held[-2:]):  # both frames: everything else is evicted
        tier.unpin(lease, handle)
    host = np.stack([tier.read_host(page) for page in range(pages)])
    return content, host, np.stack([read_again(tier, lease, page) for page in range(pages)])


def read_again(tier: Tier, lease: int, page: int) -> Bytes:
    """The bytes of a page after it was evicted and filled again."""
    assert tier.lookup(lease, page) is None
    (handle,) = pin(tier, lease, page)
    rows = tier.get_read(tier.read_later(lease, [handle] * ROWS, range(ROWS)))
    tier.unpin(lease, handle)
    return rows.copy()


def assert_same(content: Bytes, seed: int = 0) -> None:
    """Pages of these bytes come back."""
    written, host, read = come_back(content, seed)

    assert written.tobytes() == host.tobytes()
    assert written.tobytes() == read.tobytes()


def as_pages(numbers: Any) -> Bytes:
    """Arrays of numbers (pages, rows, values) as the bytes of pages."""
    pages, rows, _ = numbers.shape
    return np.ascontiguousarray(numbers).view(np.uint8).reshape(pages, rows, -1)


def draw(seed: int, *shape: int) -> Any:
    """Numbers of all sizes, some of them special."""
    random = np.random.default_rng(seed)
    drawn = random.standard_normal(shape) * 10.0 ** random.integers(-8, 8, shape)
    return np.where(random.random(shape) < 0.1, random.choice([np.inf, -0.0, np.nan], shape), drawn)


# ------------------------------------------------------------------------------ kinds of numbers


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_rows_of_short_floats_come_back(kind: str, seed: int) -> None:
    """The numbers of a K/V cache, and of one that is quantised to a byte."""
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes makes these numbers")
    with np.errstate(all="ignore"):
        numbers = draw(seed, 4, ROWS, VALUES).astype(getattr(ml_dtypes, kind))

    assert_same(as_pages(numbers), seed)


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_four_bits_with_scales_come_back(seed: int) -> None:
    """Two numbers a byte, and behind them one scale for each group."""
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes makes these numbers")
    random = np.random.default_rng(seed)
    numbers = random.integers(-8, 8, (4, ROWS, VALUES)).astype(ml_dtypes.int4)
    nibbles = numbers.astype(np.int8).view(np.uint8) & 0xF
    packed = nibbles[..., ::2] | (nibbles[..., 1::2] << 4)
    scales = np.exp2(random.integers(-20, 20, (4, ROWS, VALUES // GROUP)))
    content = np.concatenate((packed, as_pages(scales.astype(ml_dtypes.float8_e8m0fnu))), axis=2)

    assert (4, ROWS, VALUES // 2 + VALUES // GROUP) == content.shape
    assert_same(content, seed)


# -------------------------------------------------------------------------------- hard content


def test_every_nan_keeps_its_payload() -> None:
    """A copy that went through a float would make them one."""
    payloads = np.arange(1, 4 * ROWS * VALUES + 1, dtype=np.uint16) % 0x7F + 1
    bits = (np.uint16(0x7F80) | payloads).reshape(4, ROWS, VALUES)
    bits[1::2] |= np.uint16(0x8000)
    content = as_pages(bits)

    assert_same(content)
    assert np.isnan((bits.astype(np.uint32) << 16).view(np.float32)).all()


@pytest.mark.parametrize("byte", [0x00, 0xFF, 0xA5, 0x5A])
def test_page_of_one_byte_comes_back(byte: int) -> None:
    """Zeros, ones, and what the simulated device uses as poison and as guard."""
    assert_same(np.full((3, ROWS, 40), byte, dtype=np.uint8))


@pytest.mark.parametrize("row_bytes", [1, 7, 16, 33, 128])
def test_random_bytes_come_back(row_bytes: int) -> None:
    """Rows of any size."""
    random = np.random.default_rng(row_bytes)

    assert_same(random.integers(0, 256, (3, ROWS, row_bytes), dtype=np.uint8), row_bytes)


def test_content_that_is_spoilt_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: without its wait a read returns poison."""
    monkeypatch.setattr(SimulatedDevice, "wait", lambda *_: None)

    with pytest.raises(AssertionError):
        assert_same(np.full((2, ROWS, 40), 7, dtype=np.uint8))
