"""A mutant as text: what changed where, under a name that outlives unrelated edits.

Owned here: `SourceMutant`, which every maker of mutants produces, and `Original`, which makes one
from a changed text. Not here: what to change (`generated`, `operators`, the catalogue), and
running the result (`variant`).
"""

import ast
import difflib
import hashlib
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple, TypeAlias

import msgspec

Origin: TypeAlias = Literal["mutmut", "operator", "catalogue"]
FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

MODULE_LEVEL = "<module>"
SHOWN_CHARACTERS = 60  # of a fragment, in the sentence for people

# What a header leaves out: a mutant of an `if` is the same mutant when a line of its body changes.
_BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})


class SourceMutant(msgspec.Struct, frozen=True, kw_only=True):
    """One wrong version of one module, as text.

    Two mutants of one original have the same id exactly when they are the same program, whoever
    made them.
    """

    id: str  # "tier.fill.3fa90b12cd": stable while the statement it changes is
    origin: Origin
    module: str  # dotted: "reference.tier"
    function: str  # "fill", "Reference.open"; of a nested function, the one around it
    line: int  # the first changed line in the original file, from 1
    does: str  # one sentence for people
    source: str  # the complete new module
    diff: str  # unified, with the line numbers of the file
    alias: str  # mutmut's own name, or ""


class Generated(NamedTuple):
    """What a maker of mutants made, by module, line and id, and what it threw away."""

    mutants: tuple[SourceMutant, ...]
    duplicates: int  # the same program as another one, or as the original
    uncompilable: int


class Proposal(NamedTuple):
    """The text of a module that might be a mutant."""

    source: str
    does: str = ""
    alias: str = ""


class Unchanged(ValueError):
    """The new text is the same program as the original."""

    def __init__(self, module: str) -> None:
        super().__init__(f"{module}: the new text is the same program as the original")
        self.module = module


class Unit(NamedTuple):
    """A function outside other functions, or a method, and the lines it is on."""

    function: str
    first: int  # from 1, its decorators included
    last: int
    node: FunctionNode


class _Change(NamedTuple):
    """The smallest statements or expressions whose replacement makes the one tree the other."""

    old: list[ast.AST]
    new: list[ast.AST]


class Original:
    """A module as it is, parsed once, from which mutants are made by giving the changed text.

    `path` labels the diffs, relative to the folder that holds the package: "reference/tier.py".
    Raises `SyntaxError` when `source` is not Python.
    """

    def __init__(self, module: str, path: str, source: str) -> None:
        self.module = module
        self.path = path
        self.source = source
        self.lines = source.split("\n")  # as Python counts them; splitlines() knows more ends
        self.tree = ast.parse(source)
        self.units = tuple(_units(self.tree, ""))

    def mutant(
        self, source: str, *, origin: Origin, does: str = "", alias: str = ""
    ) -> SourceMutant:
        """Return the mutant whose module is `source`; without `does`, one is written for it.

        Raises `SyntaxError` when `source` does not compile, and `Unchanged` when it differs in
        nothing but layout and comments.
        """
        lines = source.split("\n")
        head, tail = _common(self.lines, lines)
        unit = self._unit_on(head + 1, len(self.lines) - tail)
        old: ast.AST = self.tree
        new: ast.AST | None = None
        if unit is not None:
            # Parsing one function instead of the module is what makes a thousand mutants cheap.
            old = unit.node
            text = lines[unit.first - 1 : unit.last + len(lines) - len(self.lines)]
            new = _parsed_alone(text, unit.node)
        if new is None:
            old, new = self.tree, _compiled(source)
        change = _change(old, new)
        if change is None:
            raise Unchanged(self.module)
        unit = self._unit_of(change.old)
        function = unit.function if unit else _class_around(self.tree, change.old[0])
        header, occurrence = _occurrence(unit.node if unit else self.tree, change.old[0])
        before, after = _text(change.old), _text(change.new)
        return SourceMutant(
            id=self._id(function, header, occurrence, before, after),
            origin=origin,
            module=self.module,
            function=function,
            line=min(head + 1, len(self.lines)),
            does=does or _sentence(f"{self.module}.{function}", before, after, header),
            source=source,
            diff=_diff(self.path, self.lines, lines),
            alias=alias,
        )

    def _unit_on(self, first: int, last: int) -> Unit | None:
        """Return the unit that holds all of these lines, if one does."""
        for unit in self.units:
            if unit.first <= first and max(first, last) <= unit.last:
                return unit
        return None

    def _unit_of(self, nodes: Sequence[ast.AST]) -> Unit | None:
        """Return the unit that holds these nodes, if one does."""
        places = [node for node in nodes if isinstance(node, ast.stmt | ast.expr)]
        if len(places) < len(nodes):
            return None
        ends = [place.end_lineno or place.lineno for place in places]
        return self._unit_on(min(place.lineno for place in places), max(ends))

    def _id(self, function: str, header: str, occurrence: int, before: str, after: str) -> str:
        parts = (self.module, function, header, str(occurrence), before, after)
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:10]
        package, _, last = self.module.rpartition(".")
        short = self.module if package == "device" else last  # both have a `tier` and a `fill`
        return f"{short}.{digest}" if function == MODULE_LEVEL else f"{short}.{function}.{digest}"


