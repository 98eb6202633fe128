"""A failure: the exception of a broken rule, whose message is all that one needs to see it again.

The message is made when somebody reads it: Hypothesis meets a break many times before it reports
it once. Owned here: the exception, the text and the trace file. Not owned: the table of calls
(`render`), and which calls are left (`shorten`, `minimise`).
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from properties.judge import Judge
from properties.lookup import REFERENCE
from properties.registry import all_rules
from properties.render import render_replay
from properties.replay import replay_all
from properties.subject import Model
from properties.trace import Header, Trace, symbolic, write

TRACES = Path("build") / "traces"


class Told(NamedTuple):
    """What there is to tell of a break."""

    trace: Trace
    """The calls that break the rule; the header says which rule of which subject."""
    program: Sequence[str]
    """The lines that make them again in Python."""
    path: Path
    """Where the trace is written."""
    model: Model
    """The subject, of the shape in the header."""
    judge: Judge
    """What judged it."""


class RuleBroken(AssertionError):
    """A rule is broken: its sentence, the calls, the program, the trace and the command."""

    def __init__(self, rule: str, tell: Callable[[], Told]) -> None:
        """Tell what happened when it is asked for."""
        super().__init__(rule, tell)
        self.rule = rule
        self._tell = tell
        self._text = ""
        self._told: Told | None = None

    @property
    def told(self) -> Told:
        """What there is to tell, found out at the first look."""
        if self._told is None:
            self._told = self._tell()
        return self._told

    def __str__(self) -> str:
        if not self._text:
            self._text = write_and_render(self.told)
        return self._text


@cache
def get_broken(rule: str) -> type[RuleBroken]:
    """Return the exception of one rule.

    Hypothesis tells bugs apart by the class and the line they are raised at. With one class for
    all, shrinking could begin with one rule and end with another.
    """
    return type("RuleBroken", (RuleBroken,), {"__doc__": f"{rule} is broken."})


def write_and_render(told: Told) -> str:
    """Write the trace of a failure and return its whole text."""
    write(told.trace, told.path)
    header = told.trace.header
    rules = {rule.id: rule for rule in (*told.judge.rules, *all_rules())}
    # The choices are recorded on this very subject, so they are taken even if it is a mutant.
    own = header.subject != REFERENCE
    replay = replay_all(symbolic(told.trace), told.model, told.judge, own=own)
    *shown, again = render_replay(replay, rules, header.subject, str(told.path)).splitlines()
    program = ["  program", *(f"    {line}".rstrip() for line in told.program), ""]
    return "\n".join([*shown, *program, again])


def get_path(front: str, header: Header) -> Path:
    """Return where the trace of a break is written, the same for the same break."""
    return TRACES / f"{front}-{header.subject}-{header.rule}.jsonl"


def render_step(name: str, arguments: dict[str, Any]) -> str:
    """Return a step of the machine as Python writes it, in the form that Hypothesis prints."""
    inside = ", ".join(f"{field}={value!r}" for field, value in arguments.items())
    return f"state.{name}({inside})"
