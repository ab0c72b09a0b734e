"""The inputs as given: does it run, is it repeatable, is it right; and what explains a wrong answer."""

from __future__ import annotations

import torch
from torch import nn

from course_utils.numerics.questions.causality import check_causality
from course_utils.numerics.questions.exact_sums import check_exact_sums
from course_utils.numerics.questions.gradients import bends_within_a_step, slope_disagreement
from course_utils.numerics.questions.in_place import forgotten_write
from course_utils.numerics.questions.layers import first_nonfinite_layer
from course_utils.numerics.questions.optimizer_step import too_many_parameters
from course_utils.numerics.questions.session import (
    ComparisonRecord,
    FailingInputs,
    NumericsQuestion,
    QuestionOutcome,
)
from course_utils.numerics.questions.sizes import explain_by_size
from course_utils.numerics.reference.differences import compare_outputs
from course_utils.numerics.reference.expected import Expected, draws_random_numbers
from course_utils.numerics.reference.judge import is_gradient
from course_utils.numerics.running.attempts import Answer, Refusal
from course_utils.numerics.running.observed import GRADIENT, cotangents_for
from course_utils.numerics.running.runners import run_on_cpu
from course_utils.numerics.tensors.inputs import Inputs
from course_utils.numerics.tensors.leaves import same_bits

AS_GIVEN = "as given"


def check_as_given(
    record: ComparisonRecord, inputs: Inputs, *, gradients: bool, causal: bool | int | None
) -> tuple[Expected, Answer] | None:
    """Ask with the inputs as given.

    Returns:
        The right answer and the device's, for the questions that follow; None where there is nothing to follow up.
    """
    expected = _expected(record, inputs, gradients)
    record.warnings += _warnings(expected)
    if draws_random_numbers(expected.exact.fn, expected.inputs):
        _check_random(record, inputs, expected, gradients)
        return None
    lower = record.setting.lower
    question = NumericsQuestion(AS_GIVEN, expected, lower, inputs, False, FailingInputs(inputs))
    outcome = record.ask(question)
    if isinstance(outcome.answer, Refusal):
        record.find("refused", f"the device raises {outcome.answer}{_cpu_too(expected)}", outcome)
    elif _is_repeatable(record, outcome):
        if not outcome.right:
            _explain(record, inputs, outcome, causal)
        elif _check_gradient(record, inputs, expected) and _check_operators(record, question):
            return expected, outcome.answer
    return None


def _expected(record: ComparisonRecord, inputs: Inputs, gradients: bool) -> Expected:
    """Compute the right answer, with gradients where there are any."""
    reason = too_many_parameters(record.setting.fn) if gradients else None
    if reason is not None:
        record.skip("gradients", reason)
    if gradients and reason is None:
        expected = record.expect(inputs, gradients=True)
        if not isinstance(expected, Refusal):
            if any(leaf.path.startswith(GRADIENT) for leaf in expected.leaves):
                record.gradients = True
                return expected
            record.skip("gradients", "no output depends on a number that could have one")
        else:
            record.skip("gradients", f"the CPU raises {expected} when inputs require gradients")
    plain = record.expect(inputs, gradients=False)
    if isinstance(plain, Refusal):
        raise plain.error
    return plain


def _warnings(expected: Expected) -> list[str]:
    warnings = []
    forward = expected.forward_leaves
    bad = sum(int((~leaf.tensor.isfinite()).sum()) for leaf in forward if leaf.is_number_with_rounding)
    if bad:
        warnings.append(
            f"the reference itself has {bad} numbers that are NaN or infinite; there the device has to have the same"
        )
    numbers = [leaf.tensor for leaf in forward if leaf.path.startswith("output") and leaf.tensor.numel()]
    if numbers and not any(bool(tensor.any()) for tensor in numbers):
        warnings.append("every number of the reference's output is 0, so agreeing with it says little")
    if not numbers:
        warnings.append("the output is empty: there are no numbers to compare, only its shape and dtype")
    return warnings


