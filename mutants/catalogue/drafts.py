"""Wrong versions of `reference/drafts.py`: rows taken back, and pages found by key."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="drafts.truncate-forgets-the-host-page",
        does="Rows that were taken back come back once the page was evicted.",
        edits=(
            Edit(
                "reference.drafts",
                "    state = set_host(state, page, host._replace(rows=cut(host.rows, rows)))\n",
                "    state = set_host(state, page, host)\n",
            ),
        ),
        expect=(
            "truncate-takes-back",
            "clean-equals-host",
        ),
        seen_in=("https://github.com/tursodatabase/turso/issues/5803",),
        scope="drafts",
    ),
    Named(
        id="drafts.truncate-forgets-the-frame",
        does="Rows that were taken back can still be read until the page is evicted.",
        edits=(
            Edit(
                "reference.drafts",
                "frame._replace(rows=cut(frame.rows, rows))",
                "frame",
            ),
        ),
        expect=("truncate-takes-back",),
        scope="drafts",
    ),
    Named(
        id="drafts.truncate-keeps-one-row-more",
        does="The first of the rows taken back is still there.",
        edits=(
            Edit(
                "reference.drafts",
                "    return rows[:length] + (0,) * (len(rows) - length)\n",
                "    kept = rows[: length + 1]\n    return kept + (0,) * (len(rows) - len(kept))\n",
            ),
        ),
        expect=("truncate-takes-back",),
        seen_in=("https://github.com/nicedreamzapp/claude-code-local/issues/46",),
        scope="drafts",
    ),
    Named(
        id="drafts.truncate-takes-all-back",
        does="A rollback of a few drafted rows empties the page.",
        edits=(
            Edit(
                "reference.drafts",
                "    return rows[:length] + (0,) * (len(rows) - length)\n",
                "    return (0,) * len(rows) if length < len(rows) else rows\n",
            ),
        ),
        expect=("truncate-takes-back",),
        seen_in=("https://github.com/paiml/aprender/pull/2014",),
        scope="drafts",
    ),
    Named(
        id="drafts.truncate-keeps-the-key",
        does="A page with rows taken back is still found as if it were whole.",
        edits=(
            Edit(
                "reference.drafts",
                "    if rows < state.shape.rows:\n        state = unpublish(state, page)\n",
                "",
            ),
        ),
        expect=(
            "key-names-durable-rows",
            "keys-by-the-book",
        ),
        seen_in=("https://github.com/ml-explore/mlx-lm/issues/1494",),
        scope="keys",
    ),
    Named(
        id="drafts.truncate-during-a-copy",
        does="Rows that were taken back are written to the host page by a copy that was under way.",
        edits=(
            Edit(
                "reference.drafts",
                "    check_settled(state, lease_id, lease, page)\n",
                "",
            ),
        ),
        expect=("success-is-allowed",),
        scope="drafts",
    ),
    Named(
        id="drafts.lost-page-stays-lost",
        does="A page whose rows went with a client can never be used again, however it is emptied.",
        edits=(
            Edit(
                "reference.drafts",
                "    if page in state.lost and rows == 0:\n",
                "    if page in state.lost and rows < 0:\n",
            ),
        ),
        expect=("lost-is-known",),
        scope="drafts",
    ),
    Named(
        id="drafts.publish-before-it-is-saved",
        does="A page is found by others before its rows are in host memory.",
        edits=(
            Edit(
                "reference.drafts",
                "    if host.torn or (number is not None and state.frames[number].dirty):\n",
                "    if host.torn:\n",
            ),
        ),
        expect=("key-names-durable-rows",),
        scope="keys",
    ),
    Named(
        id="drafts.publish-a-page-not-full",
        does="A page that is not full is found as if it were.",
        edits=(
            Edit(
                "reference.drafts",
                "    if written < state.shape.rows:\n",
                "    if written < state.shape.rows - 1:\n",
            ),
        ),
        expect=("success-is-allowed",),
        scope="keys",
    ),
    Named(
        id="drafts.publish-takes-keys-over",
        does="Two pages claim one key, and which of them is found changes.",
        edits=(
            Edit(
                "reference.drafts",
                "    for other, named in state.keys:\n"
                "        if other == key:\n"
                "            raise KeyTaken(key, named)\n",
                "",
            ),
            Edit(
                "reference.drafts",
                "tuple(sorted((*state.keys, (key, page))))",
                "tuple(sorted({**dict(state.keys), key: page}.items()))",
            ),
        ),
        expect=("success-is-allowed",),
        scope="names",
    ),
    Named(
        id="drafts.keys-collide",
        does="A prompt is answered with the rows of another whose key is close to its own.",
        edits=(
            Edit(
                "reference.drafts",
                "    page = dict(state.keys).get(key)\n",
                "    page = {other // 2: named for other, named in state.keys}.get(key // 2)\n",
            ),
        ),
        expect=("find-tells-the-truth",),
        seen_in=(
            "https://github.com/openvinotoolkit/openvino.genai/issues/3722",
            "https://github.com/waybarrios/vllm-mlx/pull/444",
            "https://github.com/vllm-project/vllm/pull/12621",
        ),
        scope="keys",
    ),
    Named(
        id="drafts.find-does-not-hold",
        does="What was found is used by somebody else before it can be used.",
        edits=(
            Edit(
                "reference.drafts",
                "        state = set_lease(state, lease_id, "
                "lease._replace(borrowed=(*lease.borrowed, page)))\n",
                "",
            ),
            Edit(
                "reference.drafts",
                "        state = state._replace(pool=pool.hold(state.pool, page))\n",
                "        pass\n",
            ),
        ),
        expect=("holds-by-the-book",),
        seen_in=(
            "https://github.com/vllm-project/vllm/issues/39702",
            "https://github.com/MariaDB/server/pull/3526",
        ),
        scope="keys",
    ),
    Named(
        id="drafts.find-holds-twice",
        does="A page that is found again and again is never free any more.",
        edits=(
            Edit(
                "reference.drafts",
                "    if page is not None and not is_held(lease, page):\n",
                "    if page is not None:\n",
            ),
        ),
        expect=("hold-count",),
        seen_in=("https://github.com/LMCache/LMCache/pull/2785",),
        scope="keys",
    ),
)
