"""One optimizer step of a module, with parameters that lie transposed in memory too."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.numerics.questions.gradients import MakeOptimizer, StepOf
from course_utils.numerics.questions.layouts import parameters_laid_out
from course_utils.numerics.questions.session import (
    ComparisonRecord,
    FailingInputs,
    NumericsQuestion,
    QuestionOutcome,
)
from course_utils.numerics.reference.expected import Expected
from course_utils.numerics.running.attempts import Refusal
from course_utils.numerics.running.runners import Fn
from course_utils.numerics.tensors.inputs import Inputs

MOST_PARAMETERS = 2**24


def check_step(record: ComparisonRecord, inputs: Inputs, expected: Expected, make_optimizer: MakeOptimizer) -> None:
    """Compare the parameters after one step, for transposed parameters first, then for contiguous ones."""
    module = record.setting.lower
    if not isinstance(module, nn.Module) or not any(p.requires_grad for p in module.parameters()):
        return
    arguments = expected.arguments

    def step_of(fn: Fn) -> StepOf:
        assert isinstance(fn, nn.Module)
        return StepOf(fn, len(inputs), make_optimizer)

    right = record.expect(arguments, gradients=False, around=step_of)
    if isinstance(right, Refusal):
        record.skip("optimizer step", f"the CPU raises {right}")
        return

    def wrong_with(layout: str) -> QuestionOutcome | None:
        prepared = parameters_laid_out(module, layout) if layout else module
        if prepared is None:
            return None
        name = "optimizer step" + (f", {layout} parameters" if layout else "")
        shown = FailingInputs(inputs, form="step", parameter_layout=layout)
        question = NumericsQuestion(name, right, step_of(prepared), arguments, False, shown)
        outcome = record.ask_unless_the_cpu_raises(question)
        return None if outcome is None or outcome.right else outcome

    transposed = wrong_with("transposed")
    worst = wrong_with("") or transposed
    if worst is None:
        return
    if not record.is_repeatable(worst):
        record.find("not repeatable", f"the same question gets other answers: {worst.sentence}", worst)
        return
    record.find("optimizer step", _sentence(worst, worst.question.fn), worst)


def _sentence(outcome: QuestionOutcome, step: Fn) -> str:
    difference = outcome.first_difference
    if difference is None or isinstance(outcome.answer, Refusal) or not isinstance(step, StepOf):
        return outcome.sentence
    name = difference.where.removeprefix("output['parameter ").removesuffix(" after the step']")
    after = {leaf.path: leaf.tensor for leaf in outcome.answer}[difference.where]
    return f"parameter {name} did not move: {outcome.sentence}" if step.is_unmoved(name, after) else outcome.sentence


def too_many_parameters(fn: Fn) -> str | None:
    """Return why gradients of a module are not compared, or None."""
    size = sum(p.numel() for p in fn.parameters()) if isinstance(fn, nn.Module) else 0
    if size <= MOST_PARAMETERS:
        return None
    return (
        f"the model has {size / 1e6:.0f} million parameters, and repeating its step in {torch.float64} needs too much "
        f"memory above {MOST_PARAMETERS / 1e6:.0f}; make it smaller"
    )
