"""The publicly reported faults of MPS, planted into the CPU's kernels: `with planted("pytorch#190052")`."""

from support.planted_known_faults import (  # noqa: F401  (each registers its plants)
    dtypes_and_copies,
    gradients,
    masks,
    memory,
    models,
    sizes,
    strides,
    values,
)
from support.planted_known_faults.modes import PLANTED, planted

__all__ = ["PLANTED", "planted"]
