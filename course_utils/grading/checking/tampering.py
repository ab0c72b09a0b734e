"""Has the student's code changed what measures beside it? A digest of functions, compared with an untouched process.

What a marked helper counts in the student's process could be forged there, so such checks are marked in the result.
The usual ways are found: replaced functions, methods, code or defaults in the course's tools and in the parts of torch
that they stand on. `DIGEST` is text, because it is sent when it is needed: it is not there for student code to change
before. An identity (`id`) is enough, since every submission is a fork of the same template; interpreters that are
started one by one differ in identities, and compare code instead.
"""

from __future__ import annotations

WATCHED = (
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

DIGEST = """
import hashlib, sys, types

def compute(watched):
    forked, prefixes = watched
    rows, seen = {}, set()

    def note(place, *parts):
        rows[place] = hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:16]

    def look_at(place, thing):
        if isinstance(thing, (staticmethod, classmethod)):
            thing = thing.__func__
        if isinstance(thing, property):
            for part in (thing.fget, thing.fset):
                look_at(place, part) if part is not None else None
        elif isinstance(thing, types.FunctionType) and id(thing) not in seen:
            seen.add(id(thing))
            code, kept = thing.__code__, (thing.__defaults__, thing.__kwdefaults__)
            who = (id(thing), id(code), *map(id, kept[0] or ()), *map(id, (kept[1] or {}).values())) if forked else kept
            note(place, who, code.co_code.hex(), code.co_names, code.co_firstlineno)
            for cell in thing.__closure__ or ():
                try:
                    look_at(place + ".cell", cell.cell_contents)
                except ValueError:
                    pass
        elif isinstance(thing, types.BuiltinFunctionType):
            note(place, id(thing) if forked else thing.__name__)

    def look_at_class(place, thing):
        if id(thing) in seen:
            return
        seen.add(id(thing))
        members = sorted(vars(thing).items())
        # a property that is put over a field is a new name
        note(place, [key for key, _ in members if not key.startswith("_")])
        for key, member in members:
            look_at(f"{place}.{key}", member)

    for name, module in sorted(sys.modules.items()):
        if not any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes):
            continue
        for attribute, thing in sorted(vars(module).items()):
            if isinstance(thing, type) and thing.__module__.split(".")[0] in ("torch", "course_utils"):
                look_at_class(f"{name}.{attribute}", thing)
            else:
                look_at(f"{name}.{attribute}", thing)
    return rows
"""

# which objects the exercise's given names are, and their code
IDENTITIES = """
import __main__

def compute(names):
    held = vars(__main__)
    return {name: [id(held[name]), id(getattr(held[name], "__code__", None))] for name in names if name in held}
"""


def find_changes(before: dict[str, str], after: object) -> tuple[str, ...]:
    """Return the functions that are not what they were, by name; new ones are no change.

    Args:
        before: name -> digest of an untouched process.
        after: what the student's process answered.
    """
    if type(after) is not dict:
        return ("the answer itself",)
    return tuple(name for name, digest in before.items() if after.get(name) != digest)
