"""`list`: the named mutants, as a table or as JSON."""

import click
import msgspec

from mutants.catalogue import all_mutants
from properties.exits import Exit


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> Exit:
    """List the named mutants: what a user would see, and the rules that must notice."""
    mutants = all_mutants()
    if as_json:
        fields = ("id", "does", "expect", "number", "scope", "seen_in", "equivalent_because")
        entries = [{field: getattr(one, field) for field in fields} for one in mutants]
        click.echo(msgspec.json.format(msgspec.json.encode({"mutants": entries}), indent=2))
        return Exit.FINE
    for one in mutants:
        number = "" if one.number is None else f"  (number {one.number})"
        click.echo(f"{one.id}{number}")
        click.echo(f"  {one.does}")
        click.echo(f"  must notice: {', '.join(one.expect) or 'nobody'}")
    return Exit.FINE
