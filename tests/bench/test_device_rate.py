"""The control plane against an `OrderedDict` LRU with the same refusals and pins, side by side.

Batches of 1,024 pages, 65,536 frames. The device under the tier is one whose copies land at
once and move nothing, so that tables are measured and not the copying of a simulated device.
Ratios of CPU seconds in one run; memory as Python and NumPy allocate it.
"""

import gc
import tracemalloc
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pytest
from lru_baseline import Baseline

from device.layout import Bytes, Layout, Numbers
from device.tier import Tier
from reference.refusals import TierError
from reference.words import Handle

FRAMES = 65_536
PAGES = 2 * FRAMES
BATCH = 1_024
ROUNDS, BATCHES = 9, 48

HITS_MIN, MISSES_MIN = 5.0, 1.5


class Instant:
    """A device whose copies land at once: they are not what is measured."""

    name = "instant"

    def __init__(self, pages: int, frames: int) -> None:
        self.layout, self.pages, self.frames = Layout(1, 24), pages, frames
        self.memory = np.zeros((pages, 1, 24), dtype=np.uint8)

    def host_pages(self) -> Bytes:
        """The host pages, which no copy writes."""
        return self.memory

    def poll(self, event: None) -> bool:
        """Everything has landed."""
        return True

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


class Pair(NamedTuple):
    """Tier and baseline in the same state."""

    tier: Tier
    lease: int
    baseline: Baseline
    other: int


def make_tier(device: Any) -> tuple[Tier, int]:
    """A tier of which one lease holds every page."""
    tier = Tier(device)
    lease = tier.open(BATCH)
    tier.alloc_all(lease, device.pages)
    return tier, lease


def make_baseline(pages: int, frames: int) -> tuple[Baseline, int]:
    """A baseline of which one lease holds every page."""
    baseline = Baseline(pages, frames)
    lease = baseline.open(BATCH)
    baseline.alloc_all(lease, pages)
    return baseline, lease


@pytest.fixture
def pair() -> Pair:
    """Both, with every frame full: of pages 0 to 65,535, the last filled last."""
    made = Pair(*make_tier(Instant(PAGES, FRAMES)), *make_baseline(PAGES, FRAMES))
    run(made, [np.arange(at, at + BATCH) for at in range(0, FRAMES, BATCH)])
    return made


def run_tier(pair: Pair, batches: list[Numbers]) -> int:
    """Fill, complete and unpin each batch; return the misses."""
    tier, lease = pair.tier, pair.lease
    misses = 0
    for pages in batches:
        plan = tier.fill_all(lease, pages)
        if plan.ticket is not None:
            misses += len(plan.misses)
            tier.complete_fill(lease, plan.ticket)
        tier.unpin_all(lease, plan.handles)
    return misses


def run_baseline(pair: Pair, batches: list[list[int]]) -> int:
    """The same."""
    baseline, lease = pair.baseline, pair.other
    misses = 0
    for pages in batches:
        plan = baseline.fill(lease, pages)
        if plan.ticket is not None:
            misses += len(plan.misses)
            baseline.complete_fill(lease, plan.ticket)
        baseline.unpin(lease, plan.handles)
    return misses


def run(pair: Pair, batches: list[Numbers]) -> tuple[float, float]:
    """Run both; return the CPU seconds of tier and baseline. Both must miss the same."""
    plain = [pages.tolist() for pages in batches]
    begun = process_time()
    found = run_tier(pair, batches)
    between = process_time()
    expected = run_baseline(pair, plain)
    ended = process_time()
    assert expected == found
    return between - begun, ended - between


