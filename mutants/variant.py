"""A mutant as a private, freshly compiled copy of the modules it changes, beside the original.

A patched attribute would miss a dispatch table or a `from` import, and lockstep would compare the
mutant with itself. So every module whose text changed, and every module that imports one of
those, is executed again as a module of its own; the others are shared. Vocabulary
(`reference.calls`, `reference.words`) is always shared: the mutant is given the original records.

A mutant is of the reference or of the device. The device is driven by a module outside it
(`DRIVER`), of which the mutant has its own copy too, while all of the reference is the original.

A probe before the changed statements shows that they ran.
"""

import ast
import builtins
import importlib
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

from device.schedule import Pick
from properties.subject import FunctionModel, Model, ObjectModel, ReferenceModules
from reference.words import Shape

PACKAGE = "reference"
DEVICE = "device"
SHARED = ("reference.calls", "reference.words")
"""Vocabulary: a mutant of it would be a mutant of the harness too."""
DRIVER = "properties.device_subject"
"""What drives the device: copied with it, and never changed."""


@cache
def original_sources(package: str = PACKAGE) -> dict[str, str]:
    """Return the text of every module of a package, by dotted name, sorted."""
    folder = Path(str(importlib.import_module(package).__file__)).parent
    files = sorted(folder.glob("*.py"))
    return {
        f"{package}.{file.stem}": file.read_text(encoding="utf-8")
        for file in files
        if file.stem != "__init__"
    }


@cache
def all_sources() -> dict[str, str]:
    """Return the text of every module that a mutant might change, by dotted name."""
    return {**original_sources(DEVICE), **original_sources(PACKAGE)}


def is_of_device(modules: Iterable[str]) -> bool:
    """Return whether a mutant that changes these modules is one of the device."""
    return any(module.startswith(f"{DEVICE}.") for module in modules)


@cache
def _text(module: str) -> str:
    """Return the text of a module of which a mutant may have its own copy."""
    if module == DRIVER:
        return Path(str(importlib.import_module(DRIVER).__file__)).read_text(encoding="utf-8")
    return all_sources()[module]


@cache
def _imports(package: str) -> dict[str, frozenset[str]]:
    """For each module that mutants of a package have copies of, the others it imports.

    Of the device these are what the driver needs: not the modules for a GPU.
    """
    modules = [*original_sources(package), *([DRIVER] if package == DEVICE else [])]
    found = _imports_of(modules)
    if package == DEVICE:
        needed = {DRIVER}
        while more := frozenset().union(*(found[name] for name in needed)) - needed:
            needed |= more
        found = {name: found[name] for name in sorted(needed)}
    return found


def _imports_of(modules: Collection[str]) -> dict[str, frozenset[str]]:
    found = {}
    for name in modules:
        source = _text(name)
        imported = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module)
                imported.update(f"{node.module}.{alias.name}" for alias in node.names)
        found[name] = frozenset(imported.intersection(modules))
    return found


def device_sources() -> dict[str, str]:
    """Return the text of every module of the device that its driver needs, by dotted name."""
    sources = original_sources(DEVICE)
    return {name: sources[name] for name in _imports(DEVICE) if name != DRIVER}


def private_modules(changed: Iterable[str]) -> list[str]:
    """Return the modules to execute again, each after those it imports."""
    private = set(changed)
    imports = _imports(DEVICE if is_of_device(private) else PACKAGE)
    grown = True
    while grown:
        more = {name for name, imported in imports.items() if imported & private}
        grown = not more <= private
        private |= more
    ordered: list[str] = []
    while len(ordered) < len(private):
        ordered += sorted(
            name
            for name in private.difference(ordered)
            if (imports[name] & private) <= set(ordered)
        )
    return ordered


class Variant:
    """A private copy of the reference, or of the device, with some modules' texts replaced."""

    def __init__(
        self,
        sources: Mapping[str, str],
        transform: Callable[[str, ast.Module], None] | None = None,
        hooks: Mapping[str, Callable[..., None]] | None = None,
    ) -> None:
        """Compile and execute the copy.

        `sources` maps dotted names to new texts; `transform`, if given, may change the tree of
        every private module in place, and `hooks` are builtins of theirs. Raises `ValueError`
        for a text of a shared module or for texts of both packages, and whatever the changed
        text raises when it is compiled or executed.
        """
        self.package = DEVICE if is_of_device(sources) else PACKAGE
        for name in sources:
            if name in (*SHARED, DRIVER) or name not in _imports(self.package):
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
        """Import as usual, except that modules of the package are this copy's own."""
        if name == self.package and fromlist:
            return SimpleNamespace(**{part: self.module(f"{name}.{part}") for part in fromlist})
        if name in self.modules:
            return self.modules[name]
        return builtins.__import__(name, globals_, locals_, fromlist or (), level)

    def module(self, name: str) -> ModuleType:
        """Return this copy's module, the original if it is shared."""
        return self.modules.get(name) or importlib.import_module(name)

    def model(self, shape: Shape, off: bool) -> Model:
        """Return this copy as a subject: as an object if the object is what changed."""
        if self.package == DEVICE:
            return self.device(shape, off)
        modules = ReferenceModules(
            *(self.module(f"{PACKAGE}.{part}") for part in ReferenceModules._fields)
        )
        if set(self.modules) == {"reference.reference"}:
            return ObjectModel(shape, off, modules)
        return FunctionModel(shape, off, modules)

    def device(self, shape: Shape, off: bool, seed: int = 0, pick: Pick | None = None) -> Model:
        """Return this copy of the device as a subject, its scheduler's picks as they are made."""
        made: Model = self.module(DRIVER).DeviceModel(shape, off, seed=seed, pick=pick)
        return made


def _code(
    name: str, source: str | None, transform: Callable[[str, ast.Module], None] | None
) -> CodeType:
    if source is None and transform is None:
        return _original_code(name)
    original = _text(name)
    tree = ast.parse(original if source is None else source)
    if source is not None:
        insert_probes(tree, changed_lines(original, source))
    if transform is not None:
        transform(name, tree)
    return compile(ast.fix_missing_locations(tree), f"<{name}>", "exec", dont_inherit=True)


@cache
def _original_code(name: str) -> CodeType:
    return compile(_text(name), f"<{name}>", "exec", dont_inherit=True)


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
