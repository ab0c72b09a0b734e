"""The audit: what it finds, where, in which release, and that it leaves the caller's objects alone."""

import copy
import json

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import course_utils
from course_utils.auditing import Audit, ModelError, audit
from course_utils.emulation import emulated_mps


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        """Call it."""
        return self.function(*args)


def _square(**options):
    return torch.eye(4).add(0.1).requires_grad_(**options)


def _found(audited, kind):
    return [finding for finding in audited.findings if finding.kind == kind]


def _names(audited):
    return [finding.name for finding in audited.findings]


# symptom in the public report -> (release, what the model calls, finding's kind and name, or None for clean)
RELEASES = {
    "svd, 2.13 (pytorch #125537)": ("2.13", torch.linalg.svd, ("cpu always", "aten::linalg_svd")),
    "svdvals, 2.13 (pytorch #125537)": ("2.13", torch.linalg.svdvals, ("missing", "aten::_linalg_svd.U")),
    "svd, 2.14.1 (pytorch #185954)": ("2.14.1", torch.linalg.svdvals, None),
    "eigh, 2.13 (pytorch #151874)": ("2.13", torch.linalg.eigvalsh, ("missing", "aten::_linalg_eigh.eigenvalues")),
    "eigh, 2.14.1 (pytorch #151874)": ("2.14.1", torch.linalg.eigvalsh, None),
    "bicubic, 2.5.1 (pytorch #136123)": (
        "2.5.1",
        lambda x: F.interpolate(x.view(1, 1, 4, 4), scale_factor=2, mode="bicubic"),
        ("missing", "aten::upsample_bicubic2d.out"),
    ),
    "bicubic, 2.6.0 (pytorch #136123)": (
        "2.6.0",
        lambda x: F.interpolate(x.view(1, 1, 4, 4), scale_factor=2, mode="bicubic"),
        None,
    ),
    "stft, 2.2.2 (pytorch #116392)": (
        "2.2.2",
        lambda x: torch.stft(x.flatten(), 8, window=torch.ones(8, device=x.device), return_complex=True),
        ("missing", "aten::_fft_r2c"),
    ),
    "stft, 2.3.0 (pytorch #116392)": (
        "2.3.0",
        lambda x: torch.stft(x.flatten(), 8, window=torch.ones(8, device=x.device), return_complex=True),
        None,
    ),
    "roll, 2.0.1 (datalab-to/marker #42)": ("2.0.1", lambda x: x.roll(1), ("missing", "aten::roll")),
    "roll, 2.1 (datalab-to/marker #42)": ("2.1", lambda x: x.roll(1), None),
}


@pytest.mark.parametrize("name", RELEASES)
def test_releases(name):
    """A release is judged by its own kernels: the first with a kernel is clean, the last without is not."""
    release, call, expected = RELEASES[name]
    found = audit(Function(call), _square(), mode="eval", release=release)

    first = found.findings[0] if found.findings else None
    assert (first and (first.kind, first.name)) == expected, found


def test_the_first_release_is_named():
    """A finding says since which release there is a kernel, and what the reader has (datalab-to/marker #42)."""
    (finding,) = audit(Function(lambda x: x.roll(1)), _square(), mode="eval", release="2.0.1").findings

    assert finding.since == "native since 2.1, you have 2.0"
    assert finding.advice.startswith("use torch 2.1 or newer")


@pytest.mark.parametrize(
    ("mode", "name", "other"),
    [("train", "aten::linalg_eig", "_linalg_eigvals"), ("eval", "aten::_linalg_eigvals", "linalg_eig")],
)
def test_eigvals(mode, name, other):
    """What eigvals calls is reported as the dispatcher sees it, with the other operator (pytorch #195278)."""
    found = audit(Function(lambda x: torch.linalg.eigvals(x).abs()), _square(), mode=mode)

    assert _names(found) == [name]
    (finding,) = found.findings
    assert finding.public == "torch.linalg.eigvals"
    assert other in finding.effect
    assert f"NotImplementedError: The operator '{name}'" in finding.effect
    assert finding.since.startswith("native in no release up to")


