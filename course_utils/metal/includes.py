"""Which files a Metal source may include: Metal's own headers and torch's c10/metal, by name, never by path.

On a Mac, torch replaces `#include <c10/metal/...>` by the file (torch/utils/_cpp_embed_headers.py), and opens whatever
absolute path a source names. Here a list decides, before anything is opened, and every other directive that could read
a file or change what the compiler does is refused.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from course_utils.metal.tokens import PROGRAM, Token, diagnostic, refuse, tokenize

# the standard library's headers, whose content is in the course's own (Metal Shading Language Specification, 1.x to 4)
_METAL = """stdlib array atomic common compute config extended_vector geometric integer limits math pack relational
    simdgroup type_traits types uniform utility numeric quadgroup"""
METAL_HEADERS = frozenset(f"metal_{name}" for name in _METAL.split())
TORCH_HEADERS = frozenset(
    f"c10/metal/{name}.h"
    for name in ("common", "utils", "special_math", "reduction_utils", "random", "expm1f", "igamma", "float8")
)
# textures, cooperative matrices and the rest: known, and not there
_KNOWN_ELSEWHERE = re.compile(r"metal_\w+|c10/metal/\w+\.h|MetalPerformancePrimitives/.*")
_DIRECTIVE = re.compile(r"\s*#\s*(\w*)\s*(.*)", re.DOTALL)
_INCLUDED = re.compile(r'[<"]([^>"]*)[>"]\s*(?://.*|/\*.*\*/\s*)?', re.DOTALL)
_ALLOWED = frozenset(["define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning"])
_PRAGMAS = re.compile(r"once\b|unroll\b|clang\s+loop\b|METAL\b|clang\s+diagnostic\b|mark\b")
# digraphs and trigraphs that begin a directive, and operators that look at files
_HIDDEN = re.compile(
    r"%:|\?\?=|\b__has_include(?:_next)?\b|\b__has_embed\b|\b_Pragma\b|\b__FILE__\b|\b__include_level__\b", re.I
)
# torch's common.h asks for a header of Metal 4, since torch 2.15
_ASKS_FOR_HEADER = re.compile(r"\b__has_include\(\s*<([^>\n]*)>\s*\)")


def embed(source: str) -> str:
    """Return a source in which every include is replaced: Metal's headers by nothing, torch's by their text.

    Args:
        source: what `compile_shader` got.

    Raises:
        SyntaxError: for another include or a directive that is refused, before any file is opened.
    """
    return _embed(source, PROGRAM, set())


def _embed(source: str, file: str, seen: set[str]) -> str:
    if file != PROGRAM:  # torch's own question is answered by the list; nothing is looked for
        known = METAL_HEADERS | TORCH_HEADERS
        source = _ASKS_FOR_HEADER.sub(lambda asked: str(int(asked[1] in known)), source)
    if found := _HIDDEN.search(source):
        line = source.count("\n", 0, found.start()) + 1
        column = found.start() - source.rfind("\n", 0, found.start())
        raise SyntaxError(
            diagnostic(file, line, column, f"'{found[0]}' is not supported in Metal sources here", source)
        )
    parts, at = [], 0
    for token in tokenize(source, markers=False):
        if token.kind != "directive":
            if token.text == "#":
                refuse(token, "a '#' that does not begin its line is not supported here", source)
            continue
        parts += [source[at : token.start], _directive(token, file, source, seen)]
        at = token.end
    return "".join([*parts, source[at:]])


def _directive(token: Token, file: str, source: str, seen: set[str]) -> str:
    """Return what stands for one directive, with as many line breaks."""
    kept_lines = "\n" * token.text.count("\n")
    match = _DIRECTIVE.match(token.text.replace("\\\n", " "))
    assert match is not None  # it begins with '#'
    name, rest = match[1], match[2].strip()
    if name == "pragma":
        if not _PRAGMAS.match(rest):
            refuse(token, f"'#pragma {rest}' is not supported here", source)
        return kept_lines
    if name not in ("include", "import"):
        if name and name not in _ALLOWED:
            refuse(token, f"the directive '#{name}' is not supported here", source)
        return token.text
    included = _INCLUDED.fullmatch(rest)
    wanted = included[1] if included else rest
    if wanted in METAL_HEADERS:
        return kept_lines
    if wanted not in TORCH_HEADERS and file != PROGRAM:
        return kept_lines  # for torch's own C++, not for Metal
    if wanted not in TORCH_HEADERS:
        known = _KNOWN_ELSEWHERE.fullmatch(wanted)
        also = "; the emulated device does not have this header, a Mac does" if known else ""
        refuse(token, f"'{wanted}' file not found{also}", source)
    if wanted in seen:
        return kept_lines
    seen.add(wanted)
    text = _embed(torch_header(wanted), wanted, seen)
    return f'# 1 "{wanted}"\n{text}\n# {token.line + token.text.count(chr(10)) + 1} "{file}"'


def torch_header(name: str) -> str:
    """Return the text of one of TORCH_HEADERS, as the installed torch has it.

    Raises:
        SyntaxError: when this release of torch has no such header.
    """
    package = find_spec("torch")
    assert package is not None
    assert package.origin is not None
    path = Path(package.origin).parent / "include" / name
    if not path.is_file():
        raise SyntaxError(f"{PROGRAM}: error: '{name}' file not found: the installed torch has no such header")
    return path.read_text(encoding="utf-8")
