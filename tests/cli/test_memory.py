"""`course memory`: verdict as exit code, one sentence for bad input, JSON."""

import io
import json
import os
import subprocess
import sys

import pytest

from course_utils.cli import main as cli

NET = """
from torch import nn

WIDTH = 64

def make_model():
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10))

def make_embedding():
    return nn.Sequential(nn.Embedding(50, 16), nn.Linear(16, 50))

def make_huge():
    return nn.Linear(200_000, 200_000)
"""
OOM = (
    "MPS backend out of memory (MPS allocated: 1.45 GB, other allocations: 7.42 GB, max allowed: 9.07 GB). "
    "Tried to allocate 563.62 MB on private pool."
)


@pytest.fixture
def net(tmp_path):
    path = tmp_path / "net.py"
    path.write_text(NET)
    return str(path)


def sentence(capsys):
    """Return what was said on standard error: one line."""
    err = capsys.readouterr().err
    assert len(err.strip().splitlines()) == 1, err
    return err


def test_a_small_model_is_comfortable(net, capsys):
    """A model that fits exits 0 and prints its parts, the budget, the verdict and the largest batch."""
    assert cli.main(["memory", f"{net}:make_model", "--input", "8x64", "--chip", "M4", "--ram", "16"]) == 0
    out = capsys.readouterr().out

    for words in (
        "optimizer state",
        "recommended working set  10.7 GiB",
        "comfortable: the peak",
        "largest comfortable",
    ):
        assert words in out


def test_a_huge_model_is_impossible(net, capsys):
    """A model of 40 billion weights is judged without being made: exit 1."""
    assert cli.main(["memory", f"{net}:make_huge", "--input", "1x200000", "--ram", "16", "--dtype", "bfloat16"]) == 1
    assert "impossible: the peak" in capsys.readouterr().out


def test_json(net, capsys):
    """The JSON form holds bytes, the verdict and the batches."""
    arguments = ["--input", "8x64", "--ram", "16", "--mode", "eval", "--optimizer", "none", "--json"]
    assert cli.main(["memory", f"{net}:make_model", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)

    assert found["verdict"] == "comfortable"
    assert found["estimate"]["parameters_bytes"] == 4 * (64 * 64 + 64 + 640 + 10)
    assert found["largest_batch"] > 1000


def test_token_inputs(net, capsys):
    """Inputs of another dtype are described by --input-dtype, as in `course audit`."""
    arguments = ["--input", "4x16", "--input-dtype", "int64", "--ram", "16"]
    assert cli.main(["memory", f"{net}:make_embedding", *arguments]) == 0
    assert "4x16 int64" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--input", "8x64"], "name a model"),
        (["{net}:make_model"], "--input 8x3x224x224"),
        (["{net}:make_modle", "--input", "8x64"], "the nearest: make_model"),
        (["{net}", "--input", "8x64"], "names no function"),
        (["gone.py:make_model", "--input", "8x64"], "no file gone.py"),
        (["{net}:make_model", "--input", "8by64"], "'8by64' is not a shape"),
        (["{net}:make_model", "--input", "8x64", "--input-dtype", "int46"], "the nearest: int64"),
        (["{net}:make_model", "--input", "8x65"], "does not run on inputs 8x65 float32"),
        (["{net}:make_model", "--input", "8x64", "--chip", "M44"], "the nearest: M4"),
        (["{net}:make_model", "--input", "8x64", "--ram", "0"], "ram_gb is 0"),
        (["{net}:make_model", "--explain", "text"], "not both"),
        (["{net}:make_model", "--input", "8x64", "--accumulate", "0"], "accumulate_steps is 0"),
        (["{net}:make_model", "--input", "8x64", "--context", "100"], "belong together"),
        (["{net}:make_model", "--input", "8x64", "--ram", "16", "--wired-limit", "99999"], "wired_limit_mb is 99999"),
        (["--explain", "some text"], "no out-of-memory message"),
    ],
)
def test_bad_input(net, capsys, arguments, word):
    """Bad input is one sentence with the value, and exit code 2."""
    assert cli.main(["memory", *(argument.format(net=net) for argument in arguments)]) == 2
    assert word in sentence(capsys)


def test_explain(capsys, monkeypatch):
    """A message is explained from the command line or from standard input, as text or JSON."""
    assert cli.main(["memory", "--explain", OOM]) == 0
    assert "together           9.42 GiB" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO(OOM))
    assert cli.main(["memory", "--explain", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "limit"


def test_explain_needs_no_torch(tmp_path):
    """A message is explained where torch does not load, and estimates say that it does not."""
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.getcwd()])}
    command = [sys.executable, "-m", "course_utils.cli", "memory"]
    explained = subprocess.run([*command, "--explain", OOM], env=environment, capture_output=True, check=False)
    estimated = subprocess.run(
        [*command, "net.py:make_model", "--input", "8x64", "--ram", "16"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert explained.returncode == 0
    assert estimated.returncode == 2
    assert "torch does not load" in estimated.stderr


def test_importing_the_package_loads_no_torch():
    """`import course_utils.memory` loads no torch."""
    code = "import sys, course_utils.memory; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_kv_cache(net, capsys):
    """--context counts the KV cache of a decoder; without it, an estimate of tokens says that none is counted."""
    arguments = [
        "memory",
        f"{net}:make_embedding",
        "--input",
        "1x16",
        "--input-dtype",
        "int64",
        "--ram",
        "16",
        "--json",
    ]
    assert cli.main([*arguments, "--mode", "eval"]) == 0
    plain = json.loads(capsys.readouterr().out)["estimate"]
    shape = ["--context", "4096", "--layers", "4", "--kv-heads", "2", "--head-width", "64"]
    assert cli.main([*arguments, "--mode", "eval", *shape]) == 0
    cached = json.loads(capsys.readouterr().out)["estimate"]

    assert cached["kv_cache_bytes"] == 2 * 4 * 2 * 4096 * 64 * 4
    assert cached["peak_bytes"] - plain["peak_bytes"] == cached["kv_cache_bytes"]
    assert any("--context" in warning for warning in plain["warnings"])
    assert not any("--context" in warning for warning in cached["warnings"])


def test_accumulation_and_wired_limit(net, capsys):
    """--accumulate and --wired-limit reach the estimate and the budget."""
    arguments = ["memory", f"{net}:make_model", "--input", "8x64", "--ram", "16", "--json"]
    assert cli.main([*arguments, "--accumulate", "4", "--wired-limit", "12288"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert found["estimate"]["accumulate_steps"] == 4
    assert found["budget"]["recommended_bytes"] == 12 * 2**30


def test_explain_an_end_without_a_message(capsys):
    """A killed process is explained too, as text and as JSON."""
    assert cli.main(["memory", "--explain", "zsh: killed     python train.py"]) == 0
    assert "macOS ended the process" in capsys.readouterr().out
    assert cli.main(["memory", "--explain", "The kernel appears to have died.", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ends_process"] is True