def read_package(package_dir: Path, only: Collection[str] = ()) -> tuple[Original, ...]:
    """Read every module of a package, or only these, sorted by module.

    Raises `FileNotFoundError` when there is none, and `SyntaxError` when one is not Python.
    """
    originals = []
    for file in package_dir.rglob("*.py"):
        path = PurePosixPath(package_dir.absolute().name, *file.relative_to(package_dir).parts)
        names = path.with_suffix("").parts
        module = ".".join(names[:-1] if names[-1] == "__init__" else names)
        if not only or module in only:
            originals.append(Original(module, str(path), file.read_text(encoding="utf-8")))
    if not originals:
        raise FileNotFoundError(f"no modules in {package_dir}")
    return tuple(sorted(originals, key=lambda original: original.module))


def collect(original: Original, origin: Origin, proposals: Iterable[Proposal]) -> Generated:
    """Make a mutant of each proposal; of several with one id the first stays."""
    mutants = []
    unchanged = uncompilable = 0
    for source, does, alias in proposals:
        try:
            mutants.append(original.mutant(source, origin=origin, does=does, alias=alias))
        except Unchanged:
            unchanged += 1
        except SyntaxError:
            uncompilable += 1
    return joined([Generated(tuple(mutants), unchanged, uncompilable)])


def joined(parts: Sequence[Generated]) -> Generated:
    """Put together what several modules or makers gave; of several with one id the first stays."""
    mutants = {mutant.id: mutant for part in reversed(parts) for mutant in reversed(part.mutants)}
    again = sum(len(part.mutants) for part in parts) - len(mutants)
    return Generated(
        tuple(sorted(mutants.values(), key=lambda one: (one.module, one.line, one.id))),
        again + sum(part.duplicates for part in parts),
        sum(part.uncompilable for part in parts),
    )


# ----------------------------------------------------------------------------------------- parsing


def _units(node: ast.AST, prefix: str) -> Iterator[Unit]:
    """Find the functions that are in no other function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
            yield Unit(prefix + child.name, first, child.end_lineno or child.lineno, child)
        elif isinstance(child, ast.ClassDef):
            yield from _units(child, f"{prefix}{child.name}.")
        elif not isinstance(child, ast.expr):
            yield from _units(child, prefix)  # an `if` or `try` around functions


def _compiled(source: str) -> ast.Module:
    """Parse `source` and compile it too: some errors only show there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `1 is None` is a poor program, and a fine mutant
        tree = ast.parse(source)
        compile(tree, "<mutant>", "exec", dont_inherit=True)
    return tree


def _parsed_alone(lines: Sequence[str], old: FunctionNode) -> FunctionNode | None:
    """Parse the new text of one function; none when by itself it is not one function in place."""
    wrapper = "class _:\n" if old.col_offset else ""
    try:
        body = _compiled(wrapper + "\n".join(lines) + "\n").body
    except SyntaxError:
        return None  # the whole module has the last word, and the better message
    if wrapper and isinstance(body[0], ast.ClassDef):
        body = body[0].body + body[1:]
    new = body[0]
    if len(body) > 1 or not isinstance(new, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    return new if new.col_offset == old.col_offset else None


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Count the lines that both begin with and, of the rest, the lines that both end with."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


# --------------------------------------------------------------------------------------- comparing


def _same(old: object, new: object) -> bool:
    """Whether two trees are the same program."""
    if type(old) is not type(new):
        return False
    if isinstance(old, ast.AST):
        return all(
            _same(getattr(old, field, None), getattr(new, field, None)) for field in old._fields
        )
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new))
    return old == new


