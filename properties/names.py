"""Names: which values of calls and outcomes name something, and how a trace writes them.

A lease, page, handle or ticket is named by the call that issued it (`lease@1`, `handle@7.0`), so
that a trace replays where the subject chooses otherwise. A name that was never issued is written
as a literal. Reading names back is in `resolve`, checking their form in `grammar`.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from properties.view import View
from reference.calls import (
    Abandon,
    Alloc,
    Call,
    Choice,
    CompleteFill,
    Fill,
    Find,
    Lookup,
    Open,
    Outcome,
    Reset,
    WriteBack,
)
from reference.words import FrameNumber, Handle, Page

Json: TypeAlias = Any
"""What JSON can hold: none, numbers, text, lists and objects with text keys."""

Kind = Literal["lease", "page", "handle", "ticket"]
KINDS: tuple[Kind, ...] = get_args(Kind)

FIELD_KINDS: dict[str, Kind] = {
    "lease": "lease",
    "page": "page",
    "pages": "page",
    "handle": "handle",
    "ticket": "ticket",
}
"""What the fields of calls and refusals name; the fields that are not here name nothing."""

# Nine digits: longer than any trace, short enough that no reader has to think about big numbers.
SYMBOL = re.compile(r"(lease|page|handle|ticket)@([1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]{0,8}))?")
"""A name: its kind, the call that issued it, and for a handle of a fill its place there."""


NOTHING_SAID: Mapping[tuple[Kind, Any], Json] = MappingProxyType({})


class Names:
    """The names that were issued in one run, and what each stands for in this subject."""

    def __init__(self) -> None:
        """Know no name yet."""
        self.values: dict[str, Any] = {}
        """What each name stands for."""
        self.latest: dict[Kind, dict[Any, str]] = {kind: {} for kind in KINDS}
        """For each value that was issued, the name it was last issued under."""
        self.frames: dict[FrameNumber, str] = {}
        """For each frame in an issued handle, the name of the last such handle."""
        self._said = NOTHING_SAID

    def learn(self, n: int, call: Call, outcome: Outcome) -> None:
        """Take note of what call `n` issued."""
        value: Any = outcome.value
        if isinstance(call, Open):
            self._bind("lease", f"lease@{n}", value)
        elif isinstance(call, Alloc):
            self._bind("page", f"page@{n}", value)
        elif isinstance(call, Lookup):
            self._bind("handle", f"handle@{n}", value)
        elif isinstance(call, WriteBack):
            self._bind("ticket", f"ticket@{n}", value)
        elif isinstance(call, Fill):
            self._bind("ticket", f"ticket@{n}", getattr(value, "ticket", None))
            for index, handle in enumerate(_as_tuple(getattr(value, "handles", ()))):
                self._bind("handle", f"handle@{n}.{index}", handle)

    def _bind(self, kind: Kind, name: str, value: Any) -> None:
        """Give a value a name, unless it is none, or nothing that a broken subject may return."""
        if not _fits(kind, value):
            return
        self.values[name] = value
        self.latest[kind][value] = name
        if kind == "handle":
            self.frames[value[1]] = name

    # ---------------------------------------------------------------------------------- writing

    def write_call(self, call: Call) -> dict[str, Json]:
        """Return the arguments of a call, by field, as they are in a trace."""
        fields = type(call).__match_args__
        return {field: self._write_field(field, getattr(call, field)) for field in fields}

    def write_choice(self, choice: Choice, victims: tuple[Page | None, ...]) -> Json:
        """Return a choice as it is in a trace, none if it leaves nothing to say.

        `victims` are the pages that the chosen frames map, none for a frame that maps nothing.
        """
        written: dict[str, Json] = {}
        if choice.page is not None:
            written["page"] = self._write_page(choice.page)
        if choice.frames:
            written["frames"] = [
                {"free": number}
                if victim is None
                else {"victim": self._write_page(victim), "frame": number}
                for number, victim in zip(choice.frames, victims, strict=True)
            ]
        if choice.fault is not None:
            written["fault"] = {"miss": choice.fault.miss, "unmapped": choice.fault.unmapped}
        return written or None

    def write_outcome(
        self, call: Call, outcome: Outcome, said: Mapping[tuple[Kind, Any], Json] = NOTHING_SAID
    ) -> dict[str, Json]:
        """Return an outcome as it is in a trace. What the call issued is learned already.

        `said` is how the call wrote the values it was about; the outcome writes them so too.
        """
        self._said = said
        try:
            return self._write_outcome(call, outcome)
        finally:
            self._said = NOTHING_SAID

    def _write_outcome(self, call: Call, outcome: Outcome) -> dict[str, Json]:
        if outcome.refused is not None:
            fields = outcome.refused.fields
            return {
                "refused": outcome.refused.name,
                "fields": {field: self._write_field(field, value) for field, value in fields},
            }
        if outcome.failed:
            told = (
                {} if outcome.value is None else {"value": self._write_value(call, outcome.value)}
            )
            return {"failed": True, **told}
        return {"value": self._write_value(call, outcome.value)}

    def _write_value(self, call: Call, value: Any) -> Json:
        if isinstance(call, Abandon | Reset | CompleteFill) and isinstance(value, tuple):
            return [self._write_field("page", page) for page in value]
        if isinstance(call, Open | Alloc | Lookup | WriteBack | Find):
            kind: Kind = _ISSUED[type(call)]
            return self._write(kind, value) if _fits(kind, value) else _plain(value)
        if isinstance(call, Fill) and {"ticket", "handles", "misses"} <= set(dir(value)):
            return {
                "ticket": self._write_field("ticket", value.ticket),
                "handles": [self._write_field("handle", h) for h in _as_tuple(value.handles)],
                "misses": [self._write_field("page", p) for p in _as_tuple(value.misses)],
            }
        return _plain(value)

    def _write_field(self, field: str, value: Any) -> Json:
        kind = FIELD_KINDS.get(field)
        if field == "pages" and isinstance(value, tuple):
            return [self._write_field("page", page) for page in value]
        if kind is None or not _fits(kind, value):
            return _plain(value)
        return self._write(kind, value)

    def _write(self, kind: Kind, value: Any) -> Json:
        if (kind, value) in self._said:
            return self._said[kind, value]
        name = self.latest[kind].get(value)
        if name is not None:
            return name
        return self._write_forged(Handle(*value)) if kind == "handle" else {kind: value}

    def _write_page(self, page: Page) -> Json:
        return self.latest["page"].get(page, page)

    def _write_forged(self, handle: Handle) -> Json:
        """Describe a handle that was never issued by the last one that was, for its frame."""
        page = self._write_page(handle.page)
        name = self.frames.get(handle.frame)
        if name is None:
            return {"page": page, "frame": handle.frame, "generation": handle.generation}
        plus = handle.generation - self.values[name][2]
        return {"page": page, "frame_of": name, "generation_of": name, "plus": plus}


_ISSUED: dict[type[Call], Kind] = {
    Open: "lease",
    Alloc: "page",
    Lookup: "handle",
    WriteBack: "ticket",
    Find: "page",
}


def get_victims(choice: Choice, before: View) -> tuple[Page | None, ...]:
    """Return the page that each chosen frame maps before the call, none where it maps nothing."""
    frames = before.frames
    return tuple(frames[n].page if 0 <= n < len(frames) else None for n in choice.frames)


def _fits(kind: Kind, value: Any) -> bool:
    """Whether a value can be a name of this kind; a broken subject may return anything."""
    if kind == "handle":
        return isinstance(value, tuple) and len(value) == 3 and all(map(_is_int, value))
    return _is_int(value)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()


def _plain(value: Any) -> Json:
    """Return a value that names nothing, or that a broken subject made up, as JSON."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return {"repr": repr(value)}


