"""The file for Canvas keeps Canvas's own rows, has no formula in it, and no 0 for an unknown grade."""

import csv
import io

import pytest
from support.graded_results import HOSTILE_STUDENTS, NAME, not_graded, partly, solved

from course_utils.grading.books.canvas import CanvasError, canvas_grades, neutral

EXPORT = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77),04_measuring_time (4711),Current Score\r\n"
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,10.00,18.00,(read only)\r\n"
    '"Lovelace, Ada",1001,S1,ada,"Group A, Group B",9.50,3.00,71.2\r\n'
    '"Hopper, Grace",1002,S2,Grace@example.org,Group A,EX,,\r\n'
    '"Turing, Alan",1003,S3,alan,Group A,8.00,12.00,\r\n'
    '"Noether, Emmy",1004,S4,emmy,Group B,7.00,11.00,\r\n'
    '"Student, Test",1999,,f00,Group A,,,\r\n'
)


def rows(text, delimiter=","):
    """Read a CSV file."""
    return list(csv.reader(io.StringIO(text), delimiter=delimiter))


def column(text, head):
    """Return the fields below a head, by the SIS login of the row."""
    first, *others = rows(text)
    return {row[first.index("SIS Login ID")]: row[first.index(head)] for row in others}


def test_export_is_filled_in():
    """Points stand in the exercise's column; students are found by login, SIS id or Canvas's id, whatever capitals."""
    written = canvas_grades([solved("S1"), partly("grace@example.org"), solved("1004")], export=EXPORT)

    assert written.column == f"{NAME} (4711)"
    points = column(written.text, written.column)
    assert (points["ada"], points["Grace@example.org"], points["emmy"]) == ("18", "10", "18")
    assert written.filled == 3
    assert written.warnings == ()


def test_names_of_canvas_s_own_download_are_found():
    """Who was collected from Canvas's zip is found by name and number together, and by no number alone."""
    written = canvas_grades([solved("lovelaceada_1001"), partly("somebody_1002")], export=EXPORT)

    points = column(written.text, written.column)
    assert points["ada"] == "18"
    assert written.filled == 1
    assert "somebody_1002" in written.warnings[0]


@pytest.mark.parametrize("head", ["Student", "LastName,FirstName"])
def test_names_of_moodle_are_found_and_listed(head):
    """Who came from Moodle's zip is found by a name that one row has, and listed; one row is never two people's."""
    names = '"Lovelace, Ada"' if head == "Student" else "Lovelace,Ada"
    export = f"{head},ID,SIS User ID,SIS Login ID,Section\n{names},1001,,ada,A\n"
    written = canvas_grades([solved("Ada Lovelace"), solved("Grace Hopper")], export=export)
    both = canvas_grades([solved("Ada Lovelace"), partly("ada")], export=export)

    assert column(written.text, NAME)["ada"] == "18"
    assert [warning.split(": ")[-1] for warning in written.warnings] == ["Grace Hopper", "Ada Lovelace"]
    assert column(both.text, NAME)["ada"] == "10"
    assert "Ada Lovelace" in both.warnings[0]


@pytest.mark.parametrize("export", [None, "Student,ID,SIS User ID,SIS Login ID,Section\nX,1001,,login,A\n"])
def test_canvas_s_number_finds_who_has_a_shortened_id(export):
    """Who came with Canvas's own zip is found by Canvas's number, whatever became of a long name."""
    student = "x" * 100 + "_51a7b81c"
    written = canvas_grades([solved(student)], export=export, canvas_ids={student: "1001"})

    assert (written.filled, written.warnings) == (1, ())


def test_everything_else_of_the_export_is_kept():
    """Head, other columns, other rows and other students' points are as they were."""
    before, after = rows(EXPORT), rows(canvas_grades([solved("ada")], export=EXPORT).text)

    before[3][6] = "18"
    before[2][6] = "18"
    assert after == before


def test_ungraded_is_empty_never_zero():
    """A submission without a grade gets an empty field, also where Canvas has an older grade."""
    written = canvas_grades([not_graded("alan"), solved("ada")], export=EXPORT)

    assert column(written.text, written.column)["alan"] == ""
    assert written.filled == 1
    assert any("without a grade" in warning and "alan" in warning for warning in written.warnings)


def test_zero_is_written():
    """Who was graded and earned nothing has 0."""
    nothing = solved("ada")
    tasks = tuple(type(task)(task.grade_id, task.name, 0.0, task.max_points, task.reason) for task in nothing.tasks)

    written = canvas_grades([type(nothing)(NAME, "ada", tasks, nothing.reason)], export=EXPORT)

    assert column(written.text, written.column)["ada"] == "0"


def test_excused_stays_excused():
    """A student that Canvas has as excused is not graded over."""
    export = EXPORT.replace("8.00,12.00", "8.00,EX")

    written = canvas_grades([solved("alan")], export=export)

    assert column(written.text, written.column)["alan"] == "EX"
    assert any("excused" in warning and "alan" in warning for warning in written.warnings)


