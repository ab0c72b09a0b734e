"""Stand-ins have the shape and layout that a tensor has on a device, and only real ones have its numbers."""

import pytest
import torch
from torch import nn

from course_utils.memory.stand_ins import resize_batch, stand_in, stand_in_parameters, tracing_context


@pytest.mark.parametrize("where", ["fake", "meta", "real"])
def test_layout_is_kept(where):
    """A channels-last tensor stays channels-last, and integers keep their dtype."""
    images = torch.zeros(2, 3, 4, 4).to(memory_format=torch.channels_last)
    with tracing_context(where, "cpu"):
        made = stand_in(images, where, torch.bfloat16)
        tokens = stand_in(torch.zeros(2, 3, dtype=torch.int64), where, torch.bfloat16)

    assert (made.shape, made.stride(), made.dtype) == (images.shape, images.stride(), torch.bfloat16)
    assert tokens.dtype == torch.int64


@pytest.mark.parametrize("where", ["fake", "meta"])
def test_an_expanded_tensor_is_written_out(where):
    """A device copy of an expanded tensor holds every element, as `.to("mps")` makes it."""
    with tracing_context(where, "cpu"):
        made = stand_in(torch.zeros(1).expand(10), where, None)

    assert made.untyped_storage().nbytes() == 40


def test_a_real_stand_in_is_a_copy():
    """Changing a real stand-in leaves the tensor alone."""
    tensor = torch.ones(3)
    stand_in(tensor, "real", None).zero_()

    assert tensor.tolist() == [1.0, 1.0, 1.0]


def test_tied_and_frozen_parameters():
    """A tied parameter appears once, a frozen one stays frozen."""
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    model[1].weight = model[0].weight
    model[0].bias.requires_grad_(False)
    made = stand_in_parameters(model, "meta", None)

    assert set(made) == {"0.weight", "0.bias", "1.bias"}
    assert not made["0.bias"].requires_grad


def test_only_the_batch_is_resized():
    """Only a tensor with the batch in that dimension gets another size."""
    mask = torch.zeros(5, 5)
    assert resize_batch(torch.zeros(8, 5), 0, 8, 16).shape == (16, 5)
    assert resize_batch(mask, 0, 8, 16) is mask
    assert resize_batch("text", 0, 8, 16) == "text"


def test_the_context_ends():
    """Torch's choice of kernels is as before after the trace."""
    before = torch.backends.mha.get_fastpath_enabled(), torch.backends.cuda.flash_sdp_enabled()
    with tracing_context("meta", "mps"):
        assert not torch.backends.mha.get_fastpath_enabled()

    assert (torch.backends.mha.get_fastpath_enabled(), torch.backends.cuda.flash_sdp_enabled()) == before
