"""Count which storages are alive while a model runs, by what they are for, and the peak.

The ledger sees every operator below autograd and enters the storage of each result; a weak reference takes it out
again when torch frees it. It counts meta and fake tensors like real ones, so nothing has to be allocated.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from course_utils.devices.dispatch_mode import DispatchMode

# what a storage can be for; "output" is the model's result where nothing saved it for the backward pass, "workspace"
# what no part claims: intermediate results, temporaries, the loss
CATEGORIES = (
    "parameters",
    "buffers",
    "inputs",
    "optimizer state",
    "gradients",
    "activations",
    "output",
    "workspace",
)


class StorageLedger(DispatchMode):
    """Counts live storages by category, and keeps the counts at the peak of each phase.

    While the mode is active, results of operators enter as "workspace". `file` moves a storage to another category:
    what is saved for the backward pass to "activations", what lands in `.grad` to "gradients".
    """

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[int, tuple[str, int, weakref.ref[torch.UntypedStorage]]] = {}
        self.live_bytes = dict.fromkeys(CATEGORIES, 0)
        self.total_bytes = 0
        self.largest_bytes = 0
        self.peaks_bytes: dict[str, dict[str, int]] = {}
        self.start_phase("")

    def start_phase(self, name: str) -> None:
        """Begin to count the peak of a phase."""
        self._phase = name
        self._phase_peak_bytes = self.total_bytes
        self.peaks_bytes[name] = dict(self.live_bytes)

    def raise_peak(self, category: str, n_bytes: int) -> None:
        """Add storages that the ledger did not see, alive at the peak of this phase so far, to that peak."""
        self._phase_peak_bytes += n_bytes
        self.peaks_bytes[self._phase][category] += n_bytes

    @property
    def peak_bytes(self) -> int:
        """The largest peak of a phase."""
        return sum(self.at_peak_bytes.values())

    @property
    def at_peak_bytes(self) -> dict[str, int]:
        """The counts at the largest peak of a phase, by category."""
        return max(self.peaks_bytes.values(), key=lambda counts: sum(counts.values()))

    def file(self, tensor: torch.Tensor, category: str, *, only_from: str | None = None) -> None:
        """Enter a tensor's storage under a category, or move it there.

        Args:
            tensor: the tensor; a storage counts once, however many tensors share it.
            category: one of `CATEGORIES`.
            only_from: move a storage only if it is in this category now; new ones enter in any case.
        """
        for storage in storages_of([tensor]):
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

    def category_of(self, storage: torch.UntypedStorage) -> str | None:
        """Return the category of a storage; None for one that is not counted."""
        known = self._entries.get(storage._cdata)
        return None if known is None else known[0]

    def _forget(self, key: int) -> Callable[[weakref.ref[torch.UntypedStorage]], None]:
        def forget(_: weakref.ref[torch.UntypedStorage]) -> None:
            category, n_bytes, _reference = self._entries.pop(key)
            self._count(category, -n_bytes)

        return forget

    def _count(self, category: str, n_bytes: int) -> None:
        self.live_bytes[category] += n_bytes
        self.total_bytes += n_bytes

    def _note_peak(self) -> None:
        # also when equal: a storage that was just claimed belongs to its new category at the peak too
        if self.total_bytes >= self._phase_peak_bytes:
            self._phase_peak_bytes = self.total_bytes
            self.peaks_bytes[self._phase] = dict(self.live_bytes)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self.file(leaf, "workspace", only_from="workspace")
        return result


def storages_of(tensors: Iterable[torch.Tensor]) -> Iterator[torch.UntypedStorage]:
    """Iterate over the storages of tensors; a sparse COO tensor has two."""
    for tensor in tensors:
        if tensor.layout == torch.strided:
            yield tensor.untyped_storage()
        elif tensor.layout == torch.sparse_coo:
            yield tensor._indices().untyped_storage()
            yield tensor._values().untyped_storage()
