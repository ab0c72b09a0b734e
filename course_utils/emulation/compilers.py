"""torch.compile, torch.export and pickles inside a block of the emulated device.

Compiled code would leave the device's kernels: Dynamo and export trace with fake tensors, which know real devices only.
So compiled functions run eagerly in the block, with a warning in the ledger, and export names what to do instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

import torch
import torch.export

from course_utils.emulation.ledger import Direction
from course_utils.emulation.patches import Patch
from course_utils.emulation.runtime import Runtime
from course_utils.emulation.tensor import data_of_storage

_EAGER = "torch.compile was left out: on the emulated device compiled functions run eagerly, so fusion is not seen"


def compiler_patches(runtime: Runtime) -> Iterator[Patch]:
    """List what replaces torch's compilers and the writer of pickles."""

    def compile_eagerly(model: Callable[..., Any] | None = None, **_: Any) -> Any:
        runtime.recorder.warnings.append(_EAGER)
        return (lambda function: function) if model is None else model

    def refuse_export(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(
            "torch.export cannot trace the emulated MPS device; export the model on the CPU, and move the exported "
            "program with torch.export.passes.move_to_device_pass(program, 'mps')"
        )

    def through_host(name: str, direction: Direction) -> Patch:
        original: Any = getattr(torch.UntypedStorage, name)

        def through(storage: torch.UntypedStorage, *args: Any) -> Any:
            data = data_of_storage(storage)
            if data is None:
                return original(storage, *args)
            runtime.recorder.note_copy(direction, storage.nbytes(), blocking=True, cause="pickle")
            original(data.untyped_storage(), *args)
            return storage

        return torch.UntypedStorage, name, through

    yield torch, "compile", compile_eagerly
    yield torch.export, "export", refuse_export
    yield through_host("_write_file", "to cpu")
    yield through_host("_set_from_file", "to mps")


def eager_compiled_functions() -> AbstractContextManager[Any]:
    """Return a context in which functions that torch.compile made before run eagerly."""
    if "torch._dynamo" not in sys.modules:
        return nullcontext()  # nothing was compiled in this process
    stance: AbstractContextManager[Any] = torch.compiler.set_stance("force_eager")
    return stance
