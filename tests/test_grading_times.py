"""The time of a submission is read from its timestamp.txt, and from nowhere else."""

from graded_results import NAME

from course_utils.grading.times import read_handed_in


def test_times_are_read(tmp_path):
    """Who has a timestamp.txt is in the result, with its text; who has none is not."""
    for student in ("ada", "grace"):
        (tmp_path / student / NAME).mkdir(parents=True)
    (tmp_path / "ada" / NAME / "timestamp.txt").write_text("2026-03-01 12:00:00 UTC\n", encoding="utf-8")

    assert read_handed_in(tmp_path, NAME, ["ada", "grace", "nobody"]) == {"ada": "2026-03-01 12:00:00 UTC"}


def test_no_link_is_followed(tmp_path):
    """A link in place of the file reads nothing of what it points to."""
    (tmp_path / "secret").write_text("2026-03-01", encoding="utf-8")
    (tmp_path / "ada" / NAME).mkdir(parents=True)
    (tmp_path / "ada" / NAME / "timestamp.txt").symlink_to(tmp_path / "secret")

    assert read_handed_in(tmp_path, NAME, ["ada"]) == {}


def test_only_the_start_is_read(tmp_path):
    """A file of megabytes costs nothing, and bytes that are no text do no harm."""
    (tmp_path / "ada" / NAME).mkdir(parents=True)
    (tmp_path / "ada" / NAME / "timestamp.txt").write_bytes(b"\xff" * 5_000_000)

    assert len(read_handed_in(tmp_path, NAME, ["ada"])["ada"]) == 100
