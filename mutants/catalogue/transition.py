"""Wrong versions of `reference/transition.py`."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="transition.failed-copy-counts-as-landed",
        does="Whatever became of the copies, a fill ends as if all of them had landed.",
        edits=(
            Edit(
                "reference.transition",
                "    CompleteFill: lambda state, call, _: fill.complete_fill(\n"
                "        state, call.lease, call.ticket, call.ok\n"
                "    ),\n",
                "    CompleteFill: lambda state, call, _: fill.complete_fill(\n"
                "        state, call.lease, call.ticket, ok=True\n"
                "    ),\n",
            ),
        ),
        expect=("failed-fill-is-undone",),
        seen_in=(
            "https://github.com/ai-dynamo/dynamo/issues/15079",
            "https://github.com/LMCache/LMCache/issues/3388",
        ),
    ),
    Named(
        id="transition.failed-write-back-counts-as-landed",
        does="Whatever became of a write-back, its page counts as saved.",
        edits=(
            Edit(
                "reference.transition",
                "    CompleteWriteBack: lambda state, call, _: tier.complete_write_back(\n"
                "        state, call.lease, call.ticket, call.ok\n"
                "    ),\n",
                "    CompleteWriteBack: lambda state, call, _: tier.complete_write_back(\n"
                "        state, call.lease, call.ticket, ok=True\n"
                "    ),\n",
            ),
        ),
        expect=("failed-write-back-loses-nothing",),
        seen_in=(
            "https://github.com/sgl-project/sglang/pull/27108",
            "https://mydbanotebook.org/posts/the-fsync-issue-and-postgres",
        ),
    ),
)
