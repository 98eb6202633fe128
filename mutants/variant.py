"""A mutant as a private, freshly compiled copy of the reference beside the original.

A patched attribute would miss a dispatch table or a `from` import, and lockstep would compare the
mutant with itself. So every module whose text changed, and every module that imports one of
those, is executed again as a module of its own; the others are shared. Vocabulary
(`reference.calls`, `reference.words`) is always shared: the mutant is given the original records.

A probe before the changed statements shows that they ran.
"""

import ast
import builtins
import importlib
from collections.abc import Callable, Iterable, Mapping
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

from properties.subject import FunctionModel, Model, ObjectModel, ReferenceModules
from reference.words import Shape

PACKAGE = "reference"
SHARED = ("reference.calls", "reference.words")
"""Vocabulary: a mutant of it would be a mutant of the harness too."""


@cache
def original_sources() -> dict[str, str]:
    """Return the text of every module of the reference, by dotted name, sorted."""
    package = importlib.import_module(PACKAGE)
    folder = Path(str(package.__file__)).parent
    files = sorted(folder.glob("*.py"))
    return {
        f"{PACKAGE}.{file.stem}": file.read_text(encoding="utf-8")
        for file in files
        if file.stem != "__init__"
    }


@cache
def _imports() -> dict[str, frozenset[str]]:
    """For each module of the reference, the others it imports."""
    found = {}
    for name, source in original_sources().items():
        imported = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module)
                imported.update(f"{node.module}.{alias.name}" for alias in node.names)
        found[name] = frozenset(imported & original_sources().keys())
    return found


def private_modules(changed: Iterable[str]) -> list[str]:
    """Return the modules to execute again, each after those it imports."""
    private = set(changed)
    grown = True
    while grown:
        more = {name for name, imported in _imports().items() if imported & private}
        grown = not more <= private
        private |= more
    ordered: list[str] = []
    while len(ordered) < len(private):
        ordered += sorted(
            name
            for name in private.difference(ordered)
            if (_imports()[name] & private) <= set(ordered)
        )
    return ordered


class Variant:
    """A private copy of the reference with some modules' texts replaced."""

    def __init__(
        self,
        sources: Mapping[str, str],
        transform: Callable[[str, ast.Module], None] | None = None,
        hooks: Mapping[str, Callable[..., None]] | None = None,
    ) -> None:
        """Compile and execute the copy.

        `sources` maps dotted names to new texts; `transform`, if given, may change the tree of
        every private module in place, and `hooks` are builtins of theirs. Raises `ValueError`
        for a text of a shared module, and whatever the changed text raises when it is compiled
        or executed.
        """
        for name in sources:
            if name in SHARED or name not in original_sources():
                raise ValueError(f"{name} is not a module that a mutant can change")
        self.ran = False
        self.modules: dict[str, ModuleType] = {}
        self._builtins = dict(vars(builtins), __import__=self._import, __probe__=self._probe)
        self._builtins.update(hooks or {})
        for name in private_modules(sources):
            self._execute(name, _code(name, sources.get(name), transform))

    def _execute(self, name: str, code: CodeType) -> None:
        module = ModuleType(name)
        vars(module)["__builtins__"] = self._builtins
        exec(code, vars(module))
        self.modules[name] = module

    def _probe(self) -> None:
        self.ran = True

    def _import(
        self,
        name: str,
        globals_: Mapping[str, Any] | None = None,
        locals_: Mapping[str, Any] | None = None,
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> Any:
        """Import as usual, except that modules of the reference are this copy's own."""
        if name == PACKAGE and fromlist:
            return SimpleNamespace(**{part: self.module(f"{PACKAGE}.{part}") for part in fromlist})
        if name in self.modules:
            return self.modules[name]
        return builtins.__import__(name, globals_, locals_, fromlist or (), level)

    def module(self, name: str) -> ModuleType:
        """Return this copy's module, the original if it is shared."""
        return self.modules.get(name) or importlib.import_module(name)

    def model(self, shape: Shape, off: bool) -> Model:
        """Return this copy as a subject: as an object if the object is what changed."""
        modules = ReferenceModules(
            *(self.module(f"{PACKAGE}.{part}") for part in ReferenceModules._fields)
        )
        if set(self.modules) == {"reference.reference"}:
            return ObjectModel(shape, off, modules)
        return FunctionModel(shape, off, modules)


def _code(
    name: str, source: str | None, transform: Callable[[str, ast.Module], None] | None
) -> CodeType:
    if source is None and transform is None:
        return _original_code(name)
    original = original_sources()[name]
    tree = ast.parse(original if source is None else source)
    if source is not None:
        insert_probes(tree, changed_lines(original, source))
    if transform is not None:
        transform(name, tree)
    return compile(ast.fix_missing_locations(tree), f"<{name}>", "exec", dont_inherit=True)


@cache
def _original_code(name: str) -> CodeType:
    return compile(original_sources()[name], f"<{name}>", "exec", dont_inherit=True)


def changed_lines(old: str, new: str) -> list[range]:
    """Return the lines of `new` (from 1) that differ from `old`; an empty range is a deletion."""
    matcher = SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    return [
        range(first + 1, end + 1)
        for tag, _, _, first, end in matcher.get_opcodes()
        if tag != "equal"
    ]


def insert_probes(tree: ast.Module, changes: Iterable[range]) -> None:
    """Call `__probe__` before each statement that a change touches.

    Where nothing is left of a change, before the statement that follows it. Changes outside
    functions ran when the module was executed: they are probed there.
    """
    probed: set[int] = set()
    for lines in changes:
        found = _statement_at(tree.body, lines)
        body, index = (tree.body, len(tree.body)) if found is None else found
        if index == len(body) or id(body[index]) not in probed:
            probe = ast.parse("__probe__()").body[0]
            body.insert(index, probe)
            probed.update((id(probe), id(body[min(index + 1, len(body) - 1)])))


def _statement_at(body: list[ast.stmt], lines: range) -> tuple[list[ast.stmt], int] | None:
    """Return the innermost body and the place in it of the statement that holds the lines."""
    for index, statement in enumerate(body):
        if (statement.end_lineno or statement.lineno) < lines.start:
            continue
        if isinstance(statement, ast.ImportFrom | ast.Import):
            continue  # a probe before imports would move them from the top
        for inner in _bodies(statement):
            if inner and inner[0].lineno <= lines.start:
                found = _statement_at(inner, lines)
                if found is not None:
                    return found
        return body, index
    return None


def _bodies(statement: ast.stmt) -> list[list[ast.stmt]]:
    fields = ("body", "orelse", "finalbody")
    bodies = [getattr(statement, field, []) for field in fields]
    bodies += [handler.body for handler in getattr(statement, "handlers", [])]
    return sorted((body for body in bodies if body), key=lambda body: body[0].lineno, reverse=True)
