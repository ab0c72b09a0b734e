"""Another set of the CPU's kernels, which adds in another order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def without_onednn() -> Iterator[None]:
    """Compute convolutions and products without oneDNN while the context is open.

    `torch.backends.mkldnn.flags` would set what it does not concern as well, and warn (torch 2.14).
    """
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)
