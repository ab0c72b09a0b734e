"""`course compare`: does a model give on a device what it gives on the CPU in higher precision?"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from course_utils.cli import known
from course_utils.cli.usage import UsageError, require_torch
from course_utils.reporting.near_names import suggest

if TYPE_CHECKING:
    import torch

DTYPES = ("float32", "float16", "bfloat16", "float64")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("model", nargs="?", metavar="FILE.py:make_model", help="a function that returns the model")
    parser.add_argument("--input", action="append", metavar="SHAPE", help="such as 8x3x32x32; once for each input")
    parser.add_argument(
        "--input-dtype", action="append", default=[], metavar="DTYPE", help="of each input (default: float32)"
    )
    parser.add_argument(
        "--integers-below",
        type=int,
        default=10,
        metavar="N",
        help="integer inputs are drawn from 0 to N-1 (default: 10)",
    )
    parser.add_argument("--dtype", action="append", metavar="DTYPE", help=f"one of {', '.join(DTYPES)}; repeatable")
    parser.add_argument("--device", help="where to compare (default: the picked device)")
    parser.add_argument("--train", action="store_true", help="leave the model in training mode (default: .eval())")
    parser.add_argument("--no-gradients", action="store_true", help="compare outputs only")
    parser.add_argument(
        "--largest",
        type=int,
        metavar="N",
        help="try sizes up to N elements in the largest input, and twice the given size in any case (default: 131072; "
        "0: none above the given size)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    known.add_arguments(parser)


def parse_dtypes(names: list[str] | None) -> list[torch.dtype] | None:
    """Read the dtypes to compute in.

    Raises:
        UsageError: for an unknown one, with the nearest.
    """
    import torch

    for name in names or []:
        if name not in DTYPES:
            raise UsageError(f"--dtype {name!r} is none of {', '.join(DTYPES)}; {suggest(name, DTYPES)}")
    return [getattr(torch, name) for name in names] if names else None


def draw_inputs(shapes: list[str], dtypes: list[str], integers_below: int) -> tuple[torch.Tensor, ...]:
    """Draw the inputs on the CPU: normal numbers, or integers from 0 on.

    Raises:
        UsageError: for what is no shape or no dtype.
    """
    import torch

    from course_utils.cli.model_file import make_inputs
    from course_utils.numerics import draw

    if integers_below < 1:
        raise UsageError(f"--integers-below is {integers_below}; it has to be at least 1")
    try:
        wanted = make_inputs(shapes, dtypes)
    except ValueError as error:
        raise UsageError(str(error)) from error
    drawn = []
    for place, like in enumerate(wanted):
        if like.is_floating_point():
            drawn.append(draw(*like.shape, dtype=like.dtype, seed=place))
        else:
            generator = torch.Generator().manual_seed(place)
            drawn.append(torch.randint(0, integers_below, like.shape, generator=generator).to(like.dtype))
    return tuple(drawn)


def make_model(text: str, *, train: bool) -> Callable[..., Any]:
    """Call the function that `FILE.py:make_model` names, with a fixed seed.

    Raises:
        UsageError: when there is none, it raises, or it returns nothing to call.
    """
    import torch

    from course_utils.cli.model_file import load_function

    try:
        maker = load_function(text)
    except ValueError as error:
        raise UsageError(str(error)) from error
    torch.manual_seed(0)
    try:
        model = maker()
    except Exception as error:  # whatever a user's function raises is an answer
        first_line = (str(error).splitlines() or ["no reason given"])[0]
        raise UsageError(f"{text} raised {type(error).__name__}: {first_line}") from error
    if not callable(model):
        raise UsageError(f"{text} returned a {type(model).__name__}; it has to return the model")
    if isinstance(model, torch.nn.Module):
        model.train(train)
    made: Callable[..., Any] = model
    return made


def source_of(model: str, *, evaluating: bool) -> str:
    """Write code that makes the model again, for the reproducer."""
    file, _, name = model.rpartition(":")
    return (
        "import importlib.util\n\n"
        f"spec = importlib.util.spec_from_file_location('model_file', {file!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        f"torch.manual_seed(0)\nfn = module.{name}()" + (".eval()" if evaluating else "")
    )


def _progress() -> Callable[[str], None] | None:
    """Return what shows the question being asked in the last line of a terminal, or None without one."""
    if not sys.stderr.isatty():
        return None
    started = time.monotonic()

    def show(question: str) -> None:
        print(f"\r\033[K{time.monotonic() - started:4.0f} s  {question[:60]}", end="", file=sys.stderr, flush=True)

    return show


def _clear_progress() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def run(arguments: argparse.Namespace) -> int:
    """Compare and report.

    Returns:
        0 when the device agrees with the reference, 1 when there are findings.
    """
    if arguments.known or arguments.large:
        return known.run(arguments)
    if arguments.model is None or not arguments.input:
        raise UsageError("give FILE.py:make_model and --input SHAPE, or --known alone for the publicly known faults")
    if arguments.largest is not None and arguments.largest < 0:
        raise UsageError(f"--largest is {arguments.largest}; it has to be 0 or more elements")
    require_torch()
    import torch

    from course_utils.numerics import compare_numerics
    from course_utils.numerics.run import LARGEST_ELEMENTS

    dtypes = parse_dtypes(arguments.dtype)
    inputs = draw_inputs(arguments.input, arguments.input_dtype, arguments.integers_below)
    model = make_model(arguments.model, train=arguments.train)
    evaluating = isinstance(model, torch.nn.Module) and not arguments.train
    try:
        report = compare_numerics(
            model,
            inputs,
            device=arguments.device,
            dtypes=dtypes,
            label=arguments.model,
            gradients=not arguments.no_gradients,
            largest_elements=LARGEST_ELEMENTS if arguments.largest is None else arguments.largest,
            progress=_progress(),
            source=source_of(arguments.model, evaluating=evaluating),
        )
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    finally:
        _clear_progress()
    print(json.dumps(report.to_dict(), indent=2) if arguments.json else report)
    return 0 if report.clean else 1
