"""Making the report of a run: from its matrix, its survey and the gate. Nothing is judged here."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import get_args

from mutants import device_run, engine
from mutants.candidate import Candidate
from mutants.device_run import Known
from mutants.engine import Cell, Difference, Row
from mutants.gate import Shortfall
from mutants.matrix import Looked, Matrix, Status, status_of
from mutants.report.model import (
    NOT_RUN,
    SCHEMA,
    Budget,
    Compared,
    DeviceEntry,
    Differs,
    ModuleEntry,
    MutantEntry,
    Noticed,
    Place,
    RedOn,
    Report,
    RuleEntry,
    RungEntry,
    ScopeEntry,
    WorldEntry,
)
from mutants.variant import SHARED, device_sources, original_sources
from mutants.worlds import WORLDS
from properties.goals import all_goals
from properties.registry import Rule
from properties.scopes import SCOPES
from properties.survey import Searched, Survey

READ_FIRST: tuple[Status, ...] = (
    "unseen",
    "missed",
    "by lockstep",
    "timed out",
    "crashed",
    "never differed",
    "never ran",
)
"""What became of mutants that no rule noticed as it should, in the order of reading."""


def make(
    rules: Sequence[Rule],
    matrix: Matrix,
    surveys: Sequence[Survey],
    shortfalls: Sequence[Shortfall],
    device: DeviceEntry | None = None,
) -> Report:
    """Return the report of a run."""
    graph = frozenset(rule.id for rule in rules if rule.kind == "graph")
    entries = make_mutants(matrix, graph)
    return Report(
        schema=SCHEMA,
        line=make_line(rules, entries, surveys, shortfalls),
        shortfalls=tuple(str(shortfall) for shortfall in shortfalls),
        sources={
            name: hashlib.sha256(text.encode()).hexdigest()
            for name, text in (*device_sources().items(), *original_sources().items())
            if name not in SHARED
        },
        survivors={
            status: tuple(entry.id for entry in entries if entry.status == status)
            for status in READ_FIRST
        },
        rules=tuple(make_rules(rules, entries)),
        mutants=entries,
        exploration=tuple(_scope(found) for one in surveys for found in one.searched),
        goals={goal.id: goal.sentence for goal in all_goals()},
        budget=Budget(rungs=tuple(_rung(rung) for rung in matrix.looked), limits=_limits()),
        device=device,
    )


def make_device(
    matrix: Matrix, known: Sequence[Known], made: Callable[[], Sequence[Candidate]]
) -> DeviceEntry:
    """Return on what the mutants of the device were run, and how many of those made."""
    generated = [one for one in matrix.candidates if one.of_device and one.origin != "catalogue"]
    judged = Counter(one.places[0][0] for one in generated)
    all_made = Counter(one.places[0][0] for one in made()) if generated else judged
    runs = [one.play.run for one in known]
    return DeviceEntry(
        ran_on="simulated",
        not_run=NOT_RUN,
        worlds=tuple(
            WorldEntry(
                scope=name,
                shape="/".join(map(str, world.shape)),
                purpose=world.purpose,
                runs=sum(run.scope == name for run in runs),
                calls=sum(len(run.calls) for run in runs if run.scope == name),
            )
            for name, world in WORLDS.items()
        ),
        modules=tuple(
            ModuleEntry(module=module, made=all_made[module], judged=judged[module])
            for module in sorted(all_made)
        ),
    )


def make_mutants(matrix: Matrix, graph: frozenset[str]) -> tuple[MutantEntry, ...]:
    """Return the entry of each mutant, in the order of the matrix."""
    looked = {rung.scope: rung for rung in matrix.looked}
    return tuple(_mutant(one, matrix.rows[one.id], looked, graph) for one in matrix.candidates)


def trace_path(rule: str, mutant: str) -> str:
    """Return where the trace of a cell is, in the folder of the report."""
    return f"traces/{rule}/{mutant}.jsonl"


def _mutant(
    one: Candidate, row: Row, looked: dict[str, Looked], graph: frozenset[str]
) -> MutantEntry:
    differs = row.difference
    return MutantEntry(
        id=one.id,
        origin=one.origin,
        does=one.does,
        status=status_of(one, row),
        places=tuple(
            Place(module=module, function=function, line=line)
            for module, function, line in one.places
        ),
        expect=one.expect,
        noticed=tuple(_noticed(row.cells[rule], one.id, graph) for rule in sorted(row.cells)),
        difference=None if differs is None else _differs(differs),
        crash=row.crash,
        timed_out=row.timed_out,
        unconfirmed=tuple(sorted(row.unconfirmed)),
        compared=tuple(
            Compared(
                scope=scope,
                states=looked[scope].states,
                whole=looked[scope].whole,
                transitions=transitions,
            )
            for scope, transitions in row.rungs.items()
        ),
        number=one.number,
        seen_in=one.seen_in,
        equivalent_because=one.equivalent_because,
        alias=one.alias,
        diff=one.diff,
    )


def _differs(found: Difference) -> Differs:
    return Differs(scope=found.scope, call=found.call, wanted=found.wanted, got=found.got)


def _noticed(cell: Cell, mutant: str, graph: frozenset[str]) -> Noticed:
    """A rule of the whole space has no trace: no single call breaks it."""
    whole = cell.rule in graph
    return Noticed(
        rule=cell.rule,
        because=cell.because,
        scope=cell.scope,
        calls=None if whole else len(cell.path),
        trace=None if whole else trace_path(cell.rule, mutant),
    )


def make_rules(rules: Sequence[Rule], entries: Sequence[MutantEntry]) -> list[RuleEntry]:
    """Return the entry of each rule, in the order of the rules."""
    red: dict[str, list[tuple[int, str, Noticed]]] = {rule.id: [] for rule in rules}
    for entry in entries:
        for noticed in entry.noticed:
            if noticed.rule in red:
                red[noticed.rule].append((noticed.calls or 0, entry.id, noticed))
    sets = {rule: frozenset(mutant for _, mutant, _ in found) for rule, found in red.items()}
    return [
        RuleEntry(
            id=rule.id,
            kind=rule.kind,
            sentence=rule.sentence,
            seen=rule.seen,
            derived=rule.derived,
            red_on=tuple(
                RedOn(mutant=mutant, calls=noticed.calls, trace=noticed.trace)
                for _, mutant, noticed in sorted(red[rule.id], key=lambda found: found[:2])
            ),
            indistinct_from=tuple(
                other
                for other, found in sets.items()
                if other != rule.id and found and found == sets[rule.id]
            ),
            alone_on=tuple(
                entry.id
                for entry in entries
                if [noticed.rule for noticed in entry.noticed] == [rule.id]
            ),
        )
        for rule in rules
    ]


def make_line(
    rules: Sequence[Rule],
    entries: Sequence[MutantEntry],
    surveys: Sequence[Survey],
    shortfalls: Sequence[Shortfall],
) -> str:
    """Return the run in one line."""
    never = sum(shortfall.mutant is None for shortfall in shortfalls)
    red = f"{never} NEVER RED" if never else "all shown red"
    states = sum(one.states for one in surveys)
    return (
        f"{len(rules)} invariants, {red}; {len(entries):,} mutants: {_count(entries)}; "
        f"{_say_device(entries)}{states:,} states explored, all rules hold"
    )


def _count(entries: Sequence[MutantEntry], killed: str = "killed") -> str:
    """Return how many mutants became what."""
    statuses = [entry.status for entry in entries]
    said = {**SAID, "killed": killed}
    return ", ".join(
        f"{statuses.count(status):,} {said[status]}"
        for status in get_args(Status)
        if statuses.count(status) or status == "killed"
    )


def _say_device(entries: Sequence[MutantEntry]) -> str:
    of_device = [entry for entry in entries if entry.of_device]
    if not of_device:
        return ""
    counts = _count(of_device, "noticed by a rule")
    return f"of them {len(of_device):,} of the device (simulated; {NOT_RUN}): {counts}; "


SAID: dict[Status, str] = {
    "killed": "killed",
    "missed": "MISSED by a rule they name",
    "by lockstep": "noticed by lockstep alone",
    "crashed": "only crashed",
    "timed out": "timed out",
    "unseen": "differed unseen",
    "never differed": "never differed",
    "never ran": "never ran",
}
"""The statuses, as the last line says them."""


def _scope(found: Searched) -> ScopeEntry:
    return ScopeEntry(
        scope=found.scope,
        verdict=found.answer,
        depth=found.depth,
        depth_max=SCOPES[found.scope].depth,
        states=found.states,
        transitions=found.calls,
        edges=found.edges,
        counts=found.counts,
        goals=found.goals,
    )


def _rung(looked: Looked) -> RungEntry:
    return RungEntry(
        scope=looked.scope,
        states=looked.states,
        whole=looked.whole,
        transitions=looked.transitions,
        mutants=looked.mutants,
    )


def _limits() -> dict[str, int]:
    return {
        "states of a mutant's own space": engine.STATES_MAX,
        "differing transitions followed on a rung": engine.FOLLOWED_MAX,
        "calls made on from one": engine.FOLLOW_DEPTH,
        "states reached from one": engine.FOLLOW_STATES,
        "pairs of states compared with the tier off": engine.TWINS_MAX,
        "CPU seconds for one mutant on one rung": int(engine.SECONDS_MAX),
        "CPU seconds for one mutant of the device on one run": int(device_run.SECONDS_MAX),
        "calls after which a generated mutant of the device shows its view": device_run.EVERY,
    }
