"""Dirt: marking, writing and reading rows, and writing frames back to their host pages."""

from device.layout import Bytes
from device.leases import Flight, first_frame
from device.runtime import CopyFailed, Reading
from device.tables import (
    Tables,
    check_row,
    get_flight,
    get_pinned,
    is_writing_back,
    one,
)
from reference.refusals import NotDirty, WriteBackInFlight
from reference.words import FrameNumber, Handle, LeaseId, Phase, Ticket


def check_settled(tables: Tables, lease_id: LeaseId, handle: Handle) -> None:
    """Check the handle of a page that the lease pins, and that no write-back is at its frame.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease.
    """
    get_pinned(tables, lease_id, handle)
    if is_writing_back(tables, handle.frame):
        raise WriteBackInFlight(handle.page, handle.frame)


def mark_dirty(tables: Tables, lease_id: LeaseId, handle: Handle) -> None:
    """Make the frame dirty, before it is written: no clean frame is newer than its host page.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease.
    """
    # CHECK
    check_settled(tables, lease_id, handle)
    # EFFECT
    tables.frames.dirty[handle.frame] = True


def check_write(tables: Tables, lease_id: LeaseId, handle: Handle, row: int) -> None:
    """Check that a row may be written.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease;
    `NotDirty`; `BadRow`.
    """
    check_settled(tables, lease_id, handle)
    if not tables.frames.dirty[handle.frame]:
        raise NotDirty(handle.page, handle.frame)
    check_row(tables, row)


def write(tables: Tables, lease_id: LeaseId, handle: Handle, row: int, value: int) -> None:
    """Write a version into one row of the frame. Raises as `write_bytes`."""
    # CHECK
    check_write(tables, lease_id, handle, row)
    content = tables.codec.encode(tables.life[one(handle.page)], one(row), one(value))
    # EFFECT
    tables.path.write_rows(one(handle.frame), one(row), content)


def write_bytes(
    tables: Tables, lease_id: LeaseId, handle: Handle, row: int, content: Bytes
) -> None:
    """Write bytes, uint8 (1, row_bytes), into one row of the frame.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease;
    `NotDirty`; `BadRow`; `OutOfMemory` and `DeviceLost`, and nothing was written then.
    """
    # CHECK
    check_write(tables, lease_id, handle, row)
    # EFFECT
    tables.path.write_rows(one(handle.frame), one(row), content)


def start_read(tables: Tables, lease_id: LeaseId, handle: Handle, row: int) -> Reading:
    """Queue the reading of one row of the frame, also while it is written back.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `BadRow`; `OutOfMemory`; `DeviceLost`.
    """
    # CHECK
    get_pinned(tables, lease_id, handle)
    check_row(tables, row)
    # RESULT
    return tables.path.start_read(one(handle.frame), one(row))


def read_bytes(tables: Tables, lease_id: LeaseId, handle: Handle, row: int) -> Bytes:
    """Return the bytes of one row, uint8 (row_bytes,), when they have arrived.

    Raises as `start_read`.
    """
    content: Bytes = tables.path.get_read(start_read(tables, lease_id, handle, row))[0]
    return content


def read(tables: Tables, lease_id: LeaseId, handle: Handle, row: int) -> int:
    """Return one row as a version, or as a negative number if its bytes are none.

    Raises as `start_read`.
    """
    content = read_bytes(tables, lease_id, handle, row)
    life = tables.life[one(handle.page)]
    return int(tables.codec.decode(life, one(row), content[None])[0])


def write_back(tables: Tables, lease_id: LeaseId, handle: Handle) -> Ticket | None:
    """Queue the copy of a dirty frame to its host page, which is torn until the copy succeeds.

    Clean: nothing to do, no ticket. With the tier off the copy is complete when this returns, no
    ticket. Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease;
    `DeviceLost`; with the tier off `CopyFailed`, and the frame is dirty still.
    """
    # CHECK
    check_settled(tables, lease_id, handle)
    # EFFECT
    if not tables.frames.dirty[handle.frame]:
        return None
    ticket = tables.next_ticket
    queued = tables.path.start_write_back(ticket, one(handle.frame), one(handle.page))
    flight = Flight(ticket, "write-back", one(handle.frame), *queued)
    if tables.off:
        _complete_at_once(tables, flight)
        return None
    tables.torn[handle.page] = True
    tables.leases[lease_id].flights.append(flight)
    tables.frames.phase[handle.frame] = Phase.WRITING_BACK
    tables.next_ticket += 1
    # RESULT
    return ticket


def _complete_at_once(tables: Tables, flight: Flight) -> None:
    """Wait for a write-back with the tier off, where nothing is ever in flight."""
    has_landed = tables.path.end(flight, ok=True)
    publish(tables, first_frame(flight), has_landed)
    if not has_landed:
        tables.torn[tables.frames.page[flight.frames]] = True
        raise CopyFailed


def complete_write_back(tables: Tables, lease_id: LeaseId, ticket: Ticket, ok: bool) -> bool:
    """End a write-back: landed, or failed with the frame dirty and its rows kept.

    Waits until the copy has ended, and returns whether it landed; not `ok` counts as failed
    whatever it came to. Raises `UnknownLease`; `StaleTicket` if it names no write-back of this
    lease in flight; `DeviceLost`.
    """
    # CHECK
    flight = get_flight(tables, lease_id, ticket, "write-back")
    # EFFECT
    has_landed = tables.path.end(flight, ok)
    tables.leases[lease_id].end_flight(flight)
    publish(tables, first_frame(flight), has_landed)
    # RESULT
    return has_landed


def publish(tables: Tables, frame: FrameNumber, has_landed: bool) -> None:
    """End a write-back in the tables: if it landed the frame is clean and its host page whole."""
    tables.frames.phase[frame] = Phase.READY
    if has_landed:
        tables.frames.dirty[frame] = False
        tables.torn[tables.frames.page[frame]] = False
        tables.counts.write_backs += 1
    else:
        tables.counts.failed_write_backs += 1
