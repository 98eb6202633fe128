"""Walks: many seeded, short, random runs of calls, over several processes. Depth and speed.

A chunk of walks is made of the seed and its place alone, so a run finds the same whatever the
number of processes. Three walks in four begin where the tier is full, which is where it breaks;
that place is reached by calls that are judged and counted like any other. Owned here: the chunks,
merging what they found, and the report. Not owned: one walk (`walker`), and the shortest calls
that show a break (`minimise`).
"""

import gc
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import msgspec

from properties.events import Event
from properties.goals import all_goals
from properties.judge import Judge
from properties.scopes import Scope
from properties.subject import Model
from properties.walker import Chunk, WalkBreak, Walker

CALLS = 50
"""Calls in a walk: short walks that begin anew reach more states than long ones."""
CHUNK = 20
"""Walks that begin from one full tier and are merged at once."""
SIZE = 128
"""Pages and frames of a view that the state rules can judge after every call."""


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of walks found: the same for the same seed, however it was made."""

    seed: int
    """The seed of all walks."""
    scope: str
    """The name of the scope."""
    every: int
    """The state rules judged the view after every so many calls."""
    walks: int
    """Walks made."""
    calls: int
    """Calls made and judged, those that filled the tier included."""
    refused: int
    """Calls that were refused."""
    counts: dict[str, int]
    """How often each event happened, by name: `Fill`, `Fill:failed`, `Fill:HitPending`."""
    reached: tuple[str, ...]
    """The goals that were reached."""
    missed: tuple[str, ...]
    """The goals that were not."""
    breaks: tuple[WalkBreak, ...]
    """The first break of each rule, in the order of walks and calls."""
    crashes: tuple[WalkBreak, ...]
    """The first call that made the code raise what is no refusal."""

    @property
    def refused_share(self) -> float:
        """The share of calls that were refused."""
        return self.refused / self.calls if self.calls else 0.0

    def encode(self) -> bytes:
        """Return the findings as bytes, to compare two runs."""
        return msgspec.json.encode(self.describe(), order="deterministic")

    def describe(self) -> dict[str, Any]:
        """Return the findings as JSON can hold them, each call as Python writes it."""
        found = {name: getattr(self, name) for name in self.__struct_fields__}
        for name in ("breaks", "crashes"):
            found[name] = [
                {
                    "rule": broken.rule,
                    "because": broken.because,
                    "walk": broken.walk,
                    "calls": [[repr(call), repr(choice)] for call, choice in broken.path],
                }
                for broken in found[name]
            ]
        return found


class WalkReport(NamedTuple):
    """A run of walks: what it found, and apart from that how long it took."""

    found: Findings
    """What it found."""
    cpu_seconds: float
    """CPU time of walking and judging, of all workers together."""
    seconds: float
    """Time from start to end."""

    @property
    def rate(self) -> float:
        """Judged calls in one CPU second."""
        return self.found.calls / self.cpu_seconds if self.cpu_seconds else 0.0


def get_every(scope: Scope) -> int:
    """Return how many calls lie between two judgements of the whole view: one on small shapes."""
    return max(1, (scope.shape.pages + scope.shape.frames) // SIZE)


def run_walks(
    make_model: Callable[[], Model],
    scope: Scope,
    judge: Judge,
    *,
    seed: int = 0,
    walks: int = 1_000,
    calls: int = CALLS,
    workers: int = 1,
    every: int | None = None,
    seconds: float | None = None,
    stop_at_break: bool = False,
    progress: Callable[[Findings], None] | None = None,
) -> WalkReport:
    """Make so many walks and return what they found, the same for any number of workers.

    With `stop_at_break` no walk counts after the first that broke a rule or crashed; with
    `seconds` the chunk that ends after that time is the last.
    """
    begun = time.monotonic()
    every = get_every(scope) if every is None else every

    def make_walker() -> Walker:
        model = make_model()
        return Walker(model, scope, judge, seed, calls=calls, every=every, goals=all_goals())

    merged = _Merged(seed, scope, every)
    chunks = [range(first, min(first + CHUNK, walks)) for first in range(0, walks, CHUNK)]
    with _collector_off():
        walked = _walk_chunks(make_walker, chunks, workers, stop_at_break)
        try:
            for chunk in walked:
                merged.add(chunk)
                if progress is not None:
                    progress(merged.findings())
                if stop_at_break and (merged.breaks or merged.crashes):
                    break
                if seconds is not None and time.monotonic() - begun >= seconds:
                    break
        finally:
            walked.close()
    return WalkReport(merged.findings(), merged.cpu_seconds, time.monotonic() - begun)


@contextmanager
def _collector_off() -> Generator[None, None, None]:
    """Keep the garbage collector off: walks make no cycles, and much for it to look at."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Merged:
    """What the chunks so far found, merged in their order."""

    def __init__(self, seed: int, scope: Scope, every: int) -> None:
        self.seed = seed
        self.scope = scope
        self.every = every
        self.walks = self.calls = self.refused = 0
        self.counts: Counter[Event] = Counter()
        self.goals: set[str] = set()
        self.breaks: dict[str, WalkBreak] = {}
        self.crashes: list[WalkBreak] = []
        self.cpu_seconds = 0.0

    def add(self, chunk: Chunk) -> None:
        """Add the next chunk."""
        self.walks += chunk.walks
        self.calls += chunk.calls
        self.refused += chunk.refused
        self.counts.update(chunk.counts)
        self.goals.update(chunk.goals)
        for broken in chunk.breaks:
            self.breaks.setdefault(broken.rule, broken)
        self.crashes = (self.crashes + chunk.crashes)[:1]
        self.cpu_seconds += chunk.cpu_seconds

    def findings(self) -> Findings:
        """Return all of it."""
        names = [goal.id for goal in all_goals(self.scope.operations)]
        return Findings(
            seed=self.seed,
            scope=self.scope.name,
            every=self.every,
            walks=self.walks,
            calls=self.calls,
            refused=self.refused,
            counts={":".join(event): self.counts[event] for event in sorted(self.counts)},
            reached=tuple(name for name in names if name in self.goals),
            missed=tuple(name for name in names if name not in self.goals),
            breaks=tuple(self.breaks.values()),
            crashes=tuple(self.crashes),
        )


