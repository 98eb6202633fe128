"""`walk`: seeded random walks on one shape, what they reached, and the shortest break of a rule."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from properties.drawing import make_scope
from properties.exits import Exit, Misuse
from properties.judge import Judge
from properties.lookup import REFERENCE, make_model
from properties.minimise import MakeModel, find_shortest, find_smaller, minimise
from properties.registry import Rule, all_rules
from properties.render import render_columns, render_command, render_replay
from properties.replay import replay_all
from properties.scopes import SCOPES, Scope
from properties.trace import Header, Trace, record, symbolic, write
from properties.walker import WalkBreak
from properties.walks import CALLS, SIZE, Findings, WalkReport, run_walks
from reference.calls import Call
from reference.words import Shape

TRACES = Path("build") / "traces"
SIZE_MAX = 100_000
"""Pages, frames or rows of the largest tier: a view of more takes seconds."""
STATES = 1_500
"""States searched for a shorter trace: about a second."""
SEARCHED_MAX = 12
"""Calls of the longest trace for which that search is worth while."""


class Shown(NamedTuple):
    """A break, written and rendered."""

    path: Path
    """The trace file."""
    text: str
    """The replayed trace."""
    calls: int
    """Its calls."""


@click.command
@click.option("--shape", metavar="PAGES/FRAMES/ROWS", help="Size of the tier, 3/2/1 by default.")
@click.option("--scope", "name", metavar="NAME", help="A scope, instead of a shape.")
@click.option("--leases", type=click.IntRange(1), help="Leases open at once, at most.")
@click.option("--seed", default=0, help="Seed of all walks, 0 by default.")
@click.option("--walks", default=1_000, type=click.IntRange(1), help="Walks, 1000 by default.")
@click.option("--calls", default=CALLS, type=click.IntRange(1), help="Calls in a walk, 50.")
@click.option("--workers", default=1, type=click.IntRange(1), help="Processes, 1 by default.")
@click.option("--on", "subject", default=REFERENCE, help="The reference, or a mutant's id.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    shape: str | None,
    name: str | None,
    leases: int | None,
    seed: int,
    walks: int,
    calls: int,
    workers: int,
    subject: str,
    as_json: bool,
) -> Exit:
    """Make random walks on one shape, every call judged; show the shortest break found."""
    scope = _read_scope(shape, name, leases)
    make = make_model(subject)
    with _progress(walks) as progress:
        report = run_walks(
            partial(make, scope.shape, scope.off),
            scope,
            Judge(all_rules()),
            seed=seed,
            walks=walks,
            calls=calls,
            workers=workers,
            progress=progress,
        )
    shown = _show_break(make, subject, scope, report.found) if report.found.breaks else None
    code = _judge(report.found, subject)
    if as_json:
        described = _describe(report, scope, subject, shown, code)
        click.echo(msgspec.json.format(msgspec.json.encode(described), indent=2).decode())
    else:
        for line in _lines(report, scope, subject, shown, code):
            click.echo(line)
    return code


def _read_scope(shape: str | None, name: str | None, leases: int | None) -> Scope:
    if shape is not None and name is not None:
        raise Misuse("--shape and --scope say the same: give one of them")
    if name is not None:
        if name not in SCOPES:
            raise Misuse(f"no scope {name!r}: there are {', '.join(SCOPES)}")
        scope = SCOPES[name]
        return scope if leases is None else msgspec.structs.replace(scope, leases=leases)
    parts = (shape or "3/2/1").split("/")
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() for part in parts):
        raise Misuse(f"--shape is {shape!r}: it is pages/frames/rows, such as 3/2/1")
    if not all(len(part) <= len(str(SIZE_MAX)) and 1 <= int(part) <= SIZE_MAX for part in parts):
        raise Misuse(f"--shape is {shape!r}: each size is 1 to {SIZE_MAX}")
    return make_scope(Shape(*map(int, parts)), leases)


@contextmanager
def _progress(walks: int) -> Iterator[Callable[[Findings], None] | None]:
    """Show how far the walks are, on a terminal only."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("walking") as status:
        yield lambda found: status.update(
            f"{found.walks:,} of {walks:,} walks, {found.calls:,} calls judged, "
            f"{len(found.breaks)} rules broken"
        )


def _judge(found: Findings, subject: str) -> Exit:
    if subject == REFERENCE:
        if found.breaks:
            return Exit.REFERENCE_BREAKS
        return Exit.CRASHED if found.crashes else Exit.FINE
    return Exit.FINE if found.breaks else Exit.NOT_RED


# ---------------------------------------------------------------------------------------- breaks


