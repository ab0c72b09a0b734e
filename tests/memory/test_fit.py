"""Does it fit: four verdicts with a reason, and a largest batch that really is the largest."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from course_utils import estimate_memory, fits, load_workload, memory_budget
from course_utils.memory.fit import COMFORTABLE_SHARE, predict_peak
from course_utils.memory.footprint import BatchPeaks
from course_utils.reporting.units import GIB


def model():
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def inputs(batch=8):
    return torch.empty(batch, 64, device="meta")


@pytest.fixture(scope="module")
def estimate():
    return estimate_memory(model(), inputs())


def needing(estimate, n_bytes):
    """Return the estimate as if its peak were this many bytes."""
    return replace(estimate, at_peak_bytes=(("workspace", n_bytes),))


@pytest.mark.parametrize(
    ("gib", "verdict", "word"),
    [
        (9, "comfortable", "of the recommended working set"),
        (10.25, "tight", "close the browser"),
        (12, "will page", "of 16.0 GiB RAM"),
        (17, "will page", "and the RAM of 16.0 GiB"),
        (19, "impossible", "hard limit of 18.1 GiB"),
    ],
)
def test_verdicts(estimate, gib, verdict, word):
    """The recommended working set, not the hard limit, is the capacity; each verdict gives its numbers."""
    fit = fits(needing(estimate, int(gib * GIB)), memory_budget("M4", 16))

    assert fit.verdict == verdict
    assert word in fit.reason
    assert fit.comfortable == (verdict == "comfortable")


def test_without_a_limit_nothing_is_impossible(estimate):
    """With the watermark at 0.0 nothing stops a model that is too large, and the reason says so."""
    budget = replace(memory_budget("M4", 16), hard_limit_bytes=None)
    fit = fits(needing(estimate, 100 * GIB), budget)

    assert fit.verdict == "will page"
    assert "no limit stops it" in fit.reason


@pytest.mark.parametrize("name", ["resnet18", "distilbert"])
def test_the_largest_batch_is_the_largest(name):
    """The largest comfortable batch fits when it is traced, and one and a half per cent more does not."""
    model, images, _ = load_workload(name, "train", batch=4).build()
    budget = memory_budget("M1", 8)
    largest = fits(estimate_memory(model, images), budget).largest_batch

    def peak(batch):
        shape = (batch, *images.shape[1:])
        examples = torch.empty(shape, dtype=images.dtype, device="meta")
        return estimate_memory(model, examples, batch_dimension=None).peak_bytes

    assert peak(largest) <= COMFORTABLE_SHARE * budget.recommended_bytes
    assert peak(largest + max(1, largest // 64)) > COMFORTABLE_SHARE * budget.recommended_bytes


def test_how_the_largest_batch_is_known(estimate):
    """The answer states where it lies among the traced batches: between them it is safe, outside a guess or checked."""
    points = tuple(BatchPeaks(batch, (("forward pass", 100 * batch),)) for batch in (8, 64, 512))
    straight = replace(estimate, peaks_by_batch=points)

    def how(capacity_bytes):
        fit = fits(
            straight, replace(memory_budget("M4", 16), recommended_bytes=math.ceil(capacity_bytes / COMFORTABLE_SHARE))
        )
        return fit.largest_batch, fit.batch_reason

    assert how(20_000) == (
        200,
        "on the line between the traced batches 64 and 512, which promises no more than is true",
    )
    assert how(100_000) == (
        1000,
        "beyond the largest traced batch, 512, whose peak the smaller ones predict within 0.0%",
    )
    assert how(500)[0] == 5
    assert "a rough guess" in how(500)[1]


def test_not_even_one_example(estimate):
    """Where the weights alone are too much, the largest batch is 0."""
    tiny = replace(memory_budget("M4", 16), recommended_bytes=1000)

    assert fits(estimate, tiny).largest_batch == 0


def test_an_unknown_largest_batch(estimate):
    """Where only one batch size was traced, the largest one is unknown."""
    fit = fits(replace(estimate, peaks_by_batch=estimate.peaks_by_batch[:1]), memory_budget("M4", 16))

    assert fit.largest_batch is None
    assert "unknown" in str(fit)


def test_each_phase_has_its_own_line():
    """The optimizer's step costs the same for each batch, so it does not bend the line of the backward pass."""
    points = tuple(
        BatchPeaks(batch, (("backward pass", 100 + 10 * batch), ("optimizer step", 150))) for batch in (1, 2, 4)
    )

    assert [predict_peak(points, batch) for batch in (1, 3, 5, 10)] == [150, 150, 150, 200]


def test_a_crooked_line_is_called_a_guess(estimate):
    """Where the smaller batches do not predict the largest, what lies beyond it is called a rough guess."""
    points = tuple(BatchPeaks(batch, (("forward pass", 100 * batch**2),)) for batch in (8, 16, 32))

    assert "rough guess" in fits(replace(estimate, peaks_by_batch=points), memory_budget("M4", 16)).batch_reason


def test_it_prints_and_goes_to_json(estimate):
    """The verdict prints as text and HTML with the warnings of both sides, and keeps both as data."""
    fit = fits(estimate, memory_budget("M4"))

    assert str(fit).startswith("comfortable: the peak of")
    assert "warning: no RAM was given" in str(fit)
    assert "largest comfortable batch" in fit._repr_html_()
    assert fit.to_dict()["budget"]["ram_bytes"] == 32 * GIB
