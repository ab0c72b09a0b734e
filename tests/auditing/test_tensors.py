"""What cannot be moved to MPS is named before any operator runs."""

from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from course_utils.auditing import audit
from course_utils.auditing.tensors import movable, tensors_kept_by


class Model(nn.Module):
    """A layer with a buffer."""

    def __init__(self, buffer):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("table", buffer)

    def forward(self, x):
        """Multiply with the buffer."""
        return self.layer(x) @ self.table.to(x.dtype)


def _before(found):
    return [(finding.kind, finding.name) for finding in found.findings if finding.phase == "before"]


def test_float64_buffer_and_numpy_input():
    """Each float64 tensor is listed by name before any operator, with its fix (pytorch #122602)."""
    found = audit(Model(torch.eye(3, dtype=torch.float64)), torch.from_numpy(np.ones((2, 3))), mode="eval")

    assert _before(found) == [("float64", "buffer table"), ("float64", "input[0]")]
    assert "float32" in found.findings[0].advice
    assert all(finding.phase == "before" for finding in found.findings)


def test_float64_model_is_followed_nevertheless():
    """A model in float64 is named parameter by parameter, and its operators are still audited."""
    model = nn.Sequential(nn.Linear(3, 3), nn.AdaptiveMaxPool3d(1)).double()
    found = audit(nn.Sequential(model[0]).double(), torch.ones(2, 3, dtype=torch.float64))

    assert _before(found) == [
        ("float64", "parameter 0.weight"),
        ("float64", "parameter 0.bias"),
        ("float64", "input[0]"),
    ]
    assert found.phases[-1] == "optimizer"


def test_float64_targets_of_the_loss():
    """Targets that come from NumPy are float64, and are named as the loss's."""
    targets = torch.from_numpy(np.zeros((2, 3)))
    found = audit(nn.Linear(3, 3), torch.ones(2, 3), loss=lambda output: F.mse_loss(output, targets.float()))

    assert _before(found) == [("float64", "targets of the loss")]


def test_complex128():
    """complex128 is named, with complex64 as the fix."""
    found = audit(nn.Identity(), torch.ones(2, dtype=torch.complex128), mode="eval")

    (finding,) = found.findings
    assert (finding.kind, finding.public) == ("float64", "complex128")
    assert "complex64" in finding.advice


@pytest.mark.parametrize(
    ("release", "text"), [("2.8.0", "NotImplementedError when it is moved"), ("2.9.1", "can be moved from torch 2.9")]
)
def test_sparse_buffer(release, text):
    """A sparse buffer is named, and the fallback variable said to be of no help (pytorch #141711)."""
    found = audit(Model(torch.eye(3).to_sparse()), torch.ones(2, 3), mode="eval", release=release)

    (finding,) = found.findings
    assert (finding.kind, finding.name) == ("sparse", "buffer table")
    assert text in finding.effect
    assert "fallback variable cannot help" in finding.effect
    assert "SparseMPS" in finding.effect


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_compressed_sparse_buffer():
    """A CSR buffer cannot be made on MPS in any release."""
    found = audit(Model(torch.eye(3).to_sparse_csr()), torch.ones(2, 3), mode="eval")

    assert found.findings[0].public == "sparse_csr"
    assert "cannot be made on MPS" in found.findings[0].effect


def test_a_buffer_left_elsewhere_is_named():
    """Of a model on one device and a buffer on another, the buffer is named (pytorch #130790)."""
    found = audit(Model(torch.eye(3, device="meta")), torch.ones(2, 3), mode="eval")

    assert _before(found) == [("mixed devices", "buffer table")]
    assert found.findings[0].public == "on meta"


def test_a_model_on_meta_needs_no_memory_first():
    """A model built on the meta device is audited with zeros for its weights."""
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    found = audit(model, torch.ones(2, 4, device="meta"))

    assert found.clean, found
    assert found.phases[-1] == "optimizer"


def test_tensors_kept_by_a_function():
    """Closures, globals, defaults and partial arguments are seen."""
    kept = torch.ones(1)

    def closure(x):
        return x + kept

    def default(x, y=kept):
        return x + y

    assert [name for name, _ in tensors_kept_by(closure)] == ["kept"]
    assert [tensor is kept for _, tensor in tensors_kept_by(default)] == [True]
    assert kept in [tensor for _, tensor in tensors_kept_by(partial(torch.add, other=kept))]
    assert list(tensors_kept_by(None)) == []


def test_movable():
    """Dense, on the CPU, at most 32 bits a float; other values pass."""
    assert movable(torch.ones(2, dtype=torch.float64)).dtype == torch.float32
    assert movable(torch.eye(2).to_sparse()).layout is torch.strided
    assert movable(torch.ones(2, device="meta")).tolist() == [0.0, 0.0]
    assert movable("text") == "text"
