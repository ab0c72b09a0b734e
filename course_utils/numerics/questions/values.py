"""Other values for the same shapes, in contiguous memory."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.utils._pytree import tree_leaves

from course_utils.numerics.questions.session import (
    ComparisonRecord,
    FailingInputs,
    NumericsQuestion,
    QuestionOutcome,
)
from course_utils.numerics.reference.expected import Expected
from course_utils.numerics.running.attempts import Answer, Refusal
from course_utils.numerics.tensors.inputs import Inputs
from course_utils.numerics.tensors.leaves import same_bits
from course_utils.numerics.tensors.resizing import resize
from course_utils.numerics.tensors.special_values import SPECIAL_VALUES, with_values

OTHER = "other values"
_INTEGERS = ("integers past 2**24", "ends of the integer type")
_REACHED = ("overflow",)


def check_values(record: ComparisonRecord, inputs: Inputs, expected: Expected, first: Answer) -> None:
    """Ask with other values for the same shapes, and for no values at all.

    Args:
        record: where it is written down.
        inputs: the given inputs, in the device's dtype.
        expected: the right answer to the given inputs.
        first: the device's answer to them.
    """
    for name in SPECIAL_VALUES:
        new = with_values(inputs, name)
        if new is None:
            continue
        if name in _INTEGERS and expected.trace.sizes_from_integers and not _small_results(expected):
            operators = ", ".join(expected.trace.sizes_from_integers)
            record.skip(name, f"{operators} may take an integer as a size, and huge ones need huge memory")
            continue
        gradients = expected.call.gradients and name == OTHER  # of NaN and the like, honest formulas differ
        outcome = _ask(record, name, new, gradients=gradients)
        if outcome is not None and not _is_right(outcome):
            _name(record, name, outcome, first)
            return
        if outcome is not None and outcome.question.expected.trace.free_at_ties and _breaks_ties(record, name, outcome):
            return
    _check_empty(record, inputs)


def _small_results(expected: Expected) -> bool:
    """Return whether only `.item()` takes integers, which gives a number and no tensor."""
    return set(expected.trace.sizes_from_integers) <= {"_local_scalar_dense"} and not any(
        leaf.tensor.numel() > 1 and leaf.path.startswith("output") for leaf in expected.leaves
    )


def _ask(record: ComparisonRecord, name: str, new: Inputs, *, gradients: bool) -> QuestionOutcome | None:
    own = record.expect(new, gradients=gradients)
    if isinstance(own, Refusal):
        record.skip(name, f"the CPU raises {own}")
        return None
    record.values[name] = None
    question = NumericsQuestion(name, own, record.setting.lower, new, False, FailingInputs(new))
    return record.ask_both(question)


def _is_right(outcome: QuestionOutcome) -> bool:
    """Return whether nothing was seen but what the values asked for explain, such as leaving the dtype's range."""
    if outcome.right or outcome.judgement is None:
        return outcome.right
    kinds = {difference.kind for difference in outcome.judgement.differences}
    if not kinds <= {*_REACHED, "non-finite"}:
        return False
    if "non-finite" not in kinds or _cpu_agrees(outcome):
        return True
    return outcome.question.expected.trace.convolves and _spreads_within_rows(outcome)


def _spreads_within_rows(outcome: QuestionOutcome) -> bool:
    """Return whether NaN and infinity are where they belong, and beside that only in the same row of a batch.

    A convolution that works on transformed tiles spreads a NaN over its tile: the CPU does without oneDNN (4680 numbers
    for 4 NaNs with a 3 x 3 kernel, torch 2.14.1), and Winograd kernels do by their nature.
    """
    if isinstance(outcome.answer, Refusal):
        return False
    expected = outcome.question.expected
    leaves = expected.leaves if outcome.question.gradients else expected.forward_leaves
    for mine, right in zip(outcome.answer, leaves, strict=False):
        if not right.is_number_with_rounding or not right.tensor.dim():
            continue
        here, there = ~mine.tensor.isfinite(), ~right.tensor.isfinite()
        rows = there.flatten(1).any(1) if there.dim() > 1 else there
        if bool((there & ~here).any()) or bool(here[~rows].any()):
            return False
    return True


def _cpu_agrees(outcome: QuestionOutcome) -> bool:
    """Return whether the CPU's kernel in the device's dtype gives NaN and infinity in the device's places.

    Fused kernels and formulas differ there from the reference: no device is wrong that does what the CPU does.
    """
    cpu = outcome.question.expected.on_cpu(forward_only=not outcome.question.gradients)
    if isinstance(cpu, Refusal) or isinstance(outcome.answer, Refusal):
        return False
    pairs = [(a.tensor, b.tensor) for a, b in zip(outcome.answer, cpu, strict=False) if a.is_number_with_rounding]
    return all(a.shape == b.shape and torch.equal(a.isfinite(), b.isfinite()) for a, b in pairs)


def _name(record: ComparisonRecord, name: str, outcome: QuestionOutcome, first: Answer) -> None:
    if not record.is_repeatable(outcome):
        record.find("not repeatable", f"the same question gets other answers: {outcome.sentence}", outcome)
        return
    if isinstance(outcome.answer, Refusal):
        record.find("refused", f"with {name} {outcome.sentence}; the CPU does not", outcome)
        return
    difference = outcome.first_difference
    if difference is not None and name in _INTEGERS:
        # a size that depends on values changes where a float makes two integers one
        lost = name == _INTEGERS[0] and difference.kind in ("shape", "structure")
        kind = "integers through float" if lost else difference.kind
        record.find(kind, f"with {name}: {difference.sentence}", outcome)
        return
    if name == OTHER and _outputs_repeat(outcome.answer, first):
        text = f"the answer to the first inputs came again for other values of the same shape: {outcome.sentence}"
        record.find("wrong for other values", text, outcome)
        return
    kind = "wrong for other values" if name == OTHER else "wrong for special values"
    faults = record.look(outcome.question)
    where = f"; wrong on its own: {faults[0].operator}" if faults else ""
    record.find(kind, f"with {name}: {outcome.sentence}{where}", outcome)


def _breaks_ties(record: ComparisonRecord, name: str, outcome: QuestionOutcome) -> bool:
    """Look at the operators that order equal numbers: any order is right, and no number may be there twice."""
    faults = record.look(replace(outcome.question, gradients=False))
    if faults:
        text = f"with {name}: {faults[0].operator}: {faults[0].sentence}"
        record.find("wrong for special values", text, outcome)
    return bool(faults)


def _outputs_repeat(answer: Answer, first: Answer) -> bool:
    mine = tuple(leaf for leaf in answer if leaf.path.startswith("output"))
    before = tuple(leaf for leaf in first if leaf.path.startswith("output"))
    shapes = [leaf.tensor.shape for leaf in mine] == [leaf.tensor.shape for leaf in before]
    numbers = sum(leaf.tensor.numel() for leaf in mine) > 1
    return shapes and numbers and same_bits(mine, before)


def _check_empty(record: ComparisonRecord, inputs: Inputs) -> None:
    """Ask with no rows at all: an empty sum is 0."""
    tensors = [leaf for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor) and leaf.dim()]
    if not tensors or not all(leaf.numel() for leaf in tensors):
        return
    empty = resize(inputs, 0)
    outcome = _ask(record, "empty", empty, gradients=False)
    if outcome is not None and not _is_right(outcome):
        _name(record, "empty", outcome, ())
