"""A device without a GPU, and the better adversary: copies land when its scheduler says.

Whatever a real device may do between two calls, this one does if it is picked: work on different
streams lands in any order that `wait_for` allows, a copy lands row by row and half a row at a
time, an event is reported long after its copy landed. What was not waited for shows old bytes,
torn ones, or poison. Memory begins poisoned; a copy poisons all that it will write as it begins.
Only a wait forces anything, and it lands what is queued before its event and nothing else.

Faults are asked for by the test: a copy that fails when it is queued or later, memory that runs
out, the end of the device. Not shown: whether a real device orders two accesses, how fast one
is, and races inside a kernel.
"""

from typing import NamedTuple

import numpy as np

from device.digest import Words, digest_pages
from device.layout import (
    Bytes,
    Layout,
    Numbers,
    as_buffer,
    check_buffer,
    check_size,
    get_buffer_bytes,
    get_page_rows,
    view_pages,
    view_rows,
)
from device.runtime import CopyFailed, DeviceLost, OutOfMemory, Reading
from device.schedule import Pick, Recorder, pick_nothing
from device.streams import Move, Point, Queue, QueuedWait

POISON = 0xA5
"""What memory holds that nobody may read. Not zero, which a page that is fresh holds."""

GUARD = 0x5A
"""What the padding between rows holds: whoever writes it is seen."""

MOVES = 4
"""Before each call of the tier up to so many pieces of work move on, less one."""


class Moving(NamedTuple):
    """Work that is queued and has not landed as a whole, for who looks on."""

    frames: tuple[int, ...]
    """Frames that it reads or writes."""
    pages: tuple[int, ...]
    """Host pages that it reads or writes."""
    has_begun: bool
    """What it writes is poisoned or torn already."""
    writes_frames: bool
    """It writes the frames, and does not read them."""

    @property
    def is_copy(self) -> bool:
        """Whether it goes between frames and host pages."""
        return bool(self.frames and self.pages)


