"""Questions beyond the inputs as given: other sizes, large integers, exact sums, future tokens."""

from __future__ import annotations

import torch

from course_utils.numerics.questions import causality, exact_sums
from course_utils.numerics.questions.record import ComparisonRecord, FailingInputs
from course_utils.numerics.questions.sizes import SizeSearch, smallest_failing
from course_utils.numerics.reference.answer import Reference
from course_utils.numerics.reference.trace import traced
from course_utils.numerics.running.runners import observed, run_on_cpu
from course_utils.numerics.tensors.inputs import Inputs, elements, leading_size, past_float32, resize
from course_utils.reporting.error_text import first_line

FEW_REPLICAS = 3


def search_sizes(record: ComparisonRecord, inputs: Inputs, sizes: tuple[int, ...]) -> SizeSearch:
    """Find the smallest leading size that is wrong."""

    def fails(size: int) -> bool | None:
        resized = resize(inputs, size)
        # few replicas suffice to accept a size; rejecting one needs all
        for replicas in (FEW_REPLICAS, None):
            expected = record.try_reference(observed(record.setting.fn), resized, replicas)
            if expected is None:
                return None
            if record.agrees(record.setting.lower, resized, expected):
                return False
        return True

    return smallest_failing(fails, sizes)


def report_size(record: ComparisonRecord, inputs: Inputs, found: SizeSearch) -> None:
    """Write down from which size on the callable is wrong."""
    if found.failed is None or found.passed is None:
        return
    wrong, right = resize(inputs, found.failed), resize(inputs, found.passed)
    expected = record.try_reference(observed(record.setting.fn), wrong)
    try:
        answer = record.setting.ask_observed(wrong)
    except Exception as error:
        text = f"the device raises {first_line(error)}"
    else:
        differences = record.compare(f"leading size {found.failed}", wrong, answer, expected) if expected else ()
        text = differences[0].sentence if differences else "another answer than before"
    record.find(
        "wrong above a size",
        f"right up to leading size {found.passed} ({elements(right)} elements in the largest input), wrong from "
        f"{found.failed} on ({elements(wrong)} elements): {text}",
        f"leading size {found.failed}",
    )
    record.shown.insert(0, FailingInputs(wrong))


def check_large_integers(record: ComparisonRecord, inputs: Inputs, reference: Reference) -> None:
    """Ask again with integers past 2**24, where float32 loses odd ones."""
    large = None if reference.trace.sized_by_values else past_float32(inputs)
    expected = None if large is None else record.try_reference(observed(record.setting.fn), large)
    if large is None or expected is None:
        return
    case = "integers past 2**24"
    try:
        answer = record.setting.ask_observed(large)
    except Exception as error:
        record.find("refused", f"the device raises {first_line(error)} for integers past 2**24", case)
        return
    for difference in record.compare(case, large, answer, expected):
        record.find_difference(difference, case)
        record.shown.append(FailingInputs(large))


def check_exact_sums(record: ComparisonRecord, inputs: Inputs, reference: Reference) -> bool:
    """Ask for sums of 1 and -1, in which nothing rounds; return whether a term is missing."""
    setting = record.setting
    torch.manual_seed(setting.options.seed)
    length = setting.options.reduction_length or reference.trace.longest
    missing = exact_sums.missing_term(
        setting.runner, setting.fn, inputs, setting.dtype, length=length, seed=setting.options.seed
    )
    if missing is None:
        return False
    record.find(
        "drops a term of a reduction",
        str(missing),
        "exact sums",
        index=missing.index,
        on_device=missing.on_device,
        expected=missing.expected,
    )
    record.shown.append(FailingInputs(exact_sums.sign_inputs(inputs, setting.options.seed)))
    return True


def check_causality(record: ComparisonRecord, inputs: Inputs, reference: Reference, causal: bool | int | None) -> bool:
    """Change future tokens; return whether an earlier output changed."""
    if causal is False:
        return False
    setting = record.setting
    dims = causality.causal_dims(reference.fn, reference.inputs)
    wanted = dims if causal is None or causal is True else (causal,)
    if causal is not None and not set(wanted) & set(dims):
        record.find(
            "leaks future tokens",
            "the callable itself is not causal: the reference on the CPU leaks too",
            "future tokens changed",
        )
        return False
    for dim in wanted:
        torch.manual_seed(setting.options.seed)
        leak = causality.find_leak(setting.runner, observed(setting.lower), inputs, dim, reference)
        if leak is not None:
            record.find("leaks future tokens", str(leak), "future tokens changed", index=leak.seen[0])
            record.shown.append(FailingInputs(inputs))
            return True
    return False


def growing_sizes(reference: Reference, inputs: Inputs, largest_elements: int) -> tuple[int, ...]:
    """List leading sizes above the given one, up to so many elements; few where more elements mean more operators."""
    size = leading_size(inputs)
    if size is None or elements(inputs) == 0:
        return ()
    largest = size * largest_elements // elements(inputs)
    doubled = resize(reference.inputs, 2 * size)
    try:
        _, trace = traced(lambda: run_on_cpu(reference.fn, doubled))
    except Exception:  # the callable insists on its size
        return ()
    if trace.operators > 1.2 * reference.trace.operators:  # a loop over this dimension, as in recurrent layers
        largest = min(largest, 2 * size)
    sizes = []
    while size < largest:
        size = min(4 * size, largest)
        sizes.append(size)
    return tuple(sizes)
