"""`device/kernels.cu`: it compiles for three GPUs, and moves and digests the right bytes.

It runs here on the host (`kernels_on_host`), never on a GPU.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernels_on_host import KERNELS, NO_COMPILER, Kernels, build, get_parameters

from device import gpu
from device.cuda import KERNELS as LAUNCHED
from device.cuda import THREADS
from device.digest import digest_pages

ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    """The kernels, on the host."""
    built = build(Path(tmp_path_factory.mktemp("kernels")))
    if built is None:
        pytest.skip(NO_COMPILER)
    return built


def compile_for(nvrtc: Any, architecture: str, text: str) -> bytes:
    """The machine code of a text, through the low-level calls of NVRTC: no GPU is asked for."""
    program = nvrtc.createProgram(text, "kernels.cu", (), ())
    try:
        nvrtc.compileProgram(program, (f"--gpu-architecture={architecture}", "-std=c++14"))
        return bytes(nvrtc.getCUBIN(program))
    except nvrtc.NVRTCError:
        raise AssertionError(nvrtc.getProgramLog(program)) from None
    finally:
        nvrtc.destroyProgram(program)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_kernels_compile(architecture: str) -> None:
    """Whoever has no GPU must see that a change would not even compile."""
    nvrtc = pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy is not installed")
    code = compile_for(nvrtc, architecture, KERNELS.read_text(encoding="utf-8"))

    assert all(name.encode() in code for name in LAUNCHED)
    assert code.startswith(b"\x7fELF")


def test_what_does_not_compile_is_seen() -> None:
    """A check of a compiler that swallows errors says nothing."""
    nvrtc = pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy is not installed")
    text = KERNELS.read_text(encoding="utf-8").replace("__device__ u64 mix", "__device__ u64 mux")

    with pytest.raises(AssertionError, match=r'kernels\.cu.*"mix" is undefined'):
        compile_for(nvrtc, "sm_90", text)


def test_every_parameter_is_64_bits_wide() -> None:
    """CuPy passes whole numbers as 64 bits; a narrower parameter would read half of one."""
    parameters = get_parameters(KERNELS.read_text(encoding="utf-8"))
    types = {kind for kinds in parameters.values() for kind in kinds}

    assert set(LAUNCHED) == parameters.keys()
    assert {"const u8*", "u8*", "const i64*", "const u64*", "u64*", "i64"} == types


def test_sizes_agree_with_those_of_the_launches() -> None:
    """Blocks are counted from how much one warp does."""
    text = KERNELS.read_text(encoding="utf-8")

    assert f"#define COPY_PIECE {gpu.COPY_PIECE} " in text
    assert f"#define DIGEST_PIECE {gpu.DIGEST_PIECE // 8} " in text
    assert f"#define WARP {THREADS // gpu.BLOCK_WARPS} " in text


def test_blocks_are_copied_at_any_offset(kernels: Kernels) -> None:
    """Rows begin at any byte on either side: wide words must fit both, and none is torn."""
    random = np.random.default_rng(11)
    for _ in range(300):
        rows, width = int(random.integers(1, 4)), int(random.integers(1, 90))
        strides = [width + int(extra) for extra in random.integers(0, 20, 2)]
        items = int(random.integers(1, 5))
        source = random.integers(0, 256, 4000, np.uint8)
        target = random.integers(0, 256, 4000, np.uint8)
        gap = 700
        sources = gap * random.permutation(5)[:items] + int(random.integers(0, 17))
        targets = gap * random.permutation(5)[:items] + int(random.integers(0, 17))
        expected = target.copy()
        for begin, to in zip(sources, targets, strict=True):
            for row in range(rows):
                at, put = begin + row * strides[0], to + row * strides[1]
                expected[put : put + width] = source[at : at + width]
        addresses = [array.ctypes.data for array in (source, target, sources, targets)]
        kernels.run("copy_blocks", 2, 32, (*addresses, items, rows, width, *strides))

        assert np.array_equal(expected, target), (rows, width, strides, sources, targets)


@pytest.mark.parametrize("begin", [0, 8, 3])
@pytest.mark.parametrize(
    ("rows", "width", "stride"),
    [
        (1, 1, 1),
        (2, 8, 8),
        (3, 8, 12),
        (2, 7, 16),
        (5, 24, 32),
        (2, 9000, 9000),
        (1, 20_001, 20_001),
    ],
)
def test_digest_equals_that_of_the_host(
    kernels: Kernels, rows: int, width: int, stride: int, begin: int
) -> None:
    """Whole words and gathered ones, in any number of pieces, add to the same digest."""
    size = rows * stride
    memory = np.random.default_rng(rows + width).integers(0, 256, begin + 3 * size, np.uint8)
    frames = memory[begin:]
    offsets = np.array([2, 0], dtype=np.int64) * size
    sums, digests = np.zeros(2, dtype=np.uint64), np.zeros(2, dtype=np.uint64)
    ends = (frames.ctypes.data, offsets.ctypes.data, sums.ctypes.data)
    kernels.run("digest_sums", 2, 32, (*ends, 2, rows, width, stride))
    kernels.run("digest_ends", 1, 32, (sums.ctypes.data, digests.ctypes.data, 2, rows * width))
    pages = frames.reshape(3, rows, stride)[[2, 0], :, :width]

    assert np.array_equal(digest_pages(pages), digests)
