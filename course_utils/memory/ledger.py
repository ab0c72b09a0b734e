"""Which storages are alive while a model runs, by what they are for, and how much that was at the worst moment.

The ledger sees every operator below autograd and enters the storage of each result; a weak reference takes it out
again when torch frees it. It counts meta and fake tensors like real ones, so nothing has to be allocated.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# what a storage can be for; "workspace" is what nobody claimed: results in flight, temporaries, the loss
CATEGORIES = ("parameters", "buffers", "inputs", "optimizer state", "gradients", "activations", "workspace")


class StorageLedger(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts live storages by category, and keeps the count of the worst moment.

    While the mode is active, results of operators enter as "workspace". `file` moves a storage to another category:
    what is saved for the backward pass to "activations", what lands in `.grad` to "gradients".
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._entries: dict[int, tuple[str, int, weakref.ref[torch.UntypedStorage]]] = {}
        self.live_bytes = dict.fromkeys(CATEGORIES, 0)
        self.total_bytes = 0
        self.peak_bytes = 0
        self.at_peak_bytes = dict(self.live_bytes)
        self.phase_peak_bytes = 0
        self.largest_bytes = 0

    def start_phase(self) -> None:
        """Begin to count the peak of a new phase."""
        self.phase_peak_bytes = self.total_bytes

    def file(self, tensor: torch.Tensor, category: str, *, only_from: str | None = None) -> None:
        """Enter a tensor's storage under a category, or move it there.

        Args:
            tensor: the tensor; a storage counts once, however many tensors share it.
            category: one of `CATEGORIES`.
            only_from: move a storage only if it is in this category now; new ones enter in any case.
        """
        for storage in _storages(tensor):
            key = storage._cdata
            known = self._entries.get(key)
            if known is not None and only_from is not None and known[0] != only_from:
                continue
            n_bytes = storage.nbytes()
            if known is not None:
                self._count(known[0], -known[1])
                reference = known[2]
            else:
                reference = weakref.ref(storage, self._forget(key))
            self._entries[key] = (category, n_bytes, reference)
            self._count(category, n_bytes)
            self.largest_bytes = max(self.largest_bytes, n_bytes)
        self._note_peak()

    def _forget(self, key: int) -> Callable[[weakref.ref[torch.UntypedStorage]], None]:
        def forget(_: weakref.ref[torch.UntypedStorage]) -> None:
            category, n_bytes, _reference = self._entries.pop(key)
            self._count(category, -n_bytes)

        return forget

    def _count(self, category: str, n_bytes: int) -> None:
        self.live_bytes[category] += n_bytes
        self.total_bytes += n_bytes

    def _note_peak(self) -> None:
        self.phase_peak_bytes = max(self.phase_peak_bytes, self.total_bytes)
        # also when equal: a storage that was just claimed belongs to its new category at the peak too
        if self.total_bytes >= self.peak_bytes:
            self.peak_bytes = self.total_bytes
            self.at_peak_bytes = dict(self.live_bytes)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self.file(leaf, "workspace", only_from="workspace")
        return result


def _storages(tensor: torch.Tensor) -> Iterator[torch.UntypedStorage]:
    """Find the storages of a tensor; a sparse one has two."""
    if tensor.layout == torch.strided:
        yield tensor.untyped_storage()
    elif tensor.layout == torch.sparse_coo:
        yield tensor._indices().untyped_storage()
        yield tensor._values().untyped_storage()
