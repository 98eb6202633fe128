"""What tests of walks walk on: the reference, and named mutants of it."""

from functools import cache, partial

from mutants.candidate import from_named
from mutants.catalogue import all_mutants
from mutants.variant import Variant
from properties.drawing import make_scope
from properties.judge import Judge
from properties.minimise import MakeModel
from properties.registry import all_rules
from properties.scopes import Scope
from properties.subject import FunctionModel, Model, reference_modules
from properties.trace import Header
from properties.walker import WalkBreak
from properties.walks import run_walks
from reference.words import Shape

SMALL = make_scope(Shape(pages=3, frames=2, rows=1))
JUDGE = Judge(all_rules())
RULES = {rule.id: rule for rule in all_rules()}


def make_reference(shape: Shape, off: bool = False) -> Model:
    """The reference."""
    return FunctionModel(shape, off, reference_modules())


@cache
def get_mutant(mutant_id: str) -> MakeModel:
    """What makes models of one mutant of the catalogue."""
    named = next(named for named in all_mutants() if named.id == mutant_id)
    return Variant(from_named(named).sources).model


def make_small(make: MakeModel) -> partial[Model]:
    """What makes models of the small shape."""
    return partial(make, SMALL.shape, SMALL.off)


def find_breaks(mutant_id: str, scope: Scope = SMALL, walks: int = 400) -> dict[str, WalkBreak]:
    """The breaks of the first walk that breaks a rule on a mutant."""
    make = partial(get_mutant(mutant_id), scope.shape, scope.off)
    report = run_walks(make, scope, JUDGE, walks=walks, stop_at_break=True)
    return {broken.rule: broken for broken in report.found.breaks}


def get_header(mutant_id: str, scope: Scope = SMALL) -> Header:
    """The header of a trace of a mutant."""
    return Header(shape=scope.shape, off=scope.off, subject=mutant_id)
