"""The public faults: their table, what stands for them, and the page that is made from both."""

import re
from pathlib import Path

import msgspec
import pytest
import regen

from mutants.catalogue import all_mutants
from mutants.entry import Named
from mutants.faults import links
from mutants.faults.changes import CHANGES, LACKED, Change
from mutants.faults.classes import CLASSES, FaultClass
from mutants.faults.links import get_linked, get_mirrored, get_mutants
from mutants.faults.page import make_blocks
from mutants.faults.reports import (
    COLUMNS,
    UNSETTLED,
    all_reports,
    get_report,
    read_reports,
)
from mutants.faults.shown import Shown, gather_shown, get_shortest
from mutants.report.model import MutantEntry, Noticed, Report, decode
from properties.registry import all_rules

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
HEAD = "\t".join(COLUMNS)
LINE = "V01\tvllm-project/vllm\thttps://a.b/c\tC04\tIt was read too early."
SHARED = {"https://github.com/NVIDIA/TensorRT-LLM/pull/12306": ("T09", "T10")}

each_change = pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.number}")
each_class = pytest.mark.parametrize("one", CLASSES, ids=lambda one: one.id)


def show_all(status: str = "killed") -> dict[str, Shown]:
    """Return a run in which every linked mutant ended like that, shown by one call."""
    return {
        named.id: Shown(
            mutant=named.id,
            status=status,  # type: ignore[arg-type]
            named=named.expect,
            rule=named.expect[0],
            scope="tiny",
            calls=("open(promise=1)",),
        )
        for named in get_linked()
    }


# ------------------------------------------------------------------------------------- the table


def test_table_has_every_report_once() -> None:
    """A report that is lost is a fault nobody looks for."""
    ids = [report.id for report in all_reports()]

    assert 130 == len(ids) == len(set(ids))
    assert sorted(all_reports(), key=lambda one: (one.fault, one.id)) == list(all_reports())


def test_addresses_are_told_apart() -> None:
    """Mutants are linked by address: one that two reports share links to neither."""
    found: dict[str, tuple[str, ...]] = {}
    for report in all_reports():
        found[report.address] = (*found.get(report.address, ()), report.id)

    assert {address: ids for address, ids in found.items() if len(ids) > 1} == SHARED


def test_reports_add_up_over_the_classes() -> None:
    """A class of no report is made up, and a report of no class is on no list."""
    counts = {one.id: sum(report.fault == one.id for report in all_reports()) for one in CLASSES}
    unsettled = sum(report.fault == UNSETTLED for report in all_reports())

    assert all(counts.values())
    assert 130 == sum(counts.values()) + unsettled


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LINE, r"line 1: the columns are"),
        (f"{HEAD}\n{LINE}\tmore", r"line 2: 6 columns, not 5"),
        (f"{HEAD}\n{LINE}\n{LINE}", r"line 3: V01 came before"),
        (f"{HEAD}\n{LINE.replace('C04', 'C4')}", r"line 2: .*\$\.class"),
        (f"{HEAD}\n{LINE.replace('https', 'http')}", r"line 2: .*\$\.address"),
        (f"{HEAD}\n{LINE.replace('V01', 'V1')}", r"line 2: .*\$\.id"),
        (f"{HEAD}\n{LINE.rstrip('.')}", r"line 2: .*\$\.symptom"),
    ],
)
def test_wrong_table_says_which_line(text: str, why: str) -> None:
    """Whoever adds a report by hand is told what is wrong with it."""
    with pytest.raises(ValueError, match=why):
        read_reports(text)


def test_right_line_is_read_as_it_is() -> None:
    """A table that refuses everything would pass the test above."""
    (report,) = read_reports(f"{HEAD}\n{LINE}\n")

    assert ("V01", "C04", "https://a.b/c") == (report.id, report.fault, report.address)


# ----------------------------------------------------------------------------- what stands for it


def test_changes_and_classes_are_all_there() -> None:
    """The survey has so many of each; a missing one would be missed by nobody."""
    numbers = [change.number for change in CHANGES]

    assert 33 == len(numbers) == len(set(numbers))
    assert sorted(numbers) == numbers
    assert [f"C{number:02}" for number in range(1, 26)] == [one.id for one in CLASSES]


