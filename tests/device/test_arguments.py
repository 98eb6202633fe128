"""Tests of misuse: what gets its refusal and what a clear error, and that nothing changed."""

import threading
from typing import Any

import numpy as np
import pytest
from device_samples import (
    NOBODY,
    ROW_BYTES,
    A,
    B,
    dirtied,
    dirty,
    due,
    numbers,
    pin,
    refused,
)

from device.arguments import WrongThread
from device.handles import Handles
from reference import refusals as no
from reference.words import Handle

HANDLE = Handle(2, 1, 0)
"""What A pins in `dirtied`."""


@pytest.mark.parametrize(
    ("operation", "arguments", "said"),
    [
        ("open", (True,), "promise is True of bool: it must be an int"),
        ("open", (1.0,), "promise is 1.0 of float"),
        ("alloc", (False,), "lease is False of bool"),
        ("alloc", (None,), "lease is None of NoneType"),
        ("alloc_all", (A, "2"), "count is '2' of str"),
        ("share", (B, True), "page is True of bool"),
        ("release", (A, "1"), "page is '1' of str"),
        ("release_all", (A, 1), "pages are 1: they must be a sequence of ints"),
        ("release_all", (A, np.zeros(1)), "pages are of float64 and shape (1,)"),
        ("release_all", (A, np.zeros(1, dtype=bool)), "pages are of bool and shape (1,)"),
        ("release_all", (A, np.zeros((1, 1), dtype=int)), "pages are of int64 and shape (1, 1)"),
        ("fill", (A, (0, True)), "pages[1] is True of bool"),
        ("fill", (A, "01"), "pages are '01'"),
        ("complete_fill", (A, 0, 1), "ok is 1 of int: it must be a bool"),
        ("complete_fill", (A, True, True), "ticket is True of bool"),
        ("lookup", (A, 0.0), "page is 0.0 of float"),
        ("unpin", (A, (2, 1, 0)), "handle is (2, 1, 0) of tuple: it must be a Handle"),
        ("unpin", (A, Handle(2, True, 0)), "the frame of the handle is True of bool"),
        ("unpin_all", (A, 3), "handles are 3: they must be Handles or a sequence of Handle"),
        ("read", (A, HANDLE, True), "row is True of bool"),
        ("read", (A, None, 0), "handle is None of NoneType"),
        ("write", (A, HANDLE, 0, 1.5), "value is 1.5 of float"),
        ("write_bytes", (A, HANDLE, 0, "x"), "content is of str: it must be bytes"),
        ("has_landed", (A, False), "ticket is False of bool"),
        ("read_host", ("0",), "page is '0' of str"),
    ],
)
def test_argument_of_another_type_is_a_clear_error(
    operation: str, arguments: tuple[Any, ...], said: str
) -> None:
    """`True` is no page 1, and nothing has changed."""
    tier, _ = dirtied()
    before = tier.snapshot()
    with pytest.raises(TypeError) as caught:
        getattr(tier, operation)(*arguments)

    assert said in str(caught.value)
    assert before == tier.snapshot()


@pytest.mark.parametrize(
    ("operation", "arguments", "said"),
    [
        ("open", (2**64,), "must fit in 64 bits"),
        ("alloc_all", (A, -1), "count is -1: it must be at least 0"),
        ("fill", (A, (2**63,)), "pages[0] is 9223372036854775808: it must fit in 64 bits"),
        ("release_all", (A, np.array([2**63], dtype=np.uint64)), "must fit in 64 bits"),
        ("write", (A, HANDLE, 0, -1), "value is -1: a version is at least 0"),
        ("write_bytes", (A, HANDLE, 0, b"xy"), "content has shape (2,): it must be (1, 27)"),
        ("read_host", (-1,), "page is -1: pages are 0 to 4"),
        ("read_host", (5,), "page is 5: pages are 0 to 4"),
    ],
)
def test_impossible_value_is_a_clear_error(
    operation: str, arguments: tuple[Any, ...], said: str
) -> None:
    """No refusal has a word for it, and nothing has changed."""
    tier, _ = dirtied()
    before = tier.snapshot()
    with pytest.raises(ValueError) as caught:
        getattr(tier, operation)(*arguments)

    assert said in str(caught.value)
    assert before == tier.snapshot()


