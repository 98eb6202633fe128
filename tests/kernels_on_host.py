"""The text of `kernels.cu` as host code: a C++ compiler makes it, one lane runs after the other.

What is shown: which bytes move, every offset, the digest. Not shown: anything about a GPU, the
sum over the lanes of a warp, and races.
"""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

KERNELS = Path(__file__).parent.parent / "device" / "kernels.cu"

NO_COMPILER = "there is no C++ compiler to run kernels.cu on the host with"

BEFORE = """
#define __device__ static
#define __global__
#define WARP 1
struct Place { unsigned x; };
static Place blockIdx, threadIdx, blockDim, gridDim;
template <typename T> static T __shfl_down_sync(unsigned, T, int) { return T(0); }
static void atomicAdd(unsigned long long* sum, unsigned long long value) { *sum += value; }
"""

RUN = """
extern "C" void run_{name}(unsigned blocks, unsigned threads, const i64* given) {{
    gridDim.x = blocks;
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) {name}({casts});
}}
"""


class Kernels(NamedTuple):
    """The kernels, to be run on the host."""

    library: ctypes.CDLL
    parameters: dict[str, list[str]]
    """The type of each parameter of each kernel."""

    def run(self, name: str, blocks: int, threads: int, given: tuple[int, ...]) -> None:
        """Run a kernel on so many blocks and threads, all parameters given as whole numbers."""
        assert len(given) == len(self.parameters[name]), name
        assert 1 <= blocks < 2**31 and 32 <= threads <= 1024 and threads % 32 == 0
        numbers = (ctypes.c_longlong * len(given))(*given)
        getattr(self.library, f"run_{name}")(blocks, threads, numbers)


def get_parameters(text: str) -> dict[str, list[str]]:
    """The types of the parameters of each kernel of a text."""
    found = re.findall(r'extern "C" __global__ void (\w+)\(([^)]*)\)', text)
    return {
        name: [part.rpartition(" ")[0].strip() for part in parameters.split(",")]
        for name, parameters in found
    }


def build(folder: Path) -> Kernels | None:
    """Make the kernels in an empty folder, or nothing if there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")
    if compiler is None:
        return None
    text = KERNELS.read_text(encoding="utf-8")
    parameters = get_parameters(text)
    runs = [
        RUN.format(name=name, casts=", ".join(f"({t})given[{i}]" for i, t in enumerate(types)))
        for name, types in parameters.items()
    ]
    source, library = folder / "kernels.cpp", folder / "kernels.so"
    source.write_text(BEFORE + text + "".join(runs), encoding="utf-8")
    flags = ["-std=c++14", "-O1", "-shared", "-fPIC", "-fno-strict-aliasing"]
    # A GPU ends at a wide access to an address that is no multiple of it; a host would do it.
    flags += ["-fsanitize=alignment", "-fsanitize-undefined-trap-on-error"]
    command = [compiler, *flags, "-o", str(library), str(source)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return Kernels(ctypes.CDLL(str(library)), parameters)
