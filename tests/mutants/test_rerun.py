"""Recorded runs are the engine's second source: what small scopes cannot show."""

from mutants.candidate import Candidate, from_texts
from mutants.engine import Row
from mutants.rerun import replay_original, rerun
from mutants.variant import original_sources
from properties.corpus import Recorded
from properties.judge import Judge
from properties.lookup import REFERENCE, make_model
from properties.registry import all_rules
from properties.scopes import SCOPES
from properties.walker import Walker

JUDGE = Judge(all_rules())


def walks(count: int) -> list[Recorded]:
    """Return some walks in the world that is too large to search."""
    scope = SCOPES["walks"]
    walker = Walker(
        make_model(REFERENCE)(scope.shape, False), scope, Judge(()), 5, calls=60, every=1, goals=()
    )
    return [Recorded(f"walk {n}", "walks", walker.path(n)) for n in range(count)]


def candidate(old: str, new: str) -> Candidate:
    """Return a mutant of the tier that changes one text."""
    source = original_sources()["reference.tier"]
    assert 1 == source.count(old)
    return from_texts("planted", "planted", {"reference.tier": source.replace(old, new)})


def test_second_row_needs_a_second_row() -> None:
    """A write that loses the rows behind it is the same program where pages have one row."""
    loses = candidate("value, *frame.rows[row + 1 :])", "value, *frame.rows[row + 2 :], 0)[:2]")
    runs = replay_original(walks(12), ("walks",))
    row = rerun(Row("planted"), loses, runs, JUDGE, lambda row: bool(row.cells))

    assert row.ran
    assert "latest-rows-survive" in row.cells
    assert "walks" == row.cells["latest-rows-survive"].scope
    assert row.difference is not None


def test_same_program_is_run_to_the_end() -> None:
    """Nothing is judged where nothing differs, and every call is made."""
    same = candidate("if promise < 1:", "if promise <= 0:")
    runs = replay_original(walks(3), ("walks",))
    row = rerun(Row("planted"), same, runs, JUDGE, lambda _: False)

    assert (True, {}, None) == (row.ran, row.cells, row.difference)
    assert sum(len(one.run.calls) for one in runs) == row.rungs["corpus"]


def test_crash_ends_one_run_only() -> None:
    """A crash is noted, and is no kill."""
    crashes = candidate("frame._replace(rows=rows)", "frame._replace(rows=rows / 2)")
    row = rerun(
        Row("planted"), crashes, replay_original(walks(12), ("walks",)), JUDGE, lambda _: False
    )

    assert row.crash.startswith("TypeError: ")
    assert {} == row.cells
