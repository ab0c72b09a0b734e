"""What every dispatch mode of the course is."""

from __future__ import annotations

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class DispatchMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A dispatch mode whose first operator does not load torch's compiler.

    torch wraps `__torch_dispatch__` so that the compiler leaves it alone, and loads the compiler for it: 2.5 s of a
    processor's time in each process (torch 2.14.1). Nothing of the course is compiled inside its own modes.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)  # type: ignore[no-untyped-call]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
