"""Wrong versions of `reference/fill.py`: what leaving asks of fills."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="fill.quarantined-frames-are-taken",
        does="A fill goes into a frame that a copy from before the reset still writes to.",
        edits=(
            Edit(
                "reference.fill",
                "if frame.phase == Phase.FREE)",
                "if frame.phase in (Phase.FREE, Phase.QUARANTINED))",
            ),
        ),
        expect=("quarantined-frames-wait",),
        scope="sleep",
    ),
    Named(
        id="fill.lost-rows-are-filled",
        does="A sequence reads a page that was half written when its client went away.",
        edits=(
            Edit(
                "reference.fill",
                "        if page in state.lost:\n",
                "        if page in state.lost and state.off:\n",
            ),
        ),
        expect=("success-is-allowed",),
        scope="orphans",
    ),
    Named(
        id="fill.failed-heir-keeps-dirt",
        does="A page left unsaved by a client, and by the fill that would have saved it, "
        "can never be evicted.",
        edits=(
            Edit(
                "reference.fill",
                "        gone, state = forsake(undo(state, lease_id, copy.frames))\n",
                "        gone: tuple[Page, ...] = ()\n"
                "        state = undo(state, lease_id, copy.frames)\n",
            ),
        ),
        expect=("dirty-is-pinned",),
        scope="heirs",
    ),
)
