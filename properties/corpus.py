"""The corpus: runs of calls recorded once, to be made again on any subject.

Tours of small scopes, which cover every transition there, and walks in a larger world that no
search exhausts. The file is named after a digest of everything that the calls come from, so a
corpus that no longer fits the reference is not found, and made anew.
"""

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from properties.judge import Judge
from properties.lookup import REFERENCE, make_model
from properties.scopes import SCOPES
from properties.tour import Run, tour
from properties.walker import Walker
from reference.calls import NAMES, Call, Choice

FOLDER = Path("build") / "corpus"
"""Where it is kept, relative to where the command is run."""

TOURED = ("tiny", "rows", "small")
"""Scopes whose every transition is covered."""

WALKED = "walks"
"""A world with room for what the small ones cannot show."""
WALKS, WALK_CALLS, SEED = 80, 60, 20261129

SOURCES = ("reference", "properties")
"""Packages whose text decides which calls are made, and what they come to."""

_CALLS = {name: call for call, name in NAMES.items()}


class Recorded(msgspec.Struct, frozen=True):
    """One run."""

    source: str
    """Where it comes from: `tour of small`, `walk 17`."""
    scope: str
    """The world it is made in."""
    calls: Run
    """The calls, each with its choice, from the first state."""


def get_digest(root: Path) -> str:
    """Return 16 hex digits of everything the corpus depends on; `root` holds the packages."""
    found = blake2b(digest_size=8)
    for package in SOURCES:
        for file in sorted((root / package).glob("*.py")):
            found.update(f"{package}/{file.name}\n".encode() + file.read_bytes())
    return found.hexdigest()


def make_corpus(toured: Sequence[str] | None = None) -> tuple[Recorded, ...]:
    """Return the tours of these scopes (`TOURED`) and all walks; the same for the same tree."""
    runs = []
    make = make_model(REFERENCE)
    for name in TOURED if toured is None else toured:
        scope = SCOPES[name]
        found = tour(make(scope.shape, scope.off), scope)
        runs += [Recorded(f"tour of {name}", name, run) for run in found.runs]
    scope = SCOPES[WALKED]
    model = make(scope.shape, scope.off)
    walker = Walker(model, scope, Judge(()), SEED, calls=WALK_CALLS, every=1, goals=())
    runs += [Recorded(f"walk {n}", WALKED, walker.path(n)) for n in range(WALKS)]
    return tuple(runs)


def get_corpus(root: Path, folder: Path = FOLDER) -> tuple[Recorded, ...]:
    """Return the corpus of this tree, recorded if it is not there yet."""
    path = folder / f"{get_digest(root)}.jsonl"
    if path.exists():
        return tuple(decode_run(line) for line in path.read_bytes().splitlines())
    runs = make_corpus()
    folder.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(f".{os.getpid()}")
    beside.write_bytes(b"".join(encode_run(run) + b"\n" for run in runs))
    beside.rename(path)
    return runs


def encode_run(run: Recorded) -> bytes:
    """Return a run as one line of JSON."""
    calls = [
        (NAMES[type(call)], [getattr(call, name) for name in call.__match_args__], choice)
        for call, choice in run.calls
    ]
    return msgspec.json.encode({"source": run.source, "scope": run.scope, "calls": calls})


def decode_run(line: bytes) -> Recorded:
    """Return the run of a line that `encode_run` made. Raises `msgspec.DecodeError`."""
    found = msgspec.json.decode(line)
    calls = [(_call(name, values), _choice(choice)) for name, values, choice in found["calls"]]
    return Recorded(found["source"], found["scope"], tuple(calls))


def _call(name: str, values: list[Any]) -> Call:
    kind = _CALLS[name]
    fields = dict(zip(kind.__match_args__, values, strict=True))
    call: Call = msgspec.convert(fields, kind)
    return call


def _choice(values: list[Any]) -> Choice:
    return msgspec.convert(values, Choice)
