"""Wrong versions of `reference/tier.py`: looking, pins, dirt and rows."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="tier.dirty-without-a-pin",
        does="A page that nobody uses is marked as newer than its host page and can never leave "
        "its frame.",
        edits=(
            Edit("reference.tier", "    UnknownPage,\n", "    StaleHandle,\n    UnknownPage,\n"),
            Edit(
                "reference.tier",
                "    _, frame = get_pinned(state, lease_id, handle)\n"
                "    if frame.phase == Phase.WRITING_BACK:\n"
                "        raise WriteBackInFlight(handle.page, handle.frame)\n"
                "    # EFFECT\n",
                "    get_lease(state, lease_id)\n"
                "    frame = state.frames[handle.frame]\n"
                "    if (frame.page, frame.generation) != (handle.page, handle.generation):\n"
                "        raise StaleHandle(handle)\n"
                "    if frame.phase == Phase.WRITING_BACK:\n"
                "        raise WriteBackInFlight(handle.page, handle.frame)\n"
                "    # EFFECT\n",
            ),
        ),
        expect=("only-a-pinner-succeeds", "dirty-is-pinned", "room-for-every-promise"),
        seen_in=(
            "review, remark 2",
            "https://github.com/greenplum-db/gpdb/pull/14949",
            "https://github.com/eloqdata/eloqstore/pull/487",
        ),
        number=5,
    ),
    Named(
        id="tier.dirty-with-anothers-pin",
        does="A sequence marks a page that only another one is using.",
        edits=(
            Edit(
                "reference.tier",
                "    _, frame = get_pinned(state, lease_id, handle)\n"
                "    if frame.phase == Phase.WRITING_BACK:\n"
                "        raise WriteBackInFlight(handle.page, handle.frame)\n"
                "    # EFFECT\n",
                "    get_lease(state, lease_id)\n"
                "    users = [other for other, lease in state.leases"
                " if get_pins(lease, handle.page)]\n"
                "    _, frame = get_pinned(state, users[0] if users else lease_id, handle)\n"
                "    if frame.phase == Phase.WRITING_BACK:\n"
                "        raise WriteBackInFlight(handle.page, handle.frame)\n"
                "    # EFFECT\n",
            ),
        ),
        expect=("only-a-pinner-succeeds",),
        seen_in=("review, remark 2",),
        number=6,
        scope="small",
    ),
    Named(
        id="tier.unsaved-page-is-let-go",
        does="A sequence lets go of a page it has written to, and the frame is lost to everyone.",
        edits=(
            Edit(
                "reference.tier",
                "    if count == 1 and frame.dirty:\n",
                "    if count == 1 and frame.phase == Phase.WRITING_BACK:\n",
            ),
        ),
        expect=("no-pin-leaves-dirt", "dirty-is-pinned", "room-for-every-promise"),
        seen_in=("review, remark 2", "https://github.com/eloqdata/eloqstore/pull/487"),
        number=9,
    ),
    Named(
        id="tier.lookup-refreshes",
        does="Asking where pages are changes which of them is thrown out next.",
        edits=(
            Edit(
                "reference.tier",
                "    return Handle(page, number, state.frames[number].generation), state\n",
                "    older = tuple(other for other in state.recency if other != page)\n"
                "    handle = Handle(page, number, state.frames[number].generation)\n"
                "    return handle, state._replace(recency=(*older, page))\n",
            ),
        ),
        expect=("looking-changes-nothing",),
        number=23,
        scope="small",
    ),
    Named(
        id="tier.lookup-counts-a-hit",
        does="The hit rate rises when somebody only asks where pages are.",
        edits=(
            Edit(
                "reference.tier",
                "    return Handle(page, number, state.frames[number].generation), state\n",
                "    counters = state.counters._replace(hits=state.counters.hits + 1)\n"
                "    handle = Handle(page, number, state.frames[number].generation)\n"
                "    return handle, state._replace(counters=counters)\n",
            ),
        ),
        expect=("looking-changes-nothing", "counters-add-up"),
    ),
    Named(
        id="tier.unpin-gives-up-two",
        does="A sequence that pinned a page twice loses it after giving up one pin.",
        edits=(
            Edit(
                "reference.tier",
                "set_pins(lease, handle.page, count - 1)",
                "set_pins(lease, handle.page, count - 2)",
            ),
        ),
        expect=("pins-by-the-book",),
        seen_in=("https://github.com/LMCache/LMCache/issues/4133",),
        number=29,
        scope="pins",
    ),
    Named(
        id="tier.unpin-empties-the-frame",
        does="A page has to be copied in again as soon as its last user let go for a moment.",
        edits=(
            Edit(
                "reference.tier",
                "    state = set_lease(state, lease_id, set_pins(lease, handle.page, count - 1))\n",
                "    state = set_lease(state, lease_id, set_pins(lease, handle.page, count - 1))\n"
                "    leases = [other for _, other in state.leases]\n"
                "    if not any(get_pins(other, handle.page) or handle.page in other.claims"
                " for other in leases):\n"
                "        state = unmap(state, handle.frame)\n",
            ),
        ),
        expect=("maps-change-only-by-rule",),
    ),
    Named(
        id="tier.dirty-moves-generation",
        does="After a sequence announces a write, its own handle is refused.",
        edits=(
            Edit(
                "reference.tier",
                "frame._replace(dirty=True))\n",
                "frame._replace(dirty=True, generation=frame.generation + 1))\n",
            ),
        ),
        expect=("generation-moves-on", "pinned-keeps-frame"),
        number=31,
    ),
    Named(
        id="tier.write-during-its-own-copy",
        does="Rows are written while they are being copied out, so the host page has half of them.",
        edits=(
            Edit(
                "reference.tier",
                "    if frame.phase == Phase.WRITING_BACK:\n"
                "        raise WriteBackInFlight(handle.page, handle.frame)\n"
                "    if not frame.dirty:\n"
                "        raise NotDirty",
                "    if not frame.dirty:\n        raise NotDirty",
            ),
        ),
        expect=("no-write-in-flight",),
        seen_in=(
            "https://github.com/ROCm/ATOM/pull/2132",
            "https://github.com/NVIDIA/TensorRT-LLM/pull/15546",
        ),
    ),
    Named(
        id="tier.mark-waits-for-own-copies-only",
        does="One sequence starts to change a page while another's copy of it is under way.",
        edits=(
            Edit(
                "reference.tier",
                "    _, frame = get_pinned(state, lease_id, handle)\n"
                "    if frame.phase == Phase.WRITING_BACK:\n"
                "        raise WriteBackInFlight(handle.page, handle.frame)\n"
                "    # EFFECT\n",
                "    lease, frame = get_pinned(state, lease_id, handle)\n"
                "    if any((handle.frame,) == copy.frames and copy.kind == CopyKind.WRITE_BACK"
                " for copy in lease.copies):\n"
                "        raise WriteBackInFlight(handle.page, handle.frame)\n"
                "    # EFFECT\n",
            ),
        ),
        expect=("no-write-in-flight", "success-is-allowed"),
        seen_in=("https://github.com/sgl-project/sglang/pull/24585",),
        scope="small",
    ),
    Named(
        id="tier.row-is-checked-before-dirt",
        does="A write that was never announced is refused for its row number.",
        edits=(
            Edit(
                "reference.tier",
                "    if not frame.dirty:\n"
                "        raise NotDirty(handle.page, handle.frame)\n"
                "    check_row(state, row)\n",
                "    check_row(state, row)\n"
                "    if not frame.dirty:\n"
                "        raise NotDirty(handle.page, handle.frame)\n",
            ),
        ),
        expect=("refusal-is-due",),
    ),
    Named(
        id="tier.second-write-is-dropped",
        does="A row that was written once keeps its first value.",
        edits=(
            Edit(
                "reference.tier",
                "    rows = (*frame.rows[:row], value, *frame.rows[row + 1 :])\n",
                "    rows = (*frame.rows[:row], frame.rows[row] or value,"
                " *frame.rows[row + 1 :])\n",
            ),
        ),
        expect=("latest-rows-survive", "read-sees-last-write"),
    ),
    Named(
        id="tier.read-asks-the-host",
        does="A sequence does not read its own writes until they are written back.",
        edits=(
            Edit(
                "reference.tier",
                "    return frame.rows[row], state\n",
                "    return state.host[handle.page].rows[row], state\n",
            ),
        ),
        expect=("read-sees-last-write",),
    ),
    Named(
        id="tier.lookup-shows-a-page-still-coming",
        does="A page that is still being copied in is reported as being there.",
        edits=(
            Edit(
                "reference.tier",
                "    if number is None or state.frames[number].phase == Phase.FILLING:\n",
                "    if number is None:\n",
            ),
        ),
        expect=("lookup-tells-the-truth",),
        seen_in=("https://github.com/sgl-project/sglang/pull/8901",),
    ),
    Named(
        id="tier.lookup-answers-strangers",
        does="A sequence is told where a page is that it was never given.",
        edits=(
            Edit(
                "reference.tier",
                "    get_held(state, lease_id, page)\n    # RESULT\n",
                "    get_lease(state, lease_id)\n"
                "    if not pool.is_live(state.pool, page):\n"
                "        get_held(state, lease_id, page)\n"
                "    # RESULT\n",
            ),
        ),
        expect=("success-is-allowed",),
        seen_in=("https://github.com/kvcache-ai/Mooncake/issues/4153",),
        scope="small",
    ),
    Named(
        id="tier.borrowed-page-is-never-marked",
        does="What a sequence writes into a page that it shares is never saved.",
        edits=(
            Edit(
                "reference.tier",
                "    state = set_frame(state, handle.frame, frame._replace(dirty=True))\n",
                "    own = handle.page in get_lease(state, lease_id).table\n"
                "    marked = frame._replace(dirty=frame.dirty or own)\n"
                "    state = set_frame(state, handle.frame, marked)\n",
            ),
        ),
        expect=("mark-makes-dirty",),
        seen_in=("https://github.com/vllm-project/vllm/pull/56158",),
        scope="small",
    ),
)
