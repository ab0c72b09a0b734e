"""Compare a callable on a device with a higher-precision reference on the CPU, question after question.

The order: does it run, is it repeatable with itself, shape and dtype, non-finite values, error; then the same values
in other strides, larger integers, sums without rounding, other sizes, future tokens, gradients and an optimizer step.
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
from course_utils.numerics.questions import checks
from course_utils.numerics.questions.backward import check_gradients
from course_utils.numerics.questions.gradients import MakeOptimizer, cotangents_for, slope_disagreement, smooth_adam
from course_utils.numerics.questions.in_place import forgotten_write
from course_utils.numerics.questions.layers import first_nonfinite_layer
from course_utils.numerics.questions.layouts import check_layouts
from course_utils.numerics.questions.record import ComparisonRecord, ComparisonSetting, FailingInputs
from course_utils.numerics.questions.sizes import doubled
from course_utils.numerics.reference.answer import (
    Reference,
    ReferenceOptions,
    draws_random_numbers,
    make_reference,
    reference_dtype,
)
from course_utils.numerics.reference.differences import OutputDifference, compare_outputs
from course_utils.numerics.report.findings import in_order
from course_utils.numerics.report.numerics_report import NumericsReport
from course_utils.numerics.report.reproducer import write_reproducer
from course_utils.numerics.report.shrink import shrink
from course_utils.numerics.running.runners import DeviceRunner, Fn, TorchDevice, observed, run_on_cpu
from course_utils.numerics.tensors.inputs import Inputs, cast_inputs, check_inputs, fresh, leading_size
from course_utils.numerics.tensors.leaves import OutputLeaf, flatten, same_bits
from course_utils.reporting.error_text import first_line

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


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
    reduction_length: int | None = None,
    accumulator: torch.dtype = torch.float32,
    largest_elements: int = 2**14,
    seed: int = 0,
    source: str | None = None,
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
        reduction_length: K of the tolerance where tracing cannot find it.
        accumulator: the dtype in which an honest kernel adds up; half precision ones add in float32.
        largest_elements: sizes are tried up to so many elements in the largest input.
        seed: of everything that is drawn here, and set before every call of `fn`.
        source: code that defines `fn`, for the reproducer.

    Returns:
        The report; `clean` where nothing was found.

    Raises:
        TypeError: when `fn` cannot be called or `inputs` is no tuple.
        ValueError: when the device does not work here, a dtype is none, or `fn` does not run on the CPU at all.
    """
    if not callable(fn):
        raise TypeError(f"there is nothing to call: fn is a {type(fn).__name__}; pass the function itself, without ()")
    check_inputs(inputs)
    runner, warnings = _runner(device)
    options = ReferenceOptions(accumulator=accumulator, reduction_length=reduction_length, seed=seed)
    wanted = _Wanted(causal, gradients, optimizer, largest_elements)
    records: list[ComparisonRecord] = []
    tolerances = []
    with torch.random.fork_rng(devices=[]):
        for dtype in _dtypes(dtypes, fn, tuple(inputs)):
            lower = cast_inputs(tuple(inputs), dtype)
            setting = ComparisonSetting(fn, runner, dtype, reference_dtype(fn, lower, dtype), options)
            reference = make_reference(observed(fn), lower, dtype, options, setting.precision)
            tolerances.append(reference.tolerance)
            record = ComparisonRecord(setting, warnings=_warnings(reference))
            _check(record, lower, reference, wanted)
            records.append(record)
    return NumericsReport(
        label=label or str(getattr(fn, "__name__", type(fn).__name__)),
        device=runner.name,
        findings=in_order([finding for record in records for finding in record.findings]),
        cases=tuple(case for record in records for case in record.cases),
        tolerances=tuple(tolerances),
        machine=this_machine(),
        reproducer=_reproducer(records, source),
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


def _warnings(reference: Reference) -> list[str]:
    warnings = []
    bad = sum(int((~leaf.tensor.isfinite()).sum()) for leaf in reference.leaves if leaf.is_number_with_rounding)
    if bad:
        warnings.append(
            f"the reference itself has {bad} numbers that are NaN or infinite; there the device has to have the same"
        )
    numbers = [leaf.tensor for leaf in reference.leaves if leaf.path.startswith("output") and leaf.tensor.numel()]
    if numbers and not any(bool(tensor.any()) for tensor in numbers):
        warnings.append("every number of the reference's output is 0, so agreeing with it says little")
    if not numbers:
        warnings.append("the output is empty: there are no numbers to compare, only its shape and dtype")
    return warnings


@dataclass(frozen=True)
class _Wanted:
    """Which questions are asked beyond the inputs as given."""

    causal: bool | int | None
    gradients: bool
    optimizer: MakeOptimizer
    largest_elements: int


def _check(record: ComparisonRecord, inputs: Inputs, reference: Reference, wanted: _Wanted) -> None:
    """Put all questions in one dtype, and stop where an answer makes the next question pointless."""
    setting = record.setting
    try:
        first = setting.ask_observed(inputs)
    except Exception as error:  # torch raises RuntimeError, TypeError and NotImplementedError here
        record.find("refused", f"the device raises {first_line(error)}{_cpu_too(setting, inputs)}", "as given")
        record.shown.append(FailingInputs(inputs))
        return
    if not _is_repeatable(record, inputs, reference, first):
        return
    if draws_random_numbers(reference.fn, reference.inputs):
        _check_random(record, inputs, reference, first, wanted.gradients)
        return
    differences = record.compare("as given", inputs, first, reference, _on_cpu(setting, inputs))
    if differences:
        _report(record, inputs, differences)
        _explain(record, inputs, reference, first, wanted.causal)
        return
    check_layouts(record, inputs, reference)
    checks.check_large_integers(record, inputs, reference)
    checks.check_exact_sums(record, inputs, reference)
    checks.check_causality(record, inputs, reference, wanted.causal)
    if record.findings:
        return
    found = checks.search_sizes(
        record, inputs, (leading_size(inputs) or 1, *checks.growing_sizes(reference, inputs, wanted.largest_elements))
    )
    checks.report_size(record, inputs, found)
    if wanted.gradients and not record.findings:
        check_gradients(record, inputs, wanted.optimizer)


def _cpu_too(setting: ComparisonSetting, inputs: Inputs) -> str:
    return "" if _on_cpu(setting, inputs) is not None else "; so does the CPU in this dtype"


def _on_cpu(setting: ComparisonSetting, inputs: Inputs) -> tuple[OutputLeaf, ...] | None:
    try:
        torch.manual_seed(setting.options.seed)
        return flatten(run_on_cpu(observed(setting.lower), inputs))
    except Exception:  # the CPU lacks kernels for some half-precision operators
        return None


def _is_repeatable(
    record: ComparisonRecord, inputs: Inputs, reference: Reference, first: tuple[OutputLeaf, ...]
) -> bool:
    second = record.setting.ask_observed(inputs)
    if same_bits(first, second):
        return True
    within = all(
        a.tensor.shape == b.tensor.shape and not bound.exceeded((a.tensor.double() - b.tensor.double()).abs()).any()
        for a, b, bound in zip(first, second, reference.bounds, strict=False)
        if a.is_number_with_rounding and not a.tensor.is_complex()
    )
    largest = max(
        float((a.tensor.double() - b.tensor.double()).abs().max())
        for a, b in zip(first, second, strict=True)
        if a.tensor.shape == b.tensor.shape and a.tensor.numel() and not a.tensor.is_complex()
    )
    size = "within rounding, as sums in changing order are" if within else "more than rounding explains"
    record.find(
        "not repeatable",
        f"two calls with the same inputs and seed differ by up to {largest:.3g}, {size}; nothing else was compared",
        "as given",
    )
    record.shown.append(FailingInputs(inputs, form="twice"))
    return False


def _check_random(
    record: ComparisonRecord, inputs: Inputs, reference: Reference, first: tuple[OutputLeaf, ...], gradients: bool
) -> None:
    setting = record.setting
    names = ", ".join(reference.trace.random) or "an operator"
    record.find(
        "not comparable",
        f"the callable draws random numbers ({names}), and the same seed gives others on another device by design: "
        "call .eval(), or draw on the CPU and pass the result in; shape and dtype were compared",
        "as given",
    )
    cpu = _on_cpu(setting, inputs)
    for difference in compare_outputs(first, reference.leaves, reference.bounds, dtype=setting.dtype, cpu=cpu):
        if difference.kind in ("structure", "shape", "dtype"):
            record.find_difference(difference, "as given")
    if gradients and setting.dtype in (torch.float32, torch.float64):
        try:
            cotangents = cotangents_for(setting.lower(*fresh(inputs)), setting.dtype, setting.options.seed)
            text = slope_disagreement(setting.runner, setting.lower, inputs, cotangents, setting.options.seed)
        except Exception:  # no gradient, or none that this can follow
            return
        if text is not None:
            record.find("gradient", text, "as given")
            record.shown.append(FailingInputs(inputs, form="gradient"))


def _report(record: ComparisonRecord, inputs: Inputs, differences: tuple[OutputDifference, ...]) -> None:
    """Write down what differs on the given inputs; for non-finite numbers, where they begin."""
    for difference in differences:
        sentence = difference.sentence
        if difference.kind in ("non-finite", "overflow") and isinstance(record.setting.fn, nn.Module):
            layer = first_nonfinite_layer(record.setting.lower, inputs, record.setting.runner)  # type: ignore[arg-type]
            sentence += f"; it begins in {layer}" if layer is not None else ""
        record.find_difference(difference, "as given", sentence=sentence)
    record.shown.append(FailingInputs(inputs))


def _explain(
    record: ComparisonRecord,
    inputs: Inputs,
    reference: Reference,
    answer: tuple[OutputLeaf, ...],
    causal: bool | int | None,
) -> None:
    """Look for what is behind a wrong answer: each known fault leaves its own trace."""
    setting = record.setting
    write = forgotten_write(answer, reference, setting.dtype)
    if write is not None:
        record.find(
            "forgets an in-place write", f"leaving out {write} on the CPU gives the device's answer", "as given"
        )
        return
    checks.check_large_integers(record, inputs, reference)
    if checks.check_causality(record, inputs, reference, causal):
        return
    size = leading_size(inputs)
    found = checks.search_sizes(record, inputs, doubled(1, size)) if size else None
    if found is not None and found.passed is not None:
        checks.report_size(record, inputs, found)
        return
    checks.check_exact_sums(record, inputs, reference)


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
        transposed_parameters=shown.transposed_parameters,
        source=source,
    )


def _still_fails(record: ComparisonRecord, shown: FailingInputs, smaller: Inputs) -> bool:
    """Return whether smaller inputs show the same; only outputs are tried, the other forms keep their inputs."""
    laid_out = shown.laid_out(smaller)
    if shown.form != "forward" or shown.transposed_parameters or laid_out is None:
        return False
    expected = record.try_reference(observed(record.setting.fn), laid_out)
    return expected is not None and not record.agrees(record.setting.lower, laid_out, expected)
