"""Tests of the digest of a page: each byte counts, in its place, and padding bytes do not."""

import numpy as np

from device.digest import digest_pages, mix


def some_pages(count: int = 3, rows: int = 2, row_bytes: int = 5) -> np.ndarray:
    """Pages of different bytes."""
    size = count * rows * row_bytes
    return (np.arange(size) * 37 % 251).astype(np.uint8).reshape(count, rows, row_bytes)


def digest_plainly(page: bytes) -> int:
    """The digest as the module says it in words, with Python's integers."""
    top = 2**64 - 1

    def scramble(word: int) -> int:
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & top
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & top
        return word ^ (word >> 31)

    total = 0
    for index in range(0, len(page), 8):
        word = int.from_bytes(page[index : index + 8].ljust(8, b"\0"), "little")
        total += scramble((word + (index // 8 + 1) * 0x9E3779B97F4A7C15) & top)
    return scramble((total + len(page)) & top)


def test_digest_is_what_the_words_say() -> None:
    """A kernel is written from the words, and has to agree bit for bit."""
    for rows, row_bytes in ((1, 1), (2, 5), (2, 8), (3, 27)):
        pages = some_pages(3, rows, row_bytes)

        assert [digest_plainly(page.tobytes()) for page in pages] == digest_pages(pages).tolist()


def test_each_flipped_bit_shows() -> None:
    """A digest that is blind to a byte would hide a copy that missed it."""
    page = some_pages(1)
    digests = {int(digest_pages(page)[0])}
    for index in range(page.size):
        for bit in range(8):
            flipped = page.copy()
            flipped.reshape(-1)[index] ^= 1 << bit
            digests.add(int(digest_pages(flipped)[0]))

    assert 1 + 8 * page.size == len(digests)


def test_swapped_words_show() -> None:
    """Rows that changed places are other bytes."""
    page = some_pages(1, 2, 8)

    assert digest_pages(page)[0] != digest_pages(page[:, ::-1])[0]


def test_strided_pages_have_the_digest_of_their_rows() -> None:
    """Padding between rows is somebody else's."""
    memory = np.full((3, 2, 9), 99, dtype=np.uint8)
    memory[:, :, :5] = some_pages()

    assert digest_pages(some_pages()).tolist() == digest_pages(memory[:, :, :5]).tolist()


def test_no_pages_have_no_digests() -> None:
    """A batch may be empty."""
    assert (0,) == digest_pages(some_pages(0)).shape


def test_mixing_keeps_words_apart() -> None:
    """It is a bijection: two words never become one."""
    words = np.arange(1000, dtype=np.uint64)

    assert 1000 == len(set(mix(words).tolist()))
