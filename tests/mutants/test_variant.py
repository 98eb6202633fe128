"""A mutant is a private copy: the original is untouched, and the probe tells the truth."""

import sys

import pytest

from device import pool
from mutants.variant import (
    DRIVER,
    Variant,
    changed_lines,
    device_sources,
    original_sources,
    private_modules,
)
from properties.device_subject import DeviceModel
from properties.subject import FunctionModel, ObjectModel, reference_modules
from reference import fill
from reference.calls import DEFAULT, Alloc, Fill, Open, Outcome
from reference.words import Shape

SHAPE = Shape(2, 1, 1)


def changed(module: str, old: str, new: str) -> dict[str, str]:
    """Return the source of a module with one text replaced."""
    source = original_sources(module.partition(".")[0])[module]
    assert source.count(old) == 1, f"{old!r} is in {module} once"
    return {module: source.replace(old, new)}


def test_copy_leaves_the_original_alone() -> None:
    """A patched original would be compared with itself."""
    before = {name: id(module) for name, module in sys.modules.items()}
    source = original_sources()["reference.fill"] + "\nPLANTED = 1\n"
    variant = Variant({"reference.fill": source})

    assert variant.module("reference.fill").PLANTED == 1  # type: ignore[attr-defined]
    assert not hasattr(fill, "PLANTED")
    assert before == {name: id(module) for name, module in sys.modules.items()}


def test_importers_are_copied_with_it() -> None:
    """A dispatch table would keep the original."""
    variant = Variant(changed("reference.pool", "pool.holds[page] - 1", "pool.holds[page] - 2"))

    assert "reference.pool" == next(iter(variant.modules))
    assert {"reference.tier", "reference.transition", "reference.reference"} < set(variant.modules)
    tier = variant.module("reference.tier")
    assert tier.pool is variant.module("reference.pool")  # type: ignore[attr-defined]


def test_vocabulary_cannot_be_changed() -> None:
    """A mutant of the records would be a mutant of the harness too."""
    with pytest.raises(ValueError, match=r"reference\.calls is not a module that a mutant"):
        Variant({"reference.calls": ""})


def test_every_module_follows_its_imports() -> None:
    """A copy that imports before its copy exists would get the original."""
    ordered = private_modules(["reference.refusals"])

    assert ordered[0] == "reference.refusals"
    assert ordered.index("reference.tables") < ordered.index("reference.tier")
    assert ordered[-1] == "reference.reference"


def test_probe_fires_when_line_runs() -> None:
    """A mutant whose line never ran was not tested."""
    variant = Variant(changed("reference.tier", "if promise < 1:", "if promise < 0:"))
    model = variant.model(SHAPE, False)
    made = not variant.ran

    assert made
    assert Outcome(value=0) == model.transitions(model.initial(), Open(1))[0].outcome
    assert variant.ran


def test_probe_is_silent_elsewhere() -> None:
    """Loading a module is not running its functions."""
    variant = Variant(
        changed("reference.tier", "return (None if ok else FAILED), state", "return None, state")
    )
    model = variant.model(SHAPE, False)
    state = model.transitions(model.initial(), Open(1))[0].after
    model.transitions(state, Alloc(0))

    assert not variant.ran


def test_changed_object_is_driven_as_object() -> None:
    """A mutant of `Reference` is not run through the functions it wraps."""
    variant = Variant(
        changed("reference.reference", "self._make(Open(promise))", "self._make(Open(promise + 1))")
    )
    model = variant.model(SHAPE, False)

    assert isinstance(model, ObjectModel)
    taken = model.transitions(model.initial(), Open(1))[0]
    assert taken.outcome.refused is not None
    assert "PromiseUnavailable" == taken.outcome.refused.name


HOLDS = ("device.pool", "        self.holds[pages] = 1\n", "        self.holds[pages] = 2\n")


def test_copy_of_the_device_drives_its_own_tier() -> None:
    """A driver that took the original tier would compare it with itself."""
    variant = Variant(changed(*HOLDS))
    model = variant.model(SHAPE, False)
    state = model.take(model.initial(), Open(1), DEFAULT).after
    made = not variant.ran

    assert made and not isinstance(model, DeviceModel)
    assert (2, 0) == model.view(model.take(state, Alloc(0), DEFAULT).after).holds
    assert variant.ran
    assert DRIVER == list(variant.modules)[-1]
    assert pool is not variant.module("device.pool")
    # The reference is the original: its records, refusals and nouns are everybody's.
    assert [] == [name for name in variant.modules if name.startswith("reference.")]


def test_unmutated_device_is_left_alone() -> None:
    """The next mutant begins with the original."""
    Variant(changed(*HOLDS))
    model = DeviceModel(SHAPE)
    state = model.take(model.initial(), Open(1), DEFAULT).after

    assert (1, 0) == model.view(model.take(state, Alloc(0), DEFAULT).after).holds


@pytest.mark.parametrize("module", ["device.gpu", "device.cuda", DRIVER])
def test_what_the_simulated_device_does_not_need_cannot_be_changed(module: str) -> None:
    """Nothing of it runs here, and a mutant of the driver would be one of the harness."""
    assert module not in device_sources()
    with pytest.raises(ValueError, match="is not a module that a mutant can change"):
        Variant({"device.pool": device_sources()["device.pool"], module: ""})


def test_object_and_functions_agree() -> None:
    """The thin object adds nothing to the rules."""
    modules = reference_modules()
    functions, thing = FunctionModel(SHAPE, False, modules), ObjectModel(SHAPE, False, modules)
    state = functions.initial()
    for call in (Open(1), Alloc(0), Fill(0, (0,)), Fill(0, (0,)), Open(0)):
        assert functions.transitions(state, call) == thing.transitions(state, call)
        state = functions.transitions(state, call)[0].after


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\nb\nc", "a\nB\nc", [range(2, 3)]),
        ("a\nb\nc", "a\nc", [range(2, 2)]),
        ("a\nc", "a\nb\nc", [range(2, 3)]),
        ("a", "a", []),
    ],
)
def test_changed_lines_are_of_new_text(old: str, new: str, expected: list[range]) -> None:
    """Probes are put into the new text, so its lines count."""
    assert expected == changed_lines(old, new)
