"""One comparison in one dtype: puts questions to the device, judges the answers, writes everything down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch

from course_utils.numerics.reference.differences import OutputDifference
from course_utils.numerics.reference.expected import CpuCall, Expected, expect
from course_utils.numerics.reference.judge import Judgement, NumericsVerdict, judge
from course_utils.numerics.reference.operator_look import OperatorFault, OperatorLook
from course_utils.numerics.report.asked import AskedQuestions, NotAsked
from course_utils.numerics.report.findings import NumericsFinding
from course_utils.numerics.report.numerics_report import NumericsCase
from course_utils.numerics.report.reproducer import Form
from course_utils.numerics.running.attempts import Answer, Refusal, attempt
from course_utils.numerics.running.observed import ObservedCall
from course_utils.numerics.running.runners import DeviceRunner, Fn, LookedAt, TorchDevice, at_dtype, copied
from course_utils.numerics.running.seeds import set_seed
from course_utils.numerics.tensors.inputs import Inputs, fresh
from course_utils.numerics.tensors.layouts import with_layout
from course_utils.numerics.tensors.leaves import same_bits

_KEEP_ELEMENTS = 2**20


@dataclass(frozen=True)
class ComparisonSetting:
    """One callable in one dtype on one device.

    Args:
        fn: the callable as given; a module is on the CPU.
        runner: the device.
        dtype: the dtype the device computes in.
        precision: the dtype of the reference.
        seed: of everything that is drawn.
        looks: whether each operator is looked at on its own; not where the device is the CPU itself.
    """

    fn: Fn
    runner: DeviceRunner
    dtype: torch.dtype
    precision: torch.dtype
    seed: int
    looks: bool

    @cached_property
    def lower(self) -> Fn:
        """The callable with its numbers in the device's dtype, on the CPU; it is never called itself."""
        return at_dtype(self.fn, self.dtype)

    @cached_property
    def exact(self) -> Fn:
        """The callable with the device's numbers in the reference's precision; it is never called itself."""
        return at_dtype(self.lower, self.precision)

    @property
    def dtype_name(self) -> str:
        """Such as "float16"."""
        return str(self.dtype).removeprefix("torch.")

    def run(self, fn: Fn, inputs: Inputs) -> Answer | Refusal:
        """Run on the device, the seed set before."""
        if not isinstance(self.runner, TorchDevice):  # one of the reader's own may call what it gets as it is
            fn, inputs = copied(fn), fresh(inputs)
        set_seed(self.seed)
        return attempt(lambda: self.runner.run(fn, inputs))


@dataclass(frozen=True)
class FailingInputs:
    """Inputs that show a finding.

    Args:
        inputs: the inputs, contiguous.
        layout: how to lay them out, or "".
        form: what to compare.
        parameter_layout: how the module's parameters lie in memory, or "".
    """

    inputs: Inputs
    layout: str = ""
    form: Form = "forward"
    parameter_layout: str = ""

    def laid_out(self, inputs: Inputs) -> Inputs | None:
        """Lay inputs out as these are."""
        return with_layout(inputs, self.layout) if self.layout else inputs


@dataclass(frozen=True)
class NumericsQuestion:
    """One question to the device.

    Args:
        name: such as "transposed inputs".
        expected: the right answer.
        fn: the callable in the device's dtype, its parameters laid out as asked.
        inputs: in the device's dtype, laid out as asked.
        gradients: whether backward runs too.
        shown: how a reproducer shows it.
    """

    name: str
    expected: Expected
    fn: Fn
    inputs: Inputs
    gradients: bool
    shown: FailingInputs

    @property
    def arguments(self) -> Inputs:
        """Inputs and, for gradients, cotangents."""
        return (*self.inputs, *self.expected.arguments[len(self.inputs) :]) if self.gradients else self.inputs

    def observed(self) -> ObservedCall:
        """Wrap the callable so that everything it computes and writes comes back."""
        call = self.expected.call
        return ObservedCall(
            self.fn, len(self.inputs), gradients=self.gradients, dtype=call.dtype, seed=call.seed
        )  # fmt: skip


