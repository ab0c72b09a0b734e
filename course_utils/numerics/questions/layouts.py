"""The same values in other strides: what is right for contiguous tensors has to be right for these."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.numerics.questions.gradients import transposed_parameters
from course_utils.numerics.questions.record import ComparisonRecord, FailingInputs
from course_utils.numerics.reference.answer import Reference
from course_utils.numerics.running.runners import observed
from course_utils.numerics.tensors.inputs import LAYOUTS, Inputs, contiguous, lay_out, with_layout
from course_utils.reporting.error_text import first_line

GUARD = "calling .contiguous() first avoids it"


def check_layouts(record: ComparisonRecord, inputs: Inputs, reference: Reference) -> None:
    """Ask again with the same values in other strides; parameters of modules too."""
    for layout in LAYOUTS:
        new = with_layout(inputs, layout)
        if new is None:
            continue
        expected = reference
        if layout == "expanded":
            # other values: the same ones in contiguous memory have to be right for strides to be the cause
            made = record.try_reference(observed(record.setting.fn), new)
            if made is None or not record.agrees(record.setting.lower, contiguous(new), made):
                continue
            expected = made
        if _strided_differs(record, inputs, layout, new, expected):
            _name_the_input(record, inputs, layout, expected)
    module = record.setting.fn
    if isinstance(module, nn.Module) and any(p.dim() >= 2 for p in module.parameters()):
        turned = transposed_parameters(record.setting.lower)  # type: ignore[arg-type]
        try:
            answer = record.setting.ask(observed(turned), inputs)
        except Exception as error:
            text = f"the device refuses transposed parameters: {first_line(error)}"
            record.find("ignores strides", text, "transposed parameters")
            return
        for difference in record.compare("transposed parameters", inputs, answer, reference)[:1]:
            text = f"right for contiguous parameters; the same values transposed in memory: {difference.sentence}"
            record.find_difference(difference, "transposed parameters", kind="ignores strides", sentence=text)
            record.shown.append(FailingInputs(inputs, transposed_parameters=True))


def _strided_differs(record: ComparisonRecord, inputs: Inputs, layout: str, new: Inputs, expected: Reference) -> bool:
    case = f"{layout} inputs"
    try:
        answer = record.setting.ask_observed(new)
    except Exception as error:
        record.find("ignores strides", f"the device refuses {case}: {first_line(error)}; {GUARD}", case)
        record.shown.append(FailingInputs(inputs, layout=layout))
        return False
    differences = record.compare(case, new, answer, expected)
    for difference in differences[:1]:
        text = f"right for contiguous inputs; the same values with other strides: {difference.sentence}; {GUARD}"
        record.find_difference(difference, case, kind="ignores strides", sentence=text)
        record.shown.append(FailingInputs(inputs, layout=layout))
    return bool(differences)


def _name_the_input(record: ComparisonRecord, inputs: Inputs, layout: str, expected: Reference) -> None:
    """Where several inputs were laid out differently, say which one alone is enough."""
    tensors = [place for place, value in enumerate(inputs) if isinstance(value, torch.Tensor)]
    if len(tensors) < 2 or layout == "expanded":
        return
    enough = []
    for place in tensors:
        alone = tuple(lay_out(value, layout) if at == place else value for at, value in enumerate(inputs))
        if not alone[place].is_contiguous() and not record.agrees(record.setting.lower, alone, expected):
            enough.append(place)
    if enough:
        names = ", ".join(str(place) for place in enough)
        record.warnings.append(f"{layout} inputs: input {names} alone is enough to go wrong")
