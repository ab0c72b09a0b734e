"""The report says first what works and what does not, in words that need no colour."""

import json

from support.described_machines import LINUX, MAC, mac, with_variables
from support.found import found
from support.reported_machines import MACHINES

from course_utils.doctor import Diagnosis, DoctorReport, Snapshot


def test_linux_first_lines():
    """On Linux the first lines say that it is Linux, what works and what does not."""
    first, works, fails = DoctorReport.of(LINUX).headline

    assert first == "This is Linux (Ubuntu 24.04.1 LTS, x86_64, AMD Ryzen 7 5800X)."
    assert works == "Works:         the CPU, with torch 2.14.1: every lesson runs on it"
    assert fails.startswith("Does not work: MPS: it exists only on macOS with an Apple chip; CUDA:")


def test_mac_first_lines():
    """On a Mac they name macOS, the model, the chip, and MPS with its reason."""
    first, works = DoctorReport.of(MAC).headline

    assert first == "This is macOS 15.6.1 on a Mac (Mac15,6, Apple M3 Pro, Python for arm64)."
    assert "MPS: a 64x64 matrix product on it equals the CPU's" in works


def test_hidden_version_is_named():
    """A macOS that calls itself 10.16 is named as what it is, and as what it said."""
    first = DoctorReport.of(mac(os_version="10.16", kernel="25.1.0")).headline[0]
    assert "macOS 26 (reported as 10.16)" in first


def test_nothing_known():
    """An empty snapshot reports that nothing is known."""
    assert "Nothing is known of torch" in str(DoctorReport.of(Snapshot()))


def test_text_has_icon_and_word_and_no_colour():
    """Each finding begins with an icon and the word for it, commands stay on one line, and no escape is printed."""
    for machine in found(MACHINES):
        report = DoctorReport.of(machine.snapshot)
        text = str(report)

        assert "\x1b" not in text
        for finding in report.findings:
            icon = {"error": "[x]", "warning": "[!]", "note": "[i]"}[finding.severity]
            assert f"{icon} {finding.severity}:" in text
            assert finding.command is None or f"command  {finding.command}\n" in text
        assert max(len(line) for line in text.splitlines() if "command  " not in line and "source" not in line) <= 200


def test_html_is_escaped():
    """What a snapshot holds is escaped in a notebook."""
    page = DoctorReport.of(with_variables(mac(chip="<script>"), COURSE_DEVICE="<img>"))._repr_html_()

    assert "<script>" not in page
    assert "<img>" not in page
    assert "&lt;script&gt;" in page


def test_json():
    """The JSON form has the verdict and every finding's fields."""
    report = json.loads(DoctorReport.of(LINUX).to_json())

    assert report["mps_usable"] is False
    assert report["findings"][0]["code"] == "linux"
    assert set(report["findings"][0]) >= {"severity", "what", "how_known", "fix", "command", "source", "follows_from"}


def test_finding_prints_what_it_follows_from():
    """A consequence says which finding to fix first."""
    finding = Diagnosis("warning", "b", "What.", "known", "fix", "do it", "source", follows_from="a")

    assert "from a: fix that first" in str(finding)
    assert "<pre>do it</pre>" in finding._repr_html_()


def test_later_lines_begin_under_the_text():
    """What does not fit in a line goes on under the text, not under the word that marks it."""
    lines = str(DoctorReport.of(LINUX)).splitlines()
    head = lines[: next(place for place, line in enumerate(lines) if line.startswith("[x]"))]

    assert len(head) > len(DoctorReport.of(LINUX).headline)
    marked = [line for line in head if line.startswith(("Does not work: ", "Works:  ", "This is "))]
    assert all(line.startswith(" " * 15) for line in head if line not in marked)
