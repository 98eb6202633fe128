"""One entry of the catalogue: a named wrong version, as the text it changes.

Owned here: what an entry says, and how its edits are applied to sources. Not here: the entries
(`catalogue`), compiling the result, and running it.
"""

from collections.abc import Mapping

import msgspec

LOCKSTEP = "lockstep"
"""What a mutant of the device may expect where it expects a rule: to differ from the reference."""


class StaleAnchor(ValueError):
    """The text that a mutant changes is not in its module exactly once."""

    def __init__(self, mutant: str, module: str, old: str, found: int) -> None:
        first = next((line.strip() for line in old.splitlines() if line.strip()), "")
        super().__init__(f"{mutant}: {first!r} is {found} times in {module}, not once")
        self.mutant = mutant
        self.module = module
        self.first_line = first
        self.found = found


class Edit(msgspec.Struct, frozen=True):
    """One change of text."""

    module: str
    """The module it changes, dotted: "reference.fill"."""
    old: str
    """Source text that is in the module exactly once."""
    new: str
    """What stands there instead."""


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A plausible mistake, by a name that says what is wrong."""

    id: str
    """The module it breaks and what goes wrong there: "fill.victim-ignores-pins"; of the device
    with the package: "device.data_path.read-does-not-wait"."""
    does: str
    """What a user would see, as a sentence."""
    edits: tuple[Edit, ...]
    """The changes, usually one."""
    expect: tuple[str, ...]
    """The rules that must notice; of a mutant of the device also `LOCKSTEP`."""
    seen_in: tuple[str, ...] = ()
    """Public reports of the same mistake, or the remark of the review."""
    number: int | None = None
    """Its place in the list of issue 2, if it is on it."""
    scope: str | None = None
    """The smallest scope in which it shows; none for `tiny`. Of the device: the first world."""
    equivalent_because: str = ""
    """Why nothing can tell it from the original; only for accepted survivors."""


def apply_edits(named: Named, sources: Mapping[str, str]) -> dict[str, str]:
    """Return the new source of each module that the mutant changes.

    Edits of one module are made in their order, each in the text that the last one left. Raises
    `StaleAnchor` if an old text is not there exactly once.
    """
    edited: dict[str, str] = {}
    for edit in named.edits:
        source = edited.get(edit.module, sources.get(edit.module, ""))
        found = source.count(edit.old) if edit.old else 0
        if found != 1:
            raise StaleAnchor(named.id, edit.module, edit.old, found)
        edited[edit.module] = source.replace(edit.old, edit.new)
    return edited
