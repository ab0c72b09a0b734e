"""The ledger counts copies, host waits and operators, names their cause and line, and never a time."""

import dataclasses
import inspect

import pytest
import torch
from support.unwrapped import unwrapped
from torch import nn

from course_utils.emulation import Ledger, emulated_mps
from course_utils.emulation.context import version_warnings
from course_utils.emulation.recorder import EventRecorder

READS = {
    "item()": lambda x: x[0].item(),
    "bool()": lambda x: bool(x[0] > 0),
    "float()": lambda x: float(x[0]),
    "int()": lambda x: int(x[0]),
    "print": repr,
    "format": lambda x: f"{x[0]:.1f}",
    "tolist()": lambda x: x.tolist(),
    "cpu()": lambda x: x.cpu(),
    "to()": lambda x: x.to("cpu"),
    "nonzero": lambda x: x.nonzero(),
    "unique": lambda x: x.unique(),
    "boolean mask": lambda x: x[x > 0],
    "equal": lambda x: torch.equal(x, x),
    "masked_fill_ with a tensor value": lambda x: x.masked_fill_(x > 0, torch.ones((), device="mps")),
    "torch.mps.synchronize": lambda x: torch.mps.synchronize(),
    "torch.accelerator.synchronize": lambda x: torch.accelerator.synchronize(),
    "in": lambda x: 1.0 in x,
}


@pytest.mark.parametrize("cause", READS)
def test_a_read_is_one_host_wait(cause):
    """Whatever makes the host wait is counted once, with its cause and the caller's line."""
    with emulated_mps() as mps:
        x = torch.ones(3, device="mps")
        mps.clear_ledger()
        READS[cause](x)
        (wait,) = mps.ledger().waits
    assert wait.cause == cause
    assert wait.location.file == __file__


def test_the_line_is_the_callers():
    """The location is the first line outside torch and the course's package, with the torch function it called."""
    with emulated_mps() as mps:
        layer = nn.Linear(2, 2).to("mps")
        layer(torch.ones(1, 2, device="mps")).sum().backward()
        mps.clear_ledger()
        line = inspect.currentframe().f_lineno + 1
        nn.utils.clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)
        (wait,) = mps.ledger().waits
    assert (wait.location.line, wait.location.function) == (line, "test_the_line_is_the_callers")
    assert wait.cause.startswith("bool() in ")


def test_grad_scaler_waits_for_its_verdict():
    """GradScaler.step reads whether gradients overflowed: one wait, and its cause says so."""
    with emulated_mps() as mps:
        weight = nn.Parameter(torch.ones(1, device="mps"))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        scaler = torch.amp.GradScaler("mps")
        scaler.scale(weight * 2).sum().backward()
        mps.clear_ledger()
        scaler.step(optimizer)
        (wait,) = mps.ledger().waits
    assert wait.cause == "item() in GradScaler.step"


def test_reading_the_loss_each_step_or_each_epoch():
    """A loop that reads the loss every batch waits every batch; one that sums on the device waits once (TIM-05)."""

    def epoch(read_each_batch):
        model = nn.Linear(2, 1).to("mps")
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        batches = [torch.ones(4, 2, device="mps") for _ in range(5)]
        total = torch.zeros((), device="mps")
        for batch in batches:
            optimizer.zero_grad()
            loss = model(batch).pow(2).mean()
            loss.backward()
            optimizer.step()
            total += loss.item() if read_each_batch else loss.detach()
        return total.item()

    with emulated_mps() as mps:
        epoch(read_each_batch=True)
        each_batch = len(mps.ledger().waits_of("read"))
        mps.clear_ledger()
        epoch(read_each_batch=False)
        each_epoch = len(mps.ledger().waits_of("read"))
    assert (each_batch, each_epoch) == (6, 1)


