"""The C++ compiler that builds Metal kernels for the emulated device: which one, with which flags and limits."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from course_utils.metal.errors import MetalCompilerMissing

NATIVE = Path(__file__).parent / "native"
OLDEST = {"gcc": 12, "clang": 15}  # the first with _Float16 in C++ on x86-64, with the hooks that the runtime offers
_OLDEST_GCC_ON_ARM = 13
_SECONDS, _ADDRESS_KIB, _FILE_KIB = 30, 2 * 1024**2, 64 * 1024
_INSTALL = (
    "install g++ 12 or newer (`sudo apt-get install g++`, `sudo dnf install gcc-c++`) or clang 15 or newer, "
    'or let pip do it: `pip install "pytorch-apple-silicon-course[metal]"`'
)
Family = Literal["gcc", "clang", "zig"]


@dataclass(frozen=True)
class Compiler:
    """A compiler that can build kernels.

    Args:
        command: the words that start it.
        family: whose options it takes.
        version: major version; for zig that of its clang is not asked, and 0.
    """

    command: tuple[str, ...]
    family: Family
    version: int

    def for_kernels(self) -> list[str]:
        """Return the options that compile a kernel: hooks before every load and store, no optimisation.

        Optimisation would move and copy calls of simdgroup functions, by whose place in the program the runtime knows
        which lanes meet (found with g++ 12 -O2: a reduction that summed 70 %).
        """
        words = ["-std=gnu++17", "-O0", "-g1", "-gdwarf-4", "-gz=none", "-w", "-nostdinc", f"-I{NATIVE}"]
        words += ["-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-stack-protector"]
        # zig watches loads and stores in position-independent code only; the link fixes the addresses again
        words.append("-fPIE" if self.family == "zig" else "-fno-pie")
        words += ["-fno-omit-frame-pointer", "-ffp-contract=off", "-fsanitize=thread,bounds,integer-divide-by-zero"]
        if self.family == "gcc":
            words += ["-nostdinc++", "-fsanitize-recover=bounds,integer-divide-by-zero", "-fmax-errors=8"]
            words += ["--param", "tsan-instrument-func-entry-exit=0", "-fno-diagnostics-show-caret"]
        else:
            words += ["-fsanitize-recover=all", "-fno-sanitize-trap=all", "-ferror-limit=8", "-fno-caret-diagnostics"]
            # clang leaves out the read of `a[i] += x` otherwise
            words += ["-mllvm", "-tsan-instrument-read-before-write=1", "-mllvm", "-tsan-instrument-func-entry-exit=0"]
        return [*words, *self._target(), *_plain_control_flow()]

    def for_runtime(self) -> list[str]:
        """Return the options that compile the runtime, which is not checked itself."""
        words = ["-std=gnu++17", "-O2", "-fno-omit-frame-pointer", "-fno-stack-protector", "-fno-exceptions"]
        words += ["-fno-rtti", "-fno-pie", "-U_FORTIFY_SOURCE", *self._target(), *_plain_control_flow()]
        return [*words, "-fno-sanitize=all"] if self.family == "zig" else words

    def for_linking(self) -> list[str]:
        """Return the options that link both: addresses are fixed, so that the line table holds for them as they are."""
        return ["-no-pie", "-Wl,--as-needed", "-lm", *self._target()]

    def _target(self) -> list[str]:
        return ["-target", f"{platform.machine()}-linux-gnu"] if self.family == "zig" else []

    def run(self, arguments: Sequence[str], text: str = "") -> subprocess.CompletedProcess[str]:
        """Run it with a text as standard input, within limits on time, memory and files, and an empty environment.

        Raises:
            SyntaxError: when it took too long.
        """
        limits = f"ulimit -c 0; ulimit -t {_SECONDS}; ulimit -f {_FILE_KIB}; "
        if self.family != "zig":  # zig reserves more address space than it uses
            limits += f"ulimit -v {_ADDRESS_KIB}; "
        words = ["/bin/sh", "-c", limits + 'exec "$@"', "sh", *self.command, *arguments]
        try:
            return subprocess.run(
                words,
                input=text,
                capture_output=True,
                text=True,
                timeout=5 * _SECONDS,
                env=self._environment(),
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SyntaxError(f"program_source: error: compiling took more than {5 * _SECONDS} s") from None

    def _environment(self) -> dict[str, str]:
        names = ("TMPDIR", "HOME", "ZIG_GLOBAL_CACHE_DIR") if self.family == "zig" else ("TMPDIR",)
        kept = {name: os.environ[name] for name in names if name in os.environ}
        return kept | {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}


def _plain_control_flow() -> list[str]:
    return ["-fcf-protection=none"] if platform.machine() == "x86_64" else []


def _described(command: tuple[str, ...]) -> Compiler | str:
    """Ask a compiler who it is; a text says why it does not serve."""
    try:
        asked = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        return f"{command[0]} does not start ({error.strerror})"
    except subprocess.TimeoutExpired:
        return f"{command[0]} --version did not answer within a minute"
    first = asked.stdout.partition("\n")[0]
    number = re.search(r"\b(\d+)\.\d+", first)
    if asked.returncode or number is None:
        return f"{command[0]} --version gives no version"
    family: Family = "clang" if "clang" in first else "gcc"
    oldest = _OLDEST_GCC_ON_ARM if family == "gcc" and platform.machine() == "aarch64" else OLDEST[family]
    if int(number[1]) < oldest:
        return f"{command[0]} is {family} {number[1]}, and {family} {oldest} is the oldest that serves"
    return Compiler(command, family, int(number[1]))


@cache
def find_compiler() -> Compiler:
    """Return the compiler that builds kernels here: the system's g++ or clang++, or zig from the extra `metal`.

    Raises:
        MetalCompilerMissing: when there is none; the sentence says what to install.
    """
    if not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "aarch64"):
        raise MetalCompilerMissing(
            f"the emulated MPS device runs Metal kernels on Linux with an x86-64 or 64-bit ARM processor, not on "
            f"{platform.system()} with {platform.machine()}; use a Mac, or Linux in a container"
        )
    reasons = []
    for name in ("g++", "clang++"):
        path = shutil.which(name)
        found = _described((path,)) if path else f"{name} was not found"
        if isinstance(found, Compiler):
            return found
        reasons.append(found)
    if find_spec("ziglang") is not None:
        return Compiler((sys.executable, "-m", "ziglang", "cc"), "zig", 0)
    raise MetalCompilerMissing(
        f"no compiler for Metal kernels on the emulated MPS device: {'; '.join(reasons)}; {_INSTALL}. "
        "A Mac needs none: macOS compiles them"
    )
