"""CuPy without a GPU: the names that `device/cuda.py` uses exist, and what its errors become.

The GPU is a stand-in (`stand_in_for_cupy`): what CuPy itself does is not shown here.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from kernels_on_host import NO_COMPILER, build
from stand_in_for_cupy import World, make_cupy

from device import cuda, gpu
from device.cuda import NoGpu, check_gpu
from device.gpu import CudaDevice
from device.layout import BadLayout, Layout, Numbers
from device.runs import split_runs
from device.runtime import CopyFailed, DeviceError, DeviceLost, OutOfMemory

ROOT = Path(__file__).parent.parent.parent
ILLEGAL_ADDRESS = 700

# What is used of objects that CuPy returns, where the class shows it (`ptr` is often no part of
# the class: CuPy documents it, and a GPU has to show it).
USED_OF = {
    "cuda.Device": {"use"},
    "cuda.Event": {"record", "synchronize"},
    "cuda.Memory": {"ptr", "size"},
    "cuda.MemoryPointer": {"ptr"},
    "cuda.PinnedMemoryPointer": {"ptr"},
    "cuda.Stream": {"__enter__", "__exit__", "synchronize", "wait_event"},
    "RawKernel": {"__call__", "compile"},
    "RawModule": {"get_function"},
}


def get_names(text: str) -> set[str]:
    """Each name of CuPy that a text uses, dotted, as long as it goes."""
    tree = ast.parse(text)
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    chains = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and id(node) not in inner
    ]
    names = [chain.removeprefix("cupy.") for chain in chains if chain.startswith("cupy.")]
    return {name for name in names if re.fullmatch(r"[\w.]+", name)}


def find(module: ModuleType, name: str) -> object:
    """What a dotted name stands for. Raises `AttributeError` if it is nothing."""
    found: object = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def import_cupy() -> ModuleType:
    """CuPy, or skip."""
    found: ModuleType = pytest.importorskip("cupy", reason="CuPy is not installed")
    return found


def numbers(*values: int) -> Numbers:
    """Pages, frames or rows."""
    return np.array(values, dtype=np.int64)


@pytest.fixture(scope="module")
def build_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the kernels are built once."""
    return Path(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def world(build_folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A stand-in for CuPy, in its place."""
    kernels = build(build_folder)
    if kernels is None:
        pytest.skip(NO_COMPILER)
    made = World(kernels)
    monkeypatch.setattr(cuda, "cupy", make_cupy(made))
    return made


def test_every_name_exists_in_cupy() -> None:
    """A misspelt name would show on a machine with a GPU, and there only."""
    cupy = import_cupy()
    names = get_names((ROOT / "device" / "cuda.py").read_text(encoding="utf-8"))

    assert len(names) >= 20
    for name in sorted(names):
        assert find(cupy, name) is not None, name
    for name, used in USED_OF.items():
        assert set() == used - set(dir(find(cupy, name))), name


def test_misspelt_names_are_found() -> None:
    """The check above is worth what it can see."""
    text = "def f():\n    return cupy.cuda.Streem(cupy.cuda.runtime.memcpyAsync(1)).ptr"

    assert {"cuda.Streem", "cuda.runtime.memcpyAsync"} == get_names(text)
    with pytest.raises(AttributeError, match="Streem"):
        find(import_cupy(), "cuda.Streem")


def test_error_classes_of_cupy_are_those_we_catch() -> None:
    """Its errors are caught by what they are, so that `gpu` needs no CuPy."""
    cupy = import_cupy()
    error = find(cupy, "cuda.runtime.CUDARuntimeError")(gpu.NO_MEMORY)

    assert isinstance(error, RuntimeError)
    assert gpu.NO_MEMORY == error.status
    assert "cudaErrorMemoryAllocation" in str(error)
    assert issubclass(find(cupy, "cuda.driver.CUDADriverError"), RuntimeError)
    assert issubclass(find(cupy, "cuda.memory.OutOfMemoryError"), MemoryError)


def test_without_cupy_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most machines have none, and a traceback helps nobody."""
    monkeypatch.setattr(cuda, "cupy", None)
    monkeypatch.setattr(cuda, "WHY_NO_CUPY", "No module named 'cupy'")
    with pytest.raises(NoGpu) as caught:
        CudaDevice(Layout(1, 8), 2)

    expected = "no GPU to run on: CuPy cannot be imported (No module named 'cupy'); "
    assert expected + "install the group `gpu`" == str(caught.value)
    assert isinstance(caught.value, DeviceError)


def test_cupy_may_be_missing_at_import() -> None:
    """`device.cuda` can be imported anywhere; asking for a device is what fails."""
    program = "import sys; sys.modules['cupy'] = None; from device.cuda import check_gpu; "
    program += "\ntry: check_gpu()\nexcept Exception as error: print(error)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)

    assert ran.stdout.startswith("no GPU to run on: CuPy cannot be imported (")
    assert 1 == ran.stdout.count("\n")


@pytest.mark.parametrize(
    ("faults", "count", "said"),
    [
        ({"getDeviceCount": 35}, 1, "CuPy finds none (status 35); it needs an NVIDIA GPU"),
        ({}, 0, "number 0 of 0; GPUs are counted from 0"),
        ({"compile": 6}, 1, "CuPy cannot compile the kernels for it (status 6); install"),
    ],
)
def test_what_a_gpu_lacks_is_one_line(
    world: World, faults: dict[str, int], count: int, said: str
) -> None:
    """Each thing that can be missing has its own remedy."""
    world.faults, world.count = faults, count
    with pytest.raises(NoGpu) as caught:
        CudaDevice(Layout(1, 8), 2)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_require_gpu_turns_a_skip_into_a_failure() -> None:
    """Where a GPU is promised nobody would notice the skip."""
    try:
        check_gpu()
    except NoGpu:
        pass
    else:
        pytest.skip("there is a GPU, so nothing is skipped for want of one")
    file = "tests/device/test_on_gpu.py"
    command = [sys.executable, "-m", "pytest", file, "-m", "gpu", "-k", "test_poll", "-q"]
    command += ["-p", "no:randomly", "-p", "no:xdist"]
    skipped = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    command.append("--require-gpu")
    failed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (0, 1) == (skipped.returncode, failed.returncode)
    assert "3 skipped" in skipped.stdout
    assert "3 failed" in failed.stdout or "3 error" in failed.stdout
    assert "--require-gpu, and this test did not run: " in failed.stdout
    assert "no GPU to run on" in failed.stdout


# ------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("function", "place"),
    [("malloc", "3 frames: 48 bytes"), ("hostAlloc", "2 host pages: 32 bytes")],
)
def test_memory_may_not_suffice(world: World, function: str, place: str) -> None:
    """The one error that whoever makes a device can do something about."""
    world.faults = {function: gpu.NO_MEMORY}
    with pytest.raises(OutOfMemory) as caught:
        CudaDevice(Layout(2, 8), 2, 3)

    assert f"no device memory for {place}" == str(caught.value)


CALLS: dict[str, Callable[[CudaDevice, cuda.Stream], object]] = {
    "copy_in": lambda device, stream: device.copy_in(stream, numbers(0, 2), numbers(1, 0)),
    "copy_out": lambda device, stream: device.copy_out(stream, numbers(1), numbers(0)),
    "read_rows": lambda device, stream: device.read_rows(stream, numbers(1), numbers(0)),
    "record": lambda device, stream: device.record(stream),
    "write_rows": lambda device, stream: device.write_rows(
        stream, numbers(1), numbers(0), np.zeros((1, 8), dtype=np.uint8)
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_call_that_gets_no_memory_did_nothing(world: World, name: str) -> None:
    """The tier counts on it: it makes the fill one that fails, or raises."""
    takes = {"record": ("eventCreate",)}.get(name, ("eventCreate", "alloc", "alloc_pinned_memory"))
    for function in takes:
        device = CudaDevice(Layout(2, 8), 4)
        stream = device.new_stream()
        world.faults = {function: gpu.NO_MEMORY}
        with pytest.raises(OutOfMemory):
            CALLS[name](device, stream)

        assert not stream.raw.work, function
        CALLS[name](device, stream)
        device.settle(stream)


@pytest.mark.parametrize("path", ["copy_blocks", "memcpyAsync", "memcpy2DAsync"])
def test_refused_copy_is_no_end(world: World, path: str) -> None:
    """The batch failed, at a known item if it is known; the device goes on."""
    layout = Layout(2, 8, 12) if path == "memcpy2DAsync" else Layout(2, 8)
    run_bytes_min = {"copy_blocks": 1 << 30, "memcpyAsync": 1, "memcpy2DAsync": 32}[path]
    device = CudaDevice(layout, 6, run_bytes_min=run_bytes_min)
    stream = device.new_stream()
    pages, frames = numbers(0, 3, 4, 5), numbers(5, 1, 2, 3)
    world.faults = {path: 1}
    with pytest.raises(CopyFailed) as caught:
        device.copy_in(stream, pages, frames)

    assert {"copy_blocks": None, "memcpyAsync": 0, "memcpy2DAsync": 1}[path] == caught.value.item
    device.settle(stream)
    device.wait(device.copy_in(stream, pages, frames))
    assert not stream.pending or stream.pending[0][0] is not None


@pytest.mark.parametrize("function", ["eventSynchronize", "eventQuery", "streamSynchronize"])
def test_error_that_ends_the_gpu_is_for_good(world: World, function: str) -> None:
    """What is wrong later is reported by any wait, and nothing can be trusted after."""
    device = CudaDevice(Layout(2, 8), 4)
    device.host_pages()[:] = 7
    stream = device.new_stream()
    event = device.copy_in(stream, numbers(0), numbers(1))
    world.faults = {function: ILLEGAL_ADDRESS}
    ask = {"eventSynchronize": device.wait, "eventQuery": device.poll}.get(function)
    with pytest.raises(DeviceLost, match=r"status 700$"):
        ask(event) if ask else device.settle(stream)
    calls = [
        device.new_stream,
        lambda: device.record(stream),
        lambda: device.wait_for(stream, event),
        lambda: device.wait(event),
        lambda: device.poll(event),
        lambda: device.settle(stream),
        lambda: device.peek(stream, numbers(0)),
        lambda: device.digest_frames(stream, numbers(0)),
        *(lambda call=call: call(device, stream) for call in CALLS.values()),
    ]

    for call in calls:
        with pytest.raises(DeviceLost, match=r"status 700$"):
            call()
    assert (7 == device.host_pages()).all()
    device.discard_frames(stream, numbers(0))
    device.discard_pages(numbers(0))
    device.close()


def test_closed_device_says_so(world: World) -> None:
    """A call that comes too late must not reach memory that is given back."""
    device = CudaDevice(Layout(2, 8), 4)
    stream = device.new_stream()
    device.close()
    device.close()

    with pytest.raises(DeviceLost, match="it was closed"):
        device.peek(stream, numbers(0))


@pytest.mark.parametrize(
    ("name", "sizes"), [("pages", (0,)), ("frames", (1, True)), ("frames", (1, 0))]
)
def test_sizes_are_checked_before_the_gpu(name: str, sizes: tuple[int, ...]) -> None:
    """A wrong size is wrong on every machine."""
    with pytest.raises(BadLayout, match=f"^{name} is "):
        CudaDevice(Layout(1, 8), *sizes)


# --------------------------------------------------------------------------------------------- runs


@pytest.mark.parametrize(
    ("sources", "targets", "items_min", "begins", "counts", "scattered"),
    [
        ([], [], 1, [], [], []),
        ([4], [2], 1, [0], [1], [False]),
        ([4], [2], 2, [], [], [True]),
        ([1, 2, 3, 7], [5, 6, 7, 8], 2, [0], [3], [False, False, False, True]),
        ([1, 2, 3, 4], [5, 6, 1, 2], 2, [0, 2], [2, 2], [False] * 4),
        ([3, 2, 1], [3, 2, 1], 2, [], [], [True] * 3),
    ],
)
def test_runs_are_neighbours_at_both_ends(
    sources: list[int],
    targets: list[int],
    items_min: int,
    begins: list[int],
    counts: list[int],
    scattered: list[bool],
) -> None:
    """A copy of a run reads and writes without a gap."""
    runs = split_runs(numbers(*sources), numbers(*targets), items_min)

    assert (begins, counts, scattered) == (runs.begins, runs.counts, runs.scattered.tolist())


def test_batch_takes_both_paths(world: World) -> None:
    """Large runs go by copy, the rest by one launch."""
    device = CudaDevice(Layout(2, 8), 16, run_bytes_min=48)
    stream = device.new_stream()
    world.calls.clear()
    device.copy_in(stream, numbers(0, 1, 2, 9, 4, 5), numbers(3, 4, 5, 0, 9, 10))

    assert 1 == world.calls.count("copy_blocks")
    assert 2 == world.calls.count("memcpyAsync")  # the offsets of the launch, and the run of three


@pytest.mark.parametrize("run_bytes_min", [1, 1 << 30])
def test_padding_of_frames_is_not_touched(world: World, run_bytes_min: int) -> None:
    """What lies between rows is somebody else's, in device memory too."""
    device = CudaDevice(Layout(2, 24, 40), 6, run_bytes_min=run_bytes_min)
    stream = device.new_stream()
    frames = np.frombuffer(device._frame_memory, dtype=np.uint8).reshape(-1, 40)
    frames[:, 24:] = 0x77
    device.wait(device.copy_in(stream, numbers(0, 1, 5), numbers(2, 3, 0)))
    rows = np.ones((1, 24), dtype=np.uint8)
    device.write_rows(stream, numbers(3), numbers(1), rows)
    device.settle(stream)

    assert (1 == frames[7, :24]).all()
    assert (0x77 == frames[:, 24:]).all()


def test_memory_is_let_go_once_landed(world: World) -> None:
    """What is kept for ever is a leak."""
    device = CudaDevice(Layout(2, 8), 16)
    stream = device.new_stream()
    for _ in range(9):
        device.wait(device.copy_in(stream, numbers(0, 2), numbers(3, 1)))

    assert 1 == len(stream.pending)
    device.settle(stream)
    assert not stream.pending
