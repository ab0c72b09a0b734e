"""Changing future tokens must not change earlier outputs."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from course_utils.numerics import FaultyDevice, compare_numerics, draw
from course_utils.numerics.questions.causality import causal_dims, change_from


def causal(x):
    return F.scaled_dot_product_attention(x, x, x, is_causal=True)


def masked(x):
    mask = torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool, device=x.device).tril()
    return F.scaled_dot_product_attention(x, x, x, attn_mask=mask)


class Decoder(nn.Module):
    """A tiny decoder over token numbers."""

    def __init__(self):
        super().__init__()
        self.embed, self.read = nn.Embedding(20, 8), nn.Linear(8, 20)

    def forward(self, tokens):
        """Return logits."""
        return self.read(causal(self.embed(tokens)))


def test_future_changes_and_the_past_stays():
    """Tokens from the cut on are other values in the range of the given ones; those before it stay."""
    tokens = torch.arange(12).view(2, 6)
    (changed,) = change_from((tokens,), 1, 4)

    assert torch.equal(changed[:, :4], tokens[:, :4])
    assert int(changed.min()) >= 0
    assert int(changed.max()) < 12
    assert not torch.equal(changed, tokens)


@pytest.mark.parametrize(
    ("fn", "inputs", "dims"),
    [
        (causal, (draw(1, 2, 8, 4),), (2,)),
        (torch.cumsum, (draw(5, 3), 0), (0,)),
        (F.relu, (draw(4, 6),), ()),  # token by token: nothing to leak
        (lambda x: x.mean(0, keepdim=True) + x, (draw(4, 6),), ()),
    ],
    ids=["attention", "cumsum", "relu", "mean"],
)
def test_causal_dimensions_are_found(fn, inputs, dims):
    """A dimension counts as causal when the past influences the future and the reverse does not."""
    assert causal_dims(fn, inputs) == dims


@pytest.mark.parametrize("fn", [causal, masked], ids=["is_causal", "attn_mask"])
def test_leak_in_blocks_of_four(fn):
    """A leak to the end of each block of four is found and the blocks are counted."""
    report = compare_numerics(fn, (draw(1, 2, 9, 4),), device=FaultyDevice("leaks future tokens"), gradients=False)

    assert report.kinds == ("leaks future tokens",)
    assert "blocks of 4" in report.findings[0].sentence


def test_leak_of_a_model_over_token_numbers():
    """Integer inputs are changed too: a decoder's leak is found through its tokens."""
    torch.manual_seed(0)
    tokens = torch.randint(0, 20, (2, 8), generator=torch.Generator().manual_seed(0))
    report = compare_numerics(Decoder(), (tokens,), device=FaultyDevice("leaks future tokens"), gradients=False)

    assert "leaks future tokens" in report.kinds
    assert compare_numerics(Decoder(), (tokens,), device="cpu", gradients=False).clean


def test_callable_that_should_be_causal_and_is_not():
    """causal=True names the callable itself where its own reference looks ahead."""
    report = compare_numerics(
        lambda x: F.scaled_dot_product_attention(x, x, x), (draw(1, 2, 8, 4),), device="cpu", causal=True
    )

    assert report.kinds == ("leaks future tokens",)
    assert "the callable itself" in report.findings[0].sentence


def test_causality_can_be_left_out():
    """causal=False does not look: the wrong numbers remain, without the cause."""
    report = compare_numerics(
        causal, (draw(1, 2, 8, 4),), device=FaultyDevice("leaks future tokens"), causal=False, gradients=False
    )

    assert "leaks future tokens" not in report.kinds
    assert "error" in report.kinds


class RaisesForOtherTokens:
    """The CPU that raises once a token is another one."""

    name = "CPU that knows one text"

    def __init__(self, first):
        self.first = first

    def run(self, fn, inputs):
        """Call, or raise."""
        x = inputs[0]
        begins_alike = x.shape == self.first.shape and torch.equal(x[..., :3, :], self.first[..., :3, :])
        if begins_alike and not torch.equal(x, self.first):
            raise ValueError("another text")
        return fn(*inputs)


def test_device_that_raises_for_other_tokens():
    """Whatever a device raises while tokens change is a finding, and ends no comparison."""
    x = draw(1, 2, 8, 4)
    report = compare_numerics(causal, (x,), device=RaisesForOtherTokens(x), gradients=False, largest_elements=0)

    assert report.kinds == ("refused",)
    assert report.findings[0].case == "future tokens changed"
