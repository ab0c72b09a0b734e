"""A real browser for the tests, on files of this machine only, and the accessibility rules of axe-core."""

from __future__ import annotations

import os
import shutil

import pytest

WCAG_21_AA = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}

# what depends on the style sheet alone, and takes most of the time of a long page
COLOURS = ("color-contrast", "link-in-text-block")


def missing():
    """Say why no browser can be started here; empty when one can."""
    if find_browser() is None:
        return "Chromium is not installed (no chromium, chromium-browser or google-chrome on the PATH)"
    try:
        import axe_playwright_python.sync_playwright  # noqa: F401
        import playwright.sync_api  # noqa: F401
    except ImportError as error:
        return f"{error.name} is not installed"
    return ""


def find_browser():
    """Return the path of the system's Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser():
    """Start a browser for this module; without one skip, or fail where COURSE_CI is 1."""
    reason = missing()
    if reason and os.environ.get("COURSE_CI") == "1":
        pytest.fail(f"{reason}, and COURSE_CI=1 wants every test")
    if reason:
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    # Chromium's own sandbox refuses to run as root, which containers do
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=find_browser(), args=[*arguments, "--disable-dev-shm-usage"]
        )
        yield started
        started.close()


def violations(page, *, without=(), only=()):
    """Return what axe-core finds against WCAG 2.1 A and AA on an open page, one line for each element.

    Args:
        page: the page.
        without: rules to leave out, such as `COLOURS`.
        only: the rules to ask; all when empty.
    """
    from axe_playwright_python.sync_playwright import Axe

    # the rules run in the page, whose policy allows no script; the test's context sets it aside
    asked = {"runOnly": {"type": "rule", "values": list(only)}} if only else WCAG_21_AA
    left_out = {"rules": {rule: {"enabled": False} for rule in without}}
    found = Axe().run(page, options=asked | left_out).response
    return [
        f"{rule['id']}: {node['html'][:120]} ({node.get('failureSummary', '')})"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
