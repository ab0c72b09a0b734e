"""The streams of the emulated device: queues whose work is always done.

`torch.accelerator` has given a stream since torch 2.6, and from 2.15 on Adam asks it at each step whether it is being
captured. `torch.mps.Stream` came with 2.15. In a build without MPS every question to a stream of "mps" is aborted
with "PyTorch is not linked with support for mps devices", so Python answers here as MPS does
(c10/core/impl/DeviceGuardImplInterface.h, ATen/mps/MPSGuardImpl.h and torch/mps/streams.py of torch 2.15).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any, NoReturn

import torch
import torch.mps

from course_utils.emulation.runtime import Runtime

_DEVICE_TYPE = 13  # c10::DeviceType::MPS
_DEFAULT_ID = 0
# MPS keeps a pool of 32 streams beside the default one (pytorch #190375)
_POOLED_IDS = range(1, 33)


class AcceleratorStream(torch.Stream):
    """What `torch.accelerator.current_stream()` gives; MPS leaves most questions to the interface, which refuses."""

    def __new__(cls, stream_id: int = _DEFAULT_ID) -> AcceleratorStream:
        """Make a stream of the device with an id."""
        return super().__new__(cls, stream_id=stream_id, device_index=0, device_type=_DEVICE_TYPE)

    def is_capturing(self) -> bool:
        """Return False: MPS captures no graphs."""
        return False

    def query(self) -> NoReturn:
        """Refuse, as on a Mac."""
        raise RuntimeError("Backend doesn't support querying streams.")

    def synchronize(self) -> None:
        """Refuse, as on a Mac."""
        raise RuntimeError("Backend doesn't support synchronizing streams.")


def stream_patches(runtime: Runtime) -> Iterator[tuple[Any, str, Any]]:
    """List what Python can ask about streams: owner, attribute, replacement; those of torch.mps came with 2.15."""
    yield torch._C, "_accelerator_getStream", lambda _=0: AcceleratorStream()
    yield torch._C, "_accelerator_setStream", lambda _: None
    streams: Any = getattr(torch.mps, "streams", None)
    if streams is None:
        return
    made = _make_stream(lambda: runtime.recorder.note_wait("", "torch.mps.Stream.synchronize", "synchronize"))
    current = [made(stream_id=_DEFAULT_ID)]
    yield torch._C, "_mps_getCurrentStream", lambda: current[0]
    yield torch._C, "_mps_setStream", lambda stream: current.__setitem__(0, stream)
    yield torch.mps, "Stream", made
    yield streams, "Stream", made


def _make_stream(note_wait: Callable[[], None]) -> Callable[..., Any]:
    """Make the class that stands in for torch.mps.Stream; waiting for one notes a host wait."""
    pooled = cycle(_POOLED_IDS)

    class Stream(AcceleratorStream):
        """A queue of the emulated device; without an id the next one of the pool."""

        def __new__(cls, *, stream_id: int | None = None) -> Stream:
            found = super().__new__(cls, next(pooled) if stream_id is None else stream_id)
            assert isinstance(found, cls)
            return found

        def synchronize(self) -> None:
            """Count a host wait."""
            note_wait()

        def __repr__(self) -> str:
            return f"<torch.mps.Stream stream_id={self.stream_id}>"

    return Stream