def _walk_chunks(
    make_walker: Callable[[], Walker], chunks: Sequence[range], workers: int, stop_at_break: bool
) -> Generator[Chunk, None, None]:
    """Yield what each chunk found, in order; worker `w` of `n` makes chunks `w`, `w + n`, ..."""
    workers = min(workers, len(chunks))
    if workers <= 1:
        walker = make_walker()
        for numbers in chunks:
            yield walker.walk_all(numbers, stop_at_break=stop_at_break)
        return
    context = multiprocessing.get_context("fork")
    running = []
    try:
        for worker in range(workers):
            receiver, sender = context.Pipe(duplex=False)
            arguments = (make_walker, chunks[worker::workers], stop_at_break, sender)
            process = context.Process(target=_send_chunks, args=arguments, daemon=True)
            process.start()
            sender.close()
            running.append((process, receiver))
        for index in range(len(chunks)):
            chunk = running[index % workers][1].recv()
            if isinstance(chunk, BaseException):
                raise chunk
            yield chunk
    finally:
        for process, receiver in running:
            process.terminate()
            process.join()
            receiver.close()


def _send_chunks(
    make_walker: Callable[[], Walker],
    chunks: Sequence[range],
    stop_at_break: bool,
    sender: Connection,
) -> None:
    try:
        walker = make_walker()
        for numbers in chunks:
            sender.send(walker.walk_all(numbers, stop_at_break=stop_at_break))
    except Exception as error:
        sender.send(error)
