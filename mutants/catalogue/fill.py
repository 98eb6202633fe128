"""Wrong versions of `reference/fill.py`: victims, placing and completion. Undo: `fill_undo`."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="fill.victim-ignores-pins",
        does="A page that a sequence is using is thrown out of its frame for another's miss.",
        edits=(
            Edit(
                "reference.fill",
                "        kept.update(page for page, _ in lease.pins)\n",
                "",
            ),
        ),
        expect=("victim-was-evictable", "pinned-page-is-resident"),
        seen_in=(
            "https://github.com/LMCache/LMCache/pull/3130",
            "https://github.com/JustVugg/colibri/pull/316",
        ),
        number=10,
        scope="default",
    ),
    Named(
        id="fill.victim-ignores-own-claims",
        does="A sequence asks for two pages; to bring the second in, the first, which was in a "
        "frame already, is thrown out.",
        edits=(
            Edit("reference.fill", "    kept = set(claimed)\n", "    kept: set[Page] = set()\n"),
            Edit(
                "reference.fill",
                '    assert number is not None, f"page {page} is mapped"\n'
                "    return Handle(page, number, get_frame(state, page).generation)\n",
                "    number = number or 0\n"
                "    return Handle(page, number, state.frames[number].generation)\n",
            ),
        ),
        expect=("fill-keeps-its-hits",),
        seen_in=(
            "https://github.com/NVIDIA/TensorRT-LLM/pull/8830",
            "https://github.com/vllm-project/vllm/issues/39702",
        ),
        number=11,
        scope="default",
    ),
    Named(
        id="fill.victim-ignores-claims-of-others",
        does="While one sequence waits for a copy, a page it found in a frame is thrown out for "
        "another's miss.",
        edits=(Edit("reference.fill", "        kept.update(lease.claims)\n", ""),),
        expect=("victim-was-evictable", "pinned-page-is-resident"),
        seen_in=("https://github.com/NVIDIA/TensorRT-LLM/pull/8830",),
        number=12,
        scope="claims",
    ),
    Named(
        id="fill.victim-ignores-copies-in-flight",
        does="A frame that a copy is still landing in is given to another page.",
        edits=(
            Edit("reference.fill", "        kept.update(lease.claims)\n", ""),
            Edit(
                "reference.fill",
                "    for page in state.recency:\n"
                "        number = state.where[page]\n"
                "        if number is None",
                "    for page, number in enumerate(state.where):\n        if number is None",
            ),
            Edit(
                "reference.fill",
                "        frame = state.frames[number]\n"
                "        if frame.phase == Phase.READY and not frame.dirty:\n",
                "        if not state.frames[number].dirty:\n",
            ),
        ),
        expect=("victim-was-evictable", "pinned-page-is-resident"),
        seen_in=("https://github.com/sgl-project/sglang/pull/28468",),
        number=13,
        scope="default",
    ),
    Named(
        id="fill.only-free-frames-are-taken",
        does="A fill is refused for want of frames although pages nobody uses could leave theirs.",
        edits=(
            Edit(
                "reference.fill",
                "    available = len(free_frames(state)) + len(evictable_frames(state, pages))\n",
                "    available = len(free_frames(state))\n",
            ),
        ),
        expect=("promise-is-kept", "refusal-is-due", "every-call-happens"),
        seen_in=("https://github.com/vllm-project/vllm/pull/51323",),
        number=14,
    ),
    Named(
        id="fill.misses-placed-before-hits-claimed",
        does="A sequence gets a handle to a page that the same call has just thrown out.",
        edits=(
            Edit(
                "reference.fill",
                "    lease = lease._replace(claims=pages)\n"
                "    state = set_lease(state, lease_id, lease)._replace(counters=counters)\n",
                "    state = state._replace(counters=counters)\n"
                "    found = {page: get_handle(state, page) for page in pages"
                " if page not in misses}\n",
            ),
            Edit(
                "reference.fill",
                "    handles = tuple(get_handle(state, page) for page in pages)\n",
                "    found.update((page, get_handle(state, page)) for page in misses)\n"
                "    handles = tuple(found[page] for page in pages)\n"
                "    resident = tuple(page for page in pages if state.where[page] is not None)\n"
                "    lease = lease._replace(claims=resident)\n"
                "    state = set_lease(state, lease_id, lease)\n",
            ),
            Edit(
                "reference.fill",
                "    free, evictable = free_frames(state), evictable_frames(state, pages)\n",
                "    free, evictable = free_frames(state), evictable_frames(state, ())\n",
            ),
        ),
        expect=("fill-keeps-its-hits",),
        seen_in=(
            "https://github.com/NVIDIA/TensorRT-LLM/pull/8830",
            "https://github.com/MariaDB/server/pull/3526",
        ),
        number=22,
        scope="default",
    ),
    Named(
        id="fill.second-pin-is-lost",
        does="A sequence that fills a page twice and gives up one pin has none left.",
        edits=(
            Edit(
                "reference.fill",
                "        lease = set_pins(lease, page, get_pins(lease, page) + 1)\n",
                "        lease = set_pins(lease, page, 1)\n",
            ),
        ),
        expect=("pins-by-the-book",),
        number=30,
    ),
    Named(
        id="fill.landed-copy-is-not-taken",
        does="After a fill the frame still holds what was in it before, another page's rows.",
        edits=(
            Edit(
                "reference.fill",
                "        rows = state.host[mapped_page(frame)].rows\n"
                "        state = set_frame(state, number, frame._replace(phase=Phase.READY,"
                " rows=rows))\n",
                "        state = set_frame(state, number, frame._replace(phase=Phase.READY))\n",
            ),
            Edit(
                "reference.tables",
                "._replace(page=page, phase=phase, rows=state.host[page].rows)\n",
                "._replace(page=page, phase=phase)\n",
            ),
        ),
        expect=("clean-equals-host", "read-sees-last-write"),
        seen_in=("https://github.com/ai-dynamo/dynamo/issues/15079",),
    ),
    Named(
        id="fill.frame-number-is-taken-for-page",
        does="A page that was not filled into the frame of its own number holds another's rows.",
        edits=(
            Edit(
                "reference.fill",
                "        rows = state.host[mapped_page(frame)].rows\n",
                "        rows = state.host[number].rows\n",
            ),
        ),
        expect=("clean-equals-host", "read-sees-last-write"),
        seen_in=(
            "https://github.com/NVIDIA/TensorRT-LLM/pull/13124",
            "https://github.com/sgl-project/sglang/pull/36731",
        ),
    ),
    Named(
        id="fill.pages-in-use-are-not-counted",
        does="A sequence that promised one page gets a second one while it still uses the first.",
        edits=(
            Edit(
                "reference.fill",
                "    wanted = len({page for page, _ in lease.pins} | set(pages))\n",
                "    wanted = len(set(pages))\n",
            ),
        ),
        expect=("pins-within-promise", "success-is-allowed", "room-for-every-promise"),
        seen_in=(
            "https://github.com/neondatabase/neon/issues/2904",
            "https://github.com/mstar-project/mstar/issues/307",
        ),
        scope="small",
    ),
    Named(
        id="fill.pending-page-counts-as-hit",
        does="A sequence reads a page that is still being copied in for another.",
        edits=(
            Edit(
                "reference.fill",
                "    for page in pages:\n"
                "        number = state.where[page]\n"
                "        if number is not None and state.frames[number].phase == Phase.FILLING:\n"
                "            raise HitPending(page, number)\n",
                "",
            ),
        ),
        expect=("success-is-allowed",),
        seen_in=(
            "https://github.com/LMCache/LMCache/issues/207",
            "https://github.com/vllm-project/vllm/issues/49250",
        ),
        scope="small",
    ),
    Named(
        id="fill.victim-saved-over-the-miss",
        does="A page that comes back from host memory has the rows of the page it pushed out.",
        edits=(
            Edit(
                "reference.fill",
                "        state = evict(state, number)\n",
                "        victim = state.frames[number]\n"
                "        state = evict(state, number)\n"
                "        if victim.page is not None:\n"
                "            state = set_host(state, page, HostPage(victim.rows, torn=False))\n",
            ),
            Edit(
                "reference.fill",
                "from reference.state import Copy, CopyKind, Lease, State\n",
                "from reference.state import Copy, CopyKind, HostPage, Lease, State\n",
            ),
            Edit("reference.fill", "    set_frame,\n", "    set_frame,\n    set_host,\n"),
        ),
        expect=("eviction-keeps-host", "latest-rows-survive"),
        seen_in=("https://github.com/lightseekorg/tokenspeed/pull/293",),
    ),
    Named(
        id="fill.hits-are-not-refreshed",
        does="A page in constant use is thrown out first, because only its first fill counts.",
        edits=(
            Edit(
                "reference.fill",
                "    older = tuple(page for page in state.recency if page not in claims)\n"
                "    return state._replace(recency=older + claims)\n",
                "    newer = tuple(page for page in claims if page not in state.recency)\n"
                "    return state._replace(recency=state.recency + newer)\n",
            ),
        ),
        expect=("recency-by-rule",),
        seen_in=("https://github.com/vllm-project/vllm/issues/16825",),
        scope="small",
    ),
    Named(
        id="fill.every-miss-counts-as-eviction",
        does="The eviction counter rises while the tier still has empty frames.",
        edits=(
            Edit(
                "reference.fill",
                "    if state.frames[number].page is None:\n"
                "        return state\n"
                "    counters = state.counters._replace(evictions=state.counters.evictions + 1)\n"
                "    return unmap(state, number)._replace(counters=counters)\n",
                "    counters = state.counters._replace(evictions=state.counters.evictions + 1)\n"
                "    state = state._replace(counters=counters)\n"
                "    return state if state.frames[number].page is None else"
                " unmap(state, number)\n",
            ),
        ),
        expect=("counters-add-up",),
        seen_in=("https://github.com/cberner/redb/pull/872",),
    ),
    Named(
        id="fill.handles-come-sorted",
        does="Pages asked for in reverse come back with the handles of one another.",
        edits=(
            Edit(
                "reference.fill",
                "    handles = tuple(get_handle(state, page) for page in pages)\n",
                "    handles = tuple(get_handle(state, page) for page in sorted(pages))\n",
            ),
        ),
        expect=("pins-by-the-book",),
        seen_in=("https://github.com/ai-dynamo/dynamo/pull/8419",),
        scope="small",
    ),
    Named(
        id="fill.late-fault-never-strikes",
        does="No fill ever fails after it threw a page out, so no caller is prepared for it.",
        edits=(
            Edit(
                "reference.fill",
                "        if miss > len(free):\n",
                "        if miss > len(state.frames):\n",
            ),
        ),
        expect=("every-call-happens",),
    ),
    Named(
        id="fill.ticket-is-used-again",
        does="A late report about a failed fill completes the next one.",
        edits=(
            Edit(
                "reference.fill",
                "        state = state._replace(next_ticket=ticket + 1)\n",
                "",
            ),
        ),
        expect=("completion-is-own",),
        seen_in=("https://github.com/vllm-project/vllm/pull/43265",),
    ),
    Named(
        id="fill.refusal-counts-this-fill-only",
        does="A sequence that asks for too much is told that it asked for less than it may.",
        edits=(
            Edit(
                "reference.fill",
                "PromiseExceeded(lease_id, lease.promise, wanted)",
                "PromiseExceeded(lease_id, lease.promise, len(pages))",
            ),
        ),
        expect=("refusal-tells-why",),
    ),
    Named(
        id="fill.misses-come-sorted",
        does="The pages to copy are listed by number, and rows brought in that order go astray.",
        edits=(
            Edit(
                "reference.fill",
                "    return Plan(ticket, handles, misses), state\n",
                "    return Plan(ticket, handles, tuple(sorted(misses))), state\n",
            ),
        ),
        expect=("copies-by-the-book",),
        seen_in=("https://github.com/ai-dynamo/dynamo/pull/8419",),
        scope="small",
    ),
)
