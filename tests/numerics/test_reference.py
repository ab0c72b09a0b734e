"""The model of honest devices: lets honest rounding through, grows as sums do, and still shows one missing term."""

import copy
import math

import pytest
import torch

from course_utils.numerics import FaultyDevice, compare_numerics, draw
from course_utils.numerics.reference.cpu_errors import bound_from_cpu, largest_ratio
from course_utils.numerics.reference.expected import CpuCall, expect, shared_references
from course_utils.numerics.reference.limits import slope_of, smoothed
from course_utils.numerics.reference.operator_look import OperatorLook
from course_utils.numerics.reference.rounding import RoundingModel
from course_utils.numerics.reference.sums import alike
from course_utils.numerics.tensors.operators import operator_name

HALF = (torch.float16, torch.bfloat16)


def bounds_of(fn, inputs, dtype=torch.float32):
    """Return the limits of the first output under the model."""
    lower = tuple(x.to(dtype) for x in inputs)
    expected = expect(CpuCall(fn, lower, dtype, torch.float64, False, 0), fn)
    return expected.leaves[0].tensor, expected.bounds[0].limit


def test_equal_addends_are_alike_and_random_ones_are_not():
    """Equal numbers are cut off in one direction; random ones, and exact multiples, are not."""
    equal = torch.full((8192,), 1 / 3, dtype=torch.float64)

    assert float(alike(equal, 2.0**-23)) > 0.1
    assert float(alike(draw(8192).double(), 2.0**-23)) < 0.05
    assert float(alike(torch.ones(8192, dtype=torch.float64), 2.0**-23)) == 0


def test_equal_addends_are_allowed_what_adding_one_by_one_costs():
    """8192 equal float32 numbers, added one by one, stay within the limit and exceed sqrt(K)*eps."""
    x = torch.full((8192,), 0.1)
    total = torch.zeros(())
    for value in x:
        total = total + value
    exact, limit = bounds_of(lambda t: t.sum(), (x,))
    error = abs(float(total) - float(exact))

    assert error > math.sqrt(8192) * torch.finfo(torch.float32).eps * 0.1
    assert error <= float(limit)


def test_limit_of_random_sums_grows_like_a_root():
    """Sixteen times as many random terms give four times the sum, and are allowed about four times that error."""
    limits = []
    for length in (1024, 16384):
        _, limit = bounds_of(torch.mv, (draw(64, length), draw(length, seed=1)))
        limits.append(float(limit.median()))

    assert 2 < limits[1] / limits[0] / 4 < 6


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("seed", [0, 10])
def test_rounding_passes_and_a_dropped_element_fails(dtype, seed):
    """A deep dot product with only rounding errors is clean; with one element dropped it is not (pytorch #183621)."""
    pair = draw(4096, seed=seed), draw(4096, seed=seed + 1)

    def compare(device):
        return compare_numerics(torch.dot, pair, dtypes=[dtype], device=device, gradients=False, largest_elements=0)

    assert compare("cpu").clean
    assert compare(FaultyDevice("drops a term")).kinds == ("drops a term of a reduction",)


def test_equal_numbers_err_alike():
    """The model's errors are a hash of the value: a constant stays one constant."""
    with RoundingModel(torch.float32, 1):
        changed = torch.full((64,), 0.3, dtype=torch.float64) * 3.0

    assert len(changed.unique()) == 1
    assert float(changed[0]) != 0.3 * 3.0


def test_model_leaves_infinities_and_nan():
    """What is not finite stays what it is."""
    x = torch.tensor([math.inf, -math.inf, math.nan, 1.0], dtype=torch.float64)
    with RoundingModel(torch.float16, 1):
        changed = torch.exp(x)

    assert changed.isinf().tolist() == [True, False, False, False]
    assert changed.isnan().tolist() == [False, False, True, False]


