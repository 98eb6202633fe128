"""Quarantine: copies in flight that no lease owns any more, and what they may still touch.

A lease that ends, or a reset, cannot stop a copy that is running. Until the copy has landed its
frames are given to nobody and its host pages begin no new life. Not here: the operations that
bring it about (`leave`).
"""

from reference import pool
from reference.state import Copy, Orphan, State
from reference.tables import mapped_page, set_frame, unmap
from reference.words import FrameNumber, Page, Phase


def orphan(state: State, copies: tuple[Copy, ...]) -> State:
    """Let copies in flight belong to nobody. Their frames still map their pages."""
    orphans = tuple(
        Orphan(
            copy.ticket,
            copy.kind,
            copy.frames,
            tuple(mapped_page(state.frames[number]) for number in copy.frames),
        )
        for copy in copies
    )
    return state._replace(quarantine=(*state.quarantine, *orphans))


def orphaned_frames(state: State) -> tuple[FrameNumber, ...]:
    """Return every frame that a copy in quarantine may touch."""
    return tuple(number for copy in state.quarantine for number in copy.frames)


def is_touched(state: State, page: Page) -> bool:
    """Return whether a copy in quarantine may touch the host page."""
    return any(page in copy.pages for copy in state.quarantine)


def forsake(state: State) -> tuple[tuple[Page, ...], State]:
    """Unmap what is dirty or being filled and is pinned or claimed by nobody any more.

    Returns the pages whose unpublished rows are gone, ascending: each falls back to its host page,
    or is lost if that is torn.
    """
    used: set[Page] = set()
    for _, lease in state.leases:
        used.update(lease.claims)
        used.update(page for page, _ in lease.pins)
    gone: list[Page] = []
    for number, frame in enumerate(state.frames):
        if frame.page is None or frame.page in used:
            continue
        if frame.dirty:
            gone.append(frame.page)
        if frame.dirty or frame.phase == Phase.FILLING:
            state = drop_frame(state, number)
    lost = [page for page in gone if state.host[page].torn]
    if lost:
        state = state._replace(lost=tuple(sorted({*state.lost, *lost})))
    return tuple(sorted(gone)), state


def drop_frame(state: State, number: FrameNumber) -> State:
    """Unmap a frame: it is in quarantine while a copy may touch it, else `FREE`.

    With the tier off there is nothing to unmap: the frame shows its host page's rows again.
    """
    if state.off:
        frame = state.frames[number]
        rows = state.host[mapped_page(frame)].rows
        return set_frame(state, number, frame._replace(dirty=False, rows=rows))
    touched = number in orphaned_frames(state)
    return unmap(state, number, Phase.QUARANTINED if touched else Phase.FREE)


def settle(state: State, page: Page) -> State:
    """Make a retired page free, if no copy may touch its host page any more."""
    if page not in state.pool.retired or is_touched(state, page):
        return state
    return state._replace(pool=pool.restore(state.pool, page))
