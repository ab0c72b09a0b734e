"""Tests that compile Metal kernels: skipped with a reason where nothing can compile them, run anyway in CI."""

import os

import pytest

from course_utils.emulation import emulated_mps
from course_utils.metal import MetalCompilerMissing
from course_utils.metal.compiler import find_compiler


def require_compiler():
    """Skip the test where there is no compiler, or fail where COURSE_CI is 1."""
    try:
        find_compiler()
    except MetalCompilerMissing as missing:
        if os.environ.get("COURSE_CI") == "1":
            pytest.fail(f"{missing}, and COURSE_CI=1 wants every test")
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def metal():
    """Provide the emulated device for a module of tests, where kernels can be compiled."""
    require_compiler()
    with emulated_mps() as device:
        yield device
