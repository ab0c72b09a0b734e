"""Setting up: the right Python is found, a wrong one is named in a sentence, and a second call does nothing."""

import os
import re
import shutil
import subprocess

import pytest
from support.paths import ROOT

from scripts.check_python import verdict
from scripts.list_requirements import main as list_requirements


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13), (3, 14)])
@pytest.mark.parametrize(
    "machine", [("Darwin", "arm64", True), ("Linux", "x86_64", False), ("Linux", "aarch64", False)]
)
def test_pythons_that_suit(version, machine):
    """Every Python of the range suits on an Apple chip and on Linux."""
    system, architecture, apple_chip = machine

    assert verdict(version, system, architecture, apple_chip, True) is None


@pytest.mark.parametrize(
    ("version", "system", "machine", "apple_chip", "has_venv", "word"),
    [
        ((3, 10), "Linux", "x86_64", False, True, "Python 3.10 is not in the course's range"),
        ((3, 15), "Darwin", "arm64", True, True, "install Python 3.11, 3.12, 3.13 or 3.14"),
        ((2, 7), "Darwin", "arm64", True, True, "Python 2.7"),
        ((3, 12), "Darwin", "x86_64", True, True, "Intel build on an Apple chip"),
        ((3, 9), "Darwin", "x86_64", True, True, "Intel build on an Apple chip"),
        ((3, 12), "Darwin", "x86_64", False, True, "Intel Mac"),
        ((3, 12), "Linux", "x86_64", False, False, "python3-venv"),
    ],
)
def test_pythons_that_do_not(version, system, machine, apple_chip, has_venv, word):
    """An unsuitable Python is named with what to install; Rosetta comes before the version."""
    assert word in verdict(version, system, machine, apple_chip, has_venv)


def fake_python(folder, name, answer, code):
    """Put a program called like a Python on the path: it prints an answer and exits."""
    program = folder / name
    program.write_text(f"#!/bin/sh\necho '{answer}'\nexit {code}\n")
    program.chmod(0o755)


def planned(*words):
    """Return what make would run; the options of a make that runs these tests do not reach it."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    options = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", *re.findall(r"^(\w+) \?=", makefile, re.MULTILINE)}
    environment = {key: value for key, value in os.environ.items() if key not in options}
    command = ["make", "--no-print-directory", "-n", *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def tools(tmp_path):
    """Make a PATH that holds the shell's tools and no Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("sh", "dirname", "touch", "make", "rm"):
        (folder / tool).symlink_to(shutil.which(tool))
    return folder