def _change(old: ast.AST, new: ast.AST) -> _Change | None:
    """Find the smallest change that makes `old` into `new`; none when they are the same."""
    if type(old) is not type(new):
        return _Change([old], [new])
    pairs = [(getattr(old, field, None), getattr(new, field, None)) for field in old._fields]
    pairs = [(left, right) for left, right in pairs if not _same(left, right)]
    if not pairs:
        return None
    inner: _Change | None = None
    left, right = pairs[0]
    if len(pairs) == 1 and isinstance(left, ast.AST) and isinstance(right, ast.AST):
        inner = _change(left, right)
    elif len(pairs) == 1 and isinstance(left, list) and isinstance(right, list):
        inner = _change_in_lists(left, right)
    # An operator, a keyword or a handler says little by itself: then all that is around it.
    if inner and all(isinstance(node, ast.stmt | ast.expr) for node in inner.old + inner.new):
        return inner
    return _Change([old], [new])


def _change_in_lists(old: list[ast.AST], new: list[ast.AST]) -> _Change | None:
    """Find the smallest change in a body or in a list of operands; none when it is not local."""
    most = min(len(old), len(new))
    head = 0
    while head < most and _same(old[head], new[head]):
        head += 1
    tail = 0
    while tail < most - head and _same(old[-1 - tail], new[-1 - tail]):
        tail += 1
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(left) == 1 and len(right) == 1:
        return _change(left[0], right[0])
    if not all(isinstance(node, ast.stmt) for node in old + new) or not old:
        return None
    if not left:  # statements came in: name them by a neighbour, that it has a place
        head = max(head - 1, 0)
        left, right = old[head : head + 1], new[head : head + 1 + len(right)]
    return _Change(left, right)


def _occurrence(root: ast.AST, node: ast.AST) -> tuple[str, int]:
    """Return the statement around a node, and how many such nodes in such statements come first.

    The statement is part of what is counted, so that one more `1` elsewhere changes no id.
    """
    alike: list[ast.stmt | None] = []
    for other, statement in _with_statements(root, None):
        if other is node:
            header = _header(statement)
            return header, sum(_header(one) == header for one in alike)
        if _same(other, node):
            alike.append(statement)
    raise AssertionError("the node is in the tree")


def _with_statements(
    node: ast.AST, statement: ast.stmt | None
) -> Iterator[tuple[ast.AST, ast.stmt | None]]:
    """Every node in order, with the innermost statement around it."""
    statement = node if isinstance(node, ast.stmt) else statement
    yield node, statement
    for child in ast.iter_child_nodes(node):
        yield from _with_statements(child, statement)


def _class_around(tree: ast.Module, node: ast.AST) -> str:
    """Name the innermost class that holds a node, or the module."""
    names = []
    inside: ast.Module | ast.ClassDef | None = tree
    while inside:
        classes = [child for child in inside.body if isinstance(child, ast.ClassDef)]
        inside = next((one for one in classes if any(node is n for n in ast.walk(one))), None)
        names += [inside.name] if inside else []
    return ".".join(names) or MODULE_LEVEL


# ------------------------------------------------------------------------------------------ saying


def _header(statement: ast.stmt | None) -> str:
    """A statement in normal form, without the statements inside it."""
    if statement is None:
        return ""
    fields = {
        field: [] if field in _BODIES and isinstance(value, list) else value
        for field, value in ast.iter_fields(statement)
    }
    return ast.unparse(ast.copy_location(type(statement)(**fields), statement))


def _text(nodes: Sequence[ast.AST]) -> str:
    return "\n".join(ast.unparse(node) for node in nodes)


def _sentence(where: str, before: str, after: str, header: str) -> str:
    """Say what changed, and in which statement where that is not the whole of it."""
    before, after, header = (" ".join(text.split()) for text in (before, after, header))
    inside = "" if header in before else f" in `{_clipped(header, header)[0]}`"
    before, after = _clipped(before, after)
    return f"{where}: `{before}` {f'becomes `{after}`' if after else 'is gone'}{inside}"


def _clipped(before: str, after: str) -> tuple[str, str]:
    """Shorten two long fragments to where they begin to differ."""
    if max(len(before), len(after)) <= SHOWN_CHARACTERS:
        return before, after
    pairs = enumerate(zip(before, after, strict=False))
    head = next((at for at, (old, new) in pairs if old != new), 0)
    start = max(0, head - SHOWN_CHARACTERS // 3)
    end = start + SHOWN_CHARACTERS
    lead = "…" if start else ""
    return (
        f"{lead}{before[start:end]}{'…' if len(before) > end else ''}",
        f"{lead}{after[start:end]}{'…' if len(after) > end else ''}",
    )


def _diff(path: str, old: Sequence[str], new: Sequence[str]) -> str:
    """A unified diff that git and patch apply."""
    hunks = difflib.unified_diff(
        _with_ends(old), _with_ends(new), f"a/{path}", f"b/{path}", lineterm="\n"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in hunks
    )


def _with_ends(lines: Sequence[str]) -> list[str]:
    return [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
