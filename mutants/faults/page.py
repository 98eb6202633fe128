"""The tables of properties/FAULTS.md: from the data of this package and what a run has shown.

A mutant that was not killed has no red cell: the page says what became of it instead.
"""

from collections.abc import Iterable, Iterator, Mapping

from mutants.catalogue import all_mutants
from mutants.faults.changes import CHANGES, Change
from mutants.faults.classes import CLASSES, FaultClass
from mutants.faults.links import get_mirrored, get_mutants
from mutants.faults.reports import UNSETTLED, PublicReport, all_reports, get_report
from mutants.faults.shown import Shown


def make_blocks(shown: Mapping[str, Shown]) -> dict[str, str]:
    """Return the generated blocks of the page by name; `shown` is by mutant."""
    blocks = {
        "faults": _summary(shown),
        "fault-classes": _classes(shown),
        "fault-changes": _changes(shown),
        "fault-questions": _questions(),
        "fault-unsettled": _unsettled(),
    }
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in blocks.items()}


def _summary(shown: Mapping[str, Shown]) -> Iterator[str]:
    settled = [report for report in all_reports() if report.fault != UNSETTLED]
    red = [one for one in CLASSES if any(_is_red(shown, name) for name in get_mutants(one.id))]
    changes = [one for one in CHANGES if any(_is_red(shown, name) for name in one.mutants)]
    found = {report.id for named in all_mutants() for report in get_mirrored(named)}
    mirrored = found & {report.id for report in settled}
    yield "| | all | with a red cell |"
    yield "| --- | --- | --- |"
    yield f"| reports | {len(all_reports())} | |"
    yield f"| with a settled cause | {len(settled)} | {len(mirrored)} mirrored by a mutant |"
    yield f"| classes | {len(CLASSES)} | {len(red)} |"
    yield f"| changes | {len(CHANGES)} | {len(changes)} |"


def _is_red(shown: Mapping[str, Shown], mutant: str) -> bool:
    return mutant in shown and shown[mutant].status == "killed"


# --------------------------------------------------------------------------------------- classes


def _classes(shown: Mapping[str, Shown]) -> Iterator[str]:
    for index, one in enumerate(CLASSES):
        if index:
            yield ""
        yield from _class(one, shown)


def _class(one: FaultClass, shown: Mapping[str, Shown]) -> Iterator[str]:
    reports = [report for report in all_reports() if report.fault == one.id]
    count = "1 report" if len(reports) == 1 else f"{len(reports)} reports"
    yield f"### {one.id}: {one.name}"
    yield ""
    yield f"{count}:"
    yield ""
    yield from (f"- {_linked(report)} {report.symptom}" for report in reports)
    mutants = get_mutants(one.id)
    if mutants:
        yield ""
        yield "| mutant | mirrors | noticed by |"
        yield "| --- | --- | --- |"
        for mutant in mutants:
            ids = [report.id for report in _mirrored(mutant) if report.fault == one.id]
            yield f"| `{mutant}` | {', '.join(ids)} | {_noticed(shown.get(mutant))} |"
        yield ""
        yield from _trace(mutants, shown)
    if one.lacks:
        yield ""
        yield f"What the model lacks: {_lacking(one.lacks)}"


def _lacking(lacks: str) -> str:
    """Return what is lacking with its first word marked."""
    word, colon, says = lacks.partition(": ")
    return f"*{word}*{colon}{says}"


def _mirrored(mutant: str) -> tuple[PublicReport, ...]:
    return next(get_mirrored(named) for named in all_mutants() if named.id == mutant)


def _linked(report: PublicReport) -> str:
    return f"[{report.id}]({report.address})"


def _noticed(shown: Shown | None) -> str:
    if shown is None:
        return "not in the last run"
    if shown.status != "killed":
        return f"**{shown.status}**"
    rules = ", ".join(f"`{rule}`" for rule in shown.named or (shown.rule,))
    others = shown.others if shown.named else shown.others - 1
    return f"{rules} and {others} more" if others else rules


def _trace(mutants: Iterable[str], shown: Mapping[str, Shown]) -> Iterator[str]:
    """Say by which calls the mutant is shown that takes the fewest."""
    found = [shown[mutant] for mutant in mutants if _is_red(shown, mutant)]
    traced = [one for one in found if one.calls]
    if not traced:
        yield from (f"`python -m mutants show {one.mutant}`: {_where(one)}." for one in found[:1])
        return
    first = min(traced, key=lambda one: (len(one.calls), one.mutant))
    yield f"`python -m mutants show {first.mutant}`: {_where(first)}:"
    yield ""
    yield f"> {'; '.join(f'{n} `{call}`' for n, call in enumerate(first.calls, 1))}"


def _where(shown: Shown) -> str:
    if not shown.calls:
        return f"`{shown.rule}` over the whole of `{shown.scope}`"
    calls = "1 call" if len(shown.calls) == 1 else f"{len(shown.calls)} calls"
    return f"`{shown.rule}` after {calls} in `{shown.scope}`"


# --------------------------------------------------------------------------------------- changes


def _changes(shown: Mapping[str, Shown]) -> Iterator[str]:
    yield "| # | change | classes | mirrors | shown by | what the model lacks |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for change in CHANGES:
        reports = [get_report(report) for report in change.reports]
        cells = (
            str(change.number),
            change.says,
            ", ".join(dict.fromkeys(report.fault for report in reports)),
            ", ".join(map(_linked, reports)),
            "; ".join(_change_cell(change, shown)),
            _lacking(change.lacks) if change.lacks else "",
        )
        yield f"| {' | '.join(cells)} |"


def _change_cell(change: Change, shown: Mapping[str, Shown]) -> Iterator[str]:
    for mutant in change.mutants:
        yield f"`{mutant}`: {_cell(shown.get(mutant))}"


def _cell(shown: Shown | None) -> str:
    if shown is None or shown.status != "killed":
        return _noticed(shown)
    return _where(shown)


# ------------------------------------------------------------------------------------- check-list


def _questions() -> Iterator[str]:
    for one in CLASSES:
        rules = ", ".join(f"`{rule}`" for rule in one.have) or "none of these says it"
        yield f"- [ ] **{one.id}** {one.ask} ({rules})"


def _unsettled() -> Iterator[str]:
    for report in all_reports():
        if report.fault == UNSETTLED:
            yield f"- {_linked(report)} {report.symptom}"
