"""Code that names the device runs unchanged: factories, moves, attributes, queries, files, random numbers."""

import copy
import io

import numpy as np
import pytest
import torch
from support.found import found
from torch import nn

from course_utils.emulation import emulated_mps

MPS = torch.device("mps", 0)
FACTORIES = {
    "empty": lambda **k: torch.empty(2, **k),
    "zeros": lambda **k: torch.zeros(2, **k),
    "ones": lambda **k: torch.ones(2, **k),
    "full": lambda **k: torch.full((2,), 3.0, **k),
    "arange": lambda **k: torch.arange(4, **k),
    "linspace": lambda **k: torch.linspace(0, 1, 3, **k),
    "eye": lambda **k: torch.eye(3, **k),
    "rand": lambda **k: torch.rand(2, **k),
    "randn": lambda **k: torch.randn(2, **k),
    "randint": lambda **k: torch.randint(0, 9, (2,), **k),
    "randperm": lambda **k: torch.randperm(5, **k),
    "tensor": lambda **k: torch.tensor([1.0, 2.0], **k),
    "as_tensor": lambda **k: torch.as_tensor([1.0, 2.0], **k),
    "as_tensor of numpy": lambda **k: torch.as_tensor(np.ones(2, dtype=np.float32), **k),
    "asarray": lambda **k: torch.asarray([1.0], **k),
    "hann_window": lambda **k: torch.hann_window(4, **k),
    "tril_indices": lambda **k: torch.tril_indices(3, 3, **k),
    "zeros_like": lambda **k: torch.zeros_like(torch.ones(2), **k),
    "new_ones": lambda **k: torch.ones(1).new_ones(2, **k),
    "Parameter": lambda **k: nn.Parameter(torch.ones(2, **k)),
}


@pytest.mark.parametrize("device", ["mps", "mps:0", torch.device("mps"), torch.device("mps", 0)], ids=str)
@pytest.mark.parametrize("name", FACTORIES)
def test_factory_makes_a_tensor_there(name, device):
    """Every factory makes its tensor on the device, however the device is spelled, and it holds data."""
    with emulated_mps():
        made = FACTORIES[name](device=device)
        assert made.device == MPS
        assert made.cpu().device.type == "cpu"
        assert made.is_mps
        assert not (made.is_cpu)
        assert not (made.is_meta)
        assert not (made.is_cuda)


def test_attributes_are_those_of_a_mac():
    """A tensor names its device and type as on a Mac, and torch.device("mps") keeps no index."""
    with emulated_mps():
        x = torch.ones(2, 3, device="mps")
        assert str(x.device) == "mps:0"
        assert torch.device("mps") != x.device
        assert (x.type(), x.get_device(), type(x)) == ("torch.mps.FloatTensor", 0, torch.Tensor)
        assert x.untyped_storage().device == MPS
        assert repr(x[0]) == "tensor([1., 1., 1.], device='mps:0')"
        assert x.data_ptr() == x.view(-1).data_ptr() != torch.ones(1, device="mps").data_ptr()


def test_moves_keep_or_copy():
    """`.to` returns the tensor itself where nothing changes, and a new one for another device or dtype."""
    with emulated_mps():
        x = torch.ones(2, device="mps")
        assert x.to("mps") is x
        assert x.to(x.device, torch.float32) is x
        assert x.to("mps", torch.float16).dtype == torch.float16
        assert x.to("cpu").device.type == "cpu"
        assert torch.ones(2).to(x).device == MPS


def test_views_and_writes_share_memory():
    """Views, slices, `.data` and in-place writes act on one memory, as on any device."""
    with emulated_mps():
        x = torch.arange(6.0, device="mps")
        view = x.view(2, 3).t()
        view[1] = -1.0
        assert x.tolist() == [0.0, -1.0, 2.0, 3.0, -1.0, 5.0]
        x[x < 0] = 7.0
        assert view[1].tolist() == [7.0, 7.0]
        x.data = torch.zeros(2, device="mps")
        assert x.tolist() == [0.0, 0.0]
        out = torch.empty(0, device="mps")
        torch.add(x, 1, out=out)
        assert out.tolist() == [1.0, 1.0]


