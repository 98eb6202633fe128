"""The tier on a device: the reference's operations by name, arguments, refusals and results.

**Threads.** The thread that made a tier is the only one that may call it; any other gets
`WrongThread`. **Time.** `fill` and `write_back` queue their copies and return at once;
`complete_fill` and `complete_write_back` wait until the copies have ended, `has_landed` asks
without waiting. **Errors of the device.** A copy that fails, when it is queued or later, makes
its completion a failed one whatever the caller says. After `DeviceLost` every call that needs the
device raises it and changes nothing; host pages stay readable (`read_host`).

Each operation on one page has a batch form on many, which is refused as a whole: with the first
refusal that the first offending entry meets, and nothing changes. Owned here: threads, arguments
and the choices of whoever drives a test. What operations do is in `holds`, `fill`, `pins`, `dirt`.
"""

import threading
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from device import dirt, fill, holds, pins
from device.arguments import (
    VALUE_MAX,
    check_content,
    check_handle,
    check_handles,
    check_numbers,
    check_thread,
    check_truth,
    check_whole,
)
from device.data_path import DataPath
from device.handles import BatchPlan, Handles, OwnHandle
from device.layout import Bytes, Numbers
from device.runtime import Device, Reading
from device.snapshot import Snapshot, take_snapshot
from device.tables import Tables, get_lease, one
from device.versions import Codec, VersionCodec
from reference.calls import DEFAULT, Alloc, Call, Choice, Fill
from reference.refusals import StaleTicket
from reference.words import Handle, LeaseId, Page, Plan, Shape, Ticket

Choose: TypeAlias = Callable[[Call], Choice]
"""Makes the free choices and the faults of an `Alloc` or `Fill`; `DEFAULT` leaves them open."""


