"""The teeth of the simulated device: with a wait left out, lockstep is red.

A simulated device that hides a missing wait would prove nothing. Each wait of
`device/data_path.py` is left out in turn, and all of them, on a device that does not make it; a
seed is one walk of lockstep. Run by `tox run -e teeth`: it writes `tests/golden/teeth.json`, from
which `tests/regen.py` makes the table of `device/TEETH.md`, and prints how many of 100 seeds are
red, with walks that are biased towards haste and with plain ones.
"""

import json
import sys
from collections.abc import Collection
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from device.layout import Layout, Numbers
from device.runtime import CopyFailed
from device.simulated import SimulatedDevice
from device.streams import Point
from properties.device_subject import DeviceModel
from properties.drawing import make_scope
from properties.judge import Judge
from properties.lockstep_walks import Lockstep
from properties.registry import all_rules
from reference.words import Shape

ROOT = Path(__file__).parent.parent
FOUND = ROOT / "tests" / "golden" / "teeth.json"
SEEDS = 100
SCOPE = make_scope(Shape(pages=4, frames=2, rows=2), leases=2)
JUDGE = Judge(all_rules())

STREAMS = ("fill", "fill", "write-back", "write-back", "read")
"""What the streams of a data path are for, in the order in which it makes them."""

WAITS = {
    "fill starts": "what was queued at the frame has landed before it is filled",
    "write-back starts": "the rows were written before they are copied",
    "fill completes": "every copy of a fill has landed",
    "fill half completes": "the second batch of a fill has landed",
    "write-back completes": "the copy has landed",
    "fill settles": "no copy of a fill that failed is at its frames any more",
    "write-back settles": "no copy of a write-back that failed is at its host page any more",
    "read completes": "the rows have arrived",
}
"""Each wait there is, and what it is for."""


class Careless(SimulatedDevice):
    """A device on which some waits wait for nothing; what it knows of failures it still tells."""

    left_out: Collection[str] = ()

    def __init__(self, layout: Layout, pages: int, frames: int) -> None:
        """Leave out nothing."""
        super().__init__(layout, pages, frames)
        self.halves: list[Point] = []
        self.seconds: list[Point] = []

    def wait_for(self, stream: int, event: Point) -> None:
        """Let the stream wait, or not."""
        if f"{STREAMS[stream]} starts" not in self.left_out:
            super().wait_for(stream, event)

    def wait(self, event: Point) -> None:
        """Wait, or not."""
        what = STREAMS[event.stream]
        is_half = event in self.seconds and "fill half completes" in self.left_out
        if is_half or f"{what} completes" in self.left_out:
            if event.is_failed():
                raise CopyFailed(event.failed_item())
            return
        super().wait(event)

    def settle(self, stream: int) -> None:
        """Settle, or not."""
        if f"{STREAMS[stream]} settles" not in self.left_out:
            super().settle(stream)

    def record(self, stream: int) -> Point:
        """Begin what is queued at once: its batches follow."""
        self.halves = []
        return super().record(stream)

    def copy_in(self, stream: int, pages: Numbers, frames: Numbers) -> Point:
        """Remember the batches of a fill."""
        event = super().copy_in(stream, pages, frames)
        self.halves.append(event)
        if len(self.halves) == 2:
            self.seconds.append(event)
        return event


def make_careless(left_out: Collection[str], layout: Layout, pages: int, frames: int) -> Careless:
    """A device that leaves out these waits."""
    device = Careless(layout, pages, frames)
    device.left_out = left_out
    return device


def make_subject(left_out: Collection[str], shape: Shape, off: bool, seed: int) -> DeviceModel:
    """A device tier whose device leaves out these waits."""
    return DeviceModel(shape, off, seed=seed, simulate=partial(make_careless, left_out))


def is_red(left_out: Collection[str], seed: int, bias: bool) -> bool:
    """Whether one walk of lockstep notices it."""
    lockstep = Lockstep(partial(make_subject, left_out), SCOPE, JUDGE)
    return lockstep.walk(range(seed, seed + 1), bias=bias).difference is not None


def count(left_out: Collection[str], seeds: range) -> dict[str, int]:
    """How many of these seeds are red, with walks that are biased towards haste and without."""
    return {
        how: sum(is_red(left_out, seed, how == "hasty") for seed in seeds)
        for how in ("hasty", "plain")
    }


def get_variants() -> dict[str, tuple[str, ...]]:
    """Each wait alone, all of them, and none."""
    alone = {wait: (wait,) for wait in WAITS}
    return {**alone, "all": tuple(WAITS), "none": ()}


def main() -> int:
    """Write and print how many seeds are red; 1 if a wait is never missed."""
    table: list[dict[str, Any]] = []
    for name, left_out in get_variants().items():
        begun = process_time()
        purpose = WAITS.get(name, "")
        red = count(left_out, range(SEEDS))
        table.append({"left_out": name, "purpose": purpose, **red})
        row = table[-1]
        print(
            f"{name:22} red at {row['hasty']:3} of {SEEDS} seeds, plain walks at {row['plain']:3}"
            f" ({process_time() - begun:.1f} CPU s)",
            flush=True,
        )
    FOUND.write_text(json.dumps({"seeds": SEEDS, "table": table}, indent=1) + "\n", "utf-8")
    missed = [row["left_out"] for row in table if not row["hasty"] and row["left_out"] != "none"]
    return 1 if missed or table[-1]["hasty"] or table[-1]["plain"] else 0


if __name__ == "__main__":
    sys.exit(main())
