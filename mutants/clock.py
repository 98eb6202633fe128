"""The clock of a run: seconds of each phase, kept out of the report, and the end of patience."""

import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

import msgspec


class Phase(msgspec.Struct, frozen=True):
    """How long one phase took."""

    phase: str
    cpu_seconds: float
    """Of this process and of those it waited for."""
    wall_seconds: float


class Clock:
    """The phases of a run so far."""

    def __init__(self) -> None:
        """Start with none."""
        self.phases: list[Phase] = []

    def describe(self) -> Iterator[str]:
        """Yield a line for each phase: its CPU seconds, of all processes, and those on the wall."""
        yield f"{'CPU s':>8} {'wall s':>8}"
        for one in self.phases:
            yield f"{one.cpu_seconds:8,.1f} {one.wall_seconds:8,.1f}  {one.phase}"
        total = sum(one.cpu_seconds for one in self.phases)
        yield f"{total:8,.1f} {sum(one.wall_seconds for one in self.phases):8,.1f}  in all"

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        cpu, wall = get_cpu_seconds(), time.monotonic()
        try:
            yield
        finally:
            spent = (get_cpu_seconds() - cpu, time.monotonic() - wall)
            self.phases.append(Phase(name, *(round(seconds, 1) for seconds in spent)))


class Laps:
    """The parts of one phase, one after the other."""

    def __init__(self, clock: Clock) -> None:
        """Start with none."""
        self.clock = clock
        self._open = ExitStack()

    def begin(self, name: str) -> None:
        """End the part before, and begin this one."""
        self.end()
        self._open.enter_context(self.clock.phase(name))

    def end(self) -> None:
        """End the part that is under way, if one is."""
        self._open.close()


class TooLate(BaseException):
    """The run as a whole took too long. No `Exception`, so that nothing takes it for a crash."""


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Raise `TooLate` in this process after so many seconds on the wall; none waits for ever.

    Without it a run would hang if one of its processes were killed.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooLate

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def get_cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, who))


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))
