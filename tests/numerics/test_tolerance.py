"""The tolerance grows like sqrt(K)*eps, lets honest rounding through, and still shows one missing term."""

import pytest
import torch
from torch import nn

from course_utils.numerics import FaultyDevice, compare_numerics, draw
from course_utils.numerics.reference.answer import ReferenceOptions, make_reference
from course_utils.numerics.reference.reductions import reduction_length
from course_utils.numerics.reference.tolerance import ErrorBound, bound_for
from course_utils.numerics.tensors.operators import operator_name

HALF = (torch.float16, torch.bfloat16)


def limit_of_a_dot(length, dtype=torch.bfloat16):
    """Return the tolerance of a dot product of signs, whose terms have size 1."""
    signs = [torch.where(draw(length, seed=s) > 0, 1.0, -1.0).to(dtype) for s in (0, 1)]
    signs[1][: length // 2] = signs[0][: length // 2]
    signs[1][length // 2 :] = -signs[0][length // 2 :]  # the sum is 0: all tolerance comes from the terms
    reference = make_reference(torch.dot, tuple(signs), dtype, ReferenceOptions(replicas=64), torch.float64)
    assert float(reference.leaves[0].tensor) == 0
    return float(reference.bounds[0].limit)


def test_limit_grows_like_the_root_of_the_length():
    """Sixteen times as many terms of the same size are allowed four times the error (pytorch #183621)."""
    assert limit_of_a_dot(16384) / limit_of_a_dot(1024) == pytest.approx(4, rel=0.35)


def test_limit_follows_the_dtype():
    """bfloat16's eps is eight times float16's, and so is its tolerance."""
    ratio = limit_of_a_dot(4096, torch.bfloat16) / limit_of_a_dot(4096, torch.float16)

    assert ratio == pytest.approx(8, rel=0.35)


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("length", [4096, 16384])
@pytest.mark.parametrize("seed", [0, 10, 20])
def test_rounding_passes_and_a_dropped_element_fails(dtype, length, seed):
    """A deep dot product with only rounding errors is clean; with one element dropped it is not (pytorch #183621)."""
    pair = draw(length, seed=seed), draw(length, seed=seed + 1)

    def compare(device):
        return compare_numerics(torch.dot, pair, dtypes=[dtype], device=device, gradients=False, largest_elements=0)

    assert compare("cpu").clean
    assert "drops a term of a reduction" in compare(FaultyDevice("drops a term")).kinds


class DotOnly:
    """A stand-in whose dot product is computed in float32 and rounded once, with or without its last element."""

    def __init__(self, drop):
        self.drop, self.name = drop, "stand-in"

    def run(self, fn, inputs):
        """Answer for torch.dot, observed or not."""
        tensors = [t.clone() for t in inputs]
        count = tensors[0].numel() - self.drop
        value = (tensors[0][:count].double() * tensors[1][:count].double()).sum().float().to(tensors[0].dtype)
        after = {f"input {place} after the call": t for place, t in enumerate(tensors)}
        return {"output": value, **after}


def test_stand_in_with_rounding_only():
    """A device of the reader's own, an object with name and run, is judged alike."""
    pair = draw(4096, dtype=torch.bfloat16), draw(4096, dtype=torch.bfloat16, seed=1)

    assert compare_numerics(torch.dot, pair, device=DotOnly(0), gradients=False, largest_elements=0).clean
    assert not compare_numerics(torch.dot, pair, device=DotOnly(1), gradients=False, largest_elements=0).clean


@pytest.mark.parametrize("dtype", HALF)
def test_pairwise_sums_in_half_precision_pass(dtype):
    """A kernel that adds up in blocks, each rounded to half precision, is still honest."""

    class Blocks(DotOnly):
        def run(self, fn, inputs):
            left, right = inputs
            blocks = (left.double() * right.double()).view(-1, 256).sum(1).to(left.dtype)
            while blocks.numel() > 1:
                blocks = (blocks[::2].double() + blocks[1::2].double()).to(left.dtype)
            after = {f"input {place} after the call": t for place, t in enumerate(inputs)}
            return {"output": blocks[0], **after}

    pair = draw(4096, dtype=dtype), draw(4096, dtype=dtype, seed=1)
    report = compare_numerics(torch.dot, pair, device=Blocks(0), gradients=False, largest_elements=0)

    assert "error" not in report.kinds


def test_length_is_found_and_stated():
    """The report states K and the operator it was found at; a given K replaces it."""
    layer = nn.Linear(300, 4)
    found = compare_numerics(layer, (draw(2, 300),), device="cpu", gradients=False)
    given = compare_numerics(layer, (draw(2, 300),), device="cpu", gradients=False, reduction_length=999)

    assert "K = 300 (found at aten::addmm)" in str(found)
    assert "K = 999 (given)" in str(given)


@pytest.mark.parametrize(
    ("func", "args", "length"),
    [
        (torch.ops.aten.mm.default, (torch.ones(2, 7), torch.ones(7, 3)), 7),
        (torch.ops.aten.addmm.default, (torch.ones(3), torch.ones(2, 7), torch.ones(7, 3)), 7),
        (torch.ops.aten.sum.default, (torch.ones(4, 5),), 20),
        (torch.ops.aten.sum.dim_IntList, (torch.ones(4, 5), [1]), 5),
        (torch.ops.aten._softmax.default, (torch.ones(4, 9), 1, False), 9),
        (torch.ops.aten.convolution.default, (torch.ones(1, 2, 5, 5), torch.ones(4, 2, 3, 3)), 18),
        (torch.ops.aten.native_layer_norm.default, (torch.ones(4, 6), [6], None, None, 1e-5), 6),
        (torch.ops.aten.relu.default, (torch.ones(4),), 1),
    ],
    ids=str,
)
def test_reduction_lengths(func, args, length):
    """K is the number of terms behind one number of the result."""
    assert reduction_length(func, args) == length


def test_operator_names_drop_the_underscore():
    """An in-place form is the same operator."""
    assert operator_name(torch.ops.aten.add_.Tensor) == "add"


def test_bound_spares_few_jumps_only():
    """A few numbers may jump as far as honest rounding makes them; many, or further ones, may not."""
    bound = ErrorBound(torch.full((10,), 1e-6), spare=2, spare_limit=0.5)
    error = torch.zeros(10)
    error[:2] = 0.4
    assert not bool(bound.exceeded(error).any())
    error[2] = 0.4
    assert int(bound.exceeded(error).sum()) == 3
    far = torch.zeros(10)
    far[0] = 0.6
    assert int(bound.exceeded(far).sum()) == 1


def test_exact_values_have_a_bound_above_zero():
    """Where nothing rounds, an eps of the value and the smallest number are still allowed."""
    value = torch.tensor([1.0, 0.0], dtype=torch.float64)
    nothing = torch.zeros(2)
    bound = bound_for(value, [nothing, nothing], nothing, dtype=torch.float32, coarseness=16)

    assert float(bound.limit[0]) == pytest.approx(torch.finfo(torch.float32).eps)
    assert 0 < float(bound.limit[1]) < 1e-40
