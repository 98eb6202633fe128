"""The trace file: one header, then one call a line, in JSON Lines. Every counterexample is one.

Names in it are symbolic, so that a trace replays on a subject that chooses otherwise. Owned here:
the header, the version, reading and writing. Not owned: the form of a call (`grammar`), how names
are written and resolved (`names`, `resolve`), and replaying (`replay`).
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec

from properties.exits import Misuse
from properties.grammar import Line, Wrong, parse_line, write_line
from properties.names import Json, Names, get_victims
from properties.subject import Model
from properties.view import View
from reference.calls import NAMES, Call, Choice, Outcome
from reference.words import Shape

FORMAT = "tierproof-trace"
VERSION = 1

# More would only exhaust the memory of whoever opens the file.
SIZE_MAX = 1_000_000
Size = Annotated[int, msgspec.Meta(ge=1, le=SIZE_MAX)]


class TraceError(Misuse):
    """A file that is not a trace, or not one of ours."""

    def __init__(self, path: str, line: int, why: str) -> None:
        """Say which line of which file is wrong, and why."""
        super().__init__(f"{path}:{line}: {why}")
        self.path = path
        """The file."""
        self.line = line
        """The line in it, from 1."""
        self.why = why
        """What is wrong there, and what would be right."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a trace is of."""

    shape: Shape
    """The size of the tier."""
    off: bool = False
    """No tier is configured."""
    subject: str = "reference"
    """What was called: `reference`, or the id of a mutant."""
    rule: str | None = None
    """The rule that its last call breaks."""
    because: str | None = None
    """What that rule said."""
    scope: str | None = None
    """The scope it was found in."""


class Made(msgspec.Struct, frozen=True):
    """One call that was made."""

    call: Call
    """The call."""
    choice: Choice
    """What was chosen."""
    outcome: Outcome
    """What it came to."""
    victims: tuple[int | None, ...] = ()
    """What each chosen frame held before: the page, or none."""
    picks: tuple[int, ...] | None = None
    """What the scheduler of the subject's device picked; none if the subject has no scheduler."""


class Trace(msgspec.Struct, frozen=True):
    """Calls as they were made on one subject, with the names of that subject."""

    header: Header
    """What it is of."""
    calls: tuple[Made, ...]
    """The calls in order."""


class SymbolicTrace(msgspec.Struct, frozen=True):
    """Calls with symbolic names, as in a file; `replay` resolves them."""

    header: Header
    """What it is of."""
    lines: tuple[Line, ...]
    """The calls in order."""


def made(
    call: Call,
    choice: Choice,
    outcome: Outcome,
    before: View,
    picks: tuple[int, ...] | None = None,
) -> Made:
    """Return the record of a call, from what it came to and the view before it."""
    return Made(call, choice, outcome, get_victims(choice, before), picks)


def record(model: Model, header: Header, calls: Iterable[tuple[Call, Choice]]) -> Trace:
    """Make the calls on a model, from its first state, and return what happened."""
    state = model.initial()
    found = []
    for call, choice in calls:
        before = model.view(state)
        taken = model.take(state, call, choice)
        picks = getattr(taken.after, "picks", None)
        found.append(made(call, choice, taken.outcome, before, picks))
        state = taken.after
    return Trace(header, tuple(found))


def symbolic(trace: Trace) -> SymbolicTrace:
    """Return a trace with its names made symbolic."""
    names = Names()
    lines = []
    for n, entry in enumerate(trace.calls, 1):
        arguments = names.write_call(entry.call)
        choice = names.write_choice(entry.choice, entry.victims)
        names.learn(n, entry.call, entry.outcome)
        outcome = names.write_outcome(entry.call, entry.outcome)
        picks: list[Json] | None = None if entry.picks is None else [*entry.picks]
        lines.append(Line(n, NAMES[type(entry.call)], arguments, choice, outcome, picks))
    return SymbolicTrace(trace.header, tuple(lines))


# --------------------------------------------------------------------------------------- the text


class _ShapeLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pages: Size
    frames: Size
    rows: Size


class _HeaderLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line, as it is in the file."""

    format: str
    version: int
    shape: _ShapeLine
    off: bool
    subject: str
    rule: str | None
    because: str | None
    scope: str | None


def encode(trace: Trace | SymbolicTrace) -> str:
    """Return the text of a trace file, one object a line."""
    if isinstance(trace, Trace):
        trace = symbolic(trace)
    values = msgspec.structs.asdict(trace.header)
    values["shape"] = trace.header.shape._asdict()
    objects: list[dict[str, Json]] = [{"format": FORMAT, "version": VERSION, **values}]
    objects += [write_line(line) for line in trace.lines]
    return "".join(msgspec.json.encode(value).decode() + "\n" for value in objects)


def decode(text: str, path: str = "trace") -> SymbolicTrace:
    """Return the trace in a text; `path` is where it came from. Raises `TraceError`."""
    texts = text.split("\n")
    if texts[-1] == "":
        texts.pop()
    if not texts:
        raise TraceError(path, 1, f"the file is empty; a {FORMAT} begins with its header")
    header = _decode_header(_decode_json(texts[0], path, 1), path)
    lines: list[Line] = []
    for number, content in enumerate(texts[1:], 2):
        value = _decode_json(content, path, number)
        try:
            lines.append(parse_line(value, lines, header.shape))
        except Wrong as wrong:
            raise TraceError(path, number, str(wrong)) from None
    return SymbolicTrace(header, tuple(lines))


def _decode_json(text: str, path: str, line: int) -> Json:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise TraceError(path, line, f"not JSON: {error}; each line is one object") from None


def _decode_header(value: Json, path: str) -> Header:
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        right = f'the first line of a trace has "format": "{FORMAT}"'
        raise TraceError(path, 1, f"not a trace: {right}")
    version = value.get("version")
    if version != VERSION or isinstance(version, bool):
        why = f"version is {version!a}: this program reads version {VERSION}"
        raise TraceError(path, 1, why)
    try:
        line = msgspec.convert(value, _HeaderLine)
    except msgspec.ValidationError as error:
        raise TraceError(path, 1, f"the header is wrong: {error}") from None
    shape = Shape(line.shape.pages, line.shape.frames, line.shape.rows)
    if line.off and shape.pages != shape.frames:
        why = f"off is true with {shape.pages} pages and {shape.frames} frames: they are as many"
        raise TraceError(path, 1, why)
    fields: dict[str, Any] = {
        name: getattr(line, name) for name in ("off", "subject", "rule", "because", "scope")
    }
    return Header(shape=shape, **fields)


# -------------------------------------------------------------------------------------- the file


def write(trace: Trace | SymbolicTrace, path: Path | str) -> None:
    """Write a trace file. It is written beside its place and moved there, so never half there."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(encode(trace), encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read(path: Path | str) -> SymbolicTrace:
    """Return the trace in a file. Raises `TraceError` if it is none, or cannot be read."""
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        raise TraceError(str(path), 1, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TraceError(str(path), 1, f"not text in UTF-8: {error.reason}") from None
    return decode(text, str(path))
