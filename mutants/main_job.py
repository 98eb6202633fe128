"""The main job: every mutant judged by every rule, every rule shown red.

In this order, and it ends at the first that fails: the report can be written, what is to be
judged is made (a stale anchor ends it), the canary is red and the no-op green, the unmutated code
breaks no rule. Only then are the mutants judged, the gate asked and the report written; a shut
gate is in the report too. What each step does is in the module it calls.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import msgspec

from mutants import canary, roster, unmutated
from mutants.candidate import Candidate
from mutants.clock import Clock, Laps, TooLate, deadline
from mutants.device_run import Known, play_unmutated
from mutants.entry import StaleAnchor
from mutants.gate import Shortfall, find_shortfalls, find_unnoticed, records_of
from mutants.generated import MutmutChanged
from mutants.matrix import DEEP_LADDER, LADDER, RERUN, Matrix, Rung, build
from mutants.report import folder
from mutants.report.make import make, make_device
from mutants.report.model import Report
from mutants.report.text import write_text
from mutants.report.traces import write_traces
from mutants.worlds import DeviceRun, record_runs
from properties.corpus import TOURED, Recorded, make_corpus
from properties.exits import Exit
from properties.explorer import Exploration
from properties.judge import Judge
from properties.registry import Rule, all_rules
from properties.survey import MAIN_SCOPES, Survey

SMALLEST = MAIN_SCOPES[0]
DEEP_SCOPE, DEEP_STATES = "wide", 200_000
"""What a deep run searches besides, and how far: its end is out of reach."""

CORPUS_TOURS = tuple(scope for scope in TOURED if scope in RERUN)
"""The tours that mutants are judged on; others take a minute to plan."""

Say = Callable[[str], None]


class Ended(Exception):
    """The job ends here, with lines for the user."""

    def __init__(self, code: Exit, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.code = code
        self.lines = lines


class Job(msgspec.Struct, kw_only=True):
    """What to do; the fields that commands do not set are there for tests."""

    workers: int = 1
    deep: bool = False
    rules: tuple[Rule, ...] = msgspec.field(default_factory=all_rules)
    scopes: tuple[str, ...] = MAIN_SCOPES
    ladder: tuple[Rung, ...] = LADDER
    made_of_device: Callable[[], Sequence[Candidate]] = roster.generate_of_device
    """The generated mutants of the device, those not judged too."""
    gather: Callable[[], Sequence[Candidate]] = roster.gather
    corpus: Callable[[], Sequence[Recorded]] = lambda: make_corpus(CORPUS_TOURS)
    device: Callable[[], Sequence[DeviceRun]] = record_runs
    """The runs that mutants of the device are judged on, where there are such mutants."""
    report: Path = folder.REPORT
    seconds: float | None = None
    """When to give up, on the wall."""
    say: Say = lambda _: None
    """Told what is going on."""
    clock: Clock = msgspec.field(default_factory=Clock)


def run(job: Job) -> Ended:
    """Do the whole job and return how it ended. Raises `Ended` if it does so before its end."""
    with limited(job):
        folder.check_writable(job.report)
        candidates = get_candidates(job)
        check_can_tell(job)
        surveys = check_unmutated(job, job.scopes)
        if job.deep:
            surveys += check_unmutated(job, (DEEP_SCOPE,), DEEP_STATES)
        known = check_device(job, candidates)
        matrix = judge(job, candidates, known)
        shortfalls = find_shortfalls([rule.id for rule in job.rules], records_of(matrix))
        report = publish(job, matrix, surveys, shortfalls, known)
    code = Exit.NOT_RED if shortfalls else Exit.FINE
    return Ended(code, *job.clock.describe(), "", *write_text(report).splitlines())


def run_some(job: Job) -> tuple[Matrix, list[Shortfall]]:
    """Judge the job's mutants, and only ask whether each was noticed by the rules it names.

    Nothing is written, and of the unmutated code only the smallest scope is searched. Raises
    `Ended`.
    """
    with limited(job):
        candidates = get_candidates(job)
        check_can_tell(job)
        matrix = judge(job, candidates, check_device(job, candidates))
    return matrix, find_unnoticed(records_of(matrix))


@contextmanager
def limited(job: Job) -> Iterator[None]:
    """End when the time is up."""
    try:
        with deadline(job.seconds):
            yield
    except TooLate:
        done = ", ".join(phase.phase for phase in job.clock.phases)
        raise Ended(
            Exit.CRASHED, f"out of time after {job.seconds:,.0f} s; done were: {done}"
        ) from None


def get_candidates(job: Job) -> Sequence[Candidate]:
    """Return what is to be judged, or end."""
    job.say("making the mutants")
    try:
        with job.clock.phase("make the mutants"):
            return job.gather()
    except StaleAnchor as stale:
        raise Ended(Exit.STALE, f"stale anchor: {stale}") from None
    except MutmutChanged as changed:
        raise Ended(Exit.CRASHED, str(changed)) from None


def check_can_tell(job: Job) -> None:
    """End unless the canary is red and the no-op green.

    The no-op is red too if the original is, which is another end: so that is asked first.
    """
    check_unmutated(job, (SMALLEST,))
    job.say("the canary and the no-op")
    try:
        with job.clock.phase("canary and no-op"):
            void = canary.why_void(*canary.judge(job.rules))
    except StaleAnchor as stale:
        raise Ended(Exit.STALE, f"stale anchor: {stale}") from None
    if void is not None:
        raise Ended(Exit.CANARY, f"void: {void}")


def check_unmutated(job: Job, scopes: Sequence[str], states: int | None = None) -> list[Survey]:
    """Return what the searches of the unmutated code found, or end if it breaks a rule."""
    with job.clock.phase(f"search {', '.join(scopes)}"):
        progress = _search_progress(job.say)
        found = unmutated.search(job.rules, scopes, job.workers, states, progress)
    if found.answer == "broken":
        raise Ended(Exit.REFERENCE_BREAKS, *unmutated.explain(found, job.rules))
    if found.answer == "undetermined" and states is None:
        raise Ended(Exit.CRASHED, "the search of the unmutated code was cut short")
    return [found]


def check_device(job: Job, candidates: Sequence[Candidate]) -> tuple[Known, ...]:
    """Return the runs of the device, or end unless it is right and its mutants can be told.

    Without mutants of the device there are none.
    """
    if not any(candidate.of_device for candidate in candidates):
        return ()
    job.say("the device, in lockstep")
    with job.clock.phase("record the runs of the device"):
        runs = job.device()
    with job.clock.phase("the unmutated device in lockstep"):
        known, parted = play_unmutated(runs, Judge(job.rules))
    if parted is not None:
        raise Ended(Exit.REFERENCE_BREAKS, str(parted))
    try:
        with job.clock.phase("canary and no-op of the device"):
            void = canary.why_void(*canary.judge_of_device(job.rules, known))
    except StaleAnchor as stale:
        raise Ended(Exit.STALE, f"stale anchor: {stale}") from None
    if void is not None:
        raise Ended(Exit.CANARY, f"void: of the device {void}")
    return known


def judge(job: Job, candidates: Sequence[Candidate], known: Sequence[Known]) -> Matrix:
    """Return the matrix of these mutants."""
    ladder = DEEP_LADDER if job.deep else job.ladder

    laps = Laps(job.clock)

    def progress(scope: str, done: int, todo: int) -> None:
        if done == 0:
            laps.begin(f"judge {todo:,} mutants on {scope}")
        job.say(f"{scope}: {done:,} of {todo:,} mutants judged")

    job.say("recording the corpus")
    with job.clock.phase("record the corpus"):
        is_needed = any(not candidate.of_device for candidate in candidates)
        corpus = job.corpus() if is_needed else ()
    try:
        return build(
            candidates,
            job.rules,
            workers=job.workers,
            ladder=ladder,
            corpus=corpus,
            device=known,
            progress=progress,
        )
    finally:
        laps.end()


def publish(
    job: Job,
    matrix: Matrix,
    surveys: Sequence[Survey],
    shortfalls: Sequence[Shortfall],
    known: Sequence[Known],
) -> Report:
    """Write the report, put it in its place and return it. Raises `Misuse`."""
    job.say("writing the report")
    graph = frozenset(rule.id for rule in job.rules if rule.kind == "graph")
    with job.clock.phase("make the report"):
        device = make_device(matrix, known, job.made_of_device) if known else None
        report = make(job.rules, matrix, surveys, shortfalls, device)

    def write(beside: Path) -> None:
        with job.clock.phase("write the traces"):
            write_traces(beside, matrix, graph, job.workers)

    folder.publish(job.report, report, write, lambda: _timing(job))
    return report


def _search_progress(say: Say) -> Callable[[Exploration], None]:
    return lambda search: say(
        f"unmutated, {search.scope.name}: {search.states:,} states, "
        f"{search.states - search.expanded:,} to expand, depth {search.depth}"
    )


def _timing(job: Job) -> dict[str, object]:
    return {
        "workers": job.workers,
        "python": sys.version.split()[0],
        "mutmut": version("mutmut"),
        "phases": job.clock.phases,
    }
