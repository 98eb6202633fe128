"""Shortening: fewer and simpler steps of the machine that still break the same rule.

Hypothesis shrinks the choices it drew, which takes it ten seconds and more, and leaves steps that
do nothing. The steps themselves name things absolutely, so they can simply be left out: that
takes a tenth of a second. What remains cannot lose any one step, and
if it is short not any two. Owned here: the order of trying.
Not owned: running steps (`machine`).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, TypeAlias

MachineStep: TypeAlias = tuple[str, dict[str, Any]]
"""The name of an operation and its absolute arguments."""
Run: TypeAlias = Callable[[Sequence[MachineStep]], int | None]
"""Makes steps and returns how many it took to break the rule; none if they do not."""

RUNS_MAX = 4_000
"""Runs after which the shortest so far is taken: a few seconds."""

PAIRS_MAX = 30
"""Steps of the longest program of which every pair is tried to be left out."""

SIMPLEST: dict[str, tuple[Any, ...]] = {
    "lease": (0,),
    "frame": (0,),
    "fault": (0, 1),
    "ok": (True,),
    "how": ("held",),
    "row": (0,),
    "promise": (1, 2),
    "pages": ((0,), (0, 1)),
}
"""For arguments that are plain values, what is simpler than any other value."""

SIMPLEST_HOW = {"handle": "pinned", "copy": "own"}
"""For arguments that name a page and how it is meant, what is simpler than any other way."""

PAGE_FIELDS = {"page", "handle", "copy"}
"""Arguments that name a page, alone or with how it is meant."""


def shorten(steps: Sequence[MachineStep], run: Run) -> list[MachineStep]:
    """Return steps of which none can be left out, found from steps that break the rule."""
    found = _Shortener(list(steps), run)
    changed = True
    while changed and found.runs < RUNS_MAX:
        found.drop_groups()
        simplified = found.simplify()
        changed = found.drop_pair() or simplified
    return found.steps


class _Shortener:
    """The shortest steps so far."""

    def __init__(self, steps: list[MachineStep], run: Run) -> None:
        self.steps = steps
        self.run = run
        self.runs = 0

    def accepts(self, steps: list[MachineStep]) -> bool:
        """Keep these steps if they break the rule, those up to the break."""
        self.runs += 1
        count = None if self.runs > RUNS_MAX else self.run(steps)
        if count is None:
            return False
        self.steps = steps[:count]
        return True

    def drop_groups(self) -> None:
        """Leave out groups of steps, the last ones first, ever smaller ones, down to one."""
        size = max(1, len(self.steps) // 2)
        while True:
            end, dropped = len(self.steps), False
            while end > 0:
                begin = max(0, end - size)
                if self.accepts(self.steps[:begin] + self.steps[end:]):
                    dropped = True
                end = min(begin, len(self.steps))
            if size == 1 and not dropped:
                return
            size = max(1, size // 2)

    def drop_pair(self) -> bool:
        """Leave out two steps at once, such as a pin and its unpin; return whether that was done.

        Only of steps that are few already, there are many pairs.
        """
        count = len(self.steps)
        for first, second in combinations(range(count if count <= PAIRS_MAX else 0), 2):
            kept = [step for n, step in enumerate(self.steps) if n not in (first, second)]
            if self.accepts(kept):
                return True
        return False

    def simplify(self) -> bool:
        """Make one argument after the other simpler; return whether any became so."""
        simplified = self._rename_pages()
        index = 0
        while index < len(self.steps):
            name, arguments = self.steps[index]
            for field, value in _simpler(arguments):
                step = (name, {**arguments, field: value})
                if self.accepts([*self.steps[:index], step, *self.steps[index + 1 :]]):
                    simplified = True
                    break
            else:
                index += 1
        return simplified

    def _rename_pages(self) -> bool:
        """Give pages lower numbers wherever they are named; return whether any has a lower one."""
        renamed = False
        for page in range(max(_pages(self.steps), default=0), 0, -1):
            for lower in range(page):
                used = _pages(self.steps)
                if page not in used or lower in used:
                    continue
                if self.accepts(_renamed(self.steps, {page: lower})):
                    renamed = True
                    break
        return renamed


def _pages(steps: Sequence[MachineStep]) -> set[int]:
    """Return the pages that steps name."""
    found: set[int] = set()
    for _, arguments in steps:
        found.update(arguments.get("pages", ()))
        for field in PAGE_FIELDS & arguments.keys():
            value = arguments[field]
            found.add(value if isinstance(value, int) else value[0])
    return found


def _renamed(steps: Sequence[MachineStep], names: dict[int, int]) -> list[MachineStep]:
    """Return the steps with pages renamed."""
    renamed = []
    for name, arguments in steps:
        changed = dict(arguments)
        for field in PAGE_FIELDS & arguments.keys():
            value = arguments[field]
            if isinstance(value, int):
                changed[field] = names.get(value, value)
            else:
                changed[field] = (names.get(value[0], value[0]), *value[1:])
        if "pages" in arguments:
            changed["pages"] = tuple(names.get(page, page) for page in arguments["pages"])
        renamed.append((name, changed))
    return renamed


def _simpler(arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield simpler values, the simplest first, that are not what is there."""
    for field, value in arguments.items():
        if field in SIMPLEST:
            values = SIMPLEST[field]
            yield from ((field, v) for v in values[: _place(values, value)])
        elif isinstance(value, tuple):
            page, how = value
            simplest = SIMPLEST_HOW.get(field, how)
            if how != simplest:
                yield from ((field, (0, simplest)), (field, (page, simplest)))
            if page > 0:
                yield field, (0, how)
        elif isinstance(value, int) and value > 0:
            yield field, 0


def _place(values: tuple[Any, ...], value: Any) -> int:
    return values.index(value) if value in values else len(values)