def test_wrong_scale_below_one_step_is_seen():
    """A float16 result 1.001 times too large hides in every number, and shows over all of them."""

    class Scaled:
        name = "scaled"

        def run(self, fn, inputs):
            outputs = fn(*inputs)
            return outputs | {"output": (outputs["output"].float() * 1.001).half()}

    report = compare_numerics(
        torch.mm,
        (draw(64, 64), draw(64, 64, seed=1)),
        dtypes=[torch.float16],
        device=Scaled(),
        gradients=False,
        largest_elements=0,
    )

    assert report.kinds == ("error",)
    assert "times what they should be" in report.findings[0].sentence


def test_wrong_operator_is_named_from_its_own_operands():
    """Of a chain of operators the wrong one is named, and the right ones behind it are not."""
    from benchmarks.numerics_zoo import changes
    from benchmarks.numerics_zoo.faults import PlantedFault

    def chain(x):
        return torch.tanh(torch.exp(x) @ x.mT).sum(-1)

    look = OperatorLook()

    def looked(x):
        with look:
            return chain(x)

    PlantedFault("exp", changes.scaled).run(looked, (draw(6, 6),))

    assert [fault.operator for fault in look.faults] == ["aten::exp"]
    assert look.judged >= 4


def test_bound_from_the_cpu_follows_its_errors():
    """Where the CPU errs by more, more is allowed; where it is exact, one step and 16 of the accumulator are."""
    exact = torch.ones(8, 16, dtype=torch.float64)
    rough = exact + 1e-3 * draw(8, 16, seed=2)
    tight = bound_from_cpu(exact, exact.float(), torch.float32).limit
    loose = bound_from_cpu(exact, rough.float(), torch.float32).limit

    assert float(tight.max()) == pytest.approx(17 * torch.finfo(torch.float32).eps, rel=1e-3)
    assert float(loose.min()) > 1e-3


def test_variances_are_smoothed_over_rows_and_columns():
    """A single lucky number is not taken for exact."""
    variance = torch.ones(4, 8, dtype=torch.float64)
    variance[0, 0] = 0

    assert float(smoothed(variance, 4)[0, 0]) > 0.3


def test_operator_names_drop_the_underscore():
    """An in-place form is the same operator."""
    assert operator_name(torch.ops.aten.add_.Tensor) == "add"


def test_model_keeps_what_batch_norm_writes():
    """Running statistics move under the model as they do without it, but for rounding."""
    torch.manual_seed(0)
    plain, modelled = torch.nn.BatchNorm2d(3).double(), torch.nn.BatchNorm2d(3).double()
    x = draw(4, 3, 5, 5).double() + 1
    plain(x)
    with RoundingModel(torch.float32, 1):
        modelled(x)

    assert float(plain.running_mean.abs().min()) > 0.01
    assert torch.allclose(modelled.running_mean, plain.running_mean, rtol=1e-4, atol=0)
    assert not torch.equal(modelled.running_mean, plain.running_mean)


def test_bias_may_be_added_after_rounding():
    """In half precision a kernel may round the sum before it adds the bias: what cancels is then off."""
    weight, bias, x = draw(6, 8), draw(6, seed=2) * 100, draw(16, 8, seed=1)
    _, limit = bounds_of(lambda b, t, w: torch.addmm(b, t, w.mT), (bias, x, weight), torch.float16)
    exact = x.half().double() @ weight.half().double().mT
    rounded = (exact.half() + bias.half()).double()

    assert bool(((rounded - (exact + bias.half().double())).abs() <= limit).all())


def test_every_relu_next_to_zero_may_flip():
    """A number that rounding may carry over 0 loses or gains its whole gradient, however many others do so too."""
    x, w = draw(512, 24), draw(24, 128, seed=1)

    def hidden(t, weight):
        return (t * 0.7) @ weight

    lower = (x.half(), w.half())
    call = CpuCall(lambda *given: hidden(*given).clamp_min(0), lower, torch.float16, torch.float64, True, 0)
    expected = expect(call, call.fn)
    wide = tuple(t.double() for t in lower)
    before, rounded = hidden(*wide), hidden(*lower).double()
    typical = (before - rounded).square().mean().sqrt()
    places = (before.abs() < typical).nonzero().tolist()
    leaf = next(place for place, leaf in enumerate(expected.leaves) if leaf.path == "gradient of input 1")
    limit, cotangent = expected.surer_bounds[leaf].limit, expected.arguments[-1].double()
    flips = [0.7 * wide[0][row] * cotangent[row, column] for row, column in places]
    missed = [
        column for flip, (_, column) in zip(flips, places, strict=True) if bool((flip.abs() > limit[:, column]).any())
    ]

    assert len(places) >= 5
    assert not missed
    assert float(limit.median()) < 0.1 * float(expected.leaves[leaf].tensor.square().mean().sqrt())


