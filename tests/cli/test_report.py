"""`course report`: one archive that names nobody, holds what ended, and says what did not."""

import json
import sys
import zipfile

import pytest

from course_utils.cli import main as cli
from course_utils.cli import report
from course_utils.doctor import anonymous, from_json
from course_utils.reporting import steps
from course_utils.reporting.steps import HERE, Step

PLANTED = ("grete", "Hermann", "emmy-mac", "thesis", "acme")
SENDER = anonymous.Sender("/Users/grete", "grete", ("Grete Hermann", "Hermann", "emmy-mac.local", "emmy-mac"))
# what a part might print: every planted name, as an error of torch or of a test would say it
SAYS = (
    "at /Users/grete/thesis/x.py on emmy-mac.local for Grete Hermann, from https://pypi.acme.example/x and /srv/acme/y"
)


def printing(name, code=0):
    """Return a part that writes what SAYS as its document, prints it and ends with a code."""
    write = "import json, pathlib, sys; text = sys.argv[2]; print(text); print(text, file=sys.stderr); "
    write += "pathlib.Path(sys.argv[1]).write_text(json.dumps({'message': text, 'time_s': 0.25})); "
    write += "sys.exit(int(sys.argv[3]))"
    command = (sys.executable, "-c", write, f"{HERE}/{name}.json", SAYS, str(code))
    return Step(name, "a part", command, output=f"{name}.txt")


@pytest.fixture
def parts(monkeypatch):
    """Put parts of a test in the place of the real ones, on the machine of somebody with a name."""

    def put(*chosen):
        monkeypatch.setattr(report, "plan", lambda max_time_s: chosen)
        monkeypatch.setattr(anonymous, "this_sender", lambda: SENDER)

    return put


def read(path):
    """Return the files of an archive as text, by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_nothing_names_anybody(parts, tmp_path, capsys):
    """Neither documents nor the words of a part that failed hold a name, a host or a path; numbers stay."""
    parts(printing("doctor"), printing("known", code=3), printing("bench"))

    assert cli.main(["report", "--output", str(tmp_path / "mine.zip")]) == 1
    files = read(tmp_path / "mine.zip")
    names = ("about.txt", "bench.json", "doctor.json", "known.json", "known.stderr.txt", "known.txt")
    assert sorted(files) == [f"mine/{name}" for name in names]
    assert [(name, word) for name, text in files.items() for word in PLANTED if word in text] == []
    assert json.loads(files["mine/bench.json"])["time_s"] == 0.25
    assert "known.stderr.txt" in capsys.readouterr().out


def test_an_interruption_packs_what_ended(parts, tmp_path, monkeypatch):
    """After Ctrl-C the archive holds the parts that ended, and says which did not run."""
    parts(printing("doctor"), printing("known"))
    run = steps.run_step

    def stopped(step, folder):
        if step.name == "known":
            raise KeyboardInterrupt
        return run(step, folder)

    monkeypatch.setattr(steps, "run_step", stopped)
    assert cli.main(["report", "--output", str(tmp_path / "mine.zip")]) == 130
    files = read(tmp_path / "mine.zip")
    assert sorted(files) == ["mine/about.txt", "mine/doctor.json"]
    assert "known.json: a part; did not run" in files["mine/about.txt"]


def test_a_bad_place_is_one_sentence(parts, tmp_path, capsys):
    """Another ending, a missing folder and a folder of that name are refused before anything runs."""
    parts()
    (tmp_path / "a.zip").mkdir()
    for name in ("a.txt", "gone/a.zip", "a.zip"):
        assert cli.main(["report", "--output", str(tmp_path / name)]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_the_real_doctor_is_packed(tmp_path):
    """The first real part runs here: its document is a snapshot that the doctor reads."""
    assert cli.main(["report", "--only", "doctor", "--output", str(tmp_path / "mine.zip")]) == 0
    files = read(tmp_path / "mine.zip")

    assert from_json(files["mine/doctor.json"]).python
    assert sys.prefix not in files["mine/doctor.json"]


def test_the_parts_are_commands_of_the_course():
    """Each real part parses as a command, writes its own document, and takes the time limit."""
    for step in report.plan(2.5):
        words = [word.replace(HERE, "folder") for word in step.command[3:]]
        assert cli.build_parser(words).parse_args(words).command == words[0]
        assert f"{step.name}.json" in " ".join([*step.command, step.output])
    assert "2.5" in report.plan(2.5)[-1].command
