"""Wrong versions of `reference/fill.py`: changes that public reports describe. See `faults`."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="fill.ready-before-the-copy-ends",
        does="A page counts as loaded as soon as its copy has begun, and is a hit over the rows "
        "of the page before it.",
        edits=(
            Edit(
                "reference.fill",
                "        state = map_page(state, page, number, Phase.FILLING)\n",
                "        rows = state.frames[number].rows\n"
                "        state = map_page(state, page, number, Phase.READY)\n"
                "        state = set_frame(state, number,"
                " state.frames[number]._replace(rows=rows))\n",
            ),
        ),
        expect=("clean-equals-host",),
        seen_in=(
            "https://github.com/sgl-project/sglang/pull/8901",
            "https://github.com/LMCache/LMCache/issues/4967",
        ),
    ),
    Named(
        id="fill.victim-falls-back-to-the-first-frame",
        does="When no frame is empty the first one is taken, whoever is using its page.",
        edits=(
            Edit(
                "reference.fill",
                "    return tuple(found)\n",
                "    return tuple(dict.fromkeys((0, *found)))\n",
            ),
        ),
        expect=("victim-was-evictable", "pinned-page-is-resident"),
        seen_in=("https://github.com/JustVugg/colibri/pull/316",),
        scope="default",
    ),
    Named(
        id="fill.idle-frames-are-lent",
        does="A sequence brings in more pages than it promised because frames are idle, and "
        "those they were promised to find none.",
        edits=(
            Edit(
                "reference.fill",
                "    if wanted > lease.promise:\n",
                "    idle = len(free_frames(state)) + len(evictable_frames(state, pages))\n"
                "    if wanted > lease.promise and idle < len(pages):\n",
            ),
        ),
        expect=("pins-within-promise", "success-is-allowed", "room-for-every-promise"),
        seen_in=("https://github.com/vllm-project/vllm/issues/49902",),
        scope="small",
    ),
    Named(
        id="fill.rows-land-in-the-last-frames",
        does="Of a list of pages whose first is to be loaded, the last one gets its rows.",
        edits=(
            Edit(
                "reference.fill",
                "    for number in copy.frames:\n"
                "        frame = state.frames[number]\n"
                "        rows = state.host[mapped_page(frame)].rows\n"
                "        state = set_frame(state, number, frame._replace(phase=Phase.READY,"
                " rows=rows))\n",
                "    targets = [state.where[page] for page in lease.claims][-len(copy.frames) :]\n"
                "    for number, target in zip(copy.frames, targets, strict=True):\n"
                "        frame = state.frames[number]\n"
                "        rows = state.host[mapped_page(frame)].rows\n"
                "        state = set_frame(state, number, frame._replace(phase=Phase.READY))\n"
                "        state = set_frame(state, target,"
                " state.frames[target]._replace(rows=rows))\n",
            ),
        ),
        expect=("clean-equals-host", "latest-rows-survive"),
        seen_in=(
            "https://github.com/ai-dynamo/dynamo/pull/8419",
            "https://github.com/lightseekorg/tokenspeed/pull/293",
        ),
        scope="small",
    ),
    Named(
        id="fill.only-the-first-row-is-copied",
        does="A page comes back from host memory with its first row only; after it come those of "
        "the page before it.",
        edits=(
            Edit(
                "reference.fill",
                "        rows = state.host[mapped_page(frame)].rows\n",
                "        rows = (state.host[mapped_page(frame)].rows[0], *frame.rows[1:])\n",
            ),
            Edit(
                "reference.tables",
                "._replace(page=page, phase=phase, rows=state.host[page].rows)\n",
                "._replace(page=page, phase=phase)\n",
            ),
        ),
        expect=("clean-equals-host", "read-sees-last-write"),
        seen_in=(
            "https://github.com/vllm-project/vllm/pull/55712",
            "https://github.com/vllm-project/vllm/issues/51094",
        ),
        scope="rows",
    ),
    Named(
        id="fill.victim-is-still-being-saved",
        does="A frame is given to another page while its rows are still being copied out of it.",
        edits=(
            Edit(
                "reference.fill",
                "        if frame.phase == Phase.READY and not frame.dirty:\n",
                "        if frame.phase == Phase.WRITING_BACK or not frame.dirty:\n",
            ),
            Edit(
                "reference.tier",
                "    if count == 1 and frame.dirty:\n",
                "    if count == 1 and frame.dirty and frame.phase != Phase.WRITING_BACK:\n",
            ),
        ),
        expect=("victim-was-evictable", "no-pin-leaves-dirt", "in-flight-is-owned"),
        seen_in=(
            "https://github.com/vllm-project/tpu-inference/pull/1795",
            "https://github.com/ai-dynamo/dynamo/issues/826",
            "https://github.com/sgl-project/sglang/pull/24585",
        ),
    ),
)
