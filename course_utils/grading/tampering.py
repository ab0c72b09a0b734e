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
    rows = []

    def note(place, thing):
        if isinstance(thing, (staticmethod, classmethod)):
            thing = thing.__func__
        if isinstance(thing, property):
            for part in (thing.fget, thing.fset):
                note(place, part) if part is not None else None
        elif isinstance(thing, types.FunctionType):
            code = thing.__code__
            kept = (thing.__defaults__, thing.__kwdefaults__)
            who = id(thing) if forked else repr(kept)
            rows.append((place, str(who), code.co_code.hex(), repr(code.co_names), str(code.co_firstlineno)))
        elif isinstance(thing, types.BuiltinFunctionType):
            rows.append((place, str(id(thing)) if forked else repr(thing.__name__)))

    for name, module in sorted(sys.modules.items()):
        if not any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes):
            continue
        for attribute, thing in sorted(vars(module).items()):
            if isinstance(thing, type) and thing.__module__ == name:
                for key, member in sorted(vars(thing).items()):
                    note(f"{name}.{attribute}.{key}", member)
            else:
                note(f"{name}.{attribute}", thing)
    return {row[0]: hashlib.sha256("|".join(row[1:]).encode()).hexdigest()[:16] for row in rows}
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
