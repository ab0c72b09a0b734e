"""Every planted fault is found and named, and the same callable on an honest device is not accused."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from course_utils.numerics import FAULTS, FaultyDevice, UnlabelledDevice, compare_numerics, draw


def attention(x):
    return F.scaled_dot_product_attention(x, x, x, is_causal=True)


def two_writes(x):
    x = torch.zeros_like(x)
    x[1] = 1
    x[2] = 3
    return x


class Blend(nn.Module):
    """Computes a product with baddbmm at beta=0, whose first argument must not be read."""

    def forward(self, x):
        """Multiply a batch of matrices by its transpose."""
        unset = torch.full((x.shape[0], x.shape[1], x.shape[1]), float("nan"), dtype=x.dtype, device=x.device)
        return torch.baddbmm(unset, x, x.transpose(1, 2), beta=0)


torch.manual_seed(0)
# fault -> (a callable that meets it, its inputs, the kind it has to be named as)
MEETS = {
    "ignores strides": (F.silu, (draw(6, 10),), "ignores strides"),
    "wrong above": (F.silu, (draw(6, 10),), "wrong above a size"),
    "forgets an in-place write": (two_writes, (draw(3),), "forgets an in-place write"),
    "integers through float": (lambda a: a + 1, (torch.arange(10),), "integers through float"),
    "leaks future tokens": (attention, (draw(1, 2, 10, 8),), "leaks future tokens"),
    "not repeatable": (nn.Linear(10, 4), (draw(6, 10),), "not repeatable"),
    "drops a term": (nn.Linear(10, 4), (draw(6, 10),), "drops a term of a reduction"),
    "wrong gradient": (nn.Linear(10, 4), (draw(6, 10),), "gradient"),
    "uninitialised memory": (Blend(), (draw(2, 3, 4),), "non-finite"),
    "no float64": (nn.Linear(10, 4), (draw(6, 10).double(),), "refused"),
}


def test_every_fault_has_its_test():
    """A fault that nothing here meets would be untested."""
    assert set(MEETS) == set(FAULTS)


@pytest.mark.parametrize("fault", MEETS)
def test_fault_is_found_and_named(fault):
    """The report names the planted fault, and nothing else: one fault, one name."""
    fn, inputs, kind = MEETS[fault]
    report = compare_numerics(fn, inputs, device=FaultyDevice(fault))

    assert report.kinds == (kind,)
    assert report.reproducer


@pytest.mark.parametrize("fault", MEETS)
def test_without_the_fault_nothing_is_found(fault):
    """The same question to the honest CPU gives a clean report."""
    fn, inputs, _ = MEETS[fault]

    assert compare_numerics(fn, inputs, device="cpu").kinds == ()


def test_size_is_found_exactly():
    """A device wrong above 1000 elements is right with 100 rows of 10 and wrong with 101."""
    (finding,) = compare_numerics(F.silu, (draw(6, 10),), device=FaultyDevice("wrong above", above=1000)).findings

    assert "right up to leading size 100 (1000 elements" in finding.sentence
    assert "wrong from 101 on" in finding.sentence


def test_given_size_above_the_limit():
    """Inputs that already are too large are wrong as given, and the size below which all is right is found."""
    report = compare_numerics(torch.exp, (draw(64),), device=FaultyDevice("wrong above", above=25))

    assert report.kinds == ("wrong above a size",)
    assert "right up to leading size 25" in report.findings[0].sentence


@pytest.mark.parametrize("block", [2, 3, 4])
def test_blocks_of_a_leak_are_counted(block):
    """The report says how many tokens see each other."""
    report = compare_numerics(
        attention, (draw(1, 2, 12, 8),), device=FaultyDevice("leaks future tokens", block=block), gradients=False
    )
    leak = next(finding for finding in report.findings if finding.kind == "leaks future tokens")

    assert f"blocks of {block} tokens" in leak.sentence


def test_not_repeatable_is_not_differs_from_cpu():
    """F.linear that answers twice differently is "not repeatable", not "error" (pytorch #180776)."""
    weight = draw(5, 8, seed=1)
    report = compare_numerics(F.linear, (draw(2, 3, 8), weight), device=FaultyDevice("not repeatable"))

    assert report.kinds == ("not repeatable",)
    assert "more than rounding explains" in report.findings[0].sentence


@pytest.mark.parametrize("fn", [F.softplus, F.elu, F.silu, torch.digamma], ids=lambda fn: fn.__name__)
def test_strides_matter_only_to_a_device_that_ignores_them(fn):
    """Contiguous inputs pass and strided ones fail (pytorch #131736, #124834, #139006, #150967, #161641, #175187)."""
    report = compare_numerics(fn, (draw(4, 6).abs() + 0.5,), device=FaultyDevice("ignores strides"))
    agrees = {case.name: case.agrees for case in report.cases}

    assert agrees["as given"]
    assert not agrees["transposed inputs"]
    assert not agrees["sliced inputs"]


def test_the_strided_input_is_named():
    """Of several inputs, the report says which one alone is enough to go wrong (pytorch #150967: a condition)."""
    condition = torch.arange(12).view(3, 4) % 3 == 0
    report = compare_numerics(
        torch.where, (condition, draw(3, 4), draw(3, 4, seed=1)), device=FaultyDevice("ignores strides")
    )

    assert "ignores strides" in report.kinds
    assert any("input 0, 1, 2 alone" in warning for warning in report.warnings)


def test_unknown_fault():
    """A misspelt fault gets the nearest name."""
    with pytest.raises(ValueError, match="no fault 'ignore strides'; the nearest: ignores strides"):
        FaultyDevice("ignore strides")


def test_faulty_device_leaves_its_inputs_alone():
    """Neither the inputs nor the module of the caller are changed by a run."""
    x, layer = draw(3, 4), nn.Linear(4, 2)
    before = x.clone(), layer.weight.clone()
    FaultyDevice("drops a term").run(lambda a: a.add_(1), (x,))
    FaultyDevice("drops a term").run(layer, (x,))

    assert torch.equal(x, before[0])
    assert torch.equal(layer.weight, before[1])


@pytest.mark.parametrize("fault", FAULTS)
def test_an_unlabelled_device_does_not_name_its_fault(fault):
    """Neither its attributes nor its text hold the fault, and it has the fault all the same."""
    device = UnlabelledDevice(fault)

    assert not any(name in f"{vars(device)} {device!r}" for name in FAULTS)
    x = draw(3000)
    if fault == "wrong above":
        assert not torch.equal(device.run(torch.exp, (x,)), torch.exp(x))
    if fault == "not repeatable":
        assert not torch.equal(device.run(torch.exp, (x,)), device.run(torch.exp, (x,)))