class Recogniser(nn.Module):
    """A model whose loss is CTC: the model itself is harmless."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 6)

    def forward(self, x):
        """Give log probabilities (T, B, C)."""
        return self.head(x).log_softmax(-1)


def _ctc(output):
    targets = torch.tensor([[1, 2, 3]], device=output.device)
    return F.ctc_loss(output, targets, torch.tensor([5]), torch.tensor([3]))


@pytest.mark.parametrize(
    ("release", "missing"), [("2.7.1", True), ("2.13", True), ("2.14.1", False)], ids=["2.7.1", "2.13", "2.14.1"]
)
def test_ctc_loss(release, missing):
    """CTC loss and its backward are missing up to 2.13 and there from 2.14 on (pytorch #160829)."""
    found = audit(Recogniser(), torch.rand(5, 1, 8), loss=_ctc, release=release)

    expected = [("loss", "aten::_ctc_loss.Tensor"), ("backward", "aten::_ctc_loss_backward.Tensor")]
    got = [(finding.phase, finding.name.replace("_ctc_loss_backward'", "")) for finding in found.findings]
    bases = [(phase, name.partition(".")[0]) for phase, name in got]
    assert bases == ([(phase, name.partition(".")[0]) for phase, name in expected] if missing else [])


def test_forward_alone_is_not_enough():
    """What loss and optimizer lack is found in its phase; forward alone misses it (kraken #358, pytorch #105382)."""
    x = torch.rand(5, 1, 8)
    whole = audit(Recogniser(), x, loss=_ctc, optimizer=torch.optim.Adam, release="2.0.1")
    forward = audit(Recogniser(), x, mode="eval", release="2.0.1")

    by_phase = {finding.phase: finding for finding in _found(whole, "missing")}
    assert by_phase["loss"].public.endswith("ctc_loss")
    assert by_phase["optimizer"].name == "aten::lerp.Scalar_out"
    assert by_phase["optimizer"].places[0].module == "Adam"
    assert forward.clean


def test_twice_in_one_process():
    """A second audit in the same process lists the same findings (PriorLabs/TabPFN #957)."""
    first, second = (audit(Function(torch.linalg.eig), _square(), mode="eval") for _ in range(2))

    assert first.findings == second.findings
    assert _names(first) == ["aten::linalg_eig"]
    assert first.operators == second.operators


def test_no_warning_is_needed(recwarn):
    """The audit prints no fallback warning and works with all warnings silenced."""
    found = audit(Function(lambda x: torch.linalg.svd(x)[1]), _square(), release="2.13")

    assert _names(found) == ["aten::linalg_svd"]
    assert [str(warning.message) for warning in recwarn] == []


class Block(nn.Module):
    """A layer with an operator that MPS lacks."""

    def forward(self, x):
        """Take the mode of each row."""
        return x + torch.mode(x, dim=1, keepdim=True).values  # the line under test


def test_where_in_the_model():
    """A finding names the module's path, the line, the phase, and counts; also for backward and pdist."""
    model = nn.Sequential(nn.Linear(4, 4), nn.ModuleDict({"inner": Block()})["inner"], Block(), Function(torch.pdist))
    found = audit(model, torch.rand(3, 4))

    mode = next(finding for finding in found.findings if finding.name == "aten::mode")
    line = Block.forward.__code__.co_firstlineno + 2
    assert mode.count == 2
    assert [place.module for place in mode.places] == ["1", "2"]
    assert {place.source for place in mode.places} == {f"test_run.py:{line}"}
    backward = next(finding for finding in found.findings if finding.phase == "backward")
    assert backward.name == "aten::_pdist_backward"
    assert backward.places[0].module == "3"
    assert str(line) in str(found)


def test_embedding_with_max_norm_always_leaves():
    """embedding_renorm_ runs on the CPU whatever the variable says, in the installed torch too."""
    found = audit(nn.Embedding(4, 3, max_norm=1.0), torch.tensor([0, 1]))

    (finding,) = found.findings
    assert (finding.kind, finding.name) == ("cpu always", "aten::embedding_renorm_")
    assert "whatever the fallback variable says" in finding.effect


def test_large_svd_has_a_note_and_a_small_one_has_none():
    """On 2.14 svd has a kernel, and only large matrices get a note about their size (kornia #4455)."""
    large = audit(Function(torch.linalg.svdvals), torch.rand(128, 64), mode="eval", release="2.14.1")
    small = audit(Function(torch.linalg.svdvals), torch.rand(64, 64), mode="eval", release="2.14.1")

    assert [finding.kind for finding in large.findings] == ["may leave the GPU"]
    assert small.clean


def test_conv3d_of_an_old_release():
    """Conv3d has a kernel in 2.2 that refuses: reported although the yaml says native (pytorch #77818)."""
    old = audit(nn.Conv3d(1, 2, 2), torch.rand(1, 1, 4, 4, 4), release="2.2.2")

    assert {finding.kind for finding in old.findings} == {"may refuse"}
    assert "Conv3D is not supported" in old.findings[0].effect
    assert audit(nn.Conv3d(1, 2, 2), torch.rand(1, 1, 4, 4, 4), release="2.3.1").clean


def test_long_convolutions():
    """An output size above 65536 may be refused, 65536 exactly is not (opendatalab/MinerU #2793)."""
    conv = nn.Conv1d(1, 1, 1)

    (finding,) = audit(conv, torch.rand(1, 1, 65537), mode="eval").findings
    assert (finding.kind, finding.name) == ("may refuse", "aten::convolution")
    assert audit(conv, torch.rand(1, 1, 65536), mode="eval").clean
    channels = audit(nn.Conv1d(1, 65537, 1), torch.rand(1, 1, 2), mode="eval")
    assert [each.kind for each in channels.findings] == ["may refuse"]


def test_adaptive_pooling():
    """Sizes that do not divide may be refused, sizes that do are clean (pytorch #96056)."""
    (finding,) = audit(nn.AdaptiveAvgPool2d(4), torch.rand(1, 1, 14, 14), mode="eval").findings

    assert (finding.kind, finding.public) == ("may refuse", "torch.nn.functional.adaptive_avg_pool2d")
    assert audit(nn.AdaptiveAvgPool2d(7), torch.rand(1, 1, 14, 14), mode="eval").clean


def test_lstm_with_projections():
    """What raises on the device and runs on the CPU is a finding, and the audit says where it stopped."""
    found = audit(nn.LSTM(4, 5, proj_size=2), torch.rand(3, 1, 4))

    (finding,) = found.findings
    assert finding.kind == "refused"
    assert "LSTM with projections is not currently supported with MPS" in finding.effect
    assert finding.phase == "forward"
    assert any("forward stopped at an error" in warning for warning in found.warnings)


def test_numpy_inside_the_model():
    """A model that calls .numpy() on its input is told the line at which MPS refuses."""
    found = audit(Function(lambda x: torch.from_numpy(x.detach().numpy() + 1)), torch.rand(2), mode="eval")

    (finding,) = found.findings
    assert finding.kind == "refused"
    assert "can't convert mps:0 device type tensor to numpy" in finding.effect
    assert finding.places[0].source.startswith("test_run.py:")


def test_float64_inside_the_model():
    """float64 made on the way is found where it is made, and the rest is followed."""
    found = audit(Function(lambda x: torch.mode(x.double(), 0).values), torch.rand(3, 2), mode="eval")

    assert [finding.kind for finding in found.findings] == ["float64", "missing"]
    assert found.findings[0].name == "torch.Tensor.double"


class Positions(nn.Module):
    """A model with a table of positions that is no buffer."""

    def __init__(self):
        super().__init__()
        self.table = torch.ones(4, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        """Add the positions."""
        return self.head(x + self.table[: len(x)])


def test_a_tensor_that_is_no_buffer_is_named():
    """A plain attribute stays on the CPU: the culprit is named, and the rest is followed (pytorch #130790)."""
    found = audit(Positions(), torch.rand(3, 8))

    (finding,) = found.findings
    assert (finding.kind, finding.name) == ("mixed devices", "attribute table")
    assert "register_buffer" in finding.advice
    assert found.phases[-1] == "optimizer"


def test_a_tensor_made_on_the_cpu_is_found():
    """A tensor that forward makes without device= is found with its line (pytorch #130790)."""
    found = audit(Function(lambda x: x + torch.arange(3)), torch.rand(3), mode="eval")

    (finding,) = found.findings
    assert finding.kind == "mixed devices"
    assert finding.advice == "create it with device=x.device"


def test_targets_of_the_loss_are_moved():
    """Targets that the loss carries along are no finding, and are named in the notes."""
    targets = torch.tensor([0, 1, 1])
    found = audit(nn.Linear(8, 2), torch.rand(3, 8), loss=lambda output: F.cross_entropy(output, targets))

    assert found.clean, found
    assert any("targets" in warning for warning in found.warnings)


def test_an_operator_outside_aten():
    """An operator of another library is unknown; torchvision's own are known."""
    library = torch.library.Library("audit_test", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    import torchvision

    boxes = torch.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9]])
    unknown = audit(Function(torch.ops.audit_test.twice), torch.rand(2), mode="eval")
    known = audit(Function(lambda b: torchvision.ops.nms(b, b[:, 2], 0.5)), boxes, mode="eval")

    (finding,) = unknown.findings
    assert (finding.kind, finding.name) == ("outside aten", "audit_test::twice")
    assert "outside aten: unknown" in finding.effect
    assert known.clean, known
    assert "torchvision::nms" in {operator.name for operator in known.operators}


