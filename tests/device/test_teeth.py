"""The simulated device has teeth: with any wait left out, lockstep is red."""

import json
from itertools import takewhile

import pytest

pytest.importorskip("msgspec", reason="lockstep needs the packages of the project")

import teeth

SEEDS_MAX = 60
"""Walks until a wait that is left out has to be missed."""


@pytest.mark.parametrize("wait", teeth.get_variants())
def test_missing_wait_is_red(wait: str) -> None:
    """A device that hides a missing wait would let the real one corrupt pages."""
    left_out = teeth.get_variants()[wait]
    seeds = range(SEEDS_MAX if left_out else 10)
    green = list(takewhile(lambda seed: not teeth.is_red(left_out, seed, bias=True), seeds))

    assert (len(green) < len(seeds)) == bool(left_out)


def test_every_wait_of_the_data_path_is_left_out_by_some_variant() -> None:
    """A wait that is added to the data path, and to no variant, would be proven by nobody."""
    text = (teeth.ROOT / "device" / "data_path.py").read_text(encoding="utf-8")
    sites = {name: text.count(f"self.device.{name}(") for name in ("wait", "wait_for", "settle")}

    assert {"wait": 2, "wait_for": 1, "settle": 1} == sites


def test_table_is_of_the_waits_there_are() -> None:
    """The table in the docs comes from a run of all of them."""
    table = json.loads(teeth.FOUND.read_text(encoding="utf-8"))["table"]

    assert list(teeth.get_variants()) == [row["left_out"] for row in table]
    assert all(row["hasty"] > 0 for row in table[:-1])
    assert (0, 0) == (table[-1]["hasty"], table[-1]["plain"])


@pytest.mark.parametrize("wait", ["fill settles", "write-back settles", "write-back starts"])
def test_haste_finds_what_plain_walks_seldom_find(wait: str) -> None:
    """The bias is there for these."""
    table = json.loads(teeth.FOUND.read_text(encoding="utf-8"))["table"]
    (row,) = [row for row in table if row["left_out"] == wait]

    assert row["hasty"] >= 2 * row["plain"]