def _cpu_too(expected: Expected, *, gradients: bool = False) -> str:
    on_cpu = expected.on_cpu(forward_only=not gradients)
    return "; so does the CPU in this dtype" if isinstance(on_cpu, Refusal) else "; the CPU does not"


def _is_repeatable(record: ComparisonRecord, first: QuestionOutcome) -> bool:
    """Ask again; other bits within rounding are a warning, more is a finding."""
    second = record.ask(first.question, quiet=True)
    if isinstance(second.answer, Refusal) or isinstance(first.answer, Refusal):
        record.find("not repeatable", f"the second call raises {second.answer}", first)
        return False
    if same_bits(first.answer, second.answer):
        return True
    largest = max(
        float((a.tensor.double() - b.tensor.double()).abs().nan_to_num(torch.inf).max())
        for a, b in zip(first.answer, second.answer, strict=True)
        if a.tensor.shape == b.tensor.shape and a.tensor.numel() and not a.tensor.is_complex()
    )
    text = f"two calls with the same inputs and seed differ by up to {largest:.3g}"
    if first.agrees and second.agrees:
        record.warnings.append(f"{text}, within rounding, as sums in changing order are")
        return True
    record.find(
        "not repeatable",
        f"{text}, more than rounding explains; nothing else was compared",
        AS_GIVEN,
    )
    record.shown.append(FailingInputs(first.question.inputs, form="twice"))
    return False


def _check_random(record: ComparisonRecord, inputs: Inputs, expected: Expected, gradients: bool) -> None:
    setting = record.setting
    question = NumericsQuestion(AS_GIVEN, expected, setting.lower, inputs, False, FailingInputs(inputs))
    answer = record.answer(question)
    if isinstance(answer, Refusal):
        record.find("refused", f"the device raises {answer}{_cpu_too(expected)}", AS_GIVEN)
        record.shown.append(FailingInputs(inputs))
        return
    names = ", ".join(expected.trace.random) or "an operator"
    record.find(
        "not comparable",
        f"the callable draws random numbers ({names}), and the same seed gives others on another device by design: "
        "call .eval(), or draw on the CPU and pass the result in; shape and dtype were compared",
        AS_GIVEN,
    )
    leaves = expected.forward_leaves
    on_cpu = expected.on_cpu(forward_only=True)
    cpu = None if isinstance(on_cpu, Refusal) else on_cpu
    for difference in compare_outputs(answer, leaves, expected.bounds[: len(leaves)], dtype=setting.dtype, cpu=cpu):
        if difference.kind in ("structure", "shape", "dtype"):
            record.find(difference.kind, difference.sentence, AS_GIVEN, where=difference.where)
    for name in ("values", "layouts", "sizes"):
        record.skip(name, "the callable draws random numbers")
    if gradients and setting.dtype in (torch.float32, torch.float64):
        cotangents = cotangents_for(run_on_cpu(setting.lower, inputs), setting.dtype, setting.seed)
        try:
            text = slope_disagreement(setting.runner, setting.lower, inputs, cotangents, setting.seed)
        except RuntimeError as error:  # no gradient, or none that finite differences follow
            record.skip("gradients", error)
            return
        if text is None:
            return
        if bends_within_a_step(setting.exact, expected.inputs, cotangents, setting.seed):
            record.skip("gradients", "the output bends too much for finite differences, on the CPU in float64 too")
            return
        record.find("gradient", text, AS_GIVEN)
        record.shown.append(FailingInputs(inputs, form="gradient"))


