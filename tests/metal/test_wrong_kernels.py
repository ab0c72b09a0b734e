"""Each way to be wrong with a kernel gets a sentence with the line of the Metal source."""

import re

import pytest
import torch
from support.metal_here import metal  # noqa: F401  (a fixture)
from support.wrong_metal_calls import CALLS, SOURCE, x

from course_utils.metal import MetalFault, RunLimits, compile_source


@pytest.fixture(scope="module")
def library(metal):  # noqa: F811
    from course_utils.emulation.patches import _memory_of

    return compile_source(SOURCE, _memory_of, RunLimits(cpu_s=0.3))


@pytest.mark.parametrize("name", CALLS)
def test_is_reported_with_its_line(library, name):
    """The fault is named, the line is the one that does it, and the sentence shows that line."""
    arguments, launch, kind = CALLS[name]
    lines = SOURCE.splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if text.endswith(f"// {name}"))

    with pytest.raises(MetalFault) as caught:
        getattr(library, name)(*arguments(), **launch)

    fault = caught.value
    assert (fault.kind, fault.kernel, fault.line) == (kind, name, line)
    assert str(fault).startswith(f"{name}, line {line}: ")
    assert lines[line - 1].strip() in str(fault)


def test_every_wrong_kernel_is_called(library):
    """No kernel of the source goes untested."""
    assert set(dir(library)) == set(CALLS)
    assert len(CALLS) >= 15


def test_says_what_was_touched(library):
    """A sentence names variable, element, length and thread, and where a helper was called from."""
    with pytest.raises(
        MetalFault, match=r"write of element 1000 of 'out', which has 1000 elements \(thread 999 of the grid"
    ):
        library.write_one_too_far(x(1000))
    with pytest.raises(MetalFault, match=r"an unsigned index below 0 wraps around: this one was -1"):
        library.below_zero(x(), x())
    with pytest.raises(MetalFault, match=r"reached by 60 of the 64 threads of the group: thread 63 has returned"):
        library.early_return(x(60), 60, threads=64, group_size=64)
    with pytest.raises(MetalFault, match=r"called from line \d+\)"):
        library.in_a_helper(x(), x())
    with pytest.raises(MetalFault, match=r"threadgroup 't'\[\d+\]"):
        library.no_barrier_in_loop(x())
    with pytest.raises(MetalFault, match=r"groups run in any order"):
        library.sum_of_groups(x(1), x(), threads=64, group_size=32)


def test_nothing_is_written_back_after_a_fault(library):
    """Tensors are as before the call that stopped with a fault."""
    out = torch.zeros(1000, device="mps")
    with pytest.raises(MetalFault):
        library.write_one_too_far(out)

    assert not out.cpu().any()


SYNTAX = {
    "missing semicolon": ("  y[i] = 1\n}", r"program_source:3:\d+: error: .*expected ';'"),
    "undeclared": ("  y[i] = foo;\n}", r"program_source:3:10: error: .*'foo'"),
    "double": ("  double a = 1;\n  y[i] = a;\n}", r"program_source:3:3: error: 'double' is not supported"),
    "half as a name": ("  uint half = i / 2;\n  y[i] = half;\n}", r"program_source:3:8: error: cannot combine"),
    "pointer without space": (
        "  float* p = y;\n  p[i] = 1;\n}",
        r"3:3: error: pointer type must have explicit address",
    ),
    "standard library": ("  y[i] = std::sqrt(2.0);\n}", r"3:10: error: use of undeclared identifier 'std'"),
    "new": ("  device float* p = new float[3];\n}", r"3:21: error: cannot use 'new'"),
    "assembler": ('  asm("syscall");\n}', r"3:3: error: 'asm' is not part"),
    "write to constant": ("  c[i] = y[i];\n}", r"program_source:3:\d+: error: .*read-only"),
    "ambiguous": ("  y[i] = max(half(1), y[i]);\n}", r"program_source:3:\d+: error: .*ambiguous"),
    "components": ("  float2 v = 1;\n  y[i] = v.xyz.x;\n}", r"program_source|error: .*component"),
}


@pytest.mark.parametrize("name", SYNTAX)
def test_what_does_not_compile(metal, name):  # noqa: F811
    """An error is a SyntaxError that names line and column of the source, as on a Mac."""
    body, expected = SYNTAX[name]
    source = (
        "using namespace metal;\n"
        "kernel void f(device float* y, constant float* c, uint i [[thread_position_in_grid]]) {\n" + body
    )

    with pytest.raises(SyntaxError) as caught:
        torch.mps.compile_shader(source)

    assert re.search(expected, str(caught.value)), str(caught.value)


SIGNATURES = {
    "kernel void f(float* y, uint i [[thread_position_in_grid]]) {}": "address space qualifier",
    "kernel void f(device float* y, int i [[thread_position_in_grid]]) {}": "invalid type 'int'",
    "kernel void f(device float* y, uint n) {}": "invalid type 'uint' for input declaration",
    "kernel int f(device float* y) { return 1; }": "has to return 'void'",
    "float scale = 2;\nkernel void f(device float* y) { y[0] = scale; }": "must reside in constant address space",
    "kernel void f(device float* y [[buffer(1)]], device float* z [[buffer(1)]]) {}": "same \\[\\[buffer",
    "kernel void f(device float* y [[buffer(31)]]) {}": "between 0 and 30",
    "kernel void f(device float* y) {}\nkernel void f(device float* y) {}": "redefinition of 'f'",
}


@pytest.mark.parametrize("source", SIGNATURES)
def test_signatures_that_metal_refuses(metal, source):  # noqa: F811
    """A kernel whose parameters Metal does not take is refused."""
    with pytest.raises(SyntaxError, match=SIGNATURES[source]):
        torch.mps.compile_shader(source)
