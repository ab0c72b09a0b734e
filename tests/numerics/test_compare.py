"""Comparing two outputs: structure, shape, dtype, non-finite values, integers, error, each with its place."""

import pytest
import torch

from course_utils.numerics import compare_outputs
from course_utils.numerics.reference.limits import ErrorBound
from course_utils.numerics.tensors.leaves import OutputLeaf, flatten, same_bits


def compare(yours, right, limit=1e-6, dtype=torch.float32, **options):
    """Compare two outputs with one limit for all numbers."""
    reference = flatten(right)
    bounds = [
        ErrorBound(torch.full(leaf.tensor.shape, limit if leaf.is_number_with_rounding else 0.0)) for leaf in reference
    ]
    return compare_outputs(flatten(yours), reference, bounds, dtype=dtype, **options)


def test_equal_outputs_agree():
    """Nothing is found between equal nested outputs."""
    x = {"a": [torch.ones(3), 2.0], "b": (torch.arange(3), None)}

    assert compare(x, x) == ()


def test_worst_element_and_where():
    """The worst number is named with its place, both values and what is allowed."""
    right = torch.zeros(2, 3, dtype=torch.float64)
    yours = right.clone()
    yours[1, 2] = 0.5
    yours[0, 0] = 0.25
    (found,) = compare([torch.ones(1), yours], [torch.ones(1), right])

    assert (found.kind, found.where, found.index) == ("error", "output[1]", (1, 2))
    assert (found.on_device, found.expected) == (0.5, 0.0)
    assert "2 of 6 numbers of output[1]" in found.sentence


def test_shape_is_a_finding_and_no_crash():
    """Another shape is reported as such, and the other outputs are still compared (pytorch #190064)."""
    kinds = [d.kind for d in compare([torch.ones(2, 2), torch.ones(1)], [torch.ones(4, 4), torch.zeros(1)])]

    assert kinds == ["shape", "error"]


def test_missing_output():
    """Fewer outputs than the reference are named."""
    (found,) = compare([torch.ones(1)], [torch.ones(1), torch.ones(1)])

    assert found.kind == "structure"
    assert "missing: output[1]" in found.sentence


def test_dtype_is_the_one_of_the_cpu():
    """Another dtype than the CPU's in the same precision is a finding."""
    (found,) = compare(torch.ones(2), torch.ones(2).double(), cpu=flatten(torch.ones(2).half()))

    assert found.kind == "dtype"
    assert "torch.float32, on the CPU torch.float16" in found.sentence


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_non_finite_where_the_reference_is_finite(value):
    """NaN and infinity where a number is expected are found, and are not errors of any size."""
    (found,) = compare(torch.tensor([1.0, value]), torch.tensor([1.0, 2.0]))

    assert (found.kind, found.index) == ("non-finite", (1,))


def test_finite_where_the_reference_is_not():
    """The reverse is found too: NaN is an answer."""
    (found,) = compare(torch.tensor([1.0]), torch.tensor([float("nan")]))

    assert found.kind == "non-finite"


def test_same_nan_agrees():
    """NaN in both, and the same infinity in both, agree."""
    x = torch.tensor([float("nan"), float("inf"), 1.0])

    assert compare(x, x.double()) == ()


def test_overflow_is_not_the_device_s_fault():
    """A right answer above float16's 65504 is called overflow, with the value."""
    (found,) = compare(
        torch.tensor([float("inf")], dtype=torch.float16), torch.tensor([1e5]).double(), dtype=torch.float16
    )

    assert found.kind == "overflow"
    assert "65504" in found.sentence
    assert "1e+05" in found.sentence


def test_integers_are_exact_past_two_to_the_53():
    """One off at 2**60 is found: no float stands between the two."""
    (found,) = compare(torch.tensor([2**60 + 2]), torch.tensor([2**60 + 1]))

    assert found.kind == "integers"
    assert str(2**60 + 1) in found.sentence


@pytest.mark.parametrize(
    ("dtype", "value"), [(torch.float32, 2**24 + 1), (torch.float16, 2**11 + 1), (torch.bfloat16, 2**8 + 1)]
)
def test_float_in_between_is_named(dtype, value):
    """An integer that is what a float makes of the right one names that float."""
    right = torch.tensor([value])
    (found,) = compare(right.to(dtype).long(), right)

    assert found.kind == "integers through float"
    assert f"through {str(dtype).removeprefix('torch.')}" in found.sentence


def test_bool_is_exact():
    """A wrong bool is found."""
    (found,) = compare(torch.tensor([True]), torch.tensor([False]))

    assert found.kind == "integers"


def test_complex_numbers():
    """Complex outputs are compared by absolute error."""
    right = torch.tensor([1 + 1j], dtype=torch.complex128)

    assert compare(right.to(torch.complex64), right) == ()
    assert compare(right.to(torch.complex64) + 1j, right)[0].kind == "error"


def test_leaves_are_named_by_their_place():
    """Nested outputs get the path a reader would write."""
    assert [leaf.path for leaf in flatten({"output": [torch.ones(1), {"b": 2}]})] == ["output[0]", "output[1]['b']"]
    assert [leaf.path for leaf in flatten((torch.ones(1), 3))] == ["output[0]", "output[1]"]


def test_same_bits_counts_nan_as_itself():
    """Repeatability compares bits, NaN being equal to NaN."""
    nan = (OutputLeaf("output", torch.tensor([float("nan"), 1.0])),)

    assert same_bits(nan, nan)
    assert not same_bits(nan, (OutputLeaf("output", torch.tensor([float("nan"), 2.0])),))
