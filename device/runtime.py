"""What a device must do: the protocol between the tier and a GPU, real or simulated.

Owned here: the protocol, what it promises about time, and its errors. Not owned: any device
(`simulated`, `cuda`), and which waits the tier makes (`fill`, `tier`).

**Time.** A stream does what is queued on it in order, one piece of work after the other. Work on
different streams is ordered by nothing but `wait_for`. *Inside* one copy the pages and rows land
in any order. Every method but `wait`, `settle`, `peek` and `digest_frames` returns at once; what
it queued touches memory at any time from then until it has landed. Host memory that is read and
written by the host itself (`host_pages`) is ordered with copies by `wait` and `settle` alone.

**Errors.** A copy that fails is an error of that copy: `CopyFailed`, when it is queued or, later,
from `wait` on its event. `OutOfMemory` means that the one call did nothing. `DeviceLost` ends the
device: from the first time on, every method that can raise raises it, for good; nothing lands any
more and host pages stay readable. It may be reported late: calls may seem to succeed after the
device was lost, but no `wait` or `poll` does.
"""

from typing import Any, NamedTuple, Protocol, TypeAlias

from device.layout import Bytes, Layout, Numbers
from reference.refusals import TierError

Stream: TypeAlias = Any
"""One queue of work of a device; made by `Device.new_stream`, opaque to the tier."""

Event: TypeAlias = Any
"""A point in a stream, or the end of a copy; made by a device, opaque to the tier."""


class DeviceError(TierError):
    """Something a device reports."""


class CopyFailed(DeviceError):
    """A copy failed, at this item (from 0; none if the device cannot tell) of its batch.

    The items before and after it landed or not, and may still be running: `settle` the stream
    before their memory is used.
    """

    def __init__(self, item: int | None = None) -> None:
        """Name the item."""
        super().__init__("a copy failed" + ("" if item is None else f" at item {item}"))
        self.item = item


class OutOfMemory(DeviceError):
    """The device could not get the memory that a call needs; the call did nothing."""

    def __init__(self, place: str, needed_bytes: int | None = None) -> None:
        """Name what it was for, and the bytes it needs."""
        size = "" if needed_bytes is None else f": {needed_bytes} bytes"
        super().__init__(f"no device memory for {place}{size}")
        self.place = place
        self.needed_bytes = needed_bytes


class DeviceLost(DeviceError):
    """The device is gone for good. Host pages stay readable (`read_host`)."""

    def __init__(self, because: str = "no reason was given") -> None:
        """Say what ended it."""
        super().__init__(f"the device is lost: {because}")
        self.because = because


class Reading(NamedTuple):
    """Rows that are on their way to the host."""

    event: Event
    """When it has landed, `content` is what it should be; until then it is unspecified."""
    content: Bytes
    """The rows: uint8, shape (n, row_bytes). The device writes it; it is the caller's after."""


class Device(Protocol):
    """Frames in device memory, pages in pinned host memory, and copies between them.

    Arrays of pages, frames and rows are int64, one dimension, in range, and distinct where the
    call writes to them: the tier has checked them. One thread makes all calls.
    """

    name: str
    """What ran, for reports: "simulated", or the name of the GPU."""
    layout: Layout
    """The bytes of a frame and of a host page."""
    pages: int
    """Host pages there are; `layout.check_buffer` was called with the real allocation."""
    frames: int
    """Frames there are; `layout.check_buffer` was called with the real allocation."""

    def new_stream(self) -> Stream:
        """Return a new stream. Raises `OutOfMemory`; `DeviceLost`."""
        ...

    def host_pages(self) -> Bytes:
        """Return the pinned host memory, shape (pages, rows, row_bytes), a writable view.

        No copy, no wait; it works on a lost device too.
        """
        ...

    def copy_in(self, stream: Stream, pages: Numbers, frames: Numbers) -> Event:
        """Queue one batch: all rows of host page `pages[i]` to frame `frames[i]`, each `i`.

        The event is the end of this batch: `wait` on it raises `CopyFailed` if an item failed.
        Padding is not touched. Raises `CopyFailed` if an item could not be queued (others may be
        queued all the same: `settle`); `OutOfMemory`; `DeviceLost`.
        """
        ...

    def copy_out(self, stream: Stream, frames: Numbers, pages: Numbers) -> Event:
        """Queue one batch: all rows of frame `frames[i]` to host page `pages[i]`, each `i`.

        As `copy_in` in everything else.
        """
        ...

    def write_rows(self, stream: Stream, frames: Numbers, rows: Numbers, content: Bytes) -> None:
        """Queue: row `rows[i]` of frame `frames[i]` becomes `content[i]`, for each `i`.

        `content` is uint8, shape (n, row_bytes), and may be changed as soon as the call returns.
        Raises `OutOfMemory` and `DeviceLost`, and has queued nothing then.
        """
        ...

    def read_rows(self, stream: Stream, frames: Numbers, rows: Numbers) -> Reading:
        """Queue: row `rows[i]` of frame `frames[i]` goes to `content[i]`, for each `i`.

        Raises `OutOfMemory`; `DeviceLost`.
        """
        ...

    def record(self, stream: Stream) -> Event:
        """Return the event that lands when all queued on the stream so far has ended.

        Raises `OutOfMemory`; `DeviceLost`.
        """
        ...

    def wait_for(self, stream: Stream, event: Event) -> None:
        """Queue on the stream: what is queued after this begins when the event has landed.

        Whether the copies before it failed does not matter. The host does not wait. Raises
        `DeviceLost`.
        """
        ...

    def wait(self, event: Event) -> None:
        """Wait on the host until the event has landed.

        Raises `CopyFailed` if the batch whose end it is failed, perhaps before all of the batch
        has ended; `DeviceLost`.
        """
        ...

    def poll(self, event: Event) -> bool:
        """Return whether `wait` would return, or raise `CopyFailed`, at once. Raises `DeviceLost`.

        It may say no for a while after all has landed.
        """
        ...

    def settle(self, stream: Stream) -> None:
        """Wait on the host until all queued on the stream so far has ended, landed or failed.

        After it nothing queued on the stream touches memory. Raises `DeviceLost`, only.
        """
        ...

    def peek(self, stream: Stream, frames: Numbers) -> Bytes:
        """Return the bytes of frames as a read queued on the stream now would find them.

        A copy, shape (n, rows, row_bytes). For views: it changes nothing, and a simulated device
        lands nothing for it. A simulated device shows its bytes when it is lost, a real one
        raises `DeviceLost`.
        """
        ...

    def digest_frames(self, stream: Stream, frames: Numbers) -> Any:
        """Return the digest of each frame as `peek` shows it, uint64, shape (n,).

        Bit for bit what `digest.digest_pages` returns for those bytes. Raises `DeviceLost`.
        """
        ...

    def discard_frames(self, stream: Stream, frames: Numbers) -> None:
        """Hear, in the order of the stream, that nobody reads these frames until they are filled.

        A hint: a simulated device poisons them, a real one need do nothing. Never raises.
        """
        ...

    def discard_pages(self, pages: Numbers) -> None:
        """Hear that nobody reads these host pages before they are written; no copy is at them.

        A hint: a simulated device poisons them at once. Never raises.
        """
        ...

    def close(self) -> None:
        """Give everything back; the device is of no use after. Never raises."""
        ...
