"""Switch the emulated MPS device on and off: `with emulated_mps() as mps`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
import torch.backends.mps
import torch.library

from course_utils.data.versions import order
from course_utils.devices.torch_start import fallback_at_load
from course_utils.emulation import autocast, compilers, patches
from course_utils.emulation.call import OperatorTraits, resolve, traits_of
from course_utils.emulation.dispatch import make_native
from course_utils.emulation.events import CallHook, CallVerdict, Kernel, OperatorCall, refuse_beyond_limits
from course_utils.emulation.fallback import make_cpu_always, make_fallback
from course_utils.emulation.function_mode import DeviceFunctionMode, keep_mode_in_backward
from course_utils.emulation.kernels import KernelTable, mps_kernels
from course_utils.emulation.ledger import Ledger
from course_utils.emulation.limits import limits_of
from course_utils.emulation.memory import (
    COMPOSITE,
    counted,
    make_factories,
    make_memory_kernels,
    make_meta_factories,
)
from course_utils.emulation.newer_composites import make_routes
from course_utils.emulation.routes import ABOVE_AUTOGRAD, make_convolutions
from course_utils.emulation.runtime import Policy, Runtime
from course_utils.emulation.streams import stream_patches
from course_utils.emulation.tensor import DEVICE, prepare_templates

# the last of the line that torch 2.15 asks for
MACOS = "15.7"
OLDEST_TESTED, NEWEST_TESTED = (2, 9), (2, 15)
_ABSENT = object()
_CACHED = ("is_available", "is_macos_or_newer", "is_macos13_or_newer", "get_name", "get_core_count")


class EmulatedMps:
    """The emulated device while its block runs.

    Args:
        runtime: its state.
    """

    device = DEVICE
    counts = True  # `ledger()` counts what happens

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def policy(self) -> Policy:
        """What happens at an operator without an MPS kernel: "raise", "fallback" or "record"."""
        return self._runtime.policy

    def ledger(self) -> Ledger:
        """Return everything counted since the block began or `clear_ledger` was called."""
        return self._runtime.recorder.snapshot()

    def clear_ledger(self) -> None:
        """Start counting anew, for instance after a warm-up."""
        self._runtime.recorder.clear()

    def __repr__(self) -> str:
        return f"<emulated MPS, torch {self._runtime.table.torch_version}, missing operators: {self.policy}>"


def choose_policy(fallback: bool | None, missing: Policy | None, from_variable: Callable[[], bool]) -> Policy:
    """Return what happens at a missing operator.

    Raises:
        ValueError: when both arguments are given, or `missing` is none of the three policies.
    """
    if missing is not None and fallback is not None:
        raise ValueError(f"give either fallback={fallback} or missing={missing!r}, not both: they say the same thing")
    if missing is not None:
        if missing not in ("raise", "fallback", "record"):
            raise ValueError(f'missing={missing!r} is unknown; use "raise", "fallback" or "record"')
        return missing
    return "fallback" if (from_variable() if fallback is None else fallback) else "raise"


def version_warnings(torch_version: str) -> tuple[str, ...]:
    """Return what is unverified about emulating a torch release, such as "2.14.1+cpu"; pure."""
    if OLDEST_TESTED <= order(torch_version)[:2] <= NEWEST_TESTED:
        return ()
    oldest, newest = (".".join(map(str, line)) for line in (OLDEST_TESTED, NEWEST_TESTED))
    return (
        f"torch {torch_version} is outside the releases that this emulation follows ({oldest} to {newest}): "
        "routes and texts are unverified",
    )


# one process has one dispatcher, hence at most one emulated device
_running: list[str] = []


def is_running() -> bool:
    """Return whether an `emulated_mps()` block is running in this process."""
    return bool(_running)


@contextmanager
def _marked_active() -> Iterator[None]:
    _running.append("emulated mps")
    try:
        yield
    finally:
        _running.pop()


@contextmanager
def emulated_mps(
    *,
    fallback: bool | None = None,
    missing: Policy | None = None,
    hook: CallHook | None = None,
    kernels: KernelTable | None = None,
    macos: str | None = MACOS,
) -> Iterator[EmulatedMps]:
    """Give this process an emulated MPS device for the length of a block, on a machine whose torch has none.

    Code written for a Mac runs unchanged inside, slowly, on the CPU: the same operators in the same order, the
    same errors, counted copies and host waits, and never a time. Tensors of the device are of no use after the
    block; move results to the CPU inside it. Only dense tensors are emulated, and only the thread that entered
    the block may name the device "mps" without an index.

    Args:
        fallback: whether PYTORCH_ENABLE_MPS_FALLBACK=1 is to be in effect. None means: as this process's torch
            would have read it, which is the environment the process started with, or `os.environ` if
            `course_utils.emulation` was imported before torch. Setting the variable later does nothing, as on a Mac.
        missing: instead of `fallback`, what an operator without an MPS kernel does: "raise" torch's error,
            "fallback" to the CPU with torch's warning (once in a block), or run there silently ("record").
        hook: receives an event for each call of an operator that reaches the device, in place of its kernel; what it
            returns is the call's result, as a rule that of `call.run()`. It can look at the arguments and run the call
            again with others. Composite operators that C++ takes apart by itself are not seen, their parts are.
        kernels: which operators have an MPS kernel; by default those of the installed torch.
        macos: the emulated macOS, such as "14.5", on which some limits of kernels depend; None: limits of every macOS.

    Yields:
        The device, with its `ledger()`.

    Raises:
        RuntimeError: where torch was built with MPS, or inside another such block.
        ValueError: for contradicting arguments.
    """
    if is_running():
        raise RuntimeError("emulated_mps() is already on in this process; leave that block before entering another")
    if torch._C._has_mps:
        raise RuntimeError(
            "this torch was built with MPS, so there is nothing to emulate; use torch.device('mps'), and see "
            "course_utils.probe_mps() if it does not work here"
        )
    policy = choose_policy(fallback, missing, fallback_at_load)
    runtime = Runtime(table=kernels or mps_kernels(), policy=policy, hook=hook, macos=macos)
    runtime.recorder.warnings.extend(version_warnings(torch.__version__))
    prepare_templates()
    with ExitStack() as stack:
        stack.callback(_clear_caches)
        stack.enter_context(_marked_active())
        stack.enter_context(compilers.eager_compiled_functions())
        names = DeviceFunctionMode(runtime)
        _replace_attributes(stack, runtime, names)
        _register_kernels(stack, runtime)
        _clear_caches()
        torch.mps.manual_seed(torch.initial_seed())
        stack.enter_context(names)
        yield EmulatedMps(runtime)


def _clear_caches() -> None:
    """Make torch.backends.mps ask again: its answers are cached for the life of the process."""
    for name in _CACHED:
        cached: Any = getattr(torch.backends.mps, name, None)
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def _replace_attributes(stack: ExitStack, runtime: Runtime, names: DeviceFunctionMode) -> None:
    """Replace Python attributes, each with its way back on the stack."""
    for owner, name, value in (
        *patches.tensor_attributes(),
        *patches.storage_attributes(runtime),
        *patches.mps_functions(runtime),
        *patches.accelerator_functions(runtime),
        *stream_patches(runtime),
        *compilers.compiler_patches(runtime),
        keep_mode_in_backward(names),
    ):
        stack.callback(_restore, owner, name, vars(owner).get(name, _ABSENT))
        setattr(owner, name, value)


def _restore(owner: Any, name: str, original: Any) -> None:
    if original is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, original)


def _register_kernels(stack: ExitStack, runtime: Runtime) -> None:
    """Register the device's kernels with the dispatcher; leaving the stack takes every one of them out."""
    aten = _library(stack, "aten")
    own = counted(runtime, make_memory_kernels(runtime) | make_factories(runtime) | make_convolutions())
    special = {name: _with_hook(runtime, traits_of(resolve(name), name), kernel) for name, kernel in own.items()}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*[Oo]verriding a previously registered kernel")
        for name in sorted(runtime.table.native | special.keys() | runtime.table.cpu_always):
            operator = resolve(name)
            if operator is None:
                continue  # a table of another release may name what this torch lacks
            kernel = special.get(name)
            if kernel is None:
                traits = traits_of(operator, name)
                make = make_cpu_always if name in runtime.table.cpu_always else make_native
                kernel = _with_hook(runtime, traits, make(runtime, traits))
            aten.impl(name, kernel, "MPS", allow_override=True)  # torch 2.10 to 2.13 registers one from Python
        for name, kernel in make_meta_factories(runtime, special).items():
            aten.impl(name, kernel, "Meta", allow_override=True)
        for name, kernel in ABOVE_AUTOGRAD.items():
            aten.impl(name, kernel, "MPS")
            aten.impl(name, kernel, "AutogradMPS")
        for name, kernel, keys in make_routes(runtime, runtime.table.native | special.keys() | ABOVE_AUTOGRAD.keys()):
            for key in keys:
                aten.impl(name, kernel, key)
        for name in autocast.operators():
            autocast_kernel = autocast.make_kernel(name)
            if autocast_kernel is not None:
                aten.impl(name, autocast_kernel, autocast.KEY, allow_override=True)
    _library(stack, "_").fallback(_fallback_with_hook(runtime, make_fallback(runtime)), "MPS")


