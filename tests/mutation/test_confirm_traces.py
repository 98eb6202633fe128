"""Saved traces as explicit tests: each breaks a rule on the mutant it was found on."""

import os
from pathlib import Path

import pytest

from properties import trace
from properties.judge import Judge
from properties.registry import all_rules
from properties.replay import replay_all
from properties.subject import FunctionModel, ObjectModel, reference_modules

FILES = sorted((Path(__file__).parent / "traces").glob("*.jsonl"))
JUDGE = Judge(all_rules())
SPECIAL = {"", "stats", "fail", "list_all_tests", "mutant_generation"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("kind", [FunctionModel, ObjectModel], ids=["functions", "object"])
def test_trace_breaks_no_rule(path: Path, kind: type[FunctionModel] | type[ObjectModel]) -> None:
    """Green on the reference; red, by the rule it was saved for, on its mutant."""
    recorded = trace.read(str(path))
    model = kind(recorded.header.shape, recorded.header.off, reference_modules())
    # On a mutant its own choices are taken, also those that the reference would not offer.
    own = os.environ.get("MUTANT_UNDER_TEST", "") not in SPECIAL
    broken = sorted(replay_all(recorded, model, JUDGE, own).breaks)

    assert not broken, f"RULES {', '.join(broken)}"
