"""A made-up Mac's report, as `make mac-report` leaves it: no Mac has run it, and its numbers are invented."""

import json
from dataclasses import replace

from course_utils.doctor import DoctorReport
from course_utils.exercises.course import lesson_paths
from course_utils.reporting.steps import STATE, StepEnd, write_state
from support.described_machines import MAC
from support.paths import ROOT

DATE = "2027-01-05"
STEPS = ("doctor", "known", "bench", "lessons", "grading", "tests")


def doctor(changes=None):
    """Return what the doctor says of the described Mac, changed."""
    return DoctorReport.of(replace(MAC, **(changes or {}))).to_json()


def cases(modules, failed=()):
    """Return JUnit XML with two cases for each module; the second one of some failed."""
    rows = []
    for module in modules:
        inside = "<failure/>" if module in failed else ""
        rows.append(
            f'<testcase classname="{module}" name="a"/><testcase classname="{module}" name="b">{inside}</testcase>'
        )
    return f"<testsuites><testsuite>{''.join(rows)}</testsuite></testsuites>"


def made_up(*, failed=()):
    """Return the texts of a whole report by the names of their files; some lessons failed on it."""
    lessons = [f"notebooks.{path.name}" for path in lesson_paths(ROOT)]
    known = [{"state": state} for state in ("right", "right", "present", "not asked")]
    return {
        "doctor.json": doctor(),
        "known.json": json.dumps({"device": "mps", "faults": known}),
        "lessons.xml": cases(lessons, failed),
        "grading.json": json.dumps([{"exercise": "01", "exit_code": 0}, {"exercise": "02", "exit_code": 1}]),
        "tests.xml": cases(["tests.a", "tests.b"], ["tests.b"]),
    }


def write_report(folder, changes=None, *, steps=STEPS, timed_out=(), failed=()):
    """Write a report's folder; return it.

    Args:
        folder: where.
        changes: texts that differ, by the names of their files; None for a file that is not there.
        steps: which ended.
        timed_out: which of them were stopped at their time limit.
        failed: lessons in which a cell failed, by their modules.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (made_up(failed=failed) | (changes or {})).items():
        if text is not None:
            (folder / name).write_text(text, encoding="utf-8")
    write_state(folder, {name: StepEnd(0, 1.0, name not in timed_out, DATE, name in timed_out) for name in steps})
    if (changes or {}).get(STATE):
        (folder / STATE).write_text(changes[STATE], encoding="utf-8")
    return folder
