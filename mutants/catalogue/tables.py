"""Wrong versions of `reference/tables.py`."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="tables.claim-works-as-pin",
        does="A sequence may use a page before the fill that asked for it has completed.",
        edits=(
            Edit(
                "reference.tables",
                "    if get_pins(lease, handle.page) == 0:\n",
                "    if get_pins(lease, handle.page) == 0 and handle.page not in lease.claims:\n",
            ),
        ),
        expect=("only-a-pinner-succeeds", "dirty-is-pinned"),
        seen_in=("https://github.com/sgl-project/sglang/pull/8901",),
        number=20,
    ),
    Named(
        id="tables.completion-ignores-its-ticket",
        does="A late report about an old copy completes the one that is under way.",
        edits=(
            Edit(
                "reference.tables",
                "        if copy.ticket == ticket and copy.kind == kind:\n",
                "        if copy.kind == kind:\n",
            ),
            Edit("reference.fill", "end_copy(lease, ticket)", "end_copy(lease, copy.ticket)"),
            Edit("reference.tier", "end_copy(lease, ticket)", "end_copy(lease, copy.ticket)"),
        ),
        expect=("completion-is-own",),
        seen_in=(
            "https://github.com/vllm-project/vllm/pull/41956",
            "https://github.com/vllm-project/vllm/pull/43265",
        ),
        number=24,
    ),
    Named(
        id="tables.handle-ignores-frame",
        does="A handle with the right page and another frame is accepted, and a write through it "
        "lands in that frame.",
        edits=(
            Edit(
                "reference.tables",
                "    frame = state.frames[handle.frame]\n"
                "    if frame.page != handle.page or frame.generation != handle.generation:\n"
                "        raise StaleHandle(handle)\n",
                "    number = state.where[handle.page]\n"
                "    if number is None or state.frames[number].generation != handle.generation:\n"
                "        raise StaleHandle(handle)\n"
                "    frame = state.frames[number]\n",
            ),
        ),
        expect=("stale-handle-is-refused",),
        seen_in=("https://github.com/NVIDIA/TensorRT-LLM/pull/13124",),
        number=26,
        scope="small",
    ),
    Named(
        id="tables.handle-ignores-page",
        does="A handle that names one page and the frame of another reads the other page's rows.",
        edits=(
            Edit(
                "reference.tables",
                "    if frame.page != handle.page or frame.generation != handle.generation:\n",
                "    if frame.page is None or frame.generation != handle.generation:\n",
            ),
        ),
        expect=("stale-handle-is-refused",),
        seen_in=("https://github.com/sgl-project/sglang/pull/36731",),
        scope="small",
    ),
    Named(
        id="tables.handle-ignores-generation",
        does="A handle from before its page left the frame works once the page is back.",
        edits=(
            Edit(
                "reference.tables",
                "    if frame.page != handle.page or frame.generation != handle.generation:\n",
                "    if frame.page != handle.page:\n",
            ),
        ),
        expect=("stale-handle-is-refused",),
        seen_in=(
            "https://github.com/neo4j/neo4j/pull/3181",
            "https://github.com/pelikan-io/cache-rs/issues/50",
        ),
    ),
    Named(
        id="tables.emptied-frame-keeps-its-phase",
        does="Frames that lost their page are never given to another one.",
        edits=(
            Edit(
                "reference.tables",
                "Frame(None, frame.generation + 1, phase, dirty",
                "Frame(None, frame.generation + 1, frame.phase, dirty",
            ),
        ),
        expect=("free-iff-unmapped",),
        seen_in=(
            "https://github.com/kuzudb/kuzu/pull/4246",
            "https://github.com/eloqdata/eloqstore/pull/487",
        ),
    ),
    Named(
        id="tables.evicted-page-is-still-found",
        does="A page that left its frame still counts as resident, and is a hit there.",
        edits=(
            Edit(
                "reference.tables",
                "    where = (*state.where[:page], None, *state.where[page + 1 :])\n",
                "    where = state.where\n",
            ),
            Edit(
                "reference.tier",
                "    return state if number is None else unmap(state, number)\n",
                "    if number is None or state.frames[number].page != page:\n"
                "        return state\n"
                "    return unmap(state, number)\n",
            ),
        ),
        expect=("one-frame-per-page",),
        seen_in=(
            "https://github.com/vllm-project/vllm/pull/44237",
            "https://github.com/sgl-project/sglang/pull/25805",
        ),
    ),
    Named(
        id="tables.emptied-frame-keeps-its-generation",
        does="A handle from before a page left its frame works once the page is back.",
        edits=(
            Edit(
                "reference.tables",
                "Frame(None, frame.generation + 1, phase",
                "Frame(None, frame.generation, Phase.FREE",
            ),
        ),
        expect=("generation-moves-on",),
        seen_in=(
            "https://github.com/neo4j/neo4j/pull/3181",
            "https://github.com/pelikan-io/cache-rs/issues/50",
        ),
    ),
    Named(
        id="tables.new-page-shows-the-frames-rows",
        does="With the tier off, a page just allocated shows the rows of the page before it.",
        edits=(
            Edit(
                "reference.tables",
                "._replace(page=page, phase=phase, rows=state.host[page].rows)\n",
                "._replace(page=page, phase=phase)\n",
            ),
        ),
        expect=("off-equals-full-tier",),
        scope="off",
    ),
    Named(
        id="tables.unmapping-saves-other-pages",
        does="When a page leaves its frame, half-written rows of the others reach host memory.",
        edits=(
            Edit(
                "reference.tables",
                "    recency = tuple(other for other in state.recency if other != page)\n",
                "    recency = tuple(other for other in state.recency if other != page)\n"
                "    for other in state.frames:\n"
                "        if other.page is not None and other.dirty"
                " and not state.host[other.page].torn:\n"
                "            state = set_host(state, other.page, HostPage(other.rows,"
                " torn=False))\n",
            ),
        ),
        expect=("eviction-keeps-host",),
        seen_in=("https://github.com/ROCm/ATOM/pull/2132",),
        scope="small",
    ),
)
