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
import venv

import pytest
from support.found import found
from support.paths import ROOT

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


def test_in_colab_the_first_cell_installs_the_course(built, tmp_path):
    """In an environment that has pip and nothing else, the generated cell brings the package, and imports find it."""
    _, wheel, _ = built
    cell = "".join(installed_cell("00", PUBLISHED)["source"])
    assert json.dumps(PUBLISHED.requirement) in cell
    cell = cell.replace(json.dumps(PUBLISHED.requirement), json.dumps(str(wheel)))
    in_colab = "import sys\nsys.modules['google.colab'] = object()\n"
    script = tmp_path / "cell.py"
    script.write_text(f"{in_colab}{cell}\nimport course_utils\nprint(course_utils.__file__)\n", encoding="utf-8")
    venv.create(tmp_path / "plain", with_pip=True)
    python = [tmp_path / "plain" / "bin" / "python", "-I"]
    before = subprocess.run([*python, "-c", "import course_utils"], capture_output=True, check=False)
    done = subprocess.run([*python, script], capture_output=True, text=True, check=False)

    assert before.returncode == 1
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "plain"))


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
