"""A lesson opened alone: one notebook in an empty folder, the course from its wheel, no clone, an empty home.

So it is in Colab and in a folder of the reader's own. Bubblewrap hides the clone, this user's home and the network.
"""

import json
import shutil
import subprocess
import sys

import pytest
from support.found import found
from support.paths import ROOT

# the capstone reads a script; 10 writes checkpoints and starts processes; 00 is where everybody begins
ALONE = ("00_start_here", "10_from_mac_to_cloud", "15_capstone")
# runs each notebook in its folder, and prints how it ended as JSON
RUN = """
import json, pathlib, sys
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
for name in sys.argv[1:]:
    path = pathlib.Path(name)
    notebook = nbformat.read(path, as_version=4)
    try:
        place = {"metadata": {"path": path.parent}}
        NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
        print(json.dumps([path.stem, "", ""]))
    except CellExecutionError as error:
        print(json.dumps([path.stem, error.ename, error.evalue]))
"""

pytestmark = [pytest.mark.needs_sandbox, pytest.mark.slow]


@pytest.fixture(scope="module")
def package(built, tmp_path_factory):
    """Install the wheel into a folder of its own, without what it depends on."""
    _, wheel, _ = built
    target = tmp_path_factory.mktemp("package")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    done = subprocess.run([*pip, str(wheel)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def run_alone(folder, names, package=None):
    """Put each lesson into an empty folder, run it where there is neither clone nor home; return how each ended."""
    paths = []
    for name in names:
        place = folder / name
        place.mkdir()
        shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", place)
        paths.append(str(place / f"{name}.ipynb"))
    hidden = [word for place in ("/tmp", "/home", "/root", str(ROOT)) for word in ("--tmpfs", place)]
    python = [word for place in (sys.base_prefix, sys.prefix) for word in ("--ro-bind", place, place)]
    shown = ["--bind", str(folder), str(folder), *(["--ro-bind", str(package), str(package)] if package else [])]
    variables = {"HOME": "/home/reader", "PATH": f"{sys.prefix}/bin:/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
    variables |= {"PYTHONPATH": str(package)} if package else {}
    settings = [word for name, value in variables.items() for word in ("--setenv", name, value)]
    box = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *hidden, *python, *shown]
    box += ["--dir", "/home/reader", "--unshare-all", "--die-with-parent", "--clearenv", *settings]
    command = [*box, "--chdir", str(folder), sys.executable, "-c", RUN, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ended = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(ended) == len(names), done.stderr
    return {name: (error, value) for name, error, value in ended}


def test_lessons_run_alone(package, tmp_path):
    """With the package alone every cell runs, and the capstone's script lies beside the notebook afterwards."""
    ended = run_alone(tmp_path, ALONE, package)

    assert {name: end for name, end in found(ended.items()) if end[0]} == {}
    assert (tmp_path / "15_capstone" / "capstone" / "train_with_sins.py").is_file()


def test_without_the_package_a_lesson_says_what_to_install(tmp_path):
    """The first code cell ends in one line that names `make lab` and `pip install`."""
    (ended,) = run_alone(tmp_path, ["15_capstone"]).values()

    assert ended[0] == "ModuleNotFoundError"
    assert "\n" not in ended[1]
    assert "make lab" in ended[1]
    assert "pip install" in ended[1]
