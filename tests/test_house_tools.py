"""The settings of the tools: what tox, ruff, pip, pre-commit and CI are told to do.

Each check is a function over the text of one file, and is shown a text that it must refuse.
"""

import re
import subprocess
import tomllib
from configparser import RawConfigParser
from pathlib import Path

ROOT = Path(__file__).parent.parent

ENVIRONMENTS = {"lint", "types", "tests", "check", "deep", "regen", "bench"}
CI_ORDER = ["lint", "types", "check", "tests"]


def read(path: str) -> str:
    """The text of a file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def get_environments(text: str) -> dict[str, str]:
    """Name and description of each environment of a tox.ini, none for one without."""
    tox = RawConfigParser()
    tox.read_string(text)
    sections = {s.partition(":")[2]: tox[s] for s in tox.sections() if s.startswith("testenv:")}
    return {name: section.get("description", "") for name, section in sections.items()}


def get_undescribed(text: str) -> list[str]:
    """Environments without a description, or with one that tox takes for a condition."""
    described = get_environments(text).items()
    return [name for name, said in described if not said or re.match(r"[\w{},.!-]+: ", said)]


def get_unexplained(text: str) -> list[str]:
    """Lines of a pyproject.toml that switch something off and do not say why."""
    unexplained, inside = [], False
    for line in map(str.strip, text.splitlines()):
        inside = inside or bool(re.match(r'(ignore|exclude\w*|disable\w*|omit|"[^"]+") = \[', line))
        names_something = re.search(r"[\"']", line) and not line.endswith("[")
        if (inside or "ignore::" in line) and names_something and not re.search(r"[\],] +# ", line):
            unexplained.append(line)
        inside = inside and "]" not in line.partition(" #")[0]
    return unexplained


def get_unbounded(groups: dict[str, list[object]]) -> list[str]:
    """Requirements that take any version."""
    flat = [r for group in groups.values() for r in group if isinstance(r, str)]
    return [requirement for requirement in flat if not re.search(r">=|==", requirement)]


def get_ci_order(text: str) -> list[str]:
    """The tox environments that a CI script runs, in order, without those it only installs."""
    lines = [line for line in text.splitlines() if "--notest" not in line]
    return re.findall(r"tox\S* run .*?-e (\w+)", "\n".join(lines))


def get_foreign_hooks(text: str) -> list[str]:
    """Hooks of a pre-commit file that some host would have to serve."""
    stated = re.findall(r"^[ -]*((?:repo|language): *.*)$", text, re.MULTILINE)
    return [line for line in stated if line not in {"repo: local", "language: system"}]


def test_every_tox_environment_is_described() -> None:
    """`tox list` is where a newcomer looks for the command."""
    planted = "[testenv:a]\ncommands = b\n[testenv:c]\ndescription = d: e"

    assert [] == get_undescribed(read("tox.ini"))
    assert ["a", "c"] == get_undescribed(planted)


def test_tox_has_every_promised_job() -> None:
    """README, CI and the issues name these."""
    assert set() == ENVIRONMENTS - get_environments(read("tox.ini")).keys()


def test_disabled_rules_have_their_reason() -> None:
    """A rule switched off without a reason is never switched on again."""
    silent = '[tool.ruff.lint]\nignore = [\n    "D105",\n    "D107",  # why\n]\nselect = ["E"]\n'

    assert [] == get_unexplained(read("pyproject.toml"))
    assert ['"D105",'] == get_unexplained(silent)
    assert ['"tests/**" = ["D101"]'] == get_unexplained('"tests/**" = ["D101"]')
    assert ['"D101",'] == get_unexplained('"tests/**" = [\n    "D101",\n    "D102",  # why\n]')
    assert ['"ignore::A",'] == get_unexplained('filterwarnings = [\n    "ignore::A",\n]')


def test_every_requirement_has_its_bound() -> None:
    """An old version fails in ways that look like our own faults."""
    project = tomllib.loads(read("pyproject.toml"))
    groups = {"": project["project"]["dependencies"], **project["dependency-groups"]}

    assert [] == get_unbounded(groups)
    assert ["c"] == get_unbounded({"a": ["b>=1", "c"]})


def test_mutmut_is_pinned_exactly() -> None:
    """Its Python API is not documented; a contract test holds this one version."""
    groups = tomllib.loads(read("pyproject.toml"))["dependency-groups"]

    assert ["mutmut==3.8.1"] == groups["mutation"]


def test_dev_includes_every_other_group() -> None:
    """One command installs all that a contributor needs."""
    groups = tomllib.loads(read("pyproject.toml"))["dependency-groups"]
    included = {g["include-group"] for g in groups["dev"] if isinstance(g, dict)}

    assert included == groups.keys() - {"dev"}


def test_ci_ends_with_the_tests() -> None:
    """The last line of CI is pytest's own, which says how many tests ran."""
    planted = "tox run -e a --notest\ntox run -e tests\ntox run -q -e lint"

    assert CI_ORDER == get_ci_order(read(".ci/run"))
    assert ["tests", "lint"] == get_ci_order(planted)


def test_ci_script_can_be_run() -> None:
    """A script that bash cannot read, or may not run, fails before it says why."""
    script = ROOT / ".ci" / "run"

    assert script.stat().st_mode & 0o100
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0


def test_hooks_need_no_other_host() -> None:
    """A commit is checked by the tools of the dependency groups, also offline."""
    planted = "  - repo: elsewhere\n    hooks:\n      - id: a\n        language: python\n"

    assert [] == get_foreign_hooks(read(".pre-commit-config.yaml"))
    assert ["repo: elsewhere", "language: python"] == get_foreign_hooks(planted)
