"""The house rules: each a function over one file, with files that it must and must not accept.

Owned here: sizes, import directions, names and words of every file that git knows or would add.
Not here: the settings of tox, ruff and CI (`test_house_tools.py`), and what ruff and mypy judge.
Add a rule: one function with `@house`, a planted break beside it. Its docstring is its sentence;
`test_house.py` finds it, runs it over the repository and shows that it can fail.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import PurePosixPath

FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 400
LINE_CHARACTERS_MAX = 100

# What a rule leaves alone, and why: (rule, path) or, for a function, (rule, path::name).
EXCEPTIONS: dict[tuple[str, str], str] = {}

# What each package of ours may import of ours, besides itself.
MAY_IMPORT: dict[str, set[str]] = {
    "reference": set(),
    "device": {"reference"},
    "properties": {"reference", "device"},
    "mutants": {"reference", "device", "properties"},
}

# All that a file of rules may import: what it shares with the reference would break with it.
RULES_MAY_IMPORT = {
    "properties.graph",
    "properties.ledger",
    "properties.registry",
    "properties.rules.examples",
    "properties.rules.rows",
    "properties.step",
    "properties.view",
    "reference.calls",
    "reference.words",
    "__future__",
    "collections",
    "itertools",
    "typing",
}

IMPORTS_BY_NAME = r"\b(import_module|__import__)$"

# The packages, the tests, and what a tool or a reader looks for at the root.
ROOT_MAY_HOLD = {
    *MAY_IMPORT,
    "tests",
    ".ci",
    ".gitignore",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "tox.ini",
}

Example = tuple[str, str]  # a path and the text of a file
Finding = tuple[str, str]  # where (a path, or path::name) and what is wrong there


@dataclass(frozen=True)
class HouseRule:
    """A check, the files it looks at, and files that it must and must not complain about."""

    check: Callable[[str, str], Iterator[Finding]]
    where: str
    broken: tuple[Example, ...]
    fine: tuple[Example, ...]

    @property
    def name(self) -> str:
        """What ids of tests and keys of `EXCEPTIONS` call it."""
        return self.check.__name__

    def findings(self, path: str, text: str) -> list[str]:
        """What is wrong in one file, less the named exceptions."""
        if not fnmatch(path, self.where):
            return []
        found = self.check(path, text)
        return [f"{at}: {what}" for at, what in found if (self.name, at) not in EXCEPTIONS]


HOUSE: list[HouseRule] = []
Check = Callable[[str, str], Iterator[Finding]]


def house(where: str, broken: list[Example], fine: list[Example]) -> Callable[[Check], Check]:
    """Makes a check a house rule over the files that match `where`."""

    def enter(check: Check) -> Check:
        HOUSE.append(HouseRule(check, where, tuple(broken), tuple(fine)))
        return check

    return enter


@cache
def parse(text: str) -> ast.Module:
    """The tree of a file, made once for all rules."""
    return ast.parse(text)


def get_functions(text: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of a file with its dotted name, nested ones included."""
    waiting: list[tuple[str, ast.AST]] = [("", parse(text))]
    while waiting:
        prefix, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{prefix}{child.name}."
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield inner.rstrip("."), child
            waiting.append((inner, child))


