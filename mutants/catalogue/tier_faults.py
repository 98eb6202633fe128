"""Wrong versions of `reference/tier.py`: changes that public reports describe. See `faults`."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="tier.failed-write-back-lets-go",
        does="After a write-back failed its page may leave the frame all the same, and its rows "
        "are nowhere.",
        edits=(
            Edit(
                "reference.tier",
                "    if count == 1 and frame.dirty:\n",
                "    failed = frame.phase == Phase.READY and state.host[handle.page].torn\n"
                "    if count == 1 and frame.dirty and not failed:\n",
            ),
            Edit(
                "reference.fill",
                "        if frame.phase == Phase.READY and not frame.dirty:\n",
                "        if frame.phase == Phase.READY and"
                " (state.host[page].torn or not frame.dirty):\n",
            ),
        ),
        expect=("no-pin-leaves-dirt", "dirty-is-pinned", "victim-was-evictable"),
        seen_in=("https://github.com/sgl-project/sglang/pull/27108",),
    ),
    Named(
        id="tier.landed-copy-cleans-every-page",
        does="When one page of a sequence has been saved, all of its pages count as saved.",
        edits=(
            Edit(
                "reference.tier",
                "    state = set_lease(state, lease_id, end_copy(lease, ticket))\n",
                "    state = set_lease(state, lease_id, end_copy(lease, ticket))\n"
                "    for page, _ in lease.pins if ok else ():\n"
                "        other = get_frame(state, page)\n"
                "        if other.phase == Phase.READY:\n"
                "            state = set_frame(state, state.where[page],"
                " other._replace(dirty=False))\n",
            ),
        ),
        expect=("latest-rows-survive", "clean-equals-host"),
        seen_in=("https://github.com/vllm-project/vllm/issues/56795",),
        scope="small",
    ),
    Named(
        id="tier.unpin-takes-anothers-pin",
        does="A sequence that uses no page gives up the pin of another one that does.",
        edits=(
            Edit(
                "reference.tier",
                "    lease, frame = get_pinned(state, lease_id, handle)\n"
                "    count = get_pins(lease, handle.page)\n",
                "    get_lease(state, lease_id)\n"
                "    users = [other for other, lease in state.leases"
                " if get_pins(lease, handle.page)]\n"
                "    lease_id = users[0] if users else lease_id\n"
                "    lease, frame = get_pinned(state, lease_id, handle)\n"
                "    count = get_pins(lease, handle.page)\n",
            ),
        ),
        expect=("only-a-pinner-succeeds", "other-leases-untouched"),
        seen_in=("https://github.com/paradedb/paradedb/issues/6208",),
        scope="small",
    ),
    Named(
        id="tier.unpin-gives-up-nothing",
        does="A sequence that is done with a page never stops using it.",
        edits=(
            Edit(
                "reference.tier",
                "set_pins(lease, handle.page, count - 1)",
                "set_pins(lease, handle.page, count)",
            ),
        ),
        expect=("pins-by-the-book",),
        seen_in=(
            "https://github.com/LMCache/LMCache/pull/2934",
            "https://github.com/LMCache/LMCache/pull/3884",
            "https://github.com/vllm-project/vllm/pull/35931",
        ),
    ),
    Named(
        id="tier.release-drops-two-holds",
        does="Two layers give back what one sequence held once, and a page is free while another "
        "sequence has it.",
        edits=(
            Edit(
                "reference.tier",
                "    state = drop_hold(set_lease(state, lease_id, lease), page)\n",
                "    state = drop_hold(set_lease(state, lease_id, lease), page)\n"
                "    state = drop_hold(state, page)\n",
            ),
        ),
        expect=("hold-count", "pages-are-partitioned"),
        seen_in=("https://github.com/sgl-project/sglang/issues/13483",),
    ),
    Named(
        id="tier.no-copy-ends-after-a-failure",
        does="Once a write-back has failed, no later one ever ends.",
        edits=(
            Edit(
                "reference.tier",
                "    copy = get_copy(lease_id, lease, ticket, CopyKind.WRITE_BACK)\n    # EFFECT\n",
                "    copy = get_copy(lease_id, lease, ticket, CopyKind.WRITE_BACK)\n"
                "    # EFFECT\n"
                "    if state.counters.failed_write_backs > 0:\n"
                "        return None, state\n",
            ),
        ),
        expect=("write-back-publishes",),
        seen_in=("https://github.com/sgl-project/sglang/issues/38428",),
        scope="small",
    ),
    Named(
        id="tier.only-the-first-row-is-saved",
        does="The host page is shorter than the frame, and keeps its old rows from the second on.",
        edits=(
            Edit(
                "reference.tier",
                "    state = set_host(state, mapped_page(frame), HostPage(frame.rows,"
                " torn=False))\n",
                "    old = state.host[mapped_page(frame)].rows\n"
                "    rows = (frame.rows[0], *old[1:])\n"
                "    state = set_host(state, mapped_page(frame), HostPage(rows, torn=False))\n",
            ),
        ),
        expect=("write-back-publishes", "clean-equals-host", "latest-rows-survive"),
        seen_in=("https://github.com/ormandj/sglang-glm53-flash-sm120/issues/2",),
        scope="rows",
    ),
    Named(
        id="tier.finish-forgets-borrowed-copies",
        does="A sequence ends while a page it borrowed is still being copied out for it.",
        edits=(
            Edit(
                "reference.tier",
                "        raise WriteBackInFlight(mapped_page(frame), copy.frames[0])\n",
                "        if mapped_page(frame) in lease.table:\n"
                "            raise WriteBackInFlight(mapped_page(frame), copy.frames[0])\n",
            ),
            Edit(
                "reference.tier",
                "    dirty = tuple(page for page, _ in lease.pins if get_frame(state,"
                " page).dirty)\n",
                "    saved = [copy.frames[0] for copy in lease.copies]\n"
                "    kept = [page for page, _ in lease.pins if state.where[page] not in saved]\n"
                "    dirty = tuple(page for page in kept if get_frame(state, page).dirty)\n",
            ),
        ),
        expect=("in-flight-is-owned", "no-pin-leaves-dirt", "success-is-allowed"),
        seen_in=(
            "https://github.com/vllm-project/vllm/issues/46951",
            "https://github.com/vllm-project/vllm/pull/41956",
            "https://github.com/MariaDB/server/pull/3310",
        ),
        scope="small",
    ),
)
