"""The subjects of lockstep: the tier on a simulated device, on a GPU, and mutants by their id."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from device.layout import Layout
from device.runtime import Device
from properties.device_subject import ROW_BYTES, ROW_STRIDE, DeviceModel
from properties.exits import Misuse
from properties.lockstep_walks import MakeSubject
from properties.lookup import FAILING, SIMULATED, load_model
from properties.subject import Model
from reference.words import Shape

CUDA = "cuda"

FAILING_EVERY = 3
"""Of so many walks one is made on a device that fails by itself, in ways no driver asked for."""


MakeDrawn: TypeAlias = Callable[[Shape, bool, Callable[[int], int]], Model]
"""Makes a subject of a shape, its tier off or not, whose scheduler picks so."""


class Subject(NamedTuple):
    """Something to compare with the reference."""

    name: str
    """What it is called on the command line."""
    words: str
    """What runs, in plain words."""
    make: MakeSubject
    """Makes one whose device fails only where the driver says so."""
    make_failing: MakeSubject
    """Makes one whose device, for some seeds, also fails by itself."""
    make_drawn: MakeDrawn | None
    """Makes one whose scheduler picks what is drawn; none if it has no scheduler to be told."""
    not_shown: tuple[str, ...]
    """What this subject cannot show, in plain words."""

    @property
    def is_mutant(self) -> bool:
        """Whether a difference is what should be found."""
        return self.name not in (SIMULATED, CUDA)


def get_subject(name: str) -> Subject:
    """Return a subject by its name. Raises `Misuse` if there is none, or no GPU."""
    if name == SIMULATED:
        return Subject(
            name,
            "the tier on a simulated device, in host memory",
            lambda shape, off, seed: DeviceModel(shape, off, seed=seed),
            make_simulated,
            lambda shape, off, pick: DeviceModel(shape, off, pick=pick),
            ("on a GPU: not run here (--on cuda runs it where there is one)",),
        )
    if name == CUDA:
        gpu = get_gpu_name()
        faults = "faults of the device and the order in which copies land: not chosen on a GPU"
        machine = "the machine with drawn picks: a GPU has a scheduler of its own"
        words = f"the tier on {gpu}"
        return Subject(name, words, make_cuda, make_cuda, None, (faults, machine))
    load_model(name, Shape(1, 1, 1), False)  # an unknown name is told before any work
    return Subject(
        name,
        name,
        lambda shape, off, _seed: load_model(name, shape, off),
        lambda shape, off, _seed: load_model(name, shape, off),
        None,
        ("the machine with drawn picks: for the simulated device only",),
    )


def make_simulated(shape: Shape, off: bool, seed: int) -> DeviceModel:
    """Return a tier on a simulated device; some seeds make one that fails by itself."""
    failing = not off and seed % FAILING_EVERY == FAILING_EVERY - 1
    return DeviceModel(shape, off, seed=seed, failing=failing)


def make_cuda(shape: Shape, off: bool, seed: int) -> DeviceModel:
    """Return a tier on a GPU. Raises `Misuse` if there is none."""
    return DeviceModel(shape, off, seed=seed, make_device=_open_gpu)


def _open_gpu(layout: Layout, shape: Shape) -> Device:
    from device.cuda import NoGpu
    from device.gpu import CudaDevice

    try:
        device: Device = CudaDevice(layout, shape.pages, shape.frames)
    except NoGpu as error:
        raise Misuse(str(error)) from None
    return device


def get_gpu_name() -> str:
    """Return the name of the GPU. Raises `Misuse` if there is none."""
    device = _open_gpu(Layout(1, ROW_BYTES, ROW_STRIDE), Shape(1, 1, 1))
    device.close()
    return device.name


def name_model(name: str, model: Model) -> str:
    """Return the name by which a trace finds a subject again."""
    return FAILING if name == SIMULATED and getattr(model, "failing", False) else name
