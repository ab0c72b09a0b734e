"""One number for all that measures: another one after each kind of change, the same after what is no change."""

import os
import sys
import types

import pytest

from course_utils.sandbox.identities import names_below, pin, whole

NAME = "course_utils_of_a_test"
SOURCE = """
def plain(x, factor=2, *, offset=0):
    return factor * x + offset

def counted():
    calls = plain
    def inner():
        return calls
    return inner

closed = counted()

class Meter:
    limit = 3

    def read(self):
        return 1

    @property
    def value(self):
        return 2

    @staticmethod
    def fixed():
        return 3

    @classmethod
    def made(cls):
        return cls()
"""


@pytest.fixture
def module(monkeypatch):
    """Make a module of the course that measures."""
    made = types.ModuleType(NAME)
    exec(SOURCE, vars(made))
    made.Meter.__module__ = NAME
    monkeypatch.setitem(sys.modules, NAME, made)
    return made


def other(*arguments, **named):
    """Stand in for what measures."""
    return 0


CHANGES = {
    "a function": lambda m: setattr(m, "plain", other),
    "its code": lambda m: setattr(m.plain, "__code__", other.__code__),
    "its defaults": lambda m: setattr(m.plain, "__defaults__", (3,)),
    "its named defaults": lambda m: m.plain.__kwdefaults__.update(offset=1000.5),
    "what it closes over": lambda m: setattr(m.closed.__closure__[0], "cell_contents", other),
    "a class": lambda m: setattr(m, "Meter", type("Meter", (m.Meter,), {"__module__": NAME})),
    "a method": lambda m: setattr(m.Meter, "read", other),
    "a property": lambda m: setattr(m.Meter, "value", property(other)),
    "a property, from inside": lambda m: vars(m.Meter)["value"].__init__(other),
    "a static method": lambda m: setattr(m.Meter, "fixed", staticmethod(other)),
    "a class method": lambda m: setattr(m.Meter, "made", classmethod(other)),
    "a property over a field": lambda m: setattr(m.Meter, "limit", property(other)),
    "a name more in a class": lambda m: setattr(m.Meter, "more", 1),
    "a function that is gone": lambda m: delattr(m, "plain"),
    "a built-in": lambda m: setattr(m, "plain", len),
    "the module": lambda m: sys.modules.pop(NAME),
}


# what a part of a function is; the number without parts leaves them out
PARTS = {"its code", "its defaults", "its named defaults"}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_changes_the_number(module, what):
    """Whatever is another object afterwards; parts of functions count only where they are asked for."""
    before = [whole([NAME], parts=parts) for parts in (False, True)]
    CHANGES[what](module)
    now = [whole([NAME], parts=parts) for parts in (False, True)]

    assert [one != other for one, other in zip(before, now, strict=True)] == [what not in PARTS, True]


def test_what_is_no_change_keeps_the_number(module):
    """Calls, further modules and plain values, and asking twice."""
    before = whole([NAME], parts=True)
    module.Meter.made().read()
    module.plain(3)
    module.table = {"a": 1}
    sys.modules[f"{NAME}.more"] = types.ModuleType("more")
    after = whole([NAME], parts=True)
    del sys.modules[f"{NAME}.more"]

    assert after == before


def test_a_fork_has_the_same_number(module):
    """A fork that changed nothing agrees with its parent, and one that changed something does not."""
    said = []
    for change in (lambda: None, lambda: setattr(module, "plain", other)):
        ours, theirs = os.pipe()
        if os.fork() == 0:
            change()
            os.write(theirs, str(whole([NAME], parts=True)).encode())
            os._exit(0)
        os.wait()
        said.append(int(os.read(ours, 100)))
        os.close(ours)
        os.close(theirs)

    assert (said[0] == whole([NAME], parts=True), said[1] == whole([NAME], parts=True)) == (True, False)


def test_what_is_pinned_keeps_its_address(module):
    """A function that is let go of and made anew never gets the old one's address, nor does its code."""
    pin([NAME])
    address, code = id(module.plain), id(module.plain.__code__)
    del module.plain, module.closed
    found = set()
    for _ in range(2000):
        names = {}
        exec(SOURCE, names)
        found |= {id(names["plain"]), id(names["plain"].__code__)}

    assert not found & {address, code}


def test_names_below():
    """A named package and what lies in it, and no package that only begins alike."""
    names = names_below(["course_utils.sandbox"])

    assert "course_utils.sandbox.identities" in names
    assert all(name == "course_utils.sandbox" or name.startswith("course_utils.sandbox.") for name in names)
