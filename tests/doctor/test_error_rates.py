"""The doctor's two error rates: no finding on healthy Macs, and each planted trouble first, whatever the Mac."""

import pytest
from support.command_checks import problems
from support.found import found
from support.varied_machines import TROUBLES, healthy_macs

from course_utils.doctor import DoctorReport, diagnose


def test_healthy_macs_are_well():
    """Of 150 healthy Macs none gets a warning; a note is about faults that torch itself has on that chip or macOS."""
    for machine in found(healthy_macs(150, seed=1)):
        report = DoctorReport.of(machine)
        assert report.all_well, report
        assert {finding.code for finding in report.findings} <= {"known-wrong-results"}, report


@pytest.mark.parametrize("trouble", TROUBLES)
def test_planted_trouble_comes_first(trouble):
    """Planted into 15 Macs, a trouble is the first finding on each, with commands that can work there."""
    plant, code = TROUBLES[trouble]
    for machine in found(healthy_macs(15, seed=trouble)):
        planted = plant(machine)
        findings = diagnose(planted)
        assert findings[0].code == code, (planted, findings)
        for finding in findings:
            assert finding.command is None or problems(finding.command, planted) == [], (finding, planted)
