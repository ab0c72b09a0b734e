"""Read `FILE.py:make_model` and `8x3x224x224`: how commands name a model and the shape of its inputs."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_utils.reporting.error_text import first_line
from course_utils.reporting.near_names import suggest

if TYPE_CHECKING:
    import torch

COMMON_DTYPES = ("float32", "float16", "bfloat16", "int64", "int32", "uint8", "bool")
_SHAPE = re.compile(r"\d+(x\d+)*")


def parse_shape(text: str) -> tuple[int, ...]:
    """Read a shape such as "8x3x224x224".

    Raises:
        ValueError: when the text is not a shape, or a size is 0.
    """
    if _SHAPE.fullmatch(text.strip()) is None:
        raise ValueError(f"{text!r} is not a shape; write sizes with x between them, such as 8x3x224x224")
    sizes = tuple(map(int, text.split("x")))
    if 0 in sizes:
        raise ValueError(f"the shape {text!r} holds no element; every size has to be 1 or more")
    return sizes


def make_inputs(shapes: Sequence[str], dtypes: Sequence[str] = ()) -> tuple[torch.Tensor, ...]:
    """Make one input for each shape, as tensors on meta, which hold no numbers.

    Args:
        shapes: such as "8x3x224x224", one for each input.
        dtypes: a torch dtype's name for each input in turn, such as "int64" for token numbers; float32 where none is.

    Raises:
        ValueError: for a shape or dtype that cannot be read.
    """
    import torch

    if len(dtypes) > len(shapes):
        raise ValueError(f"there are {len(dtypes)} input dtypes for {len(shapes)} inputs; give one shape for each")
    inputs = []
    for index, text in enumerate(shapes):
        name = dtypes[index] if index < len(dtypes) else "float32"
        dtype = getattr(torch, name, None)
        if not isinstance(dtype, torch.dtype):
            raise ValueError(f"torch has no dtype {name!r}; {suggest(name, COMMON_DTYPES)}")
        inputs.append(torch.empty(parse_shape(text), dtype=dtype, device="meta"))
    return tuple(inputs)


def load_function(text: str) -> Callable[..., Any]:
    """Load the function that `FILE.py:make_model` names; the file runs as a module, with its folder importable.

    Raises:
        ValueError: when there is no such file or function (with the nearest names), or the file does not run.
    """
    file, colon, name = text.rpartition(":")
    if not colon or not file or not name.isidentifier():
        raise ValueError(f"{text!r} names no function in a file; write FILE.py:make_model")
    path = Path(file)
    if not path.is_file():
        raise ValueError(f"there is no file {file}; write FILE.py:make_model with a path from this folder")
    module = _run_file(path)
    found = getattr(module, name, None)
    if callable(found):
        return found  # type: ignore[no-any-return]
    if found is not None:
        raise ValueError(f"{name} in {file} is a {type(found).__name__}; it has to be a function that returns a model")
    own = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
    raise ValueError(f"{file} has no function {name!r}; {suggest(name, own)}")


def _run_file(path: Path) -> Any:
    """Run a Python file as a module."""
    spec = importlib.util.spec_from_file_location(f"model_file_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file; its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the file may raise whatever it likes
        raise ValueError(f"{path} does not run: {first_line(error)}") from error
    finally:
        sys.path.remove(folder)
    return module
