"""What all tests share: the option that makes a missing GPU a failure."""

from collections.abc import Generator

import pytest


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
