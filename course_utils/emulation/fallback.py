"""Operators without an MPS kernel: they raise, run on the CPU with a warning, or run there and are recorded."""

from __future__ import annotations

from typing import Any

import torch

from course_utils.emulation import messages
from course_utils.emulation.call import Arguments, Kernel, Plan
from course_utils.emulation.dispatch import compute, make_native
from course_utils.emulation.runtime import Runtime


def make_fallback(runtime: Runtime) -> Kernel:
    """Make the kernel for everything without one: it raises, falls back or records, as the policy says."""
    plans: dict[Any, Plan] = {}
    from_libraries: dict[Any, Kernel] = {}

    def fallback(operator: Any, *args: Any, **kwargs: Any) -> Any:
        if operator in from_libraries:
            return from_libraries[operator](*args, **kwargs)
        with torch._C.DisableTorchFunction():
            plan = plans.get(operator)
            if plan is None:
                plan = plans[operator] = Plan(operator, operator.name().rpartition("::")[2])
            if plan.qualified in runtime.table.other_native:  # torchvision may load at any time
                from_libraries[operator] = make_native(runtime, plan)
                return from_libraries[operator](*args, **kwargs)
            runtime.note_operator(plan.qualified, "missing")
            if runtime.policy == "raise":
                if operator.namespace == "c10d":
                    raise NotImplementedError(messages.distributed(plan.qualified))
                raise NotImplementedError(messages.missing(plan.qualified))
            return run_on_cpu(runtime, plan, args, kwargs, silent=runtime.policy == "record")

    return fallback


def make_cpu_always(runtime: Runtime, plan: Plan) -> Kernel:
    """Make the kernel of an operator that torch itself sends to the CPU, whatever the variable says."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            runtime.note_operator(plan.qualified, "cpu_always")
            return run_on_cpu(runtime, plan, args, kwargs, silent=runtime.policy == "record", verdict="cpu_always")

    return kernel


def run_on_cpu(
    runtime: Runtime,
    plan: Plan,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    silent: bool,
    verdict: Any = "missing",
) -> Any:
    """Run an operator as the fallback does: copy every tensor to the CPU, compute, copy results back."""
    if not silent:
        runtime.warn_fallback(plan.qualified)
    arguments = Arguments(runtime, plan, args, kwargs)
    if plan.is_view:
        raise RuntimeError(messages.view(plan.qualified))
    cause = f"fallback of {plan.qualified}"
    there = sum(view.nbytes for view in arguments.views)
    for view in arguments.views:
        runtime.note_copy("to cpu", view.nbytes, blocking=True, cause=cause)
    if arguments.views:
        runtime.note_wait(plan.qualified, cause)
    result = compute(runtime, plan, arguments)
    written = 0
    if plan.mutates:
        arguments.follow()
    for tensor in _tensors(result):
        written += tensor.nbytes
        runtime.note_copy("to mps", tensor.nbytes, blocking=True, cause=cause)
    runtime.note_fallback(plan.qualified, verdict, there + written)
    return arguments.wrap(result)


def _tensors(value: Any) -> list[torch.Tensor]:
    """List the tensors in an operator's result."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _tensors(item)]
    return []
