"""Which operators have an MPS kernel, as the emulated device needs to know it: one function, `mps_kernels`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import torch
import yaml  # type: ignore[import-untyped,unused-ignore]

# Hand-registered in aten/src/ATen/mps/MPSFallback.mm, read from the macOS wheels' libtorch_cpu.dylib.
_CPU_ALWAYS_BEFORE_2_14 = frozenset({"embedding_renorm_", "linalg_svd", "linalg_svd.U"})
_CPU_ALWAYS_SINCE_2_14 = frozenset({"embedding_renorm_"})
# torch/backends/mps/__init__.py registers a Python decomposition for these from 2.1 to 2.12
_PYTHON_REGISTERED_BEFORE_2_13 = frozenset({"native_group_norm", "native_group_norm_backward"})
# torchvision registers these for MPS itself (torchvision/csrc/ops/mps, 0.20 and later; deform_conv2d by 0.24)
_TORCHVISION = frozenset(
    f"torchvision::{name}"
    for base in ("roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool")
    for name in (base, f"_{base}_backward")
) | {"torchvision::nms", "torchvision::deform_conv2d"}


@dataclass(frozen=True)
class KernelTable:
    """The operators that a torch release runs on MPS.

    Args:
        torch_version: the release, such as "2.14.1".
        native: overloads of aten with an MPS kernel, such as "add.Tensor" or "linear".
        cpu_always: overloads of aten that run on the CPU with a warning, whatever the fallback variable says.
        other_native: qualified names outside aten with an MPS kernel, such as "torchvision::nms".
    """

    torch_version: str
    native: frozenset[str]
    cpu_always: frozenset[str]
    other_native: frozenset[str] = _TORCHVISION


@cache
def mps_kernels() -> KernelTable:
    """Return the kernels of the installed torch, from the native_functions.yaml in its wheel."""
    path = resources.files("torchgen") / "packaged/ATen/native/native_functions.yaml"
    entries = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    by_name = {entry["func"].partition("(")[0].strip(): entry for entry in entries}

    def is_native(name: str) -> bool:
        entry = by_name[name]
        keys = {key.strip() for group in entry.get("dispatch") or {} for key in group.split(",")}
        delegate = entry.get("structured_delegate")  # its variants run through the .out kernel
        return "MPS" in keys or (delegate is not None and is_native(delegate))

    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    native = frozenset(name for name in by_name if is_native(name))
    return KernelTable(
        torch_version=torch.__version__.partition("+")[0],
        native=native | (_PYTHON_REGISTERED_BEFORE_2_13 if release < (2, 13) else frozenset()),
        cpu_always=_CPU_ALWAYS_SINCE_2_14 if release >= (2, 14) else _CPU_ALWAYS_BEFORE_2_14,
    )
