"""When operators fall back to the CPU, what is said, and what it costs in copies."""

import warnings

import pytest
import torch
from torch import nn

from course_utils.emulation import KernelTable, emulated_mps, mps_kernels
from course_utils.emulation.context import choose_policy
from course_utils.emulation.refusals import MpsRule, rule_of

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


def test_the_hook_receives_every_call():
    """One event a call: name, verdict, rule and the caller's line; what the hook returns is the result."""
    seen = []

    def hook(call):
        seen.append((call.name, call.verdict, call.rule, call.location))
        return call.run()

    with emulated_mps(missing="record", hook=hook):
        x = torch.eye(2, device="mps")
        seen.clear()
        torch.linalg.eig(x @ x)
    assert [event[:2] for event in seen] == [("aten::mm", "native"), ("aten::linalg_eig", "missing")]
    assert [event[2].status for event in seen] == ["native", "missing"]
    assert {event[3].file for event in seen} == {__file__}


def test_a_refusal_carries_its_rule():
    """Torch's own class and text, and the rule as an attribute, also through C++ and autograd."""
    with emulated_mps(missing="raise") as mps:
        x = torch.eye(2, device=mps.device, requires_grad=True)
        refused = {
            MpsRule.UNSUPPORTED_DTYPE: (TypeError, x.double),
            MpsRule.MIXED_DEVICES: (RuntimeError, lambda: nn.functional.linear(x, torch.eye(2))),
            MpsRule.MISSING_KERNEL: (NotImplementedError, lambda: torch.pdist(x).sum().backward()),
            MpsRule.TOO_MANY_DIMENSIONS: (RuntimeError, lambda: torch.zeros([1] * 17, device=mps.device)),
        }
        for rule, (kind, call) in refused.items():
            with pytest.raises(kind) as caught:
                call()
            assert type(caught.value) is kind
            assert rule_of(caught.value) is rule
        with pytest.raises(RuntimeError) as caught:
            x.detach() @ torch.ones(3, device=mps.device)
        assert rule_of(caught.value) is None


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
