"""What a cell of a notebook may leave for the cells below it: names that it binds, objects that it changes, settings.

All answers are generous: a cell that is taken for one that matters runs once more than it has to, and a cell that is
taken for one that does not would cost a student points.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

# characters: what a person writes; parsing takes seconds a megabyte
LONGEST_PARSED = 10_000
ALL_NAMES = "*"
# lines that are IPython's, and what Python has in their place
_COMMANDS = (
    (re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE), r"\1pass"),
    (re.compile(r"^([ \t]*[\w., \t]+=)[ \t]*[%!].*$", re.MULTILINE), r"\1 None"),
    (re.compile(r"^([ \t]*)(?:\?{1,2}[\w.*]+|[%\w.*]+\?{1,2})[ \t]*$", re.MULTILINE), r"\1pass"),
)
# cells whose text is no Python of this notebook; those that write it into a file leave that
_WRITES_FILE = re.compile(r"\s*%%(?:writefile|file)\b")
_OTHER_LANGUAGE = re.compile(
    r"\s*%%(?:bash|sh|script|html|HTML|javascript|js|latex|markdown|svg|perl|ruby|system|sx|!)"
)
_LEAVES_ANYTHING = re.compile(r"^[ \t]*%(?:run|env|set_env|cd|pushd|popd|pylab|load_ext|store)\b", re.MULTILINE)
_NAMES = re.compile(r"^(?:def |class )?(\w+)[ \t]*(?:=|\()", re.MULTILINE)
# what is called for what it shows
_SHOWING = frozenset({"print", "display", "help", "repr", "len", "type", "id", "dir", "sorted", "sum", "list"})
_SHOWING_METHODS = frozenset(
    {"show", "plot", "bar", "scatter", "hist", "imshow", "figure", "subplots", "title", "suptitle", "xlabel", "ylabel"}
    | {"xscale", "yscale", "xlim", "ylim", "grid", "legend", "tight_layout", "savefig", "close", "sleep"}
)
# what can bind or change any name
_BINDING = frozenset({"exec", "eval", "globals", "vars", "locals", "get_ipython", "setattr"})
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Effects:
    """What a cell may leave.

    Args:
        binds: the names that it binds, wherever in the cell; "*" where it can bind any.
        stores: the names of objects whose items or attributes it sets, that decorate, or of which it makes a subclass.
        uses: the names of objects that it may change by their methods, or as arguments.
        calls: the functions that it calls and whose answer it does not use.
        changing: of its own functions, those that change what is not theirs.
        imports: the names that it imports.
    """

    binds: frozenset[str] = frozenset()
    stores: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    changing: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()


@lru_cache(maxsize=512)
def effects_of(source: str) -> Effects:
    """Return what a cell may leave; nothing when it does not parse."""
    if _WRITES_FILE.match(source):
        return Effects(binds=frozenset({ALL_NAMES}))
    tree = parse_cell(source)
    if tree is None:
        # a table that was pasted in has a name at the beginning of a line, too
        return Effects(binds=frozenset(_NAMES.findall(source)) if len(source) > LONGEST_PARSED else frozenset())
    nodes = list(_outside_functions(tree))
    binds = {name for node in nodes for name in _bound_by(node)}
    binds |= {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    if _LEAVES_ANYTHING.search(source) or any(isinstance(node, ast.Name) and node.id in _BINDING for node in nodes):
        binds.add(ALL_NAMES)
    statements = [node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    return Effects(
        binds=frozenset(binds),
        stores=frozenset(name for node in nodes for name in _stored_by(node)),
        uses=frozenset(name for node in nodes for name in _used_by(node)),
        calls=frozenset(call.func.id for call in statements if isinstance(call.func, ast.Name)),
        changing=frozenset(node.name for node in nodes if isinstance(node, _DEFINITION) and _changes_others(node)),
        imports=frozenset(
            name for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for name in _bound_by(node)
        ),
    )


def settings_of(source: str, imports: frozenset[str]) -> str:
    """Return those statements of a cell that change a setting of a library, and what they need of the cell.

    Such as `torch.manual_seed(SEED)` and `os.environ["N"] = "1"`: calls and assignments that use nothing but what is
    imported, and constants. The rest of the cell, which may be a long experiment, is left out.

    Args:
        source: the cell.
        imports: the names that the notebook imports.
    """
    tree = parse_cell(source)
    if tree is None:
        return ""
    constants = {name for node in tree.body if _is_constant(node) for name in _bound_by(node)}
    imports = imports | effects_of(source).imports
    settings = [node for node in tree.body if _is_setting(node, imports, constants)]
    needed = {leaf.id for node in settings for leaf in ast.walk(node) if isinstance(leaf, ast.Name)}
    kept = [
        node
        for node in tree.body
        if node in settings
        or ((isinstance(node, ast.Import | ast.ImportFrom) or _is_constant(node)) and needed & set(_bound_by(node)))
    ]
    return text_of(kept) if settings else ""


def plain_python(source: str) -> str:
    """Return a cell's text with other lines in place of IPython's commands, which Python cannot parse."""
    if _OTHER_LANGUAGE.match(source) or _WRITES_FILE.match(source):
        return ""
    for pattern, instead in _COMMANDS:
        source = pattern.sub(instead, source)
    return source


def parse_cell(source: str) -> ast.Module | None:
    """Parse a cell; None when that cannot be done, or the text is longer than what a person types."""
    return _parsed(source)[1]


def readable_text(source: str) -> str:
    """Return a cell's text as Python can parse it; empty when it cannot."""
    return _parsed(source)[0]


