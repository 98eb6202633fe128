"""Wrong versions of `device/fill.py`: victims, and the ways a fill is taken back."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="device.fill.victim-falls-back-to-the-first-frame",
        does="When no frame is empty the first one is taken, whoever is using its page.",
        edits=(
            Edit(
                "device.fill",
                "    victims = tables.frames.victims.get_first(misses - len(free), hits)\n",
                "    victims = np.arange(misses - len(free), dtype=np.int64)\n",
            ),
        ),
        expect=("victim-was-evictable",),
        seen_in=("https://github.com/JustVugg/colibri/pull/316",),
        scope="device-walks",
    ),
    Named(
        id="device.fill.failed-fill-leaks-a-frame",
        does="A frame of a fill that failed is empty, and no fill finds it any more.",
        edits=(
            Edit(
                "device.fill",
                "    tables.frames.unmap(placed)\n    frames = tables.frames.where[pages]\n",
                "    tables.frames.unmap(placed)\n"
                "    tables.frames.free.remove(placed[:1])\n"
                "    frames = tables.frames.where[pages]\n",
            ),
        ),
        expect=("promise-is-kept",),
        seen_in=("https://github.com/sgl-project/sglang/pull/9874",),
    ),
    Named(
        id="device.fill.failed-copy-keeps-misses-mapped",
        does="A page whose fill failed is found afterwards, with rows that never arrived.",
        edits=(
            Edit(
                "device.fill",
                "    undo(tables, lease, claims, flight.frames)\n"
                "    tables.path.discard(NO_NUMBERS, flight.frames)\n",
                "    tables.frames.phase[flight.frames] = Phase.READY\n"
                "    undo(tables, lease, claims, NO_NUMBERS)\n",
            ),
        ),
        expect=("failed-fill-is-undone",),
        seen_in=("https://github.com/LMCache/LMCache/issues/3388",),
    ),
)
