"""Submissions are found in the layouts that nbgrader, Moodle and Canvas give, and nothing leads out of them."""

import io
import os
import stat
import zipfile
from datetime import datetime

import pytest
from support import two_tasks
from support.two_tasks import NAME, SOLVED, submitted_bytes

from course_utils.grading.reading import handed_in
from course_utils.grading.reading.collect import CollectError, collect, read_all
from course_utils.grading.reading.handed_in import CannotReadError
from course_utils.grading.reading.owners import Owner, feedback_folder, make_ids, safe_id
from course_utils.grading.result import Reason
from course_utils.sandbox.limits import Limits

ASSIGNMENT = two_tasks.assignment()
SMALL = Limits(submission_bytes=100_000)
WORK = submitted_bytes(SOLVED)
OTHER = submitted_bytes()
NB = f"{NAME}.ipynb"


def pack(files):
    """Make a zip of names and contents; a name that ends in / is a folder."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def lay_out(root, files):
    """Write files below a folder; None is an empty folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        else:
            path.write_bytes(content)
    return root


def found(path, limits=SMALL):
    """Collect and return the rows by student."""
    rows = collect(path, ASSIGNMENT, limits)
    assert len({row.student for row in rows}) == len(rows)
    assert [row.student for row in rows] == sorted(row.student for row in rows)
    return {row.student: row for row in rows}


LAYOUTS = {
    "nbgrader's tree": {f"ada/{NAME}/{NB}": WORK, f"bob/{NAME}/{NB}": WORK, "bob/02_more/02_more.ipynb": OTHER},
    "below submitted": {f"submitted/ada/{NAME}/{NB}": WORK, f"submitted/bob/{NAME}/{NB}": WORK},
    "a folder of notebooks": {"ada.ipynb": WORK, f"bob_{NAME}.ipynb": WORK, "README.txt": b"", "grades.csv": b""},
    "a folder of folders": {f"ada/{NB}": WORK, f"bob/deep/er/{NB}": WORK, "bob/notes.txt": b"x"},
    "folders in a folder": {f"homework/ada/{NB}": WORK, f"homework/bob/{NB}": WORK},
    "named after the exercise": {f"{NAME}/ada.ipynb": WORK, f"{NAME}/bob.ipynb": WORK},
    "Moodle's folders": {f"ada_11_assignsubmission_file_/{NB}": WORK, f"bob_12_assignsubmission_file_/{NB}": WORK},
    "Moodle's files": {f"ada_11_assignsubmission_file_{NB}": WORK, f"bob_12_assignsubmission_file_{NB}": WORK},
    "a zip for each": {"ada.zip": pack({f"hw/{NB}": WORK, "hw/data.csv": b"1"}), f"bob/{NAME}.zip": pack({NB: WORK})},
}


