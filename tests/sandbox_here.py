"""Tests that need the sandbox: skipped with a reason where there is none, failing where the tests must not skip."""

import os

import pytest

from course_utils.grading.isolation.sandbox import find_bubblewrap

MUST_RUN = os.environ.get("COURSE_CI") == "1"
needs_sandbox = pytest.mark.skipif(
    find_bubblewrap() is None and not MUST_RUN,
    reason="needs bubblewrap (apt-get install bubblewrap), which this machine does not have",
)
