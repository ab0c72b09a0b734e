"""Callables that an honest CPU was blamed for once, and stay clean: equal addends, fused kernels, linear algebra."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks.numerics_zoo.models import TinyGPT, normed_cnn, pooled_cnn, resnet18
from course_utils.numerics import compare_numerics, draw


class MathAttention:
    """The CPU with attention step by step."""

    name = "CPU with math attention"

    def run(self, fn, inputs):
        """Call with the other kernel."""
        with sdpa_kernel([SDPBackend.MATH]):
            return fn(*inputs)


class LaneSums:
    """The CPU that adds convolutions' bias gradients and sums one after the other in float32."""

    name = "CPU that adds one by one"

    def run(self, fn, inputs):
        """Call with sums in another order."""
        from benchmarks.numerics_zoo.devices import OtherKernels

        with OtherKernels(64):
            return fn(*inputs)


def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def well(x):
    return x / x.shape[-1] ** 0.5 + 3 * torch.eye(x.shape[-1]).to(x)


def assert_clean(fn, inputs, device="cpu", **options):
    report = compare_numerics(fn, inputs, device=device, **({"largest_elements": 0} | options))

    assert report.kinds == (), str(report.findings)
    return report


@pytest.mark.parametrize(
    "device", ["cpu", pytest.param(LaneSums(), marks=pytest.mark.slow)], ids=["cpu", "other order"]
)  # fmt: skip
@pytest.mark.parametrize("relu", [True, False])
def test_model_with_global_pooling(relu, device):
    """Behind a global average pool all cotangents of a channel are equal and round alike: 8192 of them here."""
    torch.manual_seed(0)

    assert_clean(pooled_cnn(relu=relu).eval(), (draw(8, 3, 32, 32),), device)


@pytest.mark.slow
def test_model_with_batch_norm_and_global_pooling():
    """The same behind two blocks with batch norm, evaluating."""
    torch.manual_seed(1)

    assert_clean(normed_cnn().eval(), (draw(8, 3, 32, 32),), LaneSums())


@pytest.mark.parametrize("keys", [256, pytest.param(512, marks=pytest.mark.slow)])
def test_fused_attention_and_its_other_backend(keys):
    """The fused kernel and the mathematical one are both honest."""
    queries = 64 if keys < 512 else keys
    inputs = tuple(draw(1, 4, length, 64, seed=seed) for seed, length in enumerate((queries, keys, keys)))

    assert_clean(attend, inputs, gradients=keys < 512)  # of 512 keys they take half a minute
    assert_clean(attend, inputs, MathAttention(), gradients=False)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: nn.LayerNorm(64), (2, 512, 64)),
        (lambda: nn.Conv1d(8, 8, 5), (8, 8, 2048)),
        (lambda: nn.BatchNorm1d(32), (4096, 32)),
        (lambda: nn.LSTM(16, 16, batch_first=True), (4, 64, 16)),
        (lambda: nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True), (2, 64, 64)),
        (lambda: nn.RMSNorm(64), (4, 32, 64)),
        (lambda: nn.GroupNorm(4, 16), (4, 16, 8, 8)),
        (lambda: nn.GRU(8, 8), (5, 3, 8)),
        (lambda: nn.LogSoftmax(-1), (16, 64)),
    ],
    ids=["LayerNorm", "Conv1d", "BatchNorm1d", "LSTM", "encoder layer", "RMSNorm", "GroupNorm", "GRU", "log_softmax"],
)
def test_modules_with_long_sums(make, shape):
    """Weight gradients that add up over batch and positions, norms and recurrences."""
    torch.manual_seed(0)

    assert_clean(make(), (draw(*shape),))


@pytest.mark.slow
def test_convolution_over_a_large_batch():
    """A weight gradient over 16 pictures of 64x64 adds 65536 terms."""
    torch.manual_seed(0)

    assert_clean(nn.Conv2d(3, 8, 3), (draw(16, 3, 64, 64),), LaneSums())


@pytest.mark.parametrize("name", ["qr", "svd", "svdvals", "eigh", "inv", "pinv", "matrix_exp"])
def test_linear_algebra(name):
    """Backward stable algorithms, whose signs are free."""
    fn = getattr(torch.linalg, name)

    assert_clean(lambda x: fn(x + x.mT if name == "eigh" else x), (well(draw(2, 16, 16)),))


def test_least_squares():
    """Lstsq of a tall matrix."""
    assert_clean(lambda a, b: torch.linalg.lstsq(a, b).solution, (draw(20, 8), draw(20, 2, seed=1)))


@pytest.mark.parametrize(
    "fn",
    [
        torch.fft.rfft,
        lambda x: torch.fft.rfft(x).abs(),
        torch.fft.fft2,
        lambda x: torch.fft.ifft(torch.fft.fft(x)).real,
        lambda x: torch.stft(x, 64, window=torch.ones(64).to(x), return_complex=True).abs(),
    ],
    ids=["rfft", "magnitude", "fft2", "back again", "stft"],
)
def test_fourier_transforms(fn):
    """An FFT errs by the size of the whole row."""
    assert_clean(fn, (draw(4, 256),))


def test_interpolation_and_series():
    """Bicubic interpolation to three times the size, and the gradient of lgamma."""
    assert_clean(nn.Upsample(scale_factor=3, mode="bicubic"), (draw(2, 3, 8, 8),))
    assert_clean(torch.lgamma, (draw(16, 16).abs() + 0.1,))


@pytest.mark.parametrize(
    ("fn", "inputs"),
    [
        (lambda x, g: F.grid_sample(x, g.tanh(), align_corners=False), (draw(2, 3, 8, 8), draw(2, 5, 5, 2))),
        (torch.fmod, (draw(16, 8), draw(16, 8, seed=1))),
        (torch.prod, (draw(16),)),
    ],
    ids=["grid_sample", "fmod", "prod"],
)
def test_half_precision_of_kernels_without_a_wide_accumulator(fn, inputs):
    """These round every step to float16."""
    assert_clean(fn, inputs, dtypes=[torch.float16])


def test_embedding_and_attention_module():
    """Token numbers in, and three inputs that are the same shape."""
    torch.manual_seed(0)
    tokens = torch.randint(0, 20, (3, 7), generator=torch.Generator().manual_seed(0))

    assert_clean(nn.Embedding(20, 8, padding_idx=0), (tokens,))
    assert_clean(nn.MultiheadAttention(16, 4, batch_first=True), (draw(2, 5, 16),) * 3)
    assert_clean(TinyGPT().eval(), (torch.randint(0, 65, (2, 8), generator=torch.Generator().manual_seed(0)),))


def test_resnet18():
    """A ResNet-18, an eighth as wide, is clean at 4x3x64x64."""
    torch.manual_seed(0)

    assert_clean(resnet18(8).eval(), (draw(4, 3, 64, 64),))
