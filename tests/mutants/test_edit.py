"""What a mutant's record says: its id, its line, its function, its diff.

Not here: what is changed (`test_generated`, `test_operators`).
"""

import ast
from pathlib import Path

import pytest

from mutants.edit import (
    Generated,
    Original,
    Proposal,
    SourceMutant,
    Unchanged,
    collect,
    joined,
    read_package,
)

SOURCE = '''\
"""A shelf."""

LIMIT = 4


def take(free, count):
    # lowest first
    if count > len(free):
        raise ValueError(count)
    free = free[count:]
    return free + [1], 1


class Shelf:
    room = 2

    def put(self, page):
        self.pages = [*self.pages, page]
        self.count = self.count + 1
'''


def mutant(old: str, new: str, source: str = SOURCE) -> SourceMutant:
    """Return the mutant in which the first place of a text is another text."""
    assert old in source
    changed = source.replace(old, new, 1)
    return Original("pack.shelf", "pack/shelf.py", source).mutant(changed, origin="catalogue")


def test_mutant_record_says_all_of_it() -> None:
    """Reports show these fields and nothing else; the id must be the same on every Python."""
    made = mutant("count > len", "count >= len")
    assert made == SourceMutant(
        id="shelf.take.d6464bb738",
        origin="catalogue",
        module="pack.shelf",
        function="take",
        line=8,
        does="pack.shelf.take: `count > len(free)` becomes `count >= len(free)`"
        " in `if count > len(free):`",
        source=SOURCE.replace("count > len", "count >= len"),
        diff="--- a/pack/shelf.py\n+++ b/pack/shelf.py\n@@ -5,7 +5,7 @@\n \n"
        " def take(free, count):\n     # lowest first\n-    if count > len(free):\n"
        "+    if count >= len(free):\n         raise ValueError(count)\n"
        "     free = free[count:]\n     return free + [1], 1\n",
        alias="",
    )


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("LIMIT = 4\n", "LIMIT = 5\n\n\ndef other():\n    return 1\n"),
        ("    # lowest first\n", "    # lowest\n    # first\n"),
        ("raise ValueError(count)", "raise KeyError(count, 1)"),
        ("free = free[count:]", "free = list(free[count + 1 :])"),
        ("count > len(free):", "(count > len(free)):  # too many"),
    ],
)
def test_id_outlives_unrelated_edits(text: str, edited: str) -> None:
    """Known survivors are kept by id: an edit elsewhere must not make them new ones."""
    assert text in SOURCE
    source = SOURCE.replace(text, edited)
    old = mutant("count > len", "count >= len").id
    assert mutant("count > len", "count >= len", source).id == old


@pytest.mark.parametrize(
    ("text", "edited"),
    [("def take", "def grab"), ("free + [1]", "free - [1]"), ("[1], 1", "[1], 0")],
)
def test_id_ends_with_its_statement(text: str, edited: str) -> None:
    """A mutant of a rewritten statement is another mutant, and must be judged again."""
    old = mutant("[1]", "[2]").id
    assert mutant("[1]", "[2]", SOURCE.replace(text, edited)).id != old


def test_same_fragment_twice_gets_two_ids() -> None:
    """Both ones of `free + [1], 1` become twos: one id would lose one of the mutants."""
    statement = "return free + [1], 1\n"
    first = mutant(statement, "return free + [2], 1\n")
    second = mutant(statement, "return free + [1], 2\n")
    assert first.does == second.does
    assert first.id != second.id


def test_layout_makes_no_other_mutant() -> None:
    """Two makers lay one program out differently: it must still be run once only."""
    plain = mutant("count > len(free)", "count >= len(free)")
    loose = mutant("if count > len(free):", "if (  # why\n        count >= len(free)\n    ):")
    assert plain.id == loose.id
    assert plain.source != loose.source


@pytest.mark.parametrize(
    ("old", "new", "function", "line"),
    [
        ("self.count + 1", "self.count", "Shelf.put", 19),
        ("room = 2", "room = 3", "Shelf", 15),
        ("LIMIT = 4", "LIMIT = 5", "<module>", 3),
        ("def take(free", "@staticmethod\ndef take(free", "take", 6),
        ("    free = free[count:]\n", "", "take", 10),
        ("1\n\n\nclass Shelf:\n    room = 2", "2\n\n\nclass Shelf:\n    room = 3", "<module>", 11),
    ],
)
def test_function_and_line_are_found(old: str, new: str, function: str, line: int) -> None:
    """A reader goes there, and the proof that the line ran looks there."""
    made = mutant(old, new)
    assert (made.function, made.line) == (function, line)


def test_nested_function_belongs_outside() -> None:
    """Nothing can find a nested function from outside: its mutant is of the one around it."""
    source = "def outer():\n    def inner():\n        return 1\n    return inner\n"
    made = mutant("return 1", "return 2", source)
    assert made.function == "outer"
    assert made.id.startswith("shelf.outer.")


def test_module_level_id_has_no_function() -> None:
    """`<module>` in an id would need quoting on a command line."""
    assert mutant("LIMIT = 4", "LIMIT = 5").id.count(".") == 1


def test_added_statement_has_a_neighbour() -> None:
    """A catalogue entry that adds a line is named by its place, not by the whole function."""
    added = "    free = free[count:]\n    count = 0\n"
    made = mutant("    free = free[count:]\n", added)
    assert made.line == 11
    assert made.does == (
        "pack.shelf.take: `free = free[count:]` becomes `free = free[count:] count = 0`"
    )


