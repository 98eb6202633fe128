"""Wrong versions of `reference/leave.py`: leases that leave, resets, and landings."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="leave.abandon-forgets-copies",
        does="A client goes away, and its frames are given to others while its copies still "
        "write to them.",
        edits=(
            Edit(
                "reference.leave",
                "    state = orphan(state, lease.copies)\n",
                "",
            ),
        ),
        expect=("quarantine-by-the-book",),
        seen_in=("https://github.com/kvcache-ai/Mooncake/issues/850",),
        scope="leave",
    ),
    Named(
        id="leave.abandon-keeps-borrowed-pages",
        does="Every client that goes away leaves its shared pages held by nobody, until no "
        "page is free.",
        edits=(
            Edit(
                "reference.leave",
                "    for page in (*lease.table, *lease.borrowed):\n",
                "    for page in lease.table:\n",
            ),
        ),
        expect=(
            "hold-count",
            "finish-leaves-nothing",
        ),
        seen_in=("https://github.com/sgl-project/sglang/pull/9874",),
        scope="orphans",
    ),
    Named(
        id="leave.abandon-only-unlocks",
        does="A lease runs out, its lock is gone, and what it had half written counts as written.",
        edits=(
            Edit(
                "reference.leave",
                "    gone, state = forsake(state)\n    for page in (*lease.table",
                "    gone: tuple[Page, ...] = ()\n    for page in (*lease.table",
            ),
        ),
        expect=("quarantined-frames-wait",),
        seen_in=(
            "https://github.com/LMCache/LMCache/issues/4967",
            "https://github.com/kvcache-ai/Mooncake/issues/850",
        ),
        scope="orphans",
    ),
    Named(
        id="leave.abandon-tells-of-dead-pages",
        does="Who aborts a sequence is told to recompute pages that nobody has any more.",
        edits=(
            Edit(
                "reference.leave",
                "    return tuple(page for page in gone if state.pool.holds[page] > 0), state\n",
                "    return gone, state\n",
            ),
        ),
        expect=("gone-rows-are-told",),
        scope="leave",
    ),
    Named(
        id="leave.abandon-tells-nobody",
        does="A page that others share falls back to older rows and nobody is told.",
        edits=(
            Edit(
                "reference.leave",
                "    return tuple(page for page in gone if state.pool.holds[page] > 0), state\n",
                "    return (), state\n",
            ),
        ),
        expect=("gone-rows-are-told",),
        scope="orphans",
    ),
    Named(
        id="leave.completion-of-the-gone-is-dropped",
        does="Each client that cancels costs its frames for good, until nothing is admitted "
        "any more.",
        edits=(
            Edit(
                "reference.leave",
                "            state = set_frame(state, number, frame._replace(phase=Phase.FREE))\n",
                "            pass\n",
            ),
        ),
        expect=("quarantined-frames-wait",),
        seen_in=("https://github.com/vllm-project/vllm-ascend/issues/16662",),
        scope="leave",
    ),
    Named(
        id="leave.landing-frees-no-page",
        does="Pages whose life ended under a copy are never used again.",
        edits=(
            Edit(
                "reference.leave",
                "    for page in copy.pages:\n        state = settle(state, page)\n",
                "",
            ),
        ),
        expect=("touched-pages-wait",),
        seen_in=("https://github.com/sgl-project/sglang/pull/9874",),
        scope="leave",
    ),
    Named(
        id="leave.failed-landing-publishes",
        does="A write-back failed after its client had gone, and the page counts as saved.",
        edits=(
            Edit(
                "reference.leave",
                "tier.end_write_back(state, number, ok)",
                "tier.end_write_back(state, number, True)",
            ),
        ),
        expect=("failed-write-back-loses-nothing",),
        scope="orphans",
    ),
    Named(
        id="leave.landing-ends-every-copy",
        does="One landing ends the quarantine of all copies, also of those still running.",
        edits=(
            Edit(
                "reference.leave",
                "    rest = tuple(other for other in state.quarantine if other.ticket != ticket)\n",
                "    rest: tuple[Orphan, ...] = ()\n",
            ),
        ),
        expect=("quarantine-by-the-book",),
        scope="orphans",
    ),
    Named(
        id="leave.reset-keeps-claims",
        does="After a reset a sequence still waits for a fill that nobody will complete.",
        edits=(
            Edit(
                "reference.leave",
                "pins=(), claims=(), copies=()",
                "pins=(), copies=()",
            ),
        ),
        expect=("reset-drops-all",),
        seen_in=(
            "https://github.com/vllm-project/vllm/issues/46014",
            "https://github.com/vllm-project/vllm/pull/41956",
        ),
        scope="sleep",
    ),
    Named(
        id="leave.reset-keeps-tickets",
        does="A completion from before a reset is taken for one from after it.",
        edits=(
            Edit(
                "reference.leave",
                "pins=(), claims=(), copies=()",
                "pins=(), claims=()",
            ),
        ),
        expect=("reset-drops-all",),
        seen_in=(
            "https://github.com/vllm-project/vllm/pull/41956",
            "https://github.com/vllm-project/vllm/pull/43265",
        ),
        scope="sleep",
    ),
    Named(
        id="leave.reset-forgets-copies",
        does="After a reset frames are filled anew while copies from before still write to them.",
        edits=(
            Edit(
                "reference.leave",
                "    state = orphan(state, tuple(sorted(copies)))._replace(leases=tuple(leases))\n",
                "    state = state._replace(leases=tuple(leases))\n",
            ),
        ),
        expect=("quarantine-by-the-book",),
        seen_in=("https://github.com/MariaDB/server/pull/3310",),
        scope="sleep",
    ),
    Named(
        id="leave.reset-drops-dirty-pages-only",
        does="After a reset the tier goes on with pages in frames whose memory was given up.",
        edits=(
            Edit(
                "reference.leave",
                "        if frame.page is not None:\n            state = drop_frame",
                "        if frame.page is not None and frame.dirty:\n"
                "            state = drop_frame",
            ),
        ),
        expect=("reset-drops-all",),
        scope="sleep",
    ),
)
