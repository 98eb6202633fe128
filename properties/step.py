"""A step: one call, what it came to, and the views around it. What step rules judge."""

from typing import NamedTuple

from properties.ledger import Ledger
from properties.view import View
from reference.calls import Call, Outcome
from reference.words import LeaseId, Page


class Step(NamedTuple):
    """One call and its surroundings."""

    before: View
    """The view before the call."""
    call: Call
    """The call."""
    outcome: Outcome
    """What it came to."""
    after: View
    """The view after it."""
    ledger: Ledger
    """What the callers knew before the call."""

    @property
    def lease(self) -> LeaseId | None:
        """The lease that makes the call; none for `open`."""
        return getattr(self.call, "lease", None)

    @property
    def unmapped(self) -> list[Page]:
        """Pages that a frame mapped before the call and none, or another, maps after it."""
        mapped = self.after.mapped
        return [page for page, n in self.before.mapped.items() if mapped.get(page) != n]