def text_of(nodes: Sequence[ast.AST]) -> str:
    """Return the text of some statements; empty when they are nested deeper than Python writes."""
    try:
        return "\n".join(ast.unparse(node) for node in nodes)
    except RecursionError:
        return ""


@lru_cache(maxsize=512)
def _parsed(source: str) -> tuple[str, ast.Module | None]:
    if len(source) > LONGEST_PARSED:
        return "", None
    with warnings.catch_warnings():
        # Python warns of "\\d" in a student's string; that is the student's business
        warnings.simplefilter("ignore")
        for text in (source, plain_python(source)):
            try:
                return text, ast.parse(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):  # NUL bytes, a thousand brackets
                continue
    return "", None


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Go through what runs when the cell runs: everything but the inside of functions and classes."""
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, _DEFINITION):
            waiting += node.decorator_list
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _bound_by(node: ast.AST) -> tuple[str, ...]:
    """Return the names that a node itself binds; for a simple assignment all of its names."""
    names: Sequence[str | None] = ()
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    elif isinstance(node, ast.Name):
        names = [node.id] if isinstance(node.ctx, ast.Store) else []
    elif isinstance(node, ast.Assign):
        leaves = (leaf for target in node.targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name))
        names = [leaf.id for leaf in leaves if isinstance(leaf.ctx, ast.Store)]
    elif isinstance(node, (*_DEFINITION, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        names = [node.name]
    elif isinstance(node, ast.MatchMapping):
        names = [node.rest]
    return tuple(name for name in names if name)


def _stored_by(node: ast.AST) -> Iterator[str]:
    """Return the names of objects that a node changes, or that see what it makes."""
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        yield from _root(node)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
        yield node.id
    elif isinstance(node, _DEFINITION):
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        for above in (*node.decorator_list, *bases):
            yield from _root(above)


def _used_by(node: ast.AST) -> Iterator[str]:
    """Return the names of objects that a node calls something of, or hands to a call, and does nothing else with."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return
    call = node.value
    if isinstance(call.func, ast.Name) and call.func.id in _SHOWING:
        return
    if not isinstance(call.func, ast.Name):
        yield from _root(call.func)
    yield from (argument.id for argument in call.args if isinstance(argument, ast.Name))


def _root(node: ast.AST) -> tuple[str, ...]:
    """Return the name at the beginning of `name.attribute[item](...)`; none where there is no name."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return (node.id,) if isinstance(node, ast.Name) else ()


def _changes_others(definition: ast.AST) -> bool:
    """Return whether a function or class changes what it neither made nor was given."""
    own = {node.arg for node in ast.walk(definition) if isinstance(node, ast.arg)}
    own |= {node.id for node in ast.walk(definition) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    changed = {name for node in ast.walk(definition) for name in (*_stored_by(node), *_used_by(node))}
    return bool(changed - own) or any(isinstance(node, ast.Global) for node in ast.walk(definition))


def _is_constant(node: ast.stmt) -> bool:
    """Return whether a statement binds names to constants."""
    if not isinstance(node, ast.Assign) or not all(isinstance(target, ast.Name) for target in node.targets):
        return False
    return not any(isinstance(leaf, ast.Name | ast.Call | ast.Await) for leaf in ast.walk(node.value))


def _is_setting(node: ast.stmt, imports: frozenset[str], constants: set[str]) -> bool:
    """Return whether a statement calls or stores into something imported, and uses imports and constants alone."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        if isinstance(called, ast.Attribute) and called.attr in _SHOWING_METHODS:
            return False
        roots = _root(called)
    elif isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not all(isinstance(target, ast.Attribute | ast.Subscript) for target in targets):
            return False
        roots = tuple(name for target in targets for name in _root(target))
    else:
        return False
    used = {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name)}
    return bool(roots) and imports.issuperset(roots) and used <= imports | constants
