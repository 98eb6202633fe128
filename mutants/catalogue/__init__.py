"""The named wrong versions: plausible mistakes, by the module they break.

Add one in five steps:

1. Open the file called after the module you break (`fill.py` for `reference/fill.py`), or make it;
   any module of this package with a tuple `MUTANTS` is found by itself.
2. Add one `Named(...)`: its id starts with the module, and says what goes wrong in words.
3. Say in `does` what a user would see, not which operator changed.
4. Give in each `Edit` the text you change, which must be in the module exactly once, and what
   stands there instead. It must run: a mutant that only crashes shows nothing.
5. Name in `expect` the rules that must notice, and in `scope` the smallest scope where it shows.

A mutant of the device is in `device_fill.py` for `device/fill.py`, and its id begins with
`device.fill.`; its `scope` is a world of `mutants/worlds.py`, and `expect` may be `LOCKSTEP`.

A public report that made the same mistake goes into `seen_in`; if it is one of `mutants/faults`,
the mutant stands for it, and for its class, in properties/FAULTS.md.
"""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from types import ModuleType

from mutants.entry import Named


@cache
def all_mutants() -> tuple[Named, ...]:
    """Return every entry, sorted by id.

    Raises `ValueError` if two have one id. An import that fails is not swallowed.
    """
    return gather(modules())


def modules() -> list[ModuleType]:
    """Return the modules of the catalogue, sorted by name."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}") for name in names]


def gather(catalogue: Iterable[ModuleType]) -> tuple[Named, ...]:
    """Return the entries of these modules, sorted by id.

    Raises `ValueError` if two have one id.
    """
    found: dict[str, Named] = {}
    for module in catalogue:
        for named in module.MUTANTS:
            if named.id in found:
                raise ValueError(f"two mutants are called {named.id}")
            found[named.id] = named
    return tuple(found[mutant_id] for mutant_id in sorted(found))
