"""When operators fall back to the CPU, what is said, and what it costs in copies."""

import warnings

import pytest
import torch

from course_utils.emulation import KernelTable, emulated_mps, mps_kernels
from course_utils.emulation.context import choose_policy

WARNING = (
    "The operator 'aten::linalg_eig' is not currently supported on the MPS backend and will fall back to run on the "
    "CPU. This may have performance implications."
)


def _caught(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [warning for warning in caught if "fall back" in str(warning.message)]


def test_fallback_computes_and_warns_once():
    """With fallback the result is the CPU's, and only the first operator of the block is named (FB-03)."""
    with emulated_mps(fallback=True) as mps:
        x = torch.tensor([[2.0, 0.0], [0.0, 3.0]], device="mps")

        def twice():
            values, _ = torch.linalg.eig(x)
            return values, torch.mode(x, 0), torch.linalg.eig(x)

        (values, _, _), caught = _caught(twice)
        assert [str(warning.message) for warning in caught] == [WARNING]
        assert caught[0].category is UserWarning
        assert caught[0].filename == __file__
        assert sorted(values.real.tolist()) == [2.0, 3.0]
        names = [item.operator for item in mps.ledger().fallbacks]
        assert names == ["aten::linalg_eig", "aten::mode", "aten::linalg_eig"]


def test_warn_always():
    """torch.set_warn_always(True) makes every fallback warn, as in torch."""
    torch.set_warn_always(True)
    try:
        with emulated_mps(fallback=True):
            x = torch.eye(2, device="mps")
            _, caught = _caught(lambda: (torch.linalg.eig(x), torch.linalg.eig(x)))
    finally:
        torch.set_warn_always(False)
    assert len(caught) == 2


def test_every_block_warns_anew():
    """A second block stands for a second process, so it warns again."""
    for _ in range(2):
        with emulated_mps(fallback=True):
            x = torch.eye(2, device="mps")
            _, caught = _caught(lambda x=x: torch.linalg.eig(x))
        assert len(caught) == 1


def test_fallback_costs_copies_and_a_wait():
    """Each tensor goes to the CPU and each result comes back: bytes, a host wait, and the caller's line (TIM-06)."""
    with emulated_mps(missing="record") as mps:
        x = torch.eye(2, device="mps")
        mps.clear_ledger()
        torch.linalg.eig(x)
        ledger = mps.ledger()
    assert [(copy.direction, copy.n_bytes) for copy in ledger.copies] == [
        ("to cpu", 16),
        ("to mps", 16),
        ("to mps", 32),
    ]
    assert [wait.cause for wait in ledger.waits] == ["fallback of aten::linalg_eig"]
    (fallback,) = ledger.fallbacks
    assert (fallback.verdict, fallback.n_bytes) == ("missing", 64)
    assert fallback.location.file == __file__


def test_record_is_silent_and_repeats():
    """Recording warns of nothing and lists the operator in every block, so that two audits agree (FB-03)."""
    found = []
    for _ in range(2):
        with emulated_mps(missing="record") as mps:
            x = torch.rand(2, 1, 4, 4, 4, device="mps", requires_grad=True)
            _, caught = _caught(lambda x=x: torch.nn.functional.adaptive_max_pool3d(x, 2).sum().backward())
            found.append([item.operator for item in mps.ledger().fallbacks])
            assert caught == []
    assert found[0] == found[1] == ["aten::adaptive_max_pool3d.out", "aten::adaptive_max_pool3d_backward.grad_input"]


def test_cpu_always_needs_no_variable():
    """embedding_renorm_ runs on the CPU with a warning although missing operators raise."""
    with emulated_mps(missing="raise") as mps:
        weight = torch.full((3, 2), 2.0, device="mps")
        _, caught = _caught(
            lambda: torch.nn.functional.embedding(torch.tensor([1], device="mps"), weight, max_norm=1.0)
        )
        assert len(caught) == 1
        assert [item.verdict for item in mps.ledger().fallbacks] == ["cpu_always"]
        assert torch.linalg.vector_norm(weight[1]).item() == pytest.approx(1.0, abs=1e-4)
        assert weight[0].tolist() == [2.0, 2.0]


def test_views_cannot_fall_back():
    """A view operator without a kernel refuses to fall back, with torch's reason."""
    table = mps_kernels()
    without = KernelTable(table.torch_version, table.native - {"view", "unfold"}, table.cpu_always)
    with emulated_mps(kernels=without, fallback=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError) as caught:
            torch.ones(4, device="mps").unfold(0, 2, 1)
    assert "aten::unfold appears to be a view operator, but it has no implementation" in str(caught.value)
    assert "storage cannot be shared across devices" in str(caught.value)


def test_observer_sees_every_operator():
    """The observer is told name, verdict and the caller's line of each operator that reaches the device."""
    seen = []
    with emulated_mps(missing="record", observer=lambda *event: seen.append(event)):
        x = torch.eye(2, device="mps")
        seen.clear()
        torch.linalg.eig(x @ x)
    assert [(name, verdict) for name, verdict, _ in seen] == [
        ("aten::mm", "native"),
        ("aten::linalg_eig", "missing"),
    ]
    assert {location.file for _, _, location in seen} == {__file__}


def test_policy_choice():
    """The variable decides where no argument does; two arguments or an unknown word get one sentence."""
    assert choose_policy(None, None, lambda: True) == "fallback"
    assert choose_policy(None, None, lambda: False) == "raise"
    assert choose_policy(False, None, lambda: True) == "raise"
    assert choose_policy(None, "record", lambda: True) == "record"
    with pytest.raises(ValueError, match="not both"):
        choose_policy(True, "raise", lambda: False)
    with pytest.raises(ValueError, match='use "raise", "fallback" or "record"'):
        choose_policy(None, "ignore", lambda: False)
