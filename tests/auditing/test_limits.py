"""Documented limits of kernels: data with sources, and checks that look at shapes and dtypes only."""

import pytest
import torch

from course_utils.auditing.limits import CHECKS, all_limits, limits_of, name_arguments
from course_utils.operators import operator_table


def _meta(*size, dtype=torch.float32):
    return torch.empty(size, dtype=dtype, device="meta")


def _conv(x, out, transposed=False):
    return {"input": x, "transposed": transposed}, out


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
        ({"self": _meta(1, 6, 2), "output_size": [3, 4]}, _meta(1, 3, 4)),
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
    assert not CHECKS[check](*within)


@pytest.mark.parametrize("limit", all_limits(), ids=lambda limit: limit.name)
def test_data(limit):
    """Each entry names operators that torch has, a known check, and a source."""
    assert limit.check in CHECKS
    assert limit.kind in ("may refuse", "may leave the GPU")
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