@pytest.mark.parametrize("dtype", HALF)
def test_layer_norm_may_add_its_rows_up_in_half_precision(dtype):
    """As torch's CPU kernel does; from the last row to the first is as honest as from the first on."""
    x, g = draw(700, 24).to(dtype), (draw(700, 24, seed=1) + 0.2).to(dtype)
    weight, bias = torch.ones(24, dtype=dtype), torch.zeros(24, dtype=dtype)

    def loss(t, w, b):
        return torch.nn.functional.layer_norm(t, (24,), w, b) * g.to(t.dtype)

    call = CpuCall(loss, (x, weight, bias), dtype, torch.float64, True, 0)
    expected = expect(call, loss)
    at = next(place for place, leaf in enumerate(expected.leaves) if leaf.path == "gradient of input 2")
    exact, limit = expected.leaves[at].tensor, expected.bounds[at].limit
    total = torch.zeros(24, dtype=dtype)
    for row in (expected.arguments[-1] * g).flip(0):
        total = total + row
    error = (total.double() - exact).abs()

    assert float(error.max()) > 2 * torch.finfo(dtype).eps * float(exact.abs().mean())
    assert bool((error <= limit).all())
    assert float(limit.median()) < float(exact.square().mean().sqrt())


def test_slope_leaves_out_what_is_not_finite():
    """One infinite number of the reference hides no wrong scale."""
    exact = draw(64).double()
    with_infinity = torch.cat([exact, torch.tensor([math.inf], dtype=torch.float64)])
    precision = torch.ones(65, dtype=torch.float64)

    assert slope_of(1.01 * with_infinity - with_infinity, with_infinity, precision) == pytest.approx(0.01)


def test_shared_references_are_those_of_the_same_numbers():
    """A module of the same numbers gets the same reference; other numbers, modes or inputs get their own."""

    def reference(fn, x):
        return expect(CpuCall(fn, (x,), torch.float32, torch.float64, False, 0), copy.deepcopy(fn).double())

    norm, x = torch.nn.BatchNorm1d(4), draw(8, 4)
    other = copy.deepcopy(norm)
    other.weight.data[0] = 2
    with shared_references():
        first = reference(norm, x)

        assert reference(copy.deepcopy(norm), x.clone()) is first
        assert all(
            reference(fn, y) is not first for fn, y in ((other, x), (copy.deepcopy(norm).eval(), x), (norm, 2 * x))
        )
    assert reference(norm, x) is not first


@pytest.mark.parametrize("shape", [(40, 9000), (3, 5, 70_000), (1, 150_000)])
def test_pieces_judge_as_the_whole_does(shape):
    """Cut into pieces or not, the same error is allowed; one wrong number or a wrong scale anywhere is not let go."""
    exact = draw(*shape).double()
    cpu, mine = (exact * (1 + 1e-7 * draw(*shape, seed=seed).double()) for seed in (1, 2))
    cpu, mine = cpu.float(), mine.float()
    bound = bound_from_cpu(exact, cpu, torch.float32)
    whole = float(((mine - exact).abs() / bound.limit).max())
    wrong = mine.clone()
    wrong.view(-1)[-2] += 1e-3

    assert largest_ratio(mine, exact, [cpu], torch.float32) == pytest.approx(whole, rel=1e-4)
    assert largest_ratio(wrong, exact, [cpu], torch.float32) > 1
    assert largest_ratio((mine.double() * (1 + 1e-6)).float(), exact, [cpu], torch.float32) == math.inf
    assert largest_ratio(mine, exact, [cpu, wrong], torch.float32) <= whole
    assert largest_ratio(torch.full_like(mine, math.nan), exact, [cpu], torch.float32) is None
