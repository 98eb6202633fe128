"""The tier on a device: the reference's operations by name, arguments, refusals and results.

**Threads.** The thread that made a tier is the only one that may call it; any other gets
`WrongThread`. **Time.** `fill` and `write_back` queue their copies and return at once;
`complete_fill`, `complete_write_back` and `land` wait until the copies have ended, `has_landed`
asks without waiting. **Errors of the device.** A copy that fails, when it is queued or later, makes
its completion a failed one whatever the caller says. After `DeviceLost` every call that needs the
device raises it and changes nothing; host pages stay readable (`read_host`).

Each operation on one page has a batch form on many, which is refused as a whole: with the first
refusal that the first offending entry meets, and nothing changes. Owned here: threads, arguments
and the choices of whoever drives a test. What operations do is in `holds`, `fill`, `pins`, `dirt`,
`leave` and `drafts`.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from device import dirt, drafts, fill, holds, leave, pins
from device.arguments import (
    check_content,
    check_device,
    check_handles,
    check_numbers,
    check_rows,
    check_thread,
    check_truth,
    check_whole,
)
from device.data_path import DataPath
from device.frames import NONE
from device.handles import BatchPlan, FillEnd, Handles, OwnHandle
from device.layout import Bytes, Mask, Numbers
from device.runtime import Device, Reading
from device.snapshot import Snapshot, take_snapshot
from device.tables import Tables, get_lease, one
from device.versions import Codec, VersionCodec
from reference.calls import DEFAULT, Alloc, Call, Choice, Fill
from reference.refusals import StaleTicket
from reference.words import Handle, Key, LeaseId, Page, Plan, Ticket

Choose: TypeAlias = Callable[[Call], Choice]
"""Makes the free choices and the faults of an `Alloc` or `Fill`; `DEFAULT` leaves them open."""

Some: TypeAlias = Handles | Sequence[Handle]
"""Many handles, as columns or one by one."""


class Tier:
    """A tier over the frames and host pages of one device.

    It is off (the device-only pool: every page resident from its allocation, no copies in
    flight) unless there are fewer frames than pages or `off=False` says otherwise. `choose` makes
    the free choices and the faults, for tests; `codec` says how values are written in rows.

    Raises `ValueError` if it is to be off and frames differ from pages; `BadLayout` if the codec
    does not fit the rows, or the host pages are not what the device says; `OutOfMemory`;
    `DeviceLost`.
    """

    def __init__(
        self,
        device: Device,
        off: bool | None = None,
        choose: Choose | None = None,
        codec: Codec | None = None,
    ) -> None:
        """Make a tier in which nothing happened yet; the calling thread becomes its own."""
        shape = check_device(device)
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

        Raises `UnknownLease`; `PageMemory`; with the tier off `OutOfMemory` and `DeviceLost`.
        """
        check_thread(self.thread)
        lease = check_whole("lease", lease)
        choice = DEFAULT if self.choose is None else self.choose(Alloc(lease))
        return int(holds.alloc(self.tables, lease, 1, choice)[0])

    def alloc_all(self, lease: LeaseId, count: int) -> Numbers:
        """Begin the lives of so many pages, int64 (count,), the lowest free ones, or of none.

        Raises as `alloc`; `ValueError` for a count below 0.
        """
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
        `RowsLost`; `HitPending`; `FramesLanding`; `FrameMemory`, which the promise rules out;
        `FillFailed` if a chosen fault struck; `DeviceLost` if there are misses.
        """
        check_thread(self.thread)
        lease, numbers = check_whole("lease", lease), check_numbers("pages", pages)
        choice = DEFAULT
        if self.choose is not None:
            choice = self.choose(Fill(lease, tuple(numbers.tolist())))
        return fill.fill(self.tables, lease, numbers, choice)

    def has_landed(self, lease: LeaseId | None, ticket: Ticket) -> bool:
        """Return whether completing this copy would not wait, as far as the device reports.

        Without a lease: whether landing this copy in quarantine would not. Raises `DeviceLost`;
        `UnknownLease`; `StaleTicket` or `UnknownTicket` if it names no copy that is there.
        """
        check_thread(self.thread)
        ticket = check_whole("ticket", ticket)
        if lease is None:
            return self.tables.path.has_landed(leave.get_orphan(self.tables, ticket).flight.queued)
        lease = check_whole("lease", lease)
        flight = get_lease(self.tables, lease).flights.get(ticket)
        if flight is not None:
            return self.tables.path.has_landed(flight.queued)
        raise StaleTicket(lease, ticket)

    def complete_fill(self, lease: LeaseId, ticket: Ticket, ok: bool = True) -> FillEnd:
        """Wait until the copies of a fill have ended, and end it. What is returned is true if so.

        Not `ok`: the caller has given it up, and it is undone whatever they came to. Raises
        `UnknownLease`; `StaleTicket`; `DeviceLost`.
        """
        check_thread(self.thread)
        lease, ticket = check_whole("lease", lease), check_whole("ticket", ticket)
        return fill.complete_fill(self.tables, lease, ticket, check_truth("ok", ok))

    def unpin(self, lease: LeaseId, handle: Handle) -> None:
        """Give up one pin. Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `DirtyFrame`."""
        self.unpin_all(lease, (handle,))

    def unpin_all(self, lease: LeaseId, handles: Some) -> None:
        """Give up one pin on each of these distinct pages.

        Raises as `unpin`, and `DuplicatePage` after `UnknownLease`.
        """
        pins.unpin(self.tables, *self._check(lease, handles))

    # -------------------------------------------------------------------------------------- dirt

    def mark_dirty(self, lease: LeaseId, handle: Handle) -> None:
        """Announce writes to a frame. Raises as `mark_dirty_all`."""
        self.mark_dirty_all(lease, (handle,))

    def mark_dirty_all(self, lease: LeaseId, handles: Some) -> None:
        """Announce writes to frames.

        Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight`.
        """
        dirt.mark_dirty(self.tables, *self._check(lease, handles))

    def write(self, lease: LeaseId, handle: Handle, row: int, value: int) -> None:
        """Write a version, 0 to 2**63 - 1, into one row of a dirty frame.

        Raises `ValueError` for another value; else as `write_bytes_all`.
        """
        row, value = check_whole("row", row), check_whole("value", value)
        if value < 0:
            raise ValueError(f"value is {value}: a version is at least 0")
        dirt.write(self.tables, *self._check(lease, (handle,)), one(row), one(value))

    def write_bytes(self, lease: LeaseId, handle: Handle, row: int, content: Any) -> None:
        """Write bytes, exactly row_bytes of them, into one row of a dirty frame.

        Raises as `write_bytes_all`.
        """
        self.write_bytes_all(lease, (handle,), (row,), content)

    def write_bytes_all(self, lease: LeaseId, handles: Some, rows: Any, content: Any) -> None:
        """Write bytes into rows of dirty frames, one row for each handle; no row comes twice.

        `rows` is a sequence or an array of ints, `content` is an array of uint8 of shape
        (n, row_bytes), or `bytes` of that size. Raises `UnknownLease`; `StaleHandle`;
        `NotPinned`; `WriteBackInFlight`; `NotDirty`; `BadRow`; `ValueError`; `OutOfMemory` and
        `DeviceLost`, and nothing was written then.
        """
        lease, many = self._check(lease, handles)
        numbers = check_rows(rows, len(many))
        content = check_content("content", content, (len(many), self.device.layout.row_bytes))
        dirt.write_bytes(self.tables, lease, many, numbers, content)

    def read(self, lease: LeaseId, handle: Handle, row: int) -> int:
        """Return one row of a frame as a version; negative if its bytes are none.

        Raises as `read_later`.
        """
        row = check_whole("row", row)
        return int(dirt.read(self.tables, *self._check(lease, (handle,)), one(row))[0])

    def read_bytes(self, lease: LeaseId, handle: Handle, row: int) -> bytes:
        """Return the bytes of one row of a frame. Raises as `read_later`."""
        return self.get_read(self.read_later(lease, (handle,), (row,))).tobytes()

    def read_later(self, lease: LeaseId, handles: Some, rows: Any) -> Reading:
        """Queue the reading of rows, one for each handle, as a kernel would; return at once.

        The pins may be given up while it is queued: no frame is filled again before it has
        landed. `get_read` waits for it. Raises `UnknownLease`; `StaleHandle`; `NotPinned`;
        `BadRow`; `OutOfMemory`; `DeviceLost`.
        """
        lease, many = self._check(lease, handles)
        return dirt.start_read(self.tables, lease, many, check_rows(rows, len(many)))

    def get_read(self, reading: Reading) -> Bytes:
        """Wait for rows that were asked for, uint8 (n, row_bytes). Raises `DeviceLost`."""
        check_thread(self.thread)
        return self.tables.path.get_read(reading)

    def write_back(self, lease: LeaseId, handle: Handle) -> Ticket | None:
        """Queue the copy of a dirty frame to its host page; no ticket if there is nothing to do.

        Raises as `write_back_all`.
        """
        ticket = int(self.write_back_all(lease, (handle,))[0])
        return None if ticket == NONE else ticket

    def write_back_all(self, lease: LeaseId, handles: Some) -> Numbers:
        """Queue the copies of dirty frames, of distinct pages, to their host pages in one batch.

        Returns a ticket for each, int64 (n,), -1 where there is nothing to do. They complete one
        by one or together; a copy that fails fails those that were queued with it. With the tier
        off the copies are complete when this returns. Raises `UnknownLease`; `DuplicatePage`;
        `StaleHandle`; `NotPinned`; `WriteBackInFlight`; `DeviceLost` if a frame is dirty; with
        the tier off `CopyFailed`.
        """
        return dirt.write_back(self.tables, *self._check(lease, handles))

    def complete_write_back(self, lease: LeaseId, ticket: Ticket, ok: bool = True) -> bool:
        """Wait until a write-back has ended, and end it. Return whether it landed.

        Raises as `complete_write_back_all`.
        """
        return bool(self.complete_write_back_all(lease, (ticket,), ok)[0])

    def complete_write_back_all(self, lease: LeaseId, tickets: Any, ok: bool = True) -> Mask:
        """Wait until write-backs have ended, and end them. Return which landed, bool (n,).

        Not `ok`: they count as failed whatever they came to. Raises `UnknownLease`;
        `StaleTicket`, also for a ticket that comes twice; `DeviceLost`.
        """
        check_thread(self.thread)
        lease, ok = check_whole("lease", lease), check_truth("ok", ok)
        numbers = tuple(check_numbers("tickets", tickets).tolist())
        return dirt.complete_write_back(self.tables, lease, numbers, ok)

    # ------------------------------------------------------------------------- leaving and drafts

    def abandon(self, lease: LeaseId) -> tuple[Page, ...]:
        """End a lease whatever it does; return the live pages whose unpublished rows are gone.

        Its copies run on, in quarantine until they are landed. Raises `UnknownLease`; with the
        tier off, if others hold such a page, `OutOfMemory` and `DeviceLost`.
        """
        check_thread(self.thread)
        return leave.abandon(self.tables, check_whole("lease", lease))

    def land(self, ticket: Ticket, ok: bool = True) -> bool:
        """Wait until a copy in quarantine has ended, and end it. Return whether it landed.

        Not `ok`: it counts as failed whatever it came to. Raises `UnknownTicket`; `DeviceLost`.
        """
        check_thread(self.thread)
        return leave.land(self.tables, check_whole("ticket", ticket), check_truth("ok", ok))

    def reset(self) -> tuple[Page, ...]:
        """Drop all residency; return the pages whose unpublished rows are gone.

        Copies run on, in quarantine. With the tier off, if a frame is dirty, raises `OutOfMemory`
        and `DeviceLost`.
        """
        check_thread(self.thread)
        return leave.reset(self.tables)

    def truncate(self, lease: LeaseId, page: Page, rows: int) -> None:
        """Take back the rows of a page from `rows` on.

        Raises `UnknownLease`; `NotHeld`; `BadLength`; `FillInFlight`; `HitPending`;
        `WriteBackInFlight`; if the page is resident `OutOfMemory` and `DeviceLost`.
        """
        check_thread(self.thread)
        lease, page = check_whole("lease", lease), check_whole("page", page)
        drafts.truncate(self.tables, lease, page, check_whole("rows", rows))

    def publish(self, lease: LeaseId, page: Page, key: Key) -> None:
        """Let a key name a full, durable page; a row of zeros counts as one not written.

        Raises `UnknownLease`; `NotHeld`; `NotDurable`; `PageNotFull`; `KeyTaken`;
        `AlreadyPublished`.
        """
        check_thread(self.thread)
        lease, page = check_whole("lease", lease), check_whole("page", page)
        drafts.publish(self.tables, lease, page, check_whole("key", key))

    def find(self, lease: LeaseId, key: Key) -> Page | None:
        """Return the page a key names, and let the lease hold it, or none.

        Raises `UnknownLease`.
        """
        check_thread(self.thread)
        return drafts.find(self.tables, check_whole("lease", lease), check_whole("key", key))

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

    def _check(self, lease: LeaseId, handles: Some) -> tuple[LeaseId, Handles]:
        """Check the thread and what most calls are given."""
        check_thread(self.thread)
        lease = check_whole("lease", lease)
        get_lease(self.tables, lease)
        return lease, check_handles(handles, self.tables.identity)
