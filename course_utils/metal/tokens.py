"""Metal source as tokens with their lines, and edits that leave every line where it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

TokenKind = Literal["name", "number", "string", "directive", "punctuation"]
PROGRAM = "program_source"  # what Apple's compiler calls the text that compile_shader gets

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>(?:0[xX][0-9a-fA-F']+|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[a-zA-Z]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<punctuation>\[\[|\]\]|::|->|\+\+|--|<<=|>>=|[-+*/%&|^=!<>]=|&&|\|\||<<|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Args:
        kind: what it is; a whole preprocessor line is one token.
        text: its characters.
        start: offset in the text.
        file: where it was written: PROGRAM, or the name of an included file.
        line: line in that file, from 1.
        column: column in the text's line, from 1.
    """

    kind: TokenKind
    text: str
    start: int
    file: str
    line: int
    column: int

    @property
    def end(self) -> int:
        """Offset after its last character."""
        return self.start + len(self.text)


def tokenize(text: str, *, markers: bool = True) -> list[Token]:
    """Split a Metal source into tokens; comments and white space are left out.

    Args:
        text: the source.
        markers: whether line markers (`# 12 "file"`), as compilers write them, decide the lines of what follows; in a
            text that people wrote they are directives like others.
    """
    tokens: list[Token] = []
    file, line, line_start, at = PROGRAM, 1, 0, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None  # the last alternative takes any character
        kind, found = match.lastgroup, match[0]
        if kind == "directive" and text[line_start:at].strip():  # only at the beginning of a line
            kind, found = "punctuation", "#"
        marker = _MARKER.match(found.strip()) if markers and kind == "directive" else None
        if kind not in ("skip", None) and marker is None:
            tokens.append(Token(kind, found, at, file, line, at - line_start + 1))  # type: ignore[arg-type]
        newlines = found.count("\n")
        line += newlines
        if newlines:
            line_start = at + found.rindex("\n") + 1
        if marker is not None:
            file, line = marker[2], int(marker[1]) - 1  # of the line that follows
        at += len(found)
    return tokens


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of text[start:end]; it holds no line break."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text after edits that do not overlap; line breaks inside replaced text stay."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        removed = text[edit.start : edit.end]
        parts += [text[at : edit.start], edit.text, "\n" * removed.count("\n")]
        at = edit.end
    return "".join([*parts, text[at:]])


def original_column(text: str, edits: Sequence[Edit], line: int, column: int) -> int:
    """Return the column in `text` of a column in the edited text's line; both lines have the same number."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    shift = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < start:
            continue
        before = edit.start - start + 1  # its column before all edits
        if before + shift > column or "\n" in text[start : edit.start]:
            break
        grown = len(edit.text) - (edit.end - edit.start)
        if column < before + shift + len(edit.text):
            return before
        shift += grown
    return max(column - shift, 1)


def refuse(token: Token, message: str, source: str) -> NoReturn:
    """Raise the SyntaxError of a compiler for one token.

    Raises:
        SyntaxError: always, in the form `program_source:LINE:COLUMN: error: MESSAGE`.
    """
    raise SyntaxError(diagnostic(token.file, token.line, token.column, message, source))


def diagnostic(file: str, line: int, column: int, message: str, source: str) -> str:
    """Write an error as Apple's compiler does: place, message, the line, and a caret below the column."""
    text = f"{file}:{line}:{column}: error: {message}"
    lines = source.splitlines()
    if file == PROGRAM and 1 <= line <= len(lines):
        text += f"\n{lines[line - 1]}\n{' ' * (column - 1)}^"
    return text


def closing(tokens: Sequence[Token], at: int, source: str) -> int:
    """Return the position of the bracket that closes the one at `at`.

    Raises:
        SyntaxError: when nothing closes it.
    """
    pairs = {"(": ")", "[": "]", "{": "}", "[[": "]]"}
    opened, depth = tokens[at].text, 0
    for i in range(at, len(tokens)):
        if tokens[i].text == opened:
            depth += 1
        elif tokens[i].text == pairs[opened]:
            depth -= 1
            if depth == 0:
                return i
    refuse(tokens[at], f"expected '{pairs[opened]}' to match this '{opened}'", source)


def split_at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split tokens at commas that stand in no bracket."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in ("(", "[", "[[", "{", "<")) - (token.text in (")", "]", "]]", "}", ">"))
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts[-1] or len(parts) > 1 else []
