"""`course memory`: does a model fit into a Mac's memory; and what a text about memory means."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from course_utils.cli.usage import UsageError, require_torch
from course_utils.memory.settings import MODES, OPTIMIZERS

if TYPE_CHECKING:
    from course_utils.memory.fit import Fit

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
    parser.add_argument("--mode", choices=MODES, default="train", help="a training step, or inference (default: train)")
    parser.add_argument("--dtype", choices=DTYPES, help="floating-point dtype of weights and inputs (default: as made)")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adamw", help="default: adamw")
    parser.add_argument(
        "--accumulate", type=int, default=1, metavar="N", help="batches whose gradients are summed before a step"
    )
    parser.add_argument(
        "--context", type=int, metavar="TOKENS", help="count the KV cache of this many tokens (--mode eval)"
    )
    parser.add_argument("--layers", type=int, metavar="N", help="the decoder's layers, for --context")
    parser.add_argument("--kv-heads", type=int, metavar="N", help="its key and value heads, for --context")
    parser.add_argument("--head-width", type=int, metavar="N", help="the width of one head, for --context")
    parser.add_argument("--chip", metavar="NAME", help="the Mac's chip, such as M4 (default: this machine)")
    parser.add_argument("--ram", type=float, metavar="GB", help="the Mac's RAM in GB, such as 16")
    parser.add_argument(
        "--wired-limit", type=int, metavar="MB", help="that Mac's iogpu.wired_limit_mb, where it was raised by hand"
    )
    parser.add_argument(
        "--explain",
        metavar="TEXT",
        help="explain this text of an error or a program's end; - reads it from standard input",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def estimate_and_fit(arguments: argparse.Namespace) -> Fit:
    """Load the model, estimate it, and hold it against the budget.

    Raises:
        UsageError: for anything that cannot be read, found or run; one sentence.
    """
    from course_utils.cli.model_file import load_function, make_inputs
    from course_utils.memory import estimate_memory, fits, memory_budget
    from course_utils.memory.decoder import CacheShape

    if arguments.model is None:
        raise UsageError("name a model, such as model.py:make_model, or paste a message after --explain")
    if not arguments.input:
        raise UsageError("give the shape of the input, such as --input 8x3x224x224")
    try:
        budget = memory_budget(arguments.chip, arguments.ram, wired_limit_mb=arguments.wired_limit)
        cache = cache_shape(arguments)
        require_torch()
        import torch

        inputs = make_inputs(arguments.input, arguments.input_dtype)
        estimate = estimate_memory(
            load_function(arguments.model),
            inputs,
            mode=arguments.mode,
            dtype=getattr(torch, arguments.dtype) if arguments.dtype else None,
            optimizer=arguments.optimizer,
            accumulate_steps=arguments.accumulate,
            decoder=None if cache is None else CacheShape(*cache),
            cached_tokens=arguments.context or 0,
            label=arguments.model,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    return fits(estimate, budget)


def cache_shape(arguments: argparse.Namespace) -> tuple[int, int, int] | None:
    """Return layers, key and value heads and head width of the KV cache to count; None for no cache.

    Raises:
        UsageError: when some of the options that belong together are missing.
    """
    sizes = (arguments.layers, arguments.kv_heads, arguments.head_width)
    if arguments.context is None and sizes == (None, None, None):
        return None
    if None in (arguments.context, *sizes):
        raise UsageError(
            "--context, --layers, --kv-heads and --head-width belong together: the tokens that the KV cache holds, and "
            "what it holds of each (a model's card has them)"
        )
    if arguments.mode != "eval":
        raise UsageError("a KV cache belongs to generation: give --mode eval with --context")
    return sizes


def explain(text: str, *, as_json: bool) -> None:
    """Print what a text about memory, or about a program that ended, means.

    Raises:
        UsageError: when the text holds none that is known.
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
        0 when the model fits comfortably (or a text was explained), 1 when it is tight, will page or is impossible.
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
