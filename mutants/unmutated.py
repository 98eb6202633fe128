"""The unmutated code under every rule: the mutants of a broken original would show nothing."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from properties import trace
from properties.breaks import trace_of
from properties.explorer import Exploration
from properties.judge import Judge
from properties.lookup import REFERENCE, make_model
from properties.registry import Rule
from properties.render import render_replay
from properties.replay import replay_all
from properties.survey import Broken, Survey, survey

TRACES = Path("build") / "traces"
"""Where the trace of a break is written, relative to where the command is run."""


def search(
    rules: Sequence[Rule],
    scopes: Sequence[str],
    workers: int,
    states: int | None,
    progress: Callable[[Exploration], None],
) -> Survey:
    """Search these scopes with the reference."""
    model = make_model(REFERENCE)
    return survey(model, rules, scopes, workers=workers, states=states, progress=progress)


def explain(found: Survey, rules: Sequence[Rule]) -> Iterator[str]:
    """Yield what is broken, each rule with its shortest trace call by call."""
    for broken in found.broken:
        yield _explain_break(broken, rules)
    for goal in found.missing_goals:
        yield f"goal {goal}: never reached in {', '.join(one.scope for one in found.searched)}\n"


def _explain_break(broken: Broken, rules: Sequence[Rule]) -> str:
    calls = trace_of(broken, REFERENCE)
    if calls is None:
        where = "" if broken.search is None else f" in {broken.search.scope.name}"
        return f"{broken.rule}: BROKEN by {REFERENCE}{where}\n  because {broken.because}\n"
    path = TRACES / f"{broken.rule}--{calls.header.scope}.jsonl"
    trace.write(calls, path)
    header = calls.header
    model = make_model(REFERENCE)(header.shape, header.off)
    again = replay_all(trace.symbolic(calls), model, Judge(rules))
    by_id = {rule.id: rule for rule in rules}
    return render_replay(again, by_id, REFERENCE, str(path))
