"""Random numbers of the emulated device: a stream of its own, as on a Mac.

The MPS generator and the CPU's differ by design: the same seed gives other numbers (pytorch #84288), and
drawing on the device does not move the CPU's stream. So the device's generator is a CPU generator whose
seed is changed on the way in.
"""

from __future__ import annotations

from typing import Any, ClassVar
from weakref import WeakValueDictionary

import torch

DEVICE = torch.device("mps", 0)
# any constant does; it only has to make the two streams differ
_OTHER_STREAM = 0x5DEECE66D


class EmulatedGenerator(torch._C.Generator):
    """A generator that says it belongs to the device; only its numbers come from the CPU's algorithm."""

    _seed = 0
    # C++ hands kernels a new Python object for the same generator, so it is known by its address
    _living: ClassVar[WeakValueDictionary[int, EmulatedGenerator]] = WeakValueDictionary()

    def __new__(cls) -> EmulatedGenerator:
        """Start as a CPU generator with the device's default seed."""
        generator = super().__new__(cls)
        generator.manual_seed(0)
        cls._living[generator._cdata] = generator  # type: ignore[attr-defined]
        return generator

    @classmethod
    def is_on_device(cls, generator: torch._C.Generator) -> bool:
        """Return whether a generator, in whatever Python object, is one of the device's."""
        return generator._cdata in cls._living  # type: ignore[attr-defined]

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The emulated device."""
        return DEVICE

    def manual_seed(self, seed: int) -> EmulatedGenerator:
        """Restart the stream; the seed is the one that `initial_seed` gives back."""
        self._seed = int(seed)
        super().manual_seed((self._seed ^ _OTHER_STREAM) & 0x7FFF_FFFF_FFFF_FFFF)
        return self

    def seed(self) -> int:
        """Restart the stream from an unpredictable seed and return it."""
        self.manual_seed(super().seed())
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed that the stream was started from."""
        return self._seed


class _EitherDevice(type):
    """Makes `isinstance(g, torch.Generator)` true for torch's own generators as well."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, torch._C.Generator)


class GeneratorFactory(metaclass=_EitherDevice):
    """Stands in for `torch.Generator` while the device is on, because C++ refuses device="mps" here."""

    def __new__(cls, device: Any = "cpu") -> Any:
        """Make a generator of the device asked for."""
        if torch.device(device).type == "mps":
            return EmulatedGenerator()
        return torch._C.Generator(device)
