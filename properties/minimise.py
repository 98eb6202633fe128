"""Minimising: fewer and simpler calls that still break the same rule on the same subject.

Delta debugging over a symbolic trace: calls go in ever smaller groups, and with a call go the
later ones that name what it issued. Then what is left is made simpler: default choices, fewer
pages, smaller promises and a smaller tier. What remains cannot lose any one call, and if it is
short not any two; a search of the scope may find still fewer (`find_shortest`). Owned here: that
order. Not owned: what is simpler (`simpler`), and which choice is taken where the old one is not
allowed (`choosing`).
"""

import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple, TypeAlias

import msgspec

from properties.choosing import choose_again
from properties.drawing import make_scope
from properties.explorer import Exploration
from properties.grammar import OPERATIONS, Line
from properties.judge import Judge
from properties.ledger import Ledger
from properties.names import SYMBOL, Json, Names
from properties.registry import Rule
from properties.resolve import Resolver
from properties.scopes import Scope
from properties.simpler import simpler_lines, smaller_shapes
from properties.step import Step
from properties.subject import Model
from properties.trace import Header, Made, Trace, made, record, symbolic
from properties.walker import WalkBreak
from properties.walks import run_walks
from reference.calls import DEFAULT, Call, Choice
from reference.words import Shape

MakeModel: TypeAlias = Callable[[Shape, bool], Model]
Same: TypeAlias = Mapping[str, Sequence[str]]
"""For each name, all that stand for the same, the oldest first: two fills of a page issue two."""

SMALL = (Shape(2, 1, 1), Shape(3, 2, 1), Shape(4, 3, 2))
"""Small tiers on which a break of a large one is looked for."""
SMALL_OFF = (Shape(2, 2, 2),)
"""The same with the tier off."""
WALKS = 400
"""Walks on each of them."""
PAIRS_MAX = 16
"""Calls of the longest trace of which every pair is tried to be left out."""
ROUND = 200
"""States expanded between looks whether the rule is broken."""
SECONDS = 10.0
"""Time after which the shortest trace so far is taken: for long walks on large shapes."""


def minimise(
    make_model: MakeModel,
    header: Header,
    path: Sequence[tuple[Call, Choice]],
    rule: Rule,
    *,
    seconds: float = SECONDS,
) -> Trace:
    """Return a short trace that breaks the rule, found from calls that break it.

    The shape in its header may be smaller than the one it was found on. Raises `ValueError` if
    the calls do not break the rule on this model.
    """
    found = _Minimiser(make_model, header, rule, time.monotonic() + seconds)
    found.begin(path)
    found.drop_refused()
    found.drop_groups()
    simplified = True
    while simplified and not found.is_late:
        simplified = found.simplify()
        found.drop_groups(size=1)
        simplified = found.drop_pair() or simplified
    return found.best


class Smaller(NamedTuple):
    """A break that was found again on a smaller tier."""

    shape: Shape
    """The tier."""
    broken: WalkBreak
    """The break."""


def find_smaller(
    make_model: MakeModel, header: Header, rule: Rule, seed: int, *, like: Scope | None = None
) -> Smaller | None:
    """Return a break of the same rule on a small tier, if walks there find one soon.

    What a thousand frames show, a few mostly show too, and in a tenth of the calls. The walks make
    the calls of the scope that theirs is to be `like`, if one is given.
    """
    for shape in SMALL_OFF if header.off else SMALL:
        scope = make_scope(shape, off=header.off, like=like)
        report = run_walks(
            partial(make_model, shape, header.off),
            scope,
            Judge([rule]),
            seed=seed,
            walks=WALKS,
            stop_at_break=True,
        )
        if report.found.breaks:
            return Smaller(shape, report.found.breaks[0])
    return None


def find_shortest(model: Model, scope: Scope, trace: Trace, rule: Rule, *, states: int) -> Trace:
    """Return a trace of the fewest calls that break the rule in a scope, or the given one.

    The search ends after about so many states: then the given trace may not be the shortest.
    """
    depth = len(trace.calls) - 1
    smaller = msgspec.structs.replace(scope, depth=depth, opening=())
    search = Exploration(model, smaller, Judge([rule]), goals=(), tolerant=True)
    while not search.breaks and not search.ended and search.states < states:
        if search.depth >= depth:
            break
        search.run(states=states, expand=ROUND)
    broken = search.breaks.get(rule.id)
    if broken is None:
        return trace
    last = () if broken.call is None else ((broken.call, broken.choice or DEFAULT),)
    path = [*search.path(broken.node), *last]
    if len(path) > depth:
        return trace
    header = msgspec.structs.replace(trace.header, because=broken.because)
    return record(model, header, path)