def test_unknown_students_are_listed():
    """Who is not in the export is named in a warning, and gets no row."""
    written = canvas_grades([solved("ada"), solved("stranger"), solved("other")], export=EXPORT)

    assert len(rows(written.text)) == len(rows(EXPORT))
    assert any("other, stranger" in warning for warning in written.warnings)


def test_student_in_two_rows_is_left_alone():
    """Where an id fits two rows, neither gets points."""
    export = EXPORT + '"Lovelace, A.",1005,S9,ada,Group B,,,\r\n'

    written = canvas_grades([solved("ada")], export=export)

    assert "18" not in {row[6] for row in rows(written.text)[3:]}
    assert any("several rows" in warning for warning in written.warnings)


def test_column_is_added_where_there_is_none():
    """An exercise that Canvas does not know yet gets a column at the end, with its points possible."""
    export = EXPORT.replace("04_measuring_time (4711)", "Another (12)")

    written = canvas_grades([solved("ada")], export=export)

    head, _, possible, ada, *_ = rows(written.text)
    assert (head[-1], possible[-1], ada[-1]) == (NAME, "18", "18")


def test_column_by_number():
    """With the assignment's number its column is found, whatever it is called."""
    export = EXPORT.replace("04_measuring_time (4711)", "Week 4: time (4711)")

    written = canvas_grades([solved("ada")], assignment_id=4711, export=export)

    assert column(written.text, "Week 4: time (4711)")["ada"] == "18"


def test_other_points_possible_are_a_warning():
    """Where Canvas gives another maximum, it is kept and said."""
    written = canvas_grades([solved("ada")], export=EXPORT.replace("18.00,(read", "20.00,(read"))

    assert rows(written.text)[2][6] == "20.00"
    assert any("20.00 points possible" in warning for warning in written.warnings)


def test_without_an_export():
    """Without an export the ids are logins, and the form is Canvas's."""
    written = canvas_grades([solved("ada"), not_graded("alan")], assignment_id=4711)

    assert rows(written.text) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{NAME} (4711)"],
        ["    Points Possible", "", "", "", "", "18"],
        ["ada", "", "", "ada", "", "18"],
        ["alan", "", "", "alan", "", ""],
    ]


def test_semicolons_and_byte_order_mark():
    """An export of a locale with semicolons, with a mark at its start, is read, and written with semicolons."""
    export = "\ufeff" + "\r\n".join(
        (
            "LastName;FirstName;ID;SIS User ID;SIS Login ID;Section;04_measuring_time (4711)",
            "    Points Possible;;;;;;18,00",
            "Lovelace;Ada;1001;S1;ada;A;3,50",
        )
    )

    written = canvas_grades([partly("ada")], export=export)

    assert rows(written.text, ";")[2] == ["Lovelace", "Ada", "1001", "S1", "ada", "A", "10"]
    assert written.warnings == ()


@pytest.mark.parametrize("student", HOSTILE_STUDENTS)
def test_hostile_ids_are_one_field_and_no_formula(student):
    """Whatever a student is called, the row has its fields, and no field begins a formula."""
    written = canvas_grades([solved(student)])
    written.text.encode("utf-8")

    table = rows(written.text)
    assert [len(row) for row in table] == [6, 6, 6]
    assert table[2][5] == ("18" if student else "")
    for cell in table[2]:
        assert cell.lstrip()[:1] not in ("=", "+", "-", "@")
        assert "\0" not in cell


@pytest.mark.parametrize("cell", ["=1+1", "+1+1", "-2+3", "@SUM(A1)", " =1+1", '=HYPERLINK("x")', "-"])
def test_formulas_are_neutralised(cell):
    """Text that a spreadsheet would compute gets an apostrophe in front."""
    assert neutral(cell).startswith("'")


@pytest.mark.parametrize(
    "cell", ["-5", "+4.5", "-1,5", "87.5%", "Ada", "", "O'Brien", "    Points Possible", "(read only)"]
)
def test_numbers_and_names_are_left_alone(cell):
    """A negative number is no formula, and a name is a name."""
    assert neutral(cell) == cell


@pytest.mark.parametrize("text", ["", "name,points\nada,3\n", "Student,Points\nada,3\n", "Student,ID\nada,1,2\n"])
def test_what_is_no_export_is_refused(text):
    """A file of another form is named, with where to get the right one."""
    with pytest.raises(CanvasError, match="xport"):
        canvas_grades([solved("ada")], export=text)


def test_two_columns_of_one_name_need_the_number():
    """Where the exercise's name fits two columns, none is guessed."""
    export = EXPORT.replace("Homework 1 (77)", "04_measuring_time (77)")

    with pytest.raises(CanvasError, match="give the assignment's number"):
        canvas_grades([solved("ada")], export=export)


def test_results_of_two_exercises_are_refused():
    """One column is of one exercise."""
    other = type(solved())("05_other", "ada", (), solved().reason)

    with pytest.raises(ValueError, match="04_measuring_time, 05_other"):
        canvas_grades([solved("ada"), other])
