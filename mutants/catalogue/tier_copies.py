"""Wrong versions of `reference/tier.py`: write-backs, and what their completion does."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="tier.clean-when-the-copy-starts",
        does="A page counts as saved as soon as its write-back starts, and is lost if that fails.",
        edits=(
            Edit(
                "reference.tier",
                "frame._replace(phase=Phase.WRITING_BACK))\n",
                "frame._replace(phase=Phase.WRITING_BACK, dirty=False))\n",
            ),
        ),
        expect=("failed-write-back-loses-nothing", "in-flight-is-owned", "torn-is-dirty"),
        seen_in=("https://github.com/cloudius-systems/osv/pull/1398",),
        number=18,
    ),
    Named(
        id="tier.failed-write-back-counts-as-done",
        does="After a write-back failed the page counts as saved, and its last rows are gone.",
        edits=(
            Edit(
                "reference.tier",
                "    frame = state.frames[number]._replace(phase=Phase.READY)\n"
                "    counters = state.counters\n"
                "    counters = counters._replace(failed_write_backs="
                "counters.failed_write_backs + 1)\n",
                "    frame = state.frames[number]._replace(phase=Phase.READY, dirty=False)\n"
                "    host = state.host[mapped_page(frame)]\n"
                "    state = set_host(state, mapped_page(frame), host._replace(torn=False))\n"
                "    counters = state.counters\n"
                "    counters = counters._replace(write_backs=counters.write_backs + 1)\n",
            ),
        ),
        expect=("failed-write-back-loses-nothing", "latest-rows-survive", "counters-add-up"),
        seen_in=(
            "https://mydbanotebook.org/posts/the-fsync-issue-and-postgres",
            "https://github.com/sgl-project/sglang/pull/27108",
        ),
        number=19,
    ),
    Named(
        id="tier.completion-goes-by-page",
        does="One sequence completes the write-back that another one started on a shared page.",
        edits=(
            Edit(
                "reference.tier",
                "    lease = get_lease(state, lease_id)\n"
                "    copy = get_copy(lease_id, lease, ticket, CopyKind.WRITE_BACK)\n"
                "    # EFFECT\n"
                "    state = set_lease(state, lease_id, end_copy(lease, ticket))\n",
                "    lease = get_lease(state, lease_id)\n"
                "    pages = (*lease.table, *lease.borrowed)\n"
                "    for other_id, other in state.leases:\n"
                "        for copy in other.copies:\n"
                "            page = state.frames[copy.frames[0]].page\n"
                "            started = (copy.ticket, copy.kind) == (ticket, CopyKind.WRITE_BACK)\n"
                "            if started and page in pages:\n"
                "                lease_id, lease = other_id, other\n"
                "    copy = get_copy(lease_id, lease, ticket, CopyKind.WRITE_BACK)\n"
                "    # EFFECT\n"
                "    state = set_lease(state, lease_id, end_copy(lease, ticket))\n",
            ),
        ),
        expect=("completion-is-own", "other-leases-untouched"),
        seen_in=(
            "https://github.com/sgl-project/sglang/pull/30106",
            "https://github.com/vllm-project/vllm/pull/43265",
        ),
        number=25,
        scope="small",
    ),
    Named(
        id="tier.host-stays-torn",
        does="A page that was saved can never be trusted again: its host page stays unreadable.",
        edits=(
            Edit(
                "reference.tier",
                "    state = set_host(state, mapped_page(frame), HostPage(frame.rows,"
                " torn=False))\n",
                "    host = state.host[mapped_page(frame)]\n"
                "    state = set_host(state, mapped_page(frame), host._replace("
                "rows=frame.rows))\n",
            ),
        ),
        expect=("torn-is-dirty", "write-back-publishes"),
        seen_in=("https://github.com/vllm-project/vllm/pull/53532",),
    ),
    Named(
        id="tier.landed-copy-writes-nothing",
        does="A page comes back with its old rows although its write-back succeeded.",
        edits=(
            Edit(
                "reference.tier",
                "    state = set_host(state, mapped_page(frame), HostPage(frame.rows,"
                " torn=False))\n",
                "    host = state.host[mapped_page(frame)]\n"
                "    state = set_host(state, mapped_page(frame), host._replace(torn=False))\n",
            ),
        ),
        expect=("write-back-publishes", "latest-rows-survive", "clean-equals-host"),
        seen_in=("https://github.com/vllm-project/vllm/issues/56795",),
    ),
    Named(
        id="tier.host-page-is-offered-early",
        does="The host page counts as good while rows are still being copied into it.",
        edits=(
            Edit(
                "reference.tier",
                "    state = set_host(state, handle.page, state.host[handle.page]._replace("
                "torn=True))\n",
                "    state = set_host(state, handle.page, HostPage(frame.rows, torn=False))\n",
            ),
        ),
        expect=("write-back-publishes",),
        seen_in=(
            "https://github.com/LMCache/LMCache/issues/4967",
            "https://github.com/LMCache/LMCache/issues/207",
        ),
    ),
    Named(
        id="tier.failed-write-back-never-ends",
        does="After a write-back failed its page can be neither saved nor let go.",
        edits=(
            Edit(
                "reference.tier",
                "    frame = state.frames[number]._replace(phase=Phase.READY)\n",
                "    frame = state.frames[number]\n",
            ),
        ),
        expect=("in-flight-is-owned", "can-always-finish"),
        seen_in=("https://github.com/sgl-project/sglang/issues/38428",),
    ),
    Named(
        id="tier.failed-write-back-takes-old-rows",
        does="After a write-back failed the frame shows the rows from before the last writes.",
        edits=(
            Edit(
                "reference.tier",
                "    frame = state.frames[number]._replace(phase=Phase.READY)\n",
                "    frame = state.frames[number]\n"
                "    rows = state.host[mapped_page(frame)].rows\n"
                "    frame = frame._replace(phase=Phase.READY, rows=rows)\n",
            ),
        ),
        expect=("failed-write-back-loses-nothing", "latest-rows-survive"),
    ),
    Named(
        id="tier.no-second-write-back",
        does="A page whose write-back failed can never be saved, and its sequence never ends.",
        edits=(
            Edit(
                "reference.tier",
                "    lease, frame = get_pinned(state, lease_id, handle)\n"
                "    if frame.phase == Phase.WRITING_BACK:\n",
                "    lease, frame = get_pinned(state, lease_id, handle)\n"
                "    if frame.phase == Phase.WRITING_BACK or state.host[handle.page].torn:\n",
            ),
        ),
        expect=("can-always-finish", "refusal-is-due"),
        seen_in=("https://github.com/LMCache/LMCache/pull/3620",),
    ),
    Named(
        id="tier.off-never-writes-back",
        does="With the tier off a sequence that wrote to a page can never end.",
        edits=(
            Edit(
                "reference.tier",
                "        return None, publish(state, handle.frame)\n",
                "        return None, state\n",
            ),
        ),
        expect=("off-equals-full-tier",),
        seen_in=("https://github.com/NVIDIA/TensorRT-LLM/pull/12306",),
        scope="off",
    ),
    Named(
        id="tier.second-attempt-does-nothing",
        does="A page whose write-back failed is saved again in vain: the call returns at once.",
        edits=(
            Edit(
                "reference.tier",
                "    if not frame.dirty:\n        return None, state\n",
                "    if not frame.dirty or state.host[handle.page].torn:\n"
                "        return None, state\n",
            ),
        ),
        expect=("copies-by-the-book", "can-always-finish"),
        seen_in=("https://github.com/vllm-project/vllm/issues/56795",),
    ),
)
