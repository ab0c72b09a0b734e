"""Has the student's code changed what measures beside it? Functions compared with those of an untouched process.

What a marked helper counts in the student's process could be forged there, so such checks are marked in the result.
The usual ways are found: replaced functions, methods, code or defaults in the course's tools and in the parts of torch
that they stand on. A change is named with what was there before and what is there now. What an import does by itself is
no change: a process without student code that imports the same is asked, too.

`DIGEST` is text, because it is sent when it is needed: it is not there for student code to change before. An identity
(`id`) is enough where every submission is a fork of one template; interpreters that are started one by one differ in
identities, and compare code instead. Forks are first asked for one number (`HELD`), and for all rows only where it is
another one than before any student code ran.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from course_utils.sandbox import identities
from course_utils.sandbox.identities import UNCHANGING

MEASURING = (
    "course_utils",
    "torch.library",
    "torch._library",
    "torch._ops",
    "torch._tensor",
    "torch.overrides",
    "torch.utils._python_dispatch",
    "torch.autograd.graph",
    "torch.nn.modules.module",
    "torch.mps",
    "builtins",
    "time",
)
# the libraries that measuring, and the way of its answers, stand on; code may have reasons of its own to change these
STANDS_ON = (
    "collections",
    "contextlib",
    "dataclasses",
    "functools",
    "json",
    "marshal",
    "operator",
    "threading",
    "torch.utils._pytree",
    "weakref",
)
WATCHED = (*MEASURING, *STANDS_ON)
SUBCLASSES = "the subclasses of torch.Tensor that answer for torch's functions"
MODES = "torch's active modes"
WHAT_IS_IN = "what is in "
# student code that defines or leaves these may be honest
_ODD_PLACES = frozenset({SUBCLASSES, MODES})
MOST_LISTED = 3
LONGEST_TEXT = 160

# one number for all that a fork holds in the watched places, as often as is asked, without or with the parts of
# functions; and which objects the exercise's given names are
HELD = (
    inspect.getsource(identities)
    + """
import __main__

def compute(asked):
    modules, parts, names = asked
    held = vars(__main__)
    identities = {name: [id(held[name]), id(getattr(held[name], "__code__", None))] for name in names if name in held}
    return [[whole(modules, parts=each) for each in parts], identities]
"""
)

# the modules that are watched in an untouched process
MODULES = (
    inspect.getsource(identities)
    + """
def compute(prefixes):
    return names_below(prefixes)
"""
)

DIGEST = (
    """
import hashlib, sys, types

def compute(asked):
    forked, prefixes, described = asked
    prefixes, described = tuple(prefixes), set(described)
    dotted = tuple(f"{prefix}." for prefix in prefixes)
    packages = {prefix.split(".")[0] for prefix in prefixes}.difference(UNCHANGING)
    rows, texts, known, classes = {}, {}, {}, set()

    def mark(*parts):
        # a fork has its template's seed of hashes, and nobody replaces a method of tuples
        return parts.__hash__() if forked else hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    def hashed(code):
        constants = [each for each in code.co_consts if isinstance(each, (int, float, str, bytes, bool, type(None)))]
        return mark(code.co_code, code.co_names, *constants)

    def text_of(function, kept):
        file = "/".join(function.__code__.co_filename.replace("\\\\", "/").split("/")[-2:])
        text = f"{function.__qualname__} of {file}, line {function.__code__.co_firstlineno}"
        text += f", code {str(hashed(function.__code__))[-8:]}"
        return text + (f", defaults {str(kept)[:60]}" if kept != (None, None) else "")

    def look_at(place, thing, depth=0):
        if isinstance(thing, (staticmethod, classmethod)):
            thing = thing.__func__
        if isinstance(thing, property):
            for part in (thing.fget, thing.fset):
                look_at(place, part, depth) if part is not None else None
        elif isinstance(thing, types.FunctionType):
            code, kept = thing.__code__, (thing.__defaults__, thing.__kwdefaults__)
            if id(thing) not in known:
                ids = (id(thing), id(code), *map(id, kept[0] or ()), *map(id, (kept[1] or {}).values()))
                known[id(thing)] = mark(ids if forked else str(kept), hashed(code), code.co_firstlineno)
            rows[place] = known[id(thing)]
            if place in described:
                texts[place] = text_of(thing, kept)
            for number, cell in enumerate(thing.__closure__ or ()):
                try:
                    depth < 3 and look_at(f"{place}.cell{number}", cell.cell_contents, depth + 1)
                except ValueError:
                    pass
        elif isinstance(thing, types.BuiltinFunctionType):
            rows[place] = mark(id(thing) if forked else thing.__name__)
            if place in described:
                texts[place] = f"the built-in {thing.__qualname__}"
        elif place in described:
            texts[place] = f"a {type(thing).__name__}"

    def look_at_class(thing):
        place = f"{thing.__module__}.{thing.__qualname__}"
        if id(thing) in classes:
            return
        classes.add(id(thing))
        members = sorted(vars(thing).items())
        # a property that is put over a field is a new name
        public = [key for key, _ in members if not key.startswith("_")]
        rows[f"what is in {place}"] = mark(*public)
        if f"what is in {place}" in described:
            texts[f"what is in {place}"] = ", ".join(public)
        for key, member in members:
            look_at(f"{place}.{key}", member)

    for name, module in sorted(sys.modules.items()):
        if name not in prefixes and not name.startswith(dotted):
            continue
        for attribute, thing in sorted(vars(module).items()):
            if isinstance(thing, type):
                who, place = f"{thing.__module__}.{thing.__qualname__}", f"{name}.{attribute}"
                rows[place] = mark(who, id(thing) if forked else 0)
                if place in described:
                    texts[place] = f"the class {who}"
                if thing.__module__.split(".")[0] in packages:
                    look_at_class(thing)
            else:
                look_at(f"{name}.{attribute}", thing)
    torch = sys.modules.get("torch")
    if torch is not None:
        found, waiting = [], [torch.Tensor]
        while waiting:
            for each in type.__subclasses__(waiting.pop()):
                waiting.append(each)
                if {"__torch_function__", "__torch_dispatch__"} & set(vars(each)):
                    found.append(f"{each.__module__}.{each.__qualname__}")
        rows[SUBCLASSES], texts[SUBCLASSES] = mark(*sorted(found)), ", ".join(sorted(found))
        modes = [torch._C._get_function_stack_at(place) for place in range(torch._C._len_torch_function_stack())]
        active = [type(mode).__qualname__ for mode in modes if type(mode).__qualname__ != "DeviceContext"]
        active += ["a dispatch mode"] * torch._C._len_torch_dispatch_stack()
        rows[MODES], texts[MODES] = mark(*active), ", ".join(active) or "none"
    return [rows, texts]
