"""Which kernels a Metal source has: names, parameters, and what each parameter is bound to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from course_utils.metal.tokens import Token, closing, refuse, split_at_commas

# attribute of a parameter -> what the runtime passes (native/layout.h)
POSITIONS = {
    "thread_position_in_grid": "current->thread_in_grid",
    "thread_position_in_threadgroup": "current->thread_in_group",
    "threadgroup_position_in_grid": "current->group_in_grid",
    "threads_per_threadgroup": "current->group_size",
    "dispatch_threads_per_threadgroup": "current->asked_group_size",
    "threads_per_grid": "current->grid_size",
    "threadgroups_per_grid": "current->groups",
    "thread_index_in_threadgroup": "&current->index",
    "thread_index_in_simdgroup": "&current->lane",
    "simdgroup_index_in_threadgroup": "&current->simdgroup",
    "simdgroups_per_threadgroup": "&current->simdgroups",
    "dispatch_simdgroups_per_threadgroup": "&current->simdgroups",
    "threads_per_simdgroup": "&simd_width",
    "thread_execution_width": "&simd_width",
}
SPACES = ("device", "constant", "threadgroup", "thread")
MOST_BUFFERS = 31  # Metal's limit for a kernel's arguments
_POSITION_TYPES = {f"{name}{n}" for name in ("uint", "ushort") for n in ("", "2", "3")}
_POSITION_TYPES |= {"uint32_t", "uint16_t", "unsigned int", "unsigned short", "unsigned"}


@dataclass(frozen=True)
class KernelParameter:
    """One parameter of a kernel.

    Args:
        name: its name.
        type_text: its type, as written.
        space: its address space, "" for a value.
        is_pointer: whether it is a pointer; otherwise a reference or a value.
        position: the attribute that says which position it is, "" for an argument.
        buffer: number of the argument that it is bound to; None for a position, and for threadgroup memory.
        line: its line in the source.
    """

    name: str
    type_text: str
    space: str
    is_pointer: bool
    position: str
    buffer: int | None
    line: int


@dataclass(frozen=True)
class KernelSource:
    """One kernel that Python can call.

    Args:
        name: what Python calls it: its name, or its host_name.
        function: the C++ expression that names it, such as "softmax<half>".
        parameters: in order.
        max_threads: the most threads that a group may have.
        line: where it begins.
    """

    name: str
    function: str
    parameters: tuple[KernelParameter, ...]
    max_threads: int
    line: int


@dataclass(frozen=True)
class FoundKernels:
    """Every kernel of a source.

    Args:
        kernels: in order.
        instantiations: (first, last) token of each explicit instantiation, which C++ does not get to see.
    """

    kernels: tuple[KernelSource, ...]
    instantiations: tuple[tuple[int, int], ...]


def find_kernels(tokens: Sequence[Token], source: str) -> FoundKernels:
    """Find the kernels of a source whose macros are expanded.

    Raises:
        SyntaxError: for a parameter that no kernel may have.
    """
    kernels: list[KernelSource] = []
    templates: dict[str, KernelSource] = {}
    spans: list[tuple[int, int]] = []
    for i, token in enumerate(tokens):
        in_brackets = token.text == "kernel" and i > 0 and tokens[i - 1].text == "[["
        if (
            token.text != "kernel"
            or token.kind != "name"
            or (not in_brackets and tokens[i - 1 : i] and tokens[i - 1].text in (".", "->"))
        ):
            continue
        start = i
        while start > 0 and tokens[start - 1].text not in (";", "{", "}") and tokens[start - 1].kind != "directive":
            start -= 1
        found = _declared(tokens, start, i + 2 if in_brackets else i + 1, source)
        if found is None:
            continue
        kernel, last, is_definition = found
        head = [t.text for t in tokens[start:i]]
        if "template" in head and not is_definition:
            spans.append((start, last))
            base = templates.get(kernel.function.partition("<")[0])
            kernels.append(_instantiated(kernel, base))
        elif not is_definition:
            continue  # a declaration; the definition follows
        elif "template" in head:
            templates[kernel.function] = kernel
        else:
            kernels.append(kernel)
    return FoundKernels(tuple(kernels), tuple(spans))


def _instantiated(kernel: KernelSource, base: KernelSource | None) -> KernelSource:
    """Return an instantiation with the attributes that only the template's parameters carry."""
    if base is None:
        return kernel
    if not kernel.parameters:
        return replace(kernel, parameters=base.parameters)
    merged = tuple(
        replace(theirs, name=theirs.name or own.name, line=own.line)
        for own, theirs in zip(kernel.parameters, base.parameters, strict=False)
    )
    return replace(kernel, parameters=merged or base.parameters)


