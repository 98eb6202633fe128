"""Runs the house rules over the repository, and shows that each of them can fail.

The rules are in `house.py`; the settings of the tools are judged in `test_house_tools.py`.
"""

import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest
from house import EXCEPTIONS, HOUSE, MAY_IMPORT, HouseRule, files_are_short

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    """Path and text of every text file that git knows, or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    texts = {}
    for path in sorted(set(filter(None, listed.decode().split("\0")))):
        if (ROOT / path).is_file():
            content = (ROOT / path).read_bytes()
            if b"\0" not in content:
                texts[path] = content.decode("utf-8")
    return texts


each_rule = pytest.mark.parametrize("rule", HOUSE, ids=lambda rule: rule.name)


@each_rule
def test_repository_keeps_every_house_rule(rule: HouseRule, sources: dict[str, str]) -> None:
    """A rule that is only written down drifts."""
    findings = [f for path, text in sources.items() for f in rule.findings(path, text)]

    assert not findings, "\n".join([rule.check.__doc__ or rule.name, *findings])


@each_rule
def test_house_rule_finds_planted_breaks(rule: HouseRule) -> None:
    """A check that cannot fail says nothing when it passes."""
    blind_to = [(path, text) for path, text in rule.broken if not rule.findings(path, text)]

    assert rule.broken
    assert [] == blind_to


@each_rule
def test_house_rule_accepts_near_misses(rule: HouseRule) -> None:
    """A check that complains about good code gets switched off."""
    findings = [f for path, text in rule.fine for f in rule.findings(path, text)]

    assert rule.fine
    assert [] == findings


@each_rule
def test_house_rule_reaches_its_files(rule: HouseRule, sources: dict[str, str]) -> None:
    """A pattern that matches no file passes for ever."""
    folder = ROOT / rule.where.rpartition("/")[0]
    reached = [path for path in sources if fnmatch(path, rule.where)]

    assert reached or not any(folder.glob("*.py"))


def test_listing_shows_every_module(sources: dict[str, str]) -> None:
    """A package that git ignores by mistake would escape every rule, and never be committed."""
    folders = [ROOT / "tests", *(ROOT / package for package in MAY_IMPORT)]
    on_disk = {f.relative_to(ROOT).as_posix() for top in folders for f in top.rglob("*.py")}

    assert Path(__file__).relative_to(ROOT).as_posix() in on_disk
    assert set() == on_disk - sources.keys()


def test_exceptions_are_reasoned_and_needed(sources: dict[str, str]) -> None:
    """An exception that outlives its cause hides the next break."""
    checks = {rule.name: rule.check for rule in HOUSE}
    for (name, at), reason in EXCEPTIONS.items():
        path = at.partition("::")[0]

        assert reason.strip(), (name, at)
        assert at in {where for where, _ in checks[name](path, sources[path])}, (name, at)


def test_exception_spares_only_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wide exception would switch the whole rule off."""
    rule = next(rule for rule in HOUSE if rule.check is files_are_short)
    monkeypatch.setitem(EXCEPTIONS, (rule.name, "tests/a.py"), "planted")

    assert [] == rule.findings("tests/a.py", "x = 1\n" * 401)
    assert rule.findings("tests/b.py", "x = 1\n" * 401)
