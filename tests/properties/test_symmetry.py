"""Canonical forms of states with copies in quarantine, lost pages and keys."""

import msgspec
import pytest

from properties.ledger import Ledger
from properties.rules import examples as ex
from properties.rules.examples import QUARANTINED, WRITING_BACK
from properties.scopes import SCOPES
from properties.symmetry import canonical, control, get_control, named
from properties.view import View

KNOWN = ex.ledger({0: (4,), 1: (5,)}, uncovered=())


def durable(**changes: object) -> View:
    """Two leases hold a full page each, durable and not resident."""
    view = ex.view(
        (ex.frame(), ex.frame()), ex.lease(0), ex.lease(1), host={0: (4,), 1: (5,)}, pages=2
    )
    return msgspec.structs.replace(view, **changes)


def apart(*copies: int, **changes: object) -> View:
    """Nobody holds the pages; so many fills in quarantine touch page 0, then page 1."""
    orphans = tuple(ex.orphan(ex.filling(n, n), page) for n, page in enumerate(copies))
    frames = tuple(ex.frame(phase=QUARANTINED) for _ in copies)
    view = ex.view(frames, pages=2, free=(), retired=tuple(copies), quarantine=orphans)
    return msgspec.structs.replace(view, **changes)


def test_names_of_keys_tell_no_states_apart() -> None:
    """Which key and which page is a matter of names; that there is one is not."""
    forms = [canonical(durable(keys=keys), KNOWN) for keys in ({0: 0}, {1: 0}, {0: 1}, {})]

    assert forms[0] == forms[1] == forms[2]
    assert forms[0] != forms[3]


def test_two_keys_are_not_one() -> None:
    """Nor is the key of a page whose rows are durable one of a page whose are not."""
    forms = {canonical(durable(keys=keys), KNOWN) for keys in ({}, {0: 0}, {0: 0, 1: 1})}

    assert 3 == len(forms)


def test_lost_page_is_no_torn_page() -> None:
    """A fill of it is refused."""
    torn = durable(host={0: None, 1: (5,)}, torn=(0,))

    assert canonical(torn, KNOWN) != canonical(msgspec.structs.replace(torn, lost=(0,)), KNOWN)


def test_tickets_tell_no_states_apart() -> None:
    """Copies in quarantine have an order and no names."""
    one = apart(0, quarantine=(ex.orphan(ex.filling(3, 0), 0),))
    other = apart(1, quarantine=(ex.orphan(ex.filling(9, 0), 1),))

    assert canonical(one, KNOWN) == canonical(other, KNOWN)


def test_quarantined_copies_tell_by_kind_and_number() -> None:
    """What lands, and what it touches, decides what may follow."""
    views = [
        apart(0),
        apart(0, 1),
        apart(0, quarantine=(ex.orphan(ex.writing(0, 0), 0),)),
        apart(0, quarantine=(), retired=(), free=(0, 1)),
    ]

    assert 4 == len({canonical(view, KNOWN) for view in views})


def test_copies_of_a_reset_are_others() -> None:
    """No promise covers their frames, so a fill may have to wait for them."""
    uncovered = msgspec.structs.replace(KNOWN, uncovered=frozenset({0}))

    assert canonical(apart(0), KNOWN) != canonical(apart(0), uncovered)


def test_stray_frame_is_kept_apart() -> None:
    """A broken subject may set a frame apart for no copy: no page tells of it."""
    view = durable(frames=(ex.frame(), ex.frame(phase=QUARANTINED)))

    assert canonical(durable(), KNOWN) != canonical(view, KNOWN)


def test_inherited_frame_is_told_by_its_copy() -> None:
    """A write-back of the lease itself, or one in quarantine: who may complete it differs."""
    frame = ex.frame(0, WRITING_BACK, dirty=True)
    own = ex.view((frame,), ex.lease(0, pins=(0,), copies=(ex.writing(3, 0),)), torn=(0,), pages=1)
    other = ex.view(
        (frame,),
        ex.lease(0, pins=(0,)),
        torn=(0,),
        pages=1,
        quarantine=(ex.orphan(ex.writing(3, 0), 0),),
    )

    assert canonical(own, KNOWN) != canonical(other, KNOWN)
    assert named(own, KNOWN) != named(other, KNOWN)


@pytest.mark.parametrize(("scope", "apart"), [("small", False), ("keys", True), ("all", True)])
def test_full_pages_count_where_keys_are(scope: str, apart: bool) -> None:
    """Only `publish` is refused for a row that was never written."""
    full = durable()
    empty = durable(host={0: (4,), 1: (0,)})
    knew = ex.ledger({0: (4,), 1: (0,)})
    forms = (get_control(full, KNOWN, SCOPES[scope]), get_control(empty, knew, SCOPES[scope]))

    assert control(full, KNOWN) == control(empty, knew)
    assert apart is (forms[0] != forms[1])


def test_first_state_has_one_form() -> None:
    """Nothing happened yet, whatever operations there are."""
    view = ex.view((ex.frame(),), pages=1)

    assert canonical(view, Ledger.empty(1)) == control(view, Ledger.empty(1))
