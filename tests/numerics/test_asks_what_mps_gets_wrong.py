"""Every kind of fault that a device had, planted into the CPU: found, and under one right name."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from benchmarks.numerics_zoo.faults import FAULTS
from course_utils.numerics import compare_numerics, draw

BY_NAME = {fault.name: fault for fault in FAULTS}
# one of each kind; benchmarks/numerics_accuracy.py asks all of them
FEW = (
    *("gradient of sum", "gradient of mse_loss", "gradient of nn.MSELoss", "gradient of cross_entropy"),
    *("gradient of the bias only", "gradient for batches above 64"),
    *("result cached by shape", "offset of silu", "strides of silu", "strides of where"),
    *("rows with steps in F.linear", "permuted heads in attention", "channels_last input of conv"),
    *("channels_last weight of conv", "batch norm backward in channels_last", "conv weight that is a slice"),
    *(
        "stride 0 in silu",
        "batch 1",
        "batch above 12",
        "batch above 8 of conv",
        "softmax beyond 1024",
        "relu above 65536",
    ),
    *("every call 3 of silu", "every call 10 of silu", "every call 3 of mm", "raises later, silu"),
    *("unique through float", "mask of integers through float", "sum of int64 as int32", "sum of uint8 saturates"),
    *("amax ignores NaN", "tanh above 40", "softmax without the maximum", "dead row of a mask", "empty sum"),
    *("topk at ties", "unstable sort", "tail of numel % 4"),
    *("dilation ignored", "groups rotated", "var without correction", "duplicate indices", "dense row of NaN"),
    *("keepdim ignored", "half accumulation", "matmul in TF32", "drops a term of a long mm", "gelu one number"),
)


@pytest.mark.parametrize("name", FEW)
def test_planted_fault_is_found_under_its_name(name):
    """The report has the right kind and no other: one fault, one name, and so no wrong cure."""
    fault = BY_NAME[name]
    fn, inputs = fault.made()
    report = compare_numerics(fn, inputs, device=fault.device())

    assert len(report.kinds) == 1, str(report.findings)
    assert report.kinds[0] in fault.kinds


def test_there_are_enough_faults_for_the_benchmark():
    """The benchmark plants at least a hundred, each with a name of its own."""
    assert len(FAULTS) >= 100
    assert len(BY_NAME) == len(FAULTS)


def test_item_of_an_integer_beyond_float32():
    """`.item()` gives a number, and is asked beyond 2**24 too."""

    class ThroughFloat:
        name = "numbers through float"

        def run(self, fn, inputs):
            outputs = fn(*inputs)
            return outputs | {"output": int(torch.tensor(outputs["output"]).float())}

    report = compare_numerics(lambda n: n.max().item(), (torch.arange(6),), device=ThroughFloat())

    assert report.kinds == ("integers through float",)


@pytest.mark.parametrize(
    ("fn", "name"), [(lambda x: x, "as given"), (F.mse_loss, "gradient"), (torch.sum, "leading size 1")]
)
def test_what_was_asked_is_listed(fn, name):
    """The report ends with layouts, sizes, dtypes and values that were asked, and what was not."""
    inputs = (draw(4, 6), draw(4, 6, seed=1)) if fn is F.mse_loss else (draw(4, 6),)
    report = compare_numerics(fn, inputs, device="cpu")

    assert name in {case.name for case in report.cases}
    assert report.asked[0].layouts
    assert "NaN" in report.asked[0].values
    assert report.asked[0].sizes["leading size"][0] == 1
    assert str(report).splitlines()[-1].lstrip(" !").startswith("not asked:")


def test_what_cannot_be_asked_is_listed_with_its_reason():
    """Token numbers cannot be moved past 2**24, and a bincount of them would need huge memory."""
    embedded = compare_numerics(nn.Embedding(9, 4), (torch.arange(6),), device="cpu")
    counted = compare_numerics(torch.bincount, (torch.arange(6),), device="cpu")

    assert any("integers past 2**24" in entry.question for entry in embedded.not_asked)
    assert any("IndexError" in entry.reason for entry in embedded.not_asked)
    assert any("huge memory" in entry.reason for entry in counted.not_asked)


def test_agreement_states_its_rule_and_what_would_have_been_seen():
    """The text says which rule judged, and the smallest error that would have been seen."""
    report = compare_numerics(nn.Linear(16, 4), (draw(8, 16),), device="cpu", largest_elements=0)

    assert report.clean
    assert 0 < report.cases[0].visible < 1e-5
    assert "would have been seen" in " ".join(report.rules())
    assert report.cases[0].rule in " ".join(report.rules())


def test_sizes_beyond_the_given_one_are_asked_whatever_it_is():
    """Batch 1 and twice the given size are asked above any limit on elements."""
    report = compare_numerics(torch.relu, (draw(20, 1000),), device="cpu", largest_elements=1000, gradients=False)

    assert {1, 41} <= set(report.asked[0].sizes["leading size"])
    assert max(report.asked[0].sizes["last size"]) > 2000