# --------------------------------------------------------------------------------- short texts

_LETTERS: dict[str, str] = {"lease": "L", "page": "p", "handle": "h", "ticket": "t"}


def shorten(value: Json) -> str:
    """Return a written value as a reader sees it: `L1`, `p3`, `h7.0`, `t7`, or what it is."""
    if isinstance(value, str):
        name = SYMBOL.fullmatch(value)
        if name is None:
            return value if value.isprintable() else ascii(value)
        return _LETTERS[name[1]] + value.partition("@")[2]
    if isinstance(value, list):
        return "[" + ", ".join(map(shorten, value)) + "]"
    if isinstance(value, dict):
        return _shorten_object(value)
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


_FORGED = [
    {"page", frame, generation, "plus"}
    for frame in ("frame", "frame_of")
    for generation in ("generation", "generation_of")
]
"""The fields of a handle that was never issued."""


def _shorten_object(value: dict[str, Json]) -> str:
    if value.keys() == {"repr"}:
        return shorten(value["repr"])
    if len(value) == 1:
        return " ".join(f"{field} {shorten(part)}" for field, part in value.items())
    if {*value, "plus"} in _FORGED:
        page = value["page"]
        shown = shorten(page) if isinstance(page, str) else f"page {shorten(page)}"
        return f"({shown}, {_shorten_place(value)})"
    if value.keys() == {"ticket", "handles", "misses"} and isinstance(value["handles"], list):
        return _shorten_plan(value)
    return ", ".join(f"{field} {shorten(part)}" for field, part in value.items())


