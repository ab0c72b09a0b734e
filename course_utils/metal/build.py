"""Build a program from a Metal source: preprocess, check, translate, compile, link, and read what came out."""

from __future__ import annotations

import os
import re
import shutil
import struct
import tempfile
import weakref
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from course_utils.metal.compiler import NATIVE, Compiler, find_compiler
from course_utils.metal.elf import LARGEST_BYTES, Program
from course_utils.metal.includes import embed
from course_utils.metal.kernels import KernelSource, find_kernels
from course_utils.metal.line_table import LineTable, read_line_table
from course_utils.metal.rules import check_rules
from course_utils.metal.tokens import PROGRAM, Edit, apply, diagnostic, original_column, tokenize
from course_utils.metal.translate import edits_for, wrappers

_MACROS = re.compile(r"^\s*#\s*(?:define|undef|if|ifdef|ifndef|error|warning)\b", re.MULTILINE)
_MESSAGE = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE
)
# what a kernel's object may ask of others: the runtime, the compiler's own helpers, C's mathematics
_ROW = struct.Struct("<4B3I")
_KERNEL = struct.Struct("<QQI4xQ")


@dataclass(frozen=True)
class ParameterType:
    """A kernel's parameter as the compiler knows its type (native/layout.h, struct Parameter).

    Args:
        is_const: whether the kernel only reads it.
        is_atomic: whether it is of an atomic type.
        kind: "f" float or half, "b" bfloat, "i" signed, "u" unsigned, "B" bool, "s" a struct.
        scalar_bytes: of one number; for a struct, of all of it.
        pointee_bytes: of what a pointer or reference refers to.
    """

    is_const: bool
    is_atomic: bool
    kind: str
    scalar_bytes: int
    pointee_bytes: int


@dataclass(frozen=True)
class BuiltKernel:
    """One kernel of a program.

    Args:
        number: its place in the program's list.
        source: what the source says of it.
        types: the type of each parameter, in order.
    """

    number: int
    source: KernelSource
    types: tuple[ParameterType, ...]


@dataclass(frozen=True)
class BuiltProgram:
    """A program that runs the kernels of one source.

    Args:
        path: the file to start.
        text: the Metal source.
        kernels: by the name that Python calls.
        lines: where each address comes from.
        folder: the folder that goes with this object.
    """

    path: Path
    text: str
    kernels: dict[str, BuiltKernel]
    lines: LineTable
    folder: Path


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a fork that ends
        shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="course-metal-"))


@cache
def _runtime(compiler: Compiler) -> Path:
    """Compile the runtime, once in a process.

    Raises:
        RuntimeError: when the compiler cannot.
    """
    folder = _folder()
    weakref.finalize(compiler, _remove, str(folder), os.getpid())
    made = folder / "runtime.o"
    done = compiler.run([*compiler.for_runtime(), "-c", str(NATIVE / "runtime.cpp"), "-o", str(made)])
    if done.returncode or not made.exists():
        raise RuntimeError(
            f"the compiler {compiler.command[0]} cannot build the course's runtime for Metal kernels; it said: "
            f"{done.stderr.strip()[:600] or done.returncode}"
        )
    return made


def build(source: str) -> BuiltProgram:
    """Build a Metal source.

    Args:
        source: what `compile_shader` gets.

    Raises:
        SyntaxError: with line and column in the source, as Apple's compiler writes them.
        MetalCompilerMissing: where nothing on this machine can compile it.
    """
    compiler = find_compiler()
    text = embed(source)
    if _MACROS.search(text):
        text = _expand(text, compiler, source)
    tokens = tokenize(text)
    check_rules(tokens, source)
    found = find_kernels(tokens, source)
    names = [kernel.name for kernel in found.kernels]
    if repeated := next((kernel for kernel in found.kernels if names.count(kernel.name) > 1), None):
        raise SyntaxError(diagnostic(PROGRAM, repeated.line, 1, f"redefinition of '{repeated.name}'", source))
    edits = edits_for(tokens, found, source)
    code = f'# 1 "{PROGRAM}"\n{apply(text, edits)}{wrappers(found.kernels)}'
    folder = _folder()
    made = _compile(code, compiler, folder, source, edits if text == source else [])
    program = Program(made.read_bytes())
    if program.claimed_bytes > LARGEST_BYTES:
        shutil.rmtree(folder)
        raise SyntaxError(f"{PROGRAM}: error: the program's own variables take more than {LARGEST_BYTES >> 20} MiB")
    built = BuiltProgram(
        made, source, _kernels(program, found.kernels), read_line_table(program.content(".debug_line")), folder
    )
    weakref.finalize(built, _remove, str(folder), os.getpid())
    return built


