"""Faults that were always found, and stay so: one small question each, and its right name."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.utils.checkpoint import checkpoint

from benchmarks.numerics_zoo import changes
from benchmarks.numerics_zoo.faults import FAULTS, PlantedFault
from course_utils.numerics import FaultyDevice, compare_numerics, draw

BY_NAME = {fault.name: fault for fault in FAULTS}
ATTENTION = changes.ATTENTION


class Answering:
    """The CPU with its outputs changed afterwards."""

    name = "CPU with other outputs"

    def __init__(self, change):
        self.change = change

    def run(self, fn, inputs):
        """Call, then change."""
        outputs = fn(*(x.clone() if isinstance(x, torch.Tensor) else x for x in inputs))
        return outputs | {"output": self.change(outputs["output"])}


def written_slice(x):
    y = torch.zeros_like(x)
    y[2:].add_(x[2:] * 2)
    return y


def without(place, value):
    """Replace one operand."""
    return lambda func, args, kwargs: func(*args[:place], value, *args[place + 1 :], **kwargs)


def statistics_off(func, args, kwargs):
    result = func(*args, **kwargs)
    args[3].mul_(1.02)
    return result


def shifted_places(func, args, kwargs):
    values, places = func(*args, **kwargs)
    return values, places.roll(1, -1)


def flushed(func, args, kwargs):
    result = func(*args, **kwargs)
    return result.masked_fill(result.abs() < torch.finfo(torch.float32).tiny, 0.0)


def conjugated(func, args, kwargs):
    return func(args[0].conj().resolve_conj(), *args[1:], **kwargs)


def short_products(func, args, kwargs):
    """Multiply only the first 32768 terms."""
    most = 2**15
    if args[0].shape[1] <= most:
        return func(*args, **kwargs)
    return func(args[0][:, :most], args[1][:most], **kwargs)


def without_mask(func, args, kwargs):
    return func(*args, **(kwargs | {"attn_mask": None}))


def remainder_of_floats(func, args, kwargs):
    """Take the remainder as the rest of a float32 quotient (pytorch #154171)."""
    result = func(*args, **kwargs)
    dividend, divisor = args[0].float(), torch.as_tensor(args[1]).float()
    return (dividend - (dividend / divisor).floor() * divisor).to(result.dtype)


def divergence(x, y):
    """Compute how far two beta distributions are apart: lgamma and digamma of stacked parameters."""
    first, second = (torch.distributions.Beta(1 + 2 * t.sigmoid(), 2 - t.sigmoid()) for t in (x, y))
    return torch.distributions.kl_divergence(first, second)


def rolled(func, args, kwargs):
    return func(*args, **kwargs).roll(1, 0)


def planted(operators, change):
    return lambda: PlantedFault(operators, change)


TOKENS = torch.tensor([[0, 3, 3], [1, 0, 2]])
QKV = tuple(draw(2, 2, 6, 8, seed=seed) for seed in range(3))
MASK = torch.rand(6, 6, generator=torch.Generator().manual_seed(3)) < 0.7
MASK |= torch.eye(6, dtype=torch.bool)
MASK[2, 1::2] = False
PLACES = torch.tensor([0, 2, 2])
HELD = {
    "in-place write on a slice": (
        *(lambda: FaultyDevice("forgets an in-place write"), lambda: written_slice, (draw(4, 5),)),
        "forgets an in-place write",
    ),
    "masked_fill strides": (
        *(planted("masked_fill", changes.ignore_strides), lambda: lambda x: x.masked_fill(x > 0, 2.0), (draw(4, 6),)),
        "ignores strides",
    ),
    "running statistics of batch norm": (
        planted("native_batch_norm", statistics_off),
        lambda: nn.BatchNorm2d(4),
        (draw(6, 4, 5, 5),),
        "error",
    ),
    "gradient of what was broadcast": (
        planted("sum", changes.scaled_in_backward),
        lambda: torch.add,
        (draw(6, 8), draw(8)),
        "gradient",
    ),
    "padding_idx ignored in backward": (
        planted("embedding_dense_backward", without(3, -1)),
        lambda: nn.Embedding(5, 4, padding_idx=0),
        (TOKENS,),
        "gradient",
    ),
    "index_put overwrites": (
        planted("index_put", without(3, False)),
        lambda: lambda x: torch.zeros(4, 5).to(x).index_put((PLACES,), x, accumulate=True),
        (draw(3, 5),),
        "error",
    ),
    "places of max_pool": (
        planted("max_pool2d_with_indices", shifted_places),
        lambda: nn.MaxPool2d(2, return_indices=True),
        (draw(2, 3, 6, 6),),
        "integers",
    ),
    "last states of a two-layer LSTM": (
        lambda: Answering(lambda output: (output[0], (output[1][0].flip(0), output[1][1]))),
        lambda: nn.LSTM(5, 4, 2),
        (draw(3, 2, 5),),
        "error",
    ),
    "denormals": (planted("mul", flushed), lambda: lambda x: x * 0.5, (draw(4, 6) * 1e-38,), "error"),
    "complex product": (
        planted("mul", conjugated),
        lambda: torch.mul,
        tuple(torch.complex(draw(4, 5, seed=s), draw(4, 5, seed=s + 1)) for s in (0, 2)),
        "error",
    ),
    "more than 32768 terms": (
        planted("mm", short_products),
        lambda: torch.mm,
        (draw(2, 33000), draw(33000, 2, seed=1)),
        "drops a term of a reduction",
    ),
    "more than 32768 terms in a weight's gradient": (
        planted("mm", short_products),
        lambda: nn.Linear(3, 2, bias=False),
        (draw(33000, 3),),
        "wrong above a size",
    ),
    "mask of attention": (
        planted(ATTENTION, without_mask),
        lambda: lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=MASK),
        QKV,
        "error",
    ),
    "broadcast mask of attention": (
        planted(ATTENTION, without_mask),
        lambda: lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=MASK[2:3]),
        QKV,
        "error",
    ),
    "Conv3d": (
        planted("convolution", changes.scale_by(1.01)),
        lambda: nn.Conv3d(2, 3, 3),
        (draw(2, 2, 5, 5, 5),),
        "error",
    ),
    "remainder of integers": (
        planted("remainder", remainder_of_floats),
        lambda: lambda n: n % 31,
        (torch.randint(0, 50, (64,), generator=torch.Generator().manual_seed(0)),),
        "integers",
    ),
    "bias that is one row for all": (
        planted("addmm", changes.wrong_for_stride_0),
        lambda: torch.addmm,
        (draw(4, 5), draw(4, 8), draw(8, 5)),
        "ignores strides",
    ),
    "expanded parameters of a divergence": (
        planted("sigmoid", changes.wrong_for_stride_0),
        lambda: divergence,
        (draw(6, 8), draw(6, 8, seed=1)),
        "ignores strides",
    ),
    **{
        f"gradient of {mode} padding": (
            planted(operator, changes.scaled_in_backward),
            lambda mode=mode: lambda x: F.pad(x, (1, 2, 1, 0), mode=mode),
            (draw(2, 3, 6, 6),),
            "gradient",
        )
        for mode, operator in (
            ("reflect", "reflection_pad2d_backward"),
            ("replicate", "replication_pad2d_backward"),
            ("constant", "constant_pad_nd"),
        )
    },
    "advanced indexing": (planted("index", rolled), lambda: lambda x: x[PLACES, :2], (draw(4, 5),), "error"),
}


