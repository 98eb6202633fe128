"""What CuPy does for us: the only file that imports it.

Owned here: is there a GPU, streams and events, memory of both kinds, and what is queued, each as
a function of a few lines. Not owned: what it is for (`gpu`), and what the kernels do
(`kernels.cu`). What is raised here is CuPy's: a `RuntimeError` with the `status` of CUDA, or a
`MemoryError`; `gpu` says it in our words.
"""

from collections import deque
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from device.layout import Bytes, Layout, Numbers, as_buffer, get_buffer_bytes
from device.runtime import DeviceError

try:
    import cupy

    WHY_NO_CUPY = ""
except ImportError as error:  # not installed, or a library of it is missing
    cupy = None
    WHY_NO_CUPY = str(error).partition("\n")[0]

Event: TypeAlias = Any
"""CuPy's event."""

SOURCE = Path(__file__).with_name("kernels.cu")
"""The text of the kernels."""

KERNELS = ("copy_blocks", "digest_sums", "digest_ends")
"""The kernels of `kernels.cu` that are launched."""

THREADS = 256
"""Threads of a block: whole warps."""

NOT_READY = 600
"""The status of an event that has not landed (cudaErrorNotReady)."""


class NoGpu(DeviceError):
    """There is no GPU to run on."""

    def __init__(self, missing: str, remedy: str) -> None:
        """Say what is missing and what would be right, in one line."""
        super().__init__(f"no GPU to run on: {missing}; {remedy}")
        self.missing = missing
        self.remedy = remedy


def check_gpu(ordinal: int = 0) -> None:
    """Raise `NoGpu` unless CuPy can be imported, has a driver, and finds the GPU."""
    if cupy is None:
        raise NoGpu(f"CuPy cannot be imported ({WHY_NO_CUPY})", "install the group `gpu`")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except RuntimeError as error:
        remedy = "it needs an NVIDIA GPU and a driver that is new enough"
        raise NoGpu(f"CuPy finds none ({first_line(error)})", remedy) from None
    if not 0 <= ordinal < count:
        raise NoGpu(f"number {ordinal} of {count}", "GPUs are counted from 0")


class Gpu(NamedTuple):
    """A GPU that has all that we need."""

    name: str
    kernels: dict[str, Any]
    """Ours, compiled for it."""
    pitch_max: int
    """The largest row stride of an asynchronous copy of rows, in bytes."""


def open_gpu(ordinal: int) -> Gpu:
    """Make a GPU the current one of this thread, and compile the kernels for it.

    Raises `NoGpu` if it is not there or lacks what we need.
    """
    check_gpu(ordinal)
    cupy.cuda.Device(ordinal).use()
    unified = cupy.cuda.runtime.cudaDevAttrUnifiedAddressing
    if not cupy.cuda.runtime.deviceGetAttribute(unified, ordinal):
        raise NoGpu(f"number {ordinal} does not address host memory", "take one that does")
    module = cupy.RawModule(code=SOURCE.read_text(encoding="utf-8"), options=("-std=c++14",))
    kernels = {}
    try:
        for name in KERNELS:
            kernels[name] = module.get_function(name)
            kernels[name].compile()
    except (cupy.cuda.compiler.CompileException, RuntimeError) as error:
        missing = f"CuPy cannot compile the kernels for it ({first_line(error)})"
        raise NoGpu(missing, "install the group `gpu`, which has NVRTC") from error
    pitch_max = cupy.cuda.runtime.deviceGetAttribute(cupy.cuda.runtime.cudaDevAttrMaxPitch, ordinal)
    properties = cupy.cuda.runtime.getDeviceProperties(ordinal)
    return Gpu(properties["name"].decode(), kernels, int(pitch_max))


# ------------------------------------------------------------------------------ streams and events


