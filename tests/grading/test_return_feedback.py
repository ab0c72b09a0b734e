"""The feedback of a class in one zip: a page for each student, where the learning platform takes it, nothing hidden."""

import zipfile

from support.graded_results import HIDDEN_EXPECTED, HIDDEN_YOURS, HOSTILE_STUDENTS, NAME, not_graded, partly, solved

from course_utils.grading.pages.return_feedback import return_feedback


def pages(path):
    """Read the zip: content by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_everybody_has_a_page_and_nothing_hidden_is_in_it(tmp_path):
    """Each student has a page below the own id; a failed hidden check's values are in none."""
    returned = return_feedback([solved("ada"), partly("grace")], tmp_path / "f.zip")

    found = pages(returned.path)
    assert set(found) == {f"ada/{NAME}.html", f"grace/{NAME}.html"}
    assert "18 of 18 points" in found[f"ada/{NAME}.html"]
    assert "expected" in found[f"grace/{NAME}.html"]
    assert not any(HIDDEN_EXPECTED in page or HIDDEN_YOURS in page for page in found.values())
    assert returned.warnings == ()


def test_pages_lie_where_the_platform_takes_them(tmp_path):
    """A student with a folder of the platform's has the page in it, one without has it below the id."""
    folder = "Ada Lovelace_1000_assignsubmission_file_"
    handed_in = {"Ada Lovelace": folder, "grace": ""}
    returned = return_feedback([solved("Ada Lovelace"), partly("grace")], tmp_path / "f.zip", handed_in=handed_in)

    assert set(pages(returned.path)) == {f"{folder}/{NAME}.html", f"grace/{NAME}.html"}


def test_who_has_no_grade_or_no_result_is_named(tmp_path):
    """A submission without a grade has a page that says so; one that was not graded yet has none, and both are said."""
    handed_in = {"alan": "", "ada": "", "late": ""}
    returned = return_feedback([not_graded("alan"), solved("ada")], tmp_path / "f.zip", handed_in=handed_in)

    assert set(pages(returned.path)) == {f"alan/{NAME}.html", f"ada/{NAME}.html"}
    assert (returned.ungraded, returned.missing) == (("alan",), ("late",))
    assert "alan" in str(returned)
    assert "run `course grade` first" in str(returned)
    assert "late" in returned._repr_html_()


def test_who_did_not_hand_in_this_time_has_no_page(tmp_path):
    """A result that stands from an earlier run is not returned to whom this zip does not have."""
    returned = return_feedback([solved("ada"), solved("left")], tmp_path / "f.zip", handed_in={"ada": ""})

    assert set(pages(returned.path)) == {f"ada/{NAME}.html"}


def test_no_name_leads_out_of_the_zip(tmp_path):
    """Whatever a student is called, each page has a folder of its own, and none leads elsewhere."""
    students = [name for name in HOSTILE_STUDENTS if not any(0xD800 <= ord(letter) < 0xE000 for letter in name)]
    returned = return_feedback([solved(name) for name in students], tmp_path / "f.zip")

    names = list(pages(returned.path))
    assert len(set(names)) == len(students)
    assert all(name.count("/") == 1 and name.split("/")[0] not in ("", ".", "..") for name in names)
