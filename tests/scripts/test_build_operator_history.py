"""The script that builds the operator history: which releases, what it reads, how it merges."""

import importlib.util
import json
import zipfile

import pytest
from support.paths import ROOT

from course_utils.operators.history import read_history

SPEC = importlib.util.spec_from_file_location("build_operator_history", ROOT / "scripts" / "build_operator_history.py")
script = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(script)

MISSING = "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n"
NATIVE = "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU, MPS: f\n    SparseMPS: g\n"
STRUCTURED = (
    "- func: g(Tensor self) -> Tensor\n  structured_delegate: g.{0}\n"
    "- func: g.{0}(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n    CPU: g\n"
)
# pip takes these options for local files as well as for an index
OFFLINE = ("--no-index", "--only-binary", ":all:")


def put_wheel(folder, release, files):
    """Write a wheel that pip accepts as torch."""
    files = files | {
        f"torch-{release}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {release}\n",
        f"torch-{release}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"torch-{release}.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"torch-{release}-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)


@pytest.fixture
def offline_pip(tmp_path, monkeypatch):
    """Let pip see one folder only: no index, no settings of this machine."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_the_newest_patch_of_every_line_is_chosen():
    """Older patches, pre-releases and lines before 2.0 are left out; lines sort as numbers."""
    versions = ["2.10.0", "2.9.1", "2.9.0", "2.11.0rc1", "1.13.1", "2.0.0", "2.0.1", "2.10.0.dev1"]
    assert script.newest_of_each_line(versions) == ["2.0.1", "2.9.1", "2.10.0"]


def test_letters_line_up_with_releases():
    """An overload gets one letter for each release, a dash before it existed, sparse keys apart."""
    data = script.merge(None, {"2.10.0": NATIVE, "2.9.1": "- func: h(Tensor self) -> Tensor\n"}, {})
    assert data["releases"] == ["2.9.1", "2.10.0"]
    assert data["letters"] == {"f": "-n", "h": "i-"}
    assert data["sparse"] == {"f": "-s"}


def test_a_new_release_is_added_to_what_is_there():
    """Merging keeps older releases and their checksums, as if all had been read at once."""
    first = script.merge(None, {"2.9.1": MISSING + STRUCTURED.format("out")}, {})
    both = script.merge(first, {"2.10.0": NATIVE + STRUCTURED.format("out")}, {})
    at_once = script.merge(
        None, {"2.9.1": MISSING + STRUCTURED.format("out"), "2.10.0": NATIVE + STRUCTURED.format("out")}, {}
    )
    assert both == at_once
    assert both["letters"]["f"] == "mn"
    assert both["letters"]["g"] == "oo"
    assert both["delegates"] == {"g": "g.out"}
    assert both["yaml_sha256"]["2.9.1"] == first["yaml_sha256"]["2.9.1"]


def test_a_newer_patch_replaces_the_older_one_of_its_line():
    """A line keeps one release."""
    data = script.merge(script.merge(None, {"2.9.0": MISSING}, {}), {"2.9.1": NATIVE}, {})
    assert data["releases"] == ["2.9.1"]
    assert data["letters"] == {"f": "n"}
    assert list(data["yaml_sha256"]) == ["2.9.1"]


def test_an_unread_release_is_listed_until_it_is_read():
    """A release that cannot be had is said to be unread, never guessed."""
    data = script.merge(None, {"2.9.1": MISSING}, {"2.10.0": "no wheel"})
    assert data["unread"] == {"2.10.0": "no wheel"}
    assert data["releases"] == ["2.9.1"]
    assert script.merge(data, {"2.10.0": NATIVE}, {})["unread"] == {}


def test_an_overload_that_changes_its_delegate_stops_the_merge():
    """The file has room for one out= overload; a second must not overwrite the first unseen."""
    first = script.merge(None, {"2.9.1": STRUCTURED.format("out")}, {})
    with pytest.raises(ValueError, match=r"g delegates to g\.result in 2\.10\.0 and to g\.out in another release"):
        script.merge(first, {"2.10.0": STRUCTURED.format("result")}, {})


def test_a_hand_registered_operator_gets_its_letter():
    """The hand list of each release is applied to that release."""
    text = "- func: linalg_svd(Tensor A) -> Tensor\n"
    assert script.merge(None, {"2.13.0": text, "2.14.1": text}, {})["letters"] == {"linalg_svd": "ci"}


def test_what_is_written_can_be_read_and_has_one_overload_a_line():
    """The file is JSON, and a release adds letters to lines instead of rewriting one long line."""
    data = script.merge(None, {"2.9.1": MISSING + STRUCTURED.format("out")}, {})
    text = script.render(data)
    assert json.loads(text) == data
    assert '    "f": "m",\n' in text
    assert read_history(json.loads(text)).verdicts("2.9.1").letters == {"f": "m", "g": "o", "g.out": "m"}


def test_the_packaged_history_is_in_the_scripts_format():
    """The data in the package is what the script writes, to the letter."""
    text = script.OUTPUT.read_text(encoding="utf-8")
    data = json.loads(text)
    assert script.render(data) == text
    assert script.merge(data, {}, {}) == data
    assert script.OUTPUT.stat().st_size < 400_000


def test_the_yaml_is_read_out_of_a_wheel(offline_pip):
    """The release asked for is fetched with pip, and one file is read out of it."""
    put_wheel(offline_pip, "2.9.1", {script.YAML: MISSING})
    put_wheel(offline_pip, "2.10.0", {script.YAML: NATIVE})
    assert script.fetch_wheel("2.9.1", OFFLINE).yaml == MISSING


def test_a_release_that_pip_cannot_get_says_so(offline_pip):
    """The last word of pip is the reason."""
    put_wheel(offline_pip, "2.9.1", {script.YAML: MISSING})
    with pytest.raises(OSError, match=r"No matching distribution found for torch==2\.10\.0"):
        script.fetch_wheel("2.10.0", OFFLINE)


def test_a_wheel_without_the_yaml_says_so(offline_pip):
    """A wheel that lacks the file is named."""
    put_wheel(offline_pip, "2.9.1", {})
    with pytest.raises(OSError, match=r"torch-2\.9\.1-py3-none-any\.whl cannot be read"):
        script.fetch_wheel("2.9.1", OFFLINE)


def test_the_script_reads_only_what_is_new(offline_pip, tmp_path, capsys):
    """A second run adds the new release, keeps the old one, and reports what it could not read."""
    output = tmp_path / "history.json"
    norms = 'lib.impl("native_group_norm", f, "MPS")\nlib.impl("native_group_norm_backward", f, "MPS")\n'
    solve = 'lib.impl("linalg_lu_solve.out", f, "MPS")\n'
    put_wheel(offline_pip, "2.9.1", {script.YAML: MISSING, "torch/backends/mps/__init__.py": norms})
    assert script.main(["2.9.1", "2.10.0", "--output", str(output)]) == 1
    assert "torch 2.10.0: not read" in capsys.readouterr().err
    (offline_pip / "torch-2.9.1-py3-none-any.whl").unlink()
    put_wheel(offline_pip, "2.10.0", {script.YAML: NATIVE, "torch/a.py": norms, "torch/b.py": solve})
    assert script.main(["2.9.1", "2.10.0", "--output", str(output)]) == 0
    data = json.loads(output.read_text())
    assert (data["releases"], data["letters"], data["unread"]) == (["2.9.1", "2.10.0"], {"f": "mn"}, {})


def test_a_release_nobody_looked_at_is_told(offline_pip, tmp_path, capsys):
    """Before a new line is published, its hand-registered operators have to be looked up."""
    put_wheel(offline_pip, "2.99.0", {script.YAML: MISSING})
    assert script.main(["2.99.0", "--output", str(tmp_path / "history.json")]) == 0
    assert "registers for MPS by hand were not looked up" in capsys.readouterr().err


def test_registrations_in_any_python_file_are_found(tmp_path):
    """A library made for MPS, and the key given with the kernel; other keys and names are not taken."""
    source = (
        "import torch\n"
        'mps_lib = torch.library.Library("aten", "IMPL", "MPS")\n'
        'mps_lib.impl("aten::linalg_lu_solve.out", f)\n'
        'other = torch.library.Library("aten", "IMPL")\n'
        'other.impl("native_group_norm", g, "MPS")\n'
        'other.impl("add.out", g, "CPU")\n'
        'other.impl("sub.out", g)\n'
        'thing.implement("mul.out", g, "MPS")\n'
    )
    assert script.python_registrations(source) == {"linalg_lu_solve.out", "native_group_norm"}
    assert script.python_registrations("def broken(:") == set()

    path = tmp_path / "torch.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(script.YAML, NATIVE)
        wheel.writestr("torch/_refs/linalg/__init__.py", source)
        wheel.writestr("torch/other.py", "x = 1")
    assert script.read_wheel(path) == script.Wheel(NATIVE, frozenset({"linalg_lu_solve.out", "native_group_norm"}))