def test_copies_have_direction_bytes_and_blocking():
    """Copies are listed with direction, bytes and whether the host waits for them."""
    with emulated_mps() as mps:
        x = torch.ones(4).to("mps")
        x.half().to("cpu", non_blocking=True)
        torch.tensor([1, 2], device="mps")
        torch.ones(2, device="mps").copy_(torch.zeros(2))
        ledger = mps.ledger()
    assert [(copy.direction, copy.n_bytes, copy.blocking) for copy in ledger.copies] == [
        ("to mps", 16, True),
        ("to cpu", 8, False),
        ("to mps", 16, True),
        ("to mps", 8, True),
    ]
    assert (ledger.bytes_copied("to mps"), ledger.bytes_copied("to cpu")) == (40, 8)
    assert [(wait.cause, wait.kind) for wait in ledger.waits] == [
        ("to()", "copy to mps"),
        ("tensor()", "copy to mps"),
        ("copy_()", "copy to mps"),
    ]
    assert ledger.waits_of("read") == ()


def test_an_empty_tensor_is_not_copied():
    """A tensor without numbers makes no copy and no wait, as Copy.mm returns before it does anything."""
    with emulated_mps() as mps:
        torch.empty(0, 3).to("mps").cpu()
        ledger = mps.ledger()
    assert (ledger.copies, ledger.waits) == ((), ())


def test_moving_each_batch_waits_each_time():
    """A loop that moves its batch waits for each tensor; with non_blocking=True it does not."""

    def waits(**options):
        with emulated_mps() as mps:
            for _ in range(3):
                torch.ones(2, 2).to(mps.device, **options).add(1)
            return len(mps.ledger().waits_of("copy to mps"))

    assert (waits(), waits(non_blocking=True)) == (3, 0)


def test_views_and_empty_tensors_queue_no_kernel():
    """Only what puts work into the queue is a launch; a copy within the device is one."""
    with emulated_mps() as mps:
        x = torch.empty(4, 6, device="mps")
        x.view(2, 12).t()[0].permute(0).unsqueeze(0)
        assert mps.ledger().launches == 0
        x.t().contiguous()
        (x + x).mul_(2)
        ledger = mps.ledger()
    assert ledger.launches == 3
    assert sum(ledger.operators.values()) > 3


def test_unknown_kind_of_wait():
    """Asking for a kind of wait that does not exist names those that do."""
    with emulated_mps() as mps, pytest.raises(ValueError, match="'read', 'copy to mps'"):
        mps.ledger().waits_of("reads")


def test_creating_on_the_device_copies_nothing():
    """`torch.randn(..., device="mps")` needs no copy, `torch.randn(...).to("mps")` one."""
    with emulated_mps() as mps:
        torch.randn(8, device="mps")
        assert mps.ledger().copies == ()
        torch.randn(8).to("mps")
        assert len(mps.ledger().copies) == 1


def test_snapshot_is_frozen():
    """A ledger is a snapshot: later work and attribute writes do not change it."""
    with emulated_mps() as mps:
        x = torch.ones(2, device="mps")
        ledger = mps.ledger()
        before = dict(ledger.operators)
        (x + x).tolist()
        assert dict(ledger.operators) == before
        assert ledger.waits == ()
        with pytest.raises(dataclasses.FrozenInstanceError):
            ledger.waits = ()
        with pytest.raises(TypeError):
            ledger.operators["aten::add.Tensor"] = 0


def test_doubts_are_stated():
    """A release outside the tested range, or a result computed otherwise than on MPS, is a warning of the ledger."""
    assert version_warnings("2.14.1+cpu") == version_warnings("2.9.0") == ()
    assert "2.99.0 is outside the releases" in version_warnings("2.99.0")[0]
    recorder = EventRecorder()
    recorder.warnings.extend(["doubtful", "doubtful"])
    recorder.clear()
    assert recorder.snapshot().warnings == ("doubtful",)
    assert "note: doubtful" in str(recorder.snapshot())


def test_ledger_prints_without_a_time():
    """Terminal and notebook forms list counts, causes and lines, and hold no time of any kind."""
    with emulated_mps() as mps:
        torch.ones(2).to("mps").sum().item()
        ledger = mps.ledger()
    text, page = str(ledger), ledger._repr_html_()
    assert "2 host waits (1 read, 1 copy to mps), 0 fallbacks, 8 bytes to mps" in unwrapped(text)
    assert f"item()  at {__file__.rpartition('/')[2]}:" in text
    assert "<table>" in page
    assert "item()" in page
    names = {field.name for field in dataclasses.fields(Ledger)}
    assert names == {"copies", "waits", "fallbacks", "operators", "warnings", "device"}
