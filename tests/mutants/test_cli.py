"""The command line of the mutants: what each command prints, and each misuse in one line."""

import json
from pathlib import Path

import pytest
from run_samples import MATRIX, RULES, SURVEY

from mutants import roster
from mutants.__main__ import MUTANTS
from mutants.catalogue import all_mutants
from mutants.entry import Edit, Named
from mutants.report import folder
from mutants.report.make import make
from properties.cli import PROPERTIES, run
from properties.exits import Exit

NAMED = "pool.freed-page-is-lost"
PLANTED = Named(
    id="tier.planted",
    does="Nothing.",
    edits=(Edit("reference.tier", "    no such line\n", ""),),
    expect=(),
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No command of these tests touches the real report."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def reported() -> None:
    """There is a report, of a run made by hand."""
    report = make(RULES, MATRIX, [SURVEY], [])
    folder.publish(folder.REPORT, report, lambda _: None, dict)


# ------------------------------------------------------------------------------------------ list


def test_list_names_every_mutant(capsys: pytest.CaptureFixture[str]) -> None:
    """The ids are what the other commands take."""
    assert Exit.FINE == run(MUTANTS, ["list", "--json"])
    found = json.loads(capsys.readouterr().out)["mutants"]

    assert [one.id for one in all_mutants()] == [entry["id"] for entry in found]
    assert {"id", "does", "expect", "number", "seen_in"} <= found[0].keys()


def test_list_reads_as_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    """What a user would see, and who must notice, is what one looks for."""
    assert Exit.FINE == run(MUTANTS, ["list"])
    lines = capsys.readouterr().out.splitlines()

    assert NAMED in lines
    assert "  must notice: pages-are-partitioned" in lines


# ------------------------------------------------------------------------------------- run, show


def test_run_of_one_prints_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    """This is how a new mutant is tried: in a second, with no report touched."""
    code = run(MUTANTS, ["run", NAMED, "--workers", "1"])
    lines = capsys.readouterr().out.splitlines()

    assert Exit.FINE == code
    assert f"{NAMED}: killed" == lines[0]
    assert any(line.startswith("  pages-are-partitioned (") for line in lines)
    assert "1 mutant: 1 killed" == lines[-1]
    assert not folder.REPORT.exists()


def test_run_of_one_speaks_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Other programs want the row too."""
    code = run(MUTANTS, ["run", NAMED, "--json"])
    found = json.loads(capsys.readouterr().out)

    assert (Exit.FINE, 0, []) == (code, found["exit"], found["shortfalls"])
    assert (NAMED, "killed") == (found["mutants"][0]["id"], found["mutants"][0]["status"])


def test_show_without_report_shows_diff(capsys: pytest.CaptureFixture[str]) -> None:
    """The diff is there before any run."""
    assert Exit.FINE == run(MUTANTS, ["show", NAMED])
    shown = capsys.readouterr().out

    assert f"{NAMED} (catalogue)\n" in shown
    assert "\n--- a/reference/pool.py\n" in shown
    assert shown.endswith("not in the last report; `python -m mutants run ID` judges it\n")


def test_generated_mutant_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The survivors that a reviewer looks up are generated ones."""
    mutant = roster.generate()[0]
    assert Exit.FINE == run(MUTANTS, ["show", mutant.id, "--json"])
    found = json.loads(capsys.readouterr().out)

    assert (mutant.id, mutant.diff, False) == (found["id"], found["diff"], found["last_report"])


# ---------------------------------------------------------------------------------------- report


@pytest.mark.parametrize(
    ("form", "first"),
    [("text", "rules"), ("markdown", "# Who notices what"), ("json", "{")],
)
def test_report_prints_last_good_one(
    form: str, first: str, reported: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """No run is needed to read what the last one found."""
    assert Exit.FINE == run(MUTANTS, ["report", "--format", form])

    assert first == capsys.readouterr().out.splitlines()[0]


# ---------------------------------------------------------------------------------------- misuse


def test_each_misuse_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A user who mistyped reads one line, not a page."""
    cases = {
        ("run", "pool.freed-page-is-lots"): "'pool.freed-page-is-lots'; close are pool.freed-page",
        ("show", "qqqqqq"): "no mutant is called 'qqqqqq'; `python -m mutants list` shows them",
        ("show",): "Missing argument 'ID'",
        ("run", NAMED, "--only", "mutmut"): "give either ids or --only, not both",
        ("run", "--only", "nobody"): "'nobody' is not one of 'catalogue', 'mutmut', 'operators'",
        ("run", "--workers", "0"): "'--workers': 0 is not in the range x>=1",
        ("report",): "there is no build/report/report.txt yet: `python -m mutants run` writes it",
        ("report", "--format", "html"): "'html' is not one of",
        ("jump",): "no command 'jump': there are ",
        (): "which command? There are ",
    }
    for arguments, line in cases.items():
        code = run(MUTANTS, arguments)
        said = capsys.readouterr()

        assert (Exit.MISUSE, "") == (code, said.out), arguments
        assert 1 == said.err.count("\n"), arguments
        assert line in said.err


@pytest.mark.parametrize("command", [["run"], ["run", "tier.planted"], ["show", "tier.planted"]])
def test_stale_anchor_has_its_code(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told at once, and by its first line."""
    monkeypatch.setattr(roster, "all_mutants", lambda: (PLANTED,))
    code = run(MUTANTS, command)

    assert Exit.STALE == code
    assert (
        "stale anchor: tier.planted: 'no such line' is 0 times in reference.tier, not once\n"
        == capsys.readouterr().err
    )


def test_unwritable_folder_is_told_first(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before ten minutes are spent on what cannot be kept."""
    (elsewhere / "build").write_text("in the way", encoding="utf-8")
    code = run(MUTANTS, ["run"])
    said = capsys.readouterr().err

    assert Exit.MISUSE == code
    assert said.startswith("build") and "cannot hold the report" in said
    assert 1 == said.count("\n")


def test_stale_mutant_is_no_subject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trace outlives the code it was recorded on."""
    header = (
        '{"format":"tierproof-trace","version":1,"shape":{"pages":2,"frames":1,"rows":1},'
        '"off":false,"subject":"%s","rule":null,"because":null,"scope":"tiny"}\n'
    )
    monkeypatch.setattr(roster, "all_mutants", lambda: (PLANTED,))
    for subject, why in (("tier.planted", "it cannot be made: "), ("tier.plant", "close are ")):
        path = tmp_path / "trace.jsonl"
        path.write_text(header % subject, encoding="utf-8")

        assert Exit.MISUSE == run(PROPERTIES, ["replay", str(path)])
        assert f"no subject '{subject}': " in (said := capsys.readouterr().err)
        assert why in said
