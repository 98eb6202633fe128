"""Dirt: marking, writing and reading rows, and writing frames back to their host pages.

Many pages at a time, one being the case of a batch of one. A batch is refused as a whole, with
the refusal that its first offending entry meets alone (`_refuse_*`).
"""

from typing import NoReturn

import numpy as np

from device.flights import Flight
from device.frames import NONE
from device.handles import Handles
from device.holds import check_distinct
from device.layout import Bytes, Mask, Numbers
from device.pins import find_pinned
from device.runtime import CopyFailed, Reading
from device.tables import Tables, check_row, get_flight, get_lease, get_pinned, is_writing_back
from reference.refusals import NotDirty, StaleTicket, WriteBackInFlight
from reference.words import Handle, LeaseId, Phase, Ticket


def mark_dirty(tables: Tables, lease_id: LeaseId, handles: Handles) -> None:
    """Make the frames dirty, before they are written: no clean frame is newer than its host page.

    No key names their pages any more.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease.
    """
    # CHECK
    check_settled(tables, lease_id, handles)
    # EFFECT
    tables.keys.forget(handles.pages)
    tables.frames.dirty[handles.frames] = True


def check_settled(tables: Tables, lease_id: LeaseId, handles: Handles) -> None:
    """Check the handles of pages that the lease pins, and that no write-back is at their frames.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease.
    """
    is_bad, _ = _find_unsettled(tables, lease_id, handles)
    if is_bad.any():
        _refuse_unsettled(tables, lease_id, handles.get_plain(int(is_bad.argmax())))


def _find_unsettled(tables: Tables, lease_id: LeaseId, handles: Handles) -> tuple[Mask, Numbers]:
    """Return which handles `_refuse_unsettled` refuses, and frames, any where it does."""
    _, pins = find_pinned(tables, get_lease(tables, lease_id), handles)
    is_bad = pins == 0
    frames = np.where(is_bad, 0, handles.frames)
    return is_bad | (tables.frames.phase[frames] == Phase.WRITING_BACK), frames


def _refuse_unsettled(tables: Tables, lease_id: LeaseId, handle: Handle) -> NoReturn:
    """Raise why this handle is refused: `StaleHandle`; `NotPinned`; `WriteBackInFlight`."""
    get_pinned(tables, lease_id, handle)
    raise WriteBackInFlight(handle.page, handle.frame)


def write_bytes(
    tables: Tables, lease_id: LeaseId, handles: Handles, rows: Numbers, content: Bytes
) -> None:
    """Write bytes, uint8 (n, row_bytes), into rows of frames, one row for each handle.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `WriteBackInFlight` of any lease;
    `NotDirty`; `BadRow`; `ValueError` for a row that is written twice; `OutOfMemory` and
    `DeviceLost`, and nothing was written then.
    """
    # CHECK
    is_bad, frames = _find_unsettled(tables, lease_id, handles)
    is_bad |= ~tables.frames.dirty[frames] | (rows < 0) | (rows >= tables.shape.rows)
    if is_bad.any():
        index = int(is_bad.argmax())
        _refuse_write(tables, lease_id, handles.get_plain(index), int(rows[index]))
    places = handles.frames * tables.shape.rows + rows
    if len(np.unique(places)) < len(places):
        raise ValueError(f"rows {rows.tolist()} of pages {handles.pages.tolist()}: one comes twice")
    # EFFECT
    tables.path.write_rows(handles.frames, rows, content)


def _refuse_write(tables: Tables, lease_id: LeaseId, handle: Handle, row: int) -> NoReturn:
    get_pinned(tables, lease_id, handle)
    if is_writing_back(tables, handle.frame):
        raise WriteBackInFlight(handle.page, handle.frame)
    if not tables.frames.dirty[handle.frame]:
        raise NotDirty(handle.page, handle.frame)
    check_row(tables, row)
    raise AssertionError(f"{handle} was refused for no reason")


def write(
    tables: Tables, lease_id: LeaseId, handles: Handles, rows: Numbers, values: Numbers
) -> None:
    """Write versions into rows of frames. Raises as `write_bytes`."""
    # A forged page has no life; the bytes for it are refused with its handle.
    pages = np.clip(handles.pages, 0, tables.shape.pages - 1)
    content = tables.codec.encode(tables.life[pages], rows, values)
    write_bytes(tables, lease_id, handles, rows, content)


