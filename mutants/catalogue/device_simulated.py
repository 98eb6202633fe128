"""Wrong versions of `device/simulated.py`: what a device's own copies can get wrong.

They stand for mistakes in a kernel: the tier's code is the same on every device.
"""

from mutants.entry import Edit, Named

_ROWS = """            get_page_rows(self.layout, sources),
            target_rows,
            get_page_rows(self.layout, targets),
            self.layout.rows,
"""

MUTANTS = (
    Named(
        id="device.simulated.copy-leaves-out-the-last-row",
        does="A copy moves all rows of a page but the last.",
        edits=(
            Edit(
                "device.simulated",
                _ROWS,
                "            get_page_rows(self.layout, sources)[: -1 or None],\n"
                "            target_rows,\n"
                "            get_page_rows(self.layout, targets)[: -1 or None],\n"
                "            self.layout.rows,\n",
            ),
        ),
        expect=("clean-equals-host",),
        seen_in=("https://github.com/vllm-project/vllm/pull/55712",),
    ),
    Named(
        id="device.simulated.copy-swaps-rows",
        does="A copy brings the rows of a page in the opposite order.",
        edits=(
            Edit(
                "device.simulated",
                _ROWS,
                "            get_page_rows(self.layout, sources),\n"
                "            target_rows,\n"
                "            get_page_rows(self.layout, targets)"
                ".reshape(-1, self.layout.rows)[:, ::-1].reshape(-1),\n"
                "            self.layout.rows,\n",
            ),
        ),
        expect=("clean-equals-host",),
        scope="device-wide",
    ),
    Named(
        id="device.simulated.copy-leaves-out-the-last-byte",
        does="Rows of the host are taken to be shorter than those of the device: scales are lost.",
        edits=(
            Edit(
                "device.simulated",
                "        (source_rows, sources), (target_rows, targets) = source, target\n",
                "        (source_rows, sources), (target_rows, targets) = source, target\n"
                "        source_rows, target_rows = source_rows[:, :-1], target_rows[:, :-1]\n",
            ),
        ),
        expect=("clean-equals-host",),
        seen_in=("https://github.com/ormandj/sglang-glm53-flash-sm120/issues/2",),
    ),
)
