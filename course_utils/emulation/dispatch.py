"""Run one operator of the emulated device: on the CPU memory behind its tensors, under MPS's rules.

torch.library registers a Python kernel for the MPS key of every operator that has an MPS kernel on a Mac.
The dispatcher then decides as it does there: composite operators decompose, `linear` stays `linear`, what
has no kernel reaches the backend fallback.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course_utils.emulation import messages
from course_utils.emulation.mps_only import STAND_INS
from course_utils.emulation.generator import EmulatedGenerator
from course_utils.emulation.runtime import Runtime
from course_utils.emulation.tensor import follow_cpu, from_cpu, is_emulated, storage_of, to_cpu_view

Kernel = Callable[..., Any]

# the host reads a result of these to go on: sizes that depend on data, or a Python value (torch 2.9 to 2.15)
_WAITS = {
    "equal": "equal",
    "nonzero": "nonzero",
    "masked_select": "boolean mask",
    "_unique2": "unique",
    "_unique": "unique",
    "unique_dim": "unique",
    "unique_consecutive": "unique",
    "unique_dim_consecutive": "unique",
    "bincount": "bincount",
    "repeat_interleave.Tensor": "repeat_interleave",
    "masked_fill_.Tensor": "masked_fill_ with a tensor value",
}
# a mask among the indices becomes `nonzero`, whose result the host needs (expandTensors in C++)
_INDEXING = frozenset({"index.Tensor", "index.Tensor_out", "_index_put_impl_", "_unsafe_index.Tensor"})
_MASKS = (torch.bool, torch.uint8)


class Plan:
    """What an operator's schema says, read once.

    Args:
        operator: an overload of torch.ops.
        name: its overload name, such as "add.Tensor".
    """

    def __init__(self, operator: Any, name: str) -> None:
        schema = operator._schema
        self.operator = operator
        self.name = name
        self.qualified = f"{operator.namespace}::{name}"
        self.compute: Kernel = STAND_INS.get(name, operator) if operator.namespace == "aten" else operator
        arguments = {argument.name for argument in schema.arguments}
        self.takes_generator = "generator" in arguments
        self.is_random = torch.Tag.nondeterministic_seeded in operator.tags
        self.is_pointwise = torch.Tag.pointwise in operator.tags
        self.mutates = any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)
        returned = [r.alias_info for r in schema.returns]
        self.is_view = any(info is not None and not info.is_write for info in returned)
        self.may_alias = any(info is not None for info in returned)


def resolve(name: str) -> Any | None:
    """Find an overload by its name, such as "add.Tensor" or "torchvision::nms"; None where torch lacks it."""
    namespace, _, rest = name.rpartition("::")
    packet_name, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace or "aten"), packet_name, None)
    return None if packet is None else getattr(packet, overload or "default", None)


class Arguments:
    """The arguments of one call with CPU views in place of the device's tensors.

    Args:
        runtime: the device.
        plan: the operator.
        args: positional arguments as the dispatcher passed them.
        kwargs: keyword arguments as the dispatcher passed them.
    """

    def __init__(self, runtime: Runtime, plan: Plan, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.runtime = runtime
        self.plan = plan
        self.originals: dict[int, torch.Tensor] = {}  # id of a CPU view -> the device's tensor
        self.views: list[torch.Tensor] = []
        self.storages: dict[int, torch.UntypedStorage] = {}
        self.strangers: list[int] = []  # positions of CPU tensors among the tensors
        self._position = 0
        self.args = tuple(self._convert(arg) for arg in args)
        self.kwargs = {name: self._convert(value) for name, value in kwargs.items()}
        if "device" in self.kwargs:
            self.kwargs["device"] = torch.device("cpu")
        if plan.takes_generator:
            self._check_generator()

    def _convert(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._convert_tensor(value)
        if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (int, float)):
            return type(value)(self._convert(item) for item in value)
        return value

    def _convert_tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        position, self._position = self._position, self._position + 1
        if not is_emulated(tensor):
            if tensor.dim() > 0:  # a CPU scalar joins any operator, as on every accelerator
                self.strangers.append(position)
            return tensor
        view = to_cpu_view(tensor)
        self.originals[id(view)] = tensor
        self.views.append(view)
        self.storages.setdefault(view.untyped_storage()._cdata, storage_of(tensor))
        return view

    def _check_generator(self) -> None:
        generator = self.kwargs.get("generator")
        if generator is None:
            self.kwargs["generator"] = self.runtime.generator
        elif not isinstance(generator, EmulatedGenerator):
            raise RuntimeError(messages.wrong_generator(generator.device.type))

    def refuse_strangers(self) -> None:
        """Raise MPS's own error where a CPU tensor came along; indices may stay on the CPU and are copied."""
        if not self.strangers or not self.views:
            return
        if self.plan.name in _INDEXING and 0 not in self.strangers:
            for index in self.args[1]:
                if isinstance(index, torch.Tensor) and id(index) not in self.originals:
                    self.runtime.note_copy("to mps", index.nbytes, blocking=True, cause="index on the CPU")
            return
        raise RuntimeError(
            messages.mixed_devices(
                self.plan.name,
                pointwise=self.plan.is_pointwise,
                on_cpu=self.strangers[0],
                first_is_cpu=self.strangers[0] == 0,
            )
        )

    def wrap(self, result: Any) -> Any:
        """Turn the CPU's results into tensors of the device; an argument that was written to comes back itself."""
        if isinstance(result, torch.Tensor):
            original = self.originals.get(id(result))
            if original is not None:
                return original
            if not self.plan.may_alias and result.untyped_storage()._cdata in self.storages:
                result = result.clone()  # the CPU returned its argument where MPS makes a new tensor
            return from_cpu(result, self.runtime.meter, self.storages)
        if isinstance(result, (list, tuple)):
            return type(result)(self.wrap(item) for item in result)
        return result

    def follow(self) -> None:
        """Carry new sizes of written arguments (out=) over to the device's tensors."""
        for view in self.views:
            follow_cpu(self.originals[id(view)], view)