def test_deform_conv_has_no_backward():
    """Torchvision's deform_conv2d has a kernel forward and none backward."""
    import torchvision

    model = torchvision.ops.DeformConv2d(1, 1, 3)
    found = audit(model, (torch.rand(1, 1, 5, 5), torch.zeros(1, 18, 3, 3)))

    assert [(each.phase, each.name) for each in found.findings] == [
        ("backward", "torchvision::_deform_conv2d_backward")
    ]


def test_the_callers_objects_stay():
    """Model, inputs, optimizer and the random generator are untouched."""
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2)).eval()
    optimizer = torch.optim.Adam(model.parameters())
    inputs = torch.rand(3, 4)
    model(inputs).sum().backward()
    optimizer.step()
    before = copy.deepcopy([model.state_dict(), optimizer.state_dict(), inputs, torch.get_rng_state()])
    gradients = [parameter.grad for parameter in model.parameters()]

    found = audit(model, inputs, optimizer=optimizer)

    assert found.clean, found
    after = [model.state_dict(), optimizer.state_dict(), inputs, torch.get_rng_state()]
    torch.testing.assert_close(after, before, rtol=0, atol=0)
    assert all(a is b for a, b in zip(gradients, [p.grad for p in model.parameters()], strict=True))
    assert not model.training
    assert all(parameter.device.type == "cpu" for parameter in model.parameters())


