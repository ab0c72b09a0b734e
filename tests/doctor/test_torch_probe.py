"""torch is imported in a child process for real: missing, raising, exiting, aborting or hanging, it is an answer."""

import os
import select

import pytest

from course_utils.doctor.torch_probe import conclude, probe_torch


@pytest.fixture
def fake_torch(tmp_path, monkeypatch):
    """Put a torch package of one's own in front of the real one."""

    def write(source, *, package=True):
        path = tmp_path / "torch" / "__init__.py" if package else tmp_path / "torch.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return write


@pytest.mark.parametrize(
    ("source", "outcome", "words"),
    [
        ("raise ImportError('dlopen failed\\nmore')", "raised", "ImportError: dlopen failed"),
        ("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')", "missing", "No module named 'torch'"),
        ("import no_such_module_of_torch", "raised", "no_such_module_of_torch"),
        ("raise SystemExit(7)", "raised", "SystemExit: 7"),
        ("1 +", "raised", "SyntaxError"),
        ("x = 1", "raised", "holds no Tensor"),
        ("import os; os._exit(3)", "exited", "exit code 3"),
        ("import os; os._exit(0)", "exited", "exit code 0"),
        ("import os; os.abort()", "killed", "SIGABRT"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "killed", "SIGSEGV"),
        (
            "import os, sys; sys.stderr.write('OMP: Error #15: Initializing libomp\\nOMP: Hint\\n'); "
            "sys.stderr.flush(); os.abort()",
            "killed",
            "OMP: Error #15: Initializing libomp",
        ),
    ],
)
def test_torch_that_fails(fake_torch, source, outcome, words):
    """However importing torch ends, the answer says how, and this process goes on."""
    fake_torch(source)
    found = probe_torch(time_limit_s=60)

    assert found["torch_import"] == outcome
    assert words in found["torch_error"]
    assert found.get("mps_state") is None


def test_torch_that_hangs(fake_torch, tmp_path):
    """A torch that waits forever, with a child of its own, is given up, and both are ended."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    # the pipe ends when the last process that holds its writing end has ended
    fake_torch(
        "import os, subprocess, sys, threading\n"
        f"writer = os.open({str(pipe)!r}, os.O_WRONLY)\n"
        "code = 'import os, sys, threading; os.write(int(sys.argv[1]), b\"up\"); threading.Event().wait()'\n"
        "subprocess.Popen([sys.executable, '-c', code, str(writer)], pass_fds=[writer])\n"
        "threading.Event().wait()"
    )
    found = probe_torch(time_limit_s=5)

    assert found["torch_import"] == "timed out"
    assert "no answer within 5 s" in found["torch_error"]
    assert os.read(reader, 2) == b"up"
    ended, _, _ = select.select([reader], [], [], 60)
    assert ended
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_a_file_called_torch(fake_torch):
    """The file that hides torch is named."""
    fake_torch("raise ImportError('mine')", package=False)
    assert str(probe_torch(time_limit_s=60)["torch_file"]).endswith("torch.py")


def test_torch_that_dies_while_computing(fake_torch):
    """When torch loads and dies at its first computation, MPS is present but unusable, with the signal."""
    fake_torch(
        "import os\n"
        "__version__ = '2.14.1'\n"
        "class Tensor: pass\n"
        "class version: cuda = None\n"
        "class backends:\n"
        "    class mps:\n"
        "        is_built = is_available = staticmethod(lambda: True)\n"
        "def rand(*size, **options): os.abort()\n"
        "class Generator:\n"
        "    def manual_seed(self, seed): return self\n"
        "class device: pass\n"
    )
    found = probe_torch(time_limit_s=60)

    assert (found["torch_import"], found["mps_available"]) == ("ok", True)
    assert found["mps_state"] == "present but unusable"
    assert "SIGABRT" in found["mps_reason"]


def test_an_old_torch_without_mps_attributes(fake_torch):
    """A torch without torch.backends.mps is described, not crashed on; what it lacks later does not count as MPS."""
    fake_torch(
        "__version__ = '1.11.0'\n"
        "class Tensor: pass\n"
        "class version: cuda = None\n"
        "class backends: pass\n"
        "class cuda:\n"
        "    is_available = staticmethod(lambda: False)\n"
        "class device: pass\n"
    )
    found = probe_torch(time_limit_s=60)

    assert (found["torch_version"], found["mps_built"], found["mps_available"]) == ("1.11.0", False, False)
    assert found["cuda_state"] == "absent"


def test_the_real_torch():
    """The installed torch loads, and its own answers arrive."""
    found = probe_torch()

    assert found["torch_import"] == "ok", found
    assert str(found["torch_version"]).startswith("2.")
    assert found["mps_state"] in ("usable", "present but unusable", "absent")
    assert found["cuda_state"] in ("usable", "present but unusable", "absent")


def test_no_room_for_a_scratch_folder(monkeypatch):
    """On a full disk nothing can be tried: torch stays unknown, with the system's own number."""

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryDirectory", full)
    found = probe_torch()
    assert "torch_import" not in found
    assert "[Errno 28]" in str(found["torch_error"])


def test_no_python_to_run(tmp_path):
    """A Python that cannot be started leaves torch unknown, with the reason."""
    found = probe_torch(python=str(tmp_path / "no-python"))
    assert "torch_import" not in found
    assert "no child process" in str(found["torch_error"])


@pytest.mark.parametrize(
    ("steps", "ended", "exit_code", "expected"),
    [
        ([{"step": "import torch"}], "exited", -999, {"torch_import": "killed"}),
        ([], "exited", 1, {"torch_import": "exited"}),
        (
            [{"torch_import": "ok"}, {"step": "compute on CUDA"}],
            "timed out",
            None,
            {"cuda_state": "present but unusable"},
        ),
        ([{"torch_import": "ok"}, {"step": "compute on MPS"}], "exited", -6, {"mps_state": "present but unusable"}),
        ([{"torch_import": "ok"}, {"step": "done"}], "exited", -11, {"torch_import": "ok"}),
    ],
)
def test_conclude(steps, ended, exit_code, expected):
    """The step at which a child died decides what is blamed; dying after the last step blames nothing."""
    found = conclude(iter(steps), ended, exit_code, "", 10.0)
    assert expected.items() <= found.items()