def reported(device, make, inputs):
    torch.manual_seed(0)
    return compare_numerics(make(), inputs, device=device, largest_elements=0)


@pytest.mark.parametrize("name", HELD)
def test_fault_is_found_under_its_name(name):
    """One fault, one name."""
    device, make, inputs, kind = HELD[name]
    report = reported(device(), make, inputs)

    assert report.kinds == (kind,), report.findings


@pytest.mark.parametrize("name", HELD)
def test_the_same_question_to_the_cpu_is_clean(name):
    """Without the fault there is nothing to find, and nothing to doubt."""
    _, make, inputs, _ = HELD[name]
    report = reported("cpu", make, inputs)

    assert report.kinds == (), report.findings
    assert report.undecided == ()


@pytest.mark.parametrize(
    "name",
    [
        *("gradient of the weight only", "gradient of the input only", "layer_norm without eps"),
        *("matmul in half precision", "strides of sort", "every call 3 of conv"),
    ],
)
def test_fault_of_the_benchmark_is_found_under_its_name(name):
    """Some of the benchmark's faults that its selection in the tests leaves out."""
    fault = BY_NAME[name]
    fn, inputs = fault.made()
    report = compare_numerics(fn, inputs, device=fault.device(), largest_elements=0)

    assert report.kinds[0] in fault.kinds
    assert len(report.kinds) == 1


class Checkpointed(nn.Module):
    """Dropout that is computed again in backward."""

    def __init__(self, *, remember):
        super().__init__()
        self.layer, self.remember = nn.Linear(6, 5), remember

    def forward(self, x):
        """Drop half of the outputs."""
        drop = lambda t: F.dropout(self.layer(t), 0.5)  # noqa: E731
        return checkpoint(drop, x, use_reentrant=False, preserve_rng_state=self.remember)


def test_gradient_through_checkpointed_dropout():
    """Backward has to draw the mask of forward again: finite differences tell."""
    torch.manual_seed(0)
    honest = compare_numerics(Checkpointed(remember=True), (draw(4, 6),), device="cpu")
    wrong = compare_numerics(Checkpointed(remember=False), (draw(4, 6),), device="cpu")

    assert honest.kinds == ("not comparable",)
    assert wrong.kinds == ("not comparable", "gradient")