def test_an_optimizer_instance_is_followed():
    """An instance's own step runs, with its state and its groups."""
    model = nn.Linear(4, 2)
    optimizer = torch.optim.RMSprop([{"params": [model.weight]}, {"params": [model.bias], "lr": 0.1}])
    model(torch.rand(1, 4)).sum().backward()
    optimizer.step()
    found = audit(model, torch.rand(3, 4), optimizer=optimizer)

    assert found.clean
    assert found.phases[-1] == "optimizer"
    assert "aten::sqrt" in " ".join(operator.name for operator in found.operators)


def test_an_optimizer_of_another_model():
    """An optimizer over other parameters is refused in one sentence."""
    with pytest.raises(ValueError, match="2 of 2 parameters that are not the model's"):
        audit(nn.Linear(4, 2), torch.rand(3, 4), optimizer=torch.optim.SGD(nn.Linear(4, 2).parameters(), lr=0.1))


@pytest.mark.parametrize(
    ("model", "loss", "phase", "text"),
    [
        (nn.Linear(5, 2), None, "forward", "mat1 and mat2 shapes cannot be multiplied"),
        (nn.Linear(4, 2), lambda output: F.mse_loss(output, output[:0, :0].sum(1).nope), "loss", "AttributeError"),
        (nn.Linear(4, 2), lambda output: output, "backward", "grad can be implicitly created only for scalar"),
        (Function(lambda x: x.argmax()), None, "loss", "give loss="),
    ],
)
def test_a_model_that_fails_anyway(model, loss, phase, text):
    """A model that fails on the CPU too is told its own error and the phase, and its error is the cause."""
    with pytest.raises(ModelError, match=text) as caught:
        audit(model, torch.rand(3, 4), loss=loss)

    assert caught.value.phase == phase
    assert f"in its {phase} phase" in str(caught.value)
    assert caught.value.__cause__ is not None


