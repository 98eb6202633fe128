"""The data path: which bytes move on which stream, and every wait there is.

Owned here: streams, what is queued on them, and what is waited for before memory is used again.
Not owned: tables. Nothing here changes one, so an error of the device leaves them as they were.

Waits, and what each is for:

- a fill waits (on its streams) for the compute stream: what was queued to read the page that a
  frame held has landed before the frame is filled;
- a write-back waits (on its stream) for the compute stream: the rows were written;
- a completion waits (on the host) for every batch of its copy, and if one failed for the streams
  to settle: after it no copy is at these frames and host pages, whatever becomes of them;
- a copy that no lease owns any more is waited for as a completion waits, before its frames, or
  the host pages whose life ended, are anybody's again;
- a read waits (on the host) for its rows.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from device.flights import Queued
from device.layout import Bytes, Numbers
from device.runtime import CopyFailed, Device, Event, OutOfMemory, Reading, Stream
from reference.words import Ticket

Copy: TypeAlias = Callable[[Stream, Numbers, Numbers], Event]
"""Queues a batch on a stream, from these pages or frames to those."""


class DataPath:
    """The streams of one tier on one device.

    Raises `DeviceLost` from every method that queues or waits, and nothing has moved then that
    anybody counts on.
    """

    def __init__(self, device: Device) -> None:
        """Make two streams for fills, two for write-backs, one for computing."""
        self.device = device
        self.fill_streams = (device.new_stream(), device.new_stream())
        """Two, so that a small fill does not queue behind a large one."""
        self.write_back_streams = (device.new_stream(), device.new_stream())
        self.compute_stream = device.new_stream()
        """Rows are read and written here: by the tier, and by whatever a user queues on it."""

    # -------------------------------------------------------------------------------- copies

    def start_fill(self, ticket: Ticket, pages: Numbers, frames: Numbers) -> Queued:
        """Queue the copies of host pages to frames, in halves on both streams; return at once.

        What is queued on the compute stream so far lands before it.
        """
        return self._start(ticket, self.fill_streams, pages, frames, self.device.copy_in)

    def start_write_back(self, ticket: Ticket, frames: Numbers, pages: Numbers) -> Queued:
        """Queue the copy of frames to host pages; return at once.

        The rows written on the compute stream so far land before it.
        """
        return self._start(ticket, self.write_back_streams, frames, pages, self.device.copy_out)

    def _start(
        self,
        ticket: Ticket,
        streams: tuple[Stream, Stream],
        sources: Numbers,
        targets: Numbers,
        copy: Copy,
    ) -> Queued:
        first = ticket % 2
        used = (streams[first], streams[1 - first])[: len(sources)]
        middle = (len(sources) + 1) // 2
        halves = (slice(0, middle), slice(middle, None))
        events: tuple[Event, ...] = ()
        try:
            computed = self.device.record(self.compute_stream)
            for stream, half in zip(used, halves, strict=False):
                self.device.wait_for(stream, computed)
                events = (*events, copy(stream, sources[half], targets[half]))
        except (CopyFailed, OutOfMemory):
            return Queued(events, used, failed=True)
        return Queued(events, used, failed=False)

    def has_landed(self, queued: Queued) -> bool:
        """Return whether `end` would return at once, as far as the device has reported."""
        return queued.failed or all(self.device.poll(event) for event in queued.events)

    def end(self, queued: Queued, ok: bool) -> bool:
        """Wait until a copy has ended, and return whether it landed as a whole.

        Not `ok`: it counts as failed whatever the device reports. When this returns, no batch of
        it touches memory any more.
        """
        if ok and not queued.failed:
            try:
                for event in queued.events:
                    self.device.wait(event)
                return True
            except CopyFailed:
                pass
        for stream in queued.streams:
            self.device.settle(stream)
        return False

    # ---------------------------------------------------------------------------------- rows

    def write_rows(self, frames: Numbers, rows: Numbers, content: Bytes) -> None:
        """Queue rows, uint8 (n, row_bytes), into frames; later reads and copies find them."""
        self.device.write_rows(self.compute_stream, frames, rows, content)

    def start_read(self, frames: Numbers, rows: Numbers) -> Reading:
        """Queue the reading of rows; the content is right once its event has landed."""
        return self.device.read_rows(self.compute_stream, frames, rows)

    def get_read(self, reading: Reading) -> Bytes:
        """Return rows that were asked for, uint8 (n, row_bytes), when they have arrived."""
        self.device.wait(reading.event)
        return reading.content

    def zero_frames(self, frames: Numbers, first: int = 0) -> None:
        """Queue zeros into every row of frames from the first one on."""
        layout = self.device.layout
        rows = np.tile(np.arange(first, layout.rows, dtype=np.int64), len(frames))
        content = np.zeros((len(rows), layout.row_bytes), dtype=np.uint8)
        self.write_rows(np.repeat(frames, layout.rows - first), rows, content)

    def restore_frames(self, frames: Numbers, pages: Numbers) -> None:
        """Queue the rows that host pages have now into frames. No copy is at those pages."""
        layout = self.device.layout
        rows = np.tile(np.arange(layout.rows, dtype=np.int64), len(frames))
        content = self.device.host_pages()[pages].reshape(len(rows), layout.row_bytes)
        self.write_rows(np.repeat(frames, layout.rows), rows, content)

    def peek_frames(self, frames: Numbers) -> Bytes:
        """Return the bytes of frames with all that was written, uint8 (n, rows, row_bytes)."""
        return self.device.peek(self.compute_stream, frames)

    # ----------------------------------------------------------------------------- host pages

    def zero_pages(self, pages: Numbers, first: int = 0) -> None:
        """Make the rows of host pages zero from the first one on. No copy that counts is there."""
        self.device.host_pages()[pages, first:] = 0

    def discard(self, pages: Numbers, frames: Numbers) -> None:
        """Tell the device that nobody reads these host pages and frames until they are filled."""
        if len(pages):
            self.device.discard_pages(pages)
        if len(frames):
            self.device.discard_frames(self.compute_stream, frames)
