"""Wrong versions of `device/frames.py`: the tables between pages and frames."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="device.frames.unmapped-is-the-first-frame",
        does="A page that left its frame is looked for in the first one.",
        edits=(
            Edit(
                "device.frames",
                "        self.where[self.page[frames]] = NONE\n",
                "        self.where[self.page[frames]] = 0\n",
            ),
        ),
        expect=("one-frame-per-page",),
        seen_in=("https://github.com/sgl-project/sglang/pull/23935",),
    ),
    Named(
        id="device.frames.claimed-page-may-be-evicted",
        does="A page that a fill in flight has found loses its frame to another fill.",
        edits=(
            Edit(
                "device.frames",
                "~self.dirty[frames] & (self.kept[frames] == 0)",
                "~self.dirty[frames]",
            ),
        ),
        expect=("victim-was-evictable", "pinned-keeps-frame"),
        scope="device-walks",
    ),
)
