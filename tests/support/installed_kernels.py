"""What the installed torch lacks on MPS and a newer one has: there the course says so, and elsewhere it runs."""

from contextlib import AbstractContextManager, nullcontext

import pytest
import torch

from course_utils.data.versions import line_of, order
from course_utils.operators.history import first_native

# case of a test -> the operator that it needs last, of those that got an MPS kernel after torch 2.9
NEEDS = {
    "EmbeddingBag": "_embedding_bag",
    "ctc_loss": "_ctc_loss",
    "grid_sample": "grid_sampler_2d_backward",
    "linalg.svd": "_linalg_svd.U",
    "linalg.eigh": "_linalg_eigh.eigenvalues",
    "linalg.qr": "linalg_qr.out",
    "cdist": "_cdist_backward",
    "pinv": "_linalg_svd.U",
    "matrix_rank": "_linalg_svd.U",
    "matrix_rank, hermitian": "_linalg_eigh.eigenvalues",
    "lstsq": "linalg_lstsq.out",
    "index_reduce on int64": "index_reduce.out",
    "matrix_exp on macOS 14": "linalg_matrix_exp",
}


def lacked(case: str) -> str | None:
    """Return the operator that a case needs and the installed torch lacks on MPS; None where it lacks none."""
    operator = NEEDS.get(case)
    since = None if operator is None else first_native(operator)
    if operator is not None and since is None:
        raise LookupError(f"no release has an MPS kernel of {operator}, which the case {case} needs")
    return operator if since is not None and order(line_of(torch.__version__)) < order(since) else None


def refused_if_lacked(case: str) -> AbstractContextManager[object]:
    """Expect torch's refusal, or its warning of a fallback, where the installed torch lacks what the case needs."""
    operator = lacked(case)
    if operator is None:
        return nullcontext()
    return pytest.raises((NotImplementedError, UserWarning), match=f"aten::_?{operator.partition('.')[0].strip('_')}")
