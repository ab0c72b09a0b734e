"""Gradients and one optimizer step: a right output says nothing about them."""

import pytest
import torch
from torch import nn

from course_utils.numerics import FaultyDevice, TorchDevice, compare_numerics, draw
from course_utils.numerics.questions.gradients import StepOf, slope_disagreement
from course_utils.numerics.questions.layouts import parameters_laid_out
from course_utils.numerics.running.observed import cotangents_for

CPU = TorchDevice("cpu")


class _ForgetfulDropout(torch.autograd.Function):
    """Dropout whose backward ignores which numbers were dropped."""

    @staticmethod
    def forward(ctx, x):
        """Drop half of the numbers and double the rest."""
        return x * (torch.rand_like(x) < 0.5) * 2

    @staticmethod
    def backward(ctx, gradient):
        """Pass everything on."""
        return gradient


class ForgetfulDropout(nn.Module):
    """Dropout between two layers, ignored in backward."""

    def forward(self, x):
        """Apply the dropout."""
        return _ForgetfulDropout.apply(x)


def test_wrong_gradient_with_right_output():
    """An LSTM whose gradients alone are wrong is found by its gradients (pytorch #92615, #94754, #95137)."""
    torch.manual_seed(0)
    report = compare_numerics(nn.LSTM(3, 4, 1), (draw(3, 2, 3),), device=FaultyDevice("wrong gradient"))

    assert report.kinds == ("gradient",)
    assert all(case.agrees for case in report.cases if case.name == "as given")
    assert "the output agrees" in report.findings[0].sentence


def test_dropout_in_an_lstm_agrees_with_finite_differences():
    """LSTM(num_layers=2, dropout=0.5) with a fixed seed: backward equals finite differences (pytorch #190056)."""
    torch.manual_seed(0)
    report = compare_numerics(nn.LSTM(5, 7, num_layers=2, dropout=0.5), (draw(4, 3, 5),), device="cpu")

    assert report.kinds == ("not comparable",)


def test_dropout_that_backward_ignores_is_found():
    """Dropout that backward does not know of disagrees with finite differences (pytorch #190056)."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), ForgetfulDropout(), nn.Tanh(), nn.Linear(8, 3))
    report = compare_numerics(model, (draw(4, 6),), device="cpu")

    assert report.kinds == ("not comparable", "gradient")
    assert "finite differences" in report.findings[1].sentence


class Bent(nn.Module):
    """A quick wave with dropout, whose output bends within a step of finite differences."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        """Go through several periods within a hundredth."""
        return self.drop(torch.sin(1000 * x))


def test_output_that_bends_within_a_step_blames_nobody():
    """Where finite differences miss the slope on the CPU in float64 too, gradients are listed as not asked."""
    report = compare_numerics(Bent(), (draw(4, 8),), device="cpu")

    assert report.kinds == ("not comparable",)
    assert "gradients" in {left.question for left in report.not_asked}


def test_finite_differences_of_an_honest_function():
    """A smooth function agrees with its backward; one without gradient has nothing to say."""
    x = draw(3, 4)

    assert slope_disagreement(CPU, torch.sin, (x,), cotangents_for(x, torch.float32, 0), 0) is None
    constant = slope_disagreement(CPU, lambda t: t * 0, (x,), cotangents_for(x, torch.float32, 0), 0)
    assert constant is None


def test_optimizer_step_on_a_transposed_parameter():
    """On a device that loses writes into transposed tensors, Adam leaves them still (pytorch #118115, #118117)."""
    torch.manual_seed(0)
    report = compare_numerics(nn.Linear(3, 2), (draw(4, 3),), device=FaultyDevice("forgets an in-place write"))

    assert report.kinds == ("optimizer step",)
    assert report.findings[0].case == "optimizer step, transposed parameters"
    assert "parameter weight did not move" in report.findings[0].sentence
    assert {case.name: case.agrees for case in report.cases}["optimizer step"]
    assert not {case.name: case.agrees for case in report.cases}["optimizer step, transposed parameters"]


def test_honest_step_moves_a_transposed_parameter():
    """The CPU moves a transposed parameter exactly as a contiguous one."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    x, weights = draw(4, 3), draw(4, 2, seed=1)
    turned = StepOf(parameters_laid_out(layer, "transposed"), 1)
    plain = StepOf(layer, 1)(x, weights)

    assert not turned.fn.weight.is_contiguous()
    before = turned.fn.weight.detach().clone()
    after = turned(x, weights)["parameter weight after the step"]
    assert float((after - before).abs().min()) > 0
    torch.testing.assert_close(after, plain["parameter weight after the step"])


def test_any_optimizer():
    """The optimizer of the step is the caller's."""
    torch.manual_seed(0)
    report = compare_numerics(
        nn.Linear(3, 2), (draw(4, 3),), device="cpu", optimizer=lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)
    )

    assert report.clean
    assert "optimizer step" in {case.name for case in report.cases}


@pytest.mark.parametrize("fn", [torch.round, lambda x: x > 0, lambda x: x.detach(), torch.argsort])
def test_without_a_gradient(fn):
    """Callables without a gradient are compared without one."""
    assert compare_numerics(fn, (draw(3, 4),), device="cpu").clean


def test_frozen_and_unused_parameters():
    """Frozen parameters get no gradient and stay; unused ones are no difference."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    model[0].weight.requires_grad_(False)
    model.unused = nn.Parameter(draw(2))
    model.forward = lambda x: model[1](model[0](x))

    assert compare_numerics(model, (draw(4, 3),), device="cpu").clean


def test_gradients_can_be_left_out():
    """gradients=False compares outputs only."""
    report = compare_numerics(nn.Linear(3, 2), (draw(4, 3),), device=FaultyDevice("wrong gradient"), gradients=False)

    assert report.clean
