"""Wrong versions of `reference/pool.py`."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="pool.freed-page-stays-in-its-frame",
        does="A page id handed out again is found in a frame with the last owner's rows.",
        edits=(
            Edit(
                "reference.pool",
                "    return pool, on_page_freed(tier, page)\n",
                "    return pool, tier\n",
            ),
        ),
        expect=("resident-page-is-live", "fresh-page-reads-zero"),
        seen_in=(
            "https://github.com/sgl-project/sglang/pull/25805",
            "https://github.com/neondatabase/neon/issues/5355",
        ),
        number=17,
    ),
    Named(
        id="pool.last-but-one-holder-ends-the-life",
        does="One of two sequences lets go of a shared page, and the other one loses it.",
        edits=(
            Edit(
                "reference.pool",
                "    if pool.holds[page] > 0:\n",
                "    if pool.holds[page] > 1:\n",
            ),
        ),
        expect=("pages-are-partitioned",),
        seen_in=("https://github.com/sgl-project/sglang/issues/13483",),
        number=32,
        scope="small",
    ),
    Named(
        id="pool.freed-page-is-lost",
        does="Pages run out although no sequence holds any.",
        edits=(
            Edit(
                "reference.pool",
                "    pool = pool._replace(free=tuple(sorted((*pool.free, page))))\n",
                "",
            ),
        ),
        expect=("pages-are-partitioned",),
        seen_in=("https://github.com/LMCache/LMCache/issues/987",),
    ),
    Named(
        id="pool.freed-page-is-listed-twice",
        does="The pool reports more free pages than it has.",
        edits=(
            Edit(
                "reference.pool",
                "    pool = pool._replace(free=tuple(sorted((*pool.free, page))))\n",
                "    pool = pool._replace(free=tuple(sorted((*pool.free, page, page))))\n",
            ),
        ),
        expect=("pages-are-partitioned",),
        seen_in=("https://github.com/ai-dynamo/dynamo/pull/13398",),
    ),
)