def _check_gradient(record: ComparisonRecord, inputs: Inputs, expected: Expected) -> bool:
    if not expected.call.gradients:
        return True
    shown = FailingInputs(inputs, form="gradient")
    question = NumericsQuestion("gradient", expected, record.setting.lower, inputs, True, shown)
    outcome = record.ask(question)
    if outcome.right:
        return True
    if not record.is_repeatable(outcome):
        record.find("not repeatable", f"the same question gets other answers: {outcome.sentence}", outcome)
    elif isinstance(outcome.answer, Refusal):
        record.find(
            "refused", f"with gradients the device raises {outcome.answer}{_cpu_too(expected, gradients=True)}", outcome
        )
    elif outcome.only_overflows:
        record.find("overflow", f"with gradients: {outcome.sentence}", outcome)
    elif not explain_by_size(record, inputs, gradients=True):
        _name_gradient(record, outcome)
    return False


def _name_gradient(record: ComparisonRecord, outcome: QuestionOutcome) -> None:
    difference = outcome.first_difference
    kind = "gradient" if difference is None or is_gradient(difference) else difference.kind
    faults = [fault for fault in record.look(outcome.question) if fault.backward]
    where = f"; wrong on its own: {faults[0].operator}" if faults else ""
    before = "the output agrees, and " if kind == "gradient" else "with gradients: "
    record.find(kind, f"{before}{outcome.sentence}{where}", outcome)


def _check_operators(record: ComparisonRecord, question: NumericsQuestion) -> bool:
    """Look at every operator on its own; return whether all are right."""
    shown = FailingInputs(question.inputs, form="gradient" if question.expected.call.gradients else "forward")
    gradients = question.expected.call.gradients
    both = NumericsQuestion(AS_GIVEN, question.expected, question.fn, question.inputs, gradients, shown)
    faults = record.look(both)
    if not faults:
        return True
    again = record.look(both)
    if [fault.operator for fault in again] != [fault.operator for fault in faults]:
        record.find("not repeatable", f"{faults[0].operator} gives other answers to the same question", AS_GIVEN)
    elif question.expected.trace.sums and check_exact_sums(record, question.inputs, explained=True):
        return False
    else:
        fault = faults[0]
        kind = "gradient" if fault.backward else "error"
        text = f"{fault.operator} on its own, from the device's own operands: {fault.sentence}"
        record.find(kind, text, f"operators{' in backward' if fault.backward else ''}")
    record.shown.append(shown)
    return False


def _explain(record: ComparisonRecord, inputs: Inputs, outcome: QuestionOutcome, causal: bool | int | None) -> None:
    """Look for what is behind a wrong answer: each known fault leaves its own trace."""
    expected, answer = outcome.question.expected, outcome.answer
    assert not isinstance(answer, Refusal)
    write = forgotten_write(answer, expected, record.setting.dtype)
    if write is not None:
        text = f"leaving out {write} on the CPU gives the device's answer: {outcome.sentence}"
        record.find("forgets an in-place write", text, outcome)
        return
    differences = outcome.judgement.differences if outcome.judgement else ()
    kinds = {difference.kind for difference in differences}
    if "overflow" not in kinds and not kinds & {"structure", "shape", "dtype"}:
        if expected.trace.sums and check_causality(record, inputs, expected, causal):
            return
        if explain_by_size(record, inputs, gradients=False):
            return
        if kinds == {"error"} and expected.trace.sums and check_exact_sums(record, inputs, explained=True):
            return
    faults = record.look(outcome.question) if "overflow" not in kinds else []
    worst = max(differences, key=lambda difference: difference.excess)
    for difference in differences:
        sentence = difference.sentence
        if difference.kind in ("non-finite", "overflow") and isinstance(record.setting.fn, nn.Module):
            layer = first_nonfinite_layer(record.setting.lower, inputs, record.setting.runner)  # type: ignore[arg-type]
            sentence += f"; it begins in {layer}" if layer is not None else ""
        if difference is worst and faults:
            sentence += f"; wrong on its own: {faults[0].operator}"
        if difference is worst or difference.kind != worst.kind:
            record.find(
                difference.kind,
                sentence,
                AS_GIVEN,
                where=difference.where,
                index=difference.index,
                on_device=difference.on_device,
                expected=difference.expected,
                bound=difference.bound,
            )
    record.shown.append(outcome.question.shown)
