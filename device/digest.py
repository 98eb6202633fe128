"""The digest of a page's bytes: one number of 64 bits, the same on the host and on a device.

It is a sum over words, so that a device may add them in any order: word `j` of the content (the
rows one after the other without padding, 8 bytes little-endian, the last word padded with zeros)
counts as `mix(word + (j + 1) * STEP)`, and the sum is mixed once more with the number of bytes.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from device.layout import Bytes

Words: TypeAlias = npt.NDArray[np.uint64]
"""Numbers of 64 bits, counted modulo 2**64."""

STEP = np.uint64(0x9E3779B97F4A7C15)
"""What sets word `j` apart from word `j + 1`: the odd number nearest to 2**64 over the golden
ratio."""


def mix(words: Words) -> Words:
    """Return the words, each bijectively scrambled (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def as_words(content: Bytes) -> Words:
    """Return bytes, shape (n, size), as words, shape (n, size / 8 rounded up), zeros at the end."""
    count, size = content.shape
    padded = np.zeros((count, -(-size // 8) * 8), dtype=np.uint8)
    padded[:, :size] = content
    words: Words = padded.view("<u8").astype(np.uint64, copy=False)
    return words


def digest_pages(content: Bytes) -> Words:
    """Return the digest of each page, uint64 (n,), of bytes, uint8 (n, rows, row_bytes)."""
    count = content.shape[0]
    flat = content.reshape(count, content.shape[1] * content.shape[2])
    words = as_words(flat)
    steps = np.arange(1, words.shape[1] + 1, dtype=np.uint64) * STEP
    sums = mix(words + steps).sum(axis=1, dtype=np.uint64)
    return mix(sums + np.uint64(flat.shape[1]))
