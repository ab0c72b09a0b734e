"""`course memory`: does a model fit into a Mac's memory; and what an out-of-memory message says."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from course_utils.cli.usage import UsageError, require_torch
from course_utils.memory.settings import MODES, OPTIMIZERS

if TYPE_CHECKING:
    from course_utils.memory.fit import Fit

SUMMARY = "say whether a model fits into a Mac's memory, or explain an out-of-memory message"
DTYPES = ("float32", "float16", "bfloat16")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "model", nargs="?", metavar="FILE.py:make_model", help="a function without arguments that returns the model"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SHAPE",
        help="such as 8x3x224x224, batch first; once for each input",
    )
    parser.add_argument(
        "--input-dtype", action="append", default=[], metavar="DTYPE", help="of each input (default: float32)"
    )
    parser.add_argument("--mode", choices=MODES, default="train", help="default: train")
    parser.add_argument("--dtype", choices=DTYPES, help="floating-point dtype of weights and inputs (default: as made)")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw", help="default: adamw")
    parser.add_argument("--chip", metavar="NAME", help="the Mac's chip, such as M4 (default: this machine)")
    parser.add_argument("--ram", type=float, metavar="GB", help="the Mac's RAM in GB, such as 16")
    parser.add_argument(
        "--explain", metavar="TEXT", help="explain this out-of-memory message; - reads it from standard input"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def estimate_and_fit(arguments: argparse.Namespace) -> Fit:
    """Load the model, estimate it, and hold it against the budget.

    Raises:
        UsageError: for anything that cannot be read, found or run; one sentence.
    """
    from course_utils.cli.model_file import load_function, make_inputs
    from course_utils.memory import estimate_memory, fits, memory_budget

    if arguments.model is None:
        raise UsageError("name a model, such as model.py:make_model, or paste a message after --explain")
    if not arguments.input:
        raise UsageError("give the shape of the input, such as --input 8x3x224x224")
    try:
        budget = memory_budget(arguments.chip, arguments.ram)
        require_torch()
        import torch

        inputs = make_inputs(arguments.input, arguments.input_dtype)
        estimate = estimate_memory(
            load_function(arguments.model),
            inputs,
            mode=arguments.mode,
            dtype=getattr(torch, arguments.dtype) if arguments.dtype else None,
            optimizer=arguments.optimizer,
            label=arguments.model,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    return fits(estimate, budget)


def explain(text: str, *, as_json: bool) -> None:
    """Print what an out-of-memory message says.

    Raises:
        UsageError: when the text holds no such message.
    """
    from course_utils.memory import explain_out_of_memory

    try:
        found = explain_out_of_memory(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise UsageError(str(error)) from error
    print(json.dumps(found.to_dict(), indent=2) if as_json else found)


def run(arguments: argparse.Namespace) -> int:
    """Estimate and judge, or explain.

    Returns:
        0 when the model fits comfortably (or a message was explained), 1 when it will page or is impossible.
    """
    if arguments.explain is not None:
        if arguments.model is not None:
            raise UsageError("either name a model or use --explain, not both")
        explain(arguments.explain, as_json=arguments.json)
        return 0
    fit = estimate_and_fit(arguments)
    if arguments.json:
        print(json.dumps(fit.to_dict(), indent=2))
    else:
        print(f"{fit.estimate}\n\n{fit.budget}\n\n{fit.summary}")
    return 0 if fit.comfortable else 1
