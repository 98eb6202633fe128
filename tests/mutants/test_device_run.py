"""Mutants of the device: each named one is noticed in its way, on the runs it shows in."""

import pytest

from mutants import canary, worlds
from mutants.candidate import Candidate, from_named, from_texts
from mutants.catalogue import all_mutants
from mutants.device_run import (
    DEVICE,
    EVERY,
    Known,
    Parted,
    find_difference,
    judge_from,
    play,
    play_unmutated,
    run_on_device,
    shows,
)
from mutants.engine import Row
from mutants.entry import Named
from mutants.matrix import Status, noticed_by, status_of
from mutants.roster import DEVICE_MODULES
from mutants.variant import Variant, all_sources
from mutants.worlds import DeviceRun, get_picks, get_world
from properties.judge import Judge
from properties.registry import Rule, all_rules
from properties.step import Step
from reference.calls import DEFAULT, Alloc, Fill, Open

JUDGE = Judge(all_rules())
NAMED = tuple(named for named in all_mutants() if named.id.startswith("device."))
RULES = [rule.id for rule in all_rules()]

# What the issue asks for, and the mutants that are it.
ASKED = {
    "a missing wait on read": "data_path.read-does-not-wait",
    "a missing wait on eviction": "data_path.fill-does-not-wait",
    "a missing wait on write-back": "data_path.write-back-does-not-wait",
    "a missing wait on host reuse": "data_path.host-page-is-reused-under-its-copy",
    "complete reported before the event": "data_path.complete-before-the-event",
    "wait on one of two streams": "data_path.one-of-two-streams-is-waited-for",
    "direction swapped": "data_path.fill-goes-the-wrong-way",
    "width for stride": "layout.width-for-stride",
    "32-bit offset": "layout.offset-has-too-few-bits",
    "last row missing": "simulated.copy-leaves-out-the-last-row",
    "rows swapped": "simulated.copy-swaps-rows",
    "failed copy at k treated as done": "data_path.only-the-first-item-may-fail",
    "late error swallowed": "data_path.late-error-is-swallowed",
    "victim falls back to frame 0": "fill.victim-falls-back-to-the-first-frame",
    "unmapped encoded as 0": "frames.unmapped-is-the-first-frame",
    "stale host bytes shown for a fresh page": "data_path.fresh-page-keeps-stale-bytes",
    "a tier-off path that evicts": "pins.off-evicts-what-nobody-pins",
    "an error path that leaks a frame": "fill.failed-fill-leaks-a-frame",
    "a quarantine forgotten": "quarantine.frames-are-free-at-once",
}


@pytest.fixture(scope="module")
def known() -> tuple[Known, ...]:
    """What the unmutated device makes of every run, and it is right."""
    found, parted = play_unmutated(worlds.record_runs(), JUDGE)
    assert parted is None, str(parted)
    return found


def judge_all(candidate: Candidate, known: tuple[Known, ...], every: int = 1) -> Row:
    """Run a mutant until it is noticed by all that it names."""
    names = frozenset(candidate.expect)
    return run_on_device(
        candidate, known, JUDGE, lambda row: names <= noticed_by(candidate, row), every
    )


def planted(module: str, old: str, new: str) -> Candidate:
    """Return a mutant that changes one text of a module of the device."""
    source = all_sources()[module]
    assert 1 == source.count(old)
    return from_texts("device.planted", "Planted.", {module: source.replace(old, new)})


# --------------------------------------------------------------------------- the named mutants


def is_lasting(known: Known, world: str) -> bool:
    """Whether a run is in this world, and stays what it is when walks are drawn otherwise."""
    return known.play.run.scope == world and not known.play.run.source.startswith("walk ")


@pytest.mark.parametrize("named", NAMED, ids=lambda named: named.id)
def test_named_mutant_is_noticed_in_its_way(named: Named, known: tuple[Known, ...]) -> None:
    """A wrong wait that a simulated device hides would be hidden on a GPU too."""
    candidate = from_named(named)
    world = named.scope or worlds.TOURED[0]
    row = judge_all(candidate, tuple(filter(lambda one: is_lasting(one, world), known)))

    assert row.ran
    assert set(named.expect) <= noticed_by(candidate, row)
    assert () == row.unconfirmed


def test_all_that_was_asked_for_is_there() -> None:
    """The list of wrong versions of a device has no holes."""
    ids = {named.id for named in NAMED}

    assert [] == [asked for asked, mutant in ASKED.items() if f"device.{mutant}" not in ids]


def test_worlds_are_what_mutants_need(known: tuple[Known, ...]) -> None:
    """Evictions, copies of several pages, faults and moods: without one a mutant is not seen."""
    runs = [one.play.run for one in known]
    calls = [call for run in runs for call, _ in run.calls]

    assert {run.scope for run in runs} == set(worlds.WORLDS)
    assert {None} < {run.seed for run in runs}
    assert any(type(call) is Fill and len(call.pages) > 2 for call in calls)
    assert any(not getattr(call, "ok", True) for call in calls)
    assert any(
        choice == DEFAULT for run in runs for call, choice in run.calls if type(call) is Fill
    )
    assert {module for one in known for module, _ in one.ran} > set(DEVICE_MODULES)


# ----------------------------------------------------------------------------- the engine itself