def get_imports(path: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Line, module and module.name of every import, relative and by string ones resolved."""
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, alias.name
        elif isinstance(node, ast.ImportFrom):
            package = PurePosixPath(path).parent.parts
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*above, *filter(None, [node.module])))
            for alias in node.names:
                yield node.lineno, module, f"{module}.{alias.name}".lstrip(".")
        elif isinstance(node, ast.Call) and re.search(IMPORTS_BY_NAME, ast.unparse(node.func)):
            for name in (a.value for a in node.args if isinstance(a, ast.Constant)):
                yield node.lineno, str(name), str(name)


@house(
    "*.py",
    broken=[("mutants/a.py", "class A:\n    def f(self):\n" + "        x = 1\n" * 60)],
    fine=[("mutants/a.py", "def f():\n" + "    x = 1\n" * 59)],
)
def functions_are_short(path: str, text: str) -> Iterator[Finding]:
    """A function fits on a screen."""
    for name, node in get_functions(text):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > FUNCTION_LINES_MAX:
            yield f"{path}::{name}", f"{lines} lines, at most {FUNCTION_LINES_MAX}"


@house("*.py", broken=[("tests/a.py", "x = 1\n" * 401)], fine=[("tests/a.py", "x = 1\n" * 400)])
def files_are_short(path: str, text: str) -> Iterator[Finding]:
    """A file holds one idea."""
    lines = len(text.splitlines())
    if lines > FILE_LINES_MAX:
        yield path, f"{lines} lines, at most {FILE_LINES_MAX}"


@house("*.py", broken=[("a.py", "x\n" + "x" * 101)], fine=[("a.py", "×" * 100 + "\n")])
def lines_are_short(path: str, text: str) -> Iterator[Finding]:
    """A line fits beside another file, strings and comments included."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LINE_CHARACTERS_MAX:
            yield path, f"line {number}: {len(line)} characters, at most {LINE_CHARACTERS_MAX}"


@house(
    "*.py",
    broken=[
        ("reference/a.py", "from properties.view import View"),
        ("device/a.py", "import mutants"),
        ("device/a.py", "def f():\n    from properties import view"),
        ("properties/rules/a.py", "from mutants import engine"),
        ("properties/a.py", "import_module('mutants.engine')"),
    ],
    fine=[
        ("reference/a.py", "from .words import Page\nfrom reference import pool"),
        ("device/a.py", "from reference.words import Page"),
        ("properties/a.py", "import device.pool, reference"),
        ("mutants/a.py", "from properties import view\nimport device, reference"),
        ("tests/a.py", "import mutants"),
    ],
)
def packages_import_downwards(path: str, text: str) -> Iterator[Finding]:
    """Each package imports only those below it."""
    package = path.partition("/")[0]
    if package in MAY_IMPORT:
        for line, module, _ in get_imports(path, text):
            top = module.partition(".")[0]
            if top in MAY_IMPORT.keys() - MAY_IMPORT[package] - {package}:
                yield path, f"line {line}: {package} may not import {module}"


@house(
    "reference/*.py",
    broken=[("reference/a.py", "import click"), ("reference/a.py", "from msgspec import Struct")],
    fine=[("reference/a.py", "from __future__ import annotations\nimport dataclasses, enum")],
)
def reference_needs_only_python(path: str, text: str) -> Iterator[Finding]:
    """The reference imports itself and the standard library."""
    for line, module, _ in get_imports(path, text):
        if module.partition(".")[0] not in sys.stdlib_module_names | MAY_IMPORT.keys():
            yield path, f"line {line}: {module} is not in the standard library"


@house(
    "properties/rules/*.py",
    broken=[
        ("properties/rules/a.py", "from reference import tier"),
        ("properties/rules/a.py", "from reference.state import State"),
        ("properties/rules/a.py", "from .pages import partition"),
        ("properties/rules/a.py", "import properties"),
        ("properties/rules/a.py", "import importlib"),
    ],
    fine=[
        ("properties/rules/a.py", "from properties import view\nfrom ..step import Step"),
        ("properties/rules/a.py", "from reference.words import Phase"),
        ("properties/rules/a.py", "from collections.abc import Iterator\nimport itertools"),
    ],
)
def rules_import_only_nouns(path: str, text: str) -> Iterator[Finding]:
    """A rule computes from view, step and ledger alone."""
    for line, module, name in get_imports(path, text):
        if not {module, name, module.partition(".")[0]} & RULES_MAY_IMPORT:
            yield path, f"line {line}: a rule may not import {name}"


@house(
    "*.py",
    broken=[("mutants/a.py", "from tests.b import c"), ("tests/a.py", "import tests.b")],
    fine=[("mutants/a.py", "import unittest")],
)
def nothing_imports_tests(path: str, text: str) -> Iterator[Finding]:
    """The tests use the packages, and nothing uses the tests."""
    for line, module, name in get_imports(path, text):
        if module.partition(".")[0] == "tests":
            yield path, f"line {line}: imports {name}"


@house(
    "*.py",
    broken=[
        ("device/runtime.py", "import cupy as cp"),
        ("tests/device/a.py", "def f():\n    from cupyx.profiler import benchmark"),
        ("properties/a.py", "import_module('cupy')"),
    ],
    fine=[("device/cuda.py", "import cupy"), ("tests/a.py", "pytest.importorskip('cupy')")],
)
def only_cuda_imports_cupy(path: str, text: str) -> Iterator[Finding]:
    """All but `device/cuda.py` works, and is typed, without CuPy."""
    for line, module, _ in get_imports(path, text):
        if module.startswith("cupy") and path != "device/cuda.py":
            yield path, f"line {line}: imports {module}"


@house(
    "reference/*.py",
    broken=[
        ("reference/a.py", "class A:\n    @property\n    def f(self): ..."),
        ("reference/a.py", "class A:\n    @functools.cached_property\n    def f(self): ..."),
        ("reference/a.py", "class A:\n    f = property(g)"),
    ],
    fine=[("reference/a.py", "@dataclass\nclass A:\n    '''A property.'''\n    f: int")],
)
def reference_has_no_properties(path: str, text: str) -> Iterator[Finding]:
    """What a property computes is never shown red: mutmut makes no mutants of it."""
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in {"property", "cached_property"}:
                yield path, f"line {node.lineno}: {name}; make it a function or a field"


@house(
    "*.py",
    broken=[("device/utils.py", ""), ("mutants/utils/a.py", ""), ("tests/util.py", "")],
    fine=[("device/layout.py", "utils = 1")],
)
def modules_have_a_subject(path: str, text: str) -> Iterator[Finding]:
    """No module is called after being of use."""
    if {"util", "utils"} & set(PurePosixPath(path).with_suffix("").parts):
        yield path, "name it after what it is about"


@house(
    "*",
    broken=[
        ("README.md", "see /" + "work/notes"),
        ("mutants/a.py", 'OUT = "/' + 'tmp"'),
        (".ci/run", "cd /" + "root/project"),
        ("tox.ini", "x = /" + "home/me/x"),
    ],
    fine=[("README.md", "build/tmp/x, ~/work, notes/home/x, and/or /" + "homework")],
)
def paths_are_relative(path: str, text: str) -> Iterator[Finding]:
    """Nothing depends on the machine it was written on."""
    for number, line in enumerate(text.splitlines(), 1):
        for found in re.finditer(r"(?<![\w.~}/-])/(?:work|root|tmp|home)\b", line):
            yield path, f"line {number}: the absolute path {found.group()}"


@house(
    "*",
    broken=[("a.md", "- TO" + "DO: more"), ("device/a.py", "x = 1  # FIX" + "ME")],
    fine=[("a.md", "nothing to do, a FIXTURE")],
)
def nothing_is_left_over(path: str, text: str) -> Iterator[Finding]:
    """What is still to do is an issue, not a comment."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.search(r"\b(?:TO[D]O|FIX[M]E)\b", line):
            yield path, f"line {number}: {found.group()}"


@house(
    "*",
    broken=[("a.py", "open('.." + "/shared/SPEC.md')"), ("a.py", "Path('shared" + "/SPEC.md')")],
    fine=[("a.py", "'pages of a shared table'"), ("README.md", "unshared/shared.md")],
)
def nothing_reads_shared(path: str, text: str) -> Iterator[Finding]:
    """The project holds all that it needs."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\.\./shared|[\"']shared/", line):
            yield path, f"line {number}: reaches outside the repository"


@house(
    "tests/*.py",
    broken=[
        ("tests/a.py", "def test_a(): assert f()"),
        ("tests/b/a.py", "class TestA:\n    async def test_a(self): assert f()"),
        ("tests/a.py", "def test_a():\n    '''  '''"),
    ],
    fine=[("tests/a.py", "def test_a():\n    '''Why.'''\n\ndef help(): ...")],
)
def each_test_says_why(path: str, text: str) -> Iterator[Finding]:
    """Every test has a docstring."""
    for name, node in get_functions(text):
        if node.name.startswith("test") and not ast.get_docstring(node):
            yield f"{path}::{name}", "no docstring"


@house(
    "*",
    broken=[("notes.txt", ""), ("src/a.py", ""), ("setup.cfg", ""), (".github/x.yml", "")],
    fine=[("tox.ini", ""), ("mutants/notes.txt", ""), (".ci/run", "")],
)
def root_holds_what_is_needed(path: str, text: str) -> Iterator[Finding]:
    """The root folder holds nothing that no command uses."""
    if (top := path.partition("/")[0]) not in ROOT_MAY_HOLD:
        yield path, f"{top} has no place at the root"
