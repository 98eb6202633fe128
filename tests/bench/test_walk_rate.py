"""How many calls walks judge in a CPU second, printed and guarded."""

import pytest
from walk_samples import JUDGE, SMALL, make_reference

from properties.drawing import make_scope
from properties.scopes import Scope
from properties.walks import run_walks
from reference.words import Shape

# A quiet core makes three times as many; the guard is for what a busy one still does.
SMALL_MIN = 4_000


@pytest.mark.parametrize(
    ("scope", "walks", "least"),
    [
        (SMALL, 600, SMALL_MIN),
        (make_scope(Shape(pages=64, frames=16, rows=2)), 100, 1_500),
        (make_scope(Shape(pages=2048, frames=512, rows=2), leases=100), 20, 150),
    ],
    ids=["small", "medium", "large"],
)
def test_walks_judge_so_many_calls(scope: Scope, walks: int, least: int) -> None:
    """Depth is bought with speed: a walk that is ten times slower finds a tenth."""
    report = run_walks(lambda: make_reference(scope.shape, scope.off), scope, JUDGE, walks=walks)
    print(f"\n{scope.name}: {report.rate:,.0f} judged calls a CPU second")

    assert () == report.found.breaks
    assert report.rate >= least
