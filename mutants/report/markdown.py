"""The report as a Markdown document, in the order in which a reviewer reads it.

First what differed and no rule saw, since each is a missing rule, a search that is too short, or
a difference that nobody may rely on. Then the other survivors, the rules, the named mutants.
Lists rather than a table of rules times mutants: no page is wide enough for that.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from mutants.device_run import DEVICE
from mutants.report.model import CORPUS, Differs, MutantEntry, Noticed, Report, RuleEntry
from mutants.report.phrases import (
    get_changed_lines,
    say_all_looked,
    say_calls,
    say_count,
    say_function,
    say_place,
    say_verdict,
)
from mutants.report.text import get_groups

SHOWN_MAX = 5
"""Generated mutants that are named for a rule; the JSON has all."""


def write_markdown(report: Report) -> str:
    """Return the whole document."""
    parts = [
        _heading(report),
        _unseen(report),
        _missed(report),
        _by_lockstep(report),
        _ended(report),
        _never_differed(report),
        _never_ran(report),
        _rules(report),
        _named(report),
        _exploration(report),
        _budget(report),
        _device(report),
    ]
    return "\n".join(line for part in parts for line in part)


def _heading(report: Report) -> Iterator[str]:
    yield "# Who notices what\n"
    yield f"{report.line}\n"
    for shortfall in report.shortfalls:
        yield f"- **The gate is shut**: {shortfall}"
    yield "\nA mutant's diff and traces: `python -m mutants show ID`. A trace, call by call:"
    yield "`python -m properties replay build/report/traces/RULE/MUTANT.jsonl`.\n"


# ------------------------------------------------------------------------------------- survivors


def _unseen(report: Report) -> Iterator[str]:
    unseen = report.with_status("unseen")
    yield f"## Differed, and no rule saw it: {len(unseen):,}\n"
    yield "Read these first: a rule is missing, the search is too short, or the difference is one"
    yield "that the spec leaves open.\n"
    for function, entries in _by_function(unseen):
        yield f"### {_code(function)}\n"
        for entry in entries:
            yield from _unseen_entry(entry)


def _unseen_entry(entry: MutantEntry) -> Iterator[str]:
    line = entry.places[0].line if entry.places else 0
    yield f"- {_code(entry.id)} ({entry.origin}, line {line})"
    if entry.difference is not None:
        yield f"  {_difference(entry.difference)}"
    if entry.equivalent_because:
        yield f"  Nothing can notice it: {_text(entry.equivalent_because)}"
    if entry.unconfirmed:
        yield f"  Spoke once, and not again: {_codes(entry.unconfirmed)}"
    yield "\n  ```diff"
    yield from (f"  {line}" for line in get_changed_lines(entry.diff).splitlines())
    yield "  ```\n"


def _difference(differs: Differs) -> str:
    got, wanted = _code(differs.got), _code(differs.wanted)
    return f"in {differs.scope}: {_code(differs.call)} came to {got}, not {wanted}"


def _missed(report: Report) -> Iterator[str]:
    missed = report.with_status("missed")
    yield f"## Not noticed by a rule they name: {len(missed):,}\n"
    for entry in missed:
        noticed = _codes(one.rule for one in entry.noticed) or "none"
        yield f"- {_code(entry.id)}: not by {_codes(entry.missed_by)}; by {noticed}"
    yield ""


def _by_lockstep(report: Report) -> Iterator[str]:
    entries = report.with_status("by lockstep")
    if not entries:
        return
    yield f"## Mutants of the device, noticed by lockstep alone: {len(entries):,}\n"
    yield "They differed from the reference, and no rule spoke within the same run.\n"
    for entry in entries:
        yield f"- {_code(entry.id)}: {_text(entry.does)}"
        if entry.difference is not None:
            yield f"  {_difference(entry.difference)}"
    yield ""


def _ended(report: Report) -> Iterator[str]:
    yield "## No kills: crashed, or ran out of time\n"
    for entry in (*report.with_status("timed out"), *report.with_status("crashed")):
        why = f"out of time in {entry.timed_out}" if entry.timed_out else entry.crash
        yield f"- {_code(entry.id)}: {_text(entry.does)}: {_text(why)}"
    yield ""


def _never_differed(report: Report) -> Iterator[str]:
    same = report.with_status("never differed")
    yield f"## Ran, and never differed: {len(same):,}\n"
    for looked, entries in _grouped(same, say_all_looked):
        yield f"In {looked}:\n"
        for entry in entries:
            why = f": {entry.equivalent_because}" if entry.equivalent_because else ""
            yield f"- {_code(entry.id)}: {_text(entry.does)}{_text(why)}"
        yield ""


def _never_ran(report: Report) -> Iterator[str]:
    never = report.with_status("never ran")
    yield f"## Never ran: {len(never):,}\n"
    for function, entries in _by_function(never):
        yield f"- {_code(function)}: {_codes(entry.id for entry in entries)}"
    yield ""


# ----------------------------------------------------------------------------------------- rules


def _rules(report: Report) -> Iterator[str]:
    named = {entry.id for entry in report.mutants if entry.origin == "catalogue"}
    yield f"## The rules: {len(report.rules)}\n"
    yield "A rule's red mutants are those on which it was asked: a mutant that one rung has shown"
    yield "as it should is not taken to the next.\n"
    for group in get_groups(report.rules):
        yield f"- No mutant tells these apart: {_codes(group)}"
    yield ""
    for rule in report.rules:
        yield from _rule(rule, named)


def _rule(rule: RuleEntry, named: set[str]) -> Iterator[str]:
    yield f"### {rule.id}\n"
    yield f"{_text(rule.sentence)}\n"
    yield f"- judges a {rule.kind}; seen in: {_text(rule.seen)}"
    if rule.derived:
        yield f"- follows from others, and stays: {_text(rule.derived)}"
    if not rule.red_on:
        yield "- **never red**\n"
        return
    first = rule.red_on[0]
    by_name = [red.mutant for red in rule.red_on if red.mutant in named]
    others = [red.mutant for red in rule.red_on if red.mutant not in named]
    if first.trace is None:
        yield f"- shown red first by {_code(first.mutant)}, over a whole space"
    else:
        calls = say_count(first.calls or 0, "call")
        yield f"- shortest: {calls}, {_code(first.mutant)}, [{first.trace}]({first.trace})"
    yield f"- red on {say_count(len(by_name), 'named mutant')}: {_codes(by_name) or 'none'}"
    if others:
        more = ", …" if len(others) > SHOWN_MAX else ""
        yield f"- and on {len(others):,} generated: {_codes(others[:SHOWN_MAX])}{more}"
    if rule.indistinct_from:
        yield f"- on no mutant told apart from {_codes(rule.indistinct_from)}"
    if rule.alone_on:
        more = ", …" if len(rule.alone_on) > SHOWN_MAX else ""
        shown = _codes(rule.alone_on[:SHOWN_MAX])
        yield f"- alone notices {say_count(len(rule.alone_on), 'mutant')}: {shown}{more}"
    yield ""


# --------------------------------------------------------------------------------- named mutants


def _named(report: Report) -> Iterator[str]:
    named = [entry for entry in report.mutants if entry.origin == "catalogue"]
    yield f"## The named mutants: {len(named)}\n"
    for entry in named:
        number = "" if entry.number is None else f", number {entry.number}"
        yield f"### {entry.id}\n"
        yield f"{_text(entry.does)}\n"
        yield f"- {entry.status}{number}; {say_place(entry)}"
        wanted = [one for one in entry.noticed if one.rule in entry.expect]
        yield from (f"- **{one.rule}** {_linked(one)}: {_text(one.because)}" for one in wanted)
        if entry.missed_by:
            yield f"- **missed by** {_codes(entry.missed_by)}"
        others = [one for one in entry.noticed if one.rule not in entry.expect]
        if others:
            also = ", ".join(f"{one.rule} {_linked(one)}" for one in others)
            yield f"- also: {also}"
        if entry.seen_in:
            yield f"- seen in: {', '.join(entry.seen_in)}"
        yield ""


def _linked(noticed: Noticed) -> str:
    said = say_calls(noticed.calls, noticed.scope)
    return f"({said})" if noticed.trace is None else f"([{said}]({noticed.trace}))"


# ------------------------------------------------------------------------------- how far we looked


def _exploration(report: Report) -> Iterator[str]:
    yield "## The unmutated code\n"
    yield "| scope | verdict | states | depth | transitions | fault-free steps |"
    yield "|---|---|--:|--:|--:|--:|"
    for scope in report.exploration:
        numbers = (scope.states, scope.depth, scope.transitions, scope.edges)
        yield f"| {scope.scope} | {say_verdict(scope)} | {' | '.join(f'{n:,}' for n in numbers)} |"
    yield "\nEvents, and how often they happened in all scopes together:\n"
    events: dict[str, int] = {}
    for scope in report.exploration:
        for event, count in scope.counts.items():
            events[event] = events.get(event, 0) + count
    for operation, group in groupby(sorted(events), key=lambda event: event.partition(":")[0]):
        said = (f"{event.partition(':')[2] or 'done'} {events[event]:,}" for event in group)
        yield f"- {operation}: {', '.join(said)}"
    yield "\nGoals, and the scopes that reached them:\n"
    for goal, sentence in report.goals.items():
        where = [scope.scope for scope in report.exploration if goal in scope.goals]
        yield f"- {goal} ({', '.join(where) or 'none'}): {sentence}"
    yield ""


def _budget(report: Report) -> Iterator[str]:
    yield "## The budget\n"
    yield "| rung | states | transitions | mutants |"
    yield "|---|--:|--:|--:|"
    for rung in report.budget.rungs:
        states = f"all {rung.states:,}" if rung.whole else f"first {rung.states:,}"
        states = f"{rung.states:,} runs" if rung.scope in (CORPUS, DEVICE) else states
        yield f"| {rung.scope} | {states} | {rung.transitions:,} | {rung.mutants:,} |"
    yield ""
    for what, most in report.budget.limits.items():
        yield f"- {what}: at most {most:,}"
    yield ""


def _device(report: Report) -> Iterator[str]:
    device = report.device
    if device is None:
        return
    yield "## The device\n"
    yield f"Its mutants were run on a device that is {device.ran_on}; {device.not_run}. A copy"
    yield "lands when a scheduler picks it, so that what was not waited for is seen; what a GPU"
    yield "does besides is not shown.\n"
    yield "| world | pages/frames/rows | what it is for | runs | calls |"
    yield "|---|---|---|--:|--:|"
    for one in device.worlds:
        yield f"| {one.scope} | {one.shape} | {one.purpose} | {one.runs} | {one.calls:,} |"
    if device.modules:
        yield "\nGenerated mutants, of each module one of so many in the order of their ids:\n"
    for module in device.modules:
        yield f"- {_code(module.module)}: {module.judged:,} of {module.made:,} judged"
    yield ""


# ----------------------------------------------------------------------------------------- forms


def _by_function(entries: Iterable[MutantEntry]) -> Iterator[tuple[str, list[MutantEntry]]]:
    return _grouped(entries, say_function)


def _grouped(
    entries: Iterable[MutantEntry], key: Callable[[MutantEntry], str]
) -> Iterator[tuple[str, list[MutantEntry]]]:
    for name, group in groupby(sorted(entries, key=key), key=key):
        yield name, list(group)


def _code(text: str) -> str:
    """Return a text as code, whatever is in it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _codes(texts: Iterable[str]) -> str:
    return ", ".join(map(_code, texts))


def _text(text: str) -> str:
    """Return a text on one line in which nothing but its own code is marked up."""
    parts = " ".join(text.split()).split("`")
    for index in range(0, len(parts), 2):
        for mark in "\\*_<>[]|":
            parts[index] = parts[index].replace(mark, f"\\{mark}")
    return "`".join(parts)