""".replace("SUBCLASSES", repr(SUBCLASSES))
    .replace("MODES", repr(MODES))
    .replace("UNCHANGING", repr(UNCHANGING))
)

LOADED = """
import sys

def compute(nothing):
    return [name for name in sys.modules if type(name) is str]
"""

IMPORT = """
import importlib, sys

def compute(names):
    for name in names:
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except BaseException:
                pass
    guard = sys.modules.get("torch._dynamo.mutation_guard")
    if guard is not None:  # torch.compile replaces methods of Module at its first use (torch 2.9 to 2.14)
        guard.install_generation_tagging_init()
"""


@dataclass(frozen=True)
class Change:
    """Something that measures, and is not what it was.

    Args:
        place: where it is found, such as "torch._tensor.Tensor.tolist".
        before: what an untouched process has there.
        after: what the student's process has there; empty when nothing is there any more.
    """

    place: str
    before: str
    after: str

    @property
    def proves(self) -> bool:
        """Whether it is evidence: something else is there where only measuring is. Another copy of it is only odd."""
        place = self.place.removeprefix(WHAT_IS_IN)
        odd = place in _ODD_PLACES or place.startswith(tuple(f"{name}." for name in STANDS_ON))
        return not odd and bool(self.after) and self.after != self.before

    def __str__(self) -> str:
        now = self.after[:LONGEST_TEXT] or "not there any more"
        if self.after == self.before:
            now = "another copy of it"
        return f"{self.place} was {self.before[:LONGEST_TEXT] or 'nothing'} and is {now}"


@dataclass(frozen=True)
class Findings:
    """What is known of the measuring after a task.

    Args:
        changes: what proves a change.
        oddities: what a person should look at, one sentence each; it costs no points.
        witness: what a second, independent witness saw of what was counted; empty where there is none.
    """

    changes: tuple[Change, ...] = ()
    oddities: tuple[str, ...] = ()
    witness: str = ""

    @property
    def evidence(self) -> str:
        """The changes in one sentence; empty when there is none."""
        return "; ".join(map(str, self.changes[:MOST_LISTED]))

    @property
    def look_at(self) -> str:
        """The oddities in one sentence; empty when there is none."""
        return "; ".join(self.oddities[:MOST_LISTED])


@dataclass(frozen=True)
class Digest:
    """The measuring functions of one process.

    Args:
        rows: place -> digest.
        texts: place -> what is there.
    """

    rows: dict[str, object]
    texts: dict[str, str]


@dataclass(frozen=True)
class Untouched:
    """The measuring functions of a process without student code.

    Args:
        digest: returns what is in their places; that takes a tenth of a second, and is seldom needed between forks.
        modules: the names of the modules that are watched.
        held: one number for all objects in them without the parts of functions, and one with them, which only forks of
            the same template have in common; empty elsewhere.
    """

    digest: Callable[[], Digest]
    modules: tuple[str, ...] = ()
    held: tuple[object, ...] = ()


def witness_text(reads: Sequence[int]) -> str:
    """Say what both witnesses of reads have seen: the device's own count, and a function mode of torch."""
    if not reads:
        return ""
    counted, seen = reads
    return f"the device counted {counted} reads; a second witness, which is no part of the device, saw {seen}"


def changed_places(before: Mapping[str, object], after: object) -> tuple[str, ...]:
    """Return the places whose digest is another one, or not there any more; new places are not changes."""
    if type(after) is not dict:
        return tuple(before)
    return tuple(place for place, digest in before.items() if after.get(place) != digest)


def explained(change: Change, imported_places: Collection[str], imported_texts: Mapping[str, object]) -> bool:
    """Return whether imports make a change by themselves.

    Args:
        change: the change.
        imported_places: what changes in a process without student code that imports the same.
        imported_texts: what is there then.
    """
    return change.place in imported_places and imported_texts.get(change.place) == change.after