class _Minimiser:
    """The shortest trace so far, and ways to make it shorter."""

    def __init__(self, make_model: MakeModel, header: Header, rule: Rule, deadline: float) -> None:
        self.make_model = make_model
        self.rule = rule
        self.deadline = deadline
        self.judge = Judge([rule])
        self.best = Trace(header, ())
        self.lines: tuple[Line, ...] = ()
        self.same: Same = {}
        self.model = make_model(header.shape, header.off)

    @property
    def is_late(self) -> bool:
        """The time is up."""
        return time.monotonic() >= self.deadline

    def begin(self, path: Sequence[tuple[Call, Choice]]) -> None:
        """Take the calls up to the first that breaks the rule."""
        trace = record(self.model, self.best.header, path)
        if not self.accepts(symbolic(trace).lines):
            raise ValueError(f"the {len(trace.calls)} calls do not break {self.rule.id}")

    def accepts(self, lines: Sequence[Line], shape: Shape | None = None) -> bool:
        """Make these calls; if they break the rule they are the shortest so far."""
        header = self.best.header
        model = self.model
        if shape is not None:
            header = msgspec.structs.replace(header, shape=shape)
            model = self.make_model(shape, header.off)
        try:
            found = self._make(model, header, lines)
        except Exception:
            # A broken subject may crash on calls that it was not found with.
            return False
        if found is None:
            return False
        self.best, self.model = found, model
        self.lines = symbolic(found).lines
        self.same = _find_same(found)
        return True

    def _make(self, model: Model, header: Header, lines: Sequence[Line]) -> Trace | None:
        """Make the calls and return those up to the first that breaks the rule."""
        names = Names()
        state = model.initial()
        before = model.view(state)
        ledger = Ledger.empty(header.shape.rows)
        calls: list[Made] = []
        for line in lines:
            resolver = Resolver(names, before)
            call = resolver.read_call(OPERATIONS[line.op], line.arguments)
            wanted = DEFAULT if line.choice is None else resolver.read_choice(line.choice)
            choice = choose_again(model, state, before, call, wanted or DEFAULT)
            _, outcome, after_state = model.take(state, call, choice)
            if outcome.refused is not None:
                choice = DEFAULT
            calls.append(made(call, choice, outcome, before))
            names.learn(line.n, call, outcome)
            after = before if after_state is state else model.view(after_state)
            known = ledger.absorb(call, outcome)
            verdicts = self.judge.judge_step(Step(before, call, outcome, after, ledger))
            verdicts = verdicts or self.judge.judge_view(after, known)
            if verdicts:
                because = verdicts[0].because
                rule = msgspec.structs.replace(header, rule=self.rule.id, because=because)
                return Trace(rule, tuple(calls))
            state, before, ledger = after_state, after, known
        return None

    # ------------------------------------------------------------------------------ fewer calls

    def drop_refused(self) -> None:
        """Leave out every call that was refused, and every look, but for the last call."""
        kept = [
            line
            for line in self.lines[:-1]
            if "refused" not in line.outcome and line.op not in ("lookup", "read")
        ]
        if len(kept) + 1 < len(self.lines):
            self.accepts(_with_what_they_name([*kept, self.lines[-1]], self.lines))

    def drop_groups(self, size: int | None = None) -> None:
        """Leave out groups of calls, the last ones first, ever smaller ones, down to one."""
        size = len(self.lines) // 2 if size is None else size
        while size > 0:
            end = len(self.lines) - 1
            dropped = False
            while end > 0 and not self.is_late:
                group = range(max(0, end - size), end)
                kept = _without(self.lines, group, self.same)
                if kept and self.accepts(kept):
                    dropped = True
                    end = min(group.start, len(self.lines) - 1)
                else:
                    end = group.start
            if size == 1 and not dropped:
                return
            size = max(1, size // 2)
            if self.is_late:
                return

    def drop_pair(self) -> bool:
        """Leave out two calls at once, such as a pin and its unpin; return whether that was done.

        Only of a trace that is short already, there are many pairs.
        """
        count = len(self.lines) - 1
        if count > PAIRS_MAX:
            return False
        for pair in combinations(range(count), 2):
            if self.is_late:
                return False
            kept = _without(self.lines, pair, self.same)
            if kept and self.accepts(kept):
                return True
        return False

    # ---------------------------------------------------------------------------- simpler calls

    def simplify(self) -> bool:
        """Make calls and tier simpler; return whether anything became so."""
        simplified = False
        for shape in smaller_shapes(self.best.header.shape, off=self.best.header.off):
            if self.accepts(self.lines, shape):
                simplified = True
                break
        index = 0
        while index < len(self.lines) and not self.is_late:
            for line in simpler_lines(self.lines[index], self.lines[:index]):
                changed = (*self.lines[:index], line, *self.lines[index + 1 :])
                if self._is_simpler(changed):
                    simplified = True
                    break
            else:
                index += 1
        return simplified

    def _is_simpler(self, lines: Sequence[Line]) -> bool:
        """Accept these calls unless making them comes to what was there before."""
        before, was = self.lines, (self.best, self.model, self.same)
        if not self.accepts(lines):
            return False
        if _told(self.lines) != _told(before):
            return True
        self.lines, (self.best, self.model, self.same) = before, was
        return False


def _find_same(trace: Trace) -> Same:
    """Return the names of a trace that stand for the same."""
    names = Names()
    for n, entry in enumerate(trace.calls, 1):
        names.learn(n, entry.call, entry.outcome)
    found: dict[tuple[str, Json], list[str]] = {}
    for name, value in names.values.items():
        found.setdefault((name.partition("@")[0], value), []).append(name)
    return {name: group for group in found.values() for name in group}


def _told(lines: Sequence[Line]) -> list[tuple[str, Json, Json]]:
    """Return what is asked in the calls, without what they came to."""
    return [(line.op, line.arguments, line.choice) for line in lines]


def _without(lines: Sequence[Line], group: Container[int], same: Same) -> list[Line]:
    """Return the lines without those of a group and what names what only they issued.

    Nothing if the last line would go too: it is the one that breaks the rule.
    """
    gone: set[int] = set()
    kept: list[Line] = []
    for index, line in enumerate(lines):
        arguments = None if index in group else _rename(line.arguments, line.n, gone, same)
        if arguments is None:
            gone.add(line.n)
        else:
            kept.append(line._replace(arguments=arguments))
    return kept if kept and kept[-1].n == lines[-1].n else []


def _rename(
    arguments: dict[str, Json], n: int, gone: Container[int], same: Same
) -> dict[str, Json] | None:
    """Return the arguments of call `n` without names that are gone, none if that cannot be."""

    def rename(value: Json) -> Json:
        if isinstance(value, dict):
            return {field: rename(part) for field, part in value.items()}
        if isinstance(value, list):
            return [rename(part) for part in value]
        if not any(issuer in gone for issuer in _named(value)):
            return value
        for other in same[value]:
            if all(issuer < n and issuer not in gone for issuer in _named(other)):
                return other
        raise LookupError(value)

    try:
        renamed: dict[str, Json] = rename(arguments)
    except LookupError:
        return None
    return renamed


def _with_what_they_name(kept: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """Return the kept lines and every earlier one whose names they need."""
    by_number = {line.n: line for line in lines}
    needed = {line.n for line in kept}
    waiting = list(kept)
    while waiting:
        for n in _named(waiting.pop().arguments):
            if n not in needed:
                needed.add(n)
                waiting.append(by_number[n])
    return [line for line in lines if line.n in needed]


def _named(value: Json) -> Iterator[int]:
    """Yield the number of every call whose names are in a written value."""
    if isinstance(value, str):
        name = SYMBOL.fullmatch(value)
        if name is not None:
            yield int(name[2])
    elif isinstance(value, dict):
        for part in value.values():
            yield from _named(part)
    elif isinstance(value, list):
        for part in value:
            yield from _named(part)
