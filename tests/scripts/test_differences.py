"""What a Mac did otherwise than the rehearsal is read from pytest's XML and the grader's JSON."""

import json

import pytest

from scripts.differences import MOST_LINES, Cases, cases, grading

CASE = '<testcase classname="tests.a" name="{name}" time="0.1">{inside}</testcase>'


def run(*inside):
    """Write JUnit XML with one case for each of the given contents."""
    rows = [CASE.format(name=f"test_{number}", inside=text) for number, text in enumerate(inside)]
    return f'<?xml version="1.0"?><testsuites><testsuite name="pytest">{"".join(rows)}</testsuite></testsuites>'


def test_failures_and_errors_differ_and_skips_do_not():
    """A case differs when it failed, or when its set-up did."""
    found = Cases.read(run("", '<failure message="x">E</failure>', '<skipped message="no MPS"/>', "<error/>", ""))

    assert (found.passed, found.skipped) == (2, 1)
    assert found.failed == ("tests.a: test_1", "tests.a: test_3")


def test_a_real_run_of_pytest_is_read(tmp_path, pytester_free_run):
    """What this pytest writes has the form that is read."""
    found = Cases.read(pytester_free_run(tmp_path))

    assert (found.passed, found.skipped, len(found.failed)) == (1, 1, 2)


@pytest.fixture
def pytester_free_run():
    """Return a function that runs four cases in this process, and gives their XML."""

    def made(folder):
        source = (
            "import pytest\n\n\ndef test_a():\n    pass\n\n\ndef test_b():\n    assert 0\n\n\n"
            "def test_c():\n    pytest.skip('x')\n\n\ndef test_d(nothing_like_it):\n    pass\n"
        )
        (folder / "test_four_cases.py").write_text(source, encoding="utf-8")
        words = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={folder}"]
        pytest.main([*words, f"--junitxml={folder}/x.xml", str(folder / "test_four_cases.py")])
        return (folder / "x.xml").read_text(encoding="utf-8")

    return made


@pytest.mark.parametrize("text", ["", "<testsuites>", "not XML", "<a/>"])
def test_a_broken_file_is_said_to_be_broken(tmp_path, text):
    """A run that was killed leaves a broken file, which is no run without differences."""
    path = tmp_path / "tests.xml"
    path.write_text(text, encoding="utf-8")

    (line,) = cases("tests", path)
    assert "cannot be read" in line
    assert cases("tests", tmp_path / "absent.xml") == []


def test_a_long_list_is_cut(tmp_path):
    """More cases than fit on a page are counted."""
    path = tmp_path / "lessons.xml"
    path.write_text(run(*["<failure/>"] * (MOST_LINES + 7)), encoding="utf-8")

    lines = cases("lessons", path)
    assert lines[0].endswith(f"{MOST_LINES + 7} differed")
    assert len(lines) == MOST_LINES + 2
    assert "7 more" in lines[-1]


def test_solutions_that_lost_points(tmp_path):
    """Each is named with its exit code."""
    path = tmp_path / "grading.json"
    rows = [{"exercise": "01_a", "exit_code": 0, "said": ""}, {"exercise": "02_b", "exit_code": 1, "said": "x"}]
    path.write_text(json.dumps(rows), encoding="utf-8")

    assert grading(path) == ["- grading: 1 with full points, 1 differed", "  - 02_b: exit code 1"]
    path.write_text("{", encoding="utf-8")
    assert "cannot be read" in grading(path)[0]
    assert grading(tmp_path / "absent.json") == []