def test_parameters_move_in_place():
    """`model.to("mps")` keeps the parameter objects, also after a backward pass and with an optimizer made before."""
    model = nn.Linear(3, 2)
    loss = model(torch.ones(1, 3)).sum()
    loss.backward()
    weight = model.weight
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    with emulated_mps():
        model.to("mps")
        assert model.weight is weight
        assert isinstance(weight, nn.Parameter)
        assert weight.grad.device == MPS
        before = weight.detach().cpu()
        optimizer.step()
        assert torch.equal(weight.detach().cpu(), before - 1.0)
        model.to("cpu")
    assert model.weight is weight
    assert model(torch.ones(1, 3)).shape == (1, 2)


def test_default_device():
    """`with torch.device("mps")` and torch.set_default_device make new tensors there."""
    with emulated_mps():
        with torch.device("mps"):
            assert torch.tensor([1.0]).device == MPS
            assert nn.Linear(2, 2).weight.device == MPS
        assert torch.ones(1).device.type == "cpu"
        torch.set_default_device("mps")
        try:
            assert torch.zeros(1).device == MPS
        finally:
            torch.set_default_device(None)


def test_availability_and_memory_queries():
    """torch.backends.mps, torch.mps and torch.accelerator answer, and memory follows living tensors."""
    with emulated_mps():
        assert torch.backends.mps.is_built()
        assert torch.backends.mps.is_available()
        assert torch.mps.device_count() == torch.accelerator.device_count() == 1
        assert torch.accelerator.current_accelerator(check_available=True) == torch.device("mps")
        before = torch.mps.current_allocated_memory()
        x = torch.ones(1000, device="mps")
        assert torch.mps.current_allocated_memory() == before + 4000
        view = x[:10]
        del x
        assert torch.mps.current_allocated_memory() == before + 4000
        del view
        assert torch.mps.current_allocated_memory() == before
        assert torch.mps.driver_allocated_memory() >= before + 4000
        assert torch.mps.recommended_max_memory() > 0
        torch.mps.empty_cache()


NO_DENSE_STEP = (torch.optim.Optimizer, torch.optim.SparseAdam)
OPTIMIZERS = [
    kind
    for kind in vars(torch.optim).values()
    if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer) and kind not in NO_DENSE_STEP
]


# Muon's norm takes this way on "mps", and not on "cpu" (torch/functional.py, torch 2.14 and 2.15)
@pytest.mark.filterwarnings("ignore:at..frobenius_norm is deprecated:UserWarning")
@pytest.mark.parametrize("kind", found(OPTIMIZERS), ids=lambda kind: kind.__name__)
def test_every_optimizer_makes_a_step(kind):
    """What an optimizer asks of the accelerator's stream is answered, and its step is the CPU's."""
    results = []
    with emulated_mps():
        for device in ("cpu", "mps"):
            torch.manual_seed(0)
            model = nn.Linear(3, 3, bias=False)
            model.to(device)
            optimizer = kind(model.parameters(), lr=0.01)

            def loss(model=model, device=device, optimizer=optimizer):
                optimizer.zero_grad()
                value = model(torch.ones(2, 3, device=device)).square().sum()
                value.backward()
                return value

            optimizer.step(loss)
            results.append(model.weight.detach().cpu())
    torch.testing.assert_close(*results)


def test_streams_answer_as_those_of_a_mac():
    """The accelerator's stream captures nothing and refuses what MPS refuses."""
    with emulated_mps():
        stream = torch.accelerator.current_stream()
        assert stream.device == MPS
        assert isinstance(stream, torch.Stream)
        assert not stream.is_capturing()
        with pytest.raises(RuntimeError, match="doesn't support synchronizing streams"):
            stream.synchronize()
        with pytest.raises(RuntimeError, match="doesn't support querying streams"):
            stream.query()
        torch.accelerator.set_stream(stream)