class SimulatedDevice:
    """A `runtime.Device` in host memory.

    `pick` makes the scheduler's choices; `recorder.picks` are those it made. `frame_buffer` and
    `host_buffer` lend their memory (uint8) instead of allocating it; what lies between rows and
    behind the last page stays as it is.
    """

    name = "simulated"

    def __init__(
        self,
        layout: Layout,
        pages: int,
        frames: int | None = None,
        *,
        pick: Pick = pick_nothing,
        memory_bytes: int | None = None,
        frame_buffer: Bytes | None = None,
        host_buffer: Bytes | None = None,
    ) -> None:
        """Make a device with so many host pages and frames (as many as pages if not said).

        Raises `BadLayout` for sizes that cannot be or a buffer that is too small; `OutOfMemory`
        if the frames need more than `memory_bytes`.
        """
        frames = pages if frames is None else frames
        check_size("pages", pages)
        check_size("frames", frames)
        needed = get_buffer_bytes(layout, frames)
        if memory_bytes is not None and needed > memory_bytes:
            raise OutOfMemory(f"{frames} frames", needed)
        self.layout, self.pages, self.frames = layout, pages, frames
        self.recorder = Recorder(pick)
        self.frame_memory = _take(layout, "frame buffer", frames, frame_buffer)
        self.host_memory = _take(layout, "host buffer", pages, host_buffer)
        self._frame_rows = view_rows(layout, self.frame_memory)
        self._host_rows = view_rows(layout, self.host_memory)
        self._queues: list[Queue] = []
        self._planted: list[Exception] = []
        self._lost: DeviceLost | None = None
        self._is_reported = False

    # ------------------------------------------------------------------------------- streams

    def new_stream(self) -> int:
        """Return a new stream."""
        self._begin_call()
        self._queues.append(Queue())
        return len(self._queues) - 1

    def record(self, stream: int) -> Point:
        """Return the event of what is queued so far."""
        self._begin_call()
        self._raise_planted(OutOfMemory)
        return self._queue_point(stream, None)

    def wait_for(self, stream: int, event: Point) -> None:
        """Let the stream wait for an event."""
        self._begin_call()
        self._queues[stream].append(QueuedWait(event))

    def wait(self, event: Point) -> None:
        """Land what is queued before the event, and nothing else."""
        self._begin_call(must_report=True)
        if event.is_failed() and self._choose(2) == 0:
            # Reported as soon as it is known: the others of the batch may still be running.
            raise CopyFailed(event.failed_item())
        while not event.landed:
            self._advance(self._blocker(event.stream), whole=True)
        if event.is_failed():
            raise CopyFailed(event.failed_item())

    def poll(self, event: Point) -> bool:
        """Return whether the event has landed or failed, as far as is reported."""
        self._begin_call(must_report=True)
        return event.landed or (event.is_failed() and self._choose(2) == 1)

    def settle(self, stream: int) -> None:
        """Land what is queued on the stream, and what that waits for."""
        self._begin_call(must_report=True)
        while self._queues[stream]:
            self._advance(self._blocker(stream), whole=True)

    # -------------------------------------------------------------------------------- copies

    def host_pages(self) -> Bytes:
        """Return the pinned host memory, shape (pages, rows, row_bytes)."""
        return view_pages(self.layout, self.host_memory)

    def copy_in(self, stream: int, pages: Numbers, frames: Numbers) -> Point:
        """Queue a batch from host pages to frames."""
        return self._copy(stream, (self._host_rows, pages), (self._frame_rows, frames))

    def copy_out(self, stream: int, frames: Numbers, pages: Numbers) -> Point:
        """Queue a batch from frames to host pages."""
        return self._copy(stream, (self._frame_rows, frames), (self._host_rows, pages))

    def write_rows(self, stream: int, frames: Numbers, rows: Numbers, content: Bytes) -> None:
        """Queue the writing of rows of frames; the content is copied before this returns."""
        self._begin_call()
        self._raise_planted(OutOfMemory)
        target = frames * np.int64(self.layout.rows) + rows
        source = np.arange(len(target), dtype=np.int64)
        self._queues[stream].append(Move(content.copy(), source, self._frame_rows, target))

    def read_rows(self, stream: int, frames: Numbers, rows: Numbers) -> Reading:
        """Queue the reading of rows of frames into poisoned host memory."""
        self._begin_call()
        self._raise_planted(OutOfMemory)
        source = frames * np.int64(self.layout.rows) + rows
        content = np.full((len(source), self.layout.row_bytes), POISON, dtype=np.uint8)
        target = np.arange(len(source), dtype=np.int64)
        self._queues[stream].append(Move(self._frame_rows, source, content, target))
        return Reading(self._queue_point(stream, None), content)

    def discard_frames(self, stream: int, frames: Numbers) -> None:
        """Queue the poisoning of frames."""
        target = get_page_rows(self.layout, frames)
        poison = np.full((1, self.layout.row_bytes), POISON, dtype=np.uint8)
        self._queues[stream].append(Move(poison, target * 0, self._frame_rows, target))

    def discard_pages(self, pages: Numbers) -> None:
        """Poison host pages at once."""
        self._host_rows[get_page_rows(self.layout, pages)] = POISON

    def peek(self, stream: int, frames: Numbers) -> Bytes:
        """Return frames as they are once what is queued on the stream has landed; nothing lands."""
        content = self._frame_rows
        queued = [move for move in self._queues[stream] if isinstance(move, Move)]
        writes = [move for move in queued if move.target is self._frame_rows]
        if writes:
            content = content.copy()
        for move in writes:
            move.show(content)
        found = content[get_page_rows(self.layout, frames)]
        return found.reshape(len(frames), self.layout.rows, self.layout.row_bytes)

    def digest_frames(self, stream: int, frames: Numbers) -> Words:
        """Return the digest of each frame as `peek` shows it."""
        self._begin_call(must_report=True)
        return digest_pages(self.peek(stream, frames))

    def close(self) -> None:
        """Forget what is queued."""
        self._queues.clear()

    def get_moving(self) -> list[Moving]:
        """Return what has not landed; looking lands nothing, and picks nothing."""
        moves = [move for queue in self._queues for move in queue if isinstance(move, Move)]
        return [self._show(move) for move in moves]

    def _show(self, move: Move) -> Moving:
        ends = ((move.source, move.sources), (move.target, move.targets))
        found: dict[int, set[int]] = {id(self._frame_rows): set(), id(self._host_rows): set()}
        for memory, rows in ends:
            found.get(id(memory), set()).update((rows // self.layout.rows).tolist())
        frames, pages = (tuple(sorted(places)) for places in found.values())
        return Moving(frames, pages, move.has_begun, move.target is self._frame_rows)

    def land_all(self) -> None:
        """Land all that is queued: what time alone would do, if a test wants to wait so long."""
        while self._lost is None and any(self._queues):
            for stream, queue in enumerate(self._queues):
                if queue:
                    self._advance(self._blocker(stream), whole=True)

    # -------------------------------------------------------------------------------- faults

    def fail_next_copy(self, item: int = 0) -> None:
        """Let the next batch raise `CopyFailed` as it is queued; the items before are queued."""
        self._planted.append(CopyFailed(item))

    def fail_copy(self, event: Point, item: int) -> bool:
        """Let a batch in flight fail late, at this item, the others landing or not.

        Returns false, and does nothing, if the batch has ended as far as anybody was told, or
        the device is lost.
        """
        if event.move is None or event.landed or self._lost is not None:
            return False
        event.move.fail(item)
        return True

    def run_out_of_memory(self) -> None:
        """Let the next call that needs memory (a copy, a write, a read, an event) raise."""
        self._planted.append(OutOfMemory("what was asked for"))

    def lose(self, because: str = "lost by the test") -> None:
        """End the device: nothing lands any more. It may be reported late."""
        if self._lost is None:
            self._lost = DeviceLost(because)

    def is_lost(self) -> bool:
        """Return whether the device has ended, reported or not."""
        return self._lost is not None

    # ----------------------------------------------------------------------------- scheduling

    def _copy(
        self, stream: int, source: tuple[Bytes, Numbers], target: tuple[Bytes, Numbers]
    ) -> Point:
        self._begin_call()
        self._raise_planted(OutOfMemory)
        (source_rows, sources), (target_rows, targets) = source, target
        failure = self._take_planted(CopyFailed)
        if isinstance(failure, CopyFailed):
            sources, targets = sources[: failure.item], targets[: failure.item]
        move = Move(
            source_rows,
            get_page_rows(self.layout, sources),
            target_rows,
            get_page_rows(self.layout, targets),
            self.layout.rows,
        )
        self._queues[stream].append(move)
        if failure is not None:
            raise failure
        return self._queue_point(stream, move)

    def _queue_point(self, stream: int, move: Move | None) -> Point:
        point = Point(stream, move)
        self._queues[stream].append(point)
        return point

    def _begin_call(self, must_report: bool = False) -> None:
        """Report a lost device, perhaps late; else let work move on, as far as is picked."""
        if self._lost is not None:
            if must_report or self._is_reported or self._choose(2) == 1:
                self._is_reported = True
                raise DeviceLost(self._lost.because)
            return
        if not any(self._queues):
            return
        for _ in range(self._choose(MOVES)):
            ready = [stream for stream in range(len(self._queues)) if self._is_ready(stream)]
            if not ready:
                return
            self._advance(ready[self._choose(len(ready))], whole=False)

    def _is_ready(self, stream: int) -> bool:
        queue = self._queues[stream]
        return bool(queue) and not (isinstance(queue[0], QueuedWait) and not queue[0].event.landed)

    def _blocker(self, stream: int) -> int:
        """Return the stream that has to move on first so that this one does."""
        head = self._queues[stream][0]
        while isinstance(head, QueuedWait) and not head.event.landed:
            stream = head.event.stream
            head = self._queues[stream][0]
        return stream

    def _advance(self, stream: int, whole: bool) -> None:
        """Let the first piece of work of a stream move on, or land as a whole."""
        queue = self._queues[stream]
        head = queue[0]
        if isinstance(head, Move):
            head.begin(POISON)
            if whole:
                head.land_all()
            else:
                head.land_some(self._choose)
            if not head.is_done():
                return
        elif isinstance(head, Point):
            head.landed = True
        queue.popleft()

    def _choose(self, options: int) -> int:
        return self.recorder(options) if options > 1 else 0

    def _take_planted(self, kind: type[Exception]) -> Exception | None:
        for error in self._planted:
            if isinstance(error, kind):
                self._planted.remove(error)
                return error
        return None

    def _raise_planted(self, kind: type[Exception]) -> None:
        error = self._take_planted(kind)
        if error is not None:
            raise error


def _take(layout: Layout, place: str, count: int, buffer: Bytes | None) -> Bytes:
    """Return memory for so many pages: what was lent, its rows poisoned, or new."""
    if buffer is None:
        memory = np.full(get_buffer_bytes(layout, count), GUARD, dtype=np.uint8)
        check_buffer(layout, place, count, memory.nbytes)
    else:
        memory = as_buffer(layout, place, count, buffer)
    view_rows(layout, memory)[:] = POISON
    return memory