@pytest.mark.parametrize(
    ("operation", "arguments", "refusal"),
    [
        ("open", (0,), no.BadPromise(0)),
        ("open", (1,), no.PromiseUnavailable(1, 3, 3)),
        ("alloc", (NOBODY,), no.UnknownLease(NOBODY)),
        ("alloc", (-1,), no.UnknownLease(-1)),
        ("share", (B, -1), no.UnknownPage(-1)),
        ("share", (B, 5), no.UnknownPage(5)),
        ("share", (B, 3), no.AlreadyHeld(B, 3)),
        ("release", (A, -1), no.NotHeld(A, -1)),
        ("release", (A, 5), no.NotHeld(A, 5)),
        ("lookup", (A, 2**40), no.NotHeld(A, 2**40)),
        ("fill", (A, (-1,)), no.NotHeld(A, -1)),
        ("fill", (A, (7, 0, 0)), no.DuplicatePage(0)),
        ("fill", (A, (0, 1)), no.PromiseExceeded(A, 2, 3)),
        ("complete_fill", (A, -1), no.StaleTicket(A, -1)),
        ("complete_write_back", (A, 0), no.StaleTicket(A, 0)),
        ("has_landed", (A, 0), no.StaleTicket(A, 0)),
        ("read", (A, HANDLE, 2), no.BadRow(2, 2)),
        ("read", (A, HANDLE, -1), no.BadRow(-1, 2)),
        ("read", (B, HANDLE, 0), no.NotPinned(B, 2)),
        ("unpin", (A, HANDLE), no.DirtyFrame(A, (2,))),
        ("write", (A, Handle(2, -2, 0), 0, 1), no.StaleHandle(Handle(2, -2, 0))),
        ("write", (A, Handle(2, 2**40, 0), 0, 1), no.StaleHandle(Handle(2, 2**40, 0))),
        ("mark_dirty", (A, Handle(-1, 2, 0)), no.StaleHandle(Handle(-1, 2, 0))),
        ("unpin", (A, Handle(-1, 2, 0)), no.StaleHandle(Handle(-1, 2, 0))),
        ("finish", (A,), no.DirtyFrame(A, (2,))),
    ],
)
def test_number_that_names_nothing_gets_its_refusal(
    operation: str, arguments: tuple[Any, ...], refusal: no.Refusal
) -> None:
    """Arrays count -1 from their end; a tier does not."""
    tier, _ = dirtied()

    assert due(refusal) == refused(tier, operation, *arguments)


def test_handle_of_another_tier_is_stale() -> None:
    """Its numbers may be those of a page here."""
    tier, handle = dirtied()
    _, foreign = dirtied()
    assert handle == foreign
    many = Handles(numbers(2), numbers(1), numbers(0), object())

    assert due(no.StaleHandle(HANDLE)) == refused(tier, "read", A, foreign, 0)
    assert due(no.StaleHandle(HANDLE)) == refused(tier, "unpin", A, foreign)
    assert due(no.StaleHandle(HANDLE)) == refused(tier, "unpin_all", A, many)
    assert due(no.UnknownLease(NOBODY)) == refused(tier, "read", NOBODY, foreign, 0)
    assert 3 == tier.read(A, handle, 0) == tier.read(A, HANDLE, 0)


@pytest.mark.parametrize(
    "columns",
    [
        (numbers(2), numbers(1), numbers(0, 0)),
        (numbers(2), np.array([1.0]), numbers(0)),
        (np.array([2], dtype=np.int32), numbers(1), numbers(0)),
        (np.array(2), np.array(1), np.array(0)),
        ([2], [1], [0]),
    ],
)
def test_handles_of_odd_columns_are_a_clear_error(columns: Any) -> None:
    """Columns that do not fit would be broadcast."""
    tier, _ = dirtied()
    before = tier.snapshot()
    with pytest.raises(TypeError, match="all three must be int64"):
        tier.unpin_all(A, Handles(*columns))

    assert before == tier.snapshot()


def test_arrays_that_were_given_or_given_out_cannot_change_the_tier() -> None:
    """A caller that sorts its pages in place would move the claims."""
    tier, _ = dirtied()
    pages = numbers(1)
    plan = tier.fill_all(A, pages)
    pages[:] = 0

    assert (1,) == tier.snapshot().leases[A].claims
    for array in (plan.handles.pages, plan.misses):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_call_from_another_thread_is_refused() -> None:
    """Tables and streams belong to one thread."""
    tier, handle = dirtied()
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("open", (1,)),
        ("alloc", (A,)),
        ("alloc_all", (A, 1)),
        ("share", (B, 0)),
        ("release", (A, 0)),
        ("release_all", (A, [0])),
        ("lookup", (A, 0)),
        ("fill", (A, (0,))),
        ("complete_fill", (A, 0)),
        ("has_landed", (A, 0)),
        ("unpin", (A, handle)),
        ("mark_dirty", (A, handle)),
        ("write", (A, handle, 0, 9)),
        ("write_bytes", (A, handle, 0, bytes(ROW_BYTES))),
        ("read", (A, handle, 0)),
        ("write_back", (A, handle)),
        ("fill_all", (A, [0])),
        ("unpin_all", (A, [handle])),
        ("mark_dirty_all", (A, [handle])),
        ("write_bytes_all", (A, [handle], [0], bytes(ROW_BYTES))),
        ("read_later", (A, [handle], [0])),
        ("get_read", (None,)),
        ("read_bytes", (A, handle, 0)),
        ("write_back_all", (A, [handle])),
        ("complete_write_back_all", (A, [0])),
        ("complete_write_back", (A, 0)),
        ("finish", (A,)),
        ("read_host", (0,)),
        ("snapshot", ()),
    ]
    before, refused_calls = tier.snapshot(), []

    def make_all() -> None:
        for name, arguments in calls:
            try:
                getattr(tier, name)(*arguments)
            except WrongThread as error:
                assert "only the thread that made a tier may call it" in str(error)
                refused_calls.append(name)

    thread = threading.Thread(target=make_all)
    thread.start()
    thread.join()

    assert [name for name, _ in calls] == refused_calls
    assert before == tier.snapshot()


def test_dirty_pages_of_finish_are_all_named() -> None:
    """Of its table or borrowed, in the order of their numbers."""
    tier, _ = dirtied()
    (other,) = pin(tier, A, 0)
    dirty(tier, A, other, 9)

    assert due(no.DirtyFrame(A, (0, 2))) == refused(tier, "finish", A)
