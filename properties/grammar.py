"""The grammar of one call in a trace: which fields it has, which forms they take, what they name.

Owns the complaints about a line: each names the place, the value and what would be right. Which
file and line it was is `trace`'s to say; what a name stands for is `resolve`'s.
"""

from typing import NamedTuple, get_type_hints

from properties.names import FIELD_KINDS, SYMBOL, Json, Kind
from reference.calls import NAMES, Call
from reference.words import Shape

OPERATIONS: dict[str, type[Call]] = {name: call for call, name in NAMES.items()}
"""The call that each operation name stands for."""

# Every JSON reader agrees on whole numbers below this one.
NUMBER_MAX = 2**53

# An outcome is at most an object of lists of handles that are objects.
DEPTH_MAX = 10

_ISSUERS: dict[Kind, tuple[str, ...]] = {
    "lease": ("open",),
    "page": ("alloc",),
    "handle": ("lookup", "fill"),
    "ticket": ("fill", "write_back"),
}
"""The operations that issue names of each kind."""


_TRUTHS = {
    (name, field)
    for name, call in OPERATIONS.items()
    for field, kind in get_type_hints(call).items()
    if kind is bool
}
"""The arguments that are true or false; all others that name nothing are numbers."""


class Wrong(ValueError):
    """Something in a line is not as a trace has it. Its message says what, where and why."""


class Line(NamedTuple):
    """One call of a trace, its names not yet resolved."""

    n: int
    """Its number, from 1."""
    op: str
    """The name of its operation."""
    arguments: dict[str, Json]
    """Its arguments by field."""
    choice: Json
    """What was chosen where the spec leaves something open; none is the default."""
    outcome: dict[str, Json]
    """What it came to."""
    picks: list[Json] | None = None
    """What the scheduler of the subject's device picked during it; none if it has no scheduler."""


def parse_line(value: Json, earlier: list[Line], shape: Shape) -> Line:
    """Return the call in one object of a trace of a tier of this shape. Raises `Wrong`."""
    if not isinstance(value, dict):
        raise Wrong(f"is {_show(value)}; a call is an object with n, op and its arguments")
    n = len(earlier) + 1
    _check_number("n", value.get("n"))
    _check(value["n"] == n, "n", value["n"], f"this is call {n}")
    op = value.get("op")
    if not isinstance(op, str) or op not in OPERATIONS:
        raise Wrong(f"op is {_show(op)}: operations are {', '.join(OPERATIONS)}")
    fields = OPERATIONS[op].__match_args__
    _check_keys(op, value, {"n", "op", "outcome", *fields}, {"choice", "picks"})
    arguments: dict[str, Json] = {field: value[field] for field in fields}
    line = Line(n, op, arguments, value.get("choice"), value["outcome"], value.get("picks"))
    for field in fields:
        _check_argument(line, field, earlier)
    if line.choice is not None:
        _check_choice(line, earlier, shape)
    if "picks" in value:
        _check_picks(value["picks"])
    _check_outcome(line, earlier)
    return line


def write_line(line: Line) -> dict[str, Json]:
    """Return the object for a call, its fields in the order of the format."""
    choice = {} if line.choice is None else {"choice": line.choice}
    picks: dict[str, Json] = {} if line.picks is None else {"picks": line.picks}
    said = {"n": line.n, "op": line.op, **line.arguments, **choice}
    return {**said, "outcome": line.outcome, **picks}


# ----------------------------------------------------------------------------------- arguments


def _check_argument(line: Line, field: str, earlier: list[Line]) -> None:
    value = line.arguments[field]
    kind = FIELD_KINDS.get(field)
    if field == "pages":
        _check(isinstance(value, list), field, value, "it is a list of pages")
        for index, page in enumerate(value):
            _check_named("page", f"{field}[{index}]", page, earlier)
    elif kind is not None:
        _check_named(kind, field, value, earlier)
    elif (line.op, field) in _TRUTHS:
        _check(isinstance(value, bool), field, value, "it is true or false")
    else:
        _check_number(field, value)


