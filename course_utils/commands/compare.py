"""`course compare`: does a model give on a device what it gives on the CPU in higher precision?"""

from __future__ import annotations

import argparse
import difflib
import json
from typing import TYPE_CHECKING, Any

from course_utils.commands import UsageError, require_torch

if TYPE_CHECKING:
    import torch

SUMMARY = "compare a model's numbers on a device with a higher-precision reference on the CPU"
DTYPES = ("float32", "float16", "bfloat16", "float64")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("model", metavar="FILE.py:make_model", help="a function that returns the model")
    parser.add_argument("--input", action="append", required=True, metavar="8x3x32x32", help="one for each argument")
    parser.add_argument("--integers-below", type=int, metavar="N", help="draw token numbers below N instead of normals")
    parser.add_argument("--dtype", action="append", metavar="DTYPE", help=f"one of {', '.join(DTYPES)}; repeatable")
    parser.add_argument("--device", help="where to compare (default: the picked device)")
    parser.add_argument("--train", action="store_true", help="leave the model in training mode (default: .eval())")
    parser.add_argument("--no-gradients", action="store_true", help="compare outputs only")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def parse_dtypes(names: list[str] | None) -> list[torch.dtype] | None:
    """Read the dtypes to compute in.

    Raises:
        UsageError: for an unknown one, with the nearest.
    """
    import torch

    for name in names or []:
        if name not in DTYPES:
            near = difflib.get_close_matches(name, DTYPES, n=1) or DTYPES
            raise UsageError(f"--dtype {name!r} is none of {', '.join(DTYPES)}; the nearest: {near[0]}")
    return [getattr(torch, name) for name in names] if names else None


def draw_inputs(shapes: list[str], integers_below: int | None) -> tuple[Any, ...]:
    """Draw the inputs on the CPU.

    Raises:
        UsageError: for what is no shape.
    """
    import torch

    from course_utils.model_file import parse_shape
    from course_utils.numerics import draw

    if integers_below is not None and integers_below < 1:
        raise UsageError(f"--integers-below is {integers_below}; it has to be at least 1")
    try:
        parsed = [parse_shape(shape) for shape in shapes]
    except ValueError as error:
        raise UsageError(f"--input {error}") from error
    if integers_below is None:
        return tuple(draw(*shape, seed=place) for place, shape in enumerate(parsed))
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randint(0, integers_below, shape, generator=generator) for shape in parsed)


def source_of(model: str, *, train: bool) -> str:
    """Write code that makes the model again, for the reproducer."""
    file, _, name = model.rpartition(":")
    return (
        "import importlib.util\n\n"
        f"spec = importlib.util.spec_from_file_location('model_file', {file!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        f"torch.manual_seed(0)\nfn = module.{name}()" + ("" if train else ".eval()")
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare and report.

    Returns:
        0 when the device agrees with the reference, 1 when there are findings.
    """
    require_torch()
    import torch

    from course_utils.model_file import make_model
    from course_utils.numerics import compare_numerics

    dtypes = parse_dtypes(arguments.dtype)
    inputs = draw_inputs(arguments.input, arguments.integers_below)
    try:
        torch.manual_seed(0)
        model = make_model(arguments.model)
        if isinstance(model, torch.nn.Module):
            model.train(arguments.train)
        report = compare_numerics(
            model,
            inputs,
            device=arguments.device,
            dtypes=dtypes,
            label=arguments.model,
            gradients=not arguments.no_gradients,
            source=source_of(arguments.model, train=arguments.train or not isinstance(model, torch.nn.Module)),
        )
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    print(json.dumps(report.to_dict(), indent=2) if arguments.json else report)
    return 0 if report.clean else 1
