"""Honest Metal kernels run without a report, and give what torch gives."""

import pytest
import torch
from support.metal_here import metal  # noqa: F401  (a fixture)
from support.metal_kernels import CASES, SOURCE


@pytest.fixture(scope="module")
def library(metal):  # noqa: F811
    return torch.mps.compile_shader(SOURCE)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_equals_torch(library, case):
    """A kernel's result is that of torch's own operators on the CPU."""
    got, expected = case.run(library)

    torch.testing.assert_close(got.cpu(), expected, rtol=case.tolerance, atol=case.tolerance)


def test_every_kernel_is_called(library):
    """No kernel of the source goes untested."""
    called = {case.name.split(" of ")[0] for case in CASES}

    assert set(dir(library)) == called
    assert len(called) >= 25
