"""Each operator does what its docstring shows, and changes that one thing only."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from mutants.edit import Original
from mutants.operators import (
    OPERATORS,
    Operator,
    delete_guard,
    delete_statement,
    drop_operand,
    drop_update,
    generate,
    mutate,
    negate_condition,
    return_nothing,
    swap_extreme,
)


def results(source: str, *operators: Operator) -> list[str]:
    """Return the texts that operators make of a module."""
    made = mutate(Original("pack.shelf", "pack/shelf.py", source), operators or OPERATORS)
    assert made.uncompilable == 0
    return [one.source for one in made.mutants]


def changed(source: str, *operators: Operator) -> list[str]:
    """Return what each mutant has in place of the lines that it changes, without indentation."""
    old = source.split("\n")
    found = []
    for text in results(source, *operators):
        new = text.split("\n")
        assert len(new) == len(old), "the line numbers stay"
        lines = [line.strip() for line, before in zip(new, old, strict=True) if line != before]
        found.append(" ".join(line for line in lines if line))
    return sorted(found)


def example(operator: Callable[..., object]) -> tuple[str, list[str]]:
    """Take the example out of an operator's docstring."""
    _, *parts = (inspect.getdoc(operator) or "").split("\nbefore:\n")
    before, *after = "".join(parts).split("\nafter:\n")
    texts = [textwrap.dedent(part).rstrip("\n") + "\n" for part in (before, *after)]
    return texts[0], texts[1:]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.__name__)
def test_docstring_example_is_what_happens(operator: Operator) -> None:
    """The docstring is what a reader trusts when a surviving mutant names its operator."""
    before, after = example(operator)
    assert after, "there is an example"
    assert sorted(results(before, operator)) == sorted(after)


MULTI_LINE = """\
def step(state: State) -> State:
    zeichen = "äöü"; state = state.moved("ß", 1)
    if (
        state.ready
        and state.clean  # nothing, or no more
        and not (state.pins
                 or state.claims)
    ):
        state = state._replace(
            frames=(1,
                    2),
            count=(state.count + 1),
        )
    while state.busy and (
        state.left
        or state.right
    ):
        state.wait(
            1
        )
    return state._replace(
        ready=True
    )
"""


def test_each_mutant_keeps_all_lines() -> None:
    """A trace, a diff and coverage speak of lines: below the change they must be the same."""
    original = MULTI_LINE.split("\n")
    made = results(MULTI_LINE)
    assert len(made) == 19
    for text in made:
        lines = text.split("\n")
        assert len(lines) == len(original)
        differing = [at for at, (a, b) in enumerate(zip(lines, original, strict=True)) if a != b]
        assert differing, "it is a mutant"
        assert differing[-1] - differing[0] <= 5, "one place, no more than the statement"


def test_operand_goes_with_its_brackets() -> None:
    """Half an operand left behind would not compile, and the mutant would silently be missing."""
    conditions = sorted(
        ast.unparse(node.test)
        for text in results(MULTI_LINE, drop_operand)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.If)
    )
    whole = "state.ready and state.clean and (not (state.pins or state.claims))"
    assert conditions == sorted(
        [
            *[whole] * 4,  # those of the `while`
            "state.clean and (not (state.pins or state.claims))",
            "state.ready and (not (state.pins or state.claims))",
            "state.ready and state.clean",
            "state.ready and state.clean and (not state.claims)",
            "state.ready and state.clean and (not state.pins)",
        ]
    )


def test_backslash_goes_with_its_line() -> None:
    """What a backslash held together is held together by brackets."""
    source = "def f() -> int:\n    return a \\\n        or b\n"
    assert changed(source, drop_operand) == ["return ( b)", "return (a )"]


def test_update_goes_with_its_comma() -> None:
    """A lost update of the state is the fault that a state machine hides best."""
    source = (
        "def f(s: S) -> S:\n"
        "    s = s._replace(a=(1, 2), b=g(s, 3), **more)\n"
        "    s = s._replace(\n        only=1,\n    )\n"
        "    return s._replace(first=1)._replace(\n        a=1,\n        b=2,\n    )\n"
    )
    calls = sorted(
        ast.unparse(statement)
        for text in results(source, drop_update)
        for statement, before in zip(
            ast.parse(text).body[0].body, ast.parse(source).body[0].body, strict=True
        )
        if ast.dump(statement) != ast.dump(before)
    )
    assert calls == [
        "return s._replace()._replace(a=1, b=2)",
        "return s._replace(first=1)._replace(a=1)",
        "return s._replace(first=1)._replace(b=2)",
        "s = s._replace()",
        "s = s._replace(a=(1, 2), **more)",
        "s = s._replace(b=g(s, 3), **more)",
    ]


def test_bytes_before_the_span_count() -> None:
    """Python's columns are bytes: after an umlaut, characters would cut in the wrong place."""
    source = 'def f() -> int:\n    x = "äöü", min(1, 2)\n'
    assert changed(source, swap_extreme) == ['x = "äöü", max(1, 2)']


