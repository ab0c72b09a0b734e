"""Count the kernels of one's own on a real MPS device: `torch.mps.compile_shader`, which no operator goes through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# how the ledger calls a kernel of one's own: metal::NAME
METAL_NAMESPACE = "metal"
Note = Callable[[str], None]


class CountedKernel:
    """A kernel that is noted each time it runs; in all else the kernel itself."""

    def __init__(self, kernel: Any, name: str, note: Note) -> None:
        self._kernel = kernel
        self._name = name
        self._note = note

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel, and note that it ran."""
        result = self._kernel(*args, **kwargs)
        self._note(f"{METAL_NAMESPACE}::{self._name}")
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


class CountedLibrary:
    """A library whose kernels are noted each time they run."""

    def __init__(self, library: Any, note: Note) -> None:
        self._library = library
        self._note = note

    def __getattr__(self, name: str) -> CountedKernel:
        return CountedKernel(getattr(self._library, name), name, self._note)

    def __dir__(self) -> list[str]:
        return list(dir(self._library))


def counting(compile_shader: Callable[[str], Any], note: Note) -> Callable[[str], CountedLibrary]:
    """Return `compile_shader` with libraries whose kernels are noted."""

    def compile_and_count(source: str) -> CountedLibrary:
        return CountedLibrary(compile_shader(source), note)

    return compile_and_count