def _declared(tokens: Sequence[Token], start: int, at: int, source: str) -> tuple[KernelSource, int, bool] | None:
    """Read the declaration whose `kernel` was found: the kernel, its last token, and whether a body follows."""
    most, host = 1024, ""
    attributes = _attributes(tokens[start:at])
    while at < len(tokens) and tokens[at].text == "[[":
        end = closing(tokens, at, source)
        attributes |= _attributes(tokens[at : end + 1])
        at = end + 1
    most = int(attributes.get("max_total_threads_per_threadgroup") or most)
    host = attributes.get("host_name", "")
    if at < len(tokens) and tokens[at].text == "decltype":
        at = closing(tokens, at + 1, source) + 1
    elif at < len(tokens) and tokens[at].text == "void":
        at += 1
    else:
        refuse(tokens[min(at, len(tokens) - 1)], "a kernel has to return 'void'", source)
    if at >= len(tokens) or tokens[at].kind != "name":
        return None
    name_token, function = tokens[at], tokens[at].text
    at += 1
    if at < len(tokens) and tokens[at].text == "<":
        depth, words = 0, []
        while at < len(tokens):
            depth += (tokens[at].text == "<") - (tokens[at].text == ">")
            words.append(tokens[at].text)
            at += 1
            if depth == 0:
                break
        function += " ".join(words)
    parameters: tuple[KernelParameter, ...] = ()
    if at < len(tokens) and tokens[at].text == "(":
        end = closing(tokens, at, source)
        is_template = any(t.text == "template" for t in tokens[start:at])
        parameters = _parameters(
            tokens[at + 1 : end], name_token, source, checked=not is_template or "<" not in function
        )
        at = end + 1
    while at < len(tokens) and tokens[at].text == "[[":
        at = closing(tokens, at, source) + 1
    is_definition = at < len(tokens) and tokens[at].text == "{"
    kernel = KernelSource(host or function.partition("<")[0], function, parameters, min(most, 1024), name_token.line)
    return kernel, at, is_definition


def _attributes(tokens: Sequence[Token]) -> dict[str, str]:
    """Return the attributes in `[[...]]`, each with the text of its argument."""
    found: dict[str, str] = {}
    inside = False
    for i, token in enumerate(tokens):
        if token.text in ("[[", "]]"):
            inside = token.text == "[["
        elif inside and token.kind == "name" and tokens[i - 1].text in ("[[", ","):
            argument = ""
            if i + 1 < len(tokens) and tokens[i + 1].text == "(":
                # strings that stand side by side are one, as macros make them
                j = i + 2
                while j < len(tokens) and tokens[j].text != ")":
                    argument += tokens[j].text.strip('"')
                    j += 1
            found[token.text] = argument
    return found


def _parameters(tokens: Sequence[Token], kernel: Token, source: str, *, checked: bool) -> tuple[KernelParameter, ...]:
    rows = [_parameter(part, source, checked=checked) for part in split_at_commas(tokens)]
    taken = {row.buffer for row in rows if row.buffer is not None}
    free = (n for n in count() if n not in taken)
    numbered = []
    for row in rows:
        bound = not row.position and row.space in ("device", "constant")
        numbered.append(replace(row, buffer=next(free)) if bound and row.buffer is None else row)
    buffers = [row.buffer for row in numbered if row.buffer is not None]
    if len(set(buffers)) != len(buffers):
        refuse(kernel, "two parameters have the same [[buffer(n)]]", source)
    if any(number >= MOST_BUFFERS for number in buffers):
        refuse(
            kernel, f"'buffer' attribute parameter is out of bounds: must be between 0 and {MOST_BUFFERS - 1}", source
        )
    return tuple(numbered)


def _parameter(tokens: Sequence[Token], source: str, *, checked: bool) -> KernelParameter:
    attributes = _attributes(tokens)
    plain: list[Token] = []
    depth = 0
    for token in tokens:
        depth += (token.text == "[[") - (token.text == "]]")
        if depth == 0 and token.text != "]]":
            plain.append(token)
    words = [token.text for token in plain]
    first = tokens[0]
    space = next((word for word in words if word in SPACES), "")
    is_pointer, is_reference = "*" in words, "&" in words
    named = len(plain) > 1 and plain[-1].kind == "name" and words[-1] not in ("const", *SPACES)
    name = words[-1] if named else ""
    type_words = words[:-1] if named else words
    type_text = " ".join(type_words).replace(" *", "*").replace(" &", "&").replace(" ::", "::").replace(":: ", "::")
    position = next((attribute for attribute in attributes if attribute in POSITIONS), "")
    if checked:
        if (is_pointer or is_reference) and not space:
            what = "pointer" if is_pointer else "reference"
            refuse(first, f"{what} type must have explicit address space qualifier", source)
        base = " ".join(word for word in type_words if word != "const")
        if position and base not in _POSITION_TYPES:
            refuse(
                first,
                f"invalid type '{base}' for [[{position}]]: it has to be uint or ushort, or a vector of those",
                source,
            )
        if not (position or is_pointer or is_reference):
            refuse(first, f"invalid type '{base}' for input declaration in a kernel function", source)
    index = attributes.get("buffer", "")
    return KernelParameter(
        name, type_text, space, is_pointer, position, int(index) if index.isdigit() else None, first.line
    )