def _with_hook(runtime: Runtime, traits: OperatorTraits, kernel: Kernel) -> Kernel:
    """Return a kernel that emits an event for each call and leaves the call to the hook.

    Without a hook, calls beyond a documented limit raise, and a kernel without limits stays as it is.
    """
    table = runtime.table
    limits = limits_of(traits.qualified, table.torch_version, runtime.macos)
    hook = runtime.hook or (refuse_beyond_limits if limits else None)
    if hook is None:
        return kernel
    verdict: CallVerdict = "native"
    if traits.name in COMPOSITE:
        verdict = "composite"
    elif traits.name in table.cpu_always:
        verdict = "cpu_always"

    def call(*args: Any, **kwargs: Any) -> Any:
        through = runtime.recorder.call.through
        return hook(
            OperatorCall(traits.operator, traits.qualified, verdict, table, limits, kernel, args, kwargs, through)
        )

    return call


def _fallback_with_hook(runtime: Runtime, fallback: Kernel) -> Kernel:
    hook, table = runtime.hook, runtime.table
    if hook is None:
        return fallback

    def call(operator: Any, *args: Any, **kwargs: Any) -> Any:
        name = operator.name()
        verdict: CallVerdict = "native" if name in table.other_native else "missing"
        kernel = partial(fallback, operator)
        return hook(
            OperatorCall(operator, name, verdict, table, (), kernel, args, kwargs, runtime.recorder.call.through)
        )

    return call


def _library(stack: ExitStack, namespace: str) -> Any:
    make: Any = torch.library.Library  # untyped in torch
    library = make(namespace, "IMPL")
    # destroying a library also strikes off torch's own entry for a kernel that it had overridden
    stack.callback(torch.library._impls.update, frozenset(torch.library._impls))
    stack.callback(library._destroy)
    return library
