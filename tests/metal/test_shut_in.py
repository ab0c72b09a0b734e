"""A kernel's native code has its buffers and nothing else, and its source reads no file."""

import os
import subprocess
import sys
import textwrap

import pytest
import torch
from support.metal_here import metal, require_compiler  # noqa: F401  (metal is a fixture)
from support.sandbox_here import needs_sandbox

from course_utils.metal import MetalCompilerMissing, MetalFault, compiler
from course_utils.metal.elf import LARGEST_BYTES
from course_utils.metal.includes import METAL_HEADERS, embed
from course_utils.sandbox.sandbox import choose_sandbox

KERNEL = "kernel void f(device float* y, uint i [[thread_position_in_grid]]) { y[i] = 1; }\n"
DIRECTIVES = (
    '#include "/etc/passwd"',
    "#include </etc/passwd>",
    "#include <../../../etc/passwd>",
    '#include "c10/metal/../../../../../../etc/passwd"',
    "#include <stdio.h>",
    "#define F <stdio.h>\n#include F",
    "#inc\\\nlude <stdio.h>",
    "/* */ #include <stdio.h>",
    "%:include <stdio.h>",
    "#include_next <stdio.h>",
    "#import <stdio.h>",
    "#embed </etc/passwd>",
    "#pragma GCC poison float",
    '_Pragma("GCC poison float")',
    "#if __has_include(</etc/passwd>)\n#endif",
    '#ident "x"',
    '#line 3 "x"',
)


@pytest.mark.parametrize("directive", DIRECTIVES)
def test_no_file_is_read(metal, monkeypatch, directive):  # noqa: F811
    """Only headers on a list are included; nothing is opened for any other."""
    opened = []
    monkeypatch.setattr("pathlib.Path.read_text", lambda self, *_, **__: opened.append(self) or "")

    with pytest.raises(SyntaxError, match="program_source:"):
        torch.mps.compile_shader(f"{directive}\n{KERNEL}")
    assert opened == []


def test_metal_headers_are_there():
    """Every header of Metal's standard library that the course has may be included, with any spelling."""
    assert len(METAL_HEADERS) > 10
    for name in METAL_HEADERS:
        assert embed(f'#include <{name}>\n#  include "{name}" // twice\nint x;').strip() == "int x;"


def test_torch_headers_are_there(metal):  # noqa: F811
    """A kernel may use the functions that torch gives to kernels, and errors still name lines of the program."""
    source = """
    #include <c10/metal/reduction_utils.h>
    #include <c10/metal/special_math.h>
    kernel void total(device float* out, device const float* x, uint i [[thread_position_in_grid]],
                      uint l [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
      threadgroup float parts[32];
      float sum = c10::metal::threadgroup_sum(parts, c10::metal::erf(x[i]), l, n);
      if (l == 0) out[0] = sum;
      if (l == 1) out[1] = sum;
    }"""
    x = torch.linspace(-2, 3, 100)
    out = torch.zeros(2, device="mps")
    library = torch.mps.compile_shader(source)
    library.total(out, x.to("mps"), threads=100, group_size=100)
    torch.testing.assert_close(out.cpu(), x.erf().sum().repeat(2), rtol=1e-5, atol=1e-5)

    with pytest.raises(MetalFault, match="line 9: out of bounds"):
        library.total(out[:1], x.to("mps"), threads=100, group_size=100)


# native code that a kernel could hold; asm and extern "C" are refused, so only what a wild jump could reach is left
def test_a_kernel_cannot_call_the_system(metal, tmp_path):  # noqa: F811
    """Code that jumps to the C library's functions is ended by the system before it does anything."""
    source = """
    constant ulong nothing = 0;
    kernel void jump(device ulong* target) {
      device ulong* where = target;
      auto f = (long (*)(long, long, long))(where[0]);
      target[1] = f(0, 0, 0);
    }"""
    import ctypes

    address = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value
    target = torch.tensor([address, 0]).to("mps")

    with pytest.raises(MetalFault, match=r"signal|ended by the system"):
        torch.mps.compile_shader(source).jump(target, threads=1)


def test_a_constructor_is_shut_in_too(metal):  # noqa: F811
    """What runs before the kernel, such as the value of a constant, runs within the same limits."""
    source = """
    int wait() { for (volatile int n = 0;;) n += 1; }
    constant int forever = wait();
    kernel void f(device int* y, uint i [[thread_position_in_grid]]) { y[i] = forever; }"""
    from course_utils.metal import RunLimits, compile_source

    library = compile_source(source, lambda tensor: tensor, RunLimits(cpu_s=0.3))
    with pytest.raises(MetalFault, match=r"ran longer than 0\.3 s"):
        library.f(torch.zeros(1, dtype=torch.int32))


def _family():
    return compiler.find_compiler().family


