"""`show`: one mutant: what it changes, and what became of it in the last report."""

import sys
from collections.abc import Iterator

import click
import msgspec

from mutants.candidate import Candidate
from mutants.entry import StaleAnchor
from mutants.report import folder
from mutants.report.model import MutantEntry
from mutants.report.phrases import say_all_looked, say_difference, say_noticed
from mutants.roster import UnknownMutant, choose
from properties.exits import Exit, Misuse
from properties.render import render_command, show


@click.command
@click.argument("mutant", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(mutant: str, as_json: bool) -> Exit:
    """Show a mutant's diff, and who noticed it in the last report."""
    report = folder.read_report(folder.REPORT)
    entry = None if report is None else report.get_mutant(mutant)
    try:
        candidate = choose([mutant])[0]
    except UnknownMutant as unknown:
        if entry is None:
            raise Misuse(str(unknown)) from None
        raise Misuse(f"{mutant}: in the last report, but no longer a mutant of this code") from None
    except StaleAnchor as stale:
        click.echo(f"stale anchor: {stale}", err=True)
        return Exit.STALE
    # Its code has changed since: what became of it then is not what would become of it now.
    entry = entry if entry is not None and entry.diff == candidate.diff else None
    if as_json:
        known = {"last_report": entry is not None}
        fields = msgspec.to_builtins(_plain(candidate) if entry is None else entry)
        click.echo(msgspec.json.format(msgspec.json.encode({**known, **fields}), indent=2))
    else:
        lines = [*_describe(candidate), *_describe_end(entry)]
        show("".join(f"{line}\n" for line in lines), sys.stdout)
    return Exit.FINE


def _plain(candidate: Candidate) -> dict[str, object]:
    fields = ("id", "origin", "does", "expect", "number", "seen_in", "alias", "diff")
    return {field: getattr(candidate, field) for field in fields}


def _describe(candidate: Candidate) -> Iterator[str]:
    yield f"{candidate.id} ({candidate.origin})"
    yield f"  {candidate.does}"
    if candidate.alias:
        yield f"  mutmut     {candidate.alias}"
    if candidate.number is not None:
        yield f"  number     {candidate.number}"
    for expected in candidate.expect:
        yield f"  must see   {expected}"
    for seen in candidate.seen_in:
        yield f"  seen in    {seen}"
    if candidate.equivalent_because:
        yield f"  equivalent {candidate.equivalent_because}"
    yield ""
    yield candidate.diff.rstrip("\n")
    yield ""


def _describe_end(entry: MutantEntry | None) -> Iterator[str]:
    if entry is None:
        yield "not in the last report; `python -m mutants run ID` judges it"
        return
    yield f"status       {entry.status}"
    for noticed in entry.noticed:
        yield f"  {say_noticed(noticed)}"
        if noticed.trace is not None:
            yield f"    {render_command(str(folder.REPORT / noticed.trace))}"
    for rule in entry.missed_by:
        yield f"  missed by  {rule}"
    if entry.difference is not None:
        yield f"differed     {say_difference(entry.difference)}"
    if entry.crash:
        yield f"crashed      {entry.crash}"
    if entry.timed_out:
        yield f"out of time  in {entry.timed_out}"
    yield f"compared     in {say_all_looked(entry)}"
