"""Rules of drafts and keys: rows taken back, and pages found by what they hold.

Not here: that a read never shows what was taken back (`views`), and what a find lets its lease
hold (`truth`).
"""

from properties.ledger import Ledger
from properties.registry import state_rule, step_rule
from properties.rules import examples as ex
from properties.step import Step
from properties.view import View
from reference.calls import CALLS, Find, MarkDirty, Publish, Truncate
from reference.words import Key, Page, Rows


@step_rule(
    seen="C18",
    calls=(Truncate,),
    broken=lambda: ex.step(
        ex.view((ex.frame(0, rows=(4,)),), ex.lease(0), host={0: (4,)}),
        Truncate(0, 0, 0),
        ex.view((ex.frame(0, rows=(0,)),), ex.lease(0), host={0: (4,)}),
        knew=ex.ledger({0: (4,)}),
    ),
)
def truncate_takes_back(step: Step) -> str | None:
    """Truncated rows are gone from frame and host page alike; nothing else changes its rows."""
    call: Truncate = step.call  # type: ignore[assignment]
    before, after = step.before, step.after
    for number, frame in enumerate(before.frames):
        cut = call.rows if frame.page == call.page else None
        got, due = after.frames[number].rows, _cut(frame.rows, cut)
        if after.frames[number].page != frame.page or got != due:
            return f"{call} left frame {number} with rows {got}, and {due} was due"
    for page, rows in before.host.items():
        due = _cut(rows, call.rows if page == call.page else None)
        if page == call.page and page in before.lost and call.rows == 0:
            due = (0,) * before.shape.rows
        if after.host.get(page) != due:
            return f"{call} left host page {page} with rows {after.host.get(page)}, not {due}"
    return None


def _cut(rows: Rows | None, length: int | None) -> Rows | None:
    """Return rows with those from a length on as if never written."""
    if rows is None or length is None:
        return rows
    return tuple(value if index < length else 0 for index, value in enumerate(rows))


@state_rule(
    seen="C15, C17, C03",
    broken=lambda: (
        ex.view((ex.frame(0, dirty=True),), ex.lease(0, pins=(0,)), host={0: (4,)}, keys={7: 0}),
        ex.ledger({0: (4,)}, named={7: (4,)}),
    ),
)
def key_names_durable_rows(view: View, ledger: Ledger) -> str | None:
    """A key names a live, clean page whose host rows are those published under it."""
    for key, page in view.keys.items():
        if page not in view.holders:
            return f"key {key} names page {page}, which nobody holds"
        frame = view.frame_of(page)
        if frame is not None and frame.dirty:
            return f"key {key} names page {page}, which is dirty"
        rows = view.host.get(page)
        if rows != ledger.named.get(key):
            return f"key {key} was given to rows {ledger.named.get(key)}, page {page} has {rows}"
    return None


@step_rule(
    seen="C15, C17, C18",
    calls=tuple(call for call in CALLS if call is not Find),
    broken=lambda: ex.step(ex.view((ex.frame(),), ex.lease(0), host={0: (4,)}), Publish(0, 0, 7)),
)
def keys_by_the_book(step: Step) -> str | None:
    """A key names a page from its publishing until the page is marked, truncated or ends."""
    before, after, call = step.before.keys, step.after.keys, step.call
    if not before and not after and type(call) is not Publish:
        return None
    due: dict[Key, Page] = {key: page for key, page in before.items() if _stays(step, page)}
    if type(call) is Publish:
        due[call.key] = call.page
    return None if after == due else f"{call} left the keys {after}, and {due} was due"


def _stays(step: Step, page: Page) -> bool:
    """Return whether a page keeps its key."""
    call = step.call
    if type(call) is MarkDirty and call.handle.page == page:
        return False
    if type(call) is Truncate and call.page == page and call.rows < step.before.shape.rows:
        return False
    return page in step.after.holders


@step_rule(
    seen="C15, C24",
    calls=(Find,),
    endings=("done",),
    broken=lambda: ex.step(
        ex.view((ex.frame(),), ex.lease(0), ex.lease(), host={0: (4,)}, keys={7: 0}),
        Find(1, 7),
        ex.view((ex.frame(),), ex.lease(0), ex.lease(borrowed=(0,)), host={0: (4,)}, keys={7: 0}),
    ),
)
def find_tells_the_truth(step: Step) -> str | None:
    """A find returns the page that its key names, or none, and changes no key."""
    call: Find = step.call  # type: ignore[assignment]
    due = step.before.keys.get(call.key)
    if step.outcome.value != due:
        return f"{call} returned {step.outcome.value}, and {due} was due"
    if step.after.keys != step.before.keys:
        return f"{call} changed the keys from {step.before.keys} to {step.after.keys}"
    return None
