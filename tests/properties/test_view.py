"""Tests of the digest of a view. What a view says is tested with the rules that read it."""

import msgspec

from properties.rules import examples as ex
from properties.view import View, digest


def sample(**changed: object) -> View:
    """Return a view in which every table has something."""
    view = ex.view(
        (ex.frame(0, rows=(4,)), ex.frame(1)),
        ex.lease(0, 1, promise=2, pins=(0, 1)),
        ex.lease(borrowed=(0,)),
        host={0: (4,)},
        recency=(1, 0),
        keys={11: 0, 2: 1},
    )
    return msgspec.structs.replace(view, **changed)


def test_digest_is_of_what_the_view_says() -> None:
    """Equal views have one digest, whatever order their tables were filled in."""
    view = sample()
    turned = sample(leases=dict(reversed(view.leases.items())), keys={2: 1, 11: 0})
    assert digest(view) == digest(turned)
    assert len(digest(view)) == 32
    assert int(digest(view), 16) >= 0


def test_every_field_is_in_the_digest() -> None:
    """A view that differs in one field has another digest."""
    view = sample()
    other = ex.view((ex.frame(), ex.frame(2)), ex.lease(2), pages=4, off=True, torn=(2,))
    changed = {
        name: getattr(other, name)
        for name in View.__struct_fields__
        if getattr(other, name) != getattr(view, name)
    }
    assert {"shape", "off", "leases", "frames", "host", "keys", "recency"} <= set(changed)
    for name, value in changed.items():
        assert digest(sample(**{name: value})) != digest(view), name


def test_digest_of_the_table_operations_stays() -> None:
    """What the operations beyond the table show is left out where there is none of it."""
    plain = ex.view((ex.frame(0),), ex.lease(0))
    assert digest(plain) == "db47607212c66b4bdc769f70235858dd"
