"""Wrong versions of `device/pins.py`: what giving a pin up does besides."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="device.pins.off-evicts-what-nobody-pins",
        does="With the tier off a page leaves its frame with its last pin, and nothing fills it.",
        edits=(
            Edit(
                "device.pins",
                "    tables.frames.let_go(handles.frames)\n",
                "    tables.frames.let_go(handles.frames)\n"
                "    if tables.off:\n"
                "        idle = handles.frames[tables.frames.kept[handles.frames] == 0]\n"
                "        tables.frames.unmap(idle)\n",
            ),
        ),
        expect=("off-keeps-all-resident",),
        scope="device-off",
    ),
)
