"""Count the kernels of one's own: `torch.mps.compile_shader`, which no operator goes through.

A library outlives the block in which it was compiled, so its kernels are noted in the book of the block in which they
run. The notes below are set for the length of a block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# how the ledger calls a kernel of one's own: metal::NAME
METAL_NAMESPACE = "metal"
Note = Callable[[str], None]
# takes the name of each kernel that runs, from above (`counted_mps`) and from inside (`emulated_mps`)
counted_note: Note | None = None
emulated_note: Note | None = None


def note_emulated(name: str) -> None:
    """Note a kernel that ran on the emulated device."""
    if emulated_note is not None:
        emulated_note(f"{METAL_NAMESPACE}::{name}")


class CountedKernel:
    """A kernel that is noted each time it runs; in all else the kernel itself."""

    def __init__(self, kernel: Any, name: str) -> None:
        self._kernel = kernel
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel, and note that it ran."""
        result = self._kernel(*args, **kwargs)
        if counted_note is not None:
            counted_note(f"{METAL_NAMESPACE}::{self._name}")
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)


class CountedLibrary:
    """A library whose kernels are noted each time they run."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def __getattr__(self, name: str) -> CountedKernel:
        return CountedKernel(getattr(self._library, name), name)

    def __dir__(self) -> list[str]:
        return list(dir(self._library))


def counting(compile_shader: Callable[[str], Any]) -> Callable[[str], CountedLibrary]:
    """Return `compile_shader` with libraries whose kernels are noted."""

    def compile_and_count(source: str) -> CountedLibrary:
        return CountedLibrary(compile_shader(source))

    return compile_and_count
