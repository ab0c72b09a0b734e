"""The same values in other strides: what is right for contiguous tensors has to be right for these."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.numerics.questions.session import (
    ComparisonRecord,
    FailingInputs,
    NumericsQuestion,
    QuestionOutcome,
)
from course_utils.numerics.reference.expected import Expected, sharing_references
from course_utils.numerics.running.attempts import Refusal
from course_utils.numerics.running.runners import Fn, copied
from course_utils.numerics.tensors.inputs import Inputs, contiguous
from course_utils.numerics.tensors.layouts import EXPANDED, SAME_VALUES, differs_in_memory, lay_out, with_layout
from course_utils.numerics.tensors.leaves import equal_with_nan

# one of a few with many parameters: the layouts that real faults needed come first
_MOST_PARAMETERS = 2**20
_FOR_LARGE_MODELS = ("transposed", "channels_last")
CONTIGUOUS = "calling .contiguous() first avoids it"
CLONE = "calling .clone() first avoids it"


def parameters_laid_out(fn: Fn, layout: str) -> nn.Module | None:
    """Copy a module whose parameters lie otherwise in memory, with the same values; None where none can."""
    if not isinstance(fn, nn.Module):
        return None
    module = copied(fn)
    assert isinstance(module, nn.Module)
    changed = False
    for parameter in module.parameters():
        laid_out = lay_out(parameter.data, layout)
        changed |= laid_out is not parameter.data and differs_in_memory(laid_out)
        parameter.data = laid_out
    return module if changed else None


def check_layouts(record: ComparisonRecord, inputs: Inputs, expected: Expected) -> None:
    """Ask again with the same values in other strides, inputs and parameters, outputs and gradients."""
    wrong: list[QuestionOutcome] = []
    for layout in SAME_VALUES:
        new = with_layout(inputs, layout)
        if new is not None:
            record.layouts[layout] = None
            shown = FailingInputs(inputs, layout=layout)
            wrong += _wrong_in(
                record, NumericsQuestion(f"{layout} inputs", expected, record.setting.lower, new, False, shown)
            )
    wrong += _parameters(record, inputs, expected)
    if not wrong and not sharing_references():
        expected.release(forward=False)  # what follows has other values
    for layout in EXPANDED:
        wrong += _expanded(record, inputs, layout, gradients=expected.call.gradients)
    wrong = [outcome for outcome in wrong if _stays_wrong(record, outcome)]
    if wrong:
        _name(record, inputs, wrong)


def _stays_wrong(record: ComparisonRecord, outcome: QuestionOutcome) -> bool:
    if record.is_repeatable(outcome):
        return True
    record.find("not repeatable", f"the same question gets other answers: {outcome.sentence}", outcome)
    return False


def _wrong_in(record: ComparisonRecord, question: NumericsQuestion) -> list[QuestionOutcome]:
    """Ask for the outputs alone, then with gradients; return what was wrong."""
    outcome = record.ask_both(question)
    return [] if outcome is None or outcome.right else [outcome]


def _parameters(record: ComparisonRecord, inputs: Inputs, expected: Expected) -> list[QuestionOutcome]:
    fn = record.setting.lower
    if not isinstance(fn, nn.Module):
        return []
    size = sum(parameter.numel() for parameter in fn.parameters())
    wrong: list[QuestionOutcome] = []
    for layout in SAME_VALUES:
        if size > _MOST_PARAMETERS and layout not in _FOR_LARGE_MODELS:
            continue
        laid_out = parameters_laid_out(fn, layout)
        if laid_out is not None:
            shown = FailingInputs(inputs, parameter_layout=layout)
            wrong += _wrong_in(
                record, NumericsQuestion(f"{layout} parameters", expected, laid_out, inputs, False, shown)
            )
    if size > _MOST_PARAMETERS:
        left_out = [layout for layout in SAME_VALUES if layout not in _FOR_LARGE_MODELS]
        record.skip(
            f"parameters: {', '.join(left_out)}", f"the model has more than {_MOST_PARAMETERS} parameters"
        )  # fmt: skip
    return wrong


def _expanded(record: ComparisonRecord, inputs: Inputs, layout: str, *, gradients: bool) -> list[QuestionOutcome]:
    """Ask with one element standing for many: the same values in contiguous memory have to be right."""
    new = with_layout(inputs, layout)
    if new is None:
        return []
    own = record.expect(contiguous(new), gradients=gradients)
    if isinstance(own, Refusal):
        record.skip(f"{layout} inputs", own)
        return []
    if _writes_into_inputs(own):
        record.skip(f"{layout} inputs", "the callable writes into its inputs")
        return []
    shown = FailingInputs(inputs, layout=layout)
    wrong = _wrong_in(record, NumericsQuestion(f"{layout} inputs", own, record.setting.lower, new, False, shown))
    record.layouts[layout] = None
    if not wrong:
        return []
    plain = _wrong_in(
        record,
        NumericsQuestion(
            f"{layout} inputs, contiguous",
            own,
            record.setting.lower,
            contiguous(new),
            False,
            FailingInputs(contiguous(new)),
        ),
    )
    return [] if plain else wrong


def _writes_into_inputs(expected: Expected) -> bool:
    before = tuple(f"input {place} after the call" for place in range(len(expected.inputs)))
    after = {leaf.path: leaf.tensor for leaf in expected.leaves}
    given = zip(before, expected.inputs, strict=True)
    return any(
        path in after and isinstance(x, torch.Tensor) and not equal_with_nan(after[path], x) for path, x in given
    )


def _name(record: ComparisonRecord, inputs: Inputs, wrong: list[QuestionOutcome]) -> None:
    """Write one finding for all layouts that are wrong."""
    names = [outcome.question.name for outcome in wrong]
    worst = wrong[0]
    answers = [outcome for outcome in wrong if isinstance(outcome.answer, Refusal)]
    if answers and len(answers) == len(wrong):
        record.find("refused", f"right for contiguous tensors; with {names[0]} {worst.sentence}", worst)
        return
    offset = next((outcome for outcome in wrong if "storage offset" in outcome.question.name), None)
    others = ", ".join(names[1:])
    also = f"; also wrong: {others}" if others else ""
    if offset is not None:
        text = f"right for tensors at the start of their memory; the same values at an offset: {offset.sentence}"
        record.find("ignores the storage offset", f"{text}{also}; {CLONE}", offset)
        return
    text = f"right for contiguous tensors; the same values with other strides: {worst.sentence}"
    record.find("ignores strides", f"{text}{also}; {CONTIGUOUS}", worst)
    _name_the_input(record, inputs, worst)


def _name_the_input(record: ComparisonRecord, inputs: Inputs, wrong: QuestionOutcome) -> None:
    """Where several inputs were laid out differently, add which one alone is enough."""
    layout = wrong.question.shown.layout
    tensors = [place for place, value in enumerate(inputs) if isinstance(value, torch.Tensor)]
    if len(tensors) < 2 or layout not in SAME_VALUES:
        return
    enough = []
    for place in tensors:
        alone = tuple(lay_out(value, layout) if at == place else value for at, value in enumerate(inputs))
        if not differs_in_memory(alone[place]):
            continue
        question = NumericsQuestion(
            f"{layout} input {place}",
            wrong.question.expected,
            record.setting.lower,
            alone,
            wrong.question.gradients,
            FailingInputs(inputs, layout=layout),
        )
        if not record.ask(question, quiet=True).right:
            enough.append(str(place))
    if enough:
        record.warnings.append(f"{layout} inputs: input {', '.join(enough)} alone is enough to go wrong")
