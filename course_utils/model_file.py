"""Read `FILE.py:make_model` and `8x3x224x224`: how commands name a model and the shape of its inputs."""

from __future__ import annotations

import difflib
import importlib.util
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

DTYPES = ("float32", "float16", "bfloat16", "float64", "int64", "int32", "int8", "uint8", "bool")
_SHAPE = re.compile(r"(?P<sizes>\d+(?:x\d+)*)(?::(?P<dtype>\w+))?", re.IGNORECASE)


@dataclass(frozen=True)
class InputShape:
    """The shape and dtype of one input.

    Args:
        sizes: the size of each dimension.
        dtype: a torch dtype's name, such as "float32".
    """

    sizes: tuple[int, ...]
    dtype: str = "float32"

    def make(self, device: str = "cpu") -> torch.Tensor:
        """Make a tensor of zeros of this shape."""
        import torch

        return torch.zeros(self.sizes, dtype=getattr(torch, self.dtype), device=device)

    def __str__(self) -> str:
        return f"{'x'.join(map(str, self.sizes))}:{self.dtype}"


def parse_shape(text: str) -> InputShape:
    """Read a shape such as "8x3x224x224", or "8x128:int64" for token numbers.

    Raises:
        ValueError: when the text is no shape, a size is 0, or the dtype is unknown (with the nearest names).
    """
    found = _SHAPE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no shape; write sizes with x between them, such as 8x3x224x224 or 8x128:int64")
    sizes = tuple(int(size) for size in found["sizes"].lower().split("x"))
    if math.prod(sizes) == 0:
        raise ValueError(f"the shape {text!r} holds no element; every size has to be 1 or more")
    dtype = (found["dtype"] or "float32").lower()
    if dtype not in DTYPES:
        near = difflib.get_close_matches(dtype, DTYPES, n=3, cutoff=0.4) or list(DTYPES)
        raise ValueError(f"no input can have the dtype {dtype!r}; the nearest: {', '.join(near)}")
    return InputShape(sizes, dtype)


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
    near = difflib.get_close_matches(name, own, n=3, cutoff=0.4) or own
    raise ValueError(f"{file} has no function {name!r}; " + (f"the nearest: {', '.join(near)}" if near else "it has none"))


def _run_file(path: Path) -> Any:
    """Run a Python file as a module."""
    spec = importlib.util.spec_from_file_location(f"model_file_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no Python file; its name has to end in .py")
    module = importlib.util.module_from_spec(spec)
    folder = str(path.resolve().parent)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the file may raise whatever it likes
        first_line = (str(error).splitlines() or [""])[0]
        raise ValueError(f"{path} does not run: {type(error).__name__}: {first_line}") from error
    finally:
        sys.path.remove(folder)
    return module
