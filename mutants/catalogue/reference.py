"""Wrong versions of `reference/reference.py`, the object around the functions."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="reference.refused-open-empties-frames",
        does="An `open` that is refused has thrown out every page that nobody was using.",
        edits=(
            Edit(
                "reference.reference",
                "        lease: LeaseId = self._make(Open(promise))\n        return lease\n",
                "        lease: LeaseId\n"
                "        try:\n"
                "            lease = self._make(Open(promise))\n"
                "        except PromiseUnavailable:\n"
                "            for number in evictable_frames(self.state, ()):\n"
                "                self.state = evict(self.state, number)\n"
                "            lease = self._make(Open(promise))\n"
                "        return lease\n",
            ),
            Edit(
                "reference.reference",
                "from reference.refusals import FillFailed\n",
                "from reference.fill import evict, evictable_frames\n"
                "from reference.refusals import FillFailed, PromiseUnavailable\n",
            ),
        ),
        expect=("refusal-changes-nothing",),
        seen_in=("https://github.com/kvcache-ai/Mooncake/issues/3139",),
        number=28,
    ),
)
