"""The docs say what a run counted, and the steps they give work."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import regen

ROOT = Path(__file__).parent.parent
STEP = re.compile(r"<!-- step: (?P<path>\S+) -->\n```python\n(?P<code>.*?)```", re.DOTALL)


@pytest.mark.parametrize("name", regen.DOCS)
def test_docs_are_as_regenerated(name: str) -> None:
    """A table that nobody makes again has drifted."""
    text = (ROOT / name).read_text(encoding="utf-8")

    assert regen.fill_in(text, regen.make_blocks(regen.read_facts())) == text


def test_block_changes_when_facts_do() -> None:
    """A comparison that cannot fail compares nothing."""
    facts = regen.read_facts()
    blocks = regen.make_blocks({**facts, "line": "0 invariants"})
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert "0 invariants" in regen.fill_in(text, blocks) != text


def test_facts_are_of_last_report() -> None:
    """The figures in the docs come from a run of this tree."""
    if not regen.REPORT.exists():
        pytest.skip("no report here: tox run -e check writes it, and CI runs that first")

    assert regen.facts_of(regen.REPORT) == regen.read_facts()


def test_commands_of_readme_exist() -> None:
    """A command in the README that is not there is the first thing a user meets."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`tox run -e (\w+)`", text)) | set(
        re.findall(r"tox run -e (\w+)", text)
    )
    ini = (ROOT / "tox.ini").read_text(encoding="utf-8")

    assert {"check", "tests", "regen"} <= named
    assert all(f"[testenv:{name}]" in ini for name in named)


@pytest.mark.slow
def test_contributing_steps_reach_the_matrix(tmp_path: Path) -> None:
    """Whoever follows the steps must find the rule and the mutant in the matrix."""
    for package in ("reference", "device", "properties", "mutants"):
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    steps = STEP.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    for path, code in steps:
        assert not (tmp_path / path).exists()
        (tmp_path / path).write_text(code, encoding="utf-8")
    assert ["properties", "mutants"] == [path.partition("/")[0] for path, _ in steps]

    explored = _run(tmp_path, "properties", "explore", "tiny")
    judged = _run(tmp_path, "mutants", "run", "tier.write-back-ticket-is-used-again", "--json")

    assert 0 == explored.returncode, explored.stderr
    assert 0 == judged.returncode, judged.stdout + judged.stderr
    (entry,) = json.loads(judged.stdout)["mutants"]
    noticed = {one["rule"] for one in entry["noticed"]}
    assert ("killed", True) == (entry["status"], "tickets-are-distinct" in noticed)


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
