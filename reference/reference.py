"""The reference as an object: the operations as methods over one mutable state.

It adds nothing to the rules. Refusals are raised, a fill that fails in placing raises
`FillFailed`, and completions that report a failure return normally.
"""

from collections.abc import Callable
from typing import Any

from reference import refusals
from reference.calls import (
    Abandon,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    CompleteWriteBack,
    Fill,
    Find,
    Finish,
    Land,
    Lookup,
    MarkDirty,
    Open,
    Publish,
    Read,
    Release,
    Reset,
    Share,
    Truncate,
    Unpin,
    Write,
    WriteBack,
)
from reference.refusals import FillFailed
from reference.state import State, new_state
from reference.transition import apply, options
from reference.words import Handle, Key, LeaseId, Page, Plan, Shape, Ticket


def default_choice(state: State, call: Call) -> Choice:
    """Return the spec's default: lowest page, lowest `FREE` frame, least recently filled."""
    return next(options(state, call))


class Reference:
    """A tier that does what the spec says, one call at a time.

    `choose(state, call)` makes the free choices and the faults. Every method raises the first
    refusal of its row whose condition holds, and then nothing has changed.
    """

    def __init__(
        self,
        shape: Shape,
        off: bool = False,
        choose: Callable[[State, Call], Choice] = default_choice,
    ) -> None:
        """Make a tier in which nothing happened yet. Raises `ValueError` for a bad shape."""
        self.state = new_state(shape, off)
        self.choose = choose

    def open(self, promise: int) -> LeaseId:
        """Open a lease and return its id."""
        lease: LeaseId = self._make(Open(promise))
        return lease

    def alloc(self, lease: LeaseId) -> Page:
        """Begin the life of a page in the lease's table and return the page."""
        page: Page = self._make(Alloc(lease))
        return page

    def share(self, lease: LeaseId, page: Page) -> None:
        """Let the lease borrow a live page."""
        self._make(Share(lease, page))

    def release(self, lease: LeaseId, page: Page) -> None:
        """Give up the lease's hold on a page."""
        self._make(Release(lease, page))

    def lookup(self, lease: LeaseId, page: Page) -> Handle | None:
        """Return the current handle of a resident page, else none."""
        handle: Handle | None = self._make(Lookup(lease, page))
        return handle

    def fill(self, lease: LeaseId, pages: tuple[Page, ...]) -> Plan:
        """Bring pages into frames and return the plan. Raises `FillFailed` if a fault struck."""
        plan: Plan = self._make(Fill(lease, pages))
        return plan

    def complete_fill(self, lease: LeaseId, ticket: Ticket, ok: bool) -> tuple[Page, ...] | None:
        """Report that the copies of a fill landed, or that one failed.

        Returns the pages, if any, of which only the claim of a fill that failed kept the rows.
        """
        gone: tuple[Page, ...] | None = self._make(CompleteFill(lease, ticket, ok))
        return gone

    def unpin(self, lease: LeaseId, handle: Handle) -> None:
        """Give up one pin."""
        self._make(Unpin(lease, handle))

    def mark_dirty(self, lease: LeaseId, handle: Handle) -> None:
        """Announce writes to a frame."""
        self._make(MarkDirty(lease, handle))

    def write(self, lease: LeaseId, handle: Handle, row: int, value: int) -> None:
        """Write a version into one row of a dirty frame."""
        self._make(Write(lease, handle, row, value))

    def read(self, lease: LeaseId, handle: Handle, row: int) -> int:
        """Return the version in one row of a frame."""
        value: int = self._make(Read(lease, handle, row))
        return value

    def write_back(self, lease: LeaseId, handle: Handle) -> Ticket | None:
        """Start to copy a dirty frame to its host page; no ticket if there is nothing to do."""
        ticket: Ticket | None = self._make(WriteBack(lease, handle))
        return ticket

    def complete_write_back(self, lease: LeaseId, ticket: Ticket, ok: bool) -> None:
        """Report that a write-back landed, or that it failed."""
        self._make(CompleteWriteBack(lease, ticket, ok))

    def finish(self, lease: LeaseId) -> None:
        """End a lease."""
        self._make(Finish(lease))

    def abandon(self, lease: LeaseId) -> tuple[Page, ...]:
        """End a lease at any moment; return the live pages whose unpublished rows are gone."""
        gone: tuple[Page, ...] = self._make(Abandon(lease))
        return gone

    def land(self, ticket: Ticket, ok: bool) -> None:
        """Report that a copy in quarantine landed, or that it failed."""
        self._make(Land(ticket, ok))

    def reset(self) -> tuple[Page, ...]:
        """Drop all residency; return the pages whose unpublished rows are gone."""
        gone: tuple[Page, ...] = self._make(Reset())
        return gone

    def truncate(self, lease: LeaseId, page: Page, rows: int) -> None:
        """Take back the rows of a page from `rows` on."""
        self._make(Truncate(lease, page, rows))

    def publish(self, lease: LeaseId, page: Page, key: Key) -> None:
        """Let a key name a full, durable page."""
        self._make(Publish(lease, page, key))

    def find(self, lease: LeaseId, key: Key) -> Page | None:
        """Return the page that a key names, held by the lease from now on, or none."""
        page: Page | None = self._make(Find(lease, key))
        return page

    def _make(self, call: Call) -> Any:
        outcome, self.state = apply(self.state, call, self.choose(self.state, call))
        if outcome.refused is not None:
            raise getattr(refusals, outcome.refused.name)(**dict(outcome.refused.fields))
        if outcome.failed and type(call) is Fill:
            raise FillFailed(call.lease, call.pages)
        return outcome.value
