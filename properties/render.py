"""How states, traces and breaks look as plain text; every command shows them through here.

Owned here: the layout, and the colour on a terminal. Not owned: the words for a change
(`changes`) and for a call (`names`). Golden tests hold the text. Knows no tier.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from properties.changes import describe_view, explain_changes
from properties.grammar import Line
from properties.names import Json, shorten, shorten_call, shorten_choice, shorten_outcome
from properties.registry import Rule
from properties.replay import Replay, ReplayStep
from properties.trace import Header, SymbolicTrace
from properties.view import View

__all__ = [
    "explain_changes",
    "render_calls",
    "render_columns",
    "render_command",
    "render_replay",
    "render_view",
    "show",
]

GAP = "  "


def render_view(view: View) -> str:
    """Return a state as text, a line for each thing it shows."""
    return "".join(f"{line}\n" for line in describe_view(view))


def render_command(path: str) -> str:
    """Return the command that shows a trace again."""
    return f"python -m properties replay {path}"


def render_calls(trace: SymbolicTrace) -> str:
    """Return the calls of a trace and what they came to, as recorded."""
    rows = [[str(line.n), _call(line), _outcome(line, line.outcome)] for line in trace.lines]
    return "".join(f"{GAP}{line}\n" for line in render_columns([["n", "call", "result"], *rows]))


def render_replay(replay: Replay, rules: Mapping[str, Rule], on: str, path: str) -> str:
    """Return a replayed trace as text: what broke, the calls with what they changed, the command.

    `on` is the subject it was replayed on, `path` the file it came from.
    """
    lines = [*_heading(replay, rules, on), "", *_table(replay)]
    parted = replay.parted
    if parted is not None:
        lines += ["", f"{GAP}call {parted.n} parts from the recording"]
        lines.append(f"{GAP}recorded {_outcome(parted.line, parted.line.outcome)}")
        lines.append(f"{GAP}here     {_outcome(parted.line, parted.outcome)}")
    lines += ["", f"{GAP}replay   {render_command(path)}"]
    return "".join(f"{line}\n" for line in lines)


def render_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines of left-aligned columns, no wider than what they hold."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        GAP.join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


# -------------------------------------------------------------------------------------- heading


def _heading(replay: Replay, rules: Mapping[str, Rule], on: str) -> list[str]:
    header, breaks = replay.trace.header, replay.breaks
    lines = [_verdict(header, breaks, rules, on)]
    if header.rule is not None:
        rule = rules.get(header.rule)
        sentence = "not a rule of this version" if rule is None else rule.sentence
        lines.append(f"{GAP}rule     {sentence}")
        found = breaks.get(header.rule)
        # What it says now; the recorded reason stands only where nothing is said now.
        because = header.because if found is None else found[1]
        label = "recorded" if found is None else "because "
        if because is not None:
            lines.append(f"{GAP}{label} {because}")
    for rule_id, (n, because) in breaks.items():
        if rule_id != header.rule:
            lines.append(f"{GAP}also     {rule_id} at call {n}: {because}")
    return lines


def _verdict(
    header: Header, breaks: Mapping[str, tuple[int, str]], rules: Mapping[str, Rule], on: str
) -> str:
    if header.rule is None:
        broken = ", ".join(breaks)
        return f"{broken}: BROKEN by {on}" if broken else f"no rule is broken by {on}"
    if header.rule in breaks:
        return f"{header.rule}: BROKEN by {on}"
    rule = rules.get(header.rule)
    if rule is not None and rule.kind == "graph":
        return f"{header.rule}: judged over a whole scope, not by a replay; recorded on {on}"
    return f"{header.rule}: NOT BROKEN by {on}"


# ---------------------------------------------------------------------------------------- table


def _table(replay: Replay) -> list[str]:
    rows: list[list[str]] = [["n", "call", "result", "changes"]]
    for step in replay.steps:
        changes = explain_changes(step.step.before, step.step.after)
        if step.taken != "default":
            changes.insert(0, _choice(step))
        mark = _mark(step.verdicts, replay.trace.header.rule)
        first = GAP.join(filter(None, [*changes[:1], mark]))
        rows.append([str(step.n), _call(step.line), _result(step), first])
        rows += [["", "", "", change] for change in changes[1:]]
    if replay.start_verdicts:
        mark = _mark(replay.start_verdicts, replay.trace.header.rule)
        rows.insert(1, ["0", "the state before any call", "", mark])
    return [f"{GAP}{line}" for line in render_columns(rows)]


def _mark(verdicts: Iterable[Any], first: str | None) -> str:
    """Return the mark of a line that broke rules, the recorded one first."""
    broken = sorted({verdict.rule for verdict in verdicts}, key=lambda rule: (rule != first, rule))
    return f"<- {', '.join(broken)}" if broken else ""


def _call(line: Line) -> str:
    return shorten_call(line.op, line.arguments)


def _outcome(line: Line, outcome: dict[str, Json]) -> str:
    return shorten_outcome(line.op, line.arguments, outcome)


def _choice(step: ReplayStep) -> str:
    if step.taken == "other":
        return f"recorded choice not offered: {shorten_choice(step.line.choice)}"
    return f"chosen: {shorten_choice(step.line.choice)}"


def _result(step: ReplayStep) -> str:
    """Return what a call came to; where it issued one name, also what that stands for here."""
    text = _outcome(step.line, step.outcome)
    value: Json = step.outcome.get("value")
    concrete: Any = step.step.outcome.value
    if not isinstance(value, str) or shorten(value) == value:
        return text
    if isinstance(concrete, tuple):
        fields: dict[str, Any] = getattr(concrete, "_asdict", dict)()
        return f"{text} = {' '.join(f'{name} {part}' for name, part in fields.items())}"
    return f"{text} = {value.partition('@')[0]} {concrete}"


# --------------------------------------------------------------------------------------- terminal

_STYLES = (("<- ", "bold red"), ("BROKEN", "bold red"), ("NOT BROKEN", "green"))


def show(text: str, stream: TextIO) -> None:
    """Write a text; on a terminal what broke is in colour, in a pipe nothing is added."""
    if not stream.isatty():
        stream.write(text)
        return
    console = Console(file=stream, highlight=False, soft_wrap=True)
    for line in text.splitlines():
        styled = Text(line)
        for word, style in _STYLES:
            if word in line:
                start = line.index(word)
                styled.stylize(style, start, len(line) if word == "<- " else start + len(word))
        console.print(styled)
