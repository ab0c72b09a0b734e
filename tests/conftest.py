"""Fixtures that several test modules share, and what is skipped where there is no sandbox."""

import pytest
from support import sandbox_here
from support.browser import browser  # noqa: F401
from support.built_package import built  # noqa: F401
from support.first_page import offered, site  # noqa: F401
from support.postgres import postgres_server  # noqa: F401


def pytest_collection_modifyitems(items):
    """Begin with the modules that hold slow tests, so that none of them is left for one worker at the end.

    Tests marked needs_sandbox are skipped where it does not start, with the reason; in CI they run, and fail.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    marked = [item for item in items if item.get_closest_marker("needs_sandbox")]
    reason = sandbox_here.missing() if marked and not sandbox_here.MUST_RUN else ""
    if reason:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter):
    """Print how many tests of the sandbox were skipped: without them nothing is known of the grader's safety here."""
    skipped = [report for report in terminalreporter.getreports("skipped") if "needs_sandbox" in report.keywords]
    if skipped:
        terminalreporter.section("sandbox")
        terminalreporter.write_line(f"{len(skipped)} tests of the grader's sandbox were skipped on this machine")
