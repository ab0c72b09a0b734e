"""The report: readable, with the machine, as plain data, and a reproducer that runs."""

import json
import os
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from support.found import found
from support.paths import ROOT
from support.unwrapped import unwrapped
from torch import nn

from course_utils.devices.machine import Machine, describe
from course_utils.numerics import KINDS, FaultyDevice, NumericsFinding, compare_numerics, draw
from course_utils.numerics.report.findings import in_order
from course_utils.numerics.report.reproducer import fn_code, write_reproducer
from course_utils.numerics.running.runners import TorchDevice


def differences(code, capsys):
    """Run a reproducer; return the differences it prints."""
    capsys.readouterr()
    exec(compile(code, "reproducer.py", "exec"), {"__name__": "__main__"})
    return [float(line.split(":")[1]) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(scope="module")
def report():
    """Return a report with findings."""
    return compare_numerics(F.silu, (draw(6, 10),), device=FaultyDevice("ignores strides"))


def test_text_says_it_all(report):
    """The text holds the verdict, every finding, the table, the tolerance, the machine and the reproducer."""
    text = str(report)

    assert text.startswith("silu on CPU with a planted fault (ignores strides): ignores strides")
    assert all(unwrapped(finding) in unwrapped(text) for finding in found(report.findings))
    assert "transposed inputs" in text
    assert "judged by:" in text
    assert "asked in float32: values: as given" in text
    assert "not asked:" in text
    assert f"torch {torch.__version__}" in text
    assert "# the smallest reproducer" in text


def test_html_is_escaped():
    """The notebook's form escapes what it shows."""
    html = compare_numerics(F.silu, (draw(2, 2),), device="cpu", label="<silu>")._repr_html_()

    assert "&lt;silu&gt;" in html
    assert "<silu>" not in html


def test_plain_data(report):
    """The JSON form holds findings and machine, and no tensors."""
    data = json.loads(json.dumps(report.to_dict()))

    assert data["clean"] is False
    assert data["findings"][0]["kind"] == "ignores strides"
    assert data["machine"]["torch_version"] == torch.__version__


def test_raw_data_is_kept(report):
    """Every case keeps what went in and what came out."""
    case = next(case for case in report.cases if case.name == "transposed inputs")

    assert not case.inputs[0].is_contiguous()
    assert case.on_device[0].tensor.shape == (6, 10)
    assert case.expected[0].tensor.dtype == torch.float64


def test_machine_of_a_mac():
    """On a Mac the report records macOS, its build and the chip (pytorch #122016, actions/runner-images #14380)."""
    mac = describe(
        system="Darwin", release="26.1", machine="arm64", build="25B78", chip="Apple M4", torch_version="2.14.1"
    )

    assert mac == Machine("2.14.1", "macOS 26.1", "25B78", "Apple M4")
    assert str(mac) == "torch 2.14.1, macOS 26.1 (build 25B78), Apple M4"


def test_machine_without_macos():
    """Elsewhere it says so and invents no build."""
    linux = describe(system="Linux", release="", machine="x86_64", build=None, chip=None, torch_version="2.14.1")

    assert str(linux) == "torch 2.14.1, Linux x86_64, no Apple chip"


def test_findings_are_in_the_order_of_the_questions():
    """Whatever order findings were made in, the report lists them by kind, each once."""
    kinds = ["gradient", "refused", "error", "refused"]
    findings = in_order([NumericsFinding(kind, "sentence", "float32", "as given") for kind in kinds])

    assert [finding.kind for finding in findings] == ["refused", "error", "gradient"]
    with pytest.raises(ValueError, match="kind is 'odd'"):
        NumericsFinding("odd", "sentence", "float32", "as given")
    assert list(KINDS)[:3] == ["refused", "not comparable", "not repeatable"]


@pytest.mark.parametrize(
    ("fn", "inputs", "fault"),
    [
        (F.silu, (draw(6, 10),), "ignores strides"),
        (F.silu, (draw(6, 10),), "wrong above"),
        (torch.dot, (draw(100), draw(100, seed=1)), "drops a term"),
        (nn.Linear(10, 4), (draw(6, 10),), "wrong gradient"),
        (nn.Linear(10, 4), (draw(6, 10),), "forgets an in-place write"),
        (nn.Linear(10, 4), (draw(6, 10),), "not repeatable"),
        (lambda a: a + 1, (torch.arange(10),), "integers through float"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_reproducer_shows_the_fault(fn, inputs, fault, capsys):
    """The code of the report runs by itself and prints a difference that rounding does not explain."""
    report = compare_numerics(fn, inputs, device=FaultyDevice(fault))

    assert max(differences(report.reproducer, capsys)) > 1e-4


def test_reproducer_runs_in_a_process_of_its_own(report, tmp_path):
    """The code needs nothing that was defined before."""
    script = tmp_path / "reproducer.py"
    script.write_text(report.reproducer, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split(":")[1]) > 1e-4


def test_reproducer_is_small(report):
    """The smallest inputs that show ignored strides are two by two."""
    assert ".as_strided((2, 2), (1, 2), 0)" in report.reproducer


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("form", ["forward", "twice", "gradient", "step"])
def test_reproducer_for_a_torch_device(dtype, form, capsys):
    """For a device that torch knows, the code needs nothing of this package, and an honest device shows rounding."""
    module = nn.Linear(3, 2)
    code = write_reproducer(module, (draw(4, 3, dtype=dtype),), TorchDevice("cpu"), form=form, dtype=dtype)

    assert "course_utils" not in code
    assert max(differences(code, capsys)) < 0.1


def test_reproducer_with_many_numbers_draws_them_anew(capsys):
    """Inputs too large to write down become a seeded draw, in the same strides."""
    x = draw(40, 50).t()
    code = write_reproducer(torch.exp, (x,), TorchDevice("cpu"))

    assert "drawn anew" in code
    assert "(1, 50)" in code
    assert max(differences(code, capsys)) < 1e-4


def _named(x):
    return torch.relu(x) * 2


def test_callables_are_written_as_code():
    """Functions of torch, own functions, lambdas and torch's modules are written down; closures are left to fill in."""
    offset = 3

    assert fn_code(F.gelu) == ("fn = F.gelu", True)
    assert fn_code(torch.linalg.inv)[1]
    assert fn_code(_named)[0].endswith("fn = _named")
    assert fn_code(lambda x: x + 1) == ("fn = lambda x: x + 1", True)
    assert fn_code(nn.ReLU())[0].endswith("fn = nn.ReLU()")
    assert fn_code(lambda x: x + offset)[1] is False
    assert fn_code(nn.Sequential(nn.ReLU()))[1] is False
