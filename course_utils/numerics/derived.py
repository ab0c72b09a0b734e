"""Gradients and one optimizer step on the device against the reference, also for strided inputs and parameters."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.numerics import gradients
from course_utils.numerics.inputs import Inputs, fresh, with_layout
from course_utils.numerics.leaves import Leaf
from course_utils.numerics.record import Record, first_line
from course_utils.numerics.reference import Reference
from course_utils.numerics.runners import at_dtype


def check_gradients(record: Record, inputs: Inputs, make_optimizer: gradients.MakeOptimizer) -> None:
    """Compare gradients, also for strided inputs, and one optimizer step, also of transposed parameters."""
    setting = record.setting
    try:
        outputs = setting.lower(*fresh(inputs))
        arguments = (*inputs, *gradients.cotangents_for(outputs, setting.dtype, setting.options.seed))
    except Exception:  # the CPU may refuse the dtype: then nobody knows the outputs' shapes
        record.warnings.append(f"{setting.dtype_name}: gradients were not compared, the CPU does not run the callable in it")
        return
    wrapped = gradients.GradientOf(setting.fn, len(inputs))
    reference = record.try_reference(wrapped, arguments)
    if reference is None or not reference.leaves:
        return
    if not _compare_derived(record, "gradient", "gradient", wrapped, arguments, reference):
        return
    for layout in ("transposed", "sliced"):
        new = with_layout(inputs, layout)
        if new is not None:
            strided = (*new, *arguments[len(inputs) :])
            _compare_derived(record, "ignores strides", f"gradient, {layout} inputs", wrapped, strided, reference)
    if isinstance(setting.fn, nn.Module) and any(p.requires_grad for p in setting.fn.parameters()):
        _check_step(record, setting.fn, arguments, len(inputs), make_optimizer)


def _check_step(
    record: Record, module: nn.Module, arguments: Inputs, count: int, make_optimizer: gradients.MakeOptimizer
) -> None:
    reference = record.try_reference(gradients.StepOf(module, count, make_optimizer), arguments)
    if reference is None:
        return
    for case, prepared in (("", module), (", transposed parameters", gradients.transposed_parameters(module))):
        step = gradients.StepOf(prepared, count, make_optimizer)
        if not _compare_derived(record, "optimizer step", f"optimizer step{case}", step, arguments, reference):
            return


def _compare_derived(
    record: Record, kind: str, case: str, wrapped: nn.Module, arguments: Inputs, reference: Reference
) -> bool:
    setting = record.setting
    lower = at_dtype(wrapped, setting.dtype)
    try:
        answer = setting.ask(lower, arguments)
    except Exception as error:
        record.find("refused", f"the device raises {first_line(error)} in {case}, the CPU does not", case)
        return False
    differences = record.compare(case, arguments, answer, reference)
    for difference in differences[:1]:
        text = difference.sentence
        if kind == "gradient":
            text = f"the output agrees, and {text}"
        if kind == "optimizer step" and difference.where in still_parameters(wrapped, answer):
            text = f"{difference.where.removesuffix(' after the step')} did not move: {text}"
        record.find_difference(difference, case, kind=kind, sentence=text)
        record.shown.append((arguments[: wrapped.count], "gradient"))  # type: ignore[misc]
    return not differences


def still_parameters(step: nn.Module, answer: tuple[Leaf, ...]) -> set[str]:
    """List the parameters that are after a step what they were before."""
    before = {f"parameter {name} after the step": p for name, p in step.fn.named_parameters()}  # type: ignore[union-attr, operator]
    return {
        leaf.path for leaf in answer
        if leaf.path in before and torch.equal(leaf.tensor.double(), before[leaf.path].detach().to(leaf.tensor.dtype).double())
    }  # fmt: skip