def _shorten_place(handle: dict[str, Json]) -> str:
    """Return frame and generation of a forged handle: `frame of h3.0, its generation - 1`."""
    frame = "frame_of" if "frame_of" in handle else "frame"
    generation = "generation_of" if "generation_of" in handle else "generation"
    place = f"{frame.replace('_', ' ')} {shorten(handle[frame])}, "
    if frame == "frame_of" and handle[frame] == handle.get(generation):
        place += "its generation"
    else:
        place += f"{generation.replace('_', ' ')} {shorten(handle[generation])}"
    plus = shorten(handle.get("plus", 0))
    if plus == "0":
        return place
    return f"{place} - {plus[1:]}" if plus.startswith("-") else f"{place} + {plus}"


def _shorten_plan(plan: dict[str, Json]) -> str:
    """Return a plan: `t3, misses [p2]` or `all hits`; its handles only if they are not its own."""
    handles = plan["handles"]
    parts = [shorten(plan["ticket"])] if plan["ticket"] is not None else ["all hits"]
    if plan["misses"]:
        parts.append(f"misses {shorten(plan['misses'])}")
    if not all(isinstance(h, str) and h.endswith(f".{i}") for i, h in enumerate(handles)):
        parts.append(f"handles {shorten(handles)}")
    return ", ".join(parts)


def shorten_call(op: str, arguments: dict[str, Json]) -> str:
    """Return a call as a reader sees it: `fill(L1, [p3, p4])`, `read(L1, h7.0, row=0)`."""
    parts = [
        shorten(value) if field in FIELD_KINDS else f"{field}={shorten(value)}"
        for field, value in arguments.items()
    ]
    return f"{op}({', '.join(parts)})"


def shorten_choice(choice: Json) -> str:
    """Return a choice as a reader sees it: `frame 0, frame 1 from p3, fault at miss 3`."""
    parts = []
    if "page" in choice:
        page = choice["page"]
        parts.append(shorten(page) if isinstance(page, str) else f"page {shorten(page)}")
    frames = [
        f"frame {entry['free']}"
        if "free" in entry
        else f"frame {entry['frame']} from {shorten(entry['victim'])}"
        for entry in choice.get("frames", ())
    ]
    parts += frames
    if "fault" in choice:
        unmapped = ", its victim unmapped" if choice["fault"]["unmapped"] else ""
        parts.append(f"fault at miss {choice['fault']['miss']}{unmapped}")
    return ", ".join(parts)


# Operations whose value is an answer: nothing, from these, is none and not just done.
_ANSWERS = {"open", "alloc", "lookup", "fill", "read", "write_back", "find"}


def shorten_outcome(op: str, arguments: dict[str, Json], outcome: dict[str, Json]) -> str:
    """Return an outcome as a reader sees it: `L1`, `ok`, `failed`, `refused BadRow: rows 1`.

    What a refusal repeats of the call is left out.
    """
    if "refused" in outcome:
        fields = [
            shorten(value)
            if isinstance(value, dict) and value.keys() == {field}
            else f"{field} {shorten(value)}"
            for field, value in outcome["fields"].items()
            if arguments.get(field) != value
        ]
        return f"refused {outcome['refused']}{': ' if fields else ''}{', '.join(fields)}"
    if "failed" in outcome:
        return f"failed, gone {shorten(outcome['value'])}" if "value" in outcome else "failed"
    if outcome["value"] in (None, []) and op not in _ANSWERS:
        return "ok"
    return shorten(outcome["value"])
