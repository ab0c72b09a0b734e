"""Keeps torch's compiler out of a process until something of it is asked for.

The first step of any optimizer imports `torch._dynamo`, 900 modules that take about as long as torch itself, to call
two functions of it that do nothing outside a compilation: `graph_break()` and `disable(function)` (torch 2.9 to 2.15).
A stand-in has these two; whatever else is asked of it, `torch.compile` included, loads the compiler first.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, MutableSequence, Sequence
from functools import wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

COMPILER = "torch._dynamo"
_loading = threading.RLock()


class CompilerOnDemand(ModuleType):
    """Stands for `torch._dynamo` until more of it is asked for than an optimizer's step asks."""

    __path__: MutableSequence[str] = []  # noqa: RUF012  # a package: its modules are asked of the finder below

    def graph_break(self, msg: str = "") -> None:
        """Do nothing, as the compiler's function does where nothing is compiled."""
        if (compiler := _loaded()) is not None:
            compiler.graph_break(msg)

    def disable(self, fn: Any = None, recursive: bool = True, **how: Any) -> Any:
        """Return a function that is not compiled: here the function, as long as there is no compiler."""
        if how != {"wrapping": False} or _loaded() is not None:
            return load_compiler().disable(fn, recursive, **how)
        disabled: list[Callable[..., Any]] = []

        @wraps(fn)
        def call(*arguments: Any, **named: Any) -> Any:
            compiler = _loaded()
            if compiler is None:
                return fn(*arguments, **named)
            if not disabled:
                disabled.append(compiler.disable(fn, recursive, **how))
            return disabled[0](*arguments, **named)

        return call

    def __getattr__(self, name: str) -> Any:
        """Load the compiler for anything else; a module's own fields, which tools ask of all modules, load nothing."""
        if name.startswith("__"):
            raise AttributeError(f"module {COMPILER!r} has no attribute {name!r}")
        return getattr(load_compiler(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute of the compiler; the import system's own fields are the stand-in's."""
        if name.startswith("__"):
            super().__setattr__(name, value)
        else:
            setattr(load_compiler(), name, value)

    def __dir__(self) -> list[str]:
        """List the compiler's names."""
        return dir(load_compiler())


class _Finder(MetaPathFinder, Loader):
    """Finds the stand-in in place of the compiler, and loads the compiler for a module below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the stand-in, or of a module of the compiler; None for what is neither."""
        if fullname == COMPILER:
            return ModuleSpec(fullname, self, is_package=True)
        if not fullname.startswith(f"{COMPILER}."):
            return None
        compiler = load_compiler()
        there = sys.modules.get(fullname)
        return (
            PathFinder.find_spec(fullname, compiler.__path__) if there is None else ModuleSpec(fullname, _Kept(there))
        )

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the stand-in."""
        return CompilerOnDemand(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the stand-in is whole."""


class _Kept(Loader):
    """Returns a module that was loaded while it was looked for, with the compiler around it."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return that module."""
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        """Give it its own spec back."""
        module.__spec__ = self.spec


_finder = _Finder()


def put_off_compiler() -> None:
    """Let this process load torch's compiler only when something asks for more of it than an optimizer's step does.

    Nothing changes where it is loaded already.

    Example:
        >>> put_off_compiler()
        >>> import torch
        >>> weight = torch.nn.Parameter(torch.zeros(1))
        >>> torch.optim.SGD([weight], lr=0.1).step()
        >>> "torch._dynamo.config" in sys.modules
        False
    """
    if COMPILER not in sys.modules and _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def _loaded() -> ModuleType | None:
    """Return the compiler; None where it is not loaded, or another thread is loading it."""
    module = sys.modules.get(COMPILER)
    spec = getattr(module, "__spec__", None)
    return None if isinstance(module, CompilerOnDemand) or getattr(spec, "_initializing", False) else module


def load_compiler() -> ModuleType:
    """Load the compiler in place of its stand-in, and return it."""
    with _loading:
        there = sys.modules.get(COMPILER)
        if isinstance(there, CompilerOnDemand):
            if _finder in sys.meta_path:
                sys.meta_path.remove(_finder)
            del sys.modules[COMPILER]
            try:
                importlib.import_module(COMPILER)
            except BaseException:
                sys.modules[COMPILER] = there
                sys.meta_path.insert(0, _finder)
                raise
        return importlib.import_module(COMPILER)