def compare(what: str, pair: Pair, rounds: list[list[Numbers]], least: float) -> None:
    """Print and guard the ratio, the median over the rounds."""
    gc.disable()  # as timeit does: a collection in the middle belongs to neither
    seconds = [run(pair, batches) for batches in rounds]
    gc.enable()
    pages = len(rounds[0]) * BATCH
    ratio = median(baseline / tier for tier, baseline in seconds)
    mine, other = (1e9 * median(column) / pages for column in zip(*seconds, strict=True))
    print(
        f"\n{what}: {mine:,.0f} ns a page, the baseline {other:,.0f}: {ratio:.2f} times its rate"
        f" (wanted {least})"
    )

    assert ratio >= least


def test_hits_beat_the_baseline(pair: Pair) -> None:
    """What is resident is asked for all the time."""
    random = np.random.default_rng(1)
    rounds = [[random.permutation(FRAMES)[:BATCH] for _ in range(BATCHES)] for _ in range(ROUNDS)]
    compare("hits", pair, rounds, HITS_MIN)

    assert 0 == pair.baseline.evictions


def test_misses_beat_the_baseline(pair: Pair) -> None:
    """Every page of every batch evicts the one that was filled longest ago."""
    order = np.concatenate((FRAMES + np.random.default_rng(2).permutation(FRAMES), range(FRAMES)))
    begins = np.arange(ROUNDS * BATCHES).reshape(ROUNDS, BATCHES) * BATCH
    places = np.arange(BATCH)
    rounds = [[order[(begin + places) % PAGES] for begin in row] for row in begins]
    compare("misses", pair, rounds, MISSES_MIN)
    snapshot = pair.tier.tables.counts

    assert pair.baseline.evictions == snapshot.evictions == ROUNDS * BATCHES * BATCH


def test_memory_is_printed() -> None:
    """Tables that are larger than the pages they save are no use."""
    device = Instant(PAGES, FRAMES)
    sizes = []
    for make in (lambda: make_tier(device), lambda: make_baseline(PAGES, FRAMES)):
        tracemalloc.start()
        made = make()
        subject, lease = made
        for at in range(0, FRAMES, BATCH):
            plan = getattr(subject, "fill_all", subject.fill)(lease, np.arange(at, at + BATCH))
            subject.complete_fill(lease, plan.ticket)
            getattr(subject, "unpin_all", subject.unpin)(lease, plan.handles)
        sizes.append(tracemalloc.get_traced_memory()[0] / PAGES)
        tracemalloc.stop()
    print(
        f"\nmemory: {sizes[0]:.0f} bytes of tables a page, two pages a frame, one lease;"
        f" the baseline {sizes[1]:.0f}"
    )

    assert sizes[0] < sizes[1]


CALLS: dict[str, Callable[[Any, Any, int, Any], object]] = {
    "twice": lambda fill, unpin, lease, plan: fill(lease, [7, 8, 7]),
    "not held": lambda fill, unpin, lease, plan: fill(lease, [2, PAGES + 1]),
    "too many": lambda fill, unpin, lease, plan: fill(lease, list(range(100, 101 + BATCH))),
    "no lease": lambda fill, unpin, lease, plan: fill(99, [1]),
    "stale": lambda fill, unpin, lease, plan: unpin(lease, (Handle(1, 1, 5),)),
    "not pinned": lambda fill, unpin, lease, plan: unpin(lease, (plan[5], plan[6], plan[5])),
    "pinned once": lambda fill, unpin, lease, plan: [unpin(lease, (plan[5],)) for _ in range(2)],
}


@pytest.mark.parametrize("name", CALLS)
def test_baseline_refuses_as_the_tier_does(pair: Pair, name: str) -> None:
    """A baseline that checks less is faster for no merit."""
    mine = pair.tier.fill(pair.lease, tuple(range(20))).handles
    other = pair.baseline.fill(pair.other, list(range(20))).handles
    with pytest.raises(TierError) as expected:
        CALLS[name](pair.tier.fill_all, pair.tier.unpin_all, pair.lease, mine)
    with pytest.raises(TierError) as found:
        CALLS[name](pair.baseline.fill, pair.baseline.unpin, pair.other, other)

    assert str(expected.value) == str(found.value)
    assert type(expected.value) is type(found.value)