@pytest.mark.skipif(not hasattr(torch.mps, "Stream"), reason="torch.mps.Stream exists since torch 2.15")
def test_streams_of_mps():
    """Work on another stream is done, waiting for it is counted, and the block's end gives the old stream back."""
    with emulated_mps() as mps:
        default = torch.mps.current_stream()
        assert default == torch.mps.default_stream()
        side = torch.mps.Stream()
        assert side.stream_id != default.stream_id
        with torch.mps.stream(side):
            assert torch.mps.current_stream() == side
            x = torch.ones(3, device="mps") + 1
        assert torch.mps.current_stream() == default
        side.synchronize()
        assert len(mps.ledger().waits_of("synchronize")) == 1
        assert x.sum().item() == 6


def test_files_are_those_of_a_mac():
    """torch.save tags storages "mps"; map_location moves them either way, and shared storages stay shared."""
    file = io.BytesIO()
    with emulated_mps():
        x = torch.arange(4.0, device="mps")
        torch.save({"x": x, "half": x[2:]}, file)
        file.seek(0)
        loaded = torch.load(file)
        assert loaded["x"].device == MPS
        loaded["x"][3] = 9.0
        assert loaded["half"].tolist() == [2.0, 9.0]
        file.seek(0)
        assert torch.load(file, map_location="cpu")["half"].tolist() == [2.0, 3.0]
        plain = io.BytesIO()
        torch.save(nn.Linear(2, 2).state_dict(), plain)
        plain.seek(0)
        state = torch.load(plain, map_location="mps")
        model = nn.Linear(2, 2).to("mps")
        model.load_state_dict(state)
        assert torch.equal(model.weight, state["weight"])
    file.seek(0)
    assert torch.load(file, map_location="cpu")["x"].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_deepcopy():
    """A deep copy of a model and its optimizer is on the device and independent."""
    with emulated_mps():
        model = nn.Linear(2, 2).to("mps")
        twin = copy.deepcopy(model)
        with torch.no_grad():
            twin.weight.zero_()
        assert twin.weight.device == MPS
        assert model.weight.abs().sum().item() > 0


def test_random_numbers():
    """A seed repeats the device's numbers, differs from the CPU's and leaves the CPU's stream alone."""
    with emulated_mps():
        torch.manual_seed(1)
        first, on_cpu = torch.rand(4, device="mps"), torch.rand(4)
        torch.manual_seed(1)
        assert torch.equal(first, torch.rand(4, device="mps"))
        assert not torch.equal(first.cpu(), on_cpu)
        torch.manual_seed(1)
        nn.Dropout(0.5)(first)
        assert torch.equal(torch.rand(4), on_cpu)
        state = torch.mps.get_rng_state()
        again = torch.rand(4, device="mps")
        torch.mps.set_rng_state(state)
        assert torch.equal(again, torch.rand(4, device="mps"))
        generator = torch.Generator(device="mps").manual_seed(5)
        drawn = torch.randn(3, device="mps", generator=generator)
        assert torch.equal(drawn, torch.randn(3, device="mps", generator=generator.manual_seed(5)))
        assert generator.device == MPS


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast(dtype):
    """Under autocast products run in 16 bits, softmax and losses in float32, as MPS's lists say."""
    with emulated_mps():
        model = nn.Linear(4, 4).to("mps")
        x = torch.ones(2, 4, device="mps")
        with torch.autocast("mps", dtype=dtype):
            hidden = model(x)
            assert hidden.dtype == (x @ x.t()).dtype == dtype
            assert nn.functional.mse_loss(hidden, x).dtype == hidden.softmax(-1).dtype == torch.float32
            assert (x + x).dtype == torch.float32
        hidden.sum().backward()
        assert model.weight.grad.dtype == torch.float32
        assert model(x).dtype == torch.float32


