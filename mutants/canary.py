"""The canary and the no-op: a run in which the first is green or the second red says nothing.

Both are put through the same engine and the same rules as every mutant, before any of them; two
more of them, of the device, before those of the device.
"""

from collections.abc import Iterable, Sequence

from mutants.candidate import from_named
from mutants.device_run import Known
from mutants.engine import Row
from mutants.entry import Edit, Named
from mutants.matrix import Rung, build
from properties.registry import Rule

CANARY = Named(
    id="canary",
    does="A page that was handed out is handed out again.",
    edits=(
        Edit(
            "reference.pool",
            "        free=tuple(other for other in pool.free if other != page),\n"
            "        holds=_set_holds(pool, page, 1),\n",
            "        free=pool.free,\n        holds=_set_holds(pool, page, 1),\n",
        ),
    ),
    expect=("pages-are-partitioned",),
)
"""So wrong that the first calls show it."""

NO_OP = Named(
    id="no-op",
    does="Nothing changes.",
    edits=(
        Edit(
            "reference.pool",
            "    return 0 <= page < len(pool.holds) and pool.holds[page] > 0\n",
            "    pass\n    return 0 <= page < len(pool.holds) and pool.holds[page] > 0\n",
        ),
    ),
    expect=(),
)
"""Another text that runs, and the same program."""

DEVICE_CANARY = Named(
    id="device.canary",
    does=CANARY.does,
    edits=(
        Edit(
            "device.pool",
            "        self.free.remove(pages)\n        self.holds[pages] = 1\n",
            "        self.holds[pages] = 1\n",
        ),
    ),
    expect=CANARY.expect,
)
"""As wrong as the canary."""

DEVICE_NO_OP = Named(
    id="device.no-op",
    does=NO_OP.does,
    edits=(
        Edit(
            "device.pool",
            "        return 0 <= page < self.pages and bool(self.holds[page] > 0)\n",
            "        pass\n        return 0 <= page < self.pages and bool(self.holds[page] > 0)\n",
        ),
    ),
    expect=(),
)
"""The no-op of the device."""

LADDER = (Rung("tiny", None, whole=True),)


def judge(rules: Iterable[Rule]) -> tuple[Row, Row]:
    """Return the rows of the canary and of the no-op. Raises `StaleAnchor`."""
    both = [from_named(CANARY), from_named(NO_OP)]
    rows = build(both, rules, workers=1, ladder=LADDER).rows
    return rows[CANARY.id], rows[NO_OP.id]


def judge_of_device(rules: Iterable[Rule], known: Sequence[Known]) -> tuple[Row, Row]:
    """Return the rows of the device's canary and no-op. Raises `StaleAnchor`."""
    both = [from_named(DEVICE_CANARY), from_named(DEVICE_NO_OP)]
    rows = build(both, rules, workers=1, ladder=(), device=known).rows
    return rows[DEVICE_CANARY.id], rows[DEVICE_NO_OP.id]


def why_void(canary: Row, no_op: Row) -> str | None:
    """Return why a run with these rows would say nothing, or none."""
    green = [rule for rule in CANARY.expect if rule not in canary.cells]
    if green:
        what = canary.crash or canary.timed_out or "nothing was wrong"
        return f"the canary is green: {', '.join(green)} did not speak ({what})"
    if no_op.cells:
        first = next(iter(no_op.cells.values()))
        return f"the no-op is red: {first.rule}: {first.because}"
    if no_op.difference is not None:
        differs = no_op.difference
        return f"the no-op differs: {differs.call} came to {differs.got}, not {differs.wanted}"
    if no_op.crash or no_op.timed_out:
        return f"the no-op does not end: {no_op.crash or no_op.timed_out}"
    return None if no_op.ran else "the no-op was not run: no mutant would be"