class Stream:
    """A stream that does not wait for the default one, and the memory that its work uses."""

    def __init__(self) -> None:
        """Make a new one."""
        self.raw = cupy.cuda.Stream(non_blocking=True)
        self.pending: deque[tuple[Event, object]] = deque()
        """Oldest first: memory, and the event after which nobody uses it; none while only the
        end of the whole stream tells."""

    def keep(self, memory: object) -> None:
        """Keep memory for what is queued next, until it has landed or the stream has ended."""
        while self.pending and self.pending[0][0] is not None and is_done(self.pending[0][0]):
            self.pending.popleft()
        self.pending.append((None, memory))

    def mark(self, event: Event) -> None:
        """Record the event: after it nobody uses what was kept for the last piece of work."""
        event.record(self.raw)
        if self.pending and self.pending[-1][0] is None:
            self.pending[-1] = (event, self.pending[-1][1])

    def end(self) -> None:
        """Wait on the host until all queued so far has ended, and keep nothing."""
        self.raw.synchronize()
        self.pending.clear()


def new_event() -> Event:
    """Return an event that is not recorded yet."""
    return cupy.cuda.Event(disable_timing=True)


def is_done(event: Event) -> bool:
    """Return whether a recorded event has landed."""
    status = int(cupy.cuda.runtime.eventQuery(event.ptr))  # it returns errors, it raises none
    if status not in (0, NOT_READY):
        raise cupy.cuda.runtime.CUDARuntimeError(status)
    return status == 0


# ------------------------------------------------------------------------------------------ memory


def take_pinned(size: int) -> Bytes:
    """Take pinned host memory from CuPy's pool. It goes back when the array is garbage.

    Its address is the same on host and GPU, as is that of all pinned memory here.
    """
    pointer = cupy.cuda.alloc_pinned_memory(max(size, 1))
    return np.frombuffer(pointer, dtype=np.uint8)[:size]


def take_host_pages(layout: Layout, pages: int) -> Bytes:
    """Take pinned host memory for pages, given back when the array is garbage; checked."""
    flags = cupy.cuda.runtime.hostAllocPortable | cupy.cuda.runtime.hostAllocMapped
    memory = cupy.cuda.PinnedMemory(get_buffer_bytes(layout, pages), flags)
    buffer = np.frombuffer(cupy.cuda.PinnedMemoryPointer(memory, 0), dtype=np.uint8)
    return as_buffer(layout, "host buffer", pages, buffer)


def take_device_memory(size: int) -> Any:
    """Take device memory for good: an object with its address (`ptr`) and its real `size`."""
    return cupy.cuda.Memory(size)


def take_for_stream(stream: Stream, size: int) -> Any:
    """Take device memory, for this stream alone, from CuPy's pool: an object with its `ptr`."""
    with stream.raw:
        return cupy.cuda.alloc(size)


# ----------------------------------------------------------------------------------------- queuing


def send(stream: Stream, address: int, numbers: Numbers) -> None:
    """Queue the copy of pinned numbers to device memory."""
    kind = cupy.cuda.runtime.memcpyHostToDevice
    cupy.cuda.runtime.memcpyAsync(
        address, numbers.ctypes.data, numbers.nbytes, kind, stream.raw.ptr
    )


def copy_rows(
    stream: Stream, layout: Layout, target: int, source: int, rows: int, is_in: bool
) -> None:
    """Queue the copy of rows that follow each other, without the padding between them."""
    kind = cupy.cuda.runtime.memcpyDeviceToHost
    if is_in:
        kind = cupy.cuda.runtime.memcpyHostToDevice
    width, stride = layout.row_bytes, layout.row_stride
    if width == stride:
        cupy.cuda.runtime.memcpyAsync(target, source, rows * width, kind, stream.raw.ptr)
    else:
        cupy.cuda.runtime.memcpy2DAsync(
            target, stride, source, stride, width, rows, kind, stream.raw.ptr
        )


def launch(stream: Stream, kernel: Any, blocks: int, given: tuple[int, ...]) -> None:
    """Queue a kernel; CuPy passes each whole number as 64 bits, addresses too."""
    with stream.raw:
        kernel((blocks,), (THREADS,), given)


def first_line(error: Exception) -> str:
    """Return the first line of what an error says."""
    return str(error).partition("\n")[0]
