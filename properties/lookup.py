"""Looking up a subject by the name that a trace or a command line gives it."""

import importlib
from collections.abc import Callable

from properties.exits import Misuse
from properties.subject import FunctionModel, Model, reference_modules
from reference.words import Shape

REFERENCE = "reference"

SIMULATED, FAILING = "simulated", "simulated-failing"
"""The tier on a simulated device; the second one's device also fails by itself."""

# A subject may be a mutant, and this package may not import that one: it is looked up by name.
# `model(id, shape, off)` there raises LookupError for an unknown id.
MUTANT_MODELS = "mutants.lookup"


def make_model(subject: str) -> Callable[[Shape, bool], Model]:
    """Return what makes models of a subject. Raises `Misuse` if there is none of that name."""
    if subject != REFERENCE:
        load_model(subject, Shape(1, 1, 1), False)  # an unknown name is told before any work
    return lambda shape, off: load_model(subject, shape, off)


def load_model(subject: str, shape: Shape, off: bool) -> Model:
    """Return the model of a subject. Raises `Misuse` if there is none of that name."""
    if subject == REFERENCE:
        return FunctionModel(shape, off, reference_modules())
    if subject in (SIMULATED, FAILING):
        from properties.device_subject import DeviceModel

        device: Model = DeviceModel(shape, off, failing=subject == FAILING)
        return device
    try:
        lookup = importlib.import_module(MUTANT_MODELS)
    except ModuleNotFoundError as error:
        if error.name not in (MUTANT_MODELS, MUTANT_MODELS.partition(".")[0]):
            raise
        raise Misuse(f"{subject}: there are no mutants here ({MUTANT_MODELS} is missing)") from None
    try:
        model: Model = lookup.model(subject, shape, off)
    except LookupError as error:
        why = error.args[0] if error.args else "unknown"
        raise Misuse(f"no subject {subject!r}: {why}") from None
    return model