def _expand(text: str, compiler: Compiler, source: str) -> str:
    """Expand macros and conditionals; line markers keep the lines."""
    words = ["-E", "-x", "c++", "-std=gnu++17", "-nostdinc", "-D__METAL__=1", "-D__METAL_VERSION__=320", "-"]
    done = compiler.run(words, f'# 1 "{PROGRAM}"\n{text}')
    if done.returncode:
        raise SyntaxError(_messages(done.stderr, source, []))
    return done.stdout


def _compile(code: str, compiler: Compiler, folder: Path, source: str, edits: list[Edit]) -> Path:
    compiled, made = folder / "kernels.o", folder / "kernels"
    include = ["-include", str(NATIVE / "metal_threads.h")]
    words = [*compiler.for_kernels(), *include, "-x", "c++", "-c", "-", "-o", str(compiled)]
    done = compiler.run(words, code)
    if done.returncode or not compiled.exists():
        shutil.rmtree(folder)
        raise SyntaxError(_messages(done.stderr, source, edits))
    done = compiler.run([str(compiled), str(_runtime(compiler)), *compiler.for_linking(), "-o", str(made)])
    if done.returncode or not made.exists():
        shutil.rmtree(folder)
        missing = re.findall(r"undefined (?:reference to|symbol:?) [`']?([^'\n]*)", done.stderr)
        what = f"undefined in Metal: {', '.join(dict.fromkeys(missing))}" if missing else done.stderr.strip()[:600]
        raise SyntaxError(f"{PROGRAM}: error: {what}")
    compiled.unlink()
    return made


def _messages(output: str, source: str, edits: list[Edit]) -> str:
    """Return a compiler's errors in the program, with the lines that they are about."""
    found = list(_MESSAGE.finditer(output))
    own = [match for match in found if match["file"] == PROGRAM] or found
    if not own:
        lines = output.strip().splitlines() or ["nothing"]
        said = next((line for line in lines if "error" in line), lines[-1])
        return (
            f"{PROGRAM}: error: the compiler stopped without a line to name: the source needs more than its limits on "
            f"time, memory or file size, or the compiler has a fault of its own; it said: {said[:200]}"
        )
    texts = []
    for match in own[:5]:
        line, column = int(match["line"]), int(match["column"] or 1)
        if edits and match["file"] == PROGRAM:
            column = original_column(source, edits, line, column)
        text = match["text"].replace("_Float16", "half").replace("metal_course::", "")
        texts.append(diagnostic(match["file"], line, column, text, source))
    return "\n".join(texts)


def _kernels(program: Program, sources: tuple[KernelSource, ...]) -> dict[str, BuiltKernel]:
    """Read the types of every kernel's parameters, which the compiler wrote into the program."""
    built: dict[str, BuiltKernel] = {}
    if not sources:
        return built
    table = program.symbol("metal_course_kernels")
    for number, source in enumerate(sources):
        _, _, n, rows_at = _KERNEL.unpack(program.read(table + number * _KERNEL.size, _KERNEL.size))
        types = []
        for i in range(n):
            _, _, is_const, is_atomic, kind, scalar, pointee = _ROW.unpack(
                program.read(rows_at + i * _ROW.size, _ROW.size)
            )
            types.append(ParameterType(bool(is_const), bool(is_atomic), chr(kind), scalar, pointee))
        built[source.name] = BuiltKernel(number, source, tuple(types))
    return built