def compute(runtime: Runtime, plan: Plan, arguments: Arguments) -> Any:
    """Run the operator on the CPU views; random operators draw from the device's stream."""
    if plan.is_random and not plan.takes_generator:
        before = torch.default_generator.get_state()
        torch.default_generator.set_state(runtime.generator.get_state())
        try:
            return _in_supported_dtype(plan, arguments)
        finally:
            runtime.generator.set_state(torch.default_generator.get_state())
            torch.default_generator.set_state(before)
    return _in_supported_dtype(plan, arguments)


def _in_supported_dtype(plan: Plan, arguments: Arguments) -> Any:
    """Run on the CPU, in float32 where the CPU has no half precision kernel but MPS does."""
    try:
        return plan.compute(*arguments.args, **arguments.kwargs)
    except RuntimeError as error:  # includes NotImplementedError
        if not ("not implemented for 'Half'" in str(error) or "not implemented for 'BFloat16'" in str(error)):
            raise
    return _in_float32(plan, arguments)


def _in_float32(plan: Plan, arguments: Arguments) -> Any:
    low = (torch.float16, torch.bfloat16)
    dtype = next(view.dtype for view in arguments.views if view.dtype in low)
    widened: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype in low:
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

    result = plan.compute(
        *(widen(arg) for arg in arguments.args), **{name: widen(value) for name, value in arguments.kwargs.items()}
    )
    if plan.mutates:
        for wide, value in widened.values():
            value.copy_(wide)
    return narrow(result)


def make_native(runtime: Runtime, plan: Plan) -> Kernel:
    """Make the kernel of an operator that has one on MPS."""
    if plan.is_view and not plan.mutates:
        view_kernel = _make_view(runtime, plan)
        if view_kernel is not None:
            return view_kernel
    wait = _WAITS.get(plan.name, "")
    indexes = plan.name in _INDEXING

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            runtime.note_operator(plan.qualified, "native")
            arguments = Arguments(runtime, plan, args, kwargs)
            if arguments.strangers:
                arguments.refuse_strangers()
            if wait:
                runtime.note_wait(plan.qualified, wait)
            elif indexes and any(i is not None and i.dtype in _MASKS for i in args[1]):
                runtime.note_wait(plan.qualified, "boolean mask")
            result = compute(runtime, plan, arguments)
            if plan.mutates:
                arguments.follow()
            return arguments.wrap(result)

    return kernel


def _make_view(runtime: Runtime, plan: Plan) -> Kernel | None:
    """Make the kernel of a view: torch's own, which only computes sizes and keeps storage and keys."""
    for alias in ("Meta", "CompositeExplicitAutograd"):
        if torch._C._dispatch_has_kernel_for_dispatch_key(plan.qualified, alias):
            key = getattr(torch._C.DispatchKey, alias)
            break
    else:
        return None
    run = plan.operator._op_dk

    def kernel(*args: Any, **kwargs: Any) -> Any:
        runtime.note_operator(plan.qualified, "native")
        return run(key, *args, **kwargs)

    return kernel


def make_fallback(runtime: Runtime, plans: dict[Any, Plan]) -> Kernel:
    """Make the kernel for everything without one: it raises, falls back or records, as the policy says."""

    def fallback(operator: Any, *args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            plan = plans.get(operator)
            if plan is None:
                plan = plans[operator] = Plan(operator, operator.name().rpartition("::")[2])
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
    runtime: Runtime, plan: Plan, args: tuple[Any, ...], kwargs: dict[str, Any], *, silent: bool, verdict: Any = "missing"
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
