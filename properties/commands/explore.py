"""`explore`: search scopes with every rule, and say what was reached."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from properties.breaks import trace_of
from properties.exits import Exit, Misuse
from properties.explorer import Exploration
from properties.lookup import make_model
from properties.registry import all_rules
from properties.render import render_columns
from properties.scopes import SCOPES
from properties.survey import MAIN_SCOPES, Broken, Survey, survey
from properties.trace import write

TRACES = Path("build") / "traces"


@click.command
@click.argument("scopes", nargs=-1)
@click.option("--on", "subject", default="reference", help="The reference, or a mutant's id.")
@click.option("--workers", default=1, type=click.IntRange(1), help="Processes, 1 by default.")
@click.option("--states", type=click.IntRange(1), help="States at most, for each scope.")
@click.option("--seconds", type=click.FloatRange(0), help="Seconds at most, for each scope.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    scopes: tuple[str, ...],
    subject: str,
    workers: int,
    states: int | None,
    seconds: float | None,
    as_json: bool,
) -> Exit:
    """Search SCOPES (all of the main job's by default): every state, option and forbidden call."""
    for name in scopes:
        if name not in SCOPES:
            raise Misuse(f"no scope {name!r}: there are {', '.join(SCOPES)}")
    with _progress() as progress:
        found = survey(
            make_model(subject),
            all_rules(),
            scopes or MAIN_SCOPES,
            workers=workers,
            states=states,
            seconds=seconds,
            progress=progress,
        )
    traces = [path for broken in found.broken if (path := _write_trace(broken, subject))]
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(_plain(found, traces)), indent=2))
    else:
        for line in _lines(found, traces):
            click.echo(line)
    if found.answer == "broken":
        return Exit.REFERENCE_BREAKS
    return Exit.CRASHED if found.answer == "undetermined" else Exit.FINE


@contextmanager
def _progress() -> Iterator[Callable[[Exploration], None]]:
    """Show how far the search is, on a terminal only."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("exploring") as status:
        yield lambda search: status.update(
            f"{search.scope.name}: {search.states:,} states, {search.states - search.expanded:,} "
            f"to expand, depth {search.depth}, {search.calls:,} transitions judged"
        )


def _write_trace(broken: Broken, subject: str) -> Path | None:
    """Write the shortest trace of a break; a rule of the whole space has none."""
    trace = trace_of(broken, subject)
    if trace is None:
        return None
    path = TRACES / f"{broken.rule}--{trace.header.scope}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    write(trace, path)
    return path


def _lines(found: Survey, traces: list[Path]) -> Iterator[str]:
    rows = [["scope", "verdict", "states", "depth", "transitions", "CPU s", "judged/s"]]
    for one in found.searched:
        cpu = found.cpu_seconds[one.scope]
        answer = (
            one.answer if one.answer != "undetermined" else f"undetermined at depth {one.depth}"
        )
        rate = f"{one.calls / cpu:,.0f}" if cpu else "-"
        rows.append(
            [
                one.scope,
                answer,
                f"{one.states:,}",
                str(one.depth),
                f"{one.calls:,}",
                f"{cpu:.1f}",
                rate,
            ]
        )
    yield from render_columns(rows)
    for broken in found.broken:
        where = "" if broken.search is None else f" in {broken.search.scope.name}"
        yield f"{broken.rule}: BROKEN{where}: {broken.because}"
    for path in traces:
        yield f"replay   python -m properties replay {path}"
    for goal in found.missing_goals:
        yield f"goal never reached: {goal}"


def _plain(found: Survey, traces: list[Path]) -> dict[str, object]:
    return {
        "verdict": found.answer,
        "scopes": found.searched,
        "broken": [{"rule": one.rule, "because": one.because} for one in found.broken],
        "traces": [str(path) for path in traces],
        "missing_events": found.missing_events,
        "missing_goals": found.missing_goals,
        "twins": found.twins,
    }
