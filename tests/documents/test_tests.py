"""No test passes because it looked at nothing: where it asserts in a loop, the loop surely has a round."""

import ast

import pytest
from support.found import found
from support.paths import TESTS

LITERALS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant)
# of these with a literal among their arguments something is left; `found` fails on nothing
KEEPING = {"found", "range", "enumerate", "zip", "sorted", "reversed", "list", "product"}


def has_a_round(iterated):
    """Return whether a loop over this expression surely runs: over a literal, or over what `found` has looked at."""
    if isinstance(iterated, ast.Call):
        name = ast.unparse(iterated.func).rpartition(".")[2]
        return name == "found" or (name in KEEPING and any(has_a_round(argument) for argument in iterated.args))
    return isinstance(iterated, LITERALS)


def is_assertion(node):
    """Return whether a node can fail the test: assert, pytest.raises and warns, a run that is checked."""
    if isinstance(node, ast.With):
        return any("raises" in ast.unparse(item.context_expr) or "warns" in ast.unparse(item) for item in node.items)
    checked = isinstance(node, ast.Call) and "check=True" in ast.unparse(node)
    return (
        isinstance(node, ast.Assert) or checked or (isinstance(node, ast.Call) and "assert" in ast.unparse(node.func))
    )


def surely_asserts(node):
    """Return whether an assertion below this node runs whatever the loops iterate over."""
    for child in ast.iter_child_nodes(node):
        if is_assertion(child):
            return True
        if isinstance(child, ast.For) and not has_a_round(child.iter):
            continue
        if surely_asserts(child):
            return True
    return False


def empty_handed(source):
    """Return the names of the tests in a source that may assert nothing."""
    tests = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return [test.name for test in tests if test.name.startswith("test_") and not surely_asserts(test)]


def test_every_test_asserts_something():
    """Each test of the course has an assertion that runs."""
    files = found(path for path in TESTS.rglob("test_*.py"))
    suspects = {str(path.relative_to(TESTS)): empty_handed(path.read_text(encoding="utf-8")) for path in files}

    assert {name: tests for name, tests in suspects.items() if tests} == {}


@pytest.mark.parametrize(
    ("body", "suspect"),
    [
        ("for x in things():\n  assert x", True),
        ("for x in found(things()):\n  assert x", False),
        ("for x in (1, 2):\n  assert x", False),
        ("things()", True),
        ("assert things()\n for x in things():\n  assert x", False),
        ("with pytest.raises(ValueError):\n  things()", False),
    ],
)
def test_an_empty_loop_is_seen(body, suspect):
    """A loop over what may be nothing is no assertion."""
    assert bool(empty_handed(f"def test_it():\n {body}\n")) is suspect
