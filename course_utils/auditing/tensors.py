"""What cannot even be moved to MPS: float64, sparse and stray tensors of a model and its inputs, by name."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from course_utils.auditing.attributes import HeldTensor, held_tensors
from course_utils.auditing.findings import AuditFinding
from course_utils.data.versions import order

# what Metal lacks, and what to use instead
REPLACEMENT = {torch.float64: torch.float32, torch.complex128: torch.complex64}
FIRST_WITH_SPARSE_COO = "2.9"  # SparseMPS kernels for moving a COO tensor (native_functions.yaml of torch 2.9)

Named = Iterator[tuple[str, Any]]


def named_tensors(model: nn.Module, inputs: Any, loss: Any) -> Named:
    """Yield name and value of all that has to be moved: parameters, buffers, inputs, and what the loss keeps."""
    yield from ((f"parameter {name}", tensor) for name, tensor in model.named_parameters())
    yield from ((f"buffer {name}", tensor) for name, tensor in model.named_buffers())
    yield from ((f"input{path}", leaf) for path, leaf in leaves_with_path(inputs))
    if isinstance(loss, nn.Module):
        for kind, found in (("parameter", loss.named_parameters()), ("buffer", loss.named_buffers())):
            yield from ((f"{kind} {name} of the loss", tensor) for name, tensor in found)
    else:
        yield from ((f"{name} of the loss", tensor) for name, tensor in tensors_kept_by(loss))


def leaves_with_path(value: Any) -> Named:
    """Yield path and leaf of nested lists, tuples and dictionaries; a path looks like `[0]['mask']`."""
    found, _ = pytree.tree_flatten_with_path(as_plain(value))
    for path, leaf in found:
        yield pytree.keystr(path), leaf


def as_plain(value: Any) -> Any:
    """Make a dict of a mapping that torch's tree functions do not know, such as a tokenizer's output."""
    return dict(value) if isinstance(value, Mapping) and type(value) is not dict else value


def tensors_kept_by(function: Callable[..., Any] | None) -> Named:
    """Yield name and value of what a function carries along: its closure, defaults, globals and partial arguments."""
    if isinstance(function, partial):
        yield from leaves_with_path(function.args)
        yield from leaves_with_path(function.keywords)
        yield from tensors_kept_by(function.func)
    elif inspect.isfunction(function):
        kept = inspect.getclosurevars(function)
        for name, value in {**kept.globals, **kept.nonlocals}.items():
            if isinstance(value, (torch.Tensor, list, tuple, dict)):
                yield from ((f"{name}{path}", leaf) for path, leaf in leaves_with_path(value))
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            yield from ((f"default{path}", leaf) for path, leaf in leaves_with_path(value))


def plain_attributes(model: nn.Module) -> dict[int, HeldTensor]:
    """Return the tensors that modules hold outside parameters and buffers, by the address of their memory."""
    found: dict[int, HeldTensor] = {}
    for held in held_tensors(model):
        if held.tensor.layout is torch.strided and not held.tensor.is_meta:
            found.setdefault(address_of(held.tensor), held)
    return found


def address_of(tensor: torch.Tensor) -> int:
    """Return the address of a dense tensor's memory, which its views share."""
    return tensor.untyped_storage().data_ptr()


def check_tensors(named: Named, release: str) -> tuple[AuditFinding, ...]:
    """Find the tensors that MPS cannot hold, before any operator runs.

    Args:
        named: names and tensors; other values are passed over, NumPy arrays of float64 are not.
        release: of torch, such as "2.14.1".
    """
    found: list[AuditFinding] = []
    devices: dict[str, str] = {}
    for name, value in named:
        if not isinstance(value, torch.Tensor):
            if str(getattr(value, "dtype", "")) in ("float64", "complex128"):
                found.append(_unsupported_dtype(f"{name} (a NumPy array)", str(value.dtype)))
            continue
        devices[name] = value.device.type
        if value.layout is not torch.strided:
            found.append(_sparse(name, value.layout, release))
        if value.dtype in REPLACEMENT:
            found.append(_unsupported_dtype(name, str(value.dtype).removeprefix("torch.")))
    return (*found, *_stray(devices))


def _unsupported_dtype(name: str, dtype: str) -> AuditFinding:
    instead = {"float64": "float32", "complex128": "complex64"}[dtype]
    effect = (
        "TypeError when it is moved: Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't "
        "support float64"
        if dtype == "float64"
        else "TypeError when it is moved: Trying to convert ComplexDouble to the MPS backend but it does not have "
        "support for that dtype"
    )
    return AuditFinding(
        kind="float64",
        name=name,
        public=dtype,
        effect=effect,
        advice=f"make it {instead} where it is created (NumPy and Python's float default to 64 bits), "
        f"such as .astype('{instead}') or dtype=torch.{instead}",
        source="pytorch #122602",
    )


def _sparse(name: str, layout: torch.layout, release: str) -> AuditFinding:
    short = str(layout).removeprefix("torch.")
    key = "SparseMPS" if layout is torch.sparse_coo else "SparseCsrMPS"
    cannot_help = f"the fallback variable cannot help: the dispatch key is {key}, not MPS"
    if layout is not torch.sparse_coo:
        effect = f"{short} tensors cannot be made on MPS (NotImplementedError); {cannot_help}"
    elif order(release) < order(FIRST_WITH_SPARSE_COO):
        effect = f"NotImplementedError when it is moved; {cannot_help}"
    else:
        effect = f"can be moved from torch 2.9 on, but an operator without a {key} kernel raises, and {cannot_help}"
    return AuditFinding(
        kind="sparse",
        name=name,
        public=short,
        effect=effect,
        advice="call .to_dense() on it before .to('mps')",
        source="pytorch #141711, #87886",
    )


def _stray(devices: Mapping[str, str]) -> Iterator[AuditFinding]:
    """Yield a finding for each tensor that is not where most are."""
    counted = Counter(devices.values()).most_common()
    for name, device in devices.items():
        if len(counted) > 1 and device != counted[0][0]:
            yield AuditFinding(
                kind="mixed devices",
                name=name,
                public=f"on {device}",
                effect=f"RuntimeError as soon as it meets the others, which are on {counted[0][0]}",
                advice="move model and inputs in one place: model.to(device), and every input .to(device)",
                source="pytorch #130790",
            )


def movable(tensor: Any) -> Any:
    """Return what MPS could hold in place of a tensor: dense, on the CPU, at most 32 bits a float.

    A meta tensor has no values; zeros stand for them.
    """
    if not isinstance(tensor, torch.Tensor):
        return tensor
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    dtype = REPLACEMENT.get(tensor.dtype, tensor.dtype)
    if tensor.is_meta:
        return torch.zeros(tensor.shape, dtype=dtype)
    return tensor.to("cpu", dtype)


def make_movable(model: nn.Module) -> None:
    """Replace, in place, what MPS could not hold among the parameters and buffers of a model; tied ones stay tied."""
    replaced: dict[int, torch.Tensor] = {}
    for module in model.modules():
        for name, parameter in list(module._parameters.items()):
            if parameter is not None and not _is_movable(parameter):
                made = replaced.get(id(parameter))
                if made is None:
                    dense = movable(parameter.detach())
                    made = replaced[id(parameter)] = nn.Parameter(dense, requires_grad=parameter.requires_grad)
                module._parameters[name] = made  # type: ignore[assignment]
        for name, buffer in list(module._buffers.items()):
            if buffer is not None and not _is_movable(buffer):
                module._buffers[name] = movable(buffer.detach())


def _is_movable(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and tensor.dtype not in REPLACEMENT and tensor.device.type == "cpu"