@pytest.mark.parametrize(
    ("condition", "negated"),
    [
        ("a", "not a"),
        ("a.b(c)", "not a.b(c)"),
        ("a < b", "not (a < b)"),
        ("a < b < c", "not (a < b < c)"),
        ("(a or b) == (c or d)", "(a or b) != (c or d)"),
        ("a != b", "a == b"),
        ("a is b", "a is not b"),
        ("a is  not b", "a is b"),
        ("a in b", "a not in b"),
        ("a not in b", "a in b"),
        ("not a", "a"),
        ("not (a or b)", "(a or b)"),
        ("(a := b)", "(not (a := b))"),
    ],
)
def test_negation_has_one_form(condition: str, negated: str) -> None:
    """mutmut turns `==` round too: in another form the same program would be run twice."""
    source = f"def f() -> None:\n    if {condition}:\n        return\n"
    assert changed(source, negate_condition) == [f"if {negated}:"]


def test_every_kind_of_condition_is_negated() -> None:
    """A filter in a comprehension decides as much as an `if` does."""
    source = (
        "def f(a: A) -> None:\n"
        "    while a:\n        pass\n"
        "    assert a, 'no'\n"
        "    b = 1 if a else 2\n"
        "    c = [d for d in b if a]\n"
        "    match a:\n        case 1 if a:\n            pass\n"
        "    while True:\n        break\n"
    )
    assert changed(source, negate_condition) == [
        "assert not a, 'no'",
        "b = 1 if not a else 2",
        "c = [d for d in b if not a]",
        "case 1 if not a:",
        "while not a:",
    ]


def test_what_runs_nothing_is_kept() -> None:
    """Deleting a docstring or a declaration is the same program: it would survive for ever."""
    source = (
        "def f(a: int) -> None:\n"
        '    """Do it."""\n    b: int\n    ...\n    c: int = a\n    a.run()\n    a += 1\n'
    )
    assert changed(source, delete_statement) == ["pass", "pass"]


def test_guard_is_an_if_alone() -> None:
    """An `elif` made into `pass` would end the statement early: two changes at once."""
    source = (
        "def f(a: int) -> int:\n"
        "    if a:\n        raise E\n"
        "    if a > 1:\n        return 1\n    elif a > 2:\n        raise E\n"
        "    if a > 3:\n        g()\n        raise E\n"
        "    else:\n        if a > 4:\n            return 1\n"
        "    return a\n"
    )
    assert len(results(source, delete_guard)) == 2
    assert all(("if a:" in text) != ("a > 4" in text) for text in results(source, delete_guard))


def test_return_of_nothing_needs_a_promise() -> None:
    """Where nothing is promised, or nothing returned, `return None` is no mutant."""
    source = (
        "def f(a) -> int:\n"
        "    def inner(b) -> None:\n        return g(b)\n"
        "    def bare(c):\n        return g(c)\n"
        "    def quoted(d) -> 'None':\n        return g(d)\n"
        "    if a:\n        return NotImplemented\n"
        "    if a:\n        return None\n"
        "    return g(a)\n"
    )
    (made,) = results(source, return_nothing)
    assert made == source.replace("return g(a)", "return None")


def test_only_code_in_functions_changes() -> None:
    """What runs at import breaks every test at once, and shows nothing about any of them."""
    source = (
        "TOP = min(1, 2)\n\n\nclass A:\n    room: int = min(1, 2)\n\n"
        "    @cached(min(1, 2))\n    def f(self, a: X[min(1, 2)] = min(1, 2)) -> X[min(1, 2)]:\n"
        "        b: X[min(1, 2)] = max(1, 2)\n        return f'{max(1, 2)}'\n"
    )
    assert changed(source, swap_extreme) == ["b: X[min(1, 2)] = min(1, 2)"]


def test_methods_and_decorated_functions_change() -> None:
    """mutmut leaves decorated functions alone, so nobody else would mutate them."""
    source = "class A:\n    @property\n    def f(self) -> int:\n        return min(1, 2)\n"
    made = mutate(Original("pack.shelf", "pack/shelf.py", source))
    assert {(one.function, one.origin) for one in made.mutants} == {("A.f", "operator")}
    assert len(made.mutants) == 2


def test_package_gives_the_same_twice(tmp_path: Path) -> None:
    """Ids, order and counts go into committed reports, which must not change by themselves."""
    package = tmp_path / "pack"
    package.mkdir()
    (package / "b.py").write_text(MULTI_LINE, encoding="utf-8")
    (package / "a.py").write_text(MULTI_LINE, encoding="utf-8")
    made = generate(package)
    places = [(one.module, one.line, one.id) for one in made.mutants]
    assert places == sorted(places)
    assert len({one.id for one in made.mutants}) == len(places) == 2 * 19
    assert generate(package) == made
