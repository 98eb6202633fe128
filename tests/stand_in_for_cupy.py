"""A stand-in for CuPy on a host: what `device/cuda.py` uses of it, and no more.

Work is queued and done when somebody waits for it, in the order of its stream. Memory that is
given back is poisoned, so whoever did not keep it until its work landed shows. Kernels are those
of `kernels.cu`, run on the host. Each function can be told to fail with a status of CUDA.
Not shown: anything about a GPU, or whether CuPy does what is assumed here.
"""

import ctypes
import mmap
import weakref
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from kernels_on_host import Kernels

POISON = 0xEE
NOT_READY = 600
PITCH_MAX = 2**31 - 1

LARGE = 1 << 24
"""From so many bytes memory is reserved only: a test touches little of it."""


def reserve(size: int) -> mmap.mmap:
    """Memory of zeros that costs what is touched of it."""
    no_reserve = 0x4000  # of Linux; Python has a name for it from 3.13
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve)


class CudaError(RuntimeError):
    """As CuPy's: its status says what went wrong."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}\nand a second line")
        self.status = status


class Fence:
    """A place in the queue of a stream."""

    def __init__(self, stream: "Queue") -> None:
        self.stream = stream
        self.landed = False


class Queue:
    """A stream."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self.ptr = id(self)
        self.work: deque[Fence | Callable[[], None]] = deque()
        world.streams[self.ptr] = self

    def __enter__(self) -> "Queue":
        self.world.current.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.world.current.pop()

    def land(self, fence: Fence | None = None) -> None:
        """Do the work up to a fence, or all."""
        while self.work and not (fence and fence.landed):
            head = self.work.popleft()
            if isinstance(head, Fence):
                head.landed = True
            else:
                head()

    def synchronize(self) -> None:
        """Wait for all of it."""
        self.world.may_fail("streamSynchronize")
        self.land()

    def wait_event(self, event: "Event") -> None:
        """Let what follows wait for an event."""
        self.world.may_fail("streamWaitEvent")
        fence = event.fence
        if fence is not None:
            self.work.append(lambda: fence.stream.land(fence))


class Event:
    """An event."""

    def __init__(self, world: "World") -> None:
        world.may_fail("eventCreate")
        self.world = world
        self.fence: Fence | None = None
        self.ptr = id(self)
        world.events[self.ptr] = self

    def record(self, stream: Queue) -> None:
        """Take the end of the stream for its place."""
        self.world.may_fail("eventRecord")
        self.fence = Fence(stream)
        stream.work.append(self.fence)

    def synchronize(self) -> None:
        """Wait for it."""
        self.world.may_fail("eventSynchronize")
        if self.fence is not None:
            self.fence.stream.land(self.fence)


class World:
    """One process with one GPU. `faults` says which function fails next, and with what status."""

    def __init__(self, kernels: Kernels) -> None:
        self.kernels = kernels
        self.streams: dict[int, Queue] = {}
        self.events: weakref.WeakValueDictionary[int, Event] = weakref.WeakValueDictionary()
        self.current: list[Queue] = []
        self.faults: dict[str, int] = {}
        self.calls: list[str] = []
        self.graves: list[Any] = []
        self.count = 1

    def may_fail(self, name: str) -> None:
        """Note the call, and fail if it is told to."""
        self.calls.append(name)
        if name in self.faults:
            raise CudaError(self.faults.pop(name))

    def take(self, name: str, size: int) -> Any:
        """Memory with an address and a size, poisoned when it is garbage, and never reused."""
        self.may_fail(name)
        assert size > 0, "CuPy's memory of no bytes has no address"
        memory: Any = np.full(size, POISON, dtype=np.uint8) if size < LARGE else reserve(size)
        kind = type("Pointer", (ctypes.c_ubyte * size,), {"size": size})
        pointer = kind.from_buffer(memory)
        pointer.ptr = ctypes.addressof(pointer)
        if size < LARGE:
            self.graves.append(memory)
            weakref.finalize(pointer, memory.fill, POISON)
        return pointer

    def copy(self, target: int, source: int, size: int, kind: int, stream: int) -> None:
        """Queue a copy."""
        self.may_fail("memcpyAsync")
        assert kind in (1, 2) and size >= 0
        self.streams[stream].work.append(lambda: ctypes.memmove(target, source, size))

    def copy_rows(
        self, target: int, apart: int, source: int, pitch: int, width: int, rows: int, *rest: int
    ) -> None:
        """Queue the copy of rows."""
        self.may_fail("memcpy2DAsync")
        kind, stream = rest
        assert kind in (1, 2) and width <= min(apart, pitch) and max(apart, pitch) <= PITCH_MAX

        def run() -> None:
            for row in range(rows):
                ctypes.memmove(target + row * apart, source + row * pitch, width)

        self.streams[stream].work.append(run)

    def make_kernel(self, name: str) -> Any:
        """A kernel that is launched on the current stream."""

        def launch(grid: tuple[int], block: tuple[int], given: tuple[int, ...]) -> None:
            self.may_fail(name)
            assert all(type(value) is int for value in given), given
            run = self.kernels.run
            self.current[-1].work.append(lambda: run(name, grid[0], block[0], given))

        launch.compile = lambda: self.may_fail("compile")
        return launch

    def query(self, event: int) -> int:
        """A status, as CuPy returns it."""
        fence = self.events[event].fence
        if "eventQuery" in self.faults:
            return self.faults.pop("eventQuery")
        return 0 if fence is None or fence.landed else NOT_READY

    def count_devices(self) -> int:
        """How many GPUs there are."""
        self.may_fail("getDeviceCount")
        return self.count


def make_cupy(world: World) -> SimpleNamespace:
    """The module."""
    runtime = SimpleNamespace(
        CUDARuntimeError=CudaError,
        cudaDevAttrMaxPitch=11,
        cudaDevAttrUnifiedAddressing=41,
        deviceGetAttribute=lambda attribute, _: {11: PITCH_MAX, 41: 1}[attribute],
        eventQuery=world.query,
        getDeviceCount=world.count_devices,
        getDeviceProperties=lambda _: {"name": b"stand-in"},
        hostAllocMapped=2,
        hostAllocPortable=1,
        memcpy2DAsync=world.copy_rows,
        memcpyAsync=world.copy,
        memcpyDeviceToHost=2,
        memcpyHostToDevice=1,
    )
    cuda = SimpleNamespace(
        Device=lambda _: SimpleNamespace(use=lambda: None),
        Event=lambda disable_timing: Event(world),
        Memory=lambda size: world.take("malloc", size),
        PinnedMemory=lambda size, flags: world.take("hostAlloc", size),
        PinnedMemoryPointer=lambda memory, offset: memory,
        Stream=lambda non_blocking: Queue(world),
        alloc=lambda size: world.take("alloc", size),
        alloc_pinned_memory=lambda size: world.take("alloc_pinned_memory", size),
        compiler=SimpleNamespace(CompileException=OSError),
        runtime=runtime,
    )
    module = SimpleNamespace(get_function=world.make_kernel)
    return SimpleNamespace(cuda=cuda, RawModule=lambda code, options: module)
