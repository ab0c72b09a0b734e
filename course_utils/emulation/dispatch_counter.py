"""Count from above what happens on a real MPS device: operators, copies, waits and fallbacks.

A dispatch mode sees the operators below autograd. Composite ones are taken apart under the mode, so that their parts
are seen as the dispatcher sees them; what a kernel does inside is not seen, and `host_waits` lists which of them wait.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from course_utils.devices.dispatch_mode import DispatchMode
from course_utils.emulation import messages
from course_utils.emulation.call import traits_of, with_number_tensors
from course_utils.emulation.host_waits import indices_on_cpu, is_view, wait_of
from course_utils.emulation.kernels import KernelTable
from course_utils.emulation.recorder import EventRecorder

_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
_COMPOSITE_KEYS = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
# argument positions of destination and source
_COPIES = {"aten::copy_": (0, 1), "aten::_copy_from": (1, 0)}
# torch calls it while it makes a tensor under a mode; its own kernel would call the mode again
_WHOLE = frozenset({"aten::detach"})


class DispatchCounter(DispatchMode):
    """Records every operator that meets a tensor of the device.

    Args:
        recorder: takes the events.
        kernels: which operators have an MPS kernel in this torch.
        falls_back: whether an operator without a kernel runs on the CPU here, as PYTORCH_ENABLE_MPS_FALLBACK=1 does;
            otherwise it is left to torch, which raises unless the variable was set.
        over_emulation: whether the device is the emulated one. C++ calls that one "meta", and some composite
            operators have a kernel there that takes them apart in Python.
    """

    supports_higher_order_operators = True

    def __init__(
        self, recorder: EventRecorder, kernels: KernelTable, *, falls_back: bool = False, over_emulation: bool = False
    ) -> None:
        super().__init__()
        self.recorder = recorder
        self.kernels = kernels
        self.falls_back = falls_back
        self.device_types = frozenset({"mps", "meta"} if over_emulation else {"mps"})
        self.composite_keys = (("MPS", *_COMPOSITE_KEYS)) if over_emulation else _COMPOSITE_KEYS
        self.has_warned = False
        self._verdicts: dict[Any, tuple[str, Any]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):
            self.recorder.warnings.append(f"operators inside {func} were not counted")
            return func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            name = func.name()  # type: ignore[no-untyped-call]
            if name in _WHOLE or not self._meets_device(args, kwargs):
                return func(*args, **kwargs)
            if not torch._C._should_allow_numbers_as_tensors(func._schema.name.partition("::")[2]):
                # inside a composite operator, such as remainder.Scalar, a number was a tensor before the mode saw it
                args = with_number_tensors(traits_of(func, name.removeprefix("aten::")), args)
            verdict, key = self._verdict(func)
            if verdict == "composite":
                with self:
                    return func._op_dk(key, *args, **kwargs)
            if name in _COPIES:
                return self._copy(func, args, kwargs)
            if verdict == "native":
                return self._native(func, args, kwargs)
            return self._on_cpu(func, verdict, args, kwargs)

    def _meets_device(self, args: Any, kwargs: Any) -> bool:
        if any(tensor.device.type == "mps" for tensor in tensors_in((args, kwargs))):
            return True
        device = kwargs.get("device")
        return isinstance(device, torch.device) and device.type in self.device_types

    def _verdict(self, func: Any) -> tuple[str, Any]:
        """Return how the dispatcher treats an operator, and the key that takes a composite one apart."""
        found = self._verdicts.get(func)
        if found is None:
            found = self._verdicts[func] = self._look_up(str(func.name()))
        return found

    def _look_up(self, name: str) -> tuple[str, Any]:
        namespace, _, bare = name.partition("::")
        if name in _COPIES:
            return "native", None
        if namespace == "aten" and bare in self.kernels.cpu_always:
            return "cpu_always", None
        if name in self.kernels.other_native or (namespace == "aten" and bare in self.kernels.native):
            return "native", None
        for key in self.composite_keys:
            if _has_kernel(name, key):
                return "composite", getattr(torch._C.DispatchKey, key)
        return ("native" if _has_kernel(name, "MPS") else "missing"), None

    def _native(self, func: Any, args: Any, kwargs: Any) -> Any:
        name = func.name()
        bare = name.removeprefix("aten::")
        if not any(tensor.device.type == "mps" for tensor in tensors_in((args, kwargs))):
            result = func(*args, **kwargs)
            # over the emulated device "meta" may be what the caller meant
            if any(tensor.device.type == "mps" for tensor in tensors_in(result)):
                self.recorder.note_operator(name)
            return result
        self.recorder.note_operator(name)
        for index in indices_on_cpu(bare, args):
            self.recorder.note_copy("to mps", index.nbytes, blocking=True, cause="index on the CPU")
        cause = wait_of(bare, args)
        if cause or name == "aten::_local_scalar_dense":
            self.recorder.note_wait(name, cause)
        return func(*args, **kwargs)

    def _copy(self, func: Any, args: Any, kwargs: Any) -> Any:
        to, of = (args[place] for place in _COPIES[func.name()])
        non_blocking = args[2] if len(args) > 2 else kwargs.get("non_blocking", False)
        result = func(*args, **kwargs)
        if to.device.type == of.device.type:
            self.recorder.note_operator("aten::copy_")
        else:
            direction = "to mps" if to.device.type == "mps" else "to cpu"
            self.recorder.note_copy(direction, to.nbytes, blocking=not non_blocking)  # type: ignore[arg-type]
        return result

    def _on_cpu(self, func: Any, verdict: Any, args: Any, kwargs: Any) -> Any:
        """Count an operator without a kernel, and its copies if it ran on the CPU instead."""
        self.recorder.note_operator(func.name())
        fetched = [tensor.nbytes for tensor in tensors_in((args, kwargs)) if tensor.device.type == "mps"]
        if self.falls_back and verdict == "missing" and not is_view(func._schema):
            self._warn(func.name())
            result = run_on_cpu(func, args, kwargs)
        else:
            result = func(*args, **kwargs)
        self.recorder.note_fallback(func.name(), verdict, fetched, [tensor.nbytes for tensor in tensors_in(result)])
        return result

    def _warn(self, name: str) -> None:
        if not self.has_warned or torch.is_warn_always_enabled():
            self.has_warned = True
            location = self.recorder.location()
            warnings.warn_explicit(messages.fallback(name), UserWarning, location.file, location.line)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors in nested arguments or results, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def run_on_cpu(func: Any, args: Any, kwargs: Any) -> Any:
    """Return what an operator computes on the CPU, with results, and what it wrote, brought back to the device."""
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
    device = torch.device("mps", 0)

    def fetch(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor) and leaf.device.type == "mps":
            pairs.append((leaf, leaf.cpu()))
            return pairs[-1][1]
        return torch.device("cpu") if isinstance(leaf, torch.device) and leaf.type == "mps" else leaf

    result = func(*pytree.tree_map(fetch, args), **pytree.tree_map(fetch, kwargs))
    if func._schema.is_mutable:
        for original, copy in pairs:
            original.copy_(copy)

    def bring(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        written = [original for original, copy in pairs if copy is leaf]
        return written[0] if written else leaf.to(device)

    return pytree.tree_map(bring, result)
