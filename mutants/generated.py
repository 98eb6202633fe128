"""mutmut's mutants of a package, through one adapter.

Owned here: everything known about how mutmut 3.8.1 is called and what it answers. It has no
documented Python API, so the version is exact and every expectation is checked. Not here: running
tests with mutmut (`confirm`), and operators it lacks (`operators`).

mutmut writes into a folder named like our own package, and its runner does much besides: so only
its source-to-source function is called, in a process of its own, in a fresh folder, and that
function writes nothing.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from mutants.edit import Generated, Original, Proposal, collect, joined, read_package

WANTED_VERSION = "3.8.1"
WANTED_SHAPE = (
    "mutate_file_contents(path, text) with code, mutant_names, line_span_by_function_name"
)
SECONDS_MAX = 300.0

# It is run in the fresh folder, with the wanted version, the answer's file and the modules' files.
_DRIVER = """
import importlib.metadata, json, sys
from pathlib import Path

wanted, answer, *paths = sys.argv[1:]
try:
    version = importlib.metadata.version("mutmut")
except importlib.metadata.PackageNotFoundError:
    version = "none"
files = {}
if version == wanted:
    from mutmut.mutation.file_mutation import mutate_file_contents

    for path in paths:
        made = mutate_file_contents(path, Path(path).read_text(encoding="utf-8"))
        spans = made.line_span_by_function_name.items()
        files[path] = {
            "code": made.code,
            "names": list(made.mutant_names),
            "spans": {name: (span.start, span.end) for name, span in spans},
        }
Path(answer).write_text(json.dumps({"version": version, "files": files}), encoding="utf-8")
"""

_NAME = re.compile(r"x(?:_|ǁ(?P<class>\w+)ǁ)(?P<name>\w+)__mutmut_[1-9][0-9]*")
_BEGINS = ("@", "def ", "async def ")  # of the first line that Python counts as the function's


class MutmutChanged(Exception):
    """mutmut is not the version, or does not answer in the form, that the adapter knows."""

    def __init__(self, found: str, wanted: str) -> None:
        super().__init__(f"mutmut: found {found}; wanted {wanted}")
        self.found = found
        self.wanted = wanted


class _File(msgspec.Struct, frozen=True):
    """What mutmut made of one module: one text with every mutant in it, and where each is."""

    code: str
    names: tuple[str, ...]
    spans: dict[str, tuple[int, int]]


class _Answer(msgspec.Struct, frozen=True):
    version: str
    files: dict[str, _File]


def generate(package_dir: Path, scratch: Path, only: Collection[str] = ()) -> Generated:
    """Return mutmut's mutants of a package, or of some modules, sorted by module, line and id.

    mutmut runs in a new folder under `scratch`, which is gone afterwards; `package_dir`, the
    environment and the working directory stay as they are. Raises `MutmutChanged`, and
    `SyntaxError` or `FileNotFoundError` when the package is no package.
    """
    originals = read_package(package_dir, only)
    answer = _ask(originals, scratch)
    made = []
    for original in originals:
        if original.path not in answer.files:
            raise MutmutChanged(f"no answer for {original.path}", "one for each module")
        proposals = _proposals(original, answer.files[original.path])
        made.append(collect(original, "mutmut", proposals))
    return joined(made)


def _ask(originals: tuple[Original, ...], scratch: Path) -> _Answer:
    """Run mutmut's function over the modules, in a process of its own."""
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutmut-", dir=scratch) as name:
        folder = Path(name).absolute()
        for original in originals:
            copy = folder / original.path
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(original.source, encoding="utf-8")
        package = originals[0].path.partition("/")[0]
        settings = f'[tool.mutmut]\nsource_paths = ["{package}"]\n'
        (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
        paths = [original.path for original in originals]
        answer = folder / "answer.json"
        # -P: the folder, which holds a copy of the package, stays off the import path.
        done = subprocess.run(
            [sys.executable, "-P", "-c", _DRIVER, WANTED_VERSION, str(answer), *paths],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise MutmutChanged(said[-1], WANTED_SHAPE)
        try:
            made = msgspec.json.decode(answer.read_bytes(), type=_Answer)
        except msgspec.ValidationError as error:
            raise MutmutChanged(str(error), WANTED_SHAPE) from error
    if made.version != WANTED_VERSION:
        raise MutmutChanged(f"version {made.version}", f"version {WANTED_VERSION}")
    return made


def _proposals(original: Original, made: _File) -> Iterator[Proposal]:
    """Put each mutated function back where the original one is, and leave all else as it is."""
    if len(set(made.names)) != len(made.names):
        raise MutmutChanged(f"a name twice in {original.path}", "one name for each mutant")
    code = made.code.split("\n")
    for name in made.names:
        match = _NAME.fullmatch(name)
        if match is None:
            raise MutmutChanged(f"the name {name!r}", "x_name__mutmut_1 or xǁClassǁname__mutmut_1")
        copy = _function_lines(made, code, f"{name.rpartition('_')[0]}_orig", match["name"])
        function = ".".join(part for part in (match["class"], match["name"]) if part)
        first = _place(original, function, copy)
        new = _function_lines(made, code, name, match["name"])
        lines = [*original.lines[:first], *new, *original.lines[first + len(copy) :]]
        yield Proposal("\n".join(lines), alias=f"{original.module}.{name}")


def _function_lines(made: _File, code: list[str], mangled: str, name: str) -> list[str]:
    """Return the lines of a function that mutmut wrote, under the function's own name.

    Not parsed: of what does not compile, the lines are still right.
    """
    first, last = made.spans.get(mangled, (1, 0))
    lines = code[first - 1 : last]
    named = re.compile(rf"^(\s*(?:async )?def ){mangled}\b")
    for index, line in enumerate(lines):
        if named.match(line):
            lines[index] = named.sub(rf"\g<1>{name}", line)
            return lines
    raise MutmutChanged(f"no lines for {mangled}", "the lines of every function it wrote")


def _place(original: Original, function: str, copy: list[str]) -> int:
    """Return how many lines come before the function that mutmut's unchanged copy is a copy of.

    The copy brings the comments above and below along. That it is the same text, line for line, is
    what keeps the line numbers of every mutant right.
    """
    above = next(at for at, line in enumerate(copy) if line.lstrip().startswith(_BEGINS))
    for unit in original.units:
        first = unit.first - 1 - above
        if unit.function == function and original.lines[first : first + len(copy)] == copy:
            return first
    raise MutmutChanged(f"a copy of {function} that differs", "an unchanged copy of the original")