@pytest.mark.parametrize("as_zip", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(tmp_path, layout, as_zip):
    """Each layout, as a folder and as a zip, gives the same two students and their notebooks."""
    if as_zip:
        path = tmp_path / "class.zip"
        path.write_bytes(pack(LAYOUTS[layout]))
    else:
        path = lay_out(tmp_path / "class", LAYOUTS[layout])
    rows = found(path)

    assert list(rows) == ["ada", "bob"]
    for row in rows.values():
        assert row.file.read(SMALL.submission_bytes) == WORK
        assert (row.filename, row.problem, row.notes) == (NB, "", ())


def test_a_macs_zip(tmp_path):
    """A Mac's zip has the folder's name in front and __MACOSX beside it."""
    path = tmp_path / "class.zip"
    path.write_bytes(pack({"class/ada.ipynb": WORK, "class/bob.ipynb": WORK, "__MACOSX/class/._ada.ipynb": b"x"}))

    assert list(found(path)) == ["ada", "bob"]


def test_canvas(tmp_path):
    """Canvas: the user's number is part of the id, late is noted, -1 counts handing in again and is no new name."""
    files = {
        f"lovelaceada_101_9001_{NAME}-1.ipynb": OTHER,
        f"lovelaceada_101_9002_{NAME}-2.ipynb": WORK,
        f"smithbob_LATE_102_9003_{NB}": WORK,
        "doecy_103_9004_report.pdf": b"%PDF",
        "roedi_104_9005_hw.zip": pack({NB: WORK}),
    }
    rows = found(lay_out(tmp_path, files))

    assert list(rows) == ["doecy_103", "lovelaceada_101", "roedi_104", "smithbob_102"]
    assert rows["lovelaceada_101"].file.read(10**6) == WORK
    assert rows["lovelaceada_101"].filename == NB
    assert f"{NAME}-2.ipynb counts" in rows["lovelaceada_101"].notes[0]
    assert rows["smithbob_102"].notes == ("the learning platform marks it as late",)
    assert rows["roedi_104"].file.read(10**6) == WORK
    assert rows["doecy_103"].problem == "no notebook was handed in, only report.pdf; hand in the .ipynb file"


def test_nothing_handed_in(tmp_path):
    """A folder without a notebook is one row, missing; in nbgrader's tree so is a student with other exercises only."""
    files = {"ada/empty": None, "bob/notes.txt": b"x", "cy/02_more/02_more.ipynb": OTHER, f"di/{NAME}/{NB}": WORK}
    rows = found(lay_out(tmp_path, files))

    assert {name: row.reason for name, row in rows.items()} == {
        "ada": Reason.MISSING,
        "bob": Reason.MISSING,
        "cy": Reason.MISSING,
        "di": None,
    }
    assert rows["ada"].problem == "nothing was handed in"


def test_empty_folders_of_a_zip(tmp_path):
    """A zip's empty folder is a student who handed in nothing."""
    path = tmp_path / "class.zip"
    path.write_bytes(pack({"ada_1_assignsubmission_file_/": b"", f"bob_2_assignsubmission_file_/{NB}": WORK}))

    assert {name: row.reason for name, row in found(path).items()} == {"ada": Reason.MISSING, "bob": None}


def test_several_notebooks(tmp_path):
    """Of several notebooks the one with the exercise's name counts, else the one with its cells, else the newest."""
    nothing = b'{"cells": []}'
    files = {
        f"by_name/{NB}": WORK,
        "by_name/z.ipynb": OTHER,
        "by_cells/a.ipynb": nothing,
        "by_cells/b.ipynb": WORK,
        "by_age/a.ipynb": WORK,
        "by_age/b.ipynb": OTHER,
        "no_cells/a.ipynb": b"broken",
        "no_cells/b.ipynb": nothing,
    }
    lay_out(tmp_path, files)
    os.utime(tmp_path / "by_age/a.ipynb", (2e9, 2e9))
    rows = found(tmp_path)

    assert {name: row.filename for name, row in rows.items() if name != "no_cells"} == {
        "by_name": NB,
        "by_cells": "b.ipynb",
        "by_age": "a.ipynb",
    }
    assert rows["by_name"].notes == (f"2 notebooks were handed in; {NB} counts, which has the exercise's name",)
    assert "is the only one in which something was written" in rows["by_cells"].notes[0]
    assert "is the only one in which something was written" in rows["by_age"].notes[0]
    assert rows["no_cells"].notes[0].endswith("which is the newest")


HALF = submitted_bytes({"double": "def double(x):\n    return 0"})


@pytest.mark.parametrize(
    ("files", "counts", "reason"),
    [
        ({NB: OTHER, f"{NAME}-Copy1.ipynb": WORK}, f"{NAME}-Copy1.ipynb", Reason.DUPLICATE),
        ({NB: WORK, f"{NAME}-Copy1.ipynb": OTHER}, NB, None),
        ({NB: b"{broken", f"{NAME} (1).ipynb": WORK}, f"{NAME} (1).ipynb", Reason.DUPLICATE),
        ({NB: WORK, f"{NAME}-backup.ipynb": HALF}, NB, Reason.DUPLICATE),
        ({"a.ipynb": HALF, "b.ipynb": WORK}, "b.ipynb", Reason.DUPLICATE),
        ({"deep/a.ipynb": WORK, "b.ipynb": b'{"cells": []}'}, "a.ipynb", Reason.RENAMED),
    ],
)
@pytest.mark.parametrize("as_zip", [False, True])
def test_an_untouched_copy_never_beats_a_written_one(tmp_path, files, counts, reason, as_zip):
    """Of a student's notebooks one that was worked on counts; that another could have been meant is a reason."""
    content = {f"ada/{name}": data for name, data in files.items()} | {f"bob/{NB}": WORK}
    path = tmp_path / "class.zip"
    if as_zip:
        path.write_bytes(pack(content))
    else:
        path = lay_out(tmp_path / "class", content)
    rows = found(path)
    ada = read_all([rows["ada"]], ASSIGNMENT, SMALL)[0]

    assert rows["ada"].filename == counts
    assert ada.code == SOLVED
    assert ada.reason is reason


def test_a_later_submission_beats_an_earlier_one(tmp_path):
    """What was handed in again counts, also where less was written in it, unless it is untouched."""
    files = {
        f"lovelaceada_101_9001_{NAME}-1.ipynb": WORK,
        f"lovelaceada_101_9002_{NAME}-2.ipynb": HALF,
        f"roedi_104_9003_{NAME}-1.ipynb": WORK,
        f"roedi_104_9004_{NAME}-2.ipynb": OTHER,
    }
    rows = found(lay_out(tmp_path, files))

    assert rows["lovelaceada_101"].file.read(10**6) == HALF
    assert rows["roedi_104"].file.read(10**6) == WORK


def test_a_student_with_hidden_files_only_has_a_row(tmp_path):
    """Checkpoints, `.ipynb`, `._x.ipynb` and iCloud's placeholder alone are a row "missing" that names them."""
    only = {
        "checkpoints": ".ipynb_checkpoints/x.ipynb",
        "no name": ".ipynb",
        "a Mac's": "._x.ipynb",
        "cloud": ".x.ipynb.icloud",
        "deep": f"hw/.ipynb_checkpoints/{NB}",
        "cache": "__MACOSX/._x.ipynb",
    }
    files = {f"{name}_{n}_assignsubmission_file_/{file}": WORK for n, (name, file) in enumerate(only.items(), start=1)}
    files |= {f"real_99_assignsubmission_file_/{NB}": WORK, "__MACOSX/real/._x.ipynb": b"", ".DS_Store": b""}
    path = tmp_path / "class.zip"
    path.write_bytes(pack(files))
    rows = found(path)

    assert set(rows) == {*only, "real"}
    assert {name: row.reason for name, row in rows.items()} == dict.fromkeys(only, Reason.MISSING) | {"real": None}
    assert ".x.ipynb.icloud" in rows["cloud"].problem
    assert "iCloud has to download" in rows["cloud"].problem
    assert all("hidden files" in rows[name].problem for name in only)


@pytest.mark.parametrize("kept", [0.2, 0.6, 0.99])
def test_a_truncated_class_zip_is_an_error(tmp_path, kept):
    """A class's zip that was cut off is an error about the zip, and no student of its name."""
    whole = pack({f"ada_1_assignsubmission_file_/{NB}": WORK, f"bob_2_assignsubmission_file_/{NB}": OTHER * 20})
    path = tmp_path / "hand-ins.zip"
    path.write_bytes(whole[: int(len(whole) * kept)])

    with pytest.raises(CollectError, match=r"hand-ins.zip is not a whole zip.*download it again"):
        collect(path, ASSIGNMENT, SMALL)


def test_the_school_s_own_time_is_read(tmp_path):
    """A platform's zip has the time of handing in, also where a student packed the notebook; a folder has none."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr(zipfile.ZipInfo(NB, (2001, 1, 1, 1, 1, 2)), WORK)
    path = tmp_path / "class.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (("ada_1_assignsubmission_file_/" + NB, WORK), ("bob_2_assignsubmission_file_/w.zip", inner)):
            content = data if isinstance(data, bytes) else data.getvalue()
            archive.writestr(zipfile.ZipInfo(name, (2026, 3, 1, 12, 30, 2)), content)
    rows = found(path)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "class")

    assert {row.submitted_s for row in rows.values()} == {datetime(2026, 3, 1, 12, 30, 2).timestamp()}
    assert {row.submitted_s for row in found(tmp_path / "class").values()} == {0.0}


def test_ignored_files(tmp_path):
    """Checkpoints, hidden files and folders are nobody's work; a notebook saved as .txt is."""
    files = {
        f"ada/.ipynb_checkpoints/{NAME}-checkpoint.ipynb": OTHER,
        "ada/._x.ipynb": b"",
        f"ada/{NB}.txt": WORK,
        ".git/x.ipynb": OTHER,
        ".DS_Store": b"",
        "__MACOSX/x.ipynb": OTHER,
    }
    rows = found(lay_out(tmp_path, files))

    assert list(rows) == ["ada"]
    assert rows["ada"].file.read(10**6) == WORK


def test_links_and_pipes(tmp_path):
    """Links, also to folders, are not followed, pipes are not opened, and each is one row with the reason."""
    secret = lay_out(tmp_path / "secret", {NB: WORK})
    root = lay_out(tmp_path / "class", {f"ada/{NB}": WORK, "bob/x": None, "di/x": None})
    (root / "bob" / NB).symlink_to(secret / NB)
    (root / "cy").symlink_to(secret)
    os.mkfifo(root / "di" / NB)
    (root / "ada" / "more.ipynb").symlink_to("/dev/zero")
    rows = found(root)

    assert {name: row.reason for name, row in rows.items()} == {
        "ada": None,
        "bob": Reason.UNREADABLE,
        "cy": Reason.UNREADABLE,
        "di": Reason.UNREADABLE,
    }
    assert rows["bob"].problem == f"{NB} is a link, which is not followed"
    assert rows["di"].problem == f"{NB} is no regular file"
    assert rows["ada"].notes == ("more.ipynb is a link, which is not followed",)


def test_swapped_for_a_link(tmp_path):
    """A file that became a link after it was listed is not followed."""
    lay_out(tmp_path, {f"ada/{NB}": WORK})
    (row,) = collect(tmp_path, ASSIGNMENT, SMALL)
    (tmp_path / "ada" / NB).unlink()
    (tmp_path / "ada" / NB).symlink_to("/etc/hostname")

    with pytest.raises(CannotReadError, match=f"{NB} cannot be read"):
        row.file.read(10**6)


@pytest.mark.parametrize("name", ["../out.ipynb", "/etc/out.ipynb", "ada/../../out.ipynb", "C:\\out.ipynb", "..\\out"])
def test_names_that_lead_out(tmp_path, name):
    """A platform's zip with a name that leads out of it is refused; a student's own costs only that student."""
    path = tmp_path / "class.zip"
    path.write_bytes(pack({name: WORK}))
    with pytest.raises(CollectError, match="leads out of it"):
        collect(path, ASSIGNMENT, SMALL)

    path.write_bytes(pack({"ada.zip": pack({name: WORK}), "bob.ipynb": WORK}))
    rows = found(path)
    assert rows["ada"].reason is Reason.UNREADABLE
    assert "leads out of it" in rows["ada"].problem
    assert rows["bob"].reason is None


def test_bombs(tmp_path):
    """More than the limit is never read: not of a file, not of a zip's file, whatever size it claims."""
    bomb = pack({NB: b" " * 30_000_000})
    assert len(bomb) < SMALL.submission_bytes
    liar = bomb.replace((30_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    files = {f"ada/{NB}": b" " * 200_000, "bob.zip": bomb, "cy.zip": liar, "di.zip": b"PK\x03\x04" + b" " * 200_000}
    rows = found(lay_out(tmp_path, files))

    for student, size in (("ada", "195 KiB"), ("bob", "28.6 MiB")):
        with pytest.raises(CannotReadError, match=f"the file has {size}"):
            rows[student].file.read(SMALL.submission_bytes)
    # Python stops at the size that the zip claims, and the check sum is wrong
    with pytest.raises(CannotReadError, match="is broken inside its zip"):
        rows["cy"].file.read(SMALL.submission_bytes)
    assert "the file has 195 KiB" in rows["di"].problem


def test_a_zip_with_too_many_names(tmp_path, monkeypatch):
    """A student's zip whose list of names is too long is refused before the list is read."""
    monkeypatch.setattr(handed_in, "MOST_INDEX_BYTES", 1000)
    lay_out(tmp_path, {"ada.zip": pack({f"{number:050}.txt": b"" for number in range(30)})})

    assert "lists more files than are read" in found(tmp_path)["ada"].problem


def test_odd_members(tmp_path):
    """A zip's links, encrypted and oddly packed files are refused; a broken zip is one row."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("ada/x.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("bob/x.ipynb", WORK, zipfile.ZIP_LZMA)
        archive.writestr("cy.zip", b"PK\x03\x04 no zip")
        locked = zipfile.ZipInfo("di/x.ipynb")
        archive.writestr(locked, WORK)
        locked.flag_bits |= 1  # written into the list of names when the zip is closed
    path = tmp_path / "class.zip"
    path.write_bytes(buffer.getvalue())
    rows = found(path)

    assert {row.reason for row in rows.values()} == {Reason.UNREADABLE}
    for student, words in {"ada": "is a link", "bob": "unusual", "cy": "not a zip", "di": "encrypted"}.items():
        assert words in rows[student].problem


def test_a_zip_inside_a_students_zip(tmp_path):
    """A zip inside a student's zip is not opened."""
    lay_out(tmp_path, {"ada.zip": pack({"hw.zip": pack({NB: WORK})})})

    assert found(tmp_path)["ada"].problem == "no notebook was handed in, only hw.zip; hand in the .ipynb file"


def test_people_of_one_name(tmp_path):
    """Two people whom Moodle calls the same, or who differ in case only, keep ids of their own, with a note."""
    files = {
        f"Sam Lee_7_assignsubmission_file_/{NB}": WORK,
        f"Sam Lee_8_assignsubmission_file_/{NB}": OTHER,
        f"Ada/{NB}": WORK,
        f"ada/{NB}": OTHER,
    }
    path = tmp_path / "class.zip"
    path.write_bytes(pack(files))
    rows = found(path)

    assert len({student.casefold() for student in rows}) == 4
    assert rows["Sam Lee_7"].file.read(10**6) == WORK
    assert rows["Sam Lee_8"].notes == ("somebody else is called Sam Lee too, so the id is Sam Lee_8",)


def test_feedback_goes_back_to_moodle_s_own_folders():
    """Moodle's participants have the folder that its upload reads; people of Canvas and of plain folders have none."""
    assert feedback_folder(Owner("Ada L", "17")) == "Ada L_17_assignsubmission_file_"
    assert feedback_folder(Owner("lovelaceada", "1001", lasting=True)) == ""
    assert feedback_folder(Owner("ada")) == ""


def test_ids_are_stable():
    """An id depends on the owner alone while nobody else has it, and never passes from one to another."""
    sam, other, plain = Owner("Sam", "7"), Owner("Sam", "8"), Owner("Sam_7")

    assert make_ids([sam]) == {sam: "Sam"}
    assert make_ids([sam, other]) == {sam: "Sam_7", other: "Sam_8"}
    assert len(set(make_ids([sam, other, plain]).values())) == 3
    # the same letters, composed and decomposed, are one name to a Mac's disk
    assert len({student.casefold() for student in make_ids([Owner("é"), Owner("e\u0301")]).values()}) == 2


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", "..", "", "\x1b[2J", "x" * 500, "\udcff", "é" * 200, "CON:"])
def test_ids_are_file_names(name):
    """Every id is one short, printable file name, and fits nbgrader's gradebook."""
    student = safe_id(name)
    twins = make_ids([Owner(name, "7" * 90), Owner(name, "8" * 90)]).values()

    assert len({*twins, student}) == 3
    assert all(len(one) <= 128 and one.isprintable() for one in (*twins, student))

    assert student
    assert student.isprintable()
    assert not set(student) & set("/\\:")
    assert not student.startswith(".")
    assert len(f"{student}.json".encode()) < 200


def test_not_there(tmp_path):
    """A path that is not there, and a zip that is none, is one sentence."""
    with pytest.raises(CollectError, match="there is no folder, zip or notebook"):
        collect(tmp_path / "gone", ASSIGNMENT, SMALL)


def test_one_notebook(tmp_path):
    """A single notebook can be given instead of a folder."""
    lay_out(tmp_path, {"ada.ipynb": WORK})

    assert list(found(tmp_path / "ada.ipynb")) == ["ada"]