def _check_named(kind: Kind, place: str, value: Json, earlier: list[Line]) -> None:
    """Check a name of this kind, or the literal of one that was never issued."""
    if isinstance(value, str):
        _check_name(kind, place, value, earlier)
    elif kind == "handle":
        _check_forged(place, value, earlier)
    else:
        right = f'a {kind} is a name like "{kind}@1", or {{"{kind}": 7}} if never issued'
        _check(isinstance(value, dict) and value.keys() == {kind}, place, value, right)
        _check_number(f"{place}.{kind}", value[kind])


def _check_forged(place: str, value: Json, earlier: list[Line]) -> None:
    right = 'a handle is a name like "handle@3.0", or page, frame and generation'
    _check(isinstance(value, dict), place, value, right)
    frame = "frame_of" if "frame_of" in value else "frame"
    generation = "generation_of" if "generation_of" in value else "generation"
    optional = {"plus"} if generation == "generation_of" else set()
    _check_keys(place, value, {"page", frame, generation}, optional)
    _check_page_or_number(f"{place}.page", value["page"], earlier)
    for part in (frame, generation):
        if part.endswith("_of"):
            _check_name("handle", f"{place}.{part}", value[part], earlier)
        else:
            _check_number(f"{place}.{part}", value[part])
    if "plus" in value:
        _check_number(f"{place}.plus", value["plus"])


def _check_page_or_number(place: str, value: Json, earlier: list[Line]) -> None:
    if isinstance(value, str):
        _check_name("page", place, value, earlier)
    else:
        _check_number(place, value)


def _check_name(kind: Kind, place: str, value: Json, earlier: list[Line]) -> None:
    """Check that a name is well formed, and that an earlier call issued it."""
    name = SYMBOL.fullmatch(value) if isinstance(value, str) else None
    right = f'names of this kind look like "{kind}@1"'
    _check(name is not None and name[1] == kind, place, value, right)
    assert name is not None, "checked just before"
    n, index = int(name[2]), name[3]
    _check(n <= len(earlier), place, value, f"calls before this one are 1 to {len(earlier)}")
    issuer = earlier[n - 1]
    right = f"a {kind} comes from {' or '.join(_ISSUERS[kind])}, and call {n} is {issuer.op}"
    _check(issuer.op in _ISSUERS[kind], place, value, right)
    _check(_has_issued(issuer, kind), place, value, f"call {n} issued no {kind}")
    if kind == "handle" and issuer.op == "fill":
        count = len(issuer.arguments["pages"])
        right = f"call {n} filled {count} pages, so its handles are handle@{n}.0 and on"
        _check(index is not None and int(index) < count, place, value, right)
    else:
        _check(index is None, place, value, f'the name is "{kind}@{n}"')


def _has_issued(line: Line, kind: Kind) -> bool:
    value = line.outcome.get("value")
    if kind == "ticket" and line.op == "fill":
        return isinstance(value, dict) and value.get("ticket") is not None
    return value is not None


# ---------------------------------------------------------------------------- choices, outcomes


