"""A lesson opened alone: one notebook in an empty folder, the course from its wheel, no clone, an empty home.

So it is in Colab and in a folder of the reader's own. Bubblewrap hides the clone, this user's home and the network.

Two lessons run so. Of the others `tests/rehearsal/test_lessons.py` shows that they run in an empty folder, and a test
below that they import nothing but what comes with the package.
"""

import ast
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from support.found import found
from support.front_end import surroundings
from support.paths import ROOT

from course_utils.data.package import DISTRIBUTION
from course_utils.data.repository import Repository
from scripts.installed_cell import installed_cell

# 00 is where everybody begins, and the capstone reads a script that it has to bring
ALONE = ("00_start_here", "15_capstone")
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

pytestmark = pytest.mark.slow
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PUBLISHED = Repository("https://github.com/someone/course")
BRINGS = re.compile(r"bring_files\(\"(\w+)\"\)")


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


@pytest.mark.needs_sandbox
def test_lessons_run_alone(package, tmp_path):
    """With the package alone every cell runs, and the capstone's script lies beside the notebook afterwards."""
    ended = run_alone(tmp_path, ALONE, package)

    assert {name: end for name, end in found(ended.items()) if end[0]} == {}
    assert (tmp_path / "15_capstone" / "capstone" / "train_with_sins.py").is_file()


@pytest.mark.needs_sandbox
def test_without_the_package_a_lesson_says_what_to_install(tmp_path):
    """The first code cell ends in one line that names `make lab` and `pip install`."""
    (ended,) = run_alone(tmp_path, ["15_capstone"]).values()

    assert ended[0] == "ModuleNotFoundError"
    assert "\n" not in ended[1]
    assert "make lab" in ended[1]
    assert "pip install" in ended[1]


@pytest.fixture
def colab(tmp_path):
    """Make an environment as Colab's is: pip, Jupyter and what lessons need, but not the course.

    It lends what is installed here: a link to each thing but the course's own.
    """
    course = {file.parts[0] for file in importlib.metadata.files(DISTRIBUTION)}
    lent = tmp_path / "lent"
    lent.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.name not in course | {"course_utils", "__pycache__"}:
            (lent / path.name).symlink_to(path)
    venv.create(tmp_path / "colab")
    (site_packages,) = (tmp_path / "colab").glob("lib/python*/site-packages")
    (site_packages / "lent.pth").write_text(f"{lent}\n", encoding="utf-8")
    return tmp_path / "colab" / "bin" / "python"


def test_in_colab_a_lesson_brings_the_course_and_runs(built, colab, tmp_path):
    """Where the course is not installed, the first cell of lesson 00 installs it, and every cell after it runs."""
    _, wheel, _ = built
    name, requirement = "00_start_here", json.dumps(PUBLISHED.requirement)
    cell = installed_cell("00", PUBLISHED)
    assert requirement in "".join(cell["source"])
    cell["source"] = "".join(cell["source"]).replace(requirement, json.dumps(str(wheel)))
    notebook = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))
    (place,) = (index for index, each in enumerate(notebook["cells"]) if each["id"] == cell["id"])
    in_colab = "import sys, types\nsys.modules['google.colab'] = types.ModuleType('google.colab')"
    notebook["cells"][place : place + 1] = [cell | {"id": "colab", "source": in_colab}, cell]
    (tmp_path / "content").mkdir()
    path = tmp_path / "content" / f"{name}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    where = [colab, "-c", "import course_utils; print(course_utils.__file__)"]
    settings = {"cwd": tmp_path, "env": surroundings(tmp_path / "nothing", tmp_path), "text": True}
    before = subprocess.run(where, **settings, capture_output=True, check=False)
    ran = subprocess.run([colab, "-c", RUN, path], **settings, capture_output=True, check=False)
    after = subprocess.run(where, **settings, capture_output=True, check=False)

    assert before.returncode == 1
    assert "No module named 'course_utils'" in before.stderr
    assert ran.stdout.splitlines()[-1:] == [json.dumps([name, "", ""])], ran.stderr
    assert after.stdout.startswith(str(tmp_path / "colab")), after.stderr


def spelled(name):
    """Return a distribution's name as an index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_with(distribution):
    """Return the names of a distribution and of all that pip installs with it."""
    known, left = set(), [distribution]
    while left:
        name = spelled(left.pop())
        if name in known:
            continue
        known.add(name)
        try:
            wanted = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:  # for another system
            continue
        left += [re.match(r"[\w.-]+", line)[0] for line in wanted if "extra ==" not in line]
    return known


def imported_by(source):
    """Return the top-level names that code imports."""
    nodes = list(ast.walk(ast.parse(source)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


def says_how_to_install(source, name):
    """Return whether a cell looks for a module before it imports it, and names the command that brings it."""
    return "find_spec(" in source and re.search(rf"pip install [\w ]*\b{name}\b", source) is not None


def test_every_lesson_imports_what_comes_with_the_package():
    """Python, the package, what pip installs with it, what the lesson brings along; else it says what to install."""
    brought = installed_with("pytorch-apple-silicon-course")
    homes = importlib.metadata.packages_distributions()
    foreign = []
    for path in found(LESSONS):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        folders = set(BRINGS.findall("\n".join(code)))
        imported = [(name, source) for source in code for name in imported_by(source)]
        for name, source in found(imported):
            known = name in sys.stdlib_module_names or name in folders | {"course_utils"}
            if not known and not brought & {spelled(home) for home in homes.get(name, ())}:
                foreign += [] if says_how_to_install(source, name) else [(path.stem, name)]

    assert foreign == []