@each_change
def test_change_has_mutants_or_a_reason(change: Change) -> None:
    """What nothing stands for must say why."""
    catalogue = {named.id: named for named in all_mutants()}

    assert change.mutants or change.lacks
    assert set(change.mutants) <= catalogue.keys()
    assert check_lacks(change.lacks)
    for mutant in change.mutants:
        mirrored = {report.id for report in get_mirrored(catalogue[mutant])}
        assert mirrored & set(change.reports), f"{mutant} mirrors no report of the change"


@each_change
def test_change_reproduces_known_reports(change: Change) -> None:
    """A report that is not in the table cannot be read up."""
    assert change.reports
    assert all(get_report(report).fault != UNSETTLED for report in change.reports)
    assert change.says[0].isupper() and change.says.endswith(".")


@each_class
def test_class_has_mutants_or_a_reason(one: FaultClass) -> None:
    """A class without either would look as if it were covered."""
    assert get_mutants(one.id) or one.lacks
    assert check_lacks(one.lacks)


@each_class
def test_class_asks_and_names_known_rules(one: FaultClass) -> None:
    """A reader takes the rules from here to a tier of their own."""
    assert set(one.have) <= {rule.id for rule in all_rules()}
    assert one.have or not get_mutants(one.id)
    assert one.ask.endswith("?") and one.name[0].islower()


@each_class
def test_class_names_rules_that_its_mutants_must_meet(one: FaultClass) -> None:
    """A rule is worth having for a class if a mutant of the class has to turn it red."""
    mutants = get_mutants(one.id)
    expected = {rule for named in all_mutants() if named.id in mutants for rule in named.expect}

    assert not mutants or set(one.have) & expected


def check_lacks(lacks: str) -> bool:
    """Whether it is nothing, or one plain sentence that begins with what is lacking."""
    word, _, says = lacks.partition(": ")
    return not lacks or (word in LACKED and says.endswith(".") and says.count(".") == 1)


def test_words_for_what_is_lacking_are_all_used() -> None:
    """A word on the page that stands nowhere on it puzzles its reader."""
    used = {entry.lacks.partition(":")[0] for entry in (*CHANGES, *CLASSES) if entry.lacks}
    text = (ROOT / "properties" / "FAULTS.md").read_text(encoding="utf-8")

    assert used == LACKED.keys()
    assert all(f"*{word}*" in text for word in LACKED)


def test_address_in_the_catalogue_links_to_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that mirrors a report needs no entry here, and one with a shared address none."""
    own, shared = get_report("A04").address, next(iter(SHARED))
    made = [
        Named(id=f"fill.made-{name}", does="Nothing.", edits=(), expect=(), seen_in=(address,))
        for name, address in (("own", own), ("shared", shared))
    ]
    monkeypatch.setattr(links, "all_mutants", lambda: tuple(made))

    assert ("fill.made-own",) == get_mutants("C04")
    assert (made[0],) == get_linked()
    assert () == get_mirrored(made[1])


# ------------------------------------------------------------------------------- what a run showed


@pytest.fixture
def report() -> Report:
    """The small report made by hand."""
    return decode((GOLDEN / "report.json").read_bytes())


def make_noticed(rule: str, calls: int | None) -> Noticed:
    """Return a rule that spoke after so many calls, or over a whole space."""
    trace = None if calls is None else f"traces/{rule}/x.jsonl"
    return Noticed(rule=rule, because="so", scope="tiny", calls=calls, trace=trace)


def test_shortest_trace_of_a_named_rule_shows_it(report: Report) -> None:
    """What must notice explains a mutant best; among those the shortest, and traces first."""
    entry = next(entry for entry in report.mutants if entry.id == "tier.named")
    said = [("a", 1), ("b", 4), ("c", 3), ("d", None)]
    noticed = tuple(make_noticed(rule, calls) for rule, calls in said)
    entry = msgspec.structs.replace(entry, noticed=noticed, expect=("b", "c", "d"))

    assert "c" == show_rule(entry)
    assert "a" == show_rule(msgspec.structs.replace(entry, expect=("d",)))
    assert "d" == show_rule(msgspec.structs.replace(entry, noticed=noticed[3:]))
    assert get_shortest(msgspec.structs.replace(entry, noticed=())) is None


def show_rule(entry: MutantEntry) -> str | None:
    """Return the rule of its shortest trace."""
    found = get_shortest(entry)
    return None if found is None else found.rule


def test_calls_come_from_the_trace_of_the_report(report: Report, tmp_path: Path) -> None:
    """The page quotes the very calls that `show` and `replay` give."""
    entry = next(entry for entry in report.mutants if entry.id == "tier.named")
    first = get_shortest(entry)
    assert first is not None and first.trace is not None
    path = tmp_path / first.trace
    path.parent.mkdir(parents=True)
    path.write_bytes((GOLDEN / "dirt-dropped.jsonl").read_bytes())

    (shown,) = gather_shown(report, tmp_path, ["tier.named", "tier.named"])

    assert ("killed", first.rule) == (shown.status, shown.rule)
    assert ("open(promise=1)", "alloc(L1) with page 0") == shown.calls[:2]
    assert len(entry.noticed) == len(shown.named) + shown.others


def test_mutant_without_a_row_is_no_red_cell(report: Report, tmp_path: Path) -> None:
    """A report of before the mutant was written says nothing of it."""
    with pytest.raises(KeyError, match=r"fill\.unheard-of"):
        gather_shown(report, tmp_path, ["fill.unheard-of"])


# --------------------------------------------------------------------------------------- the page


def test_page_shows_each_class_and_change() -> None:
    """A fault that is not on the page is on nobody's list."""
    blocks = make_blocks(show_all())

    assert "| classes | 25 |" in blocks["faults"]
    for one in CLASSES:
        (_, _, rest) = blocks["fault-classes"].partition(f"### {one.id}: {one.name}\n")
        section = rest.partition("\n### ")[0]
        assert "python -m mutants show" in section or "What the model lacks" in section
        assert f"- [ ] **{one.id}** {one.ask}" in blocks["fault-questions"]
    for change in CHANGES:
        assert f"| {change.number} | {change.says} |" in blocks["fault-changes"]
    everything = "".join(blocks.values())
    assert all(f"[{report.id}]({report.address})" in everything for report in all_reports())


