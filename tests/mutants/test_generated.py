"""The contract with mutmut 3.8.1: what the adapter gets from it, and what it refuses.

Not here: the records themselves (`test_edit`).
"""

import os
from pathlib import Path

import pytest

from mutants import operators
from mutants.edit import Generated, joined
from mutants.generated import MutmutChanged, generate

SHELF = '''\
"""A sample."""


# above
def outer(pages, limit=2):
    # how many fit
    def fits(page):
        return page < limit

    return [page for page in pages if fits(page)]
    # below


class Pool:
    @property
    def size(self):
        return 1 + 1

    @staticmethod
    def code(sign):
        match sign:
            case -1:
                return pair(sign, sign)

    # above
    async def take(self,  count):
        self.free -= count  # less
        return self.free == count'''

# By mutmut's name: the first changed line, and the text on it.
EXPECTED = {
    "sample.shelf.x_outer__mutmut_1": (5, "def outer(pages, limit=3):"),
    "sample.shelf.x_outer__mutmut_2": (8, "        return page <= limit"),
    "sample.shelf.x_outer__mutmut_3": (
        10,
        "    return [page for page in pages if fits(None)]",
    ),
    "sample.shelf.xǁPoolǁcode__mutmut_2": (22, "            case -2:"),
    "sample.shelf.xǁPoolǁcode__mutmut_3": (23, "                return pair(None, sign)"),
    "sample.shelf.xǁPoolǁcode__mutmut_4": (23, "                return pair(sign, None)"),
    "sample.shelf.xǁPoolǁcode__mutmut_5": (23, "                return pair(sign)"),
    "sample.shelf.xǁPoolǁtake__mutmut_1": (27, "        self.free = count  # less"),
    "sample.shelf.xǁPoolǁtake__mutmut_2": (27, "        self.free += count  # less"),
    "sample.shelf.xǁPoolǁtake__mutmut_3": (28, "        return self.free != count"),
}


