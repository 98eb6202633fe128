"""`replay`: a trace, call by call, with what changed and the rule that broke."""

import sys
from typing import Any

import click
import msgspec

from properties import trace
from properties.exits import Exit
from properties.judge import Judge
from properties.lookup import REFERENCE, load_model
from properties.names import shorten_call
from properties.registry import all_rules
from properties.render import explain_changes, render_replay, show
from properties.replay import Replay, ReplayStep, replay_all


@click.command
@click.argument("file")
@click.option("--on", metavar="SUBJECT", help="Replay on this subject: reference or a mutant's id.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(file: str, on: str | None, as_json: bool) -> Exit:
    """Make the calls of a trace again; show what changed and which rule broke."""
    recorded = trace.read(file)
    header = recorded.header
    on = on or header.subject
    model = load_model(on, header.shape, header.off)
    # The reference offers every choice that it takes. A mutant may have been led to more.
    own = on == header.subject != REFERENCE
    replay = replay_all(recorded, model, Judge(all_rules()), own)
    code = judge_replay(replay, on)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(describe(replay, on, file, code))))
    else:
        rules = {rule.id: rule for rule in all_rules()}
        show(render_replay(replay, rules, on, file), sys.stdout)
    return code


def judge_replay(replay: Replay, on: str) -> Exit:
    """Return how a replay ends: as recorded, not as recorded, or with the reference broken."""
    header = replay.trace.header
    if on == REFERENCE and replay.breaks:
        return Exit.REFERENCE_BREAKS
    if on != header.subject:
        return Exit.FINE
    return Exit.FINE if replay.parted is None and _is_red_again(replay) else Exit.NOT_RED


def _is_red_again(replay: Replay) -> bool:
    """Whether the recorded rule broke again; a graph rule is not judged by a replay."""
    rule_id = replay.trace.header.rule
    graph_rules = {rule.id for rule in all_rules() if rule.kind == "graph"}
    return rule_id is None or rule_id in replay.breaks or rule_id in graph_rules


# ------------------------------------------------------------------------------------------- JSON


def describe(replay: Replay, on: str, path: str, code: Exit) -> dict[str, Any]:
    """Return a replay as JSON."""
    header = replay.trace.header
    parted = replay.parted
    return {
        "format": "tierproof-replay",
        "version": 1,
        "trace": path,
        "subject": header.subject,
        "on": on,
        "rule": header.rule,
        "broken": [
            {"rule": rule, "call": n, "because": because}
            for rule, (n, because) in replay.breaks.items()
        ],
        "parted": None if parted is None else parted.n,
        "calls": [_describe_step(step) for step in replay.steps],
        "exit": int(code),
    }


def _describe_step(step: ReplayStep) -> dict[str, Any]:
    return {
        "n": step.n,
        "call": shorten_call(step.line.op, step.line.arguments),
        "recorded": step.line.outcome,
        "outcome": step.outcome,
        "choice": step.taken,
        "changes": explain_changes(step.step.before, step.step.after),
        "broken": [{"rule": verdict.rule, "because": verdict.because} for verdict in step.verdicts],
    }
