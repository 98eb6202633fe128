"""Wrong versions of `device/data_path.py`: waits that are missing, and copies gone astray."""

from mutants.entry import Edit, Named

_WAITS = """            for stream, half in zip(used, halves, strict=False):
                self.device.wait_for(stream, computed)
"""
_END = """                for event in queued.events:
                    self.device.wait(event)
                return True
            except CopyFailed:
                pass
        for stream in queued.streams:
            self.device.settle(stream)
        return False
"""

MUTANTS = (
    Named(
        id="device.data_path.read-does-not-wait",
        does="A read returns before its rows have arrived, with whatever was in their place.",
        edits=(
            Edit(
                "device.data_path",
                "        self.device.wait(reading.event)\n        return reading.content\n",
                "        return reading.content\n",
            ),
        ),
        expect=("read-sees-last-write",),
        seen_in=("https://github.com/sgl-project/sglang/pull/22811",),
    ),
    Named(
        id="device.data_path.fill-does-not-wait",
        does="A frame is filled while what was queued on the page it held is still to run.",
        edits=(
            Edit(
                "device.data_path",
                _WAITS,
                "            for stream, half in zip(used, halves, strict=False):\n"
                "                if streams is not self.fill_streams:\n"
                "                    self.device.wait_for(stream, computed)\n",
            ),
        ),
        expect=("clean-equals-host",),
        seen_in=("https://github.com/vllm-project/vllm/pull/47324",),
    ),
    Named(
        id="device.data_path.write-back-does-not-wait",
        does="Rows are saved before the kernels that wrote them are done.",
        edits=(
            Edit(
                "device.data_path",
                _WAITS,
                "            for stream, half in zip(used, halves, strict=False):\n"
                "                if streams is self.fill_streams:\n"
                "                    self.device.wait_for(stream, computed)\n",
            ),
        ),
        expect=("write-back-publishes", "latest-rows-survive"),
        seen_in=(
            "https://github.com/vllm-project/vllm/issues/45704",
            "https://github.com/ROCm/ATOM/pull/2132",
        ),
    ),
    Named(
        id="device.data_path.second-stream-does-not-wait",
        does="The second half of a large copy begins before the work that it depends on.",
        edits=(
            Edit(
                "device.data_path",
                _WAITS,
                "            for stream, half in zip(used, halves, strict=False):\n"
                "                if stream == used[0]:\n"
                "                    self.device.wait_for(stream, computed)\n",
            ),
        ),
        expect=("clean-equals-host",),
        seen_in=("https://github.com/NVIDIA/TensorRT-LLM/pull/9056",),
        scope="device-wide",
    ),
    Named(
        id="device.data_path.one-of-two-streams-is-waited-for",
        does="A copy in two halves counts as complete when the first half is.",
        edits=(
            Edit(
                "device.data_path",
                "                for event in queued.events:\n",
                "                for event in queued.events[:1]:\n",
            ),
        ),
        expect=("clean-equals-host",),
        seen_in=("https://github.com/sgl-project/sglang/pull/22811",),
        scope="device-wide",
    ),
    Named(
        id="device.data_path.complete-before-the-event",
        does="A copy counts as complete while its bytes are still on their way.",
        edits=(
            Edit(
                "device.data_path",
                _END,
                "                for event in queued.events:\n"
                "                    self.device.poll(event)\n"
                "                return True\n"
                "            except CopyFailed:\n"
                "                pass\n"
                "        for stream in queued.streams:\n"
                "            self.device.settle(stream)\n"
                "        return False\n",
            ),
        ),
        expect=("clean-equals-host", "write-back-publishes"),
        seen_in=("https://github.com/sgl-project/sglang/pull/8901",),
    ),
    Named(
        id="device.data_path.late-error-is-swallowed",
        does="A copy that fails after it was queued counts as landed.",
        edits=(
            Edit(
                "device.data_path",
                "            except CopyFailed:\n                pass\n",
                "            except CopyFailed:\n                return True\n",
            ),
        ),
        expect=("clean-equals-host",),
        seen_in=("https://github.com/ai-dynamo/dynamo/issues/15079",),
        scope="device-walks",
    ),
    Named(
        id="device.data_path.only-the-first-item-may-fail",
        does="A copy that fails at a later page of its batch counts as landed.",
        edits=(
            Edit(
                "device.data_path",
                "            except CopyFailed:\n                pass\n",
                "            except CopyFailed as error:\n"
                "                if error.item:\n"
                "                    return True\n",
            ),
        ),
        expect=("clean-equals-host",),
        seen_in=("https://github.com/ai-dynamo/dynamo/issues/15079",),
        scope="device-walks",
    ),
    Named(
        id="device.data_path.frames-of-a-given-up-fill-are-not-kept-apart",
        does="Frames of a fill that was given up are filled anew while its copies still run.",
        edits=(
            Edit(
                "device.data_path",
                "        for stream in queued.streams:\n            self.device.settle(stream)\n",
                "        for stream in queued.streams:\n"
                "            if stream not in self.fill_streams:\n"
                "                self.device.settle(stream)\n",
            ),
        ),
        expect=("latest-rows-survive",),
        seen_in=("https://github.com/vllm-project/vllm/pull/47324",),
        scope="device-wide",
    ),
    Named(
        id="device.data_path.host-page-is-reused-under-its-copy",
        does="After a write-back was given up its host page begins a new life under the copy.",
        edits=(
            Edit(
                "device.data_path",
                "        for stream in queued.streams:\n            self.device.settle(stream)\n",
                "        for stream in queued.streams:\n"
                "            if stream in self.fill_streams:\n"
                "                self.device.settle(stream)\n",
            ),
        ),
        expect=("latest-rows-survive",),
        seen_in=("https://github.com/vllm-project/tpu-inference/pull/1795",),
    ),
    Named(
        id="device.data_path.fill-goes-the-wrong-way",
        does="A fill copies frames to host pages, and what was saved is overwritten.",
        edits=(
            Edit(
                "device.data_path",
                "        return self._start(ticket, self.fill_streams, pages, frames,"
                " self.device.copy_in)\n",
                "        def copy(stream: Stream, sources: Numbers, targets: Numbers) -> Event:\n"
                "            return self.device.copy_out(stream, targets, sources)\n\n"
                "        return self._start(ticket, self.fill_streams, pages, frames, copy)\n",
            ),
        ),
        expect=("eviction-keeps-host", "latest-rows-survive"),
        seen_in=("https://github.com/lightseekorg/tokenspeed/pull/293",),
    ),
    Named(
        id="device.data_path.halves-go-to-the-same-frames",
        does="The second half of a large fill lands in the frames of the first.",
        edits=(
            Edit(
                "device.data_path",
                "copy(stream, sources[half], targets[half])",
                "copy(stream, sources[half], targets[: len(sources[half])])",
            ),
        ),
        expect=("clean-equals-host",),
        seen_in=("https://github.com/ai-dynamo/dynamo/pull/8419",),
        scope="device-wide",
    ),
    Named(
        id="device.data_path.fresh-page-keeps-stale-bytes",
        does="A page that begins a life shows what its host page held before.",
        edits=(
            Edit(
                "device.data_path",
                "        self.device.host_pages()[pages, first:] = 0\n",
                "        self.device.host_pages()[pages[1:], first:] = 0\n",
            ),
        ),
        expect=("fresh-page-reads-zero",),
        seen_in=("https://github.com/vllm-project/vllm/pull/44237",),
    ),
    Named(
        id="device.data_path.rows-are-written-in-reverse",
        does="Rows are written from the last one of a page on, and read from the first.",
        edits=(
            Edit(
                "device.data_path",
                "        self.device.write_rows(self.compute_stream, frames, rows, content)\n",
                "        rows = self.device.layout.rows - 1 - rows\n"
                "        self.device.write_rows(self.compute_stream, frames, rows, content)\n",
            ),
        ),
        expect=("latest-rows-survive",),
        scope="device-wide",
    ),
    Named(
        id="device.data_path.off-leaves-the-last-row",
        does="With the tier off the last row of a page that begins a life is not cleared.",
        edits=(
            Edit(
                "device.data_path",
                "        rows = np.tile(np.arange(first, layout.rows, dtype=np.int64),"
                " len(frames))\n",
                "        last = max(first + 1, layout.rows - 1)\n"
                "        rows = np.tile(np.arange(first, last, dtype=np.int64), len(frames))\n",
            ),
            Edit(
                "device.data_path",
                "        self.write_rows(np.repeat(frames, layout.rows - first), rows, content)\n",
                "        self.write_rows(np.repeat(frames, last - first), rows, content)\n",
            ),
        ),
        expect=("fresh-page-reads-zero",),
        scope="device-off",
    ),
)
