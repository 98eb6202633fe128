"""Wrong versions of `reference/tables.py`: changes that public reports describe. See `faults`."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="tables.unmapped-means-the-first-frame",
        does="A page that left its frame is found in the first frame, whatever is there now.",
        edits=(
            Edit(
                "reference.tables",
                "    where = (*state.where[:page], None, *state.where[page + 1 :])\n",
                "    where = (*state.where[:page], 0, *state.where[page + 1 :])\n",
            ),
        ),
        expect=("one-frame-per-page",),
        seen_in=("https://github.com/sgl-project/sglang/pull/23935",),
    ),
    Named(
        id="tables.completion-ignores-direction",
        does="The end of a copy out of a frame is taken for that of a copy into it.",
        edits=(
            Edit(
                "reference.tables",
                "        if copy.ticket == ticket and copy.kind == kind:\n",
                "        if copy.ticket == ticket:\n",
            ),
        ),
        expect=("completion-is-own", "success-is-allowed"),
        seen_in=("https://github.com/NVIDIA/TensorRT-LLM/pull/15272",),
    ),
)
