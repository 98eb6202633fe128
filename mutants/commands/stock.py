"""`stock`: stock mutmut over the reference, with the unit tests and the machine."""

from pathlib import Path

import click
import msgspec

from mutants.clock import count_cores
from mutants.progress import shown
from mutants.scratch import Scratch
from mutants.stock import run_stock
from properties.exits import Exit
from properties.render import render_columns

SCRATCH = Path("build") / "stock"


@click.command
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--workers", type=click.IntRange(1), default=None, help="Processes of mutmut.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(names: tuple[str, ...], workers: int | None, as_json: bool) -> Exit:
    """Run stock mutmut on the mutants it calls NAMEs, all by default; half an hour or more.

    It fails only if mutmut does: survivors are listed, the gate is `run`.
    """
    with shown() as say:
        say("mutmut runs in a scratch copy")
        verdict = run_stock(Scratch(Path.cwd(), SCRATCH), workers or count_cores(), names)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(verdict), indent=2))
        return Exit.FINE
    rows = [["rule", "spoke on"], *([rule, str(count)] for rule, count in verdict.rules.items())]
    for line in render_columns(rows):
        click.echo(line)
    for name in verdict.survived:
        click.echo(f"survived: {name}")
    for code, count in verdict.others.items():
        click.echo(f"exit code {code}: {count}")
    click.echo(
        f"{verdict.killed} killed, {verdict.by_rule} of them with a rule speaking; "
        f"{len(verdict.survived)} survived"
    )
    return Exit.FINE