def test_long_fragments_show_the_difference() -> None:
    """Cut at the same end, two long calls would read the same and say nothing."""
    names = ", ".join(f"argument_{number}" for number in range(12))
    source = f"def f():\n    return g({names}, 1 < 2)\n"
    does = mutant(f"({names}, 1 < 2)", f"({names})", source).does
    before, after = does.split("`")[1], does.split("`")[3]
    assert "1 < 2" in before
    assert "1 < 2" not in after
    assert max(len(before), len(after)) <= 62


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# lowest first", "# highest"),
        ("free + [1]", "(free  + [1])"),
        ("LIMIT = 4", "LIMIT = 0x4"),
    ],
)
def test_layout_alone_is_refused(old: str, new: str) -> None:
    """A mutant that is the original would survive for ever and cost an explanation."""
    with pytest.raises(Unchanged, match=r"pack\.shelf"):
        mutant(old, new)


@pytest.mark.parametrize(
    "wrong", ["return (free", "nonlocal free", "return free\n  x = 1", "break"]
)
def test_text_that_fails_to_compile(wrong: str) -> None:
    """Such a mutant would count as killed, by a crash on import, and prove nothing."""
    with pytest.raises(SyntaxError):
        mutant("return free + [1], 1", wrong)


def test_function_may_not_move_out_of_place() -> None:
    """A method that is right by itself, deeper than its class allows, breaks the module."""
    method = SOURCE[SOURCE.index("    def put") :]
    with pytest.raises(SyntaxError):
        mutant(method, "".join(f"    {line}\n" for line in method.splitlines()))


def test_warnings_of_mutants_stay_quiet() -> None:
    """Mutants are poor programs: their warnings are not errors, here or in a strict caller."""
    made = mutant("count > len(free)", "count is 1 and '\\d'")
    assert "is 1" in made.source


def test_equal_numbers_are_different_mutants() -> None:
    """`1 == True` in Python, yet `True` for `1` is a mutant and not the original."""
    assert mutant("[1]", "[True]").does.startswith("pack.shelf.take: `1` becomes `True`")


def test_diff_without_last_newline() -> None:
    """`git apply` refuses a diff that hides the missing end of line."""
    made = mutant("1", "2", "def f():\n    return 1")
    assert made.diff.endswith(
        "-    return 1\n\\ No newline at end of file\n+    return 2\n\\ No newline at end of file\n"
    )


def test_collect_counts_what_it_drops() -> None:
    """Thrown-away proposals are figures in the report: silence would hide a broken maker."""
    original = Original("pack.shelf", "pack/shelf.py", "def f(a):\n    return a < 1\n")
    texts = ["a <= 1", "(a <= 1)", "a < 1  # same", "a <", "a < 2"]
    proposals = [
        Proposal(f"def f(a):\n    return {text}\n", alias=f"name {number}")
        for number, text in enumerate(texts)
    ]
    made = collect(original, "mutmut", proposals)
    assert (len(made.mutants), made.duplicates, made.uncompilable) == (2, 2, 1)
    assert {one.alias for one in made.mutants} == {"name 0", "name 4"}


def test_joined_keeps_the_first_maker() -> None:
    """mutmut's name must outlast the merge, or stock mutmut could not confirm the mutant."""
    original = Original("pack.shelf", "pack/shelf.py", SOURCE)
    text = SOURCE.replace("[1]", "[2]")
    first = collect(original, "mutmut", [Proposal(text, alias="x_take__mutmut_1")])
    second = collect(original, "operator", [Proposal(text), Proposal(SOURCE.replace("4", "5"))])
    made = joined([first, second, Generated((), 3, 4)])
    assert [(one.line, one.origin) for one in made.mutants] == [(3, "operator"), (11, "mutmut")]
    assert (made.duplicates, made.uncompilable) == (4, 4)


def test_package_is_read_whole_and_sorted(tmp_path: Path) -> None:
    """A module left out would be a module whose mutants nobody ever sees."""
    package = tmp_path / "pack"
    (package / "inner").mkdir(parents=True)
    for name in ("shelf.py", "__init__.py", "inner/__init__.py", "inner/deep.py", "notes.txt"):
        (package / name).write_text("SIGN = '§'\n", encoding="utf-8")
    found = [(original.module, original.path) for original in read_package(package)]
    assert found == [
        ("pack", "pack/__init__.py"),
        ("pack.inner", "pack/inner/__init__.py"),
        ("pack.inner.deep", "pack/inner/deep.py"),
        ("pack.shelf", "pack/shelf.py"),
    ]


def test_empty_package_is_an_error(tmp_path: Path) -> None:
    """A mistyped folder must not read as a package without mutants."""
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_package(tmp_path / "nowhere")


def test_whole_module_gives_the_same_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing one function alone is only there for speed, and must change nothing."""
    quick = mutant("self.count + 1", "self.count - 1")
    parsed: list[str] = []
    parse = ast.parse
    monkeypatch.setattr("mutants.edit._parsed_alone", lambda *_: None)
    monkeypatch.setattr("ast.parse", lambda text: parsed.append(text) or parse(text))
    assert mutant("self.count + 1", "self.count - 1") == quick
    assert parsed[-1] == quick.source
