"""Keys: full pages found by what they hold. The page of each key, and the key of each page.

A name is taken from many pages at once, as array work; the way from key to page is a dictionary
whose entries count only while the page still has that key. Owned here: the names. Not owned: who
may give one, and what takes it away (`drafts`, `dirt`, the freed-page hook).
"""

import numpy as np

from device.layout import Numbers
from reference.words import Key, Page

DEAD_MAX = 64
"""Entries that no longer count, beyond as many as there are names, before they are swept out."""


class KeyTable:
    """For so many pages, the key that names each, if one does."""

    def __init__(self, pages: int) -> None:
        """No page has a key."""
        self.is_named = np.zeros(pages, dtype=np.bool_)
        """For each page, whether a key names it."""
        self.key = np.zeros(pages, dtype=np.int64)
        """For each page, the last key that named it."""
        self.page: dict[Key, Page] = {}
        """For each key, the last page that it named: an entry counts while that has the key."""

    def get_page(self, key: Key) -> Page | None:
        """Return the page that a key names, if it names one."""
        page = self.page.get(key)
        return page if page is not None and self.get_key(page) == key else None

    def get_key(self, page: Page) -> Key | None:
        """Return the key that names a page, if one does."""
        return int(self.key[page]) if self.is_named[page] else None

    def name(self, page: Page, key: Key) -> None:
        """Let a key that names no page name this one, which has none."""
        self.is_named[page] = True
        self.key[page] = key
        self.page[key] = page
        if len(self.page) > 2 * np.count_nonzero(self.is_named) + DEAD_MAX:
            self.page = self.get_all()

    def forget(self, pages: Numbers) -> None:
        """Let no key name these pages."""
        self.is_named[pages] = False

    def get_all(self) -> dict[Key, Page]:
        """Return the page that each key names, keys ascending."""
        return {key: page for key, page in sorted(self.page.items()) if self.get_page(key) == page}
