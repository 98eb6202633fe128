"""`lockstep`: the tier on a device against the reference, compared after every call."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from properties import trace as traces
from properties.device_goals import all_device_goals
from properties.exits import Exit, Misuse
from properties.judge import Judge
from properties.lockstep import Difference, Pair, replay_trace
from properties.lockstep_all import Everything, Plan
from properties.lockstep_subjects import Subject, get_subject
from properties.lockstep_walks import Progress, Ran, make_reference
from properties.lookup import SIMULATED, load_model
from properties.registry import all_rules
from properties.render import render_columns
from properties.scopes import SCOPES

TRACES = Path("build") / "traces"

WALKS = 90
"""Walks on the smallest shape if nothing is said; on larger ones there are fewer."""


TOURS = ("tiny", "rows", "small", "leave", "sleep", "keys")
"""What can be toured, and is if nothing is said."""


@click.command
@click.option("--on", "name", default=SIMULATED, help="simulated, cuda, or a mutant's id.")
@click.option("--scope", "scopes", multiple=True, help="Tour these; by default what CI tours.")
@click.option("--walks", default=WALKS, type=click.IntRange(0), help="Walks, 90 by default.")
@click.option("--seed", default=0, help="Seed of everything that is drawn, 0 by default.")
@click.option("--trace", "file", metavar="FILE", help="Make the calls of a trace again instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    name: str, scopes: tuple[str, ...], walks: int, seed: int, file: str | None, as_json: bool
) -> Exit:
    """Make the same calls on a device and the reference; show the first difference."""
    if file is not None:
        return _replay(file, as_json)
    for scope in scopes:
        if scope not in SCOPES:
            raise Misuse(f"no scope {scope!r}: there are {', '.join(SCOPES)}")
        if scope not in TOURS:
            raise Misuse(f"no tour of {scope!r}: there are tours of {', '.join(TOURS)}")
    subject = get_subject(name)
    with _progress() as progress:
        run = Everything(subject, Plan(scopes or TOURS, walks), seed, progress)
        run.run()
    path = None
    if run.difference is not None and run.trace is not None:
        path = TRACES / f"lockstep-{subject.name}-{run.difference.kind}.jsonl"
        traces.write(run.trace, path)
    code = _judge(subject, run.difference)
    if as_json:
        described = msgspec.json.encode(_describe(run, path, code))
        click.echo(msgspec.json.format(described, indent=2).decode())
    else:
        for line in _lines(run, path):
            click.echo(line)
    return code


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show where the run is, on a terminal only."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("in lockstep") as status:
        yield status.update


def _judge(subject: Subject, difference: Difference | None) -> Exit:
    if subject.is_mutant:
        return Exit.NOT_RED if difference is None else Exit.FINE
    return Exit.FINE if difference is None else Exit.REFERENCE_BREAKS


# ------------------------------------------------------------------------------------------ text


def _lines(run: Everything, path: Path | None) -> Iterator[str]:
    subject, missed = run.subject, run.missed
    yield f"{subject.words}, in lockstep with the reference, seed {run.seed}"
    yield "after every call: outcome or refusal, choice, view, digest, and every rule"
    yield ""
    rows = [["run", "runs", "calls", "full view", "CPU s", "calls/s", "difference"]]
    rows += [_row(ran) for ran in run.ran]
    yield from render_columns(rows)
    yield ""
    if run.reached or missed:
        total = len(run.reached) + len(missed)
        yield f"device goals reached: {len(run.reached)} of {total}"
        yield f"not reached: {', '.join(missed) or 'none'}"
    for what in run.not_shown:
        yield f"not shown: {what}"
    yield ""
    if run.difference is None or path is None:
        yield "no difference"
        return
    found = run.difference
    yield f"{found.kind}: DIFFERS"
    yield f"  call   {found.n}: {found.call!r}"
    yield f"  wanted {found.wanted}"
    yield f"  got    {found.got}"
    yield f"  again  python -m properties lockstep --trace {path}"


def _row(ran: Ran) -> list[str]:
    every = "each call" if ran.every == 1 else f"each {ran.every}th"
    rate = f"{ran.calls / ran.cpu_seconds:,.0f}" if ran.cpu_seconds else "-"
    found = "none" if ran.difference is None else ran.difference.kind
    seconds = f"{ran.cpu_seconds:.1f}"
    return [ran.what, f"{ran.runs:,}", f"{ran.calls:,}", every, seconds, rate, found]


def _describe(run: Everything, path: Path | None, code: Exit) -> dict[str, Any]:
    found = run.difference
    return {
        "format": "tierproof-lockstep",
        "version": 1,
        "subject": run.subject.name,
        "ran_on": run.subject.words,
        "seed": run.seed,
        "ran": [
            {"what": one.what, "runs": one.runs, "calls": one.calls, "every": one.every}
            for one in run.ran
        ],
        "not_shown": list(run.not_shown),
        "goals": [goal.id for goal in all_device_goals() if goal.id in run.reached],
        "missed_goals": run.missed,
        "difference": None if found is None else _describe_difference(found),
        "trace": None if path is None else str(path),
        "exit": int(code),
    }


def _describe_difference(found: Difference) -> dict[str, Any]:
    said = {"n": found.n, "call": repr(found.call), "kind": found.kind}
    return {**said, "wanted": found.wanted, "got": found.got}


# --------------------------------------------------------------------------------------- a trace


def _replay(file: str, as_json: bool) -> Exit:
    """Make the calls of a trace on its subject and the reference again."""
    recorded = traces.read(file)
    header = recorded.header
    subject = load_model(header.subject, header.shape, header.off)
    pair = Pair(subject, make_reference(header.shape, header.off), Judge(all_rules()))
    found = replay_trace(pair, recorded)
    if as_json:
        said = None if found is None else _describe_difference(found)
        described = {"format": "tierproof-lockstep-trace", "version": 1, "trace": file}
        described_all = {**described, "subject": header.subject, "difference": said}
        click.echo(msgspec.json.format(msgspec.json.encode(described_all), indent=2).decode())
    elif found is None:
        click.echo(f"{header.subject}: no difference in {len(recorded.lines)} calls")
    else:
        click.echo(f"{header.subject}: {found}")
    return Exit.NOT_RED if found is None else Exit.FINE
