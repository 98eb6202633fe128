"""What a view says in words, and what changed between two views: changed fields only.

Tables that repeat what others say (the page-to-frame map, the hold counts, the free pages) are
shown where they disagree with them, before or after; there a reader wants to see them. Owned
here: these words. Not owned: the tables around them (`render`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from properties.view import CopyView, FrameView, LeaseView, OrphanView, View
from reference.words import Key, Page, Phase, Rows

NONE = "none"


def explain_changes(before: View, after: View) -> list[str]:
    """Return one line for each field that changed, none if nothing did."""
    if before == after:
        return []
    lines = [
        *_changes_of_frames(before, after),
        *_changes_of_leases(before, after),
        *_changes_of_copies("quarantine", before.quarantine, after.quarantine),
        *_changes_of_host(before, after),
        *_changes_of_repeated_tables(before, after),
        *_changes_of_numbers(before, after),
    ]
    # Whatever else a subject shows, a change is never silent.
    return lines or list(_changes_of_fields(before, after))


def describe_view(view: View) -> list[str]:
    """Return a line for each thing that a view shows."""
    shape = view.shape
    lines = [f"shape: pages {shape.pages}, frames {shape.frames}, rows {shape.rows}"]
    if view.off:
        lines.append("the tier is off")
    for number, frame in enumerate(view.frames):
        rows = "" if _is_masked(frame) else f", rows {_rows(frame.rows)}"
        lines.append(f"frame {number}: {_frame(frame)}, generation {frame.generation}{rows}")
    for lease_id, lease in view.leases.items():
        held = f"table {_list(lease.table)}, borrowed {_list(lease.borrowed)}"
        pins = ", ".join(f"page {page} x {count}" for page, count in lease.pins.items())
        lines.append(f"lease {lease_id}: promise {lease.promise}, {held}")
        lines.append(f"lease {lease_id}: pins {pins or NONE}, claims {_list(lease.claims)}")
        lines += [f"lease {lease_id}: {_copy(copy)}" for copy in lease.copies]
    lines += [f"quarantine: {_copy(copy)}" for copy in view.quarantine]
    for page in _pages(view):
        where = _where(view, page)
        holds = _holds(view, page)
        lines.append(f"page {page}: host {_host(view, page)}, mapped by {where}, holds {holds}")
    lines.append(f"free pages: {_list(view.free)}")
    if view.retired:
        lines.append(f"retired pages: {_list(view.retired)}")
    if view.lost:
        lines.append(f"lost pages: {_list(view.lost)}")
    lines += [f"key {key}: page {page}" for key, page in view.keys.items()]
    if view.recency is not None:
        lines.append(f"recency: {_list(view.recency)}")
    counted = msgspec.structs.asdict(view.counters).items()
    lines.append("counters: " + ", ".join(f"{_spaced(name)} {count}" for name, count in counted))
    return lines


# ---------------------------------------------------------------------------------------- frames


def _changes_of_frames(before: View, after: View) -> Iterator[str]:
    for number, (old, new) in enumerate(zip(before.frames, after.frames, strict=False)):
        yield from _arrow(f"frame {number}", _frame(old), _frame(new))
        yield from _arrow(f"frame {number} generation", old.generation, new.generation)
        if not _is_masked(new):
            yield from _arrow(f"frame {number} rows", _rows(old.rows), _rows(new.rows))


def _frame(frame: FrameView) -> str:
    words = [frame.phase.name]
    if frame.page is not None:
        words.append(f"page {frame.page}")
    if frame.dirty:
        words.append("dirty")
    return " ".join(words)


def _is_masked(frame: FrameView) -> bool:
    """Whether its rows are masked as they must be, so that they go without saying."""
    return frame.rows is None and frame.phase in (Phase.FREE, Phase.FILLING, Phase.QUARANTINED)


# ---------------------------------------------------------------------------------------- leases

_NO_LEASE = LeaseView(0, (), (), {}, (), ())


def _changes_of_leases(before: View, after: View) -> Iterator[str]:
    for lease_id in sorted(before.leases.keys() | after.leases.keys()):
        old = before.leases.get(lease_id, _NO_LEASE)
        new = after.leases.get(lease_id, _NO_LEASE)
        name = f"lease {lease_id}"
        yield from _arrow(name, _promise(before, lease_id), _promise(after, lease_id))
        yield from _arrow(f"{name} table", _list(old.table), _list(new.table))
        yield from _arrow(f"{name} borrowed", _list(old.borrowed), _list(new.borrowed))
        for page, was, now in _entries(old.pins, new.pins, 0):
            yield from _arrow(f"{name} pins page {page}", was, now)
        yield from _arrow(f"{name} claims", _list(old.claims), _list(new.claims))
        yield from _changes_of_copies(name, old.copies, new.copies)


def _promise(view: View, lease_id: int) -> str:
    return f"promise {view.leases[lease_id].promise}" if lease_id in view.leases else NONE


Copies: TypeAlias = tuple[CopyView, ...] | tuple[OrphanView, ...]


def _changes_of_copies(name: str, old: Copies, new: Copies) -> Iterator[str]:
    was, now = map(_copy, old), list(map(_copy, new))
    for copy in was:
        if copy in now:
            now.remove(copy)
        else:
            yield f"{name}: {copy} ended"
    yield from (f"{name}: {copy} in flight" for copy in now)


def _copy(copy: CopyView | OrphanView) -> str:
    way = "into" if copy.kind == "fill" else "from"
    pages = f", pages {_list(copy.pages)}" if isinstance(copy, OrphanView) else ""
    return f"{copy.kind} {copy.ticket} {way} frames {_list(copy.frames)}{pages}"


# ----------------------------------------------------------------------------------------- pages


def _changes_of_host(before: View, after: View) -> Iterator[str]:
    for page in sorted({*before.host, *after.host, *before.torn, *after.torn}):
        yield from _arrow(f"host page {page}", _host(before, page), _host(after, page))
    yield from _arrow("retired pages", _list(before.retired), _list(after.retired))
    yield from _arrow("lost pages", _list(before.lost), _list(after.lost))
    for key in sorted({*before.keys, *after.keys}):
        yield from _arrow(f"key {key}", _named(before, key), _named(after, key))


def _named(view: View, key: Key) -> str:
    return f"page {view.keys[key]}" if key in view.keys else NONE


def _host(view: View, page: Page) -> str:
    rows = view.host.get(page)
    if page in view.torn:
        return "torn" if rows is None else f"torn, {_rows(rows)}"
    return _rows(rows) if page in view.host else NONE


def _changes_of_repeated_tables(before: View, after: View) -> Iterator[str]:
    both = (before, after)
    for page in sorted({*_pages(before), *_pages(after)}):
        if any(_where(view, page) != _mapped(view, page) for view in both):
            yield from _arrow(f"page {page} mapped by", _where(before, page), _where(after, page))
        if any(_holds(view, page) != len(view.holders.get(page, ())) for view in both):
            yield from _arrow(f"page {page} holds", _holds(before, page), _holds(after, page))
    if any(not _free_agrees(view) for view in both):
        yield from _arrow("free pages", _list(before.free), _list(after.free))


def _pages(view: View) -> range:
    return range(max(len(view.where), len(view.holds)))


def _where(view: View, page: Page) -> str:
    number = view.where[page] if page < len(view.where) else None
    return NONE if number is None else f"frame {number}"


def _holds(view: View, page: Page) -> int:
    return view.holds[page] if page < len(view.holds) else 0


def _mapped(view: View, page: Page) -> str:
    return f"frame {view.mapped[page]}" if page in view.mapped else NONE


def _free_agrees(view: View) -> bool:
    taken = {*view.holders, *view.retired}
    return list(view.free) == [page for page in _pages(view) if page not in taken]


# ------------------------------------------------------------------------------------- all others


def _changes_of_numbers(before: View, after: View) -> Iterator[str]:
    counted = msgspec.structs.asdict(after.counters)
    for name, count in counted.items():
        yield from _arrow(_spaced(name), getattr(before.counters, name), count)
    yield from _arrow("recency", _list(before.recency), _list(after.recency))


def _changes_of_fields(before: View, after: View) -> Iterator[str]:
    for field in View.__struct_fields__:
        yield from _arrow(_spaced(field), getattr(before, field), getattr(after, field))


def _arrow(what: str, old: object, new: object) -> Iterator[str]:
    if old != new:
        yield f"{what}: {old} -> {new}"


def _entries(
    old: Mapping[Any, Any], new: Mapping[Any, Any], default: Any
) -> Iterator[tuple[Any, Any, Any]]:
    for key in sorted({*old, *new}):
        yield key, old.get(key, default), new.get(key, default)


def _rows(rows: Rows | None) -> str:
    return "masked" if rows is None else _list(rows)


def _list(values: tuple[int, ...] | None) -> str:
    return NONE if values is None else f"[{', '.join(map(str, values))}]"


def _spaced(name: str) -> str:
    return name.replace("_", " ")
