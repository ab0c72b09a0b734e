"""Sums inside normalisation, pooling and softmax may err as sums do, and a wrong one still shows."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from course_utils.numerics import compare_numerics, draw
from course_utils.numerics.reference.expected import CpuCall, expect
from course_utils.numerics.running.runners import copied
from course_utils.numerics.tensors.inputs import fresh

# far from 0, so that all numbers of a sum are alike
FAR = 20.0


def one_by_one(x):
    """Add rows up in float32, one number after the other, as a kernel with one accumulator does."""
    total = torch.zeros(x.shape[0])
    for column in x.unbind(1):
        total = total + column
    return total / x.shape[1]


def layer_norm(x):
    """Normalise rows with the mean of one accumulator."""
    centred = x - one_by_one(x)[:, None]
    return centred / (one_by_one(centred.square())[:, None] + 1e-5).sqrt()


def batch_norm(x):
    """Normalise columns so."""
    return layer_norm(x.T).T


def group_norm(x):
    """Normalise all numbers of a row in two groups."""
    return torch.cat([layer_norm(half) for half in x.chunk(2, dim=1)], dim=1)


def softmax(x):
    """Divide by a sum of one accumulator."""
    powers = (x - x.amax(1, keepdim=True)).exp()
    return powers / (one_by_one(powers) * x.shape[1])[:, None]


def log_softmax(x):
    """Subtract the logarithm of such a sum."""
    moved = x - x.amax(1, keepdim=True)
    return moved - (one_by_one(moved.exp()) * x.shape[1]).log()[:, None]


def pool(x):
    """Average rows."""
    return one_by_one(x)[:, None]


def group(x):
    return nn.functional.group_norm(x[:, :, None], 2)[:, :, 0]


CASES = {
    "layer norm": (lambda x: nn.functional.layer_norm(x, x.shape[1:]), layer_norm, draw(4, 4096) + FAR),
    "batch norm": (lambda x: nn.functional.batch_norm(x, None, None, training=True), batch_norm, draw(4096, 4) + FAR),
    "group norm": (group, group_norm, draw(4, 4096) + FAR),
    "softmax": (lambda x: x.softmax(1), softmax, torch.full((2, 8192), -1.3).index_fill(1, torch.tensor([0]), 0.0)),
    "log softmax": (
        lambda x: x.log_softmax(1),
        log_softmax,
        torch.full((2, 8192), -1.3).index_fill(1, torch.tensor([0]), 0.0),
    ),
    "average pooling": (lambda x: nn.functional.avg_pool1d(x[None], x.shape[1])[0], pool, torch.full((4, 8192), 0.1)),
    "mean": (lambda x: torch.var_mean(x, 1)[1][:, None], pool, draw(4, 8192) + FAR),
}


def model_bound(fn, x):
    """Return the right answer and the model's limits."""
    expected = expect(CpuCall(fn, (x,), torch.float32, torch.float64, False, 0), fn)
    return expected.leaves[0].tensor, expected.bounds[0].limit


@pytest.mark.parametrize("case", CASES)
def test_kernel_with_one_accumulator_is_honest(case):
    """It adds alike numbers one after the other, is as far off as the CPU or further, and within the limit."""
    fn, kernel, x = CASES[case]
    exact, limit = model_bound(fn, x)
    error = (kernel(x).double() - exact).abs()

    assert bool((error <= limit).all())
    assert float(error.max()) >= float((fn(x).double() - exact).abs().max())
    assert float((limit / exact.abs().mean()).median()) < 0.01


def test_running_statistics_may_err_as_sums_do():
    """In channels_last memory the running means of ResNet-18 were 8 steps off on the CPU, and blamed for it."""
    norm = nn.BatchNorm1d(4)
    x = draw(4096, 4) + FAR
    call = CpuCall(norm, (x,), torch.float32, torch.float64, False, 0)
    expected = expect(call, nn.BatchNorm1d(4).double())
    place = next(at for at, leaf in enumerate(expected.leaves) if leaf.path == "buffer running_mean")
    exact, limit = expected.leaves[place].tensor, expected.bounds[place].limit

    assert bool(((0.1 * one_by_one(x.T)).double() - exact).abs().le(limit).all())
    assert float((limit / exact.abs()).max()) < 1e-3


class WrongRunningMean:
    """The CPU with running means 1 % too large."""

    name = "CPU with wrong running means"

    def run(self, fn, inputs):
        """Call a copy, then change the buffers that come back."""
        answer = copied(fn)(*fresh(inputs))
        return {key: value * 1.01 if key.endswith("running_mean") else value for key, value in answer.items()}


def test_wrong_running_mean_is_found():
    """What is allowed to sums hides no wrong statistic."""
    report = compare_numerics(nn.BatchNorm2d(8), [draw(4, 8, 8, 8) + 1], device=WrongRunningMean(), largest_elements=0)

    assert "error" in report.kinds


class Tiles:
    """The CPU with a convolution on transformed tiles: a NaN spreads over the rows of its picture, or to all."""

    name = "CPU with tiles"

    def __init__(self, *, everywhere):
        self.everywhere = everywhere

    def run(self, fn, inputs):
        """Call a copy, then spread each NaN."""
        answer = copied(fn)(*fresh(inputs))
        lost = answer["output"].isnan()
        lost = lost.any() if self.everywhere else lost.any(-1, keepdim=True)
        return answer | {"output": answer["output"].masked_fill(lost, torch.nan)}


@pytest.mark.parametrize(("everywhere", "kinds"), [(False, ()), (True, ("wrong for special values",))])
def test_nan_may_spread_over_a_tile_and_not_to_other_pictures(everywhere, kinds):
    """A kernel on tiles is honest, as the CPU's is without oneDNN; one that loses the whole batch is not."""
    convolution = nn.Conv2d(3, 4, 3, padding=1)

    report = compare_numerics(
        convolution, [draw(4, 3, 8, 8)], device=Tiles(everywhere=everywhere), largest_elements=0, gradients=False
    )

    assert report.kinds == kinds


def test_gradient_that_no_device_can_hold_is_no_fault():
    """Next to a pole the gradient of tan is larger than float16's largest number: an overflow, no wrong gradient."""
    x = torch.full((64,), 1.5703)

    report = compare_numerics(torch.tan, [x], device="cpu", dtypes=[torch.float16], largest_elements=0)

    assert report.kinds == ("overflow",)


def test_nothing_loads_the_compiler():
    """Comparing and emulating run under dispatch modes, and torch loads its compiler for a plain one: 2.5 s."""
    code = (
        "import sys, torch\n"
        "from course_utils.numerics import compare_numerics\n"
        "from course_utils.emulation import emulated_mps\n"
        "compare_numerics(torch.sin, [torch.ones(4)], device='cpu', largest_elements=0)\n"
        "with emulated_mps():\n"
        "    (torch.ones(4, device='mps') + 1).sum().item()\n"
        "print('torch._dynamo' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
