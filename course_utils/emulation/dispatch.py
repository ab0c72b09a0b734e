"""Run one operator of the emulated device: on the CPU memory behind its tensors, under MPS's rules.

torch.library registers a Python kernel for the MPS key of every operator that has an MPS kernel on a Mac.
The dispatcher then decides as it does there: composite operators decompose, `linear` stays `linear`, what
has no kernel reaches the backend fallback.
"""

from __future__ import annotations

from typing import Any

import torch

from course_utils.emulation.call import Arguments, OperatorTraits
from course_utils.emulation.events import Kernel
from course_utils.emulation.host_waits import INDEXING, WAITS, wait_of
from course_utils.emulation.runtime import Runtime

_HALF = (torch.float16, torch.bfloat16)


def compute(runtime: Runtime, traits: OperatorTraits, arguments: Arguments) -> Any:
    """Run the operator on the CPU views; random operators draw from the device's stream."""
    if traits.is_random and not traits.takes_generator:
        before = torch.default_generator.get_state()
        torch.default_generator.set_state(runtime.generator.get_state())
        try:
            return _in_supported_dtype(runtime, traits, arguments)
        finally:
            runtime.generator.set_state(torch.default_generator.get_state())
            torch.default_generator.set_state(before)
    return _in_supported_dtype(runtime, traits, arguments)


def _in_supported_dtype(runtime: Runtime, traits: OperatorTraits, arguments: Arguments) -> Any:
    """Run on the CPU, in float32 where the CPU has no half precision kernel but MPS does."""
    try:
        return traits.compute(*arguments.args, **arguments.kwargs)
    except RuntimeError as error:  # includes NotImplementedError
        if not ("not implemented for 'Half'" in str(error) or "not implemented for 'BFloat16'" in str(error)):
            raise
    runtime.recorder.warnings.append(f"{traits.qualified}: this CPU has no half precision kernel, computed in float32")
    return _in_float32(traits, arguments)


def _in_float32(traits: OperatorTraits, arguments: Arguments) -> Any:
    dtype = next(view.dtype for view in arguments.views if view.dtype in _HALF)
    widened: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype in _HALF:
            wide = value.float()
            widened[id(wide)] = (wide, value)
            return wide
        if isinstance(value, (list, tuple)):
            return type(value)(widen(item) for item in value)
        return value

    def narrow(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) in widened:
                return widened[id(value)][1]
            return value.to(dtype) if value.dtype is torch.float32 else value
        if isinstance(value, (list, tuple)):
            return type(value)(narrow(item) for item in value)
        return value

    result = traits.compute(
        *(widen(arg) for arg in arguments.args), **{name: widen(value) for name, value in arguments.kwargs.items()}
    )
    if traits.mutates:
        for wide, value in widened.values():
            value.copy_(wide)
    return narrow(result)


def make_native(runtime: Runtime, traits: OperatorTraits) -> Kernel:
    """Make the kernel of an operator that has one on MPS."""
    if traits.is_view and not traits.mutates:
        view_kernel = _make_view(runtime, traits)
        if view_kernel is not None:
            return view_kernel
    may_wait = traits.name in WAITS or traits.name in INDEXING

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            runtime.recorder.note_operator(traits.qualified)
            arguments = Arguments(runtime, traits, args, kwargs)
            if arguments.cpu_positions:
                arguments.refuse_cpu_arguments()
            wait = wait_of(traits.name, args) if may_wait else ""
            if wait:
                runtime.recorder.note_wait(traits.qualified, wait)
            result = compute(runtime, traits, arguments)
            if traits.mutates:
                arguments.follow()
            return arguments.wrap(result)

    return kernel


def _make_view(runtime: Runtime, traits: OperatorTraits) -> Kernel | None:
    """Make the kernel of a view: torch's own, which only computes sizes and keeps storage and keys."""
    for alias in ("Meta", "CompositeExplicitAutograd"):
        if torch._C._dispatch_has_kernel_for_dispatch_key(traits.qualified, alias):
            key = getattr(torch._C.DispatchKey, alias)
            break
    else:
        return None
    run = traits.operator._op_dk

    def kernel(*args: Any, **kwargs: Any) -> Any:
        runtime.recorder.note_operator(traits.qualified)
        return run(key, *args, **kwargs)

    return kernel
