"""`machine`: the Hypothesis machine and walks from drawn seeds, and what they reached."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import msgspec

from properties.drawing import make_scope
from properties.exits import Exit, Misuse
from properties.judge import Judge
from properties.lookup import REFERENCE, make_model
from properties.registry import all_rules
from properties.render import render_columns, render_command, show
from properties.scopes import SCOPES, Scope
from reference.calls import CALLS
from reference.words import Shape

if TYPE_CHECKING:
    from properties.fronts import Report, ScopeRun
    from properties.tally import Tally

SIZE_MAX = 1_000
"""Pages, frames or rows of the largest tier; the walks are for larger ones."""


@click.command
@click.option("--scope", "name", metavar="NAME", help="One scope, not those of the profile.")
@click.option("--shape", metavar="PAGES/FRAMES/ROWS", help="Size of the tier, not a scope.")
@click.option(
    "--profile", "profile_name", default="dev", help="dev, ci, deep or mutation: how much."
)
@click.option("--seed", default=0, help="Seed of everything that is drawn, 0 by default.")
@click.option("--on", "subject", default=REFERENCE, help="The reference, or a mutant's id.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    name: str | None,
    shape: str | None,
    profile_name: str,
    seed: int,
    subject: str,
    as_json: bool,
) -> Exit:
    """Let Hypothesis make calls, every one judged; show the shortest break found."""
    fronts, profiles = _import()
    if profile_name not in profiles.PROFILES:
        raise Misuse(f"no profile {profile_name!r}: there are {', '.join(profiles.PROFILES)}")
    profile = profiles.PROFILES[profile_name]
    scopes = _read_scopes(name, shape) or [SCOPES[one] for one in profile.batches]
    make = make_model(subject)
    with _progress() as progress:
        report = fronts.run_fronts(
            make, scopes, Judge(all_rules()), profile, seed=seed, subject=subject, progress=progress
        )
    missed = report.missing() if profile.is_judged and name is shape is None else []
    code = _judge(report, subject, missed)
    if as_json:
        described = msgspec.json.encode(_describe(report, subject, code))
        click.echo(msgspec.json.format(described, indent=2).decode())
    else:
        show("".join(f"{line}\n" for line in _lines(report, subject, missed, code)), sys.stdout)
    return code


def _import() -> tuple[Any, Any]:
    """Import what needs Hypothesis. It is not among what the packages depend on."""
    try:
        from properties import fronts, profiles
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        raise Misuse("the machine needs Hypothesis: pip install hypothesis") from None
    return fronts, profiles


def _read_scopes(name: str | None, shape: str | None) -> list[Scope]:
    if name is not None and shape is not None:
        raise Misuse("--shape and --scope say the same: give one of them")
    if name is not None:
        if name not in SCOPES:
            raise Misuse(f"no scope {name!r}: there are {', '.join(SCOPES)}")
        return [SCOPES[name]]
    if shape is None:
        return []
    parts = shape.split("/")
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() for part in parts):
        raise Misuse(f"--shape is {shape!r}: it is pages/frames/rows, such as 3/2/1")
    if not all(len(part) <= len(str(SIZE_MAX)) and 1 <= int(part) <= SIZE_MAX for part in parts):
        raise Misuse(f"--shape is {shape!r}: each size is 1 to {SIZE_MAX}")
    return [make_scope(Shape(*map(int, parts)))]


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Show where the run is, on a terminal only."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("generating") as status:
        yield status.update


def _judge(report: "Report", subject: str, missed: list[str]) -> Exit:
    if subject != REFERENCE:
        return Exit.FINE if report.broken is not None else Exit.NOT_RED
    return Exit.REFERENCE_BREAKS if report.broken is not None or missed else Exit.FINE


# ------------------------------------------------------------------------------------------ text


def _lines(report: "Report", subject: str, missed: list[str], code: Exit) -> Iterator[str]:
    profile = report.profile
    yield f"{subject}, profile {profile.name}, seed {report.seed}"
    yield ""
    yield from render_columns(_fronts_table(report))
    yield ""
    yield from render_columns(_operations_table(report))
    yield ""
    alone = report.missing(["machine"])
    together = report.missing()
    yield f"goals not reached by the machine alone: {', '.join(alone) or 'none'}"
    yield f"goals not reached by both: {', '.join(together) or 'none'}"
    if report.crash:
        yield f"it crashed, which no rule says: {report.crash}"
    yield ""
    run = report.broken
    if run is not None:
        yield f"found by the {run.front} on {run.scope.name}"
        yield str(run.broken)
    if subject != REFERENCE:
        noticed = "noticed, as it should be" if code == Exit.FINE else "not noticed by any rule"
        yield f"{subject}: {noticed}"
    elif run is None:
        yield "no rule is broken"
        yield from (f"goal never reached: {goal}" for goal in missed)


def _fronts_table(report: "Report") -> list[list[str]]:
    """Return a row for each front on each scope, and how much of the scope both saw."""
    rows = [["scope", "front", "runs", "calls", "refused", "calls/s", "goals", "states", "share"]]
    for run in report.runs:
        for front, tally, seconds in (
            ("machine", run.machine, run.machine_seconds),
            ("walks", run.walks, run.walk_seconds),
        ):
            if tally.runs:
                rows.append(_front_row(run, front, tally, seconds))
        share = "-" if run.share is None else f"{run.share:.1%}"
        both = run.machine.reached | run.walks.reached
        rows.append(
            [run.scope.name, "both", "", "", "", "", str(len(both)), f"{run.seen:,}", share]
        )
    return rows


def _front_row(run: "ScopeRun", front: str, tally: "Tally", seconds: float) -> list[str]:
    rate = f"{tally.calls / seconds:,.0f}" if seconds else "-"
    refused = f"{tally.refused / tally.calls:.0%}" if tally.calls else "-"
    counts = [f"{tally.runs:,}", f"{tally.calls:,}", refused, rate, str(len(tally.reached))]
    return [run.scope.name, front, *counts, f"{len(tally.seen):,}", ""]


def _operations_table(report: "Report") -> list[list[str]]:
    """Return a row for each operation: how it ended, with which refusals, on all scopes."""
    events = report.count_events()
    rows = [["operation", "done", "failed", "refused", "refusals and choices"]]
    known = {call for run in report.runs for call in run.scope.operations}
    for operation in (call for call in CALLS if call in known):
        name = operation.__name__
        ends = {
            event.partition(":")[2]: count
            for event, count in sorted(events.items())
            if event.partition(":")[0] == name
        }
        done, failed = ends.pop("", 0), ends.pop("failed", 0)
        # A refusal is named like its class, what is chosen in words.
        refused = sum(count for what, count in ends.items() if what[:1].isupper())
        details = ", ".join(f"{what} {count:,}" for what, count in ends.items())
        rows.append([name, f"{done:,}", f"{failed:,}", f"{refused:,}", details])
    return rows


# ------------------------------------------------------------------------------------------ JSON


def _describe(report: "Report", subject: str, code: Exit) -> dict[str, Any]:
    """Return the report as JSON; nothing in it depends on how fast the machine was."""
    broken = report.broken
    told = None if broken is None or broken.broken is None else broken.broken.told
    text = None if broken is None else str(broken.broken)
    return {
        "format": "tierproof-machine",
        "version": 1,
        "subject": subject,
        "profile": report.profile.name,
        "seed": report.seed,
        "scopes": [_describe_run(run) for run in report.runs],
        "events": dict(sorted(report.count_events().items())),
        "missed": report.missing(),
        "missed_by_machine": report.missing(["machine"]),
        "crash": report.crash or None,
        "front": None if broken is None else broken.front,
        "rule": None if told is None else told.trace.header.rule,
        "text": text,
        "trace": None if told is None else str(told.path),
        "replay": None if told is None else render_command(str(told.path)),
        "exit": int(code),
    }


def _describe_run(run: "ScopeRun") -> dict[str, Any]:
    described: dict[str, Any] = {"scope": run.scope.name}
    for front, tally in (("machine", run.machine), ("walks", run.walks)):
        described[front] = {
            "runs": tally.runs,
            "calls": tally.calls,
            "refused": tally.refused,
            "states": len(tally.seen),
            "goals": sorted(tally.reached),
        }
    return {**described, "states": run.seen, "share": run.share}
