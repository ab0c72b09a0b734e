"""This machine is described for real, and what comes out holds nothing private."""

import getpass
import os
import platform

import pytest

from course_utils.doctor import describe, read_snapshot, surroundings
from course_utils.doctor.describe import _shareable
from course_utils.doctor.machine import linux_chip
from course_utils.doctor.snapshot import TorchCopy, Variable


@pytest.fixture(scope="module")
def here():
    """Describe this machine once."""
    return describe()


def test_this_machine(here):
    """System, Python and torch are those of this process."""
    assert (here.system, here.machine, here.python) == (
        platform.system(),
        platform.machine(),
        platform.python_version(),
    )
    assert here.torch_import == "ok"
    assert here.torch is not None
    assert here.memory_bytes is not None
    assert here.memory_bytes > 2**28


def test_only_relevant_variables(here, monkeypatch):
    """A snapshot holds the named variables and no others."""
    monkeypatch.setenv("MY_SECRET_TOKEN", "hush")
    monkeypatch.setenv("KMP_DUPLICATE_LIB_OK", "TRUE")
    record = surroundings.start_record()
    found = surroundings.read_variables(record, fallback_on=None)

    assert Variable("KMP_DUPLICATE_LIB_OK", "TRUE", record.seen("KMP_DUPLICATE_LIB_OK", "TRUE")) in found
    assert {variable.name for variable in found} <= set(surroundings.VARIABLES)
    assert "hush" not in here.to_json()


def test_nothing_private(here):
    """Neither the home folder nor the name of host or user occurs in a snapshot."""
    text = here.to_json()
    home = os.path.expanduser("~")

    assert home == "/" or f"{home}/" not in text
    assert platform.node() in ("", "localhost", "vm") or platform.node() not in text
    assert getpass.getuser() in ("root", "runner") or getpass.getuser() not in text


def test_described_machine_travels(here, tmp_path):
    """This machine's snapshot is read back from a file as it was."""
    path = tmp_path / "machine.json"
    path.write_text(here.to_json(), encoding="utf-8")
    assert read_snapshot(path) == here


def test_shareable():
    """Text becomes printable, one line, scrubbed and bounded, also inside of tuples and variables."""
    copy = TorchCopy("/Users/ada/lib", "2.1.0", "PYTHONPATH")
    assert _shareable((copy,), "/Users/ada", "ada") == (TorchCopy("~/lib", "2.1.0", "PYTHONPATH"),)
    value = _shareable((Variable("A", "\x1b[1m /Users/ada/x\n2", True), "y" * 1000), "/Users/ada", "ada")
    assert value == (Variable("A", "[1m ~/x 2", True), "y" * 600)


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        ("processor : 0\nmodel name\t: AMD EPYC 7B13\nflags : fpu\n", "AMD EPYC 7B13"),
        ("model name\t: VirtualApple @ 2.50GHz\n", "VirtualApple @ 2.50GHz"),
        ("processor\t: 0\nCPU implementer\t: 0x61\n", "Apple (CPU implementer 0x61)"),
        ("CPU implementer\t: 0x41\n", "Arm (CPU implementer 0x41)"),
        ("", None),
    ],
)
def test_linux_chip(cpuinfo, expected):
    """The processor's name comes from the model, or on Arm from its implementer."""
    assert linux_chip(cpuinfo) == expected


def test_openmp_files(tmp_path):
    """Each runtime is found once, however many names it has, and nothing else is."""
    packages = tmp_path / "lib/python3.12/site-packages"
    for name in ("torch/lib/libomp.dylib", "sklearn/.dylibs/libomp.dylib", "faiss.libs/libgomp.so.1"):
        (packages / name).parent.mkdir(parents=True)
        (packages / name).touch()
    (tmp_path / "lib/libomp.dylib").touch()
    (tmp_path / "lib/libiomp5.dylib").symlink_to("libomp.dylib")

    assert sorted(surroundings.openmp_files(tmp_path)) == [
        "lib/libomp.dylib",
        "lib/python3.12/site-packages/sklearn/.dylibs/libomp.dylib",
        "lib/python3.12/site-packages/torch/lib/libomp.dylib",
    ]


@pytest.mark.parametrize(
    ("settings", "conda", "expected"),
    [
        (None, False, "system"),
        ("home = /usr", False, "venv"),
        ("home = /usr\nuv = 0.9", False, "uv"),
        (None, True, "conda"),
    ],
)
def test_environment_kind(tmp_path, settings, conda, expected):
    """What made an environment is read from its folder."""
    if settings is not None:
        (tmp_path / "pyvenv.cfg").write_text(settings)
    if conda:
        (tmp_path / "conda-meta").mkdir()
    assert surroundings.environment_kind(tmp_path) == expected


