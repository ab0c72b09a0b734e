"""What one comparison shares and what it writes down while it goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from course_utils.numerics.reference.answer import Reference, ReferenceOptions, make_reference
from course_utils.numerics.reference.differences import OutputDifference, compare_outputs, worst_ratio
from course_utils.numerics.report.findings import NumericsFinding
from course_utils.numerics.report.numerics_report import NumericsCase
from course_utils.numerics.report.reproducer import Form
from course_utils.numerics.running.runners import DeviceRunner, Fn, at_dtype, observed
from course_utils.numerics.tensors.inputs import Inputs, with_layout
from course_utils.numerics.tensors.leaves import OutputLeaf, flatten


@dataclass(frozen=True)
class ComparisonSetting:
    """One callable in one dtype on one device.

    Args:
        fn: the callable as given; a module is on the CPU.
        runner: the device.
        dtype: the dtype the device computes in.
        precision: the dtype of the reference.
        options: see `ReferenceOptions`.
    """

    fn: Fn
    runner: DeviceRunner
    dtype: torch.dtype
    precision: torch.dtype
    options: ReferenceOptions

    @property
    def lower(self) -> Fn:
        """The callable with its numbers in the device's dtype, on the CPU."""
        return at_dtype(self.fn, self.dtype)

    @property
    def dtype_name(self) -> str:
        """Such as "float16"."""
        return str(self.dtype).removeprefix("torch.")

    def ask(self, fn: Fn, inputs: Inputs) -> tuple[OutputLeaf, ...]:
        """Run on the device, the seed set before."""
        torch.manual_seed(self.options.seed)
        return flatten(self.runner.run(fn, inputs))

    def ask_observed(self, inputs: Inputs) -> tuple[OutputLeaf, ...]:
        """Run the callable; what it wrote into its inputs and buffers comes back too."""
        return self.ask(observed(self.lower), inputs)


@dataclass(frozen=True)
class FailingInputs:
    """Inputs that show a finding.

    Args:
        inputs: the inputs, contiguous.
        layout: how to lay them out, or "".
        form: what to compare.
        transposed_parameters: whether the module's matrices lie transposed in memory.
    """

    inputs: Inputs
    layout: str = ""
    form: Form = "forward"
    transposed_parameters: bool = False

    def laid_out(self, inputs: Inputs) -> Inputs | None:
        """Lay inputs out as these are."""
        return with_layout(inputs, self.layout) if self.layout else inputs


@dataclass
class ComparisonRecord:
    """What was found so far in one dtype.

    Args:
        setting: what is compared.
        findings: in the order found.
        cases: every question asked.
        warnings: reasons to trust the result less.
        shown: inputs that show a finding, the best first.
    """

    setting: ComparisonSetting
    findings: list[NumericsFinding] = field(default_factory=list)
    cases: list[NumericsCase] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    shown: list[FailingInputs] = field(default_factory=list)

    def find(self, kind: str, sentence: str, case: str, **details: Any) -> None:
        """Write a finding down."""
        self.findings.append(NumericsFinding(kind, sentence, self.setting.dtype_name, case, **details))

    def find_difference(
        self, difference: OutputDifference, case: str, *, kind: str | None = None, sentence: str = ""
    ) -> None:
        """Write a difference down as a finding, under its own kind or another."""
        self.find(
            kind or difference.kind,
            sentence or difference.sentence,
            case,
            where=difference.where,
            index=difference.index,
            on_device=difference.on_device,
            expected=difference.expected,
            bound=difference.bound,
        )

    def compare(
        self,
        name: str,
        inputs: Inputs,
        on_device: tuple[OutputLeaf, ...],
        reference: Reference,
        cpu: Sequence[OutputLeaf] | None = None,
    ) -> tuple[OutputDifference, ...]:
        """Compare one answer with the reference and keep both."""
        differences = compare_outputs(on_device, reference.leaves, reference.bounds, dtype=self.setting.dtype, cpu=cpu)
        worst = worst_ratio(on_device, reference.leaves, reference.bounds)
        self.cases.append(
            NumericsCase(name, self.setting.dtype_name, not differences, worst, inputs, on_device, reference.leaves)
        )
        return differences

    def try_reference(self, fn: Fn, inputs: Inputs, replicas: int | None = None) -> Reference | None:
        """Make a reference, or return None where the callable refuses these inputs on the CPU."""
        setting = self.setting
        options = replace(setting.options, replicas=replicas or setting.options.replicas)
        try:
            return make_reference(fn, inputs, setting.dtype, options, setting.precision)
        except Exception:  # other inputs than the given ones need not be valid
            return None

    def agrees(self, fn: Fn, inputs: Inputs, expected: Reference) -> bool:
        """Ask the device without writing anything down."""
        try:
            answer = self.setting.ask(observed(fn), inputs)
        except Exception:
            return False
        return not compare_outputs(answer, expected.leaves, expected.bounds, dtype=self.setting.dtype)
