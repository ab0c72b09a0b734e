"""Metal source into C++ that a compiler takes, line by line: address spaces, attributes, literals, swizzles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from course_utils.metal.kernels import POSITIONS, FoundKernels, KernelParameter, KernelSource
from course_utils.metal.tokens import Edit, Token, closing, split_at_commas

_ASSIGNMENTS = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])
_SWIZZLE = re.compile(r"[xyzw]{2,4}|[rgba]{2,4}")
_FLOAT = re.compile(r"((?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(f|h|bf)?", re.IGNORECASE)


def edits_for(tokens: Sequence[Token], found: FoundKernels, source: str) -> list[Edit]:
    """Return the edits that make C++ of a Metal source; every line stays where it is."""
    edits: list[Edit] = []
    gone = [False] * len(tokens)
    for first, last in found.instantiations:
        edits.append(Edit(tokens[first].start, tokens[last].end, ""))
        gone[first : last + 1] = [True] * (last + 1 - first)
    members = _members(tokens)
    skip_to = 0
    for i, token in enumerate(tokens):
        if gone[i] or i < skip_to or token.kind == "directive":
            continue
        if token.text == "[[":
            skip_to = closing(tokens, i, source) + 1
            edits.append(Edit(token.start, tokens[skip_to - 1].end, ""))
        elif token.kind == "number":
            edits += _literal(token)
        elif token.kind == "name":
            if token.text == "threadgroup" and (shared := _shared(tokens, i)) is not None:
                edit, skip_to = shared
                edits.append(edit)
            else:
                edits += _word(tokens, i, members)
    return edits


def _literal(token: Token) -> Iterator[Edit]:
    """A floating literal without a suffix is a float in Metal, a double in C++; Metal has half and bfloat literals."""
    match = _FLOAT.fullmatch(token.text)
    if match is None:
        return
    digits, suffix = match[1], (match[2] or "").lower()
    is_float = "." in digits or "e" in digits.lower()
    if suffix in ("h", "bf"):
        digits = digits if is_float else f"{digits}.0"
        yield Edit(token.start, token.end, f"{'half' if suffix == 'h' else 'bfloat'}({digits}f)")
    elif is_float and not suffix:
        yield Edit(token.start, token.end, f"{token.text}f")


def _word(tokens: Sequence[Token], i: int, members: frozenset[str]) -> Iterator[Edit]:
    token = tokens[i]
    before = tokens[i - 1].text if i else ""
    after = tokens[i + 1].text if i + 1 < len(tokens) else ""
    if before in (".", "->"):
        if _SWIZZLE.fullmatch(token.text) and token.text not in members and after != "(":
            letters = "xyzw" if token.text[0] in "xyzw" else "rgba"
            numbers = ", ".join(str(letters.index(letter)) for letter in token.text)
            what = "set" if after in _ASSIGNMENTS else "get"
            yield Edit(token.start, token.end, f"template {what}<{numbers}>()")
    elif token.text in ("kernel", "device", "thread", "threadgroup"):
        yield Edit(token.start, token.end, "")
    elif token.text == "constant":
        # the address space implies const, and C++ takes that only once
        yield Edit(token.start, token.end, "" if "const" in (before, after) else "const")


def _members(tokens: Sequence[Token]) -> frozenset[str]:
    """Return names that the source declares and that look like swizzles: members of its own structs."""
    return frozenset(
        token.text
        for i, token in enumerate(tokens)
        if token.kind == "name" and _SWIZZLE.fullmatch(token.text) and i and tokens[i - 1].text not in (".", "->")
    )


def _shared(tokens: Sequence[Token], i: int) -> tuple[Edit, int] | None:
    """Return the edit for `threadgroup float a[32], b;` at token i, and the token after it; None for a pointer's space.

    Each becomes a static variable that the runtime knows by name, and a reference to it.
    """
    if i and tokens[i - 1].text in ("(", ",", "<"):
        return None
    end = i + 1
    depth = 0
    while end < len(tokens) and not (tokens[end].text == ";" and depth == 0):
        depth += (tokens[end].text in ("(", "{")) - (tokens[end].text in (")", "}"))
        if depth < 0:
            return None
        end += 1
    declarators = split_at_commas(tokens[i + 1 : end])
    if end == len(tokens) or not declarators:
        return None
    dimensions = next((k for k, token in enumerate(declarators[0]) if token.text in ("[", "=")), len(declarators[0]))
    head = declarators[0][:dimensions]
    if len(head) < 2 or head[-1].kind != "name" or any(token.text in ("*", "&", "(") for token in head):
        return None
    type_text = " ".join(token.text for token in head[:-1] if token.text != "volatile")
    parts = []
    for declarator in [[head[-1], *declarators[0][dimensions:]], *declarators[1:]]:
        name = declarator[0].text
        # an initialiser would run in every thread; Apple's compiler refuses it
        sizes = " ".join(_translated(token) for token in declarator[1:])
        line = declarator[0].line
        parts.append(
            f"static metal_course::Shared<{type_text} {sizes}> {name}_shared; auto& {name} = {name}_shared.value; "
            f'metal_course::declare({name}, "{name}", {line});'
        )
    return Edit(tokens[i].start, tokens[end].end, " ".join(parts)), end + 1


def _translated(token: Token) -> str:
    return next((edit.text for edit in _literal(token)), token.text)


def wrappers(kernels: Sequence[KernelSource]) -> str:
    """Write the C++ that calls each kernel with the arguments that the runtime has, and that lists all kernels."""
    lines = ['\n# 1 "metal_course_kernels"', "namespace metal_course {", "static const u32 simd_width = 32;"]
    rows = []
    for number, kernel in enumerate(kernels):
        arguments = ", ".join(_argument(parameter) for parameter in kernel.parameters)
        lines.append(f"static void run_{number}(void* const* b) {{ (void)b; ::{kernel.function}({arguments}); }}")
        lines.append(f"typedef Signature<decltype(&::{kernel.function})> signature_{number};")
        rows.append(f'{{"{kernel.name}", run_{number}, signature_{number}::n, signature_{number}::list}}')
    table = ", ".join(rows) or '{"", nullptr, 0, nullptr}'
    lines.append(f'extern "C" {{ extern const Kernel metal_course_kernels[] = {{{table}}}; ')
    lines.append(f"extern const u32 metal_course_n_kernels = {len(kernels)}; }}")
    return "\n".join([*lines, "}", ""])


def _argument(parameter: KernelParameter) -> str:
    if parameter.position:
        return f"Coordinates{{{POSITIONS[parameter.position]}}}"
    if parameter.buffer is None:
        return "Pointer{nullptr}"
    return f"{'Pointer' if parameter.is_pointer else 'Reference'}{{b[{parameter.buffer}]}}"
