"""Wrong versions of `device/layout.py`: rows that are looked for at the wrong address."""

from mutants.entry import Edit, Named

MUTANTS = (
    Named(
        id="device.layout.width-for-stride",
        does="Host pages are read and cleared as if their rows were packed, and are padded.",
        edits=(
            Edit(
                "device.layout",
                "    whole = buffer.reshape(-1, layout.rows, layout.row_stride)\n"
                "    return whole[:, :, : layout.row_bytes]\n",
                "    count = len(buffer) // get_page_bytes(layout)\n"
                "    packed = buffer[: count * get_content_bytes(layout)]\n"
                "    return packed.reshape(count, layout.rows, layout.row_bytes)\n",
            ),
        ),
        expect=("clean-equals-host",),
        seen_in=("https://github.com/vllm-project/vllm/pull/53271",),
    ),
    Named(
        id="device.layout.offset-has-too-few-bits",
        does="Offsets of rows wrap around: of eight bits here, as those of a large buffer of 32.",
        edits=(
            Edit(
                "device.layout",
                "    return (first + np.arange(layout.rows, dtype=np.int64)).reshape(-1)\n",
                "    rows = (first + np.arange(layout.rows, dtype=np.int64)).reshape(-1)\n"
                "    offsets = (rows * layout.row_stride).astype(np.uint8)\n"
                "    return offsets.astype(np.int64) // layout.row_stride\n",
            ),
        ),
        expect=("latest-rows-survive",),
        seen_in=("https://github.com/ZaidQureshi/bam/pull/39",),
        scope="device-walks",
    ),
)
