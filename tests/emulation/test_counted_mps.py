"""Counting from above equals counting from inside: the real device's counter, run over the emulated device."""

import copy
import io
import threading
import warnings

import pytest
import torch
from support.rehearsal import differences
from torch import nn

from course_utils.emulation import counted_mps, emulated_mps
from course_utils.emulation.counted_device import CallNames
from course_utils.emulation.location import UNKNOWN
from course_utils.emulation.recorder import EventRecorder


def _in_inference(x):
    with torch.inference_mode():
        return nn.Linear(3, 2).to("mps")(x)


def _read_in_backward(x):
    weight = x.clone().requires_grad_()
    weight.register_hook(lambda grad: grad * grad.sum().item())
    (weight * 2).sum().backward()


READS = {
    "item": lambda x: x[0].item(),
    "bool": lambda x: bool(x[0] > 0),
    "float": lambda x: float(x[0]),
    "print": repr,
    "print nothing": lambda x: repr(x[:0]),
    "format a number": lambda x: f"{x[0]:.1f}",
    "format a tensor": lambda x: f"{x}",
    "list of tensors": lambda x: str([x, x]),
    "tolist": lambda x: x.tolist(),
    "cpu": lambda x: x.cpu(),
    "cpu, not waited for": lambda x: x.to("cpu", non_blocking=True),
    "nonzero": lambda x: x.nonzero(),
    "unique": lambda x: x.unique(),
    "boolean mask": lambda x: x[x > 0],
    "write through a mask": lambda x: x.__setitem__(x > 0, 2.0),
    "a list as index": lambda x: x[[0, 2]],
    "an index on the CPU": lambda x: x[torch.tensor([0, 2])],
    "equal": lambda x: torch.equal(x, x),
    "in": lambda x: 1.0 in x,
    "synchronize": lambda x: torch.mps.synchronize(),
    "accelerator": lambda x: torch.accelerator.synchronize(),
    "event": lambda x: torch.mps.Event().synchronize(),
    "empty cache": lambda x: torch.mps.empty_cache(),
    "numbers": lambda x: torch.tensor([1.0, 2.0], device="mps"),
    "numbers from the device": lambda x: torch.tensor([x[0], x[1]], device="mps"),
    "as_tensor": lambda x: torch.as_tensor([3], device="mps"),
    "an array": lambda x: torch.as_tensor(x.cpu().numpy(), device="mps"),
    "new_tensor": lambda x: x.new_tensor([1, 2]),
    "tensor of a tensor": lambda x: torch.as_tensor(torch.ones(2), device="mps"),
    "zeros and friends": lambda x: (torch.zeros(2, device="mps"), torch.randn_like(x), x.new_full((2,), 1.0)),
    "tensors of the meta device": lambda x: torch.zeros(2, device="meta") + 1,
    "deepcopy": lambda x: copy.deepcopy(nn.Parameter(x)),
    "linear": lambda x: nn.functional.linear(x, x.expand(4, 3)),
    "quantile of half": lambda x: x.half().std(),
    "attention": lambda x: nn.functional.scaled_dot_product_attention(*[x.view(1, 3, 1)] * 3),
    "always on the CPU": lambda x: nn.functional.embedding(x[:1].long(), x.view(3, 1).clone(), max_norm=1.0),
    "missing": lambda x: torch.linalg.eigvals(torch.eye(2, device="mps")),
    "missing, in place": lambda x: torch.nn.functional.rrelu(x, training=True, inplace=True),
    "inference": _in_inference,
    "a hook that reads": _read_in_backward,
}


@pytest.mark.parametrize("name", READS)
def test_one_line_counts_the_same_from_above(name):
    """Copies, waits and fallbacks are equal entry by entry, causes and lines included; so are launched kernels."""
    with emulated_mps(fallback=True) as mps, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = torch.ones(3, device="mps")
        mps.clear_ledger()
        with counted_mps(over_emulation=True) as counted:
            READS[name](x)
            assert differences(counted.ledger(), mps.ledger()) == []