def test_canary_and_no_op_of_the_device_tell_apart(known: tuple[Known, ...]) -> None:
    """The real ones, through the real engine."""
    red, green = canary.judge_of_device(all_rules(), known)

    assert canary.why_void(red, green) is None
    assert set(canary.DEVICE_CANARY.expect) <= red.cells.keys()
    assert green.ran and len(known) == len({one.play.run for one in known})


def test_another_choice_is_no_difference(known: tuple[Known, ...]) -> None:
    """The spec leaves the frame open: who takes another one is as right."""
    other = planted(
        "device.fill",
        "    free = tables.frames.free.get_lowest(misses)\n",
        "    free = tables.frames.free.get_all()[::-1][:misses]\n",
    )
    row = run_on_device(other, known, JUDGE, lambda _: False)

    assert row.ran
    assert (None, {}) == (row.difference, row.cells)


def test_what_no_rule_sees_is_seen_by_lockstep(known: tuple[Known, ...]) -> None:
    """It is a column of its own, and counts as noticed for a mutant of the device alone."""
    skips = planted(
        "device.fill", "        tables.next_ticket += 1\n", "        tables.next_ticket += 2\n"
    )
    row = run_on_device(skips, known, JUDGE, lambda _: False)

    assert {} == row.cells
    assert row.difference is not None and "ticket=2" in row.difference.got
    assert {"lockstep"} == noticed_by(skips, row)
    assert "by lockstep" == status_of(skips, row)
    row.ran, row.crash = True, ""
    assert "unseen" == status_of(from_texts("pool.planted", "", {"reference.pool": ""}), row)


@pytest.mark.parametrize(
    ("new", "status"),
    [
        ("        self.holds[page] += 1 / 0\n", "crashed"),
        ("        while True:\n            self.holds[page] = 2\n", "timed out"),
        ("        self.holds[page] += 1 + 0\n", "never differed"),
        ("        self.holds[page] += 2\n", "killed"),
    ],
)
def test_each_end_has_its_column(new: str, status: Status, known: tuple[Known, ...]) -> None:
    """A crash and a loop are no kills here either, and a loop is not run again."""
    mutant = planted("device.pool", "        self.holds[page] += 1\n", new)
    row = run_on_device(mutant, known, JUDGE, lambda row: bool(row.cells or row.crash), EVERY)

    assert status == status_of(mutant, row)


def test_function_that_no_run_runs_costs_nothing(known: tuple[Known, ...]) -> None:
    """Batch forms have unit tests; no run calls them, so none is made."""
    mutant = from_texts("device.planted", "", {"device.tier": "nothing that compiles ("})
    place = (("device.tier", "Tier.release_all", 1),)
    mutant = Candidate(
        **{**{f: getattr(mutant, f) for f in mutant.__struct_fields__}, "places": place}
    )
    row = run_on_device(mutant, known, JUDGE, lambda _: False, EVERY)

    assert not any(shows(mutant, one) for one in known)
    assert (0, "", "never ran") == (row.rungs[DEVICE], row.crash, status_of(mutant, row))


def test_same_mutant_gives_the_same_row_twice(known: tuple[Known, ...]) -> None:
    """A run is its seed: the picks come from it and the calls alone."""
    (named,) = [one for one in NAMED if one.id == f"device.{ASKED['wait on one of two streams']}"]
    rows = [judge_all(from_named(named), known) for _ in range(2)]

    assert rows[0] == rows[1]


def test_recorded_runs_are_the_same_twice() -> None:
    """Else a mutant would be noticed in one run and not in the next."""
    assert worlds.record_runs() == worlds.record_runs()


def test_walks_that_show_what_is_rare_are_kept() -> None:
    """A refusal that no run meets is a line whose mutants nobody sees."""
    often, rare = ("Fill",), ("Finish", "DirtyFrame")
    walks = [
        worlds.Walk(DeviceRun(f"walk {n}", "device-wide", n, ()), frozenset({often, shows}))
        for n, shows in enumerate((often, often, rare, ("Alloc",)))
    ]

    assert ["walk 2", "walk 3"] == [run.source for run in worlds.choose(walks, 2)]
    assert 4 == len(worlds.choose(walks, 9))


# --------------------------------------------------------------------- an unmutated device is right

RUN = DeviceRun("by hand", "device-tiny", None, ((Open(1), DEFAULT), (Alloc(0), DEFAULT)))


def test_rule_that_the_device_breaks_is_told() -> None:
    """Every mutant would break it."""

    def check(step: Step) -> str | None:
        return "it was made" if type(step.call) is Alloc else None

    rule = Rule("nobody-allocates", "step", "", "", check, lambda: (), (Alloc,), ("done",), "")
    _, parted = play_unmutated([RUN], Judge((rule,)))

    assert "the device, by hand, call 2, Alloc(lease=0): nobody-allocates: it was made" == str(
        parted
    )


def test_device_that_parts_from_the_reference_is_told() -> None:
    """Lockstep with what is wrong shows nothing."""
    wrong = planted(
        "device.pool", "        self.holds[pages] = 1\n", "        self.holds[pages] = 2\n"
    )
    world = get_world(RUN.scope)
    played = play(Variant(wrong.sources).device(world.shape, world.off, *get_picks(RUN.seed)), RUN)
    found = find_difference(played)

    assert found is not None
    assert (1, "Alloc(lease=0)") == (found[0], found[1].call)
    assert "hold-count" in judge_from(1, played, JUDGE)
    assert str(Parted(RUN, 0, "so")) == "the device, by hand, call 0, before any call: so"
