"""Versions as bytes: what lets a view show rows of bytes as the small numbers of the reference.

A version above zero expands to bytes injectively in (life, row, version): 16 bytes that name
them and, if the row is longer, bytes that only they expand to, so that a torn row is no version.
Zero bytes are version zero and nothing else. What is no version is shown as a negative number,
the same for the same bytes. Owned here: that code. Not owned: what life a page is in (`tables`).
"""

from hashlib import blake2b
from typing import Protocol

import numpy as np

from device.digest import STEP, Words, as_words, mix
from device.layout import BadLayout, Bytes, Numbers

NAME_BYTES = 16
"""Bytes that name life, row and version: the fewest that a row of versions has."""

ROWS_MAX = 2**24
"""Rows of a page that a name can tell apart; see `LIVES_MAX`."""

LIVES_MAX = 2**40
"""Lives that a name can tell apart: one each microsecond for twelve days."""

MASK = np.uint64(0xD6E8FEB86659FD93)
"""Scrambles the first word of a name, so that small numbers do not leave most bytes zero."""


class Codec(Protocol):
    """How values are written in rows and shown in views."""

    def encode(self, lives: Numbers, rows: Numbers, values: Numbers) -> Bytes:
        """Return the bytes of values, uint8 (n, row_bytes), in rows of pages in these lives."""
        ...

    def decode(self, lives: Numbers, rows: Numbers, content: Bytes) -> Numbers:
        """Return the values, int64 (n,), that bytes are; negative if they are none there."""
        ...


class VersionCodec:
    """Versions, 0 to 2**63 - 1, in rows of `row_bytes` bytes."""

    def __init__(self, row_bytes: int) -> None:
        """Raises `BadLayout` if a row is too short to name a version."""
        if row_bytes < NAME_BYTES:
            raise BadLayout(
                f"row_bytes is {row_bytes}: rows of versions need at least {NAME_BYTES} bytes"
            )
        self.row_bytes = row_bytes

    def encode(self, lives: Numbers, rows: Numbers, values: Numbers) -> Bytes:
        """Return the bytes of versions. Raises `ValueError` for one below zero."""
        if (values < 0).any():
            raise ValueError(f"version {int(values.min())} is below 0")
        return self._expand(_get_names(lives, rows), values.astype(np.uint64))

    def decode(self, lives: Numbers, rows: Numbers, content: Bytes) -> Numbers:
        """Return the version each row is in this life of its page, or a negative number."""
        words = as_words(content[:, :NAME_BYTES])
        versions = words[:, 1] ^ mix(_get_names(lives, rows))
        is_zero = ~content.any(axis=1)
        versions[is_zero] = 0
        is_version = (content == self._expand(_get_names(lives, rows), versions)).all(axis=1)
        is_version &= (versions < np.uint64(2**63)) & ((versions > 0) | is_zero)
        found: Numbers = np.where(is_version, versions, 0).astype(np.int64)
        for index in np.flatnonzero(~is_version):
            found[index] = hash_bytes(content[index])
        return found

    def _expand(self, names: Words, versions: Words) -> Bytes:
        """Return the bytes of versions in rows so named, zeros for version zero."""
        count = len(names)
        words = np.empty((count, -(-self.row_bytes // 8)), dtype=np.uint64)
        words[:, 0] = names
        words[:, 1] = versions ^ mix(names)
        steps = np.arange(1, words.shape[1] - 1, dtype=np.uint64) * STEP
        seeds = mix(names + mix(versions))
        words[:, 2:] = mix(seeds[:, None] + steps)
        words[versions == 0] = 0
        content = words.astype("<u8", copy=False).view(np.uint8)
        return content[:, : self.row_bytes]


class HashCodec:
    """Bytes of any kind, shown as numbers: zero for zero bytes, else a negative hash.

    For rows whose truth the caller keeps; there is no value to write.
    """

    def encode(self, lives: Numbers, rows: Numbers, values: Numbers) -> Bytes:
        """Raises `ValueError`: bytes are written as bytes."""
        raise ValueError("this tier has rows of bytes: write them with `write_bytes`")

    def decode(self, lives: Numbers, rows: Numbers, content: Bytes) -> Numbers:
        """Return the hash of each row."""
        hashes = [hash_bytes(row) if row.any() else 0 for row in content]
        return np.array(hashes, dtype=np.int64)


def hash_bytes(content: Bytes) -> int:
    """Return a negative number below 2**63, the same for the same bytes."""
    digest = blake2b(np.ascontiguousarray(content).tobytes(), digest_size=7).digest()
    return -1 - int.from_bytes(digest, "little")


def _get_names(lives: Numbers, rows: Numbers) -> Words:
    """Return one word for each life and row, a different one for each pair."""
    name = lives.astype(np.uint64) * np.uint64(ROWS_MAX) + rows.astype(np.uint64)
    return mix(name ^ MASK)
