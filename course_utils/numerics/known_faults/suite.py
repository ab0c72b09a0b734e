"""All reproducers, by the fault that each asks for."""

from __future__ import annotations

from collections.abc import Mapping

# each registers its reproducers where it is imported
from course_utils.numerics.known_faults import (  # noqa: F401
    copies,
    dtypes,
    gradients,
    integers,
    masks,
    models,
    offsets,
    out_of_bounds,
    products,
    random_numbers,
    repeatability,
    sizes,
    strides,
    values,
)
from course_utils.numerics.known_faults.reproducer import REPRODUCERS, Reproducer


def all_reproducers() -> Mapping[str, Reproducer]:
    """Return the reproducers by the id of their fault."""
    return REPRODUCERS
