"""Operators without an MPS kernel: they raise, run on the CPU with a warning, or run there and are recorded."""

from __future__ import annotations

from typing import Any

import torch

from course_utils.emulation import messages
from course_utils.emulation.call import Arguments, OperatorTraits, traits_of
from course_utils.emulation.dispatch import compute, make_native
from course_utils.emulation.dispatch_counter import tensors_in
from course_utils.emulation.events import Kernel
from course_utils.emulation.refusals import MpsRule, refusal
from course_utils.emulation.runtime import Runtime


def make_fallback(runtime: Runtime) -> Kernel:
    """Make the kernel for everything without one: it raises, falls back or records, as the policy says."""
    from_libraries: dict[Any, Kernel] = {}

    def fallback(operator: Any, *args: Any, **kwargs: Any) -> Any:
        if operator in from_libraries:
            return from_libraries[operator](*args, **kwargs)
        with torch._C.DisableTorchFunction():
            traits = traits_of(operator, operator.name().rpartition("::")[2])
            if traits.qualified in runtime.table.other_native:  # torchvision may load at any time
                from_libraries[operator] = make_native(runtime, traits)
                return from_libraries[operator](*args, **kwargs)
            runtime.recorder.note_operator(traits.qualified)
            if runtime.policy == "raise":
                if operator.namespace == "c10d":
                    raise refusal(NotImplementedError(messages.distributed(traits.qualified)), MpsRule.MISSING_KERNEL)
                raise refusal(NotImplementedError(messages.missing(traits.qualified)), MpsRule.MISSING_KERNEL)
            return run_on_cpu(runtime, traits, args, kwargs, silent=runtime.policy == "record")

    return fallback


def make_cpu_always(runtime: Runtime, traits: OperatorTraits) -> Kernel:
    """Make the kernel of an operator that torch itself sends to the CPU, whatever the variable says."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            runtime.recorder.note_operator(traits.qualified)
            return run_on_cpu(runtime, traits, args, kwargs, silent=runtime.policy == "record", verdict="cpu_always")

    return kernel


def run_on_cpu(
    runtime: Runtime,
    traits: OperatorTraits,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    silent: bool,
    verdict: Any = "missing",
) -> Any:
    """Run an operator as the fallback does: copy every tensor to the CPU, compute, copy results back."""
    if not silent:
        runtime.warn_fallback(traits.qualified)
    arguments = Arguments(runtime, traits, args, kwargs)
    if traits.is_view:
        raise RuntimeError(messages.view(traits.qualified))
    result = compute(runtime, traits, arguments)
    if traits.mutates:
        arguments.follow()
    runtime.recorder.note_fallback(
        traits.qualified,
        verdict,
        [view.nbytes for view in arguments.views],
        [tensor.nbytes for tensor in tensors_in(result)],
    )
    return arguments.wrap(result)
