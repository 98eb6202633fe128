"""Wrong versions of `reference/tier.py` and its neighbours: what leaving and keys ask of them."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="tier.open-ignores-quarantine",
        does="A new sequence is let in on frames that copies of the last one still use, and "
        "must wait for them.",
        edits=(
            Edit(
                "reference.tier",
                "    promised += len(orphaned_frames(state))\n",
                "",
            ),
        ),
        expect=(
            "promises-are-covered",
            "leaving-starves-nobody",
        ),
        scope="leave",
    ),
    Named(
        id="tier.page-is-freed-under-a-copy",
        does="A page begins a new life while a copy of the last one still writes to it.",
        edits=(
            Edit(
                "reference.tier",
                "    if is_touched(state, page) and page in pages.free:\n"
                "        pages = pool.retire(pages, page)\n",
                "",
            ),
        ),
        expect=("touched-pages-wait",),
        seen_in=(
            "https://github.com/ROCm/ATOM/pull/2167",
            "https://github.com/vllm-project/vllm/issues/46951",
        ),
        scope="leave",
    ),
    Named(
        id="tier.freed-page-keeps-its-key",
        does="A prompt is answered with the rows of whoever has the page now.",
        edits=(
            Edit(
                "reference.tier",
                "    state = unpublish(state, page)\n    number = state.where[page]\n",
                "    number = state.where[page]\n",
            ),
        ),
        expect=(
            "key-names-durable-rows",
            "keys-by-the-book",
        ),
        seen_in=(
            "https://github.com/vllm-project/vllm/pull/44237",
            "https://github.com/neondatabase/neon/issues/5355",
        ),
        scope="keys",
    ),
    Named(
        id="tier.written-page-keeps-its-key",
        does="A page that is being changed is still found under what it held before.",
        edits=(
            Edit(
                "reference.tier",
                "    state = unpublish(state, handle.page)\n",
                "",
            ),
        ),
        expect=(
            "key-names-durable-rows",
            "keys-by-the-book",
        ),
        seen_in=("https://github.com/vllm-project/vllm/issues/49125",),
        scope="keys",
    ),
    Named(
        id="tier.freed-page-stays-lost",
        does="A page that lost its rows in one life cannot be filled in the next.",
        edits=(
            Edit(
                "reference.tier",
                "    if page in state.lost:\n"
                "        state = state._replace(lost=tuple(other for other in "
                "state.lost if other != page))\n",
                "",
            ),
        ),
        expect=("lost-is-known",),
        scope="orphans",
    ),
)
