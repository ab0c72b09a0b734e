"""The house: arrows point one way, modules are small, importing the package is cheap."""

import ast
import subprocess
import sys

import pytest
from support.paths import ROOT

import course_utils

PACKAGE = ROOT / "course_utils"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE = 400


def imports_of(path):
    """Return the names of course_utils that a module imports, at its top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("course_utils"):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("course_utils")}
    return found


def test_arrows_point_down():
    """Tools import neither the command line nor the grader."""
    for path in MODULES:
        part = path.relative_to(PACKAGE).parts[0]
        if part in ("cli.py", "commands", "grading"):
            continue
        upwards = {name for name in imports_of(path) if name.split(".")[1:2] in (["cli"], ["commands"], ["grading"])}
        assert not upwards, f"{path.name} imports {', '.join(sorted(upwards))}"


def test_devices_stand_on_torch_alone():
    """Nothing of the course is below devices.py."""
    assert imports_of(PACKAGE / "devices.py") == set()


def test_modules_are_small():
    """A module has one idea: none is longer than 400 lines."""
    for path in MODULES:
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= LONGEST_MODULE, f"{path.name} has {lines} lines; split it"


def test_public_names_exist():
    """Every public name can be imported, and __all__ lists them all."""
    for name in course_utils.__all__:
        assert getattr(course_utils, name) is not None
    assert set(course_utils.__all__) == set(course_utils._HOME) | {"__version__"}
    assert course_utils.__all__ == sorted(course_utils.__all__)


def test_unknown_names_list_the_known():
    """Asking for a name that is not there lists those that are."""
    with pytest.raises(AttributeError, match="benchmark"):
        course_utils.nonsense  # noqa: B018


def test_import_is_cheap():
    """`import course_utils` loads neither torch nor matplotlib nor Jupyter."""
    code = "import sys, course_utils; print(*sorted({'torch', 'numpy', 'matplotlib', 'IPython'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


def test_no_shared_folder_or_machine_path():
    """No file of the project points outside it or at one machine."""
    suffixes = {".py", ".ipynb", ".md", ".yml", ".toml", ".sh", ".json"}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    files = [
        ROOT / name for name in tracked if (ROOT / name).suffix in suffixes and name != "tests/test_architecture.py"
    ]
    for path in files:
        text = path.read_text(encoding="utf-8")
        for forbidden in ("../shared", "/work/", "/tmp/venv", "/root/"):
            assert forbidden not in text, f"{path.name} mentions {forbidden}"
