"""`corpus`: record the runs of calls that other engines and subjects make again."""

from collections import Counter
from pathlib import Path

import click
import msgspec

from properties.corpus import FOLDER, get_corpus, get_digest
from properties.exits import Exit
from properties.render import render_columns


@click.command
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> Exit:
    """Record the corpus of this tree, unless it is there already, and say what is in it."""
    root = Path(__file__).parent.parent.parent
    runs = get_corpus(root)
    counts, calls = Counter(run.scope for run in runs), Counter[str]()
    for run in runs:
        calls[run.scope] += len(run.calls)
    path = FOLDER / f"{get_digest(root)}.jsonl"
    if as_json:
        said = {"file": str(path), "runs": counts, "calls": calls}
        click.echo(msgspec.json.format(msgspec.json.encode(said, order="sorted"), indent=2))
        return Exit.FINE
    rows = [["scope", "runs", "calls"]]
    rows += [[scope, f"{counts[scope]:,}", f"{calls[scope]:,}"] for scope in counts]
    for line in render_columns(rows):
        click.echo(line)
    click.echo(f"recorded in {path}")
    return Exit.FINE