def test_the_environment_is_empty(metal, monkeypatch):  # noqa: F811
    """Neither the compiler nor the kernel's process gets this process's environment."""
    seen = []
    original = subprocess.Popen.__init__

    def record(self, *args, **kwargs):
        seen.append(kwargs["env"])
        original(self, *args, **kwargs)

    monkeypatch.setenv("COURSE_SECRET", "x")
    monkeypatch.setattr(subprocess.Popen, "__init__", record)
    torch.mps.compile_shader(KERNEL + "// no other test compiles this text").f(torch.zeros(2, device="mps"))

    # zig keeps what it built once in a folder below the home folder, or in the one that its variable names
    allowed = {"PATH", "LC_ALL", "TMPDIR"} | ({"HOME", "ZIG_GLOBAL_CACHE_DIR"} if _family() == "zig" else set())
    assert len(seen) >= 3
    assert all(set(environment) <= allowed for environment in seen)
    assert seen[-1] == {}


def test_the_compiler_has_limits(metal):  # noqa: F811
    """A source that makes the compiler grow without end, and a program with huge variables, end with an error."""
    bomb = "template <int N> struct A { A<N - 1> a; A<N - 2> b; };\n"
    bomb += "template <> struct A<0> {}; template <> struct A<1> {};"
    with pytest.raises(SyntaxError):
        torch.mps.compile_shader(f"{bomb}\nconstant A<2000> a;\n{KERNEL}")
    use = "kernel void f(device char* y, uint i [[thread_position_in_grid]])"
    with pytest.raises(SyntaxError, match="limits"):
        torch.mps.compile_shader(
            f"struct L {{ char c[{2 * LARGEST_BYTES}]; }};\nconstant L large = {{}};\n{use} {{ y[i] = large.c[i]; }}"
        )
    with pytest.raises(SyntaxError, match="MiB"):
        torch.mps.compile_shader(f"{use} {{ threadgroup char c[{2 * LARGEST_BYTES}]; c[i] = 1; y[i] = c[i]; }}")


def test_nothing_is_left_behind(tmp_path):
    """The folders of compiled kernels are gone when Python ends."""
    require_compiler()
    code = f"""
    import os, tempfile, torch
    from course_utils.metal import compile_source
    library = compile_source({KERNEL!r}, lambda tensor: tensor)
    x = torch.zeros(3)
    library.f(x)
    assert x.sum() == 3
    print(sorted(name for name in os.listdir(tempfile.gettempdir()) if name.startswith("course-metal-")))
    """
    surroundings = os.environ | {"TMPDIR": str(tmp_path)}  # other tests compile at the same time
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=surroundings)
    during = set(eval(done.stdout))

    assert len(during) == 2
    assert not during & set(os.listdir(tmp_path))


def test_without_a_compiler(monkeypatch):
    """A machine without a compiler, and one with an old one, says what is missing and what to install."""
    compiler.find_compiler.cache_clear()
    monkeypatch.setattr(compiler.shutil, "which", lambda _: None)
    monkeypatch.setattr(compiler, "find_spec", lambda _: None)
    try:
        with pytest.raises(
            MetalCompilerMissing, match=r"g\+\+ was not found; clang\+\+ was not found; install g\+\+ 12"
        ):
            compiler.find_compiler()
        monkeypatch.setattr(compiler.shutil, "which", lambda name: f"/usr/bin/{name}")
        monkeypatch.setattr(
            compiler.subprocess,
            "run",
            lambda words, **_: subprocess.CompletedProcess(
                words, 0, stdout=f"{words[0]} (Debian 10.2.1-6) 10.2.1 20210110"
            ),
        )
        with pytest.raises(MetalCompilerMissing, match=r"g\+\+ is gcc 10, and gcc 12 is the oldest that serves"):
            compiler.find_compiler()
        monkeypatch.setattr(compiler.sys, "platform", "darwin")
        with pytest.raises(MetalCompilerMissing, match="use a Mac, or Linux in a container"):
            compiler.find_compiler()
    finally:
        compiler.find_compiler.cache_clear()


@needs_sandbox
def test_works_in_the_graders_sandbox(tmp_path):
    """Inside bubblewrap, with the grader's filter of system calls, a kernel compiles, runs and is checked."""
    require_compiler()
    sandbox = choose_sandbox(str(tmp_path), unsafe=False)
    code = f"""
    import sys; sys.path.insert(0, {sandbox.search_path!r})
    import torch
    from course_utils.emulation import emulated_mps
    from course_utils.sandbox.syscall_filter import load_filter
    from course_utils.sandbox.namespaces import drop_capabilities
    drop_capabilities()
    if {sandbox.syscall_filter!r}: load_filter({sandbox.syscall_filter!r})
    import resource; resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    with emulated_mps():
        library = torch.mps.compile_shader({KERNEL!r})
        x = torch.zeros(5, device="mps")
        library.f(x)
        print(x.sum().item())
        try:
            library.f(x, threads=6)
        except RuntimeError as fault:
            print(fault)
    """
    command = [*sandbox.prefix, sys.executable, "-I", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.stdout.startswith("5.0\nf, line 1: out of bounds: write of element 5 of 'y'"), done.stderr[-2000:]
