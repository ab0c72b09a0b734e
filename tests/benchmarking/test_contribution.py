"""What readers send is judged in both directions: honest documents are fit, each kind of trouble is refused."""

from dataclasses import replace

import pytest
from support.described_documents import CPU_S, MPS_S, described, product, times

from course_utils.benchmarking.contribution import file_name, objections
from course_utils.benchmarking.measurement import Comparison

GOOD = "apple_m4_16gb_torch_2.14.1.json"

LINUX = {"system": "Linux x86_64", "chip": None, "build": None, "power_source": None, "thermal_state": None}
HONEST = {
    "an M4 that is plugged in": described(),
    "a Mac without a published clock": described({"chip": "Apple M9 Max", "ram_bytes": 128 * 2**30}),
    "a machine with a CPU only": described(
        LINUX | {"probes": {"mps": "absent", "cuda": "absent", "cpu": "usable"}, "torch_version": "2.14.1"},
        (Comparison("work", (times("work", "cpu", 0.01),), (("mps", "absent: this is Linux"),)),),
    ),
    "a Mac mini, which has no battery to report": described({"power_source": None, "thermal_state": None}),
    "an unsteady clock that is still good enough": described(comparisons=(product(256, 4e-4, 3e-4, spread=0.2),)),
    "a slow GPU": described(comparisons=(product(64, 2e-5, 2e-3),)),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_documents_are_fit(name):
    """Machines of every kind, under the name that their content asks for."""
    assert objections(HONEST[name], file_name(HONEST[name])) == ()


def few():
    return described(comparisons=(Comparison("work", (times("work", "cpu", 0.01, readings=4),)),))


def stopped_clock():
    still = replace(times("work", "cpu", 0.01), times_s=(0.0,) * 9)
    return described(comparisons=(Comparison("work", (still,)),))


def other_torch():
    return described(comparisons=(Comparison("work", (replace(times("work", "cpu", 0.01), torch_version="2.9.0"),)),))


def changed(**changes):
    """Describe a CPU's time of which something else is said."""
    return described(comparisons=(Comparison("work", (replace(times("work", "cpu", 0.01), **changes),)),))


WORK = Comparison("work", (times("work", "cpu", 0.01),))
HONEST_PRODUCT = product(4096, 1.0, 2e-3)
UNCOUNTED = Comparison(HONEST_PRODUCT.label, (HONEST_PRODUCT.timings[0], replace(HONEST_PRODUCT.timings[1], flop=None)))


# name -> (document, name of its file, a word of the sentence that says which rule refused it)
WRONG = {
    "another name": (described(), "mine.json", "mine.json"),
    "stopped": (described(interrupted=True), GOOD, "stopped"),
    "nothing in it": (described(comparisons=()), GOOD, "no measurement"),
    "a nightly": (described({"torch_version": "2.15.0.dev20260901"}), None, "not a release"),
    "a path": (described({"python": "/Users/somebody/bin/python"}), GOOD, "path"),
    "an address": (described({"chip": "Apple M4", "owner": "some@body.org"}), GOOD, "address"),
    "on battery": (described({"power_source": "Battery Power"}), GOOD, "battery"),
    "hot": (described({"thermal_state": "CPU limited to 62 %"}), GOOD, "62 %"),
    "MPS that was not usable": (described({"probes": {"mps": "present but unusable"}}), GOOD, "not usable"),
    "MPS from Linux": (described({"system": "Linux x86_64"}), GOOD, "emulated"),
    "MPS of no chip": (described({"chip": None}), None, "without the chip"),
    "few readings": (few(), GOOD, "4 readings"),
    "a clock that stood still": (stopped_clock(), GOOD, "no time"),
    "a wide spread": (described(comparisons=(product(256, CPU_S[1], MPS_S[1], spread=0.6),)), GOOD, "60%"),
    "faster than the chip": (described(comparisons=(product(4096, 1.0, 2e-3),)), GOOD, "TFLOP/s"),
    "two versions of torch": (other_torch(), GOOD, "2.9.0"),
    "a torch of the future": (described({"torch_version": "99.0.0"}), None, "not among"),
    "a torch before the course's": (described({"torch_version": "2.8.0"}), None, "not among"),
    "a name of its own": (described({"host": "a-laptop"}), GOOD, "'host'"),
    "memory that is no number": (described({"ram_bytes": "plenty"}), GOOD, "plenty"),
    "memory that is NaN": (described({"ram_bytes": float("nan")}), GOOD, "nan"),
    "more cores than any machine": (described({"cores": 10**6}), GOOD, "1000000"),
    "an old Python": (described({"python": "2.7.18"}), GOOD, "2.7.18"),
    "a Python of another name": (described({"python": "PyPy"}), GOOD, "PyPy"),
    "less than no cores": (described({"cores": -4}), GOOD, "-4"),
    "a chip that is a list": (described({"chip": ["Apple M4"]}), GOOD, "no text"),
    "a script for the page": (described({"chip": "Apple <script>M4"}), None, "signs"),
    "a table for the page": (changed(label="work | 1"), GOOD, "something else"),
    "another chip's time": (changed(chip="Apple M1"), GOOD, "Apple M1"),
    "a folder of macOS": (
        described(comparisons=(replace(WORK, missing=(("mps", "no file /private/var/folders/ab/x"),)),)),
        GOOD,
        "path",
    ),
    "probes that are none": (described({"probes": ["mps"]}), GOOD, "no probe finds"),
    "a probe that is no word": (described({"probes": {"mps": {"state": "usable"}}}), GOOD, "no probe finds"),
    "a label without a time": (described(comparisons=(replace(WORK, timings=()),)), GOOD, "holds no time"),
    "a probe's state of its own": (described({"probes": {"mps": "usable", "cpu": "fast"}}), GOOD, "no probe finds"),
    "one time again and again": (changed(times_s=(0.01,) * 9), GOOD, "same time"),
    "one thing twice": (described(comparisons=(WORK, WORK)), GOOD, "twice"),
    "one device twice": (described(comparisons=(Comparison("work", WORK.timings * 2),)), GOOD, "one device"),
    "faster than the chip, by a count that is left out": (described(comparisons=(UNCOUNTED,)), GOOD, "TFLOP/s"),
    "a CPU faster than any": (described(comparisons=(product(4096, 1e-6, 1.0),)), GOOD, "on cpu"),
    "no probe": (described({"probes": None}), GOOD, "probes"),
}


@pytest.mark.parametrize("name", WRONG)
def test_each_trouble_is_refused(name):
    """Each kind is refused by its own rule."""
    document, file, word = WRONG[name]

    found = objections(document, file or file_name(document))

    assert found
    assert any(word in reason for reason in found), found


def test_a_claim_about_the_chip_does_not_widen_its_peak():
    """The bound comes from the course's table, not from what the document says of itself."""
    boastful = product(4096, 1.0, 2e-3, peak_flops=1e18)

    assert any("TFLOP/s" in reason for reason in objections(described(comparisons=(boastful,)), GOOD))
