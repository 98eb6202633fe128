"""Wrong versions of `device/quarantine.py`: what a copy that nobody owns may still touch."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="device.quarantine.frames-are-free-at-once",
        does="Frames of a lease that was abandoned are filled anew while its copies still run.",
        edits=(
            Edit(
                "device.quarantine",
                "    is_touched = tables.frames.orphaned[frames]\n",
                "    is_touched = np.zeros(len(frames), dtype=np.bool_)\n",
            ),
        ),
        expect=("quarantined-frames-wait",),
        seen_in=("https://github.com/sgl-project/sglang/pull/24585",),
        scope="device-wide",
    ),
    Named(
        id="device.quarantine.host-pages-are-not-counted",
        does="A host page begins a new life while a write-back that nobody owns still runs.",
        edits=(
            Edit(
                "device.quarantine",
                "        tables.pool.touched[pages] += 1\n",
                '        if flight.kind == "fill":\n            tables.pool.touched[pages] += 1\n',
            ),
        ),
        expect=("touched-pages-wait",),
        seen_in=("https://github.com/sgl-project/sglang/pull/28468",),
        scope="device-wide",
    ),
)
