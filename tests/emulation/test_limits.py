"""Documented limits of kernels: data with sources, and checks that look at shapes and dtypes only."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from support.installed_kernels import lacked, refused_if_lacked
from torch import nn

from course_utils.emulation import emulated_mps
from course_utils.emulation.limits import CHECKS, all_limits, limits_of, name_arguments
from course_utils.emulation.refusals import MpsRule, rule_of
from course_utils.operators import operator_table


def _meta(*size, dtype=torch.float32):
    return torch.empty(size, dtype=dtype, device="meta")


def _conv(x, out, transposed=False):
    return {"input": x, "transposed": transposed}, out


_INT, _COMPLEX, _HALF = (_meta(2, dtype=dtype) for dtype in (torch.int64, torch.complex64, torch.float16))
# check -> (a call that reaches the limit, one that does not)
CALLS = {
    "conv output size above 65536": (
        _conv(_meta(1, 1, 9), _meta(1, 1, 65537)),
        _conv(_meta(1, 1, 9), _meta(1, 65536, 9)),
    ),
    "conv3d": (_conv(_meta(1, 1, 2, 2, 2), _meta(1)), _conv(_meta(1, 1, 2, 2), _meta(1))),
    "conv_transpose3d": (
        _conv(_meta(1, 1, 2, 2, 2), _meta(1), transposed=True),
        _conv(_meta(1, 1, 2, 2, 2), _meta(1)),
    ),
    "conv_transpose3d in half": (
        _conv(_meta(1, 1, 2, 2, 2, dtype=torch.bfloat16), _meta(1), transposed=True),
        _conv(_meta(1, 1, 2, 2, 2), _meta(1), transposed=True),
    ),
    "sizes not divisible": (
        ({"self": _meta(1, 7, 8), "output_size": [3, 4]}, _meta(1, 3, 4)),
        ({"self": _meta(1, 6, 4), "output_size": [3, 2]}, _meta(1, 3, 2)),
    ),
    "larger sizes not divisible": (
        ({"self": _meta(1, 4, 2), "output_size": [6, 4]}, None),
        ({"self": _meta(1, 4, 2), "output_size": [8, None]}, None),
    ),
    "any size not divisible": (
        ({"self": _meta(1, 5, 5), "output_size": [3, 3]}, None),
        ({"self": _meta(1, 6, 2), "output_size": [3, 4]}, None),
    ),
    "one side grows": (
        ({"self": _meta(1, 16, 16), "output_size": [8, 32]}, None),
        ({"self": _meta(1, 16, 16), "output_size": [8, 16]}, None),
    ),
    "always": (({}, None), None),
    "batch1 is an integer": (({"batch1": _INT}, None), ({"batch1": _meta(2)}, None)),
    "vec1 is an integer": (({"vec1": _INT}, None), ({"vec1": _meta(2)}, None)),
    "more than four FFT dimensions": (({"dim": [0, 1, 2, 3, 4]}, None), ({"dim": [0, 1, 2, 3]}, None)),
    "self is int64": (({"self": _INT}, None), ({"self": _meta(2, dtype=torch.int32)}, None)),
    "self is complex": (({"self": _COMPLEX}, None), ({"self": _meta(2)}, None)),
    "self is not float32": (({"self": _COMPLEX}, None), ({"self": _meta(2)}, None)),
    "A is complex": (({"A": _COMPLEX}, None), ({"A": _meta(2)}, None)),
    "A is not float32": (({"self": _COMPLEX}, None), ({"self": _meta(2)}, None)),
    "LU is not float32": (({"LU": _COMPLEX}, None), ({"LU": _meta(2)}, None)),
    "a driver is given": (({"driver": "gesvd"}, None), ({"driver": None}, None)),
    "half input, float32 statistics": (
        ({"input": _HALF, "weight": None, "running_mean": _meta(2)}, None),
        ({"input": _HALF, "weight": _HALF, "running_mean": None}, None),
    ),
    "int64 minimum or maximum": (
        ({"self": _INT, "reduce": "amin"}, None),
        ({"self": _INT, "reduce": "sum"}, None),
    ),
    "integer input": (
        ({"input": _meta(2, dtype=torch.int64)}, _meta(2)),
        ({"input": _meta(2, dtype=torch.complex64)}, _meta(2)),
    ),
    "matrix of 8192 elements": (({"A": _meta(2, 128, 64)}, None), ({"A": _meta(900, 64, 64)}, None)),
    "neither float32 nor complex64": (({"A": _meta(2, dtype=torch.float16)}, None), ({"A": _meta(2)}, None)),
    "min(m, n) above 512": (({"A": _meta(513, 600)}, None), ({"A": _meta(512, 9000)}, None)),
    "int64": (({"self": _meta(2, dtype=torch.int64)}, None), ({"self": _meta(2)}, None)),
    "output of more than 2**32 elements": (({}, _meta(2**16, 2**16 + 1)), ({}, _meta(2**16, 2**16))),
}


@pytest.mark.parametrize("check", CHECKS)
def test_checks(check):
    """Each check tells a call beyond its limit from one just within."""
    beyond, within = CALLS[check]

    assert CHECKS[check](*beyond)
    assert within is None or not CHECKS[check](*within)


@pytest.mark.parametrize("limit", all_limits(), ids=lambda limit: limit.name)
def test_data(limit):
    """Each entry names operators that torch has, a known check, and a source."""
    assert limit.check in CHECKS
    assert limit.kind in ("may refuse", "may leave the GPU", "wrong result")
    assert (limit.error is not None) == (limit.kind == "may refuse") == (limit.text is not None)
    assert limit.source
    assert all(operator_table().overloads(operator) for operator in limit.operators)


def test_releases_bound_a_limit():
    """A limit holds from its first to its last release, both included."""
    names = {
        release: {limit.name for limit in limits_of("aten::linalg_qr", release)}
        for release in ("2.11.0", "2.12.1", "2.13.0", "2.14.1")
    }

    assert [bool(names[release]) for release in names] == [False, True, True, False]


def test_cumsum_depends_on_macos():
    """int64 cumsum on torch 2.0 is noted below macOS 13.3, and where the macOS is not known (pytorch #96610)."""
    assert limits_of("aten::cumsum", "2.0.1", "13.2")
    assert limits_of("aten::cumsum", "2.0.1", None)
    assert not limits_of("aten::cumsum", "2.0.1", "13.3")
    assert not limits_of("aten::cumsum", "2.1.2", "13.2")


def test_arguments_get_their_names():
    """Positional arguments are named by the schema."""
    schema = torch.ops.aten.cumsum.default._schema

    assert name_arguments(schema, (1, 2), {"dtype": 3}) == {"self": 1, "dim": 2, "dtype": 3}


def _ones(*size, dtype=torch.float32):
    return torch.ones(size, dtype=dtype).to("mps")


# (call, the macOS that refuses it, one that runs it or None)
REFUSED = {
    "adaptive pooling, 14 to 4": (lambda: F.adaptive_avg_pool2d(_ones(1, 1, 14, 14), 4), "15.7", None),
    "adaptive pooling, one side growing": (lambda: F.adaptive_avg_pool2d(_ones(1, 1, 16, 16), (8, 32)), "15.7", None),
    "linear on int64": (lambda: F.linear(_ones(2, 2, dtype=torch.int64), _ones(2, 2, dtype=torch.int64)), "15.7", None),
    "ConvTranspose3d in half": (
        lambda: nn.ConvTranspose3d(1, 1, 2).half().to("mps")(_ones(1, 1, 3, 3, 3).half()),
        "26.1",
        None,
    ),
    "fftn over five dimensions": (lambda: torch.fft.fftn(_ones(2, 2, 2, 2, 2)), "15.7", None),
    "integer baddbmm": (lambda: torch.baddbmm(*(_ones(1, 2, 2, dtype=torch.int64) for _ in range(3))), "15.7", None),
    "index_reduce on int64": (
        lambda: _ones(2, dtype=torch.int64).index_reduce(
            0, _ones(1, dtype=torch.int64), _ones(1, dtype=torch.int64), "amax"
        ),
        "15.7",
        None,
    ),
    "batch norm, half input and float32 statistics": (
        lambda: nn.BatchNorm1d(3).to("mps")(_ones(4, 3).half()),
        "15.7",
        None,
    ),
    "matrix_exp on macOS 14": (lambda: torch.linalg.matrix_exp(_ones(2, 2)), "14.8", "15.0"),
}


@pytest.mark.filterwarnings("ignore:.*beta:UserWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_the_device_refuses_what_the_data_knows(name):
    """The emulated device raises at a documented limit, with the rule; the macOS decides where it matters."""
    call, refuses, runs = REFUSED[name]
    if lacked(name) is not None:  # without a kernel there is no limit of one
        with emulated_mps(macos=refuses), refused_if_lacked(name):
            call()
        return
    with emulated_mps(macos=refuses), pytest.raises(RuntimeError) as caught:
        call()
    assert rule_of(caught.value) is MpsRule.KERNEL_LIMIT
    assert str(caught.value) in {limit.text for limit in all_limits()}
    if runs is not None:
        with emulated_mps(macos=runs):
            call()


def test_what_divides_runs():
    """Adaptive pooling of sizes that divide, in either direction, and max pooling of any size (2.14) run."""
    with emulated_mps():
        assert F.adaptive_avg_pool2d(_ones(1, 1, 16, 16), 8).shape[-1] == 8
        assert F.adaptive_avg_pool2d(_ones(1, 1, 4, 4), 8).shape[-1] == 8
        assert F.adaptive_max_pool2d(_ones(1, 1, 5, 5), 3).shape[-1] == 3


def test_the_macos_is_answered():
    """torch.backends.mps says which macOS is emulated."""
    with emulated_mps(macos="14.5"):
        assert torch.backends.mps.is_macos_or_newer(14, 5)
        assert not torch.backends.mps.is_macos_or_newer(15, 0)
