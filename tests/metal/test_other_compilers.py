"""The compilers that serve beside g++, where they are installed: the same results, the same faults, the same lines."""

import shutil
import sys
from importlib.util import find_spec

import pytest
import torch
from support import metal_kernels, wrong_metal_calls
from support.metal_here import metal  # noqa: F401  (a fixture)

from course_utils.emulation.patches import _memory_of
from course_utils.metal import MetalFault, RunLimits, build, compile_source
from course_utils.metal.compiler import OLDEST, Compiler

CLANGS = ("clang++", *(f"clang++-{version}" for version in range(OLDEST["clang"], 30)))


def _installed(family):
    """Return the compiler of a family that this machine has, or skip the test."""
    if family == "zig":
        if find_spec("ziglang") is None:
            pytest.skip("ziglang, the extra `metal`, is not installed")
        return Compiler((sys.executable, "-m", "ziglang", "cc"), "zig", 0)
    paths = [path for name in CLANGS if (path := shutil.which(name))]
    if not paths:
        pytest.skip(f"no clang++ {OLDEST['clang']} or newer on the PATH")
    return Compiler((paths[-1],), "clang", OLDEST["clang"])


@pytest.mark.parametrize("family", ["clang", "zig"])
def test_right_and_wrong_kernels(metal, monkeypatch, family):  # noqa: F811
    """Each right kernel equals torch, and each wrong one is reported with its kind and line."""
    compiler = _installed(family)
    monkeypatch.setattr(build, "find_compiler", lambda: compiler)

    right = torch.mps.compile_shader(metal_kernels.SOURCE + f"// by {family}\n")
    wrong = compile_source(wrong_metal_calls.SOURCE + f"// by {family}\n", _memory_of, RunLimits(cpu_s=0.3))
    lines = wrong_metal_calls.SOURCE.splitlines()

    assert len(metal_kernels.CASES) >= 25
    for case in metal_kernels.CASES:
        got, expected = case.run(right)
        torch.testing.assert_close(got.cpu(), expected, rtol=case.tolerance, atol=case.tolerance)
    assert len(wrong_metal_calls.CALLS) >= 15
    for name, (arguments, launch, kind) in wrong_metal_calls.CALLS.items():
        (line,) = (number for number, text in enumerate(lines, 1) if text.endswith(f"// {name}"))
        with pytest.raises(MetalFault) as caught:
            getattr(wrong, name)(*arguments(), **launch)
        assert (caught.value.kind, caught.value.kernel, caught.value.line) == (kind, name, line)
