"""`confirm`: stock mutmut's verdict beside ours, for one or two mutants of each rule."""

from pathlib import Path

import click
import msgspec

from mutants import roster
from mutants.clock import count_cores
from mutants.confirm import Confirmed, choose, confirm
from mutants.progress import shown
from mutants.report import folder
from mutants.report.model import decode
from mutants.scratch import Scratch
from properties.exits import Exit, Misuse
from properties.render import render_columns

SCRATCH = Path("build") / "confirm"


@click.command
@click.argument("rules", nargs=-1, metavar="[RULE]...")
@click.option("--workers", type=click.IntRange(1), default=None, help="Processes of mutmut.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(rules: tuple[str, ...], workers: int | None, as_json: bool) -> Exit:
    """Confirm cells of the last report with stock mutmut; RULEs name some, all by default."""
    text = folder.read_file(folder.REPORT, "json")
    if text is None:
        raise Misuse("there is no report to confirm yet: `python -m mutants run` writes it")
    report = decode(text)
    known = [rule.id for rule in report.rules]
    for rule in rules:
        if rule not in known:
            raise Misuse(f"no rule {rule!r}: `python -m properties list` shows them")
    chosen = [one for one in choose(report) if not rules or one.rule in rules]
    with shown() as say:
        found = confirm(
            report,
            folder.REPORT,
            Scratch(Path.cwd(), SCRATCH),
            chosen,
            {one.id: one for one in roster.choose(one.mutant for one in chosen)},
            children=workers or count_cores(),
            say=say,
        )
    missing = sorted(set(rules or known) - {one.rule for one in found})
    differing = [one for one in found if not one.agrees]
    if as_json:
        said = {"confirmed": found, "disagreements": len(differing), "unconfirmed": missing}
        click.echo(msgspec.json.format(msgspec.json.encode(said), indent=2))
    else:
        _show(found, missing)
        rules_seen = len({one.rule for one in found})
        click.echo(f"{len(found)} cells of {rules_seen} rules, {len(differing)} disagreements")
    return Exit.NOT_RED if differing or missing else Exit.FINE


def _show(found: list[Confirmed], missing: list[str]) -> None:
    rows = [["rule", "mutant", "run by", "agrees", "rules that spoke there"]]
    for one in found:
        agrees = "yes" if one.agrees else "NO"
        rows.append([one.rule, one.mutant, one.by, agrees, ", ".join(one.rules) or "none"])
    for line in render_columns(rows):
        click.echo(line)
    for rule in missing:
        click.echo(f"{rule}: red on no mutant of the report, nothing to confirm")
