"""`report`: print the last good report."""

import sys

import click

from mutants.report import folder
from properties.exits import Exit, Misuse
from properties.render import show


@click.command
@click.option(
    "--format",
    "form",
    type=click.Choice([*folder.FILES]),
    default="text",
    help="text (the default), markdown or json.",
)
def command(form: str) -> Exit:
    """Print the report of the last whole run."""
    text = folder.read_file(folder.REPORT, form)
    if text is None:
        path = folder.REPORT / folder.FILES[form]
        raise Misuse(f"there is no {path} yet: `python -m mutants run` writes it")
    if form == "json":
        click.echo(text, nl=False)
    else:
        show(text.decode(), sys.stdout)
    return Exit.FINE
