"""`course compare` on everyday models: clean on the CPU, and the fault's name on ten planted devices."""

import json

import pytest
from support.everyday_models import PICTURES, ROWS

from benchmarks.numerics_zoo import changes
from benchmarks.numerics_zoo.faults import PlantedFault
from course_utils.cli import main as cli
from course_utils.numerics import FaultyDevice, run

CHEAP = ("squeezed", "table", "causal")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Work in a folder with a file that makes the models."""
    names = "\n".join(f"{name} = MODELS[{name!r}]" for name in {**PICTURES, **ROWS})
    text = "from support.everyday_models import PICTURES, ROWS\nMODELS = {**PICTURES, **ROWS}\n" + names
    (tmp_path / "net.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def compared(capsys, name, shape, *options):
    """Run the command; return its exit code and its report as data."""
    code = cli.main(["compare", f"net.py:{name}", "--input", shape, "--json", "--device", "cpu", *options])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "name", [name if name in CHEAP else pytest.param(name, marks=pytest.mark.slow) for name in {**PICTURES, **ROWS}]
)
def test_everyday_model_is_clean_on_the_cpu(name, capsys):
    """Ten models at the sizes people use: exit code 0, nothing found and nothing undecided."""
    code, report = compared(capsys, name, "8x3x64x64" if name in PICTURES else "4x512")

    assert code == 0, report["findings"]
    assert report["undecided"] == []
    assert len(report["cases"]) > 30


PLANTED = [
    (
        "squeezed",
        "4x3x16x16",
        lambda: PlantedFault("convolution", changes.wrong_for_channels_last(0)),
        "ignores strides",
    ),
    ("shuffled", "4x3x16x16", lambda: PlantedFault("convolution", changes.scaled, every=3), "not repeatable"),
    ("plain", "4x3x64x64", lambda: PlantedFault("addmm", changes.wrong_for_one_row), "wrong at a size"),
    ("dense", "4x3x32x32", lambda: PlantedFault("addmm", changes.above_rows(6)), "wrong above a size"),
    ("compressing", "4x512", lambda: PlantedFault("addmm", changes.ignore_offset), "ignores the storage offset"),
    ("compressing", "4x512", lambda: changes.CachedByShape("addmm"), "wrong for other values"),
    ("gated", "4x512", lambda: PlantedFault("silu_backward", changes.scaled_in_backward), "gradient"),
    ("table", "4x512", lambda: PlantedFault("relu", changes.nan_to_0), "wrong for special values"),
    ("mixed", "4x3x64x64", lambda: PlantedFault("native_layer_norm", changes.scale_by(1.01)), "error"),
    ("causal", "2x32x16", lambda: FaultyDevice("leaks future tokens"), "leaks future tokens"),
]


@pytest.mark.parametrize(("name", "shape", "make", "kind"), PLANTED, ids=[f"{row[0]}: {row[3]}" for row in PLANTED])
def test_planted_device_is_named(name, shape, make, kind, capsys, monkeypatch):
    """Each fault has its own name and no other, and the exit code is 1."""
    monkeypatch.setattr(run, "_runner", lambda device: (make(), []))
    code, report = compared(capsys, name, shape)

    assert code == 1
    assert [finding["kind"] for finding in report["findings"]] == [kind], report["findings"]
