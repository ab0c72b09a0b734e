"""`course audit`: which operators of a model's step MPS lacks or may refuse; or look one operator up."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from course_utils.cli.usage import UsageError, require_torch
from course_utils.reporting.error_text import first_line
from course_utils.reporting.near_names import suggest

if TYPE_CHECKING:
    import torch
    from torch import nn

    from course_utils.auditing import Audit
    from course_utils.operators import OperatorVerdict

LOSSES = ("cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits")
_OF_CLASSES = ("cross_entropy", "nll_loss")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("model", nargs="?", metavar="FILE.py:FUNCTION", help="a function that returns the model")
    parser.add_argument("--workload", metavar="NAME", help="a model of the course instead, such as resnet18")
    parser.add_argument("--op", metavar="NAME", help="look up an operator instead, such as aten::isin")
    parser.add_argument("--input", action="append", metavar="SHAPE", help="such as 8x3x224x224; once for each input")
    parser.add_argument("--input-dtype", action="append", metavar="DTYPE", help="of each input (default: float32)")
    parser.add_argument(
        "--mode", choices=("train", "eval"), default="train", help="a training step, or inference (default: train)"
    )
    parser.add_argument(
        "--loss", metavar="NAME", help=f"{', '.join(LOSSES)}, or a function in FILE.py (default: sum of the outputs)"
    )
    parser.add_argument("--optimizer", metavar="NAME", help="of torch.optim, such as adamw (default: sgd)")
    parser.add_argument("--release", metavar="X.Y.Z", help="a published torch instead of the installed one")
    parser.add_argument("--macos", metavar="X.Y", help="judge by this macOS (default: this machine's, or every macOS)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")


def run(arguments: argparse.Namespace) -> int:
    """Audit and report.

    Returns:
        0 when nothing was found, 1 when something was.
    """
    chosen = [name for name in ("model", "workload", "op") if getattr(arguments, name) is not None]
    if len(chosen) != 1:
        raise UsageError("give one of FILE.py:FUNCTION, --workload NAME and --op NAME")
    if chosen == ["op"]:
        return look_up(arguments.op, arguments.release, as_json=arguments.json)
    require_torch()
    if chosen == ["workload"] and (arguments.input or arguments.input_dtype):
        raise UsageError("--input has no part in --workload, which brings its own")
    found = audit_workload(arguments) if chosen == ["workload"] else audit_file(arguments)
    print(json.dumps(found.to_dict(), indent=2) if arguments.json else found)
    return 0 if found.clean else 1


def look_up(name: str, release: str | None, *, as_json: bool) -> int:
    """Print the verdicts of an operator's overloads.

    Returns:
        0 when every overload runs on MPS, 1 when not.
    """
    from dataclasses import asdict

    try:
        verdicts = find_verdicts(name, release)
    except (LookupError, ValueError, FileNotFoundError) as error:
        raise UsageError(str(error.args[0])) from error
    if as_json:
        print(json.dumps([asdict(verdict) for verdict in verdicts], indent=2))
    else:
        print("\n".join(map(str, verdicts)))
    return 0 if all(verdict.status in ("native", "composite") for verdict in verdicts) else 1


def find_verdicts(name: str, release: str | None) -> tuple[OperatorVerdict, ...]:
    """Return the verdicts on an operator by any name that a reader may know it by.

    Args:
        name: "aten::isin", "isin.Tensor_Tensor", "torchvision::nms", or a function such as "torch.linalg.svd".
        release: of torch, None for the installed one.

    Raises:
        LookupError: when there is no such operator.
    """
    from course_utils.operators import operator_table
    from course_utils.operators.libraries import library_verdict

    table = operator_table(release)
    if "::" in name and not name.startswith("aten::"):
        verdict = library_verdict(name, table.torch_release)
        if verdict is not None:
            return (verdict,)
    if name.startswith(("torch.", "F.")) and not name.startswith("torch.ops."):
        require_torch()
        from course_utils.auditing.public_names import operators_of

        found = [each for operator in operators_of(name) for each in (operator, *table.parts_of(operator))]
        known = [each for operator in dict.fromkeys(found) if (each := table.known_overloads(operator))]
        if known:
            return tuple(verdict for overloads in known for verdict in overloads)
        raise LookupError(f"no operator of aten was found behind {name}; audit a model that calls it instead")
    return table.overloads(name)


def audit_workload(arguments: argparse.Namespace) -> Audit:
    """Audit one of the course's models."""
    from torch.nn import functional

    from course_utils.benchmarking.workloads import load_workload

    try:
        model, inputs, targets = load_workload(arguments.workload).build()
    except ValueError as error:
        raise UsageError(str(error)) from error
    loss = find_loss(arguments.loss, {}) if arguments.loss else lambda out: functional.cross_entropy(out, targets)
    return _audit(model, inputs, loss, arguments)


