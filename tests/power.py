"""Which of the 32 changes the walks and the machine find, and after how many calls.

Run by `tox run -e power`; it writes `tests/golden/power.json`, from which `tests/regen.py` makes
the table of `properties/POWER.md`. Each front runs the scopes of the `ci` profile in their order,
with each seed, until a rule breaks. Calls are counted, not seconds, so the table is the same
everywhere; the CPU seconds of the slowest search are printed beside it.
"""

import json
import sys
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from mutants.catalogue import all_mutants
from mutants.lookup import model
from properties.fronts import run_fronts
from properties.judge import Judge
from properties.profiles import PROFILES
from properties.registry import all_rules
from properties.scopes import SCOPES

FOUND = Path(__file__).parent / "golden" / "power.json"
SEEDS = (0, 1)
FRONTS = ("walks", "machine")


def find(mutant: str, front: str, seed: int) -> dict[str, Any]:
    """Return where one front, with one seed, finds a mutant within the `ci` budget."""
    profile = PROFILES["ci"]
    scopes = [SCOPES[name] for name in profile.batches]
    report = run_fronts(
        partial(model, mutant),
        scopes,
        Judge(all_rules()),
        profile,
        seed=seed,
        subject=mutant,
        fronts=(front,),
    )
    calls = sum(getattr(run, front).calls for run in report.runs)
    broken = report.broken
    if broken is None or broken.broken is None:
        return {"found": False, "calls": calls, "scope": None, "rule": None}
    rule = broken.broken.rule
    return {"found": True, "calls": calls, "scope": broken.scope.name, "rule": rule}


def main() -> int:
    """Write what was found of each numbered change."""
    numbered = sorted((one.number, one.id) for one in all_mutants() if one.number is not None)
    table, slowest = [], dict.fromkeys(FRONTS, 0.0)
    for number, mutant in numbered:
        row: dict[str, Any] = {"number": number, "mutant": mutant}
        for front in FRONTS:
            row[front] = []
            for seed in SEEDS:
                begun = process_time()
                row[front].append(find(mutant, front, seed))
                slowest[front] = max(slowest[front], process_time() - begun)
        table.append(row)
        print(number, mutant, [one["found"] for front in FRONTS for one in row[front]], flush=True)
    FOUND.write_text(json.dumps({"seeds": SEEDS, "table": table}, indent=1) + "\n", "utf-8")
    for front in FRONTS:
        print(f"{front}: the slowest search took {slowest[front]:.1f} CPU s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
