"""Print the summary page of a CI job from what the course's commands left: doctor, known faults, bench, grading.

    python -m scripts.job_summary --doctor doctor.json --known known.json --bench bench.json --grading grading.json

A file that is not there, or is no JSON because its command failed, is said to be missing; the summary is written all
the same. No time is called an MPS time unless the benchmark measured on MPS.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from course_utils.reporting.units import format_duration


def cell(text: object) -> str:
    """Return a value for a cell of a Markdown table: in one line, without what Markdown or HTML would read."""
    line = " ".join(str(text).split())
    for mark, written in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "\\|")):
        line = line.replace(mark, written)
    return line


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a Markdown table."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return lines + [f"| {' | '.join(cell(value) for value in row)} |" for row in rows]


def doctor_section(report: Mapping[str, Any]) -> list[str]:
    """Return what `course doctor --json` found: the headline, the findings, the snapshot folded away."""
    state = "usable" if report["mps_usable"] else "not usable"
    lines = [f"**MPS is {state} on this machine.**", ""]
    lines += [f"- {cell(line)}" for line in report["headline"]]
    if report["findings"]:
        rows = [(found["severity"], found["what"], found["fix"]) for found in report["findings"]]
        lines += ["", *table(("severity", "what", "what to do"), rows)]
    known = [(name, value) for name, value in report["snapshot"].items() if value not in (None, [], {})]
    lines += ["", "<details><summary>The machine's snapshot</summary>", "", *table(("field", "value"), known), ""]
    return [*lines, "</details>"]


def known_section(report: Mapping[str, Any]) -> list[str]:
    """Return what `course compare --known --json` found: counts, then every fault whose answer was not right."""
    counts = ", ".join(f"{number} {state}" for state, number in report["counts"].items() if number)
    lines = [f"Asked on {cell(report['device'])} in {report['seconds']:.0f} s: {cell(counts)}."]
    lines += [line for warning in report["warnings"] for line in ("", f"Warning: {cell(warning)}.")]
    faults = [fault for fault in report["faults"] if fault["state"] not in ("right", "not asked")]
    if faults:
        rows = [
            (fault["id"], fault["title"], fault["state"], fault["detail"], fault["way_around"], fault["link"])
            for fault in faults
        ]
        lines += ["", *table(("issue", "fault", "here", "measured", "what to do", "link"), rows)]
    return lines


def bench_section(document: Mapping[str, Any]) -> list[str]:
    """Return the table of `course bench --json`: one row for each device that was measured."""
    rows = []
    comparisons = document["comparisons"]
    for comparison in comparisons:
        medians = {timing["device"]: timing["median_s"] for timing in comparison["timings"]}
        for timing in comparison["timings"]:
            rows.append(
                (
                    comparison["label"],
                    timing["device"],
                    format_duration(timing["median_s"]),
                    format_duration(timing["iqr_s"]),
                    against_cpu(timing, medians),
                    "; ".join(timing["warnings"]),
                )
            )
    lines = table(("workload", "device", "median", "IQR", "against the CPU", "warnings"), rows)
    missing = dict.fromkeys((each["device"], each["reason"]) for found in comparisons for each in found["missing"])
    return lines + [line for device, reason in missing for line in ("", f"{device} was not measured: {cell(reason)}.")]


def against_cpu(timing: Mapping[str, Any], medians: Mapping[str, float]) -> str:
    """Return how many times as fast as the CPU a device was; nothing for the CPU, or where the CPU was not measured."""
    if timing["device"] == "cpu" or "cpu" not in medians:
        return ""
    return f"{medians['cpu'] / timing['median_s']:.2f} times as fast"


def grading_section(graded: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what grading the course's own solutions in the sandbox gave."""
    rows = [
        (
            entry["exercise"],
            "full points" if entry["exit_code"] == 0 else f"exit code {entry['exit_code']}",
            entry["said"],
        )
        for entry in graded
    ]
    return table(("exercise", "its own solution, graded", "last line"), rows)


SECTIONS: Mapping[str, tuple[str, Callable[[Any], list[str]]]] = {
    "doctor": ("The machine", doctor_section),
    "known": ("Silent faults that were reported for MPS", known_section),
    "bench": ("What the workloads took", bench_section),
    "grading": ("Exercises, graded in the sandbox", grading_section),
}


def section(name: str, path: Path) -> list[str]:
    """Return one section from a file, or why there is none."""
    title, write = SECTIONS[name]
    try:
        lines = write(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        lines = [f"There is no {path.name}: {error.strerror}."]
    except (ValueError, KeyError, TypeError) as error:
        lines = [f"{path.name} is not what `{name}` writes ({type(error).__name__}: {cell(error)}); see the job's log."]
    return [f"## {title}", "", *lines, ""]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the summary.

    Returns:
        0; a summary does not fail a job.
    """
    parser = argparse.ArgumentParser(description="Write a CI job's summary as Markdown.")
    for name, (title, _) in SECTIONS.items():
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"JSON for the section “{title}”")
    options = vars(parser.parse_args(arguments))
    for name in SECTIONS:
        if options[name] is not None:
            print("\n".join(section(name, options[name])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