def start_read(tables: Tables, lease_id: LeaseId, handles: Handles, rows: Numbers) -> Reading:
    """Queue the reading of rows, one for each handle, also while frames are written back.

    Raises `UnknownLease`; `StaleHandle`; `NotPinned`; `BadRow`; `OutOfMemory`; `DeviceLost`.
    """
    # CHECK
    _, pins = find_pinned(tables, get_lease(tables, lease_id), handles)
    is_bad = (pins == 0) | (rows < 0) | (rows >= tables.shape.rows)
    if is_bad.any():
        index = int(is_bad.argmax())
        get_pinned(tables, lease_id, handles.get_plain(index))
        check_row(tables, int(rows[index]))
    # RESULT
    return tables.path.start_read(handles.frames, rows)


def read_bytes(tables: Tables, lease_id: LeaseId, handles: Handles, rows: Numbers) -> Bytes:
    """Return rows, uint8 (n, row_bytes), when they have arrived. Raises as `start_read`."""
    return tables.path.get_read(start_read(tables, lease_id, handles, rows))


def read(tables: Tables, lease_id: LeaseId, handles: Handles, rows: Numbers) -> Numbers:
    """Return rows as versions, int64 (n,), negative where the bytes are none.

    Raises as `start_read`.
    """
    content = read_bytes(tables, lease_id, handles, rows)
    return tables.codec.decode(tables.life[handles.pages], rows, content)


# ------------------------------------------------------------------------------------ write-backs


def write_back(tables: Tables, lease_id: LeaseId, handles: Handles) -> Numbers:
    """Queue the copies of dirty frames to their host pages, which are torn until they succeed.

    The pages are distinct. Returns the tickets, int64 (n,), `NONE` where the frame is clean and
    there is nothing to do. With the tier off the copies are complete when this returns, and no
    ticket is given. Raises `UnknownLease`; `DuplicatePage`; `StaleHandle`; `NotPinned`;
    `WriteBackInFlight` of any lease; `DeviceLost`; with the tier off `CopyFailed`, and the frames
    are dirty still.
    """
    # CHECK
    lease = get_lease(tables, lease_id)
    check_distinct(handles.pages)
    check_settled(tables, lease_id, handles)
    # EFFECT
    is_dirty = tables.frames.dirty[handles.frames]
    frames, pages = handles.frames[is_dirty], handles.pages[is_dirty]
    tickets = np.full(len(handles), NONE, dtype=np.int64)
    if not len(frames):
        return tickets
    first = tables.next_ticket
    queued = tables.path.start_write_back(first, frames, pages)
    if tables.off:
        has_landed = tables.path.end(queued, ok=True)
        publish(tables, frames, has_landed)
        if not has_landed:
            tables.torn[pages] = True
            raise CopyFailed
        return tickets
    tables.next_ticket += len(frames)
    tables.torn[pages] = True
    tables.frames.phase[frames] = Phase.WRITING_BACK
    tickets[is_dirty] = np.arange(first, tables.next_ticket, dtype=np.int64)
    for index, ticket in enumerate(range(first, tables.next_ticket)):
        lease.flights[ticket] = Flight(ticket, "write-back", frames[index : index + 1], queued)
    # RESULT
    return tickets


def complete_write_back(
    tables: Tables, lease_id: LeaseId, tickets: tuple[Ticket, ...], ok: bool
) -> Mask:
    """End write-backs, each landed, or failed with the frame dirty and its rows kept.

    Waits until their copies have ended, and returns which landed; not `ok` counts as failed
    whatever they came to. Raises `UnknownLease`; `StaleTicket` for a ticket that names no
    write-back of this lease in flight, or comes twice; `DeviceLost`.
    """
    # CHECK
    get_lease(tables, lease_id)
    flights: dict[Ticket, Flight] = {}
    for ticket in tickets:
        if ticket in flights:
            raise StaleTicket(lease_id, ticket)
        flights[ticket] = get_flight(tables, lease_id, ticket, "write-back")
    # EFFECT
    ended = {
        id(queued): tables.path.end(queued, ok)
        for queued in {id(flight.queued): flight.queued for flight in flights.values()}.values()
    }
    has_landed = np.array([ended[id(flight.queued)] for flight in flights.values()], dtype=np.bool_)
    frames = np.array([flight.frames[0] for flight in flights.values()], dtype=np.int64)
    for flight in flights.values():
        tables.leases[lease_id].end_flight(flight)
    publish(tables, frames[has_landed], True)
    publish(tables, frames[~has_landed], False)
    # RESULT
    return has_landed


def publish(tables: Tables, frames: Numbers, has_landed: bool) -> None:
    """End write-backs in the tables: those that landed leave frames clean, host pages whole."""
    tables.frames.phase[frames] = Phase.READY
    if has_landed:
        tables.frames.dirty[frames] = False
        tables.torn[tables.frames.page[frames]] = False
        tables.counts.write_backs += len(frames)
    else:
        tables.counts.failed_write_backs += len(frames)
