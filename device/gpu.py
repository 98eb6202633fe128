"""A device on a GPU: `runtime.Device` on what `cuda` does.

Frames lie in device memory, pages in pinned host memory that the GPU addresses as well. A batch
of copies takes two paths on one stream: runs of neighbouring pages of at least `run_bytes_min`
bytes go by asynchronous copies, all others by one launch of a kernel that moves bytes between
host and device memory itself. Owned here: which path, where bytes lie, what an error means. Not
owned: CuPy (`cuda`), the kernels, and which waits the tier makes.

**Errors.** What the GPU does wrong after a copy was queued ends its context, so no copy fails
late here: `wait` raises `DeviceLost` or nothing. A status that is not named here ends the device.

**Threads.** The thread that makes a device makes its GPU the current one; if it makes another
one current later, it has to come back before it calls.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import numpy as np

from device import cuda
from device.cuda import Event, Stream
from device.digest import Words
from device.layout import (
    Bytes,
    Layout,
    Numbers,
    check_buffer,
    check_size,
    get_buffer_bytes,
    get_content_bytes,
    get_page_bytes,
    get_row_offsets,
    view_pages,
)
from device.runs import split_runs
from device.runtime import CopyFailed, DeviceLost, OutOfMemory, Reading

RUN_BYTES_MIN = 1 << 20
"""From so many bytes a run goes by asynchronous copy. Not measured here: there was no GPU. The
sweep of `tests/bench/test_gpu_rate.py` prints where the two paths cross."""

COPY_BLOCKS_MAX = 128
"""Blocks of a copy: enough requests in flight for the bus, few enough to leave most of a GPU to
others. Not measured here."""

DIGEST_BLOCKS_MAX = 4096
"""Blocks of a digest, which reads as fast as the GPU can. Not measured here."""

BLOCK_WARPS = cuda.THREADS // 32
"""Units of work that one block has at a time."""

COPY_PIECE = 4096
"""Bytes of a unit of work of a copy, as in `kernels.cu`."""

DIGEST_PIECE = 1024 * 8
"""Bytes of a unit of work of a digest, as in `kernels.cu`."""

LOOK_ITEMS = 1 << 16
"""Frames that are looked at or digested at a time: a launch costs what many of them cost."""

LOOK_BYTES = 1 << 20
"""Bytes of frames that are looked at at a time, or one frame if it is larger."""

NO_MEMORY = 2
"""The status of an allocation that failed (cudaErrorMemoryAllocation)."""

REFUSED = frozenset({1, 9, 12, 701, 801})
"""Statuses of a copy that was never queued, the device being well: invalid value, configuration
or pitch, out of resources for a launch, not supported."""


class _Side(NamedTuple):
    """One end of a copy of blocks."""

    address: int
    offsets: Numbers
    """Where each block begins, in bytes."""
    stride: int
    """From the begin of one row of a block to the begin of the next, in bytes."""


class CudaDevice:
    """A `runtime.Device` on a GPU.

    `run_bytes_min` is where the copy paths part: 1 sends every run, even of one page, by
    asynchronous copy, a huge one everything by the kernel. Raises `NoGpu`; `BadLayout` for sizes
    that cannot be; `OutOfMemory`; `DeviceLost`.
    """

    def __init__(
        self,
        layout: Layout,
        pages: int,
        frames: int | None = None,
        *,
        run_bytes_min: int = RUN_BYTES_MIN,
        ordinal: int = 0,
    ) -> None:
        """Make a device with so many host pages and frames (as many as pages if not said)."""
        frames = pages if frames is None else frames
        check_size("pages", pages)
        check_size("frames", frames)
        check_size("run_bytes_min", run_bytes_min)
        self.layout, self.pages, self.frames = layout, pages, frames
        self._lost: DeviceLost | None = None
        self._streams: list[Stream] = []
        frame_bytes = get_buffer_bytes(layout, frames)
        with self._guard("the GPU"):
            self._gpu = cuda.open_gpu(ordinal)
        with self._guard(f"{frames} frames", frame_bytes):
            self._frame_memory = cuda.take_device_memory(frame_bytes)
        check_buffer(layout, "frame buffer", frames, self._frame_memory.size)
        with self._guard(f"{pages} host pages", get_buffer_bytes(layout, pages)):
            self._host_memory = cuda.take_host_pages(layout, pages)
        with self._guard("looking at frames"):
            # Taken once, so that looking never runs out of memory.
            self._look_bytes = cuda.take_pinned(max(LOOK_BYTES, get_content_bytes(layout)))
            self._look_numbers = cuda.take_pinned(2 * LOOK_ITEMS * 8).view(np.int64)
            self._look_memory = cuda.take_device_memory(2 * LOOK_ITEMS * 8)
        self.name = self._gpu.name
        self._run_items_min = -(-run_bytes_min // get_content_bytes(layout))
        if layout.row_bytes < layout.row_stride and layout.row_stride > self._gpu.pitch_max:
            self._run_items_min = pages + 1  # no asynchronous copy takes such a stride

    # ------------------------------------------------------------------------------- streams

    def new_stream(self) -> Stream:
        """Return a new stream."""
        with self._guard("a stream"):
            stream = Stream()
        self._streams.append(stream)
        return stream

    def record(self, stream: Stream) -> Event:
        """Return the event of what is queued so far."""
        with self._guard("an event"):
            event = cuda.new_event()
            event.record(stream.raw)
        return event

    def wait_for(self, stream: Stream, event: Event) -> None:
        """Let the stream wait for an event."""
        with self._guard():
            stream.raw.wait_event(event)

    def wait(self, event: Event) -> None:
        """Wait on the host until the event has landed."""
        with self._guard():
            event.synchronize()

    def poll(self, event: Event) -> bool:
        """Return whether the event has landed."""
        with self._guard():
            return cuda.is_done(event)

    def settle(self, stream: Stream) -> None:
        """Wait on the host until all queued on the stream so far has ended."""
        with self._guard():
            stream.end()

    # -------------------------------------------------------------------------------- copies

    def host_pages(self) -> Bytes:
        """Return the pinned host memory, shape (pages, rows, row_bytes)."""
        return view_pages(self.layout, self._host_memory)

    def copy_in(self, stream: Stream, pages: Numbers, frames: Numbers) -> Event:
        """Queue a batch from host pages to frames."""
        return self._copy(stream, pages, frames, is_in=True)

    def copy_out(self, stream: Stream, frames: Numbers, pages: Numbers) -> Event:
        """Queue a batch from frames to host pages."""
        return self._copy(stream, frames, pages, is_in=False)

    def write_rows(self, stream: Stream, frames: Numbers, rows: Numbers, content: Bytes) -> None:
        """Queue the writing of rows of frames; the content is copied before this returns."""
        with self._guard("rows to write", content.nbytes):
            event = cuda.new_event()
            staged = cuda.take_pinned(content.nbytes)
            staged[:] = content.reshape(-1)
            self._move(stream, self._pack(staged), self._find_rows(frames, rows), 1, staged)
            stream.mark(event)

    def read_rows(self, stream: Stream, frames: Numbers, rows: Numbers) -> Reading:
        """Queue the reading of rows of frames into pinned memory."""
        size = len(frames) * self.layout.row_bytes
        with self._guard("rows to read", size):
            event = cuda.new_event()
            content = cuda.take_pinned(size)
            self._move(stream, self._find_rows(frames, rows), self._pack(content), 1, content)
            stream.mark(event)
        return Reading(event, content.reshape(len(frames), self.layout.row_bytes))

    def discard_frames(self, stream: Stream, frames: Numbers) -> None:
        """Do nothing: poison would cost what a copy costs."""

    def discard_pages(self, pages: Numbers) -> None:
        """Do nothing: poison would cost what a copy costs."""

    # ------------------------------------------------------------------------------- looking

    def peek(self, stream: Stream, frames: Numbers) -> Bytes:
        """Return the bytes of frames, once what is queued on the stream has landed."""
        layout, content = self.layout, self._look_bytes
        size = get_content_bytes(layout)
        found = np.empty((len(frames), layout.rows, layout.row_bytes), dtype=np.uint8)
        many = min(LOOK_ITEMS, len(content) // size)
        with self._guard():
            address = self._look_memory.ptr
            ends = (self._frame_memory.ptr, content.ctypes.data)
            for begin in range(0, len(frames), many):
                count = self._send_look(stream, frames[begin : begin + many], size)
                strides = (layout.row_stride, layout.row_bytes)
                offsets = (address, address + count * 8)
                self._copy_blocks(stream, ends, offsets, count, layout.rows, strides)
                stream.end()
                landed = content[: count * size].reshape(-1, layout.rows, layout.row_bytes)
                found[begin : begin + many] = landed
        return found

    def digest_frames(self, stream: Stream, frames: Numbers) -> Words:
        """Return the digest of each frame, once what is queued on the stream has landed."""
        size, kernels = get_content_bytes(self.layout), self._gpu.kernels
        digests = np.empty(len(frames), dtype=np.uint64)
        answers = self._look_numbers.view(np.uint64)
        with self._guard():
            address = self._look_memory.ptr
            for begin in range(0, len(frames), LOOK_ITEMS):
                count = self._send_look(stream, frames[begin : begin + LOOK_ITEMS], 0)
                sums = address + count * 8
                blocks = min(DIGEST_BLOCKS_MAX, 1 + count * size // (BLOCK_WARPS * DIGEST_PIECE))
                given = (self._frame_memory.ptr, address, sums, count, *self.layout)
                cuda.launch(stream, kernels["digest_sums"], blocks, given)
                blocks = 1 + count // cuda.THREADS
                ends = (sums, answers.ctypes.data, count, size)
                cuda.launch(stream, kernels["digest_ends"], blocks, ends)
                stream.end()
                digests[begin : begin + LOOK_ITEMS] = answers[:count]
        return digests

    def close(self) -> None:
        """Wait for what is queued and give the memory back."""
        self._lost = self._lost or DeviceLost("it was closed")
        for stream in self._streams:
            with suppress(RuntimeError):  # a lost device: nothing of it touches memory any more
                stream.end()
        self._streams.clear()
        self._frame_memory = self._look_memory = None
        self._host_memory = np.empty(0, dtype=np.uint8)

    # ------------------------------------------------------------------------------ launching

    def _copy(self, stream: Stream, sources: Numbers, targets: Numbers, is_in: bool) -> Event:
        layout, page_bytes = self.layout, get_page_bytes(self.layout)
        runs = split_runs(sources, targets, self._run_items_min)
        with self._guard("a batch of copies", is_copy=True):
            host, frame = self._host_memory.ctypes.data, self._frame_memory.ptr
            source_begin, target_begin = (host, frame) if is_in else (frame, host)
            event = cuda.new_event()
            apart = np.int64(page_bytes) * np.stack((sources, targets))[:, runs.scattered]
            source = _Side(source_begin, apart[0], layout.row_stride)
            target = _Side(target_begin, apart[1], layout.row_stride)
            self._move(stream, source, target, layout.rows)
            for begin, count in zip(runs.begins, runs.counts, strict=True):
                source_at = source_begin + int(sources[begin]) * page_bytes
                target_at = target_begin + int(targets[begin]) * page_bytes
                rows = count * layout.rows
                with self._guard(is_copy=True, item=begin):
                    cuda.copy_rows(stream, layout, target_at, source_at, rows, is_in)
            stream.mark(event)
        return event

    def _move(
        self, stream: Stream, source: _Side, target: _Side, rows: int, memory: object = None
    ) -> None:
        """Queue the launch that copies blocks, and keep what it uses until the stream is marked."""
        count = len(source.offsets)
        if count:
            numbers = cuda.take_pinned(count * 16).view(np.int64)
            numbers[:count], numbers[count:] = source.offsets, target.offsets
            offsets = cuda.take_for_stream(stream, count * 16)
            stream.keep((numbers, offsets, memory))
            cuda.send(stream, offsets.ptr, numbers)
            ends, strides = (source.address, target.address), (source.stride, target.stride)
            places = (offsets.ptr, offsets.ptr + count * 8)
            self._copy_blocks(stream, ends, places, count, rows, strides)

    def _copy_blocks(
        self,
        stream: Stream,
        ends: tuple[int, int],
        offsets: tuple[int, int],
        items: int,
        rows: int,
        strides: tuple[int, int],
    ) -> None:
        width = self.layout.row_bytes
        if strides == (width, width):  # packed rows are one
            width, rows = rows * width, 1
        units = items * rows * -(-width // COPY_PIECE)
        blocks = min(COPY_BLOCKS_MAX, -(-units // BLOCK_WARPS))
        given = (*ends, *offsets, items, rows, width, *strides)
        cuda.launch(stream, self._gpu.kernels["copy_blocks"], blocks, given)

    def _send_look(self, stream: Stream, frames: Numbers, apart: int) -> int:
        """Queue the numbers that looking needs: where frames begin, then targets so far apart.

        Nobody uses the memory before: whoever looks waits until it has ended.
        """
        count = len(frames)
        numbers = self._look_numbers[: 2 * count]
        numbers[:count] = frames * np.int64(get_page_bytes(self.layout))
        numbers[count:] = np.arange(count, dtype=np.int64) * apart
        cuda.send(stream, self._look_memory.ptr, numbers)
        return count

    def _pack(self, memory: Bytes) -> _Side:
        width = self.layout.row_bytes
        return _Side(memory.ctypes.data, np.arange(0, memory.nbytes, width, dtype=np.int64), width)

    def _find_rows(self, frames: Numbers, rows: Numbers) -> _Side:
        offsets = get_row_offsets(self.layout, frames, rows)
        return _Side(self._frame_memory.ptr, offsets, self.layout.row_stride)

    # --------------------------------------------------------------------------------- errors

    @contextmanager
    def _guard(
        self,
        place: str = "what was asked for",
        needed_bytes: int | None = None,
        is_copy: bool = False,
        item: int | None = None,
    ) -> Iterator[None]:
        """Refuse if the device is lost, and say in our words what CuPy raises."""
        if self._lost is not None:
            raise DeviceLost(self._lost.because)
        try:
            yield
        except (RuntimeError, MemoryError) as error:
            status = getattr(error, "status", None)
            if isinstance(error, MemoryError) or status == NO_MEMORY:
                raise OutOfMemory(place, needed_bytes) from error
            if is_copy and status in REFUSED:
                raise CopyFailed(item) from error
            self._lost = DeviceLost(cuda.first_line(error))
            raise self._lost from error
