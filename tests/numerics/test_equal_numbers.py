"""Of several equal numbers a kernel may return any, where torch promises none; a wrong place is still found."""

import pytest
import torch
from torch import nn

from benchmarks.numerics_zoo.faults import PlantedFault
from course_utils.numerics import compare_numerics, draw

ROWS = (draw(8, 16),)
TIED = ((draw(2, 3, 9, 9) * 2).round() / 2,)
PICKS = {
    "kthvalue": lambda x: x.kthvalue(2, -1),
    "median": lambda x: x.median(-1),
    "nanmedian": lambda x: x.nanmedian(-1, keepdim=True),
    "mode": lambda x: x.mode(-1),
}
POOLS = {
    "in blocks": lambda: nn.MaxPool2d(2, return_indices=True),
    "overlapping": lambda: nn.MaxPool2d(3, 1, 1, return_indices=True),
    "adaptive": lambda: nn.AdaptiveMaxPool2d(3, return_indices=True),
    "in a model": lambda: nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(3, 2, 3)),
}


def last_of_row(func, args, kwargs):
    """Take the last of several equal numbers of a row."""
    values, places = func(args[0].flip(-1), *args[1:], **kwargs)
    return values, args[0].shape[-1] - 1 - places


def next_of_row(func, args, kwargs):
    """Return the place behind the right one."""
    values, places = func(*args, **kwargs)
    return values, (places + 1) % args[0].shape[-1]


def last_of_window(func, args, kwargs):
    """Take the last of several equal maxima: the numbers of a float32 lie further apart than they are moved here."""
    x = args[0]
    order = torch.linspace(0, 1, x.shape[-2] * x.shape[-1], dtype=torch.float64).view(x.shape[-2:])
    step = x.abs().double() * 2.0**-26 + torch.finfo(torch.float64).tiny
    _, places = func(x.double() + torch.where(step.isfinite(), step, 0) * order, *args[1:], **kwargs)
    return x.flatten(-2).gather(-1, places.flatten(-2)).view(places.shape), places


def next_of_window(func, args, kwargs):
    """Return the place of a neighbouring window."""
    values, places = func(*args, **kwargs)
    return values, places.roll(1, -1)


def pooled(pool, change):
    torch.manual_seed(0)
    device = PlantedFault("max_pool2d_with_indices adaptive_max_pool2d", change)
    return compare_numerics(pool(), TIED, device=device, largest_elements=0)


@pytest.mark.parametrize("name", ["kthvalue", "median", "nanmedian"])
def test_another_of_equal_numbers_is_right(name):
    """Which place of a median that occurs twice is returned is a kernel's own affair."""
    report = compare_numerics(PICKS[name], ROWS, device=PlantedFault(name, last_of_row), largest_elements=0)

    assert report.kinds == (), report.findings


@pytest.mark.parametrize("name", PICKS)
def test_place_of_another_number_is_wrong(name):
    """The returned place has to hold the returned value."""
    report = compare_numerics(PICKS[name], ROWS, device=PlantedFault(name, next_of_row), largest_elements=0)

    assert report.kinds == ("integers",)


@pytest.mark.parametrize("pool", POOLS)
def test_another_of_equal_maxima_is_right(pool):
    """Of equal maxima a pool may return any, and give it the gradient."""
    report = pooled(POOLS[pool], last_of_window)

    assert report.kinds == (), report.findings


def test_smaller_number_of_a_window_is_wrong():
    """A pool that returns the place of another number is found where equal numbers are about, too."""
    report = pooled(POOLS["in blocks"], next_of_window)

    assert "integers" in report.kinds


def test_gradient_that_goes_to_no_maximum_is_wrong():
    """A gradient that leaves half of a pool's maxima out is found where equal numbers are about."""
    fault = PlantedFault(
        "max_pool2d_with_indices_backward",
        lambda f, args, kwargs: f(args[0] * (torch.arange(args[0].shape[-1]) % 2), *args[1:], **kwargs),
    )
    report = compare_numerics(nn.MaxPool2d(2), TIED, device=fault, largest_elements=0)

    assert report.kinds == ("gradient",)
