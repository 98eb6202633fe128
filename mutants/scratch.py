"""The scratch copy in which stock mutmut runs, and what it recorded there.

mutmut writes to `mutants/`, the name of our own package, so it never runs in the project: the
packages it needs are copied under `build/`, fresh each time, since its verdicts outlive edits of
tests and rules. Owned here: the copy, its settings, running mutmut and pytest in it, and reading
the recorder's lines. Not here: which mutants are run (`confirm`).
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

PACKAGES = ("reference", "properties")
RECORD = "spoke.jsonl"

SETTINGS = """\
[tool.mutmut]
source_paths = ["reference"]
also_copy = ["properties"]
# The whole row, not the first failure; xdist, where it is installed, would hide the tests.
pytest_add_cli_args = ["--maxfail=0", "-n0"]
timeout_multiplier = 5.0
timeout_constant = 2.0

[tool.pytest.ini_options]
addopts = ["--import-mode=importlib", "-p", "no:cacheprovider"]
pythonpath = [".", "tests"]
testpaths = ["tests"]
"""


class Spoke(msgspec.Struct, frozen=True):
    """One failure that the recorder saw."""

    mutant: str
    """mutmut's name of it, or the label of an edited source."""
    test: str
    """The test that failed."""
    rules: tuple[str, ...]
    """The rules it named; none for a crash or a unit test."""
    said: str
    """The beginning of its message."""


class Scratch:
    """A fresh copy of the packages with some tests."""

    def __init__(self, root: Path, folder: Path) -> None:
        """Copy the packages of the project at `root`."""
        shutil.rmtree(folder, ignore_errors=True)
        self.root = root
        self.folder = folder
        for package in PACKAGES:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(root / package, folder / package, ignore=ignored)
        (folder / "tests").mkdir()
        (folder / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")

    def add_tests(self, *paths: str) -> None:
        """Copy files and folders of `tests/` of the project into the copy's."""
        for path in paths:
            source, target = self.root / "tests" / path, self.folder / "tests" / Path(path).name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)

    def run_mutmut(self, names: Sequence[str], children: int) -> subprocess.CompletedProcess[str]:
        """Run stock mutmut on these mutants, all of them if none is named."""
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(children), *names]
        return self._run(command, self.folder, {})

    def run_edited(self, label: str, sources: Mapping[str, str]) -> None:
        """Run the tests with some modules' texts replaced, recorded under this label."""
        folder = self.folder.with_name(f"{self.folder.name}-edited")
        shutil.rmtree(folder, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__", "mutants", RECORD)
        shutil.copytree(self.folder, folder, ignore=ignored)
        for module, text in sources.items():
            path = folder / f"{module.replace('.', '/')}.py"
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "--maxfail=0", "-n0"]
        self._run(command, folder, {"MUTANT_UNDER_TEST": label})
        shutil.rmtree(folder)

    def _run(
        self, command: list[str], folder: Path, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        # What would make mutmut or Hypothesis behave otherwise here than on another machine.
        outside = {"CI", "MUTANT_UNDER_TEST", "PYTHONPATH", "COVERAGE_PROCESS_START"}
        kept = {name: value for name, value in os.environ.items() if name not in outside}
        record = str((self.folder / RECORD).absolute())
        return subprocess.run(
            command,
            cwd=folder,
            env={**kept, "TIERPROOF_RECORD": record, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def read_record(self) -> list[Spoke]:
        """Return what the recorder saw so far."""
        path = self.folder / RECORD
        if not path.exists():
            return []
        lines = path.read_text(encoding="utf-8").splitlines()
        return [msgspec.json.decode(line, type=Spoke) for line in lines]

    def read_exit_codes(self) -> dict[str, int | None]:
        """Return pytest's exit code of each of mutmut's mutants; none if it was not run."""
        found: dict[str, int | None] = {}
        for path in sorted((self.folder / "mutants" / "reference").glob("*.py.meta")):
            found |= msgspec.json.decode(path.read_bytes())["exit_code_by_key"]
        return found
