"""What a GPU copies and digests, against what the machine was measured to do in the same run.

Needs a GPU (`-m gpu`); only the last test does not: it shows that the sweep runs.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from device import cuda
from device.gpu import CudaDevice
from device.layout import Layout, Numbers, get_content_bytes
from device.runtime import Device
from device.simulated import SimulatedDevice

TOTAL = 1 << 30
"""Bytes that are copied in each measurement, more than any cache."""

REPEATS = 5

LARGE_MIN, SMALL_MIN, DIGEST_MIN = 0.9, 0.7, 0.8
"""Shares of the measured rates: pages of 64 KiB and more, scattered pages of 4 KiB, digest."""

SIZES = [1 << shift for shift in range(12, 23)]
PATHS = {"copies": 1, "kernel": 1 << 60}

READ = """
extern "C" __global__ void read_words(const ulonglong2* words, unsigned long long* out, long long n)
{
    unsigned long long sum = 0;
    const long long step = (long long)gridDim.x * blockDim.x;
#pragma unroll 8
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < n; at += step)
        sum ^= words[at].x ^ words[at].y;
    if (sum == 1) *out = sum;
}
"""

Make = Callable[[Layout, int, int], Device]


@pytest.fixture
def gpu() -> Any:
    """CuPy, on a machine with a GPU."""
    try:
        cuda.check_gpu()
    except cuda.NoGpu as missing:
        pytest.skip(str(missing))
    return pytest.importorskip("cupy")


def on_gpu(layout: Layout, count: int, run_bytes_min: int) -> Device:
    """A device with as many frames as pages."""
    return CudaDevice(layout, count, run_bytes_min=run_bytes_min)


def time_best(work: Callable[[], object]) -> float:
    """The shortest of some runs, in seconds, after one to warm up."""
    work()
    seconds = []
    for _ in range(REPEATS):
        begun = perf_counter()
        work()
        seconds.append(perf_counter() - begun)
    return min(seconds)


def measure_copies(device: Device, order: Numbers, is_in: bool) -> float:
    """Bytes a second of all pages, in batches of 1,024 on one stream, queueing included."""
    stream = device.new_stream()
    copy = device.copy_in if is_in else device.copy_out
    batches = [order[at : at + 1024] for at in range(0, len(order), 1024)]

    def work() -> None:
        for batch in batches:
            copy(stream, batch, batch)
        device.settle(stream)

    return len(order) * get_content_bytes(device.layout) / time_best(work)


def measure_pages(make: Make, size: int, run_bytes_min: int, total: int) -> tuple[float, float]:
    """Bytes a second, in and out, of scattered pages of one size."""
    count = max(total // size, 8)
    order = np.random.default_rng(1).permutation(count)
    device = make(Layout(1, size), count, run_bytes_min)
    rates = (measure_copies(device, order, True), measure_copies(device, order, False))
    device.close()
    return rates


def measure_pinned(make: Make, total: int) -> tuple[float, float]:
    """Bytes a second, in and out, of one asynchronous copy of all: the most there is."""
    device = make(Layout(1, total), 1, 1)
    one = np.zeros(1, dtype=np.int64)
    rates = (measure_copies(device, one, True), measure_copies(device, one, False))
    device.close()
    return rates


def sweep(make: Make, sizes: list[int], total: int) -> str:
    """A table of both paths over page sizes, and from which size on copies win."""
    lines = [
        "",
        f"{'page bytes':>10}  {'copies in':>9} {'out':>9}  {'kernel in':>9} {'out':>9}  GB/s",
    ]
    wins = []
    for size in sizes:
        rates = {path: measure_pages(make, size, least, total) for path, least in PATHS.items()}
        (copies_in, copies_out), (kernel_in, kernel_out) = rates["copies"], rates["kernel"]
        columns = (copies_in, copies_out, kernel_in, kernel_out)
        one, two, three, four = (f"{rate / 1e9:9.2f}" for rate in columns)
        lines.append(f"{size:>10,}  {one} {two}  {three} {four}")
        wins.append(copies_in + copies_out >= kernel_in + kernel_out)
    last_loss = max((at for at, won in enumerate(wins) if not won), default=-1)
    crossed = sizes[last_loss + 1 :]
    where = f"from {crossed[0]:,} bytes on" if crossed else "nowhere in this table"
    return "\n".join([*lines, f"asynchronous copies win {where}"])


def measure_reading(cupy: Any, total: int) -> float:
    """Bytes a second that a kernel reads of device memory, doing nothing else."""
    memory, out = cupy.cuda.Memory(total), cupy.cuda.Memory(8)
    kernel = cupy.RawModule(code=READ, options=("-std=c++14",)).get_function("read_words")
    stream = cupy.cuda.Stream(non_blocking=True)

    def work() -> None:
        with stream:
            for _ in range(8):
                kernel((4096,), (256,), (memory.ptr, out.ptr, total // 16))
        stream.synchronize()

    return 8 * total / time_best(work)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("size", "least"), [(4 << 10, SMALL_MIN), (64 << 10, LARGE_MIN), (1 << 20, LARGE_MIN)]
)
def test_pages_move_as_fast_as_pinned_memory(gpu: Any, size: int, least: float) -> None:
    """Scattered pages, by the better path, against one copy of as many bytes."""
    pinned = measure_pinned(on_gpu, TOTAL)
    rates = {path: measure_pages(on_gpu, size, run, TOTAL) for path, run in PATHS.items()}
    shares = [max(rates[path][way] for path in PATHS) / pinned[way] for way in (0, 1)]
    print(
        f"\npages of {size:,} bytes: fill {shares[0]:.2f}, write-back {shares[1]:.2f} of"
        f" {pinned[0] / 1e9:.1f} and {pinned[1] / 1e9:.1f} GB/s (wanted {least})"
    )

    assert min(shares) >= least


@pytest.mark.gpu
def test_digest_reads_as_fast_as_memory(gpu: Any) -> None:
    """A view of all frames must not take longer than reading them."""
    layout, count = Layout(1, 64 << 10), 1 << 15
    read = measure_reading(gpu, 2 << 30)
    device = CudaDevice(layout, 1, count)
    stream, frames = device.new_stream(), np.arange(count)
    seconds = time_best(lambda: device.digest_frames(stream, frames))
    rate = count * get_content_bytes(layout) / seconds
    device.close()
    print(f"\ndigest: {rate / 1e9:,.0f} GB/s, {rate / read:.2f} of reading (wanted {DIGEST_MIN})")

    assert rate >= DIGEST_MIN * read


@pytest.mark.gpu
def test_crossover_of_the_copy_paths(gpu: Any) -> None:
    """Where `RUN_BYTES_MIN` should be."""
    print(sweep(on_gpu, SIZES, TOTAL))


def test_sweep_runs_without_a_gpu() -> None:
    """Whoever has a GPU for minutes should not find a mistake here. The rates mean nothing."""
    table = sweep(lambda layout, count, _: SimulatedDevice(layout, count), [16, 64], 1024)

    assert 5 == len(table.splitlines())
    assert "asynchronous copies win" in table.splitlines()[-1]
    assert 0 < min(measure_pinned(lambda layout, count, _: SimulatedDevice(layout, count), 1024))
