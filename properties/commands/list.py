"""`list`: the rules, the goals or the scopes, as a table or as JSON."""

from typing import Any

import click
import msgspec

from properties.exits import Exit
from properties.registry import all_rules
from properties.render import render_columns
from properties.scopes import SCOPES


@click.command
@click.option("--goals", "what", flag_value="goals", help="List what a good search must reach.")
@click.option("--scopes", "what", flag_value="scopes", help="List the worlds that are searched.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(what: str | None, as_json: bool) -> Exit:
    """List the rules, with where the world broke each."""
    found = {"goals": _goals, "scopes": _scopes}.get(what or "rules", _rules)()
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode({what or "rules": found}), indent=2))
        return Exit.FINE
    rows = [list(found[0]), *([str(value) for value in entry.values()] for entry in found)]
    for line in render_columns(rows):
        click.echo(line)
    return Exit.FINE


def _rules() -> list[dict[str, Any]]:
    return [
        {
            "id": rule.id,
            "kind": rule.kind,
            "sentence": rule.sentence,
            "seen": rule.seen,
            "derived": rule.derived,
        }
        for rule in all_rules()
    ]


def _goals() -> list[dict[str, Any]]:
    from properties.goals import all_goals

    return [{"id": goal.id, "needs": goal.needs, "sentence": goal.sentence} for goal in all_goals()]


def _scopes() -> list[dict[str, Any]]:
    return [
        {
            "name": scope.name,
            "pages": scope.shape.pages,
            "frames": scope.shape.frames,
            "rows": scope.shape.rows,
            "leases": scope.leases,
            "pins": scope.pins,
            "purpose": scope.purpose,
        }
        for scope in SCOPES.values()
    ]