def audit_file(arguments: argparse.Namespace) -> Audit:
    """Audit what a function in a file returns."""
    from torch import nn

    from course_utils.cli.model_file import load_function, make_inputs

    if not arguments.input:
        raise UsageError("--input is missing; give the shape of each input, such as --input 8x3x224x224")
    try:
        shapes = make_inputs(arguments.input, arguments.input_dtype or [])
        make_model = load_function(arguments.model)
    except ValueError as error:
        raise UsageError(str(error)) from error
    try:
        model = make_model()
    except (Exception, SystemExit) as error:  # the reader's code
        raise UsageError(f"{arguments.model} failed: {first_line(error)}") from error
    if not isinstance(model, nn.Module):
        raise UsageError(f"{arguments.model} returned {type(model).__name__}, not a torch.nn.Module")
    own = getattr(make_model, "__globals__", {})
    loss = find_loss(arguments.loss, own) if arguments.loss else None
    return _audit(model, tuple(map(_fill, shapes)), loss, arguments)


def _fill(shape: torch.Tensor) -> torch.Tensor:
    """Give a meta tensor numbers: random floats, or zeros of an integer dtype, which every embedding has."""
    import torch

    if shape.is_floating_point() or shape.is_complex():
        return torch.rand(shape.shape).to(shape.dtype)
    return torch.zeros(shape.shape, dtype=shape.dtype)


def _audit(model: nn.Module, inputs: Any, loss: Any, arguments: argparse.Namespace) -> Audit:
    from course_utils.auditing import ModelError, audit

    optimizer = find_optimizer(arguments.optimizer) if arguments.optimizer else None
    loss = loss if arguments.mode == "train" or arguments.loss else None
    options = {"mode": arguments.mode, "release": arguments.release, "macos": arguments.macos}
    try:
        return audit(model, inputs, loss=loss, optimizer=optimizer, **options)
    except (ModelError, LookupError, ValueError) as error:
        raise UsageError(str(error.args[0]) if error.args else first_line(error)) from error
    except (Exception, SystemExit) as error:  # the model's own code: how it is copied or moved, or a way out of Python
        raise UsageError(f"the model could not be audited: {first_line(error)}") from error


def find_loss(name: str, own: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Find a loss by name: one of `LOSSES`, with targets of zeros, or a function of the output in the reader's file.

    Raises:
        UsageError: when there is none.
    """
    import torch
    from torch.nn import functional

    if name not in LOSSES:
        if callable(own.get(name)):
            return own[name]  # type: ignore[no-any-return]
        raise UsageError(f"no loss is called {name!r}; {suggest(name, LOSSES)}")
    function = getattr(functional, name)

    def loss(output: torch.Tensor) -> Any:
        if name not in _OF_CLASSES:
            return function(output, torch.zeros_like(output))
        classes = torch.zeros(output.shape[:1] + output.shape[2:], dtype=torch.int64, device=output.device)
        return function(output, classes)

    return loss


def find_optimizer(name: str) -> Any:
    """Find an optimizer of torch.optim, whatever the case of its letters.

    Raises:
        UsageError: when there is none; the message has the nearest names.
    """
    from torch import optim

    known = {
        each.lower(): each
        for each, value in vars(optim).items()
        if isinstance(value, type) and issubclass(value, optim.Optimizer) and value is not optim.Optimizer
    }
    if name.lower() not in known:
        raise UsageError(f"torch.optim has no {name!r}; {suggest(name, known.values())}")
    return getattr(optim, known[name.lower()])
