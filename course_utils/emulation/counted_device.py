"""Count on a real MPS device: `with counted_mps() as mps`, with the same ledger as the emulated device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
import torch.mps.event
from torch.overrides import TorchFunctionMode

from course_utils.emulation import counted_shaders
from course_utils.emulation.dispatch_counter import DispatchCounter, tensors_in
from course_utils.emulation.kernels import mps_kernels
from course_utils.emulation.ledger import Ledger
from course_utils.emulation.location import caller
from course_utils.emulation.recorder import PRINTS, EventRecorder

# their C++ copies with the dispatch mode switched off (torch/csrc/utils/tensor_new.cpp, torch 2.9 to 2.15)
_FROM_DATA: tuple[Callable[..., Any], ...] = (torch.tensor, torch.as_tensor, torch.asarray, torch.Tensor.new_tensor)
# C++ computes eigenvalues by another operator while a dispatch mode is on (isTensorSubclassLike in
# aten/src/ATen/native/BatchLinearAlgebra.cpp); this is the one that it takes without
_WITHOUT_MODE: dict[Callable[..., Any], Any] = {torch.linalg.eigvals: torch.ops.aten._linalg_eigvals.default}
# owner, attribute, how the ledger names the wait; each commits the queue and waits for it (ATen/mps)
_SYNCHRONIZE: tuple[tuple[Any, str, str], ...] = (
    (torch._C, "_mps_deviceSynchronize", "torch.mps.synchronize"),
    (torch._C, "_mps_emptyCache", "torch.mps.empty_cache"),
    (torch._C, "_accelerator_synchronizeDevice", "torch.accelerator.synchronize"),
    (torch._C, "_accelerator_emptyCache", "torch.accelerator.empty_cache"),
)


class CountedMps:
    """A real MPS device whose work is counted from above while its block runs.

    Args:
        recorder: where events are.
    """

    device = torch.device("mps")
    counts = True  # `ledger()` counts what happens

    def __init__(self, recorder: EventRecorder) -> None:
        self._recorder = recorder

    def ledger(self) -> Ledger:
        """Return everything counted since the block began or `clear_ledger` was called."""
        return self._recorder.snapshot()

    def clear_ledger(self) -> None:
        """Start counting anew, for instance after a warm-up."""
        self._recorder.clear()

    def __repr__(self) -> str:
        return f"<MPS, counted, torch {torch.__version__}>"


class CallNames(TorchFunctionMode):
    """Notes which torch function the caller called, and counts what happens where no dispatch mode looks.

    Args:
        recorder: takes the events.
    """

    def __init__(self, recorder: EventRecorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        call = self.recorder.call
        if call.name or isinstance(func, torch._ops.OpOverload):
            return func(*args, **kwargs)
        call.name, call.waited = getattr(func, "__name__", ""), False
        try:
            if call.name in PRINTS and self._has_values(args[0]):
                self.recorder.note_print()  # torch switches dispatch modes off while it prints
            if func in _FROM_DATA:
                return self._from_data(func, args, kwargs)
            if func in _WITHOUT_MODE and not kwargs and not (torch.is_grad_enabled() and args[0].requires_grad):
                func = _WITHOUT_MODE[func]
            return func(*args, **kwargs)
        finally:
            call.name = ""

    def _has_values(self, tensor: torch.Tensor) -> bool:
        with torch._C.DisableTorchFunction():
            return tensor.device.type == "mps" and tensor.numel() > 0

    def _from_data(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a tensor of Python numbers: one copy, and one wait for each number that is read from the device."""
        place = 1 if func is torch.Tensor.new_tensor else 0
        data = args[place] if len(args) > place else kwargs.get("data", kwargs.get("obj"))
        copied_before = len(self.recorder.copies)
        if isinstance(data, (list, tuple)):
            with torch._C.DisableTorchFunction():
                read = sum(tensor.numel() for tensor in tensors_in(data) if tensor.device.type == "mps")
            for _ in range(read):
                self.recorder.note_wait("aten::_local_scalar_dense")
        result = func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            was_seen = isinstance(data, torch.Tensor) or len(self.recorder.copies) > copied_before
            if result.device.type == "mps" and not was_seen:
                self.recorder.note_copy("to mps", result.nbytes, blocking=True)
        return result


@contextmanager
def counted_mps(*, fallback: bool = False, over_emulation: bool = False) -> Iterator[CountedMps]:
    """Count what happens on the MPS device for the length of a block.

    Seen are the operators of every thread that autograd uses for this one. Not seen are waits inside kernels, beyond
    those that `host_waits` lists.

    Args:
        fallback: whether operators without a kernel run on the CPU, as with PYTORCH_ENABLE_MPS_FALLBACK=1, although
            the variable was not set when torch was imported.
        over_emulation: for an `emulated_mps` block, whose own book has to be the same.

    Yields:
        The device, with its `ledger()`.
    """
    recorder = EventRecorder(device="MPS")
    names = CallNames(recorder)
    with ExitStack() as stack:
        event = (torch.mps.event.Event, "synchronize", "torch.mps.Event.synchronize")
        for owner, name, cause in (*_SYNCHRONIZE, event):
            _patch(stack, owner, name, _waits_first(recorder, getattr(owner, name), cause))
        _patch(stack, torch.autograd, "_engine_run_backward", _named_backward(recorder, names))
        _patch(stack, torch.mps, "compile_shader", counted_shaders.counting(torch.mps.compile_shader))
        _patch(stack, counted_shaders, "counted_note", recorder.note_operator)
        stack.enter_context(names)
        kernels = mps_kernels()
        stack.enter_context(DispatchCounter(recorder, kernels, falls_back=fallback, over_emulation=over_emulation))
        yield CountedMps(recorder)


def _patch(stack: ExitStack, owner: Any, name: str, value: Any) -> None:
    stack.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)


def _waits_first(recorder: EventRecorder, original: Callable[..., Any], cause: str) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        recorder.note_wait("", cause, "synchronize")
        return original(*args, **kwargs)

    return run


def _named_backward(recorder: EventRecorder, names: CallNames) -> Callable[..., Any]:
    """Return a backward that remembers who called it, since autograd's threads do not show the caller's line."""
    original = torch.autograd._engine_run_backward  # type: ignore[attr-defined]

    def run(*args: Any, **kwargs: Any) -> Any:
        call = recorder.call
        name, call.name = call.name, ""
        recorder.backward_from = caller()
        try:
            with names:
                return original(*args, **kwargs)
        finally:
            call.name = name

    return run
