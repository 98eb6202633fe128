"""`run`: the main job, or only some of its mutants."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import click
import msgspec

from mutants import main_job, roster
from mutants.candidate import Candidate
from mutants.clock import count_cores
from mutants.edit import Origin
from mutants.gate import Shortfall
from mutants.main_job import Ended, Job
from mutants.matrix import Matrix
from mutants.progress import shown
from mutants.report.make import make_mutants
from mutants.report.model import MutantEntry
from mutants.report.phrases import say_all_looked, say_count, say_difference, say_noticed
from mutants.roster import UnknownMutant
from properties.exits import Exit, Misuse
from properties.render import show

ONLY: dict[str, Origin] = {"catalogue": "catalogue", "mutmut": "mutmut", "operators": "operator"}
OF_DEVICE = "device"
"""Judge the mutants of the device alone, of all makers."""

LIMIT_SECONDS = 3_600
"""Six times what a run takes: it has hung."""


@click.command
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--deep", is_flag=True, help="Look further; an hour or more.")
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=None,
    help="Processes; by default as many as there are cores.",
)
@click.option(
    "--limit",
    type=click.FloatRange(1),
    metavar="SECONDS",
    help=f"Give up after so long: {LIMIT_SECONDS:,} by default, never with --deep.",
)
@click.option(
    "--only",
    type=click.Choice([*ONLY, OF_DEVICE]),
    help="Judge the mutants of one maker, or of the device, only.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    ids: tuple[str, ...],
    deep: bool,
    workers: int | None,
    limit: float | None,
    only: str | None,
    as_json: bool,
) -> Exit:
    """Judge every mutant by every rule and write the report.

    With IDs or --only, judge those mutants alone and print what became of them; the report of the
    last whole run stays, and that a rule was never red is no fault then.
    """
    if ids and only:
        raise Misuse("give either ids or --only, not both")
    with shown() as say:
        job = Job(workers=workers or count_cores(), deep=deep, say=say)
        job.seconds = limit or (None if deep else LIMIT_SECONDS)
        try:
            if not ids and only is None:
                return _end(main_job.run(job), as_json)
            job.gather = _gather(ids, only)
            matrix, shortfalls = main_job.run_some(job)
        except Ended as early:
            return _end(early, as_json)
    return _show_some(job, matrix, shortfalls, as_json, in_full=only is None)


def _gather(ids: Sequence[str], only: str | None) -> Callable[[], Sequence[Candidate]]:
    """Return what makes the mutants asked for. Raises `Misuse` for an unknown id."""
    if only == OF_DEVICE:
        return roster.gather_of_device
    if only is not None:
        return lambda: roster.gather((ONLY[only],))

    def gather() -> Sequence[Candidate]:
        try:
            return roster.choose(ids)
        except UnknownMutant as unknown:
            raise Misuse(str(unknown)) from None

    return gather


def _end(ended: Ended, as_json: bool) -> Exit:
    """Print how a whole run ended, or why any ended early."""
    if as_json:
        said = {"exit": int(ended.code), "lines": ended.lines}
        click.echo(msgspec.json.format(msgspec.json.encode(said), indent=2))
        return ended.code
    # What is wrong with the run goes to standard error, what it found out to standard output.
    found = ended.code in (Exit.FINE, Exit.NOT_RED, Exit.REFERENCE_BREAKS)
    show("".join(f"{line}\n" for line in ended.lines), sys.stdout if found else sys.stderr)
    return ended.code


def _show_some(
    job: Job, matrix: Matrix, shortfalls: Sequence[Shortfall], as_json: bool, in_full: bool
) -> Exit:
    """Print what became of some mutants; unless in full, of those not killed."""
    code = Exit.NOT_RED if shortfalls else Exit.FINE
    graph = frozenset(rule.id for rule in job.rules if rule.kind == "graph")
    entries = make_mutants(matrix, graph)
    if as_json:
        said = {"exit": int(code), "shortfalls": list(map(str, shortfalls)), "mutants": entries}
        click.echo(msgspec.json.format(msgspec.json.encode(said), indent=2))
        return code
    for entry in entries:
        if entry.status == "killed" and not in_full:
            continue
        show("".join(f"{line}\n" for line in _describe(entry)), sys.stdout)
    if not in_full:
        show("".join(f"{line}\n" for line in job.clock.describe()), sys.stdout)
    counts = Counter(entry.status for entry in entries)
    said_counts = ", ".join(f"{counts[status]:,} {status}" for status in sorted(counts))
    click.echo(f"{say_count(len(entries), 'mutant')}: {said_counts}")
    return code


def _describe(entry: MutantEntry) -> Iterator[str]:
    yield f"{entry.id}: {entry.status}"
    for noticed in entry.noticed:
        yield f"  {say_noticed(noticed)}"
    for rule in entry.missed_by:
        yield f"  MISSED by {rule}"
    if entry.status in ("unseen", "missed", "by lockstep") and entry.difference is not None:
        yield f"  differed {say_difference(entry.difference)}"
    if entry.crash:
        yield f"  crashed: {entry.crash}"
    if entry.status in ("never differed", "never ran"):
        yield f"  compared in {say_all_looked(entry)}"
