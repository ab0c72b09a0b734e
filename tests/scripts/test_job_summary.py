"""The summary of a CI job: what the course's commands wrote becomes Markdown, and what is missing is said."""

import json

import pytest
from support.described_machines import LINUX, MAC

from course_utils.benchmarking.measurement import Comparison, Timing
from course_utils.data.known_faults import all_known_faults
from course_utils.doctor import DoctorReport
from course_utils.numerics.known_faults import FaultAnswer, FaultState, KnownFaultsReport
from scripts.job_summary import bench_section, cell, main


def timing(device, times_s):
    """Make a timing of made-up readings."""
    return Timing(
        label="ResNet-18",
        device=device,
        times_s=tuple(times_s),
        calls_per_reading=1,
        first_call_s=1.0,
        warmup_calls=1,
        torch_version="2.14.1",
        threads=1,
        chip=None,
    )


def comparison(*timings, missing=()):
    """Write a comparison as `course bench --json` does."""
    return json.loads(json.dumps(Comparison("ResNet-18", timings, missing).to_dict()))


def summary(tmp_path, capsys, **files):
    """Write files, and return the summary of them."""
    arguments = []
    for name, content in files.items():
        path = tmp_path / f"{name}.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        arguments += [f"--{name}", str(path)]
    assert main(arguments) == 0
    return capsys.readouterr().out


def rows_of(markdown):
    """Return the cells of all table rows."""
    return [line.strip("| ").split(" | ") for line in markdown.splitlines() if line.startswith("| ")]


def test_bench_is_a_table():
    """Each device that was measured has its row: median, spread, ratio to the CPU, warnings."""
    spread = timing("cuda", [0.05, 0.1, 0.2])
    found = comparison(timing("cpu", [0.4, 0.4, 0.4]), spread)
    rows = rows_of("\n".join(bench_section({"comparisons": [found]})))

    assert rows[1][:3] == ["ResNet-18", "cpu", "400 ms"]
    assert rows[2][:3] == ["ResNet-18", "cuda", "100 ms"]
    assert spread.warnings
    assert rows[2][4:] == ["4.00 times as fast", cell("; ".join(spread.warnings))]


def test_a_device_that_was_not_measured_has_no_row():
    """A device without a measurement is said once, with its reason, and gets no number."""
    found = comparison(timing("cpu", [0.4]), missing=(("mps", "absent: this is Linux"),))
    text = "\n".join(bench_section({"comparisons": [found, found]}))

    assert text.count("mps was not measured: absent: this is Linux.") == 1
    assert not [row for row in rows_of(text) if row[1] == "mps"]


@pytest.mark.parametrize(("machine", "words"), [(LINUX, "not usable"), (MAC, "usable")])
def test_the_doctor_is_summed_up(tmp_path, capsys, machine, words):
    """The verdict, every finding with its fix, and the folded snapshot, as the doctor's own JSON has them."""
    report = DoctorReport.of(machine)
    text = summary(tmp_path, capsys, doctor=report.to_json())

    assert f"**MPS is {words} on this machine.**" in text
    assert all(cell(finding.fix) in text for finding in report.findings)
    assert "<details><summary>The machine's snapshot</summary>" in text
    assert "| system |" in text


def test_grading_is_summed_up(tmp_path, capsys):
    """Full points are said in words, anything else by its exit code and last line."""
    graded = [
        {"exercise": "04_a", "exit_code": 0, "said": "18 of 18"},
        {"exercise": "07_b", "exit_code": 1, "said": "17 | 19"},
    ]
    text = summary(tmp_path, capsys, grading=graded)

    assert "| 04_a | full points | 18 of 18 |" in text
    assert "| 07_b | exit code 1 | 17 \\| 19 |" in text


def test_known_faults_are_summed_up(tmp_path, capsys):
    """Counts and warnings are said; a fault that is present has a row with its link, one that is right has none."""
    answers = tuple(
        FaultAnswer(fault.id, FaultState.PRESENT if fault.id == "pytorch#190052" else FaultState.RIGHT, "2 | differ")
        for fault in all_known_faults()
    )
    report = KnownFaultsReport("mps", "torch 2.13.0", answers, 21.4, ("asked | once",))
    text = summary(tmp_path, capsys, known=json.loads(json.dumps(report.to_dict())))
    rows = [row for row in rows_of(text) if row[0] != "issue"]

    assert "Asked on mps in 21 s: 1 present" in text
    assert "Warning: asked \\| once." in text
    assert [row[0] for row in rows] == ["pytorch#190052"]
    assert rows[0][2:4] == ["present", "2 \\| differ"]
    assert "https://github.com/pytorch/pytorch/issues/190052" in rows[0][-1]


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"mps_usable": true}'])
def test_a_broken_file_does_not_stop_the_summary(tmp_path, capsys, content):
    """Output of a command that failed is named, and the other sections are written."""
    text = summary(tmp_path, capsys, doctor=content, bench={"comparisons": [comparison(timing("cpu", [0.4]))]})

    assert "doctor.json is not what `doctor` writes" in text
    assert "400 ms" in text


def test_a_missing_file_is_said(tmp_path, capsys):
    """A command that never ran leaves a sentence."""
    assert main(["--bench", str(tmp_path / "bench.json")]) == 0
    assert "There is no bench.json" in capsys.readouterr().out


def test_text_cannot_write_markdown():
    """Bars, tags and line ends in values stay text."""
    assert cell("a | b\n<img src=x> & c") == "a \\| b &lt;img src=x&gt; &amp; c"
