"""Compare a callable on a device with a higher-precision reference on the CPU, question after question.

The order: does it run, is it repeatable with itself, shape and dtype, non-finite values, error, gradients, each
operator on its own; then other values, other strides, sums without rounding, future tokens, other sizes, an optimizer
step. The first fault ends it: one fault, one name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from course_utils import emulation
from course_utils.devices import probe as device_probe
from course_utils.devices.machine import this_machine
from course_utils.numerics.questions.as_given import check_as_given
from course_utils.numerics.questions.causality import check_causality
from course_utils.numerics.questions.exact_sums import check_exact_sums
from course_utils.numerics.questions.gradients import MakeOptimizer, smooth_adam
from course_utils.numerics.questions.layouts import check_layouts
from course_utils.numerics.questions.optimizer_step import check_step
from course_utils.numerics.questions.session import ComparisonRecord, ComparisonSetting, FailingInputs
from course_utils.numerics.questions.sizes import check_sizes
from course_utils.numerics.questions.values import check_values
from course_utils.numerics.reference.expected import Expected, reference_dtype, sharing_references
from course_utils.numerics.report.findings import in_order
from course_utils.numerics.report.numerics_report import NumericsReport
from course_utils.numerics.report.reproducer import write_reproducer
from course_utils.numerics.report.shrink import shrink
from course_utils.numerics.running.attempts import Answer, Refusal
from course_utils.numerics.running.runners import DeviceRunner, Fn, TorchDevice
from course_utils.numerics.tensors.inputs import Inputs, cast_inputs, check_inputs

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
LARGEST_ELEMENTS = 2**17


def compare_numerics(
    fn: Callable[..., Any],
    inputs: Sequence[Any],
    *,
    device: str | torch.device | DeviceRunner | None = None,
    dtypes: Sequence[torch.dtype] | None = None,
    label: str | None = None,
    causal: bool | int | None = None,
    gradients: bool = True,
    optimizer: MakeOptimizer = smooth_adam,
    largest_elements: int = LARGEST_ELEMENTS,
    seed: int = 0,
    source: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> NumericsReport:
    """Compare what a callable gives on a device with what it should give.

    The reference is the callable on the CPU in float64 where it runs in it, else in float32; the report says which.

    Args:
        fn: a callable, or a module, which is copied; the callable must not move tensors to a device itself.
        inputs: its positional arguments, on the CPU; nothing is drawn on the device (pytorch #84288).
        device: a device's name, or an object with `name` and `run(fn, inputs)`, such as `FaultyDevice`; by default
            the picked device. Where that is the CPU, the CPU is compared with itself in higher precision.
        dtypes: the floating-point dtypes to compute in; by default the one of the inputs, else of the module.
        label: what is compared; by default the callable's name.
        causal: whether later tokens must not change earlier outputs: None finds out from the reference, True or a
            dimension demands it, False does not look.
        gradients: whether gradients and, for a module, one optimizer step are compared too.
        optimizer: makes the optimizer of that step from the parameters.
        largest_elements: sizes are tried up to so many elements in the largest input, and twice the given size in any
            case; 0 tries none above the given one.
        seed: of everything that is drawn here, and set before every call of `fn`.
        source: code that defines `fn`, for the reproducer.
        progress: called with the name of each question before it is put.

    Returns:
        The report; `clean` where nothing was found.

    Raises:
        TypeError: when `fn` cannot be called or `inputs` is not a tuple.
        ValueError: when the device does not work here, a dtype is none, or `fn` does not run on the CPU at all.
    """
    if not callable(fn):
        raise TypeError(f"there is nothing to call: fn is a {type(fn).__name__}; pass the function itself, without ()")
    check_inputs(inputs)
    runner, warnings = _runner(device)
    wanted = _Wanted(causal, gradients, optimizer, largest_elements)
    records: list[ComparisonRecord] = []
    with torch.random.fork_rng(devices=[]):
        for dtype in _dtypes(dtypes, fn, tuple(inputs)):
            lower = cast_inputs(tuple(inputs), dtype)
            precision = reference_dtype(fn, lower, dtype)
            setting = ComparisonSetting(fn, runner, dtype, precision, seed, _looks(runner))
            record = ComparisonRecord(setting, progress or (lambda name: None))
            _check(record, lower, wanted)
            records.append(record)
        reproducer = _reproducer(records, source)
    return NumericsReport(
        label=label or str(getattr(fn, "__name__", type(fn).__name__)),
        device=runner.name,
        findings=in_order([finding for record in records for finding in record.findings]),
        undecided=tuple(finding for record in records for finding in record.undecided),
        cases=tuple(case for record in records for case in record.cases),
        references={record.setting.dtype_name: str(record.setting.precision)[6:] for record in records},
        asked=tuple(record.asked for record in records),
        not_asked=tuple(entry for record in records for entry in record.not_asked),
        machine=this_machine(),
        reproducer=reproducer,
        warnings=tuple(dict.fromkeys([*warnings, *(text for record in records for text in record.warnings)])),
    )


def _runner(device: str | torch.device | DeviceRunner | None) -> tuple[DeviceRunner, list[str]]:
    if isinstance(device, DeviceRunner):
        return device, []
    runner = TorchDevice(device if device is not None else device_probe.pick_device())
    warnings = []
    if runner.device.type == "cpu":
        warnings.append(
            "the device is the CPU: it was compared with itself in higher precision, which says nothing about MPS"
        )
    if runner.device.type == "mps" and emulation.is_active():
        warnings.append("the MPS device is emulated and computes on the CPU: its numbers say nothing about a Mac's GPU")
    return runner, warnings


def _looks(runner: DeviceRunner) -> bool:
    """Return whether looking at each operator can tell anything: not where the CPU computes itself."""
    return not isinstance(runner, TorchDevice) or (runner.device.type != "cpu" and not emulation.is_active())


def _dtypes(asked: Sequence[torch.dtype] | None, fn: Fn, inputs: Inputs) -> tuple[torch.dtype, ...]:
    if asked is None:
        tensors = [leaf for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor)]
        tensors += list(fn.parameters()) if isinstance(fn, nn.Module) else []
        return (next((t.dtype for t in tensors if t.is_floating_point()), torch.float32),)
    for dtype in asked:
        if dtype not in FLOATS:
            names = ", ".join(str(known) for known in FLOATS)
            raise ValueError(f"dtypes holds {dtype!r}; a comparison computes in {names}")
    if not asked:
        raise ValueError("dtypes is empty; name at least one, such as torch.float32")
    return tuple(asked)


@dataclass(frozen=True)
class _Wanted:
    """Which questions are asked beyond the inputs as given."""

    causal: bool | int | None
    gradients: bool
    optimizer: MakeOptimizer
    largest_elements: int


def _check(record: ComparisonRecord, inputs: Inputs, wanted: _Wanted) -> None:
    """Put all questions in one dtype, and stop at the first fault: what follows would name it again."""
    given = check_as_given(record, inputs, gradients=wanted.gradients, causal=wanted.causal)
    if given is None:
        return
    expected, first = given
    for name, check in _later_questions(record, inputs, expected, first, wanted):
        if record.findings:
            record.skip(name, "a fault was found before")
            continue
        if name == "sizes" and not sharing_references():
            expected.release()  # from here on its numbers are not asked for
        check()


def _later_questions(
    record: ComparisonRecord, inputs: Inputs, expected: Expected, first: Answer, wanted: _Wanted
) -> list[tuple[str, Callable[[], object]]]:
    questions: list[tuple[str, Callable[[], object]]] = [
        ("other values", lambda: check_values(record, inputs, expected, first)),
        ("layouts", lambda: check_layouts(record, inputs, expected)),
        ("exact sums", lambda: check_exact_sums(record, inputs) if expected.trace.sums else None),
        ("future tokens", lambda: check_causality(record, inputs, expected, wanted.causal)),
        ("sizes", lambda: check_sizes(record, inputs, expected, wanted.largest_elements)),
    ]
    if expected.call.gradients:
        questions.append(("optimizer step", lambda: check_step(record, inputs, expected, wanted.optimizer)))
    return questions


def _reproducer(records: list[ComparisonRecord], source: str | None) -> str:
    record = next((record for record in records if record.shown), None)
    if record is None:
        return ""
    shown, setting = record.shown[0], record.setting
    inputs = shrink(shown.inputs, lambda smaller: _still_fails(record, shown, smaller))
    return write_reproducer(
        setting.fn,
        shown.laid_out(inputs) or inputs,
        setting.runner,
        form=shown.form,
        dtype=setting.dtype,
        precision=setting.precision,
        parameter_layout=shown.parameter_layout,
        source=source,
    )


def _still_fails(record: ComparisonRecord, shown: FailingInputs, smaller: Inputs) -> bool:
    """Return whether smaller inputs show the same; only outputs are tried, the other forms keep their inputs."""
    from course_utils.numerics.questions.session import NumericsQuestion

    laid_out = shown.laid_out(smaller)
    if shown.form != "forward" or shown.parameter_layout or laid_out is None:
        return False
    expected = record.expect(smaller, gradients=False)
    if isinstance(expected, Refusal):
        return False
    question = NumericsQuestion("smaller", expected, record.setting.lower, laid_out, False, shown)
    return not record.ask(question, quiet=True).right
