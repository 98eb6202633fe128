"""A snapshot: what a device tier shows of itself, as plain data.

It reads the tables and the memory that are really there, redundant tables included; a byte
flipped in a frame shows. Rows of `FREE` and `FILLING` frames and of torn host pages are masked.
Taking one changes nothing, and lands no copy on a simulated device.
"""

from typing import Literal, NamedTuple

import numpy as np

from device.flights import Orphan
from device.frames import NEVER, NONE
from device.layout import Bytes, Numbers
from device.leases import Lease
from device.tables import Tables
from reference.words import FrameNumber, Key, LeaseId, Page, Phase, Rows, Shape, Ticket


class FrameSnapshot(NamedTuple):
    """One frame."""

    page: Page | None
    generation: int
    phase: Phase
    dirty: bool
    rows: Rows | None
    """Its rows as values, negative where the bytes are none; none while `FREE`, `FILLING` or
    `QUARANTINED`."""


class LeaseSnapshot(NamedTuple):
    """One open lease."""

    promise: int
    table: tuple[Page, ...]
    borrowed: tuple[Page, ...]
    pins: dict[Page, int]
    claims: tuple[Page, ...]
    copies: tuple[tuple[Ticket, Literal["fill", "write-back"], tuple[FrameNumber, ...]], ...]
    """Ticket, "fill" or "write-back", and frames of each copy in flight, oldest first."""


class OrphanSnapshot(NamedTuple):
    """One copy in flight that no lease owns any more."""

    ticket: Ticket
    kind: Literal["fill", "write-back"]
    frames: tuple[FrameNumber, ...]
    pages: tuple[Page, ...]
    """The host pages it reads or writes."""


class Snapshot(NamedTuple):
    """Everything a tier shows: the fields of a view."""

    shape: Shape
    off: bool
    leases: dict[LeaseId, LeaseSnapshot]
    frames: tuple[FrameSnapshot, ...]
    where: tuple[FrameNumber | None, ...]
    free: tuple[Page, ...]
    holds: tuple[int, ...]
    host: dict[Page, Rows | None]
    torn: tuple[Page, ...]
    counters: tuple[int, ...]
    """Hits, misses, evictions, failed fills, write-backs, failed write-backs."""
    recency: tuple[Page, ...]
    """Resident pages that a fill completed for, least recently filled first."""
    quarantine: tuple[OrphanSnapshot, ...]
    """Copies in flight that no lease owns any more, oldest first."""
    retired: tuple[Page, ...]
    """Pages whose life ended and that such a copy may still touch."""
    lost: tuple[Page, ...]
    """Live pages whose rows are nowhere."""
    keys: dict[Key, Page]
    """The page that each key names."""


def take_snapshot(tables: Tables) -> Snapshot:
    """Return what the tier shows now. Raises `DeviceLost` where the device cannot be read."""
    counts, pool = tables.counts, tables.pool
    live = np.flatnonzero(~(pool.free.is_free | pool.retired)).astype(np.int64)
    whole = live[~tables.torn[live]]
    host: dict[Page, Rows | None] = dict.fromkeys(live.tolist())
    host.update(_decode_pages(tables, whole, tables.path.device.host_pages()[whole]))
    return Snapshot(
        shape=tables.shape,
        off=tables.off,
        leases={lease_id: _get_lease(lease) for lease_id, lease in tables.leases.items()},
        frames=_get_frames(tables),
        where=tuple(_get_names(tables.frames.where)),
        free=tuple(pool.free.get_all().tolist()),
        holds=tuple(pool.holds.tolist()),
        host=host,
        torn=tuple(live[tables.torn[live]].tolist()),
        counters=(
            counts.hits,
            counts.misses,
            counts.evictions,
            counts.failed_fills,
            counts.write_backs,
            counts.failed_write_backs,
        ),
        recency=_get_recency(tables),
        quarantine=tuple([_get_orphan(orphan) for orphan in tables.quarantine.values()]),
        retired=tuple(np.flatnonzero(pool.retired).tolist()),
        lost=tuple(np.flatnonzero(tables.lost).tolist()),
        keys=tables.keys.get_all(),
    )


def _get_frames(tables: Tables) -> tuple[FrameSnapshot, ...]:
    frames = tables.frames
    shown = (frames.phase == Phase.READY) | (frames.phase == Phase.WRITING_BACK)
    numbers = np.flatnonzero(shown & (frames.page != NONE)).astype(np.int64)
    content = tables.path.peek_frames(numbers)
    values = zip(numbers.tolist(), _decode(tables, frames.page[numbers], content), strict=True)
    rows: dict[FrameNumber, Rows] = dict(values)
    return tuple(
        [
            FrameSnapshot(page, generation, Phase(phase), dirty, rows.get(number))
            for number, (page, generation, phase, dirty) in enumerate(
                zip(
                    _get_names(frames.page),
                    frames.generation.tolist(),
                    frames.phase.tolist(),
                    frames.dirty.tolist(),
                    strict=True,
                )
            )
        ]
    )


def _get_lease(lease: Lease) -> LeaseSnapshot:
    pages, pins = lease.get_pinned()
    return LeaseSnapshot(
        promise=lease.promise,
        table=tuple(lease.get_joined(borrowed=False).tolist()),
        borrowed=tuple(lease.get_joined(borrowed=True).tolist()),
        pins=dict(zip(pages.tolist(), pins.tolist(), strict=True)),
        claims=tuple(lease.claims.tolist()),
        copies=tuple((f.ticket, f.kind, tuple(f.frames.tolist())) for f in lease.flights.values()),
    )


def _get_orphan(orphan: Orphan) -> OrphanSnapshot:
    flight, pages = orphan
    frames = tuple(flight.frames.tolist())
    return OrphanSnapshot(flight.ticket, flight.kind, frames, tuple(pages.tolist()))


def _get_recency(tables: Tables) -> tuple[Page, ...]:
    frames = tables.frames
    filled = np.flatnonzero((frames.stamp != NEVER) & (frames.page != NONE))
    return tuple(frames.page[filled[np.argsort(frames.stamp[filled])]].tolist())


def _get_names(numbers: Numbers) -> list[int | None]:
    """Return the entries of a table as Python has them, `None` for `NONE`."""
    return [None if number == NONE else number for number in numbers.tolist()]


def _decode_pages(tables: Tables, pages: Numbers, content: Bytes) -> dict[Page, Rows]:
    return dict(zip(pages.tolist(), _decode(tables, pages, content), strict=True))


def _decode(tables: Tables, pages: Numbers, content: Bytes) -> list[Rows]:
    """Return the rows of pages in their lives, from bytes (n, rows, row_bytes), as values."""
    rows = tables.shape.rows
    lives = np.repeat(tables.life[pages], rows)
    numbers = np.tile(np.arange(rows, dtype=np.int64), len(pages))
    flat = content.reshape(len(numbers), tables.path.device.layout.row_bytes)
    values = tables.codec.decode(lives, numbers, flat).reshape(len(pages), rows)
    return [tuple(page) for page in values.tolist()]
