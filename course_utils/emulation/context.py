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
from course_utils.emulation import autocast, state, surface
from course_utils.emulation.call import Kernel, Plan, resolve
from course_utils.emulation.dispatch import make_native
from course_utils.emulation.fallback import make_cpu_always, make_fallback
from course_utils.emulation.kernels import KernelTable, mps_kernels
from course_utils.emulation.ledger import Ledger
from course_utils.emulation.memory import counted, make_factories, make_meta_factories
from course_utils.emulation.names import DeviceNames, engine_under_names
from course_utils.emulation.routes import ABOVE_AUTOGRAD, make_convolutions
from course_utils.emulation.runtime import Interceptor, Observer, Policy, Runtime
from course_utils.emulation.tensor import DEVICE, prepare_templates

OLDEST_TESTED, NEWEST_TESTED = (2, 9), (2, 14)
_ABSENT = object()
_CACHED = ("is_available", "is_macos_or_newer", "is_macos13_or_newer", "get_name", "get_core_count")


class EmulatedMps:
    """The emulated device while its block runs.

    Args:
        runtime: its state.
    """

    device = DEVICE

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
    """Settle what happens at a missing operator; pure but for asking about the variable.

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


def doubts(torch_version: str) -> tuple[str, ...]:
    """State what is unverified about emulating a torch release, such as "2.14.1+cpu"; pure."""
    if OLDEST_TESTED <= order(torch_version)[:2] <= NEWEST_TESTED:
        return ()
    return (
        f"torch {torch_version} is outside the releases that this emulation follows (2.9 to 2.14): "
        "routes and texts are unverified",
    )


@contextmanager
def emulated_mps(
    *,
    fallback: bool | None = None,
    missing: Policy | None = None,
    observer: Observer | None = None,
    interceptor: Interceptor | None = None,
    kernels: KernelTable | None = None,
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
        observer: called with each operator that reaches the device: its name ("aten::add.Tensor"), a verdict
            ("native", "composite", "cpu_always", "missing") and the caller's line. Composite operators that C++
            takes apart by itself are not seen, their parts are.
        interceptor: called in place of each operator's kernel with the operator, the kernel and its arguments; what it
            returns is the result. So the arguments can be seen, and the call be made again with others.
        kernels: which operators have an MPS kernel; by default those of the installed torch.

    Yields:
        The device, with its `ledger()`.

    Raises:
        RuntimeError: where torch was built with MPS, or inside another such block.
        ValueError: for contradicting arguments.
    """
    if state.is_active():
        raise RuntimeError("emulated_mps() is already on in this process; leave that block before entering another")
    if torch._C._has_mps:
        raise RuntimeError(
            "this torch was built with MPS, so there is nothing to emulate; use torch.device('mps'), and see "
            "course_utils.probe_mps() if it does not work here"
        )
    policy = choose_policy(fallback, missing, fallback_at_load)
    runtime = Runtime(table=kernels or mps_kernels(), policy=policy, observer=observer, interceptor=interceptor)
    runtime.recorder.warnings.extend(doubts(torch.__version__))
    prepare_templates()
    with ExitStack() as stack:
        stack.callback(_clear_caches)
        state.set_active(True)
        stack.callback(state.set_active, False)
        names = DeviceNames(runtime)
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


def _replace_attributes(stack: ExitStack, runtime: Runtime, names: DeviceNames) -> None:
    """Replace Python attributes, each with its way back on the stack."""
    for owner, name, value in (
        *surface.tensor_attributes(),
        *surface.storage_attributes(runtime),
        *surface.mps_functions(runtime),
        *surface.accelerator_functions(runtime),
        engine_under_names(names),
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
    own = counted(runtime) | make_factories(runtime) | make_convolutions(runtime)
    special = {name: _intercepted(runtime, resolve(name), kernel) for name, kernel in own.items()}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*[Oo]verriding a previously registered kernel")
        for name in sorted(runtime.table.native | special.keys() | runtime.table.cpu_always):
            operator = resolve(name)
            if operator is None:
                continue  # a table of another release may name what this torch lacks
            if name in special:
                kernel = special[name]
            elif name in runtime.table.cpu_always:
                kernel = _intercepted(runtime, operator, make_cpu_always(runtime, Plan(operator, name)))
            else:
                kernel = _intercepted(runtime, operator, make_native(runtime, Plan(operator, name)))
            aten.impl(name, kernel, "MPS")
        for name, kernel in make_meta_factories(runtime, special).items():
            aten.impl(name, kernel, "Meta", allow_override=True)
        for name, kernel in ABOVE_AUTOGRAD.items():
            aten.impl(name, kernel, "MPS")
            aten.impl(name, kernel, "AutogradMPS")
        for name in autocast.operators():
            autocast_kernel = autocast.make_kernel(name)
            if autocast_kernel is not None:
                aten.impl(name, autocast_kernel, autocast.KEY, allow_override=True)
    _library(stack, "_").fallback(_intercepted_fallback(runtime, make_fallback(runtime)), "MPS")


def _intercepted(runtime: Runtime, operator: Any, kernel: Kernel) -> Kernel:
    interceptor = runtime.interceptor
    if interceptor is None:
        return kernel

    def call(*args: Any, **kwargs: Any) -> Any:
        return interceptor(operator, kernel, args, kwargs)

    return call


def _intercepted_fallback(runtime: Runtime, fallback: Kernel) -> Kernel:
    interceptor = runtime.interceptor
    if interceptor is None:
        return fallback

    def call(operator: Any, *args: Any, **kwargs: Any) -> Any:
        return interceptor(operator, partial(fallback, operator), args, kwargs)

    return call


def _library(stack: ExitStack, namespace: str) -> Any:
    make: Any = torch.library.Library  # untyped in torch
    library = make(namespace, "IMPL")
    # destroying a library also strikes off torch's own entry for a kernel that it had overridden
    stack.callback(torch.library._impls.update, frozenset(torch.library._impls))
    stack.callback(library._destroy)
    return library
