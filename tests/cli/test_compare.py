"""`course compare`: exit codes, text and JSON, one sentence for bad input."""

import json

import pytest

from course_utils.cli import main as cli
from course_utils.devices import probe as devices

MODEL = """
import torch
from torch import nn

def make_model():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Dropout(0.5))

def make_decoder():
    return nn.Embedding(10, 4)

def make_overflow():
    return lambda x: x * 1e5

def make_error():
    raise RuntimeError("no weights")

def make_nothing():
    return None

def make_broken():
    return nn.Linear(7, 2)
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in a folder with a model file, on a described machine without MPS."""
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COURSE_DEVICE", raising=False)
    monkeypatch.setattr(devices, "probe_mps", lambda: devices.Probe("mps", "absent", "no Metal here"))
    monkeypatch.setattr(devices, "probe_cuda", lambda: devices.Probe("cuda", "absent", "no GPU"))


def test_agreement_is_exit_code_0(capsys):
    """A model that agrees exits 0 and says with what it was compared."""
    assert cli.main(["compare", "model.py:make_model", "--input", "2x3x8x8"]) == 0
    out = capsys.readouterr().out

    assert out.startswith("model.py:make_model on cpu: agrees with the reference")
    assert "says nothing about MPS" in out


def test_findings_are_exit_code_1(capsys):
    """Findings exit 1, with a reproducer that loads the file."""
    assert cli.main(["compare", "model.py:make_overflow", "--input", "4", "--dtype", "float16"]) == 1
    out = capsys.readouterr().out

    assert "overflow" in out
    assert "spec_from_file_location('model_file', 'model.py')" in out


def test_reproducer_runs(capsys, monkeypatch):
    """The printed reproducer makes the model again and prints a difference."""
    cli.main(["compare", "model.py:make_overflow", "--input", "4", "--dtype", "float16", "--json"])
    code = json.loads(capsys.readouterr().out)["reproducer"]
    exec(compile(code, "reproducer.py", "exec"), {"__name__": "__main__"})

    assert "largest difference: inf" in capsys.readouterr().out


def test_json(capsys):
    """The JSON form holds every case of every dtype asked for."""
    arguments = ["--input", "2x3x8x8", "--dtype", "float32", "--dtype", "bfloat16", "--no-gradients", "--json"]
    assert cli.main(["compare", "model.py:make_model", *arguments]) == 0
    data = json.loads(capsys.readouterr().out)

    assert data["clean"] is True
    assert {case["dtype"] for case in data["cases"]} == {"float32", "bfloat16"}
    assert not any("gradient" in case["case"] for case in data["cases"])


def test_training_mode_draws_random_numbers(capsys):
    """With --train, dropout makes the model incomparable, which is a finding."""
    assert cli.main(["compare", "model.py:make_model", "--input", "2x3x8x8", "--train"]) == 1
    assert "not comparable" in capsys.readouterr().out


def test_token_numbers(capsys):
    """An integer input is drawn as token numbers."""
    assert cli.main(["compare", "model.py:make_decoder", "--input", "2x5", "--input-dtype", "int64"]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["model.py:make_modle", "--input", "2"], "the nearest: make_model"),
        (["modle.py:make_model", "--input", "2"], "no file modle.py"),
        (["model.py:make_error", "--input", "2"], "raised RuntimeError: no weights"),
        (["model.py:make_nothing", "--input", "2"], "returned a NoneType"),
        (["model.py:make_model", "--input", "2", "--input-dtype", "int46"], "no dtype 'int46'"),
        (["model.py", "--input", "2"], "names no function"),
        (["model.py:make_model", "--input", "2y3"], "'2y3' is not a shape"),
        (["model.py:make_model", "--input", "2", "--dtype", "float15"], "the nearest: float16"),
        (["model.py:make_model", "--input", "2", "--device", "mps"], "no Metal here"),
        (["model.py:make_broken", "--input", "2x3"], "does not run on the CPU"),
        (["model.py:make_decoder", "--input", "2", "--integers-below", "0"], "--integers-below is 0"),
        (["model.py:make_model", "--input", "2", "--largest", "-1"], "--largest is -1"),
    ],
)
def test_bad_input(arguments, words, capsys):
    """Bad input is one sentence with the value, and exit code 2."""
    assert cli.main(["compare", *arguments]) == 2
    err = capsys.readouterr().err

    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_input_is_required(capsys):
    """Without --input, a sentence names it and the exit code is 2."""
    assert cli.main(["compare", "model.py:make_model"]) == 2
    assert "--input" in capsys.readouterr().err