def test_bad_arguments():
    """Wrong arguments are one sentence with the value."""
    model, x = nn.Linear(4, 2), torch.rand(3, 4)
    with pytest.raises(ValueError, match="mode is 'test'"):
        audit(model, x, mode="test")
    with pytest.raises(ValueError, match="no part in mode='eval'"):
        audit(model, x, mode="eval", optimizer=torch.optim.SGD)
    with pytest.raises(TypeError, match=r"not a torch\.optim\.Optimizer"):
        audit(model, x, optimizer=lambda parameters: None)
    with pytest.raises(TypeError, match=r"takes a torch\.nn\.Module, not function"):
        audit(lambda y: y, x)
    with pytest.raises(LookupError, match="not in the history"):
        audit(model, x, release="9.9")


def test_inside_an_emulated_block():
    """Inside emulated_mps() the audit is refused, because it makes its own device."""
    with emulated_mps(), pytest.raises(RuntimeError, match="already on"):
        audit(nn.Linear(4, 2), torch.rand(3, 4))


def test_kinds_of_inputs():
    """A tuple is positional, a dict is by name, a list is one input."""
    pair = Function(torch.add)
    listed = Function(lambda xs: xs[0] + xs[1])
    x = torch.rand(2)

    assert audit(pair, (x, x), mode="eval").clean
    assert audit(nn.Linear(2, 2), {"input": x}, mode="eval").clean
    assert audit(listed, [x, x], mode="eval").clean


def test_doubts_are_stated():
    """Stand-ins for loss and optimizer, and a release other than the installed one, are in the warnings."""
    plain = audit(nn.Linear(4, 2), torch.rand(3, 4))
    another = "2.10.0" if torch.__version__.startswith("2.9.1") else "2.9.1"
    other = audit(nn.Linear(4, 2), torch.rand(3, 4), release=another, loss=torch.sum, optimizer=torch.optim.AdamW)

    assert [warning.split(":")[0] for warning in plain.warnings] == ["no loss was given", "no optimizer was given"]
    assert plain.torch_release == torch.__version__.partition("+")[0] or plain.torch_release == torch.__version__
    assert len(other.warnings) == 1
    assert "decided by the installed torch" in other.warnings[0]
    assert other.torch_release == another


def test_result_prints_and_becomes_json():
    """The result is frozen, prints as a table, has a notebook form, and goes through JSON."""
    found = audit(Function(torch.linalg.eig), _square(), mode="eval")

    assert isinstance(found, Audit)
    with pytest.raises(AttributeError):
        found.mode = "train"
    assert "aten::linalg_eig (torch.linalg.eig)" in str(found)
    assert "<table>" in found._repr_html_()
    data = json.loads(json.dumps(found.to_dict()))
    assert data["findings"][0]["count"] == 1
    assert not data["clean"]
    assert found.counts()["missing"] == 1


def test_it_is_public():
    """The audit is one function of the package."""
    assert course_utils.audit is audit
