"""What `runtime.Device` promises, on every device: simulated, CuPy on a stand-in, CuPy on a GPU.

Only the last one needs a GPU (`-m gpu`); the first two prove these tests. Nothing is imported
here but NumPy, pytest, `device` and `reference`, which is all that a machine with a GPU has.
"""

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from kernels_on_host import NO_COMPILER, build
from stand_in_for_cupy import World, make_cupy

from device import cuda
from device.digest import digest_pages
from device.gpu import RUN_BYTES_MIN, CudaDevice
from device.layout import Bytes, Layout, Numbers
from device.runtime import Device
from device.schedule import Moody
from device.simulated import SimulatedDevice

Make = Callable[..., Device]

LAYOUTS = [
    Layout(2, 24),
    Layout(3, 5),
    Layout(2, 5, 7),
    Layout(4, 64, 80),
    Layout(2, 4099, 4104),
    Layout(3, 8, 12),
    Layout(2, 65_536),
]

PATHS = {"default": RUN_BYTES_MIN, "copies": 1, "kernel": 1 << 40}
"""From how many bytes a run goes by asynchronous copy: as shipped, always, never."""

MAKERS = ["simulated", "lazy", *(f"stand-in, {path}" for path in PATHS)]
ON_GPU = [pytest.param(f"gpu, {path}", marks=pytest.mark.gpu) for path in PATHS]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World | None:
    """What the stand-in runs on."""
    kernels = build(Path(tmp_path_factory.mktemp("kernels")))
    return None if kernels is None else World(kernels)


def skip_without_gpu() -> None:
    """Say in one line why there is none."""
    try:
        cuda.check_gpu()
    except cuda.NoGpu as missing:
        pytest.skip(str(missing))


@pytest.fixture(params=[*MAKERS, *ON_GPU])
def make_device(
    request: pytest.FixtureRequest, world: World | None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Make]:
    """Makes devices of one kind, and closes them."""
    kind, _, path = request.param.partition(", ")
    maker: Make = partial(CudaDevice, run_bytes_min=PATHS.get(path, 1))
    if kind == "gpu":
        skip_without_gpu()
    elif kind == "stand-in":
        if world is None:
            pytest.skip(NO_COMPILER)
        monkeypatch.setattr(cuda, "cupy", make_cupy(world))
    elif kind == "lazy":
        maker = SimulatedDevice
    else:
        maker = partial(SimulatedDevice, pick=Moody(random.Random(5), laziness=0.2))
    made: list[Device] = []

    def make(*given: object, **named: object) -> Device:
        made.append(maker(*given, **named))
        return made[-1]

    yield make
    for device in made:
        device.close()


def numbers(*values: int) -> Numbers:
    """Pages, frames or rows."""
    return np.array(values, dtype=np.int64)


def fill_pages(device: Device, seed: int = 3) -> Bytes:
    """Write random bytes into all host pages and return a copy of them."""
    content = np.random.default_rng(seed).integers(0, 256, device.host_pages().shape, np.uint8)
    device.host_pages()[:] = content
    return content


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_what_is_copied_in_comes_back(make_device: Make, layout: Layout) -> None:
    """Neighbours and scattered pages take different paths, and all rows must arrive."""
    device = make_device(layout, 12, 10)
    content = fill_pages(device)
    stream = device.new_stream()
    pages, frames = numbers(3, 4, 5, 6, 11, 0, 1), numbers(0, 1, 2, 9, 4, 7, 8)
    device.wait(device.copy_in(stream, pages, frames))
    landed = device.peek(stream, frames)
    device.host_pages()[:] = 0
    device.wait(device.copy_out(stream, frames, pages))

    assert np.array_equal(content[pages], landed)
    assert np.array_equal(content[pages], device.host_pages()[pages])
    assert not device.host_pages()[[2, 7, 8, 9, 10]].any()


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_digest_is_that_of_the_host(make_device: Make, layout: Layout) -> None:
    """A view compares digests of both, bit for bit."""
    device = make_device(layout, 9)
    content = fill_pages(device)
    stream = device.new_stream()
    device.wait(device.copy_in(stream, numbers(*range(9)), numbers(*reversed(range(9)))))
    device.host_pages()[:] = 0

    assert np.array_equal(
        digest_pages(content)[[2, 0, 8]], device.digest_frames(stream, numbers(6, 8, 0))
    )
    assert (0,) == device.digest_frames(stream, numbers()).shape


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_rows_are_written_and_read(make_device: Make, layout: Layout) -> None:
    """Rows go to their frame alone, and the caller may use its memory at once."""
    device = make_device(layout, 5)
    content = fill_pages(device)
    stream = device.new_stream()
    every = numbers(*range(5))
    device.wait(device.copy_in(stream, every, every))
    rows = np.random.default_rng(4).integers(0, 256, (2, layout.row_bytes), np.uint8)
    written = rows.copy()
    device.write_rows(stream, numbers(3, 1), numbers(1, 0), written)
    written[:] = 0
    reading = device.read_rows(stream, numbers(1, 3, 3, 4), numbers(0, 0, 1, 1))
    device.wait(reading.event)
    expected = content.copy()
    expected[3, 1], expected[1, 0] = rows

    assert np.array_equal(expected[[1, 3, 3, 4], [0, 0, 1, 1]], reading.content)
    assert np.array_equal(expected, device.peek(stream, every))


