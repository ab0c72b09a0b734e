"""What Apple's compiler refuses and a C++ compiler would take, as far as it is known and visible in the tokens.

Source: Metal Shading Language Specification, sections 1.5 (restrictions), 4 (address spaces) and 5.2 (attributes), as
remembered by the course's authors, and error texts that users of torch reported. Nothing was compiled on a Mac.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from course_utils.metal.kernels import SPACES
from course_utils.metal.tokens import PROGRAM, Token, refuse

_NUMBERS = ["bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "bfloat"]
_FIXED = [f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)]
TYPES = frozenset(
    [f"{packed}{name}{n}" for name in _NUMBERS for n in ("", "2", "3", "4") for packed in ("", "packed_")]
    + [*_FIXED, "size_t", "void", "atomic_int", "atomic_uint", "atomic_float", "atomic_bool", "atomic_ulong"]
)
_RESERVED = frozenset(
    ["half", "bfloat", "kernel", "vertex", "fragment", *SPACES, *(t for t in TYPES if t[-1] in "234")]
)
_LACKING = {
    "double": "'double' is not supported in Metal",
    "goto": "'goto' is not supported in Metal",
    "new": "cannot use 'new' in Metal",
    "delete": "cannot use 'delete' in Metal",
    "throw": "cannot use 'throw' with exceptions disabled",
    "try": "cannot use 'try' with exceptions disabled",
    "catch": "cannot use 'catch' with exceptions disabled",
    "virtual": "virtual functions are not supported in Metal",
    "dynamic_cast": "'dynamic_cast' is not supported in Metal",
    "typeid": "'typeid' is not supported in Metal",
    "thread_local": "'thread_local' is not supported in Metal",
    "register": "'register' is not supported in Metal",
}
_NOT_HERE = ("asm", "extern", "metal_course", "typeof", "alignas")
_NOT_YET = {
    "texture1d": "textures",
    "texture2d": "textures",
    "texture3d": "textures",
    "sampler": "textures",
    "simdgroup_matrix": "cooperative matrices",
    "simdgroup_float8x8": "cooperative matrices",
    "simdgroup_half8x8": "cooperative matrices",
    "function_constant": "function constants",
    "quad_sum": "quadgroup functions",
    "quad_shuffle": "quadgroup functions",
}


def check_rules(tokens: Sequence[Token], source: str) -> None:
    """Refuse what Metal refuses.

    Args:
        tokens: of the program, with those of included headers, which are not checked.
        source: the text, for the error.

    Raises:
        SyntaxError: with line and column.
    """
    for i, token in enumerate(tokens):
        if token.file != PROGRAM or token.kind != "name":
            continue
        before = tokens[i - 1].text if i else ""
        after = tokens[i + 1].text if i + 1 < len(tokens) else ""
        if before in (".", "->"):
            continue
        if token.text in _LACKING:
            refuse(token, _LACKING[token.text], source)
        if token.text in _NOT_HERE or (
            token.text.startswith(("__", "METAL_COURSE")) and not token.text.startswith("__METAL_")
        ):
            refuse(token, f"'{token.text}' is not part of the Metal language that the emulated device knows", source)
        if token.text in _NOT_YET:
            refuse(
                token, f"the emulated device does not have {_NOT_YET[token.text]} ('{token.text}'); a Mac does", source
            )
        if token.text == "std" and after == "::":
            refuse(token, "use of undeclared identifier 'std': Metal has no C++ standard library", source)
        if token.text in _RESERVED and before in TYPES and after in ("=", ";", ",", ")", "["):
            refuse(
                token,
                f"cannot combine with previous 'type-name' declaration specifier: '{token.text}' is a word of Metal",
                source,
            )
        if token.text in TYPES:
            _check_space(tokens, i, source)
    for statement in _program_scope(tokens):
        _check_program_scope(statement, source)


def _check_space(tokens: Sequence[Token], at: int, source: str) -> None:
    """Refuse `float*` and `float&` without an address space."""
    end = at + 1
    while end < len(tokens) and tokens[end].text in ("const", "volatile"):
        end += 1
    if end == len(tokens) or tokens[end].text not in ("*", "&"):
        return
    start = at
    while start > 0 and tokens[start - 1].text not in (";", "{", "}", "(", ")", ",", "<", "="):
        start -= 1
    if not any(token.text in SPACES for token in tokens[start:at]):
        what = "pointer" if tokens[end].text == "*" else "reference"
        refuse(tokens[at], f"{what} type must have explicit address space qualifier", source)


def _program_scope(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield each statement that stands in no function and no class."""
    inside, start = 0, 0
    namespaces: list[bool] = []
    for i, token in enumerate(tokens):
        if token.kind == "directive":
            start = i + 1 if not inside else start
        elif token.text == "{":
            is_namespace = inside == 0 and any(t.text == "namespace" for t in tokens[start:i])
            namespaces.append(is_namespace)
            inside += not is_namespace
            start = i + 1 if is_namespace else start
        elif token.text == "}" and namespaces:
            inside -= not namespaces.pop()
            if inside == 0 and (i + 1 == len(tokens) or tokens[i + 1].text not in (";", ",", "=")):
                start = i + 1
        elif token.text == ";" and inside == 0:
            yield tokens[start : i + 1]
            start = i + 1


def _check_program_scope(statement: Sequence[Token], source: str) -> None:
    words = [token.text for token in statement]
    at = 0
    while at < len(words) and words[at] in ("static", "const", "constexpr"):
        at += 1
    is_variable = (
        at + 2 < len(words)
        and words[at] in TYPES
        and statement[at + 1].kind == "name"
        and words[at + 2] in ("=", ";", "[", "{")
    )
    if is_variable and statement[at].file == PROGRAM:
        refuse(statement[at + 1], "program scope variable must reside in constant address space", source)
