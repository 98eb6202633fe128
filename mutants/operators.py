"""The operators that mutmut lacks, on the syntax tree: what a state machine most often forgets.

Owned here: one function per operator. An operator looks at one node and proposes texts for a span
of it; all other text, and so every line number after it, stays. Not here: what mutmut does already
(`generated`), and what only a person would think of (the catalogue).

Add an operator: one function with an example before and after in its docstring, which the tests
run, and its name in `OPERATORS`. Code that runs when a module is imported is left alone, and so
is the inside of f-strings, whose positions Python 3.11 does not know.
"""

import ast
import itertools
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from mutants.edit import (
    FunctionNode,
    Generated,
    Original,
    Proposal,
    collect,
    joined,
    read_package,
)


class Edit(NamedTuple):
    """Replace the bytes from `start` to `end` of the module by a text."""

    start: int
    end: int
    text: str


class Place(NamedTuple):
    """Where an operator is looking: the module's text, and the innermost function around."""

    data: bytes  # a col_offset counts bytes of UTF-8
    starts: tuple[int, ...]  # the first byte of each line
    function: FunctionNode

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Return the first byte of a node and the one after its last; not its parentheses."""
        last, column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[last - 1] + column

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def instead(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        """Return the edit that puts a text in the place of a node."""
        return Edit(*self.span(node), text)

    def find(self, pattern: bytes, start: int, end: int) -> tuple[int, int] | None:
        """Return the span of a token between two nodes, where only comments could hide it."""
        between = re.sub(rb"#[^\n]*", lambda found: b" " * len(found[0]), self.data[start:end])
        found = re.search(pattern, between)
        return (start + found.start(), start + found.end()) if found else None

    def past_blanks(self, start: int) -> int:
        """Return where the blanks at `start` end, on the same line."""
        rest = self.data[start:]
        return start + len(rest) - len(rest.lstrip(b" \t"))

    def edited(self, edit: Edit) -> str:
        """Return the whole text after an edit, with as many lines as before."""
        start, end, text = edit
        lost = self.data[start:end].count(b"\n") - text.count("\n")
        return (self.data[:start] + (text + "\n" * lost).encode() + self.data[end:]).decode()


Operator: TypeAlias = Callable[[ast.AST, Place], Iterator[Edit]]


def delete_statement(node: ast.AST, place: Place) -> Iterator[Edit]:
    """Put `pass` for an assignment, or for an expression that stands alone.

    before:
        def bump(count: int) -> int:
            print(count)
            count += 1
            return count
    after:
        def bump(count: int) -> int:
            pass
            count += 1
            return count
    after:
        def bump(count: int) -> int:
            print(count)
            pass
            return count
    """
    match node:
        case ast.Expr(value=ast.Constant()) | ast.AnnAssign(value=None):
            return  # a docstring, `...` or a declaration: nothing runs
        case ast.Expr(value=ast.Call(args=[], keywords=[])):
            return  # `delete_bare_call` does those
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.AnnAssign():
            yield place.instead(node, "pass")


def delete_bare_call(node: ast.AST, place: Place) -> Iterator[Edit]:
    """Put `pass` for a call without arguments whose value nobody takes.

    before:
        def close(self) -> None:
            self.flush()
    after:
        def close(self) -> None:
            pass
    """
    match node:
        case ast.Expr(value=ast.Call(args=[], keywords=[])):
            yield place.instead(node, "pass")


def delete_guard(node: ast.AST, place: Place) -> Iterator[Edit]:
    """Put `pass` for an `if` that does nothing but raise or return early.

    before:
        def take(free: list[int]) -> int:
            if not free:
                raise PageMemory
            return free.pop(0)
    after:
        def take(free: list[int]) -> int:
            pass

            return free.pop(0)
    """
    match node:
        case ast.If(body=[ast.Raise() | ast.Return()], orelse=[]):
            if place.text(node).startswith("if"):  # an `elif` cannot become `pass`
                yield place.instead(node, "pass")


def negate_condition(node: ast.AST, place: Place) -> Iterator[Edit]:
    """Turn a condition round, in the form that mutmut would give the same program.

    before:
        def check(page: int, held: set[int], ready: bool) -> None:
            if page in held and ready:
                assert page != 0
            while ready:
                ready = wait(page)
    after:
        def check(page: int, held: set[int], ready: bool) -> None:
            if not (page in held and ready):
                assert page != 0
            while ready:
                ready = wait(page)
    after:
        def check(page: int, held: set[int], ready: bool) -> None:
            if page in held and ready:
                assert page == 0
            while ready:
                ready = wait(page)
    after:
        def check(page: int, held: set[int], ready: bool) -> None:
            if page in held and ready:
                assert page != 0
            while not ready:
                ready = wait(page)
    """
    match node:
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
            tests = [node.test]
        case ast.comprehension():
            tests = node.ifs
        case ast.match_case(guard=ast.expr() as guard):
            tests = [guard]
        case _:
            return
    for test in tests:
        if not isinstance(test, ast.Constant | ast.JoinedStr):  # mutmut does `while True`
            yield _negation(test, place)


def return_nothing(node: ast.AST, place: Place) -> Iterator[Edit]:
    """Return `None` where the annotation promises something else.

    before:
        def first(pages: list[int]) -> int:
            return pages[0]
    after:
        def first(pages: list[int]) -> int:
            return None
    """
    match place.function.returns:
        case None | ast.Constant(value=None | "None"):
            return
    match node:
        case ast.Return(value=None | ast.Constant(value=None) | ast.Name(id="NotImplemented")):
            return
        case ast.Return(value=ast.expr() as value):
            yield place.instead(value, "None")


def drop_operand(node: ast.AST, place: Place) -> Iterator[Edit]:
    """Leave out one operand of an `and` or `or`.

    before:
        def evictable(frame: Frame) -> bool:
            return frame.ready and not (frame.dirty or frame.pins)
    after:
        def evictable(frame: Frame) -> bool:
            return not (frame.dirty or frame.pins)
    after:
        def evictable(frame: Frame) -> bool:
            return frame.ready
    after:
        def evictable(frame: Frame) -> bool:
            return frame.ready and not (frame.pins)
    after:
        def evictable(frame: Frame) -> bool:
            return frame.ready and not (frame.dirty)
    """
    if not isinstance(node, ast.BoolOp):
        return
    start, end = place.span(node)
    words = []
    for left, right in itertools.pairwise(node.values):
        word = place.find(rb"\b(?:and|or)\b", place.span(left)[1], place.span(right)[0])
        assert word is not None, "a word stands between two operands"
        words.append(word)
    gone = [(start, place.past_blanks(words[0][1]))]
    # The others go with the word before them, up to the word after them.
    stops = [*(word[0] for word in words[1:]), end]
    for (word_start, _), stop in zip(words, stops, strict=True):
        kept, given_up = (place.data[start:at].rstrip(b" \t\n\\") for at in (word_start, stop))
        gone.append((start + len(kept), start + len(given_up)))
    for first, last in gone:
        lines = place.data[first:last].count(b"\n")
        if lines:  # in brackets, since those that held the line together may be gone too
            before, after = place.data[start:first].decode(), place.data[last:end].decode()
            yield Edit(start, end, "(" + before + "\n" * lines + after + ")")
        else:
            yield Edit(first, last, "")


def swap_extreme(node: ast.AST, place: Place) -> Iterator[Edit]:
    """Take `max` for `min`, and `min` for `max`.

    before:
        def lowest(free: list[int]) -> int:
            return min(free)
    after:
        def lowest(free: list[int]) -> int:
            return max(free)
    """
    yield from _swapped_name(node, place, {"min": "max", "max": "min"})


def swap_quantifier(node: ast.AST, place: Place) -> Iterator[Edit]:
    """Take `all` for `any`, and `any` for `all`.

    before:
        def idle(frames: list[Frame]) -> bool:
            return all(frame.free for frame in frames)
    after:
        def idle(frames: list[Frame]) -> bool:
            return any(frame.free for frame in frames)
    """
    yield from _swapped_name(node, place, {"any": "all", "all": "any"})


def drop_update(node: ast.AST, place: Place) -> Iterator[Edit]:
    """Forget one field in a `_replace`: one update of the state is lost.

    before:
        def clean(frame: Frame) -> Frame:
            return frame._replace(dirty=False, phase=READY)
    after:
        def clean(frame: Frame) -> Frame:
            return frame._replace(phase=READY)
    after:
        def clean(frame: Frame) -> Frame:
            return frame._replace(dirty=False)
    """
    match node:
        case ast.Call(func=ast.Attribute(attr="_replace"), args=[], keywords=[*words]):
            spans = [place.span(word) for word in words]
            closed = place.span(node)[1]
        case _:
            return
    for at, (start, end) in enumerate(spans):
        if words[at].arg is None:
            continue  # `**fields` are many updates
        stop = spans[at + 1][0] if at + 1 < len(spans) else closed
        comma = place.find(rb",", end, stop)
        if comma is not None:
            yield Edit(start, place.past_blanks(comma[1]), "")
        else:
            yield Edit(spans[at - 1][1] if at else start, end, "")


# What `not (a == b)` is: mutmut turns these round too, and one program must have one id.
_OPPOSITES: tuple[tuple[type[ast.cmpop], bytes, str], ...] = (
    (ast.Eq, rb"==", "!="),
    (ast.NotEq, rb"!=", "=="),
    (ast.Is, rb"\bis\b", "is not"),
    (ast.IsNot, rb"\bis\s+not\b", "is"),
    (ast.In, rb"\bin\b", "not in"),
    (ast.NotIn, rb"\bnot\s+in\b", "in"),
)

OPERATORS: tuple[Operator, ...] = (
    delete_statement,
    delete_bare_call,
    delete_guard,
    negate_condition,
    return_nothing,
    drop_operand,
    swap_extreme,
    swap_quantifier,
    drop_update,
)


def generate(package_dir: Path, only: Collection[str] = ()) -> Generated:
    """Return the mutants of a package, or of some modules, sorted by module, line and id.

    Raises `SyntaxError` or `FileNotFoundError` when the package is no package.
    """
    return joined([mutate(original) for original in read_package(package_dir, only)])


def mutate(original: Original, operators: tuple[Operator, ...] = OPERATORS) -> Generated:
    """Return the mutants of one module, sorted by line and id."""
    return collect(original, "operator", _proposals(original, operators))


def _proposals(original: Original, operators: tuple[Operator, ...]) -> Iterator[Proposal]:
    data = original.source.encode()
    lengths = (len(line) + 1 for line in data.split(b"\n"))
    starts = tuple(itertools.accumulate(lengths, initial=0))
    for operator in operators:
        for function, node in _running(original.tree, None):
            place = Place(data, starts, function)
            for edit in operator(node, place):
                yield Proposal(place.edited(edit))


def _running(
    node: ast.AST, function: FunctionNode | None
) -> Iterator[tuple[FunctionNode, ast.AST]]:
    """Every node that runs when a function is called, with the innermost function around it."""
    if function is not None:
        yield function, node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = node
        children: list[ast.AST] = [*node.body]
    elif isinstance(node, ast.JoinedStr):
        children = []
    else:
        annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
        children = [child for child in ast.iter_child_nodes(node) if child is not annotation]
    for child in children:
        yield from _running(child, function)


def _negation(test: ast.expr, place: Place) -> Edit:
    """Negate a condition: without a second `not`, and by the opposite comparison if one exists."""
    start, end = place.span(test)
    match test:
        case ast.UnaryOp(op=ast.Not()):
            return Edit(start, place.past_blanks(start + len("not")), "")
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            for kind, pattern, opposite in _OPPOSITES:
                found = place.find(pattern, place.span(left)[1], place.span(right)[0])
                if isinstance(comparison, kind) and found:
                    return Edit(*found, opposite)
    text = place.text(test)
    atom = isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return Edit(start, end, f"not {text}" if atom else f"not ({text})")


def _swapped_name(node: ast.AST, place: Place, other: dict[str, str]) -> Iterator[Edit]:
    match node:
        case ast.Call(func=ast.Name(id=name) as function) if name in other:
            yield place.instead(function, other[name])
