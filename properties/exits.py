"""How a command ends: its exit code, and the exception for a command that was used wrongly.

Owns the meaning of the codes. What prints the one line of a misuse is `cli`.
"""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of every command."""

    FINE = 0
    """All as it should be."""
    MISUSE = 1
    """The command was used wrongly; one line says how."""
    NOT_RED = 2
    """A rule that should be red is not, or a mutant is not noticed by a rule it names."""
    CRASHED = 3
    """The harness or a subject crashed, ran out of time, or was interrupted."""
    REFERENCE_BREAKS = 4
    """The unmutated code breaks a rule."""
    CANARY = 5
    """The canary is green, or the no-op red: the run says nothing."""
    STALE = 6
    """The text that a mutant changes is not there exactly once."""


class Misuse(Exception):
    """A command that cannot do what was asked. Its message is one line for the user."""
