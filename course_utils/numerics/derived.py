"""Gradients and one optimizer step on the device against the reference, also for strided inputs and parameters."""

from __future__ import annotations

from torch import nn

from course_utils.numerics import gradients
from course_utils.numerics.inputs import Inputs, fresh, with_layout
from course_utils.numerics.record import Record, Shown, first_line
from course_utils.numerics.reference import Reference
from course_utils.numerics.runners import at_dtype


def check_gradients(record: Record, inputs: Inputs, make_optimizer: gradients.MakeOptimizer) -> None:
    """Compare gradients, also for strided inputs, and one optimizer step, also of transposed parameters."""
    setting = record.setting
    try:
        outputs = setting.lower(*fresh(inputs))
        arguments = (*inputs, *gradients.cotangents_for(outputs, setting.dtype, setting.options.seed))
    except Exception:  # the CPU may refuse the dtype: then nobody knows the outputs' shapes
        text = f"{setting.dtype_name}: gradients were not compared, the CPU does not run the callable in it"
        record.warnings.append(text)
        return
    wrapped = gradients.GradientOf(setting.fn, len(inputs))
    reference = record.try_reference(wrapped, arguments)
    if reference is None or not reference.leaves:
        return
    shown = Shown(inputs, form="gradient")
    if not _compare_derived(record, "gradient", "gradient", wrapped, arguments, reference, shown):
        return
    for layout in ("transposed", "sliced"):
        new = with_layout(inputs, layout)
        if new is not None:
            strided = (*new, *arguments[len(inputs) :])
            case, shown = f"gradient, {layout} inputs", Shown(inputs, layout=layout, form="gradient")
            _compare_derived(record, "ignores strides", case, wrapped, strided, reference, shown)
    if isinstance(setting.fn, nn.Module) and any(p.requires_grad for p in setting.fn.parameters()):
        _check_step(record, setting.fn, arguments, len(inputs), make_optimizer)


def _check_step(
    record: Record, module: nn.Module, arguments: Inputs, count: int, make_optimizer: gradients.MakeOptimizer
) -> None:
    reference = record.try_reference(gradients.StepOf(module, count, make_optimizer), arguments)
    if reference is None:
        return
    for transposed in (False, True):
        prepared = gradients.transposed_parameters(module) if transposed else module
        step = gradients.StepOf(prepared, count, make_optimizer)
        case = "optimizer step" + (", transposed parameters" if transposed else "")
        shown = Shown(arguments[:count], form="step", transposed_parameters=transposed)
        if not _compare_derived(record, "optimizer step", case, step, arguments, reference, shown):
            return


def _compare_derived(
    record: Record, kind: str, case: str, wrapped: nn.Module, arguments: Inputs, reference: Reference, shown: Shown
) -> bool:
    setting = record.setting
    lower = at_dtype(wrapped, setting.dtype)
    try:
        answer = setting.ask(lower, arguments)
    except Exception as error:
        record.find("refused", f"the device raises {first_line(error)} in {case}, the CPU does not", case)
        record.shown.append(shown)
        return False
    differences = record.compare(case, arguments, answer, reference)
    for difference in differences[:1]:
        text = difference.sentence
        if kind == "gradient":
            text = f"the output agrees, and {text}"
        if isinstance(lower, gradients.StepOf) and difference.where in lower.unmoved(answer):
            text = f"{difference.where.removesuffix(' after the step')} did not move: {text}"
        record.find_difference(difference, case, kind=kind, sentence=text)
        record.shown.append(shown)
    return not differences
