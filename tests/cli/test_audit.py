"""`course audit`: exit 0 clean, 1 findings, 2 with one sentence for bad input."""

import json

import pytest
from support.unwrapped import unwrapped

from course_utils.cli import main as cli

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, operator):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.operator = operator

    def forward(self, x):
        return self.operator(self.layer(x))

def make_clean():
    return Net(torch.relu)

def make_eigvals():
    return Net(lambda x: torch.linalg.eigvals(x).abs())

def make_exp():
    return Net(torch.linalg.matrix_exp)

def make_tokens():
    return nn.Embedding(10, 4)

def my_loss(output):
    return torch.mode(output.flatten(), 0).values

def make_nothing():
    return None

def make_failure():
    raise RuntimeError("no weights here\\nand more")
"""


@pytest.fixture
def net(tmp_path, monkeypatch):
    """Work in a folder with a file of models."""
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "broken.py").write_text("import nothing_like_this\n")
    monkeypatch.chdir(tmp_path)


def sentence(capsys):
    """Return what was said on standard error: one line."""
    err = capsys.readouterr().err
    assert len(err.strip().splitlines()) == 1, err
    return err


def test_clean_is_0(net, capsys):
    """A clean model exits 0."""
    arguments = ["audit", "net.py:make_clean", "--input", "4x4", "--loss", "cross_entropy", "--optimizer", "adamw"]

    assert cli.main(arguments) == 0
    out = capsys.readouterr().out
    assert "clean" in out
    assert "no loss was given" not in out


def test_findings_are_1(net, capsys):
    """A finding exits 1, and the table names operator, line and advice."""
    assert cli.main(["audit", "net.py:make_eigvals", "--input", "4x4", "--mode", "eval"]) == 1
    out = capsys.readouterr().out

    assert "aten::_linalg_eigvals (torch.linalg.eigvals)" in out
    assert "net.py:" in out


def test_json(net, capsys):
    """JSON holds everything; a loss may be a function of the file."""
    arguments = ["audit", "net.py:make_clean", "--input", "4x4", "--loss", "my_loss", "--json"]

    assert cli.main(arguments) == 1
    data = json.loads(capsys.readouterr().out)
    assert [(finding["name"], finding["phase"]) for finding in data["findings"]] == [("aten::mode", "loss")]


def test_integer_inputs(net, capsys):
    """Integer inputs are zeros, which every embedding has; another release says so."""
    arguments = ["audit", "net.py:make_tokens", "--input", "2x3", "--input-dtype", "int64", "--release", "2.9.1"]

    assert cli.main(arguments) == 0
    assert "MPS of torch 2.9.1" in unwrapped(capsys.readouterr().out)


def test_look_up(capsys):
    """--op prints the verdict of every overload; a missing one exits 1."""
    assert cli.main(["audit", "--op", "aten::isin"]) == 0
    assert "aten::isin.Tensor_Tensor on MPS" in capsys.readouterr().out
    assert cli.main(["audit", "--op", "linalg_eig", "--json"]) == 1
    assert {verdict["status"] for verdict in json.loads(capsys.readouterr().out)} >= {"missing"}
    assert cli.main(["audit", "--op", "linalg_qr", "--release", "2.9.1"]) == 1


@pytest.mark.parametrize(
    ("name", "release", "code", "text"),
    [
        ("torchvision::nms", "2.14.1", 0, "native since torchvision 0.16"),
        ("torchvision::nms", "2.0.1", 1, "torchvision 0.15 belongs to torch 2.0"),
        ("torchvision::deform_conv2d", "2.14.1", 0, "native"),
        ("torchvision::_deform_conv2d_backward", "2.14.1", 1, "missing"),
        ("quantized::linear", "2.14.1", 1, "no quantized operator"),
        ("torch.linalg.svd", "2.14.1", 0, "aten::_linalg_svd on MPS"),
        ("torch.linalg.eig", "2.14.1", 1, "aten::linalg_eig on MPS"),
        ("torch.nn.functional.grid_sample", "2.14.1", 0, "aten::grid_sampler_2d_backward on MPS"),
        ("torch.nn.functional.grid_sample", "2.12.1", 1, "aten::grid_sampler_2d_backward on MPS"),
        ("aten::slow_conv3d_forward", "2.14.1", 1, "means different devices"),
        ("linalg_lu_solve", "2.11.0", 0, "registration from Python"),
    ],
)
def test_look_up_by_any_name(name, release, code, text, capsys):
    """--op knows libraries' operators and public functions, as the audit of a model does."""
    assert cli.main(["audit", "--op", name, "--release", release]) == code
    assert text in capsys.readouterr().out


def test_another_macos(net, capsys):
    """--macos judges by an older system."""
    arguments = ["audit", "net.py:make_exp", "--input", "4x4", "--mode", "eval", "--release", "2.14.1", "--macos"]
    assert cli.main([*arguments, "14"]) == 1
    assert "macOS 15" in capsys.readouterr().out
    assert cli.main([*arguments, "15.1"]) == 0


def test_a_workload(capsys):
    """A model of the course is audited with its own inputs and targets."""
    assert cli.main(["audit", "--workload", "mobilenet_v3"]) == 0
    assert "MobileNetV3, train" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "give one of"),
        (["net.py:make_clean", "--op", "add"], "give one of"),
        (["net.py", "--input", "4x4"], "names no function"),
        (["gone.py:make", "--input", "4x4"], "there is no file gone.py"),
        (["broken.py:make", "--input", "4x4"], "broken.py does not run: ModuleNotFoundError"),
        (["net.py:make_clea", "--input", "4x4"], "no function 'make_clea'; the nearest: make_clean"),
        (["net.py:make_nothing", "--input", "4x4"], "returned NoneType"),
        (["net.py:make_failure", "--input", "4x4"], "failed: RuntimeError: no weights here"),
        (["net.py:make_clean"], "--input is missing"),
        (["net.py:make_clean", "--input", "4,4"], "'4,4' is not a shape"),
        (["net.py:make_clean", "--input", "4x"], "'4x' is not a shape"),
        (["net.py:make_clean", "--input", "4x5"], "fails on the CPU too, in its forward phase: RuntimeError"),
        (["net.py:make_clean", "--input", "4x4", "--input-dtype", "float31"], "no dtype 'float31'"),
        (["net.py:make_clean", "--input", "4x4", "--loss", "cros_entropy"], "the nearest: cross_entropy"),
        (["net.py:make_clean", "--input", "4x4", "--optimizer", "adamm"], "the nearest: Adam"),
        (["net.py:make_clean", "--input", "4x4", "--release", "1.0"], "not in the history"),
        (["net.py:make_clean", "--input", "4x4", "--mode", "eval", "--optimizer", "sgd"], "no part in mode='eval'"),
        (["--op", "isinn"], "nearest names: isin"),
        (["--op", "add.Nope"], "is not an overload"),
        (["--op", "some_library::f"], "outside aten"),
        (["--op", "torchvision::nope"], "torchvision has no operator"),
        (["--op", "torch.nn.functional.nope"], "no operator of aten was found"),
        (["net.py:make_clean", "--input", "4x4", "--macos", "Sonoma"], "'Sonoma' is not a version"),
        (["--workload", "resnet81"], "the nearest: resnet18"),
        (["--workload", "matmul"], "has no model"),
        (["--workload", "resnet18", "--input", "1"], "no part in --workload"),
    ],
)
def test_bad_input(net, arguments, word, capsys):
    """Bad input is one sentence with the value, and exit code 2."""
    assert cli.main(["audit", *arguments]) == 2
    assert word in sentence(capsys)