def _show_break(make: MakeModel, subject: str, scope: Scope, found: Findings) -> Shown:
    """Minimise the first break, write its trace, and render it."""
    rules = {rule.id: rule for rule in all_rules()}
    broken = found.breaks[0]
    trace = _minimise(make, subject, scope, broken, rules[broken.rule], found.seed)
    path = TRACES / f"walk-{subject}-{broken.rule}.jsonl"
    write(trace, path)
    model = make(trace.header.shape, trace.header.off)
    # The choices are recorded on this very subject, so they are taken even if it is a mutant.
    replay = replay_all(symbolic(trace), model, Judge(all_rules()), own=subject != REFERENCE)
    return Shown(path, render_replay(replay, rules, subject, str(path)), len(trace.calls))


def _minimise(
    make: MakeModel, subject: str, scope: Scope, broken: WalkBreak, rule: Rule, seed: int
) -> Trace:
    header = Header(
        shape=scope.shape,
        off=scope.off,
        subject=subject,
        rule=broken.rule,
        because=broken.because,
        scope=scope.name if scope.name in SCOPES else None,
    )
    if not broken.path:
        return Trace(header, ())
    path = broken.path
    if scope.shape.pages + scope.shape.frames > SIZE:
        smaller = find_smaller(make, header, rule, seed, like=scope)
        if smaller is not None:
            header = msgspec.structs.replace(header, shape=smaller.shape, scope=None)
            path = smaller.broken.path
    try:
        trace = minimise(make, header, path, rule)
    except ValueError:
        # The calls do not break it a second time: show them as they are.
        return record(make(header.shape, header.off), header, path)
    if len(trace.calls) > SEARCHED_MAX:
        return trace
    searched = make_scope(trace.header.shape, off=scope.off, like=scope)
    model = make(trace.header.shape, scope.off)
    return find_shortest(model, searched, trace, rule, states=STATES)


# ------------------------------------------------------------------------------------------ text


def _lines(
    report: WalkReport, scope: Scope, subject: str, shown: Shown | None, code: Exit
) -> Iterator[str]:
    found = report.found
    when = "every call" if found.every == 1 else f"every {found.every}th call and the last"
    yield (
        f"{found.walks:,} walks on {subject}, {'/'.join(map(str, scope.shape))}, "
        f"{scope.leases} leases, seed {found.seed}: {found.calls:,} calls, "
        f"{found.refused_share:.1%} refused"
    )
    yield f"step rules judged every call, state rules the view after {when}"
    yield ""
    yield from render_columns(_table(found, scope.operations))
    yield ""
    reached = len(found.reached)
    yield f"goals reached: {reached} of {reached + len(found.missed)}"
    if found.missed:
        yield f"not reached: {', '.join(found.missed)}"
    yield f"{report.rate:,.0f} judged calls a CPU second"
    yield ""
    for crash in found.crashes:
        last = crash.path[-1][0] if crash.path else "the first state"
        yield f"crashed in walk {crash.walk}, call {len(crash.path)}, {last}: {crash.because}"
    if shown is not None:
        yield shown.text.rstrip("\n")
        for broken in found.breaks[1:]:
            yield f"  broken too {broken.rule}, first in walk {broken.walk}: {broken.because}"
    if subject != REFERENCE:
        noticed = "noticed, as it should be" if code == Exit.FINE else "not noticed by any rule"
        yield f"{subject}: {noticed}"
    elif shown is None:
        yield "no rule is broken"


def _table(found: Findings, operations: Sequence[type[Call]]) -> list[list[str]]:
    """Return a row for each operation: how it ended, with which refusals and choices."""
    rows = [["operation", "done", "failed", "refused", "refusals and choices"]]
    for operation in operations:
        name = operation.__name__
        ends = {
            event.partition(":")[2]: count
            for event, count in found.counts.items()
            if event.partition(":")[0] == name
        }
        done, failed = ends.pop("", 0), ends.pop("failed", 0)
        # A refusal is named like its class, what is chosen in words.
        refused = sum(count for what, count in ends.items() if what[:1].isupper())
        details = ", ".join(f"{what} {count:,}" for what, count in ends.items())
        rows.append([name, f"{done:,}", f"{failed:,}", f"{refused:,}", details])
    return rows


def _describe(
    report: WalkReport, scope: Scope, subject: str, shown: Shown | None, code: Exit
) -> dict[str, Any]:
    return {
        "format": "tierproof-walks",
        "version": 1,
        "subject": subject,
        "shape": scope.shape._asdict(),
        "leases": scope.leases,
        "found": report.found.describe(),
        "rate": round(report.rate),
        "trace": None if shown is None else str(shown.path),
        "replay": None if shown is None else render_command(str(shown.path)),
        "exit": int(code),
    }
