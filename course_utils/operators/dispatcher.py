"""What torch's dispatcher itself has registered for MPS, on a torch built with MPS; compared with the yaml.

Elsewhere (Linux) the dispatcher holds no MPS kernel, and the yaml alone answers.
"""

from __future__ import annotations

import platform
from collections.abc import Set
from dataclasses import dataclass


def registrations(dispatch_key: str) -> frozenset[str]:
    """Ask the dispatcher which aten overloads have a kernel of their own for a key; imports torch.

    Args:
        dispatch_key: such as "MPS" or "CPU".

    Returns:
        Names without "aten::".
    """
    import torch

    names: list[str] = torch._C._dispatch_get_registrations_for_dispatch_key(dispatch_key)
    return frozenset(name.removeprefix("aten::") for name in names if name.startswith("aten::"))


def registered_for_mps() -> frozenset[str] | None:
    """Ask the dispatcher about MPS where torch was built with it; None on any other machine, without torch."""
    if platform.system() != "Darwin":
        return None
    import torch

    return registrations("MPS") if torch.backends.mps.is_built() else None


@dataclass(frozen=True)
class DispatcherDifference:
    """Where the dispatcher and the rules disagree; names without "aten::".

    Args:
        unexpected: registered for MPS although the rules know of no kernel.
        lacking: not registered although the rules promise a kernel.
    """

    unexpected: tuple[str, ...]
    lacking: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each direction in which they disagree."""
        found = []
        if self.unexpected:
            found.append(
                f"the dispatcher has {len(self.unexpected)} MPS kernels that the yaml does not show "
                f"({_some(self.unexpected)}); they may be native or CPU fallbacks registered by hand"
            )
        if self.lacking:
            found.append(
                f"the dispatcher lacks {len(self.lacking)} MPS kernels that the yaml promises ({_some(self.lacking)})"
            )
        return tuple(found)


def compare(registered: Set[str], expected: Set[str], allowed: Set[str] = frozenset()) -> DispatcherDifference:
    """Compare what is registered with what the rules expect.

    Args:
        registered: the overloads that the dispatcher names.
        expected: those that the rules say must be registered.
        allowed: those that may or may not be, such as registrations from Python that happen on first use.
    """
    return DispatcherDifference(
        unexpected=tuple(sorted(registered - expected - allowed)),
        lacking=tuple(sorted(expected - registered)),
    )


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
