"""Tests of the nouns: what a trace, a digest and a caller rely on."""

import pytest

from reference.words import Handle, Phase, Plan, Shape


def test_phases_keep_names_and_numbers() -> None:
    """A digest hashes the numbers and a trace shows the names: neither may move."""
    phases = {"FREE": 0, "FILLING": 1, "READY": 2, "WRITING_BACK": 3, "QUARANTINED": 4}

    assert phases == {phase.name: phase.value for phase in Phase}


def test_nouns_keep_order_of_fields() -> None:
    """Traces write handles and shapes as plain arrays."""
    assert ("pages", "frames", "rows") == Shape._fields
    assert ("page", "frame", "generation") == Handle._fields
    assert ("ticket", "handles", "misses") == Plan._fields


def test_handles_differ_in_every_field() -> None:
    """A handle that equals a forged one would make the forged one current."""
    handle = Handle(1, 2, 3)
    near = {Handle(0, 2, 3), Handle(1, 0, 3), Handle(1, 2, 0), Handle(1, 2, 3)}

    assert 4 == len(near)
    assert {Handle(0, 2, 3), Handle(1, 0, 3), Handle(1, 2, 0)} == near - {handle}


@pytest.mark.parametrize(
    ("noun", "field"),
    [
        (Shape(1, 1, 1), "pages"),
        (Handle(0, 0, 0), "generation"),
        (Plan(None, (), ()), "ticket"),
    ],
    ids=["shape", "handle", "plan"],
)
def test_nouns_cannot_be_changed(noun: object, field: str) -> None:
    """A caller who changes its handle would change the state that shares it."""
    with pytest.raises(AttributeError):
        setattr(noun, field, 7)