def set_up(tools, tmp_path, *arguments):
    script = ROOT / "scripts/setup_environment.sh"
    return subprocess.run(
        ["sh", str(script), "lab", str(tmp_path / "venv"), *arguments],
        env={"PATH": str(tools), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_python_at_all(tools, tmp_path):
    """Without any Python, one sentence says what to install, and nothing is left behind."""
    done = set_up(tools, tmp_path)

    assert done.returncode == 1
    assert done.stderr == (
        "No suitable Python found: install Python 3.11, 3.12, 3.13 or 3.14 and put it on the PATH.\n"
    )
    assert not (tmp_path / "venv").exists()


def test_intel_python_is_the_reason_to_know(tools, tmp_path):
    """Among several unsuitable Pythons, the Intel build on an Apple chip is the one that is named."""
    fake_python(tools, "python3", "Python 3.9 is not in the course range.", 1)
    fake_python(tools, "python3.12", "Python 3.12 is an Intel build on an Apple chip.", 1)
    done = set_up(tools, tmp_path)

    assert done.stderr == "No suitable Python found: Python 3.12 is an Intel build on an Apple chip.\n"


def test_broken_shims_are_passed_over(tools, tmp_path):
    """A program called python3 that only fails is no reason; the next candidate is tried."""
    fake_python(tools, "python3", "", 127)
    fake_python(tools, "python3.13", "Python 3.13 lacks venv or ensurepip.", 1)

    assert "Python 3.13 lacks venv" in set_up(tools, tmp_path).stderr


def test_asked_for_python_must_suit(tools, tmp_path):
    """PYTHON=... that does not suit is named, and no other is taken in its place."""
    fake_python(tools, "python3.9", "Python 3.9 is not in the course range.", 1)
    done = set_up(tools, tmp_path, "python3.9")

    assert done.returncode == 1
    assert done.stderr == "PYTHON=python3.9 does not suit: Python 3.9 is not in the course range.\n"


def test_asked_for_shim_says_why_it_starts_nothing(tools, tmp_path):
    """Where PYTHON=... is a version manager's program without a Python behind it, what that says is passed on."""
    fake_python(tools, "python3.12", "", 127)
    (tools / "python3.12").write_text(
        "#!/bin/sh\nprintf 'shim: python3.12 is in 3.12.1\\nchoose it\\n' >&2\nexit 127\n"
    )
    done = set_up(tools, tmp_path, "python3.12")

    assert done.stderr == "PYTHON=python3.12 does not suit: shim: python3.12 is in 3.12.1\n"


def test_asked_for_python_that_is_not_there(tools, tmp_path):
    """Where PYTHON=... names no program, another that would suit is not taken in its place."""
    fake_python(tools, "python3", "", 0)
    done = set_up(tools, tmp_path, "no such/python3.12")

    assert done.returncode == 1
    assert done.stderr == "PYTHON=no such/python3.12 does not suit: there is no such program.\n"


def made_environment(folder, purpose, place=None, course=ROOT):
    """Make a folder that looks like an environment made for a purpose after the last change of pyproject.toml.

    Args:
        folder: where it lies.
        purpose: such as "lab".
        place: where it was made; by default where it lies.
        course: the course that it was made for.
    """
    folder.mkdir()
    (folder / f".course-{purpose}").write_text(f"{place or folder.resolve()}\n{course.resolve()}\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("made", "wanted", "done"),
    [
        ("lab", "lab", True),
        ("test", "lab", True),
        ("test", "site", True),
        ("site", "lab", True),
        ("lab", "test", False),
        ("site", "instructor", False),
    ],
)
def test_what_is_there_is_not_installed_again(tools, tmp_path, made, wanted, done):
    """An environment made for more serves as well; one made for less is completed."""
    venv = made_environment(tmp_path / "an environment", made)
    script = ROOT / "scripts/setup_environment.sh"
    command = ["sh", str(script), wanted, str(venv)]
    found = subprocess.run(
        command, env={"PATH": str(tools), "HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )

    # without a Python on the PATH, installing ends in a sentence
    assert (found.returncode == 0) is done
    assert ("No suitable Python found" in found.stderr) is not done


def test_a_changed_project_is_installed_again(tools, tmp_path):
    """An environment that is older than pyproject.toml is completed."""
    venv = made_environment(tmp_path / "venv", "test")
    os.utime(venv / ".course-test", (0, 0))

    assert "No suitable Python found" in set_up(tools, tmp_path).stderr


def test_an_environment_that_was_moved_is_made_again(tools, tmp_path):
    """Its programs call a Python that is not there any more: `make lab` says so, and does not end in "not found"."""
    made_environment(tmp_path / "venv", "lab", place="/the/folder/before")
    done = set_up(tools, tmp_path)

    assert "venv was made in /the/folder/before" in done.stdout
    assert "No suitable Python found" in done.stderr


def test_an_environment_of_another_copy_is_completed(tools, tmp_path):
    """An environment that holds another copy of the course does not serve for this one, and is not made again."""
    made_environment(tmp_path / "venv", "lab", course=tmp_path)
    done = set_up(tools, tmp_path)

    assert "No suitable Python found" in done.stderr
    assert "was made in" not in done.stdout


def test_a_stamp_that_says_nothing_counts(tools, tmp_path):
    """What earlier releases of the course wrote, an empty file, does not set everything up again."""
    venv = made_environment(tmp_path / "venv", "lab")
    (venv / ".course-lab").write_text("", encoding="utf-8")

    assert set_up(tools, tmp_path).returncode == 0


def test_an_unknown_purpose_is_refused(tools, tmp_path):
    """A purpose that the script does not know is exit code 2 with what there is."""
    script = ROOT / "scripts/setup_environment.sh"
    done = subprocess.run(["sh", str(script), "play", "x"], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "lab, instructor, site and test" in done.stderr


def test_cpu_index_is_asked_for_torch_alone():
    """TORCH_INDEX reaches the script, and the bounds it installs are pyproject.toml's."""
    assert 'setup_environment.sh test "none" "" "some-index"' in planned("VENV=none", "TORCH_INDEX=some-index", "test")


def test_options_of_an_outer_make_stay_outside(monkeypatch):
    """`make test PYTHON=...` hands PYTHON to what it runs; the make inside these tests does not take it."""
    monkeypatch.setenv("PYTHON", "python3.99")
    monkeypatch.setenv("MAKEFLAGS", " -- PYTHON=python3.99")

    assert 'setup_environment.sh test "none" "" ""' in planned("VENV=none", "test")


def test_requirements_by_name(capsys):
    """A requirement is printed with its bounds; an unlisted package is exit code 2."""
    assert list_requirements(["torch", "torchvision"]) == 0
    torch, on_macos_14, torchvision = capsys.readouterr().out.splitlines()
    assert torch == "torch>=2.9,<2.16"
    assert on_macos_14.startswith("torch<2.15; ")
    assert torchvision.startswith("torchvision>=0.24")
    assert list_requirements(["tensorflow"]) == 2
    assert "lists no tensorflow" in capsys.readouterr().err
