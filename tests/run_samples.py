"""Runs made by hand, for the tests of the gate and the report: two rules, a few mutants."""

from mutants.candidate import Candidate
from mutants.edit import Origin
from mutants.engine import Cell, Difference, Row
from mutants.matrix import Looked, Matrix
from mutants.report.model import NOT_RUN, DeviceEntry, ModuleEntry, WorldEntry
from properties.registry import Rule
from properties.survey import Searched, Survey
from reference.calls import DEFAULT, Open

OPENED = ((Open(1), DEFAULT),)
LOOKED = (
    Looked("tiny", states=69, whole=True, transitions=3_483, mutants=7),
    Looked("pins", states=2_500, whole=False, transitions=249_978, mutants=5),
    Looked("device", states=39, whole=False, transitions=2_560, mutants=2),
)


def make_rule(rule: str, kind: str = "step", derived: str = "") -> Rule:
    """Return a rule that only has a name."""
    sentence = f"What {rule} says holds."
    return Rule(
        rule,
        kind,
        sentence,
        "C1, <C2>",
        lambda *_: None,
        lambda: (),
        (),
        (),
        derived,  # type: ignore[arg-type]
    )


def make_candidate(
    name: str, origin: Origin = "catalogue", *expect: str, **more: object
) -> Candidate:
    """Return a mutant that changes one line of `reference.tier`."""
    fields = {
        "id": name,
        "origin": origin,
        "does": f"`x` becomes `{name}`, which is * wrong.",
        "sources": {},
        "places": (("reference.tier", "alloc", 40),),
        "diff": f"--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n-x\n+{name}\n",
        "expect": expect,
    }
    return Candidate(**{**fields, **more})  # type: ignore[arg-type]


def make_row(name: str, *red: str, **more: object) -> Row:
    """Return a row that was run, with these rules red."""
    cells = {rule: Cell(rule, f"{rule} | said so", "tiny", OPENED) for rule in red}
    fields = {"ran": True, "rungs": {"tiny": 12}}
    return Row(name, cells, **{**fields, **more})  # type: ignore[arg-type]


RULES = (
    make_rule("pages-add-up"),
    make_rule("pins-add-up"),
    make_rule("nobody-waits", "graph"),
    make_rule("never-asked", derived="it is here to be missed"),
)

_DIFFERS = Difference("pins", "Alloc(lease=0)", "counters: 1", "counters: 2")
_PARTS = Difference("device-wide", "Read(lease=0)", "the value 0", "the value -7")
_IN_FILL = (("device.fill", "undo", 50),)
_JUDGED = (
    (
        make_candidate("tier.named", "catalogue", "pages-add-up", number=3, seen_in=("review 1",)),
        make_row("tier.named", "pages-add-up", "pins-add-up", "nobody-waits"),
    ),
    (
        make_candidate("tier.missed", "catalogue", "pins-add-up", "nobody-waits"),
        make_row("tier.missed", "nobody-waits", difference=_DIFFERS),
    ),
    (
        make_candidate("tier.alloc.both", "mutmut", alias="x_alloc__mutmut_1"),
        make_row("tier.alloc.both", "pages-add-up", "pins-add-up", unconfirmed=("nobody-waits",)),
    ),
    (
        make_candidate("tier.alloc.unseen", "operator"),
        make_row("tier.alloc.unseen", difference=_DIFFERS, rungs={"tiny": 12, "pins": 400}),
    ),
    (
        make_candidate("tier.alloc.same", "operator", equivalent_because="`<=` is `<` here"),
        make_row("tier.alloc.same", rungs={"tiny": 12, "pins": 400}),
    ),
    (
        make_candidate("tier.alloc.dead", "operator"),
        make_row("tier.alloc.dead", ran=False),
    ),
    (
        make_candidate("tier.alloc.crash", "mutmut"),
        make_row("tier.alloc.crash", crash="TypeError: 'None' < 1"),
    ),
    (
        make_candidate("tier.alloc.loops", "mutmut"),
        make_row("tier.alloc.loops", timed_out="tiny", rungs={}),
    ),
    (
        make_candidate("device.fill.named", "catalogue", "pages-add-up", places=_IN_FILL),
        make_row(
            "device.fill.named",
            "pages-add-up",
            "pins-add-up",
            difference=_PARTS,
            rungs={"device": 61},
        ),
    ),
    (
        make_candidate("device.fill.undo.parts", "mutmut", places=_IN_FILL),
        make_row("device.fill.undo.parts", difference=_PARTS, rungs={"device": 2_560}),
    ),
)

MATRIX = Matrix(
    candidates=tuple(candidate for candidate, _ in _JUDGED),
    rows={row.id: row for _, row in _JUDGED},
    looked=LOOKED,
)

ON_DEVICE = DeviceEntry(
    ran_on="simulated",
    not_run=NOT_RUN,
    worlds=(
        WorldEntry(scope="device-wide", shape="3/2/2", purpose="evictions", runs=39, calls=2_560),
    ),
    modules=(ModuleEntry(module="device.fill", made=3, judged=1),),
)
"""On what the mutants of the device were run."""

SURVEY = Survey(
    searched=(
        Searched(
            scope="tiny",
            answer="holds",
            states=69,
            depth=19,
            calls=3_483,
            edges=197,
            counts={"Alloc": 40, "Alloc:PageMemory": 2, "Open": 1},
            goals=("page-lived-again",),
        ),
        Searched(
            scope="claims",
            answer="undetermined",
            states=381,
            depth=3,
            calls=11_565,
            edges=400,
            counts={"Alloc": 1},
            goals=(),
        ),
    ),
    broken=(),
    missing_events=(),
    missing_goals=(),
    twins=10,
    cpu_seconds={"tiny": 0.1, "claims": 0.2},
)
"""What a search of the unmutated code might have found."""
