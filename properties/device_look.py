"""What a call touched on a device tier: its tables and bytes there, and nothing else."""

import numpy as np

from device.frames import NONE
from device.layout import Bytes, Numbers
from device.leases import Lease
from device.tables import Tables
from properties.lockstep_look import Glimpse, Touched
from properties.view import CopyView, CountersView, FrameView, LeaseView
from reference.words import Phase, Rows

SHOWN = (Phase.READY, Phase.WRITING_BACK)
"""What a frame is doing while its rows may be looked at."""


def look_at_tables(tables: Tables, touched: Touched) -> Glimpse:
    """Return what the tables and the memory show of what a call touched."""
    lease = None if touched.lease is None else tables.leases.get(touched.lease)
    pages = np.array(touched.pages, dtype=np.int64)
    live = [page for page in touched.pages if tables.pool.is_live(page) and not tables.torn[page]]
    whole = np.array(live, dtype=np.int64)
    content = tables.path.device.host_pages()[whole]
    host = dict(zip(live, _decode(tables, whole, content), strict=True))
    return Glimpse(
        None if lease is None else _get_lease(lease),
        _get_frames(tables, touched),
        tuple([None if at == NONE else at for at in tables.frames.where[pages].tolist()]),
        tuple(tables.pool.holds[pages].tolist()),
        tuple([host.get(page) for page in touched.pages]),
        CountersView(**vars(tables.counts)),
    )


def _get_lease(lease: Lease) -> LeaseView:
    pages, pins = lease.get_pinned()
    return LeaseView(
        promise=lease.promise,
        table=tuple(lease.get_joined(borrowed=False).tolist()),
        borrowed=tuple(lease.get_joined(borrowed=True).tolist()),
        pins=dict(zip(pages.tolist(), pins.tolist(), strict=True)),
        claims=tuple(lease.claims.tolist()),
        copies=tuple(
            [CopyView(f.ticket, f.kind, tuple(f.frames.tolist())) for f in lease.flights.values()]
        ),
    )


def _get_frames(tables: Tables, touched: Touched) -> tuple[FrameView, ...]:
    frames = tables.frames
    shown = [n for n in touched.frames if frames.phase[n] in SHOWN and frames.page[n] != NONE]
    numbers = np.array(shown, dtype=np.int64)
    content = tables.path.peek_frames(numbers)
    rows = dict(zip(shown, _decode(tables, frames.page[numbers], content), strict=True))
    return tuple(
        [
            FrameView(
                None if frames.page[n] == NONE else int(frames.page[n]),
                int(frames.generation[n]),
                Phase(frames.phase[n]),
                bool(frames.dirty[n]),
                rows.get(n),
            )
            for n in touched.frames
        ]
    )


def _decode(tables: Tables, pages: Numbers, content: Bytes) -> list[Rows]:
    """Return the rows of pages, from bytes (n, rows, row_bytes), as values."""
    rows = tables.shape.rows
    lives = np.repeat(tables.life[pages], rows)
    numbers = np.tile(np.arange(rows, dtype=np.int64), len(pages))
    flat = content.reshape(len(numbers), tables.path.device.layout.row_bytes)
    values = tables.codec.decode(lives, numbers, flat).reshape(len(pages), rows)
    return [tuple(page) for page in values.tolist()]