def _check_choice(line: Line, earlier: list[Line], shape: Shape) -> None:
    choice = line.choice
    _check(isinstance(choice, dict), "choice", choice, "it is an object")
    allowed = {"alloc": {"page"}, "fill": {"frames", "fault"}}.get(line.op, set())
    _check_keys("choice", choice, set(), allowed)
    if "page" in choice:
        _check_page_or_number("choice.page", choice["page"], earlier)
    entries = choice.get("frames", [])
    _check(isinstance(entries, list), "choice.frames", entries, "it is a list, a frame per miss")
    for index, entry in enumerate(entries):
        place = f"choice.frames[{index}]"
        _check(isinstance(entry, dict), place, entry, 'it is {"free": 0} or has a victim')
        number = "frame" if "victim" in entry else "free"
        _check_keys(place, entry, {"victim", "frame"} if number == "frame" else {"free"}, set())
        _check_number(f"{place}.{number}", entry[number])
        right = f"frames are 0 to {shape.frames - 1}"
        _check(0 <= entry[number] < shape.frames, f"{place}.{number}", entry[number], right)
        if "victim" in entry:
            _check_page_or_number(f"{place}.victim", entry["victim"], earlier)
    if "fault" in choice:
        fault = choice["fault"]
        _check(isinstance(fault, dict), "choice.fault", fault, "it has miss and unmapped")
        _check_keys("choice.fault", fault, {"miss", "unmapped"}, set())
        _check_number("choice.fault.miss", fault["miss"])
        unmapped = fault["unmapped"]
        _check(isinstance(unmapped, bool), "choice.fault.unmapped", unmapped, "true or false")


def _check_picks(picks: Json) -> None:
    right = "it is a list of the options that were picked, counted from 0"
    _check(isinstance(picks, list), "picks", picks, right)
    for index, picked in enumerate(picks):
        _check_number(f"picks[{index}]", picked)
        _check(picked >= 0, f"picks[{index}]", picked, "options are counted from 0")


def _check_outcome(line: Line, earlier: list[Line]) -> None:
    outcome = line.outcome
    _check(isinstance(outcome, dict), "outcome", outcome, "it has value, failed or refused")
    if "refused" in outcome:
        _check_keys("outcome", outcome, {"refused", "fields"}, set())
        name, fields = outcome["refused"], outcome["fields"]
        _check(isinstance(name, str), "outcome.refused", name, "it is the name of a refusal")
        _check(isinstance(fields, dict), "outcome.fields", fields, "it is an object")
    elif "failed" in outcome:
        _check_keys("outcome", outcome, {"failed"}, {"value"})
        _check(outcome["failed"] is True, "outcome.failed", outcome["failed"], "it is true")
    else:
        _check_keys("outcome", outcome, {"value"}, set())
    _check_mentions("outcome", outcome, [*earlier, line])


def _check_mentions(place: str, value: Json, known: list[Line], depth: int = 0) -> None:
    """Check every name anywhere in an outcome; it may name what its own call issued."""
    if depth > DEPTH_MAX:
        raise Wrong(f"{place[:60]}... is nested deeper than {DEPTH_MAX}; an outcome never is")
    if isinstance(value, str):
        name = SYMBOL.fullmatch(value)
        if name is not None:
            kind: Kind = name[1]  # type: ignore[assignment]
            _check_name(kind, place, value, known)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            _check_mentions(f"{place}[{index}]", part, known, depth + 1)
    elif isinstance(value, dict):
        for field, part in value.items():
            if field != "repr":
                _check_mentions(f"{place}.{field}", part, known, depth + 1)


# -------------------------------------------------------------------------------------- checking


def _check(holds: bool, place: str, value: Json, right: str) -> None:
    if not holds:
        raise Wrong(f"{place} is {_show(value)}: {right}")


def _check_number(place: str, value: Json) -> None:
    right = f"it is a whole number below {NUMBER_MAX} either way"
    is_number = isinstance(value, int) and not isinstance(value, bool)
    _check(is_number and abs(value) < NUMBER_MAX, place, value, right)


def _check_keys(place: str, value: dict[str, Json], needed: set[str], optional: set[str]) -> None:
    missing = sorted(needed - value.keys())
    if missing:
        raise Wrong(f"{place} lacks {', '.join(missing)}")
    extra = sorted(value.keys() - needed - optional)
    if extra:
        allowed = ", ".join(sorted(needed | optional)) or "nothing"
        raise Wrong(f"{place} has {', '.join(map(repr, extra))}: it may have {allowed}")


def _show(value: Json) -> str:
    """Return a value as it is quoted in a complaint, short and on one line."""
    if value is None:
        return "missing"
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."
