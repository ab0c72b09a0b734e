"""The house: imports point down, modules are small, importing the package is cheap, and the page names every room."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

import course_utils

PACKAGE = ROOT / "course_utils"
MODULES = sorted(PACKAGE.rglob("*.py"))
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
LONGEST_MODULE = 400
SUFFIXES = {".py", ".ipynb", ".md", ".yml", ".toml", ".sh", ".json"}


def project_files():
    """List the project's text files: those that git tracks, or all below its folders where this is not a clone."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = done.stdout.split("\n") if done.returncode == 0 else []
    tops = ("course_utils", "notebooks", "exercises", "solutions", "tests", "scripts", "docs", "benchmarks", ".github")
    found = [ROOT / name for name in names if name]
    found = found or [*ROOT.glob("*"), *(path for top in tops for path in (ROOT / top).rglob("*"))]
    return [path for path in found if path.suffix in SUFFIXES and path.is_file() and path != Path(__file__)]


def test_imports_keep_the_contract():
    """import-linter finds no import that leads upward, inside functions neither."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
    assert "1 kept, 0 broken" in done.stdout


def test_the_package_holds_rooms_alone():
    """Under course_utils/ are at most fifteen packages, `__init__.py` and `py.typed`."""
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}

    assert files == {"__init__.py", "py.typed"}
    assert 10 <= len(ROOMS) <= 15


def test_the_page_has_a_row_for_each_room():
    """docs/architecture.md names every room in its table."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))

    assert rows == set(ROOMS)


def test_modules_are_small():
    """A module has one idea: none is longer than 400 lines."""
    lengths = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n") for path in MODULES}

    assert len(lengths) > 100
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE} == {}


def test_public_names_exist():
    """Every public name can be imported, and __all__ lists them all."""
    assert set(course_utils.__all__) == set(course_utils._HOME) | {"__version__"}
    assert course_utils.__all__ == sorted(course_utils.__all__)
    for name in course_utils.__all__:
        assert getattr(course_utils, name) is not None


def test_public_classes_have_names_of_their_own():
    """No two modules of the package define a public class of the same name."""
    found = {}
    for path in MODULES:
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found.setdefault(name, []).append(str(path.relative_to(PACKAGE)))

    assert len(found) > 100
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


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
    files = project_files()

    assert len(files) > 300
    for path in files:
        text = path.read_text(encoding="utf-8")
        for forbidden in ("../shared", "/work/", "/tmp/venv", "/root/"):
            assert forbidden not in text, f"{path.name} mentions {forbidden}"
