"""One call of an operator: what its schema says, and its arguments with CPU memory in place of the device's tensors."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.utils import _pytree as pytree

from course_utils.emulation import messages
from course_utils.emulation.events import Kernel
from course_utils.emulation.generator import EmulatedGenerator
from course_utils.emulation.host_waits import INDEXING
from course_utils.emulation.mps_only import STAND_INS
from course_utils.emulation.refusals import MpsRule, refusal
from course_utils.emulation.runtime import Runtime
from course_utils.emulation.tensor import (
    DENSE_ONLY,
    UNSUPPORTED,
    follow_cpu,
    from_cpu,
    is_emulated,
    storage_of,
    to_cpu_view,
)

_TENSOR_TYPES = ("Tensor", "Optional[Tensor]")


class OperatorTraits:
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
        # a Python number in these places was a tensor made from a number before the dispatcher unwrapped it
        self.tensor_positions = frozenset(
            position for position, argument in enumerate(schema.arguments) if str(argument.type) in _TENSOR_TYPES
        )
        self.takes_generator = "generator" in arguments
        self.is_random = torch.Tag.nondeterministic_seeded in operator.tags
        self.is_pointwise = torch.Tag.pointwise in operator.tags
        self.mutates = any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)
        returned = [r.alias_info for r in schema.returns]
        self.is_view = any(info is not None and not info.is_write for info in returned)
        self.may_alias = any(info is not None for info in returned)


@functools.cache
def traits_of(operator: Any, name: str) -> OperatorTraits:
    """Return what an overload's schema says; it is the same for the life of the process."""
    return OperatorTraits(operator, name)


def resolve(name: str) -> Any | None:
    """Find an overload by its name, such as "add.Tensor" or "torchvision::nms"; None where torch lacks it."""
    namespace, _, rest = name.rpartition("::")
    packet_name, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace or "aten"), packet_name, None)
    return None if packet is None else getattr(packet, overload or "default", None)


def with_number_tensors(traits: OperatorTraits, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Make tensors of the numbers in tensor places, on the CPU, of the dtype that type promotion gives a number."""
    numbers = {i for i in traits.tensor_positions if i < len(args) and isinstance(args[i], (int, float, complex))}
    if not numbers:
        return args
    like = next((arg for arg in args if isinstance(arg, torch.Tensor)), torch.empty(0, device="cpu"))

    def convert(value: Any) -> torch.Tensor:
        return torch.scalar_tensor(value, dtype=torch.result_type(like, value), device="cpu")

    return tuple(convert(value) if place in numbers else value for place, value in enumerate(args))


class Arguments:
    """The arguments of one call with CPU views in place of the device's tensors.

    Args:
        runtime: the device.
        traits: the operator.
        args: positional arguments as the dispatcher passed them.
        kwargs: keyword arguments as the dispatcher passed them.
    """

    def __init__(self, runtime: Runtime, traits: OperatorTraits, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.runtime = runtime
        self.traits = traits
        self.originals: dict[int, torch.Tensor] = {}  # id of a CPU view -> the device's tensor
        self.views: list[torch.Tensor] = []
        self.storages: dict[int, torch.UntypedStorage] = {}
        self.cpu_positions: list[int] = []  # positions of CPU tensors among the tensors
        self._position = 0
        self.args = tuple(self._convert(arg) for arg in args)
        self.args = with_number_tensors(traits, self.args)
        self.kwargs = {name: self._convert(value) for name, value in kwargs.items()}
        if "device" in self.kwargs:
            self.kwargs["device"] = torch.device("cpu")
        if traits.takes_generator:
            self._check_generator()

    def _convert(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._convert_tensor(value)
        if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (int, float)):
            return type(value)(self._convert(item) for item in value)
        if isinstance(value, torch.dtype) and not self.runtime.recorder.call.asked_float64:
            return UNSUPPORTED.get(value, value)  # asked for by torch's C++, as in renorm
        return value

    def _convert_tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        position, self._position = self._position, self._position + 1
        if not is_emulated(tensor):
            if tensor.dim() > 0:  # a CPU scalar joins any operator, as on every accelerator
                self.cpu_positions.append(position)
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
        elif not EmulatedGenerator.is_on_device(generator):
            raise RuntimeError(messages.wrong_generator(generator.device.type))

    def refuse_cpu_arguments(self) -> None:
        """Raise MPS's own error where a CPU tensor came along; indices may stay on the CPU and are copied."""
        if not self.cpu_positions or not self.views:
            return
        if self.traits.name in INDEXING and 0 not in self.cpu_positions:
            for index in self.args[1]:
                if isinstance(index, torch.Tensor) and id(index) not in self.originals:
                    self.runtime.recorder.note_copy("to mps", index.nbytes, blocking=True, cause="index on the CPU")
            return
        text = messages.mixed_devices(
            self.traits.name,
            pointwise=self.traits.is_pointwise,
            on_cpu=self.cpu_positions[0],
            first_is_cpu=self.cpu_positions[0] == 0,
        )
        raise refusal(RuntimeError(text), MpsRule.MIXED_DEVICES)

    def wrap(self, result: Any) -> Any:
        """Turn the CPU's results into tensors of the device; an argument that was written to comes back itself."""
        if isinstance(result, torch.Tensor):
            original = self.originals.get(id(result))
            if original is not None:
                return original
            if result.layout is not torch.strided:
                raise NotImplementedError(DENSE_ONLY.format(layout=result.layout))
            if not self.traits.may_alias and result.untyped_storage()._cdata in self.storages:
                result = result.clone()  # the CPU returned its argument where MPS makes a new tensor
            if result.dtype in UNSUPPORTED and not self._asks_for_float64():
                result = result.to(UNSUPPORTED[result.dtype])  # the CPU's kernel computes in double, MPS's does not
            return from_cpu(result, self.runtime.meter, self.storages)
        if isinstance(result, (list, tuple)):
            return type(result)(self.wrap(item) for item in result)
        return result

    def _asks_for_float64(self) -> bool:
        if self.runtime.recorder.call.asked_float64:
            return True
        given = pytree.tree_leaves((self.args, self.kwargs))
        return any(isinstance(leaf, torch.Tensor) and leaf.dtype in UNSUPPORTED for leaf in given)

    def follow(self) -> None:
        """Carry new sizes of written arguments (out=) over to the device's tensors."""
        for view in self.views:
            follow_cpu(self.originals[id(view)], view)
