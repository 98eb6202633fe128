"""The report as a page of plain text: what one wants to know first."""

from collections import Counter
from collections.abc import Iterator

from mutants.report.model import MutantEntry, Report, RuleEntry
from mutants.report.phrases import get_kind, say_function, say_verdict
from properties.render import render_columns

STRANGEST = 5
"""Kinds of differences and functions that are named."""


def write_text(report: Report) -> str:
    """Return the summary, ending on the one line that says it all."""
    lines = [
        *_part("rules", _rules(report)),
        *_part("searched with the unmutated code", _exploration(report)),
        *_part("differed and no rule saw it", _unseen(report)),
        *_part("not noticed as they should be", _missed(report)),
        *_part("device", _device(report)),
        *(f"SHUT: {shortfall}" for shortfall in report.shortfalls),
        report.line,
    ]
    return "".join(f"{line}\n" for line in lines)


def _part(title: str, lines: Iterator[str]) -> list[str]:
    said = [f"  {line}" for line in lines]
    return [title, *said, ""] if said else []


def _rules(report: Report) -> Iterator[str]:
    named = {entry.id for entry in report.mutants if entry.origin == "catalogue"}
    rows = [["rule", "red on", "named", "alone", "calls", "shown by"]]
    for rule in report.rules:
        first = rule.red_on[0] if rule.red_on else None
        by_name = sum(red.mutant in named for red in rule.red_on)
        calls = "-" if first is None or first.calls is None else str(first.calls)
        shown = "NEVER RED" if first is None else first.mutant
        counts = [len(rule.red_on), by_name, len(rule.alone_on)]
        rows.append([rule.id, *map(str, counts), calls, shown])
    yield from render_columns(rows)
    for group in get_groups(report.rules):
        yield f"no mutant tells apart: {', '.join(group)}"


def get_groups(rules: tuple[RuleEntry, ...]) -> list[tuple[str, ...]]:
    """Return the groups of rules that were red on exactly the same mutants."""
    groups = (tuple(sorted((rule.id, *rule.indistinct_from))) for rule in rules)
    return sorted({group for group in groups if len(group) > 1})


def _exploration(report: Report) -> Iterator[str]:
    rows = [["scope", "verdict", "states", "depth", "transitions"]]
    for scope in report.exploration:
        numbers = [f"{scope.states:,}", str(scope.depth), f"{scope.transitions:,}"]
        rows.append([scope.scope, say_verdict(scope), *numbers])
    yield from render_columns(rows)


def _unseen(report: Report) -> Iterator[str]:
    """Count them by what differs and by where; the Markdown lists each."""
    unseen = report.with_status("unseen")
    kinds = Counter(get_kind(entry.difference) for entry in unseen if entry.difference)
    for kind, count in _most(kinds):
        yield f"{count:4}  in {kind}"
    functions = Counter(say_function(entry) for entry in unseen)
    for function, count in _most(functions):
        yield f"{count:4}  in {function}"


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda found: (-found[1], found[0]))[:STRANGEST]


def _missed(report: Report) -> Iterator[str]:
    for entry in report.with_status("missed"):
        yield f"{entry.id}: not by {', '.join(entry.missed_by)}; {_instead(entry)}"


def _device(report: Report) -> Iterator[str]:
    """Say what ran, and what did not."""
    device = report.device
    if device is None:
        return
    runs, calls = (sum(getattr(one, name) for one in device.worlds) for name in ("runs", "calls"))
    yield f"{device.ran_on}: {runs:,} runs of {calls:,} calls; {device.not_run}"
    judged = sum(module.judged for module in device.modules)
    made = sum(module.made for module in device.modules)
    if made:
        yield f"{judged:,} of {made:,} generated mutants judged"


def _instead(entry: MutantEntry) -> str:
    rules = ", ".join(noticed.rule for noticed in entry.noticed)
    return f"by {rules}" if rules else "by none"
