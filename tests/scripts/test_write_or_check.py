"""Files that a rule rewrites: --check names those that are out of date, without it they are written."""

from scripts.write_or_check import only_checks, write_or_check


def upper(path, text):
    return f"{path.stem}: {text.upper()}" if text.islower() else text


def test_check_names_the_stale_files_and_leaves_all_as_they_are(tmp_path, capsys):
    """One stale file of three makes the exit code 1; nothing is written."""
    texts = {"a.md": "DONE", "b.md": "straße", "c.md": ""}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert write_or_check(sorted(tmp_path.iterdir()), upper, tmp_path, check=True) == 1
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["b.md"]
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == texts


def test_writing_brings_all_into_form_and_then_nothing_is_left(tmp_path, capsys):
    """Writing exits with 0, and a check afterwards finds nothing."""
    (tmp_path / "b.md").write_text("straße", encoding="utf-8")
    assert write_or_check([tmp_path / "b.md"], upper, tmp_path, check=False) == 0
    assert (tmp_path / "b.md").read_text(encoding="utf-8") == "b: STRASSE"
    capsys.readouterr()
    assert write_or_check([tmp_path / "b.md"], upper, tmp_path, check=True) == 0
    assert capsys.readouterr().out == ""


def test_the_option_is_read_from_the_arguments():
    """--check is the only option."""
    assert only_checks(["--check"], "x")
    assert not only_checks([], "x")
