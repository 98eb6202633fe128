"""`lockstep --on cuda`: tours and walks on CuPy, on a stand-in everywhere, on a GPU with `-m gpu`.

It needs the packages of the project; `tests/device/test_lockstep_on_gpu.py` does with less.
"""

from pathlib import Path

import pytest
from kernels_on_host import NO_COMPILER, build
from stand_in_for_cupy import World, make_cupy

from device import cuda
from properties.lockstep_all import Everything, Plan
from properties.lockstep_subjects import get_subject
from reference.words import Shape


@pytest.fixture(params=["stand-in", pytest.param("gpu", marks=pytest.mark.gpu)])
def gpu(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A GPU, or what stands in for one."""
    if request.param == "stand-in":
        kernels = build(Path(tmp_path_factory.mktemp("kernels")))
        if kernels is None:
            pytest.skip(NO_COMPILER)
        monkeypatch.setattr(cuda, "cupy", make_cupy(World(kernels)))
        return
    try:
        cuda.check_gpu()
    except cuda.NoGpu as missing:
        pytest.skip(str(missing))


def test_cuda_agrees_on_tours_and_walks(gpu: None) -> None:
    """What ran is named by the GPU, and what a GPU cannot show is said."""
    subject = get_subject("cuda")
    found = Everything(subject, Plan(("tiny",), 10, (Shape(4, 2, 2), Shape(60, 24, 2))))
    found.run()

    assert found.difference is None
    assert ["tour of tiny", "walks on 4/2/2", "walks on 60/24/2", "walks on all"] == [
        ran.what for ran in found.ran
    ]
    assert subject.words.startswith("the tier on ")
    assert "the order in which copies land: not chosen on a GPU" in found.not_shown[0]
    assert [] == found.missed