def test_copies_are_waited_for_late(make_device: Make) -> None:
    """Many batches are in flight at once, and what they use must not be reused before."""
    device = make_device(Layout(2, 40, 48), 64)
    content = fill_pages(device)
    streams = [device.new_stream(), device.new_stream()]
    order = np.random.default_rng(6).permutation(64)
    events = [
        device.copy_in(streams[at % 2], order[at * 4 :][:4], order[at * 4 :][3::-1])
        for at in range(16)
    ]
    readings = [device.read_rows(streams[at % 2], order[at * 4 :][:1], numbers(1)) for at in (2, 5)]
    for event in reversed(events):
        device.wait(event)
    for reading in readings:
        device.wait(reading.event)
    targets = order.reshape(16, 4)[:, ::-1].reshape(-1)

    assert all(device.poll(event) for event in events)
    assert np.array_equal(content[order], device.peek(streams[0], targets))
    # Frame order[8] got page order[11]: each four are filled in reverse.
    assert np.array_equal(content[order[11], 1], readings[0].content[0])
    assert np.array_equal(content[order[23], 1], readings[1].content[0])


def test_one_stream_waits_for_another(make_device: Make) -> None:
    """A write-back that waits for a fill carries its bytes; the host did not wait between."""
    device = make_device(Layout(2, 1000), 8)
    content = fill_pages(device)
    filling, writing = device.new_stream(), device.new_stream()
    frames = numbers(1, 0, 5)
    device.copy_in(filling, numbers(0, 1, 2), frames)
    device.wait_for(writing, device.record(filling))
    ended = device.copy_out(writing, frames, numbers(4, 5, 6))
    device.wait(ended)

    assert np.array_equal(content[:3], device.host_pages()[4:7])


def test_poll_says_yes_in_the_end(make_device: Make) -> None:
    """Whoever polls must get on."""
    device = make_device(Layout(1, 16), 2)
    stream = device.new_stream()
    event = device.copy_in(stream, numbers(0), numbers(1))
    before = device.poll(event)
    device.settle(stream)

    assert isinstance(before, bool)
    assert device.poll(event)


def test_empty_batches_land(make_device: Make) -> None:
    """A fill of hits alone may queue nothing."""
    device = make_device(Layout(2, 9, 10), 3)
    stream = device.new_stream()
    device.wait(device.copy_in(stream, numbers(), numbers()))
    device.write_rows(stream, numbers(), numbers(), np.empty((0, 9), dtype=np.uint8))
    reading = device.read_rows(stream, numbers(), numbers())
    device.wait(reading.event)

    assert (0, 9) == reading.content.shape
    assert (0, 2, 9) == device.peek(stream, numbers()).shape


def test_padding_is_not_touched(make_device: Make) -> None:
    """What lies between rows is somebody else's."""
    layout = Layout(2, 24, 40)
    device = make_device(layout, 6)
    content = fill_pages(device)
    shape = (6, 2, layout.row_stride)
    host = np.lib.stride_tricks.as_strided(device.host_pages(), shape, writeable=True)
    host[:, :, 24:] = 0x77
    stream = device.new_stream()
    device.wait(device.copy_in(stream, numbers(0, 1, 5), numbers(2, 3, 0)))
    device.wait(device.copy_out(stream, numbers(2, 3, 0), numbers(1, 2, 4)))

    assert np.array_equal(content[[0, 1, 5]], device.host_pages()[[1, 2, 4]])
    assert (0x77 == host[:, :, 24:]).all()


def test_offsets_are_wide(make_device: Make) -> None:
    """4 GiB lie between two frames, 2 GiB between two rows; 32 bits would fold them."""
    if isinstance(make_device(Layout(1, 8), 1), SimulatedDevice):
        pytest.skip("a simulated device would write all of its memory")
    device = make_device(Layout(2, 48, (1 << 31) + 16), 1, 2)
    content = fill_pages(device)
    stream = device.new_stream()
    device.wait(device.copy_in(stream, numbers(0), numbers(1)))
    device.host_pages()[:] = 0
    device.wait(device.copy_out(stream, numbers(1), numbers(0)))
    reading = device.read_rows(stream, numbers(1), numbers(1))
    device.wait(reading.event)

    assert np.array_equal(content, device.host_pages())
    assert np.array_equal(content[0, 1], reading.content[0])
    assert digest_pages(content) == device.digest_frames(stream, numbers(1))
    assert np.array_equal(content, device.peek(stream, numbers(1)))
