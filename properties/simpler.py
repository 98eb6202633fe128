"""What a simpler call is: fewer pages, an older name, a smaller number, the default choice.

And what a smaller tier is. Owned here: the candidates, in the order to try them. Whether one
still breaks a rule is for `minimise` to find out.
"""

from collections.abc import Iterator, Sequence

from properties.grammar import Line
from properties.names import SYMBOL, Json
from reference.words import Shape

FRAMES_MAX = 4
"""Frames of the largest tier that a short trace is tried on: most breaks need fewer."""
SPARE_MAX = 2
"""Pages it has more than frames, at most."""

# A value that stands for itself and is as good as any other: the least one that can be meant.
_LEAST: dict[str, int] = {"promise": 1, "row": 0, "value": 1, "rows": 0, "key": 0}


OLDER_MAX = 4
"""Older names that are tried in place of one: the oldest, so that fewer leases take part."""


def simpler_lines(line: Line, earlier: Sequence[Line]) -> Iterator[Line]:
    """Yield simpler forms of a call that comes after those, the simplest first."""
    if line.choice is not None:
        yield line._replace(choice=None)
        if "fault" in line.choice and "frames" in line.choice:
            yield line._replace(choice={"fault": line.choice["fault"]})
    pages: Json = line.arguments.get("pages", ())
    for index in range(len(pages)):
        yield _replace(line, "pages", pages[:index] + pages[index + 1 :])
    for field, least in _LEAST.items():
        value = line.arguments.get(field)
        if value is not None and value > least:
            yield _replace(line, field, least)
            if value > least + 1:
                yield _replace(line, field, value - 1)

    for field, value in line.arguments.items():
        for older in _older_names(value, earlier):
            yield _replace(line, field, older)


def _older_names(value: Json, earlier: Sequence[Line]) -> Iterator[str]:
    """Yield the oldest names of the same kind that were issued before this one was."""
    name = SYMBOL.fullmatch(value) if isinstance(value, str) else None
    if name is None:
        return
    found = 0
    for line in earlier:
        if found >= OLDER_MAX or line.n >= int(name[2]):
            return
        for issued in _issued(line, line.outcome.get("value")):
            if issued.startswith(f"{name[1]}@"):
                found += 1
                yield issued


def _issued(line: Line, value: Json) -> Iterator[str]:
    """Yield the names in a value that its call issued."""
    if isinstance(value, str):
        name = SYMBOL.fullmatch(value)
        if name is not None and int(name[2]) == line.n:
            yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _issued(line, part)
    elif isinstance(value, list):
        for part in value:
            yield from _issued(line, part)


def _replace(line: Line, field: str, value: Json) -> Line:
    return line._replace(arguments={**line.arguments, field: value})


def smaller_shapes(shape: Shape, *, off: bool) -> Iterator[Shape]:
    """Yield smaller tiers, the smallest first."""
    for frames in range(1, min(FRAMES_MAX, shape.frames) + 1):
        for pages in [frames] if off else range(frames, frames + SPARE_MAX + 1):
            smaller = Shape(min(pages, shape.pages), frames, 1)
            if smaller != shape:
                yield smaller