def test_shell_exports():
    """Exports of relevant variables in cells are found, as typed and as IPython rewrites them; others are not."""
    cells = (
        "!export PYTORCH_ENABLE_MPS_FALLBACK=1",
        "get_ipython().system('export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.5')",
        "!export MY_SECRET=1",
        "import os; os.environ['KMP_DUPLICATE_LIB_OK'] = 'TRUE'",
    )
    assert surroundings.shell_exports(cells) == ("PYTORCH_ENABLE_MPS_FALLBACK", "PYTORCH_MPS_HIGH_WATERMARK_RATIO")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("import torch", "import os\nos.environ['KMP_DUPLICATE_LIB_OK'] = 'TRUE'"), True),
        (("import torch\nimport os\nos.environ.setdefault('KMP_DUPLICATE_LIB_OK', 'TRUE')",), True),
        (("from torch import nn", "%env KMP_DUPLICATE_LIB_OK=TRUE"), True),
        (("import torch", "get_ipython().run_line_magic('env', 'KMP_DUPLICATE_LIB_OK=TRUE')"), True),
        (("import os\nos.environ['KMP_DUPLICATE_LIB_OK'] = 'TRUE'", "import torch"), False),
        (("import torchvision", "%env KMP_DUPLICATE_LIB_OK=TRUE"), False),
        (("import torch", "%env PYTORCH_ENABLE_MPS_FALLBACK=1"), False),
        ((), False),
    ],
)
def test_order_of_cells(cells, expected):
    """Cells show that a variable came too late when `import torch` stands before it, and prove nothing otherwise."""
    assert surroundings.set_after_torch(cells, "KMP_DUPLICATE_LIB_OK") is expected


def test_fallback_answer_of_torch_wins(monkeypatch):
    """Where the record does not know, torch's own answer decides whether the variable was seen."""
    monkeypatch.setenv("PYTORCH_ENABLE_MPS_FALLBACK", "1")
    unknown = surroundings.StartRecord(None, {"PYTORCH_ENABLE_MPS_FALLBACK": "1"}, None)
    seen = [surroundings.read_variables(unknown, fallback_on=answer)[0].before_torch for answer in (True, False, None)]
    assert seen == [True, False, None]
    cells = ("import torch", "%env PYTORCH_ENABLE_MPS_FALLBACK=1")
    assert surroundings.read_variables(unknown, fallback_on=None, cells=cells)[0].before_torch is False


def test_hidden_files(tmp_path, monkeypatch):
    """A .pth file that macOS hides is listed, others are not; a system without flags hides none."""
    packages = tmp_path / "lib/python3.12/site-packages"
    packages.mkdir(parents=True)
    for name in ("course.pth", "other.pth", "notes.txt"):
        (packages / name).touch()
    assert surroundings.hidden_files(tmp_path) == ()
    monkeypatch.setattr(surroundings, "_is_hidden", lambda path: path.name in ("course.pth", "notes.txt"))
    assert surroundings.hidden_files(tmp_path) == ("lib/python3.12/site-packages/course.pth",)


def test_free_space(tmp_path):
    """The disk's free space is a number; of a folder that does not exist nothing is known."""
    assert surroundings.free_bytes(tmp_path) > 0
    assert surroundings.free_bytes(tmp_path / "gone") is None


def test_index_settings(monkeypatch):
    """The settings of pip for indexes are read, also those of an environment variable; uv's too."""
    monkeypatch.setenv("PIP_INDEX_URL", "https://example.org/simple")
    monkeypatch.setenv("UV_INDEX_URL", "https://example.org/uv")
    found = surroundings.package_indexes()

    assert found is not None
    assert ":env:.index-url=https://example.org/simple" in found
    assert "UV_INDEX_URL=https://example.org/uv" in found


def test_kernel_python(tmp_path, monkeypatch):
    """A kernel specification with a path is followed; one that says "python" follows JupyterLab."""
    folder = tmp_path / "kernels" / "python3"
    folder.mkdir(parents=True)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    for argv, expected in ((["/opt/x/bin/python", "-m"], "/opt/x/bin/python"), (["python"], None), ([], None)):
        (folder / "kernel.json").write_text(f'{{"argv": {argv}}}'.replace("'", '"'))
        assert surroundings.kernel_python() == expected
