"""What all tests share: the option that makes a missing GPU a failure.

A machine with a GPU may have NumPy, CuPy, Hypothesis and pytest alone. There only the tests of
`device` and `reference` can be imported; the head of the run says so.
"""

from collections.abc import Generator
from importlib.util import find_spec

import pytest

IS_BARE = find_spec("msgspec") is None

collect_ignore_glob = (
    ["properties/*", "mutants/*", "bench/test_explorer_rate.py", "bench/test_walk_rate.py"]
    if IS_BARE
    else []
)


def pytest_report_header() -> str:
    """Say what is left out, if anything is."""
    if not IS_BARE:
        return ""
    return "without msgspec: tests of properties and mutants are left out, they cannot be imported"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--require-gpu`, for a machine that promises a GPU."""
    what = "a test marked gpu that is skipped fails: nobody notices a skip"
    parser.addoption("--require-gpu", action="store_true", help=what)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a test that needs a GPU into a failure, with its reason, if asked for."""
    report = yield
    is_wanted = item.config.getoption("require_gpu") and item.get_closest_marker("gpu")
    if is_wanted and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"--require-gpu, and this test did not run: {reason}"
    return report
