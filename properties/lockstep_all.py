"""Everything that lockstep runs on one subject: tours, walks, the machine, up to a difference."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from properties.corpus import get_corpus
from properties.device_goals import GoalWatcher, all_device_goals
from properties.drawing import make_scope
from properties.judge import Judge
from properties.lockstep import Difference, Pair
from properties.lockstep_shorten import shorten_difference
from properties.lockstep_subjects import MakeDrawn, Subject, name_model
from properties.lockstep_walks import (
    CALLS,
    Lockstep,
    MakeSubject,
    Progress,
    Ran,
    Watch,
    make_reference,
)
from properties.registry import all_rules
from properties.scopes import SCOPES, Scope
from properties.subject import Model
from properties.tour import Run, tour
from properties.trace import Header, Trace
from reference.words import Shape

ROOT = Path(__file__).parent.parent

SHAPES = (Shape(4, 2, 2), Shape(60, 24, 2), Shape(4096, 1024, 2))
"""Where walks are made: as many fewer as a shape is larger than the first, and one at least."""

ALL = "all"
"""The scope of every operation, where walks are made too; those on a shape make the table's."""

LONG = 300
"""Calls of a walk on a large shape: to fill it takes longer than to walk."""
LARGE = 64
"""Pages and frames of one."""

MACHINE_SCOPES = ("default", "wide")
"""Where the Hypothesis machine runs."""

BATCH_WALKS = 90
"""For so many walks on the first shape one batch of the machine on each of its scopes."""

TINY = ("tiny", "rows", "leave", "sleep", "keys")
"""Scopes whose tour is made faster than it is found."""


class Plan(NamedTuple):
    """What to run."""

    scopes: tuple[str, ...]
    """Scopes that are toured."""
    walks: int
    """Walks on the first shape."""
    shapes: tuple[Shape, ...] = SHAPES
    """Where walks are made."""


class Everything:
    """All runs on one subject, and what they came to."""

    def __init__(
        self, subject: Subject, plan: Plan, seed: int = 0, progress: Progress = lambda _: None
    ) -> None:
        """Run nothing yet."""
        self.subject = subject
        self.plan = plan
        self.seed = seed
        self.progress = progress
        self.judge = Judge(all_rules())
        self.ran: list[Ran] = []
        """What ran, in order."""
        self.reached: dict[str, int] = {}
        """Device goals that were reached."""
        self.not_shown = list(subject.not_shown)
        """What did not run, or cannot be shown, in plain words."""
        self.difference: Difference | None = None
        """The first difference, after as few calls as were found; nothing ran after it."""
        self.trace: Trace | None = None
        """What shows it again."""
        self.watch: Watch | None = None
        if subject.make_drawn is not None:
            self.watch = lambda model: GoalWatcher(model, self.reached)

    @property
    def missed(self) -> list[str]:
        """Device goals that were not reached; none are looked for where there is no scheduler."""
        if self.subject.make_drawn is None:
            return []
        return [goal.id for goal in all_device_goals() if goal.id not in self.reached]

    def run(self) -> None:
        """Make every run, none after the first difference."""
        todo: list[Callable[[], Ran | None]] = []
        todo += [partial(self._tour, name) for name in self.plan.scopes]
        if self.plan.walks:
            walked = [*map(make_scope, self.plan.shapes), SCOPES[ALL]]
            todo += [partial(self._walk, scope) for scope in walked]
            todo += [partial(self._machine, name) for name in MACHINE_SCOPES]
        for run in todo:
            found = run()
            if found is not None:
                self.ran.append(found)
                if found.difference is not None:
                    break

    # ------------------------------------------------------------------------------------ runs

    def _tour(self, name: str) -> Ran:
        scope = SCOPES[name]
        self.progress(f"looking for a tour of {name}")
        lockstep = self._make(scope, self.subject.make)
        return self._noted(lockstep, lockstep.tour(get_tour(scope)))

    def _walk(self, scope: Scope) -> Ran:
        first, size = sum(self.plan.shapes[0][:2]), sum(scope.shape[:2])
        walks = max(1, self.plan.walks * first // size)
        lockstep = self._make(scope, self.subject.make_failing)
        calls = CALLS if size < LARGE else LONG
        return self._noted(lockstep, lockstep.walk(range(walks), calls=calls))

    def _make(self, scope: Scope, make: MakeSubject) -> Lockstep:
        return Lockstep(
            make,
            scope,
            self.judge,
            seed=self.seed,
            watch=self.watch,
            progress=self.progress,
        )

    def _noted(self, lockstep: Lockstep, ran: Ran) -> Ran:
        pair = lockstep.pair
        if ran.difference is not None and pair is not None:
            self._note(ran, pair.subject, lambda: lockstep.make_pair(ran.runs - 1))
        return ran

    def _machine(self, name: str) -> Ran | None:
        make_drawn, scope = self.subject.make_drawn, SCOPES[name]
        if make_drawn is None:
            return None
        try:
            from properties.lockstep_machine import run_lockstep_machine
        except ModuleNotFoundError as error:
            if error.name != "hypothesis":
                raise
            self.not_shown.append(f"machine on {name}: it needs Hypothesis")
            return None
        ran = run_lockstep_machine(
            make_drawn,
            scope,
            self.judge,
            batches=max(1, self.plan.walks // BATCH_WALKS),
            seed=self.seed,
            watch=self.watch,
            progress=self.progress,
        )
        if ran.difference is not None:
            make_pair = partial(make_lazy_pair, make_drawn, scope, self.judge)
            self._note(ran, make_pair().subject, make_pair)
        return ran

    def _note(self, ran: Ran, model: Model, make_pair: Callable[[], Pair]) -> None:
        """Keep a difference, after as few calls as can be found, and its trace."""
        assert ran.difference is not None, "there is one"
        scope = ran.scope
        header = Header(
            shape=scope.shape,
            off=scope.off,
            subject=name_model(self.subject.name, model),
            scope=scope.name if scope.name in SCOPES else None,
        )
        found = shorten_difference(make_pair, header, ran.difference)
        rules = {rule.id for rule in self.judge.rules}
        rule = found.kind if found.kind in rules else None
        self.difference = found
        self.trace = found.get_trace(replace(header, rule=rule, because=str(found)))


def make_lazy_pair(make_drawn: MakeDrawn, scope: Scope, judge: Judge) -> Pair:
    """Return a pair whose subject's scheduler picks nothing, unless a trace says what."""
    subject = make_drawn(scope.shape, scope.off, lambda _: 0)
    return Pair(subject, make_reference(scope.shape, scope.off), judge)


def get_tour(scope: Scope) -> Sequence[Run]:
    """Return the runs of a scope's tour, from the recorded corpus if that takes long to find."""
    if scope.name in TINY:
        return tour(make_reference(scope.shape, scope.off), scope).runs
    return [run.calls for run in get_corpus(ROOT) if run.source == f"tour of {scope.name}"]
