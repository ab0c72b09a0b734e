"""Workloads: the same numbers on every machine, training that trains, and errors that name the nearest."""

import pytest
import torch

from course_utils.benchmarking.workloads import load_workload, workload_names


@pytest.mark.parametrize("name", workload_names())
def test_forward_is_repeatable(name):
    """Setting a workload up twice gives the same output: weights and inputs come from the seed alone."""
    first, second = (run() for run in [lambda: call(load_workload(name))] * 2)

    assert torch.equal(first, second)
    assert first.isfinite().all()


def call(workload):
    fn, inputs = workload.on("cpu")
    return fn(*inputs)


@pytest.mark.parametrize("name", [name for name in workload_names() if name != "matmul"])
def test_training_step_changes_the_loss(name):
    """A training step returns a finite loss tensor without reading it, and a second step has another loss."""
    fn, inputs = load_workload(name, "train", batch=2, size=16 if "bert" in name else None).on("cpu")
    losses = [fn(*inputs), fn(*inputs)]

    assert all(loss.shape == () and loss.isfinite() and not loss.requires_grad for loss in losses)
    assert losses[0] != losses[1]


def test_set_up_leaves_the_random_state_alone():
    """Setting up a workload draws nothing from the caller's generator."""
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    load_workload("matmul", size=4).on("cpu")
    load_workload("matmul", size=4).flop  # noqa: B018

    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize(
    ("name", "giga"),
    [
        ("matmul", 2 * 1024**3 / 1e9),
        # torchvision publishes 1.81, 4.09, 0.22 G multiply-adds for these three
        ("resnet18", 2 * 1.81),
        ("resnet50", 2 * 4.09),
        ("mobilenet_v3", 2 * 0.217),
        # the linear layers of 12 encoder layers on 128 tokens, plus attention's output
        ("bert_base", 22.3),
    ],
)
def test_operations_are_counted(name, giga):
    """The count of one forward pass is the published one."""
    assert load_workload(name).flop / 1e9 == pytest.approx(giga, rel=0.02)


def test_training_counts_three_times():
    """A training step is counted as three forward passes, whatever torch's counter makes of grouped convolutions."""
    assert load_workload("mobilenet_v3", "train").flop == 3 * load_workload("mobilenet_v3").flop


def test_batch_and_size_reach_the_inputs():
    """Batch and size are those of the inputs."""
    _, (images,) = load_workload("resnet18", batch=3, size=64).on("cpu")
    _, (tokens,) = load_workload("distilbert", batch=2, size=5).on("cpu")

    assert images.shape == (3, 3, 64, 64)
    assert tokens.shape == (2, 5)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"name": "resnet81"}, r"'resnet81'; the nearest: .*resnet18"),
        ({"name": "zzz"}, r"'zzz'; known: matmul"),
        ({"name": "matmul", "mode": "train"}, "no mode 'train'; it has forward"),
        ({"name": "resnet18", "mode": "sing"}, "no mode 'sing'; it has forward and train"),
        ({"name": "resnet18", "batch": 0}, "batch is 0"),
        ({"name": "matmul", "size": -1}, "size is -1"),
        ({"name": "vit_tiny", "size": 32}, "size=32"),
    ],
)
def test_bad_requests_name_the_value(arguments, word):
    """An unknown name gets the nearest ones, a senseless number its value."""
    with pytest.raises(ValueError, match=word):
        load_workload(**arguments)