def package(folder: Path) -> Path:
    """Write the sample package."""
    made = folder / "sample"
    made.mkdir()
    (made / "__init__.py").write_text('"""Nothing to mutate."""\n', encoding="utf-8")
    (made / "shelf.py").write_text(SHELF, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """Return the mutants of the sample package."""
    folder = tmp_path_factory.mktemp("generated")
    return generate(package(folder), folder / "scratch")


def test_mutmut_still_makes_these_mutants(made: Generated) -> None:
    """It has no documented API: a new release may call and lay out its mutants otherwise."""
    found = {one.alias: (one.line, one.source.split("\n")[one.line - 1]) for one in made.mutants}
    assert found == EXPECTED


def test_what_is_dropped_is_counted(made: Generated) -> None:
    """`case +1` does not compile, and `pair(sign)` comes from dropping either argument."""
    assert (made.duplicates, made.uncompilable) == (1, 1)


def test_all_other_lines_stay(made: Generated) -> None:
    """Diffs show the line numbers of the file, and comments and spacing are not mutants."""
    original = SHELF.split("\n")
    for one in made.mutants:
        lines = one.source.split("\n")
        assert [*original[: one.line - 1], *original[one.line :]] == [
            *lines[: one.line - 1],
            *lines[one.line :],
        ]


def test_functions_are_named_as_in_python(made: Generated) -> None:
    """The engine looks a mutated function up by this name, not by mutmut's."""
    assert {one.function for one in made.mutants} == {"outer", "Pool.code", "Pool.take"}
    assert {one.origin for one in made.mutants} == {"mutmut"}


def test_mutants_come_in_reading_order(made: Generated) -> None:
    """Reports are compared as text: an order that changes would look like news."""
    places = [(one.module, one.line, one.id) for one in made.mutants]
    assert places == sorted(places)
    assert len({one.id for one in made.mutants}) == len(places)


def test_ci_and_caller_change_nothing(
    made: Generated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of mutants must be the same here, in CI and under mutmut itself."""
    for name in ("CI", "MUTANT_UNDER_TEST"):
        monkeypatch.setenv(name, "true")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    before = dict(os.environ)
    package(tmp_path)
    assert generate(Path("../sample"), Path("scratch")) == made
    assert dict(os.environ) == before
    assert Path.cwd() == tmp_path / "elsewhere"


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """mutmut would write a folder named like our package, and `rm -rf` on it is its advice."""
    sample = package(tmp_path)
    generate(sample, tmp_path / "scratch")
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == ["sample", "sample/__init__.py", "sample/shelf.py", "scratch"]


def test_package_may_hide_a_library(tmp_path: Path) -> None:
    """The copy of a package named `json` must not be what mutmut imports."""
    sample = package(tmp_path).rename(tmp_path / "json")
    assert len(generate(sample, tmp_path / "scratch").mutants) == len(EXPECTED)


def test_operators_agree_on_one_program(tmp_path: Path, made: Generated) -> None:
    """`self.free != count` is one program, whoever makes it, and one row of the matrix."""
    source = SHELF.replace("return self.free", "assert self.free")
    sample = package(tmp_path)
    (sample / "shelf.py").write_text(source, encoding="utf-8")
    parts = [generate(sample, tmp_path / "scratch"), operators.generate(sample)]
    both = {one.id for one in parts[0].mutants} & {one.id for one in parts[1].mutants}
    merged = joined(parts)
    (shared,) = (one for one in merged.mutants if one.id in both)
    assert (shared.line, shared.origin) == (28, "mutmut")
    assert merged.duplicates == 2


def fake(code: str, names: list[object], spans: dict[str, tuple[int, int]]) -> str:
    """Return the text of a `file_mutation` module that makes always the same of a file."""
    return (
        "from types import SimpleNamespace as Made\n"
        f"SPANS = {{name: Made(start=a, end=b) for name, (a, b) in {spans!r}.items()}}\n"
        f"MADE = Made(code={code!r}, mutant_names={names!r}, line_span_by_function_name=SPANS)\n"
        "def mutate_file_contents(path, text):\n    return MADE\n"
    )


COPY = "def x_f__mutmut_orig(a):\n    return a < 1\n"
MUTANT = "def x_f__mutmut_1(a):\n    return a <= 1\n"
BOTH = {"x_f__mutmut_orig": (1, 2), "x_f__mutmut_1": (3, 4)}


@pytest.mark.parametrize(
    ("version", "module", "found"),
    [
        ("9.9.9", "raise AssertionError\n", "version 9.9.9"),
        ("3.8.1", "", "cannot import name 'mutate_file_contents'"),
        ("3.8.1", "def mutate_file_contents(path, text):\n    return text, ()\n", "'tuple'"),
        ("3.8.1", "def mutate_file_contents(path):\n    return None\n", "positional argument"),
        ("3.8.1", fake(COPY + MUTANT, [1], BOTH), "Expected `str`"),
        ("3.8.1", fake(COPY + MUTANT, ["x_f__mutmut_1"] * 2, BOTH), "a name twice"),
        ("3.8.1", fake(COPY + MUTANT, ["f_mutant_1"], BOTH), "the name 'f_mutant_1'"),
        ("3.8.1", fake(COPY + MUTANT, ["x_f__mutmut_2"], BOTH), "no lines for x_f__mutmut_2"),
        ("3.8.1", fake(MUTANT + COPY, ["x_f__mutmut_1"], BOTH), "no lines for x_f__mutmut_orig"),
        (
            "3.8.1",
            fake(COPY.replace("1\n", "1  #\n") + MUTANT, ["x_f__mutmut_1"], BOTH),
            "a copy of f that differs",
        ),
    ],
    ids=[
        "version",
        "no function",
        "a tuple",
        "parameters",
        "types",
        "names twice",
        "mangling",
        "no lines",
        "no copy",
        "copy changed",
    ],
)
def test_another_mutmut_is_refused(
    version: str, module: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half-understood output would be mutants of the wrong lines: better none, and a reason."""
    impostor = tmp_path / "impostor"
    (impostor / "mutmut" / "mutation").mkdir(parents=True)
    (impostor / "mutmut" / "mutation" / "file_mutation.py").write_text(module, encoding="utf-8")
    for name in ("mutmut", "mutmut/mutation"):
        (impostor / name / "__init__.py").touch()
    metadata = impostor / f"mutmut-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(f"Name: mutmut\nVersion: {version}\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(impostor))
    sample = tmp_path / "sample"
    sample.mkdir()
    (sample / "shelf.py").write_text("def f(a):\n    return a < 1\n", encoding="utf-8")
    with pytest.raises(MutmutChanged) as caught:
        generate(sample, tmp_path / "scratch")
    assert found in caught.value.found
    assert caught.value.wanted in str(caught.value)
    assert list((tmp_path / "scratch").iterdir()) == []