def test_counts_on_the_page_add_up() -> None:
    """A report counted twice or not at all makes every other figure doubtful."""
    blocks = make_blocks(show_all())
    counts = re.findall(r"^(\d+) reports?:$", blocks["fault-classes"], re.MULTILINE)
    unsettled = blocks["fault-unsettled"].splitlines()

    assert (25, 130) == (len(counts), sum(map(int, counts)) + len(unsettled))
    assert "| reports | 130 |" in blocks["faults"]


def test_page_says_what_was_not_killed() -> None:
    """A mutant that nobody noticed must not look like a red cell."""
    red, missed, unknown = (make_blocks(shown) for shown in (show_all(), show_all("missed"), {}))

    assert "| classes | 25 | 0 |" in missed["faults"] and "0 |" in unknown["faults"]
    assert "**missed**" in missed["fault-classes"] and "**missed**" not in red["fault-classes"]
    assert "not in the last run" in unknown["fault-changes"]
    assert "python -m mutants show" not in missed["fault-classes"]


def test_page_takes_the_fewest_calls() -> None:
    """The shortest trace is the one that is read; a whole space is named where none is."""
    shown = show_all()
    first = get_mutants("C14")[0]
    longer = {
        name: msgspec.structs.replace(one, calls=("open(promise=1)", "alloc(L1)"))
        for name, one in shown.items()
    }
    longer[first] = shown[first]
    whole = {name: msgspec.structs.replace(one, calls=()) for name, one in shown.items()}

    assert f"show {first}`: `counters-add-up` after 1 call in" in section_of(longer, "C14")
    assert f"show {first}`: `counters-add-up` over the whole of" in section_of(whole, "C14")


def section_of(shown: dict[str, Shown], fault: str) -> str:
    """Return the part of the page about one class."""
    return make_blocks(shown)["fault-classes"].partition(f"### {fault}:")[2].partition("### ")[0]


def test_every_cell_of_the_committed_page_is_red() -> None:
    """A class or change whose mutants all went unnoticed has lost its rule."""
    shown = {one.mutant: one for one in read_committed()}

    assert {named.id for named in get_linked()} == shown.keys()
    assert [] == [name for name, one in shown.items() if one.status != "killed"]
    assert all(one.rule and one.named for one in shown.values())
    for change in CHANGES:
        assert any(shown[mutant].calls for mutant in change.mutants) or change.lacks
    for one in CLASSES:
        assert any(shown[mutant].calls for mutant in get_mutants(one.id)) or one.lacks


def read_committed() -> tuple[Shown, ...]:
    """Return what the last regenerated facts say of the linked mutants."""
    return msgspec.convert(regen.read_facts()["faults"], tuple[Shown, ...])
