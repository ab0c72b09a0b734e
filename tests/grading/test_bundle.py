"""The students' archive: nothing of solutions or hidden tests, the same bytes twice, and it works where it is."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile

import pytest
from support import submissions
from support.found import found

from course_utils.cli import main as cli
from course_utils.grading.releasing.bundle import FOLDER, write_archive
from course_utils.grading.releasing.hidden_text import find_secrets

REGION = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)### END", re.DOTALL)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Pack the course once."""
    path = tmp_path_factory.mktemp("archive") / "course.zip"
    assert cli.main(["bundle", "--output", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def unpacked(archive):
    """Unpack the archive, rights included, as a Mac's unpacker does."""
    with zipfile.ZipFile(archive) as content:
        for entry in content.infolist():
            content.extract(entry, archive.parent)
            (archive.parent / entry.filename).chmod(entry.external_attr >> 16 & 0o777)
    return archive.parent / FOLDER


def texts(folder):
    """Read every file; of notebooks the texts in it, so that JSON's escapes hide nothing."""

    def strings(value):
        if isinstance(value, dict):
            return "\n".join(strings(inner) for inner in value.values())
        if isinstance(value, list):
            return "".join(strings(inner) for inner in value) + "\n"
        return str(value)

    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            found[path.relative_to(folder).as_posix()] = strings(json.loads(text)) if path.suffix == ".ipynb" else text
    return found


def prose(path):
    """Return a page's text, or that of a notebook's text cells: code may look like a link."""
    if path.suffix != ".ipynb":
        return [path.read_text(encoding="utf-8")]
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def test_no_hidden_test_and_no_solution(unpacked):
    """No line with a hidden check's title or value, and no solution, stands in any file of the archive."""
    files = texts(unpacked)
    searched = 0
    notebooks = {name: submissions.source_notebook(name) for name in submissions.EXERCISES}
    # a line that any exercise shows its students is no secret of another one
    shown = "\n".join(REGION.sub("", "".join(cell["source"])) for each in notebooks.values() for cell in each["cells"])
    for name, notebook in notebooks.items():
        for cell in notebook["cells"]:
            for kind, text in REGION.findall("".join(cell["source"])):
                lines = [line.strip() for line in text.splitlines()]
                wanted = ["\n".join(lines).strip()] if kind == "SOLUTION" else lines
                wanted = [line for line in wanted if len(line) >= 20 and line not in shown]
                searched += len(wanted)
                for path, content in files.items():
                    stripped = "\n".join(line.strip() for line in content.splitlines())
                    assert [line for line in wanted if line in stripped] == [], f"{path}, {name}"
    assert searched > 200


def test_what_is_in_it(unpacked):
    """It has what a student needs, and neither solutions nor tests nor anything hidden."""
    files = set(texts(unpacked))
    tops = {path.split("/")[0] for path in files}

    assert {f"exercises/{name}/{name}.ipynb" for name in submissions.EXERCISES} <= files
    assert {
        path.relative_to(submissions.ROOT).as_posix() for path in submissions.ROOT.glob("notebooks/*.ipynb")
    } <= files
    assert {"Makefile", "README.md", "LICENSE", "pyproject.toml", "environment.yml", "nbgrader_config.py"} <= files
    assert {"course_utils/data/chips.json", "course_utils/py.typed", "docs/matmul_sweep.png"} <= files
    assert not tops & {"solutions", "tests", ".git", ".github", ".ci", ".venv", "gradebook.db"}
    assert not [path for path in files if "__pycache__" in path or "/." in path or path.endswith(".pyc")]


def test_links_of_readme_and_lessons_resolve(unpacked):
    """Every relative link of the README and the lessons finds its file inside the archive."""
    links = [
        (path.relative_to(unpacked).as_posix(), target)
        for path in [unpacked / "README.md", *sorted(unpacked.glob("notebooks/*.ipynb"))]
        for content in prose(path)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", content)
        if not re.match(r"[a-z]+:", target)
    ]
    for path, target in found(links):
        assert (unpacked / path).parent.joinpath(target).exists(), f"{path}: {target}"


def test_the_set_up_s_scripts_are_there_and_can_run(unpacked):
    """Every script that the set-up calls is in the archive, and the shell script may be executed."""
    script = unpacked / "scripts/setup_environment.sh"
    named = set(re.findall(r"scripts/\w+\.py", script.read_text(encoding="utf-8")))

    assert named
    assert {name for name in named if not (unpacked / name).is_file()} == set()
    assert script.stat().st_mode & stat.S_IXUSR


def test_make_test_says_that_there_are_no_tests(unpacked):
    """`make test` in the archive is one sentence instead of pytest's complaint."""
    done = subprocess.run(["make", "test", "VENV=venv"], cwd=unpacked, capture_output=True, text=True, check=False)

    assert not (unpacked / "venv").exists()
    assert done.returncode != 0
    assert "has no tests" in done.stderr


def test_check_works_in_it(unpacked):
    """`course check` runs there: the untouched exercise has no task passed, and the package is the archive's own."""
    environment = os.environ | {"PYTHONPATH": str(unpacked)}
    command = [sys.executable, "-m", "course_utils.cli", "check", "04", "--json"]
    done = subprocess.run(command, cwd=unpacked, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 1, done.stderr
    result = json.loads(done.stdout)
    assert [task["passed"] for task in result["tasks"]] == [False] * 4
    assert "not written yet" in result["tasks"][0]["checks"][0]["yours"]


def test_the_same_bytes_twice(archive, tmp_path):
    """Packing again gives the same file to the byte."""
    again = tmp_path / "again.zip"

    assert cli.main(["bundle", "--output", str(again)]) == 0
    assert again.read_bytes() == archive.read_bytes()


@pytest.fixture
def copied_course(tmp_path, monkeypatch):
    """Copy the smallest part of the course that can be packed, and work in it."""
    name = "04_measuring_time"
    shutil.copytree(submissions.ROOT / "solutions" / name, tmp_path / "solutions" / name)
    shutil.copy(submissions.ROOT / "nbgrader_config.py", tmp_path)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        'task.check("a single reading", yours=lambda: find_flaw([0.140], FLOP, PEAK), expected="too few")',
        '    if flop / max(times_s) > peak_flops:\n        return "implausible"\n'
        "    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):\n"
        '        return "first call counted"\n    if len(times_s) < 5:\n        return "too few"\n'
        '    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")\n'
        '    if third - first > median / 4:\n        return "wide spread"\n    return "fine"',
    ],
)
def test_a_secret_in_the_docs_is_refused(copied_course, capsys, text):
    """A hidden test or a solution that somebody pasted into a page keeps the archive from being written."""
    (copied_course / "docs/answers.md").write_text(text, encoding="utf-8")

    assert cli.main(["bundle", "--output", "course.zip"]) == 1
    assert "docs/answers.md would give away" in capsys.readouterr().out
    assert sorted(path.name for path in copied_course.iterdir()) == [
        "docs",
        "nbgrader_config.py",
        "notebooks",
        "solutions",
    ]


def test_what_the_instructor_typed_into_exercises_stays_out(copied_course):
    """The archive's exercises are made from solutions/, so an instructor's own try in exercises/ is not packed."""
    own = copied_course / "exercises/04_measuring_time"
    own.mkdir(parents=True)
    (own / "04_measuring_time.ipynb").write_text("solved by hand", encoding="utf-8")

    assert cli.main(["bundle", "--output", "course.zip"]) == 0
    with zipfile.ZipFile("course.zip") as content:
        packed = content.read(f"{FOLDER}/exercises/04_measuring_time/04_measuring_time.ipynb")
    assert packed == (submissions.ROOT / "exercises/04_measuring_time/04_measuring_time.ipynb").read_bytes()


def test_a_line_of_a_solution_may_stand_in_a_lesson():
    """Single lines of a solution are refused in its own release only."""
    source = submissions.source_notebook("04_measuring_time")
    line = b"if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):"

    sources = {"04_measuring_time": source}
    assert find_secrets({"docs/page.md": line, "exercises/05_other/page.md": line}, sources) == ()
    assert len(find_secrets({"exercises/04_measuring_time/page.md": line}, sources)) == 1


def test_a_broken_off_write_leaves_nothing(tmp_path):
    """When packing fails in the middle, no half archive stays behind, and an older one is kept."""
    (tmp_path / "a.zip").write_text("older")
    with pytest.raises(TypeError):
        write_archive({"a": b"1", "b": None}, tmp_path / "a.zip")

    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]
    assert (tmp_path / "a.zip").read_text() == "older"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(["--output", "course.tar"], "has to end in .zip"), (["--output", "nowhere/course.zip"], "there is no folder")],
)
def test_wrong_usage(copied_course, capsys, arguments, word):
    """A bad output is one sentence and exit code 2."""
    assert cli.main(["bundle", *arguments]) == 2
    assert word in capsys.readouterr().err


def test_without_sources(copied_course, capsys):
    """A student's copy cannot be packed again."""
    shutil.rmtree(copied_course / "solutions")

    assert cli.main(["bundle", "--output", "course.zip"]) == 2
    assert "no solutions/" in capsys.readouterr().err
