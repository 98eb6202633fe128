"""Records which rule spoke while mutmut, or an edited source, is under test.

These tests run in a scratch copy (`mutants/scratch.py`) under stock mutmut, where `import mutants`
would meet mutmut's own folder; so nothing here imports that package.
"""

import json
import os
import re

import pytest

# What mutmut sets while it does something else than test a mutant.
SPECIAL = {"", "stats", "fail", "list_all_tests", "mutant_generation"}
SPOKE = re.compile(r"RULES ([a-z, -]+)")


def mutant() -> str:
    """Return the name of the mutant under test; empty if there is none."""
    name = os.environ.get("MUTANT_UNDER_TEST", "")
    return "" if name in SPECIAL else name


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Append one line for each failure: the mutant, the test, and the rules it named."""
    out = os.environ.get("TIERPROOF_RECORD")
    if not out or not mutant() or report.when != "call" or report.passed:
        return
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message if crash is not None else str(report.longrepr)
    spoke = SPOKE.search(message)
    rules = spoke[1].split(", ") if spoke else []
    line = {"mutant": mutant(), "test": report.nodeid, "rules": rules, "said": message[:200]}
    # One write to a file opened for appending: mutmut runs mutants side by side.
    handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, (json.dumps(line) + "\n").encode())
    os.close(handle)