class Tier:
    """A tier over the frames and host pages of one device.

    It is off (the device-only pool: every page resident from its allocation, no copies in
    flight) unless there are fewer frames than pages or `off=False` says otherwise. `choose` makes
    the free choices and the faults, for tests; `codec` says how values are written in rows.

    Raises `ValueError` if it is to be off and frames differ from pages, or the codec does not fit
    the rows; `OutOfMemory`, `DeviceLost`.
    """

    def __init__(
        self,
        device: Device,
        off: bool | None = None,
        choose: Choose | None = None,
        codec: Codec | None = None,
    ) -> None:
        """Make a tier in which nothing happened yet; the calling thread becomes its own."""
        shape = Shape(device.pages, device.frames, device.layout.rows)
        off = shape.frames == shape.pages if off is None else check_truth("off", off)
        if off and shape.frames != shape.pages:
            raise ValueError(f"{shape}: with the tier off there are as many frames as pages")
        codec = VersionCodec(device.layout.row_bytes) if codec is None else codec
        self.device = device
        self.choose = choose
        self.tables = Tables(shape, off, DataPath(device), codec)
        self.thread = threading.get_ident()

    # ------------------------------------------------------------------------- leases and holds

    def open(self, promise: int) -> LeaseId:
        """Open a lease and return its id. Raises `BadPromise`; `PromiseUnavailable`."""
        check_thread(self.thread)
        return holds.open_lease(self.tables, check_whole("promise", promise))

    def alloc(self, lease: LeaseId) -> Page:
        """Begin the life of a page in the lease's table and return the page.

        Raises `UnknownLease`; `PageMemory`.
        """
        check_thread(self.thread)
        lease = check_whole("lease", lease)
        choice = DEFAULT if self.choose is None else self.choose(Alloc(lease))
        return int(holds.alloc(self.tables, lease, 1, choice)[0])

    def alloc_all(self, lease: LeaseId, count: int) -> Numbers:
        """Begin the lives of so many pages, int64 (count,), the lowest free ones, or of none."""
        check_thread(self.thread)
        count = check_whole("count", count)
        if count < 0:
            raise ValueError(f"count is {count}: it must be at least 0")
        return holds.alloc(self.tables, check_whole("lease", lease), count, DEFAULT)

    def share(self, lease: LeaseId, page: Page) -> None:
        """Let the lease borrow a live page.

        Raises `UnknownLease`; `UnknownPage`; `AlreadyHeld`.
        """
        check_thread(self.thread)
        holds.share(self.tables, check_whole("lease", lease), check_whole("page", page))

    def release(self, lease: LeaseId, page: Page) -> None:
        """Give up the lease's hold on a page.

        Raises `UnknownLease`; `NotHeld`; `FillInFlight`; `PagePinned`.
        """
        check_thread(self.thread)
        holds.release(self.tables, check_whole("lease", lease), one(check_whole("page", page)))

    def release_all(self, lease: LeaseId, pages: Any) -> None:
        """Give up the lease's holds on distinct pages (a sequence, or an array of ints).

        Raises as `release`, and `DuplicatePage` after `UnknownLease`.
        """
        check_thread(self.thread)
        lease = check_whole("lease", lease)
        holds.release(self.tables, lease, check_numbers("pages", pages))

    def finish(self, lease: LeaseId) -> None:
        """End a lease.

        Raises `UnknownLease`; `FillInFlight`; `WriteBackInFlight`; `DirtyFrame`.
        """
        check_thread(self.thread)
        holds.finish(self.tables, check_whole("lease", lease))

    # ---------------------------------------------------------------------------- fills and pins

    def lookup(self, lease: LeaseId, page: Page) -> OwnHandle | None:
        """Return the current handle of a resident page, else none.

        Raises `UnknownLease`; `NotHeld`.
        """
        check_thread(self.thread)
        return pins.lookup(self.tables, check_whole("lease", lease), check_whole("page", page))

    def fill(self, lease: LeaseId, pages: tuple[Page, ...]) -> Plan:
        """Bring pages into frames and return the plan at once, its copies in flight.

        Raises as `fill_all`.
        """
        plan = self.fill_all(lease, pages)
        handles = tuple([plan.handles[index] for index in range(len(plan.handles))])
        return Plan(plan.ticket, handles, tuple(plan.misses.tolist()))

    def fill_all(self, lease: LeaseId, pages: Any) -> BatchPlan:
        """As `fill`, in arrays: `pages` is a sequence or an array of ints of one dimension.

        Raises `UnknownLease`; `FillInFlight`; `DuplicatePage`; `NotHeld`; `PromiseExceeded`;
        `HitPending`; `FrameMemory`, which the promise rules out; `FillFailed` if a chosen fault
        struck; `DeviceLost` if there are misses.
        """
        check_thread(self.thread)
        lease, numbers = check_whole("lease", lease), check_numbers("pages", pages)
        choice = DEFAULT
        if self.choose is not None:
            choice = self.choose(Fill(lease, tuple(numbers.tolist())))
        return fill.fill(self.tables, lease, numbers, choice)

    def has_landed(self, lease: LeaseId, ticket: Ticket) -> bool:
        """Return whether completing this copy would not wait, as far as the device reports.

        Raises `UnknownLease`; `StaleTicket` if it names no copy of this lease in flight;
        `DeviceLost`.
        """
        check_thread(self.thread)
        lease, ticket = check_whole("lease", lease), check_whole("ticket", ticket)
        for flight in get_lease(self.tables, lease).flights:
            if flight.ticket == ticket:
                return self.tables.path.has_landed(flight)
        raise StaleTicket(lease, ticket)

    def complete_fill(self, lease: LeaseId, ticket: Ticket, ok: bool = True) -> bool:
        """Wait until the copies of a fill have ended, and end it. Return whether they landed.

        Not `ok`: the caller has given it up, and it is undone whatever they came to. Raises
        `UnknownLease`; `StaleTicket`; `DeviceLost`.
        """
        check_thread(self.thread)
        lease, ticket = check_whole("lease", lease), check_whole("ticket", ticket)
        return fill.complete_fill(self.tables, lease, ticket, check_truth("ok", ok))

    def unpin(self, lease: LeaseId, handle: Handle) -> None:
        """Give up one pin. Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `DirtyFrame`."""
        self.unpin_all(lease, (handle,))

    def unpin_all(self, lease: LeaseId, handles: Handles | tuple[Handle, ...]) -> None:
        """Give up one pin on each of these distinct pages.

        Raises as `unpin`, and `DuplicatePage` after `UnknownLease`.
        """
        check_thread(self.thread)
        lease = check_whole("lease", lease)
        get_lease(self.tables, lease)
        pins.unpin(self.tables, lease, check_handles(handles, self.tables.identity))

    # -------------------------------------------------------------------------------------- dirt

    def mark_dirty(self, lease: LeaseId, handle: Handle) -> None:
        """Announce writes to a frame.

        Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight`.
        """
        dirt.mark_dirty(self.tables, *self._check(lease, handle))

    def write(self, lease: LeaseId, handle: Handle, row: int, value: int) -> None:
        """Write a version, 0 to 2**63 - 1, into one row of a dirty frame.

        Raises `ValueError` for another value; else as `write_bytes`.
        """
        row, value = check_whole("row", row), check_whole("value", value)
        if not 0 <= value <= VALUE_MAX:
            raise ValueError(f"value is {value}: a version is at least 0")
        dirt.write(self.tables, *self._check(lease, handle), row, value)

    def write_bytes(self, lease: LeaseId, handle: Handle, row: int, content: Any) -> None:
        """Write bytes, exactly row_bytes of them, into one row of a dirty frame.

        `content` is `bytes`, or an array of uint8 of shape (1, row_bytes). Raises `UnknownLease`;
        `StaleHandle`; `NotPinned`; `WriteBackInFlight`; `NotDirty`; `BadRow`; `OutOfMemory` and
        `DeviceLost`, and nothing was written then.
        """
        row = check_whole("row", row)
        content = check_content("content", content, (1, self.device.layout.row_bytes))
        dirt.write_bytes(self.tables, *self._check(lease, handle), row, content)

    def read(self, lease: LeaseId, handle: Handle, row: int) -> int:
        """Return one row of a frame as a version; negative if its bytes are none.

        Raises as `read_later`.
        """
        row = check_whole("row", row)
        return dirt.read(self.tables, *self._check(lease, handle), row)

    def read_bytes(self, lease: LeaseId, handle: Handle, row: int) -> bytes:
        """Return the bytes of one row of a frame. Raises as `read_later`."""
        row = check_whole("row", row)
        return dirt.read_bytes(self.tables, *self._check(lease, handle), row).tobytes()

    def read_later(self, lease: LeaseId, handle: Handle, row: int) -> Reading:
        """Queue the reading of one row and return at once, as a kernel that reads it would be.

        The pin may be given up while it is queued: the frame is not filled again before it has
        landed. `get_read` waits for it. Raises `UnknownLease`; `StaleHandle`; `NotPinned`;
        `BadRow`; `OutOfMemory`; `DeviceLost`.
        """
        row = check_whole("row", row)
        return dirt.start_read(self.tables, *self._check(lease, handle), row)

    def get_read(self, reading: Reading) -> bytes:
        """Wait for a row that was asked for and return its bytes. Raises `DeviceLost`."""
        check_thread(self.thread)
        return self.tables.path.get_read(reading).tobytes()

    def write_back(self, lease: LeaseId, handle: Handle) -> Ticket | None:
        """Queue the copy of a dirty frame to its host page; no ticket if there is nothing to do.

        With the tier off the copy is complete when this returns. Raises `UnknownLease`;
        `StaleHandle`; `NotPinned`; `WriteBackInFlight`; `DeviceLost` if the frame is dirty; with
        the tier off `CopyFailed`.
        """
        return dirt.write_back(self.tables, *self._check(lease, handle))

    def complete_write_back(self, lease: LeaseId, ticket: Ticket, ok: bool = True) -> bool:
        """Wait until a write-back has ended, and end it. Return whether it landed.

        Not `ok`: it counts as failed whatever it came to. Raises `UnknownLease`; `StaleTicket`;
        `DeviceLost`.
        """
        check_thread(self.thread)
        lease, ticket = check_whole("lease", lease), check_whole("ticket", ticket)
        return dirt.complete_write_back(self.tables, lease, ticket, check_truth("ok", ok))

    # ------------------------------------------------------------------------------------ looking

    def read_host(self, page: Page) -> Bytes:
        """Return a copy of the rows of a host page, uint8 (rows, row_bytes); no device is needed.

        They are unspecified while torn, and for a page that is not live. Raises `ValueError` for
        a number that is no page.
        """
        check_thread(self.thread)
        page = check_whole("page", page)
        if not 0 <= page < self.tables.shape.pages:
            raise ValueError(f"page is {page}: pages are 0 to {self.tables.shape.pages - 1}")
        return np.array(self.device.host_pages()[page])

    def snapshot(self) -> Snapshot:
        """Return what the tier shows: its tables, and the bytes that are really there."""
        check_thread(self.thread)
        return take_snapshot(self.tables)

    def _check(self, lease: LeaseId, handle: Handle) -> tuple[LeaseId, Handle]:
        """Check the thread and what most calls are given."""
        check_thread(self.thread)
        lease = check_whole("lease", lease)
        get_lease(self.tables, lease)
        return lease, check_handle(handle, self.tables.identity)
