"""Names that only a check cell binds, and a student's code uses: in the notebook they are there for the tasks below.

What a check cell shows is run for them in the student's process, so far as it binds such names; hidden tests never are.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator, Sequence
from functools import lru_cache

from course_utils.exercises.markers import Marker, replace_regions
from course_utils.grading.assignment import Assignment, Kind
from course_utils.grading.reading.cell_effects import ALL_NAMES, effects_of, parse_cell, readable_text, text_of

_BINDING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


def borrow(assignment: Assignment, code: Sequence[str]) -> dict[int, str]:
    """Return what has to run of check cells, so that names of theirs which other code uses are there.

    Args:
        assignment: the exercise.
        code: all code of the student's that runs.

    Returns:
        Place of a check among the exercise's parts -> those of its visible statements that bind such names.
    """
    given = [part.source for part in assignment.parts if part.kind is Kind.TOOLS]
    bound = set(dir(builtins)).union(*(effects_of(source).binds for source in (*given, *code)))
    wanted = set().union(*(used_globals(source) for source in code)) - bound
    if ALL_NAMES in bound or not wanted:
        return {}
    checks = [(place, part) for place, part in enumerate(assignment.parts) if part.kind is Kind.CHECK]
    found: dict[int, str] = {}
    # from below, since what is borrowed may use what a check above binds
    for place, part in reversed(checks):
        tree = parse_cell(replace_regions(part.source, {Marker.HIDDEN_TESTS: ""}))
        kept: list[ast.stmt] = []
        for statement in reversed(tree.body if tree is not None else []):
            text = text_of([statement])
            if isinstance(statement, _BINDING) and not effects_of(text).binds.isdisjoint(wanted):
                kept.append(statement)
                wanted |= used_globals(text) - bound
        if kept:
            found[place] = text_of(kept[::-1])
    return found


@lru_cache(maxsize=256)
def used_globals(source: str) -> frozenset[str]:
    """Return the names that code looks up outside its functions; none when it does not parse."""
    try:
        table = symtable.symtable(readable_text(source), "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError):  # such as a `return` outside a function
        return frozenset()
    return frozenset(_used_globals(table))


def _used_globals(table: symtable.SymbolTable) -> Iterator[str]:
    waiting = [table]
    while waiting:
        scope = waiting.pop()
        waiting += scope.get_children()
        for symbol in scope.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or scope is table):
                yield symbol.get_name()