@dataclass(frozen=True)
class QuestionOutcome:
    """What came of one question.

    Args:
        question: the question.
        answer: what the device gave, or what it raised.
        judgement: the verdict; None where it raised.
    """

    question: NumericsQuestion
    answer: Answer | Refusal
    judgement: Judgement | None

    @property
    def right(self) -> bool:
        """True where the device answered and no fault was seen."""
        return self.judgement is not None and self.judgement.verdict is not NumericsVerdict.FAULT

    @property
    def agrees(self) -> bool:
        """True where the answer agrees with the reference."""
        return self.judgement is not None and self.judgement.verdict is NumericsVerdict.AGREES

    @property
    def first_difference(self) -> OutputDifference | None:
        """The difference that counts most."""
        differences = self.judgement.differences if self.judgement else ()
        return max(differences, key=lambda difference: difference.excess, default=None)

    @property
    def only_overflows(self) -> bool:
        """True where nothing differs but numbers that no device can hold in this dtype."""
        differences = self.judgement.differences if self.judgement else ()
        return bool(differences) and all(difference.kind == "overflow" for difference in differences)

    @property
    def sentence(self) -> str:
        """What is wrong."""
        difference = self.first_difference
        return f"the device raises {self.answer}" if difference is None else difference.sentence


@dataclass
class ComparisonRecord:
    """Everything written down so far in one dtype."""

    setting: ComparisonSetting
    progress: Callable[[str], None]
    findings: list[NumericsFinding] = field(default_factory=list)
    undecided: list[NumericsFinding] = field(default_factory=list)
    cases: list[NumericsCase] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    not_asked: list[NotAsked] = field(default_factory=list)
    shown: list[FailingInputs] = field(default_factory=list)
    layouts: dict[str, None] = field(default_factory=dict)
    sizes: dict[str, set[int]] = field(default_factory=dict)
    values: dict[str, None] = field(default_factory=dict)
    calls: int = 0
    operators: int = 0
    gradients: bool = False

    @property
    def asked(self) -> AskedQuestions:
        """What was asked so far."""
        return AskedQuestions(
            self.setting.dtype_name,
            tuple(self.layouts),
            {dim: tuple(sorted(sizes)) for dim, sizes in self.sizes.items()},
            tuple(self.values),
            self.calls,
            self.operators,
            self.gradients,
        )

    def skip(self, question: str, reason: object) -> None:
        """Write down what was not asked."""
        entry = NotAsked(question, str(reason), self.setting.dtype_name)
        if entry not in self.not_asked:
            self.not_asked.append(entry)

    def expect(
        self, inputs: Inputs, *, gradients: bool, around: Callable[[Fn], Fn] = lambda fn: fn
    ) -> Expected | Refusal:
        """Compute the right answer for inputs in the device's dtype, of the callable or of what is put around it."""
        setting = self.setting
        called, exact = around(setting.lower), around(setting.exact)
        return expect(CpuCall(called, inputs, setting.dtype, setting.precision, gradients, setting.seed), exact)

    def answer(self, question: NumericsQuestion) -> Answer | Refusal:
        """Call the device."""
        self.calls += 1
        return self.setting.run(question.observed(), question.arguments)

    def ask(self, question: NumericsQuestion, *, quiet: bool = False) -> QuestionOutcome:
        """Put a question, judge the answer and, unless quiet, write the case down."""
        self.progress(question.name)
        answer = self.answer(question)
        if isinstance(answer, Refusal):
            return QuestionOutcome(question, answer, None)
        judgement = self._judge(question, answer)
        if not quiet:
            self._write_down(question, answer, judgement)
        return QuestionOutcome(question, answer, judgement)

    def ask_both(self, question: NumericsQuestion, *, quiet: bool = False) -> QuestionOutcome | None:
        """Ask for the outputs alone and, where they are right and there are gradients, with gradients.

        Returns:
            What came of it; None where the CPU raises in this dtype as the device does, and nothing was asked.
        """
        outcome = self.ask_unless_the_cpu_raises(question, quiet=quiet)
        if outcome is None or not outcome.right or not question.expected.call.gradients:
            return outcome
        shown = replace(question.shown, form="gradient")
        both = replace(question, name=f"gradient, {question.name}", gradients=True, shown=shown)
        return self.ask_unless_the_cpu_raises(both, quiet=quiet)

    def ask_unless_the_cpu_raises(self, question: NumericsQuestion, *, quiet: bool = False) -> QuestionOutcome | None:
        """Put a question; None, and an entry in `not_asked`, where device and CPU both raise in this dtype."""
        outcome = self.ask(question, quiet=quiet)
        if not isinstance(outcome.answer, Refusal):
            return outcome
        on_cpu = question.expected.on_cpu(forward_only=not question.gradients)
        if not isinstance(on_cpu, Refusal):
            return outcome
        self.skip(question.name, f"the CPU raises {on_cpu} in {self.setting.dtype_name}")
        return None

    def _judge(self, question: NumericsQuestion, answer: Answer) -> Judgement:
        expected = question.expected
        forward_only = not question.gradients
        # layouts often give the same bits as the given inputs did
        known = expected.judged.get(forward_only)
        if known is not None and same_bits(known[0], answer) and _same_dtypes(known[0], answer):
            judgement: Judgement = known[1]
            return judgement
        judgement = judge(answer, expected, forward_only=forward_only)
        if judgement.verdict is NumericsVerdict.AGREES and known is None:
            expected.judged[forward_only] = (self._once(answer, expected, forward_only), judgement)
        return judgement

    @staticmethod
    def _once(answer: Answer, expected: Expected, forward_only: bool) -> Answer:
        """Return the CPU's own answer where it has the same bits: a large model's gradients are kept once."""
        on_cpu = expected.on_cpu(forward_only=forward_only)
        if isinstance(on_cpu, Refusal) or not same_bits(on_cpu, answer) or not _same_dtypes(on_cpu, answer):
            return answer
        return on_cpu

    def _write_down(self, question: NumericsQuestion, answer: Answer, judgement: Judgement) -> None:
        leaves = question.expected.leaves if question.gradients else question.expected.forward_leaves
        large = sum(leaf.tensor.numel() for leaf in answer) > _KEEP_ELEMENTS
        agrees = judgement.verdict is NumericsVerdict.AGREES
        if agrees and large and self.cases:
            answer, leaves = (), ()
        self.cases.append(
            NumericsCase(
                question.name,
                self.setting.dtype_name,
                judgement.verdict.value,
                judgement.worst,
                judgement.rule.value,
                judgement.visible,
                judgement.not_compared,
                question.inputs,
                answer,
                leaves,
            )
        )
        if judgement.verdict is NumericsVerdict.UNDECIDED:
            worst = max(judgement.differences, key=lambda difference: difference.excess)
            text = (
                f"{worst.sentence}; further off than usual, and not so far that rounding is ruled out: most likely a "
                "relu, a tie or a cancellation; other inputs would tell"
            )
            self.undecided.append(NumericsFinding("error", text, self.setting.dtype_name, question.name))

    def is_repeatable(self, outcome: QuestionOutcome) -> bool:
        """Ask the same again; return whether the device is wrong again, and in the same way."""
        forward = replace(outcome.question, gradients=False)
        for _ in range(2):
            self.answer(forward)  # so that a fault of every so many-th call is met at another place
            again = self.ask(outcome.question, quiet=True)
            if again.right != outcome.right:
                return False
            if isinstance(again.answer, Refusal) or isinstance(outcome.answer, Refusal):
                if type(again.answer) is not type(outcome.answer):
                    return False
                continue
            if not same_bits(again.answer, outcome.answer) and not _close(again.answer, outcome.answer):
                return False
        return True

    def look(self, question: NumericsQuestion) -> list[OperatorFault]:
        """Look at each operator on its own while the device answers; nothing where the device is the CPU itself."""
        if not self.setting.looks:
            return []
        self.progress(f"{question.name}, each operator")
        look = OperatorLook()
        self.calls += 1
        answer = self.setting.run(LookedAt(question.observed(), look), question.arguments)
        if isinstance(answer, Refusal):
            self.skip(f"operators alone, {question.name}", answer)
            return []
        self.operators += look.judged
        for text in look.skipped:
            self.skip("an operator alone", text)
        return look.faults

    def find(self, kind: str, sentence: str, outcome: QuestionOutcome | str, **details: Any) -> None:
        """Write a finding down; of an outcome, with its numbers and inputs."""
        if isinstance(outcome, str):
            self.findings.append(NumericsFinding(kind, sentence, self.setting.dtype_name, outcome, **details))
            return
        difference = outcome.first_difference
        if difference is not None:
            details = {
                "where": difference.where,
                "index": difference.index,
                "on_device": difference.on_device,
                "expected": difference.expected,
                "bound": difference.bound,
            } | details
        name = outcome.question.name
        self.findings.append(NumericsFinding(kind, sentence, self.setting.dtype_name, name, **details))
        self.shown.append(outcome.question.shown)


def _same_dtypes(left: Answer, right: Answer) -> bool:
    return all(a.tensor.dtype == b.tensor.dtype for a, b in zip(left, right, strict=True))


def _close(left: Answer, right: Answer) -> bool:
    """Return whether two wrong answers are the same but for rounding."""
    for a, b in zip(left, right, strict=False):
        if a.tensor.shape != b.tensor.shape or a.tensor.dtype != b.tensor.dtype:
            return False
        if not a.is_number_with_rounding:
            if not torch.equal(a.tensor, b.tensor):
                return False
            continue
        usual = a.tensor.abs().nan_to_num(0, 0, 0).double().square().mean().sqrt() if a.tensor.numel() else 0.0
        tolerance = 64 * torch.finfo(a.tensor.dtype).eps
        if not torch.allclose(a.tensor, b.tensor, rtol=tolerance, atol=float(tolerance * usual), equal_nan=True):
            return False
    return True
