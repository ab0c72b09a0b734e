"""Gradients and one optimizer step on the device against the reference, also for strided inputs and parameters."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from course_utils.numerics.questions import gradients
from course_utils.numerics.questions.record import ComparisonRecord, FailingInputs
from course_utils.numerics.reference.answer import Reference
from course_utils.numerics.running.runners import at_dtype
from course_utils.numerics.tensors.inputs import Inputs, fresh, with_layout
from course_utils.reporting.error_text import first_line

MOST_PARAMETERS = 2**24


def check_gradients(record: ComparisonRecord, inputs: Inputs, make_optimizer: gradients.MakeOptimizer) -> None:
    """Compare gradients, also for strided inputs, and one optimizer step, also of transposed parameters."""
    setting = record.setting
    size = sum(p.numel() for p in setting.fn.parameters()) if isinstance(setting.fn, nn.Module) else 0
    if size > MOST_PARAMETERS:
        text = f"gradients were not compared: the model has {size / 1e6:.0f} million parameters, and repeating its step"
        record.warnings.append(
            f"{text} in float64 needs too much memory above {MOST_PARAMETERS / 1e6:.0f}; make it smaller"
        )
        return
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
    question = _Question("gradient", "gradient", wrapped, arguments, FailingInputs(inputs, form="gradient"))
    if not _ask(record, question, reference):
        return
    for layout in ("transposed", "sliced"):
        new = with_layout(inputs, layout)
        if new is not None:
            strided = (*new, *arguments[len(inputs) :])
            shown = FailingInputs(inputs, layout=layout, form="gradient")
            _ask(record, _Question("ignores strides", f"gradient, {layout} inputs", wrapped, strided, shown), reference)
    if isinstance(setting.fn, nn.Module) and any(p.requires_grad for p in setting.fn.parameters()):
        _check_step(record, setting.fn, arguments, len(inputs), make_optimizer)


@dataclass(frozen=True)
class _Question:
    kind: str
    case: str
    wrapped: nn.Module
    arguments: Inputs
    shown: FailingInputs


def _check_step(
    record: ComparisonRecord, module: nn.Module, arguments: Inputs, count: int, make_optimizer: gradients.MakeOptimizer
) -> None:
    reference = record.try_reference(gradients.StepOf(module, count, make_optimizer), arguments)
    if reference is None:
        return
    for transposed in (False, True):
        prepared = gradients.transposed_parameters(module) if transposed else module
        step = gradients.StepOf(prepared, count, make_optimizer)
        case = "optimizer step" + (", transposed parameters" if transposed else "")
        shown = FailingInputs(arguments[:count], form="step", transposed_parameters=transposed)
        if not _ask(record, _Question("optimizer step", case, step, arguments, shown), reference):
            return


def _ask(record: ComparisonRecord, question: _Question, reference: Reference) -> bool:
    """Compare one derived result; return whether it agrees."""
    setting = record.setting
    lower = at_dtype(question.wrapped, setting.dtype)
    try:
        answer = setting.ask(lower, question.arguments)
    except Exception as error:  # torch raises RuntimeError, TypeError and NotImplementedError here
        text = f"the device raises {first_line(error)} in {question.case}, the CPU does not"
        record.find("refused", text, question.case)
        record.shown.append(question.shown)
        return False
    differences = record.compare(question.case, question.arguments, answer, reference)
    for difference in differences[:1]:
        text = difference.sentence
        if question.kind == "gradient":
            text = f"the output agrees, and {text}"
        if isinstance(lower, gradients.StepOf) and difference.where in lower.unmoved(answer):
            text = f"{difference.where.removesuffix(' after the step')} did not move: {text}"
        record.find_difference(difference, question.case, kind=question.kind, sentence=text)
        record.shown.append(question.shown)
    return not differences