def test_grad_scaler_skips_overflow():
    """GradScaler("mps") skips a step with an infinite gradient and halves its scale."""
    with emulated_mps():
        weight = nn.Parameter(torch.ones(1, device="mps"))
        optimizer = torch.optim.SGD([weight], lr=1.0)
        scaler = torch.amp.GradScaler("mps", init_scale=8.0)
        scaler.scale(weight * torch.inf).sum().backward()
        scaler.step(optimizer)
        scaler.update()
        assert weight.tolist() == [1.0]
        assert scaler.get_scale() == 4.0


def test_data_loader_and_meta():
    """A DataLoader feeds the device; the meta device stays itself and its modules materialise on the device."""
    with emulated_mps():
        data = torch.utils.data.TensorDataset(torch.arange(6.0).view(3, 2))
        batches = [batch.to("mps") for (batch,) in torch.utils.data.DataLoader(data, batch_size=2)]
        assert [len(batch) for batch in batches] == [2, 1]
        layer = nn.Linear(2, 2, device="meta")
        assert layer.weight.device.type == "meta"
        assert (layer.weight * 2).device.type == "meta"
        assert layer.to_empty(device="mps").weight.device == MPS


def test_pinning_warns_as_on_a_mac():
    """A DataLoader asked to pin memory says that MPS does not, and goes on (DEV-04)."""
    data = torch.utils.data.TensorDataset(torch.arange(4.0))
    with (
        emulated_mps(),
        pytest.warns(UserWarning, match="'pin_memory' argument is set as true but not supported on MPS"),
    ):
        (batch,) = next(iter(torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True)))
    assert batch.tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_training(dtype):
    """A convolutional model in 16 bits trains, and its numbers stay close to float32's."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))
    x = torch.randn(2, 3, 8, 8)
    twin = copy.deepcopy(model)
    model(x).pow(2).mean().backward()
    with emulated_mps():
        twin.to("mps", dtype)
        twin(x.to("mps", dtype)).pow(2).mean().backward()
        found = twin[0].weight.grad.float().cpu()
    torch.testing.assert_close(found, model[0].weight.grad, rtol=0.2, atol=0.02)


def test_hooks_see_the_device_by_name():
    """A gradient hook and a custom autograd function may name the device during backward."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * torch.tensor([2.0], device="mps")

    with emulated_mps():
        x = torch.ones(1, device="mps", requires_grad=True)
        x.register_hook(lambda grad: grad + torch.tensor([1.0], device="mps"))
        Double.apply(x).sum().backward()
        assert x.grad.tolist() == [3.0]


INDICES = {
    "list": lambda x: x[[0, 2]],
    "list in a tuple": lambda x: x[:, [0, 2]],
    "list after an ellipsis": lambda x: x[..., [3]],
    "list of bools": lambda x: x[[True, False, True]],
    "empty list": lambda x: x[[]],
    "two lists": lambda x: x[[0, 1], [1, 2]],
    "array": lambda x: x[np.array([0, 2])],
    "NumPy's number": lambda x: x[np.int64(1)],
}


@pytest.mark.parametrize("name", INDICES)
def test_indices_that_are_no_tensors(name):
    """Lists and arrays are indices as good as tensors, and are copied to the device first."""
    x = torch.arange(12.0).view(3, 4)
    expected = INDICES[name](x)
    with emulated_mps(missing="raise"):
        found = INDICES[name](x.to("mps"))
        assert torch.equal(found.cpu(), expected)


def test_assignment_by_a_list():
    """An assignment at a list of columns changes these columns."""
    with emulated_mps(missing="raise") as mps:
        x = torch.zeros(2, 4, device="mps")
        mps.clear_ledger()
        x[:, [1, 3]] = 5.0
        assert [copy.direction for copy in mps.ledger().copies] == ["to mps"]
        assert x.cpu().tolist() == [[0.0, 5.0, 0.0, 5.0]] * 2