def test_a_file_is_counted_from_above():
    """Saving and loading copy each storage, and wait for it, under the name of the function that the caller called."""
    with emulated_mps() as mps:
        model = nn.Linear(2, 2).to("mps")
        mps.clear_ledger()
        with counted_mps(over_emulation=True) as counted:
            file = io.BytesIO()
            torch.save(model.state_dict(), file)
            file.seek(0)
            torch.load(file, map_location="mps")
            ledger = counted.ledger()
        assert differences(ledger, mps.ledger()) == []
    assert [copy.cause for copy in ledger.copies] == ["torch.save"] * 2 + ["torch.load"] * 2


def test_falls_back_where_the_variable_was_not_set():
    """The course's own fallback copies, warns once and computes as torch's does."""
    matrix = torch.tensor([[2.0, 1.0], [1.0, 3.0]])

    def run():
        on_device = matrix.to("mps")
        values = torch.linalg.eigvals(on_device).cpu()
        torch.pdist(on_device.requires_grad_()).sum().backward()
        return values, on_device.grad.cpu()

    with emulated_mps(fallback=True) as mps, warnings.catch_warnings(record=True) as by_torch:
        warnings.simplefilter("always")
        expected = run()
        inside = mps.ledger()
    with emulated_mps(), warnings.catch_warnings(record=True) as by_course:
        warnings.simplefilter("always")
        with counted_mps(fallback=True, over_emulation=True) as counted:
            found = run()
            above = counted.ledger()
    assert [str(w.message) for w in by_course] == [str(w.message) for w in by_torch]
    assert len(by_course) == 1
    assert all(torch.equal(*pair) for pair in zip(found, expected, strict=True))
    assert differences(above, inside, lines=False) == []
    assert len(above.fallbacks) == 3


def test_without_fallback_the_error_is_torchs():
    """An operator without a kernel raises through the counter, and is no fallback."""
    with emulated_mps(), counted_mps(over_emulation=True) as counted:
        with pytest.raises(NotImplementedError, match="linalg_eig"):
            torch.linalg.eigvals(torch.eye(2, device="mps"))
        assert counted.ledger().fallbacks == ()


def test_nothing_is_left_behind():
    """After the block torch's functions are its own again, also after an error."""
    before = torch._C._mps_deviceSynchronize, torch.autograd._engine_run_backward
    with emulated_mps():
        inside = torch._C._mps_deviceSynchronize, torch.autograd._engine_run_backward
        with pytest.raises(ZeroDivisionError), counted_mps(over_emulation=True):
            raise ZeroDivisionError
        assert (torch._C._mps_deviceSynchronize, torch.autograd._engine_run_backward) == inside
    assert (torch._C._mps_deviceSynchronize, torch.autograd._engine_run_backward) == before


def test_events_on_a_thread_of_autograd_name_the_line_of_backward():
    """Where the caller's line is on no frame of this thread, the line that called backward is named."""
    recorder = EventRecorder(device="MPS")

    def backward():
        recorder.backward_from = recorder.location()

    backward()
    assert recorder.backward_from != UNKNOWN
    # a thread that runs nothing but the recorder's own code, as autograd's device threads do
    thread = threading.Thread(target=recorder.note_copy, args=("to cpu", 4), kwargs={"blocking": True})
    thread.start()
    thread.join()
    assert recorder.copies[0].location.file in (__file__, threading.__file__)


def test_print_is_counted_where_no_dispatch_mode_looks():
    """Torch switches dispatch modes off while it prints, so the function mode alone counts it."""
    recorder = EventRecorder(device="MPS")
    with emulated_mps():
        x = torch.ones(2, device="mps")
        with CallNames(recorder):
            str(x)
    assert [wait.cause for wait in recorder.waits] == ["print"]
