"""The document of a bench: what is written is read back, and anything else is refused in a sentence."""

import json
import os

import pytest
from support.described_timings import timing

from course_utils.benchmarking.document import (
    BenchDocument,
    DocumentError,
    describe_machine,
    power_source,
    read_document,
    thermal_state,
)
from course_utils.benchmarking.measurement import Comparison

COMPARISON = Comparison("work", (timing("cpu", 0.1), timing("mps:0", 0.02)), (("cuda", "absent: no driver"),))
DOCUMENT = BenchDocument({"chip": "Apple M9", "torch_version": "2.14.1"}, {"batch": 1}, (COMPARISON,))


def test_it_is_read_back():
    """Raw times, warnings and what is missing survive."""
    again = read_document(DOCUMENT.to_json())

    assert again == DOCUMENT
    assert again.comparisons[0].warnings == COMPARISON.warnings


def changed(**changes):
    """Write the document with other values."""
    return json.dumps(json.loads(DOCUMENT.to_json()) | changes)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "not JSON"),
        ("[]", "not written by"),
        ("{}", "not written by"),
        (changed(kind="snapshot"), "not written by"),
        (changed(schema_version=99), "schema version is 99"),
        (changed(schema_version="1"), "schema version is 1"),
        (changed(schema_version=0), "schema version is 0"),
        (changed(schema_version=True), "schema version is True"),
        ('{"kind": 1, "kind": 2}', "two values"),
        ("[" * 100_000, "no JSON that can be read"),
        ("1" * 10_000, "no JSON that can be read"),
        (changed(comparisons=3), "makes no sense"),
        (DOCUMENT.to_json().replace("0.02,", "NaN,"), "nan"),
        (DOCUMENT.to_json().replace("0.02,", "true,"), "True"),
        (DOCUMENT.to_json().replace('"flop": null', '"flop": NaN'), "flop is nan"),
        (DOCUMENT.to_json().replace('"device": "cpu",', '"device": 5,'), "device is 5"),
        (changed(comparisons=[{"label": "x"}]), "lacks 'timings'"),
        (changed(comparisons=[{"label": "x", "timings": [{"label": "x"}], "missing": []}]), "lacks"),
        (DOCUMENT.to_json().replace("0.02,", "-0.02,"), "-0.02"),
        (DOCUMENT.to_json().replace("0.02,", '"fast",'), "fast"),
    ],
)
def test_anything_else_is_refused(text, word):
    """A file that is not such a document, or was damaged, is refused with what is wrong."""
    with pytest.raises(DocumentError, match=word):
        read_document(text)


def test_this_machine_names_nobody():
    """Neither the user nor the host nor a path is in the description."""
    text = json.dumps(describe_machine())

    assert os.path.expanduser("~") not in text
    assert os.uname().nodename not in text


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("Now drawing from 'AC Power'\n -InternalBattery-0 (id=1) 100%", "AC Power"),
        ("Now drawing from 'Battery Power'", "Battery Power"),
        ("", None),
        (None, None),
    ],
)
def test_power_source(answer, source):
    """What pmset prints in its first line is read; a Mac without a battery says AC Power too."""
    assert power_source(answer) == source


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Note: No thermal warning level has been recorded", "no limit recorded"),
        ("CPU_Scheduler_Limit \t= 100\nCPU_Speed_Limit \t= 100", "no limit"),
        ("CPU_Speed_Limit \t= 63", "CPU limited to 63 %"),
        (None, None),
    ],
)
def test_thermal_state(answer, state):
    """A limit of the CPU's speed is read from what pmset prints."""
    assert thermal_state(answer) == state
