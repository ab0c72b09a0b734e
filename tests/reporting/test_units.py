"""Sizes are written in binary units, and torch's are read as such."""

import pytest

from course_utils.reporting.units import GIB, format_bytes, format_sizes, parse_size


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"),
        (1000, "1000 bytes"),
        (1024, "1.00 KiB"),
        (10 * 2**20, "10.0 MiB"),
        (1.5 * GIB, "1.50 GiB"),
        (2**40, "1,024 GiB"),
        (GIB - 1, "1.00 GiB"),
    ],
)
def test_three_digits_and_a_binary_unit(n_bytes, text):
    """A size has three significant digits and never reads 1,024 of the smaller unit."""
    assert format_bytes(n_bytes) == text


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("9.07 GB", 9.07 * GIB), ("27.20 GiB", 27.2 * GIB), ("292.50 MiB", 292.5 * 2**20), ("256 bytes", 256)],
)
def test_gb_of_torch_is_gib(text, n_bytes):
    """Torch's GB and GiB both count 1024 (lllyasviel/Fooocus #980: 9.07 GB on an 8 GB Mac)."""
    assert parse_size(text) == round(n_bytes)


@pytest.mark.parametrize("text", ["", "GB", "nine GB", "9.07", "-1 GB"])
def test_what_is_no_size_is_refused(text):
    """Anything else is refused with its text."""
    with pytest.raises(ValueError, match="is not a size"):
        parse_size(text)


@pytest.mark.parametrize("limit", [20 * 2**20, 10**6, 1000, GIB])
@pytest.mark.parametrize("more", [1, 100, 10**9])
def test_compared_sizes_never_read_alike(limit, more):
    """Two different sizes in one sentence have two different texts."""
    larger, smaller = format_sizes(limit + more, limit)

    assert larger != smaller
    assert format_sizes(limit, limit)[0] == format_bytes(limit)
