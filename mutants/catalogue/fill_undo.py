"""Wrong versions of `reference/fill.py`: what is left of a fill that failed."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="fill.fault-keeps-misses-mapped",
        does="A fill that fails half-way leaves the pages it placed in frames nothing was copied "
        "to, and they never become usable.",
        edits=(
            Edit(
                "reference.fill",
                "        return FAILED, undo(state, lease_id, placed)\n",
                "        return FAILED, undo(state, lease_id, ())\n",
            ),
        ),
        expect=("failed-fill-is-undone", "in-flight-is-owned"),
        seen_in=("review, remark 1", "https://github.com/LMCache/LMCache/issues/3022"),
        number=1,
        scope="small",
    ),
    Named(
        id="fill.failed-copy-keeps-misses-mapped",
        does="After a copy failed the pages count as resident, and the next fill is a hit.",
        edits=(
            Edit(
                "reference.fill",
                "    if not ok:\n"
                "        # Only this claim may have kept a dirty hit whose lease was abandoned: it "
                "goes now.\n"
                "        gone, state = forsake(undo(state, lease_id, copy.frames))\n"
                "        return FAILED._replace(value=gone or None), state\n",
                "",
            ),
            Edit(
                "reference.fill",
                "    # RESULT\n    return None, claims_to_pins(state, lease_id)\n",
                "    if not ok:\n"
                "        return FAILED, undo(state, lease_id, ())\n"
                "    # RESULT\n"
                "    return None, claims_to_pins(state, lease_id)\n",
            ),
        ),
        expect=("failed-fill-is-undone",),
        seen_in=(
            "review, remark 1",
            "https://github.com/vllm-project/vllm/pull/26813",
            "https://github.com/kuzudb/kuzu/pull/4246",
        ),
        number=2,
    ),
    Named(
        id="fill.fault-skips-the-undo",
        does="Only when a fault strikes during a fill, the tier goes on as if the copies were "
        "still to come.",
        edits=(
            Edit(
                "reference.fill",
                "        return FAILED, undo(state, lease_id, placed)\n",
                "        failed_fills = state.counters.failed_fills + 1\n"
                "        counters = state.counters._replace(failed_fills=failed_fills)\n"
                "        return FAILED, state._replace(counters=counters)\n",
            ),
        ),
        expect=("failed-fill-is-undone",),
        seen_in=("review, remark 3",),
        number=3,
    ),
    Named(
        id="fill.undo-keeps-generation",
        does="A handle from a fill that failed works again once the page is back in its frame.",
        edits=(
            Edit(
                "reference.fill",
                "        state = unmap(state, number)\n    lease = get_lease",
                "        frame = state.frames[number]\n"
                "        state = unmap(state, number)\n"
                "        frame = frame._replace(page=None, phase=Phase.FREE)\n"
                "        state = set_frame(state, number, frame)\n"
                "    lease = get_lease",
            ),
        ),
        expect=("generation-moves-on",),
        seen_in=("review, remark 1", "https://github.com/neo4j/neo4j/pull/3181"),
        number=4,
    ),
    Named(
        id="fill.failed-copy-serves-old-rows",
        does="After a copy failed the next fill is a hit over rows that were never copied in.",
        edits=(
            Edit(
                "reference.fill",
                "    if not ok:\n"
                "        # Only this claim may have kept a dirty hit whose lease was abandoned: it "
                "goes now.\n"
                "        gone, state = forsake(undo(state, lease_id, copy.frames))\n"
                "        return FAILED._replace(value=gone or None), state\n",
                "",
            ),
            Edit(
                "reference.fill",
                "        rows = state.host[mapped_page(frame)].rows\n",
                "        rows = state.host[mapped_page(frame)].rows if ok else frame.rows\n",
            ),
            Edit(
                "reference.fill",
                "    # RESULT\n    return None, claims_to_pins(state, lease_id)\n",
                "    if not ok:\n"
                "        return FAILED, undo(state, lease_id, ())\n"
                "    # RESULT\n"
                "    return None, claims_to_pins(state, lease_id)\n",
            ),
            Edit(
                "reference.tables",
                "._replace(page=page, phase=phase, rows=state.host[page].rows)\n",
                "._replace(page=page, phase=phase)\n",
            ),
        ),
        expect=("clean-equals-host", "failed-fill-is-undone"),
        seen_in=("review, remark 1", "https://github.com/ai-dynamo/dynamo/issues/15079"),
    ),
    Named(
        id="fill.undo-drops-the-hits",
        does="A fill that fails also throws out the pages it had found in frames.",
        edits=(
            Edit(
                "reference.fill",
                "    for number in placed:\n        state = unmap(state, number)\n",
                "    for page in get_lease(state, lease_id).claims:\n"
                "        number = state.where[page]\n"
                "        if number is not None:\n"
                "            state = unmap(state, number)\n",
            ),
        ),
        expect=("failed-fill-is-undone",),
        seen_in=("https://github.com/vllm-project/vllm/pull/26813",),
        scope="small",
    ),
    Named(
        id="fill.undo-clears-every-claim",
        does="When one sequence's fill fails, another's fill that is under way gives it nothing.",
        edits=(
            Edit(
                "reference.fill",
                "    lease = get_lease(state, lease_id)._replace(claims=())\n"
                "    counters = state.counters._replace(failed_fills="
                "state.counters.failed_fills + 1)\n"
                "    return set_lease(state, lease_id, lease)._replace(counters=counters)\n",
                "    leases = tuple((other, lease._replace(claims=())) for other, lease in"
                " state.leases)\n"
                "    counters = state.counters._replace(failed_fills="
                "state.counters.failed_fills + 1)\n"
                "    return state._replace(leases=leases, counters=counters)\n",
            ),
        ),
        expect=("other-leases-untouched",),
        seen_in=("https://github.com/LMCache/LMCache/issues/4137",),
        scope="small",
    ),
    Named(
        id="fill.early-fault-is-not-counted",
        does="Fills that fail at their first page do not show in the count of failed fills.",
        edits=(
            Edit(
                "reference.fill",
                "(failed_fills=state.counters.failed_fills + 1)\n",
                "(failed_fills=state.counters.failed_fills + bool(placed))\n",
            ),
        ),
        expect=("counters-add-up",),
        seen_in=("https://github.com/ai-dynamo/dynamo/issues/4549",),
    ),
)
