"""Each described machine gets its root cause first, with a fix; no machine, however odd, makes the doctor fail."""

import random
import typing
from collections import Counter

import pytest
from support.described_machines import MAC, mac, mac_with_torch, with_late
from support.found import found
from support.reported_machines import MACHINES

from course_utils.data.known_faults import known_fault
from course_utils.doctor import DoctorReport, Snapshot, Variable, diagnose, from_json
from course_utils.doctor.diagnose import CAUSES, RULES
from course_utils.doctor.findings import SEVERITIES


def codes(snapshot):
    """List the codes of what is found, in order."""
    return [finding.code for finding in diagnose(snapshot)]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_root_cause_and_fix(machine):
    """The first finding is the root cause, its fix or command says the thing that helps, nothing misleads."""
    findings = diagnose(machine.snapshot)
    found = [finding.code for finding in findings]

    assert (found[0] if found else None) == machine.root, found
    if machine.root is not None:
        assert machine.word in f"{findings[0].what} {findings[0].fix} {findings[0].command}"
        assert machine.command in (findings[0].command or "")
    assert set(machine.also) <= set(found)
    assert not set(machine.never) & set(found)


def test_every_finding_is_complete():
    """Each finding says what, how it is known, what to do and where that is published, and each code comes once."""
    for machine in found(MACHINES):
        findings = diagnose(machine.snapshot)

        for finding in findings:
            assert all((finding.what, finding.how_known, finding.fix, finding.source))
            assert finding.what.endswith(".")
        assert max(Counter(finding.code for finding in findings).values(), default=1) == 1


def test_order():
    """Errors come before warnings before notes, and a cause before what follows from it."""
    for machine in found(MACHINES):
        findings = diagnose(machine.snapshot)
        places = {finding.code: place for place, finding in enumerate(findings)}

        ranks = [SEVERITIES.index(finding.severity) for finding in findings]
        assert ranks == sorted(ranks)
        for finding in findings:
            if finding.follows_from is not None:
                assert places[finding.follows_from] < places[finding.code]


def test_only_a_usable_mps_is_well():
    """All is well on exactly those machines where MPS computed and only notes were found."""
    for machine in found(MACHINES):
        report = DoctorReport.of(machine.snapshot)
        usable = machine.snapshot.system == "Darwin" and machine.snapshot.mps_state == "usable"
        assert report.all_well == (usable and all(f.severity == "note" for f in report.findings)), machine.name


def test_enough_machines_and_every_cause():
    """At least 45 machines, each with a name of its own, and each rule fires on at least one of them."""
    assert len(MACHINES) >= 45
    assert len({machine.name for machine in MACHINES}) == len(MACHINES)
    silent = [rule.__name__ for rule in RULES if not any(rule(machine.snapshot) for machine in MACHINES)]
    assert silent == []


def test_causes_name_codes_that_exist():
    """The table of causes speaks only of codes that some described machine shows."""
    known = {finding.code for machine in MACHINES for finding in diagnose(machine.snapshot)}
    named = set(CAUSES) | {cause for causes in CAUSES.values() for cause in causes}
    assert named <= known


def test_genuine_intel_mac_has_two_findings():
    """On an Intel Mac with NumPy 2 there are two things to say: no newer torch, and NumPy below 2."""
    machine = next(machine for machine in MACHINES if "ENV-09" in machine.name)
    assert codes(machine.snapshot) == ["intel-mac", "numpy-too-new"]


def test_misleading_text_is_named():
    """The text "macOS 14.0+" on macOS 26 is called misleading, and no other torch is proposed."""
    machine = next(machine for machine in MACHINES if "misleading older text" in machine.name)
    finding = diagnose(machine.snapshot)[0]

    assert "misleading" in finding.how_known
    assert finding.command == "course doctor"


def test_a_consequence_lends_its_severity_to_the_cause():
    """Another environment's kernel is a warning, and an error where it is why torch is missing."""
    alone = diagnose(mac(kernel_executable="/opt/miniforge3/bin/python"))[0]
    machine = next(machine for machine in MACHINES if machine.name.startswith("the kernel lacks torch"))
    cause = diagnose(machine.snapshot)[0]

    assert (alone.code, alone.severity) == ("kernel-elsewhere", "warning")
    assert (cause.code, cause.severity) == ("kernel-elsewhere", "error")


def test_known_wrong_results_are_named():
    """What is particular to the machine comes first, with its link; an old torch is the cause of what it does wrong."""
    attention = next(machine for machine in MACHINES if machine.name == "attention that sees the future")
    finding = diagnose(attention.snapshot)[0]
    old = next(one for one in diagnose(mac_with_torch("2.8.0", "15.1", usable=True)) if one.code == finding.code)

    assert finding.how_known.startswith(known_fault("pytorch#195910").title)
    assert known_fault("pytorch#195910").link in finding.source
    assert finding.severity == "warning"
    assert old.follows_from == "torch-too-old"


@pytest.mark.parametrize(
    ("value", "code"),
    [("1", None), (" 1", None), ("1abc", None), ("-1", None), ("yes", "error"), ("", "error"), ("9" * 30, "error")],
)
def test_fallback_is_read_as_torch_reads_it(value, code):
    """std::stoi takes leading digits and throws on words, on nothing, and on what does not fit."""
    snapshot = mac(variables=(Variable("PYTORCH_ENABLE_MPS_FALLBACK", value, True),))
    wrong = [finding.severity for finding in diagnose(snapshot) if finding.code == "fallback-not-a-number"]
    assert wrong == ([code] if code else [])


def test_too_late_in_a_notebook_and_in_a_script():
    """The command suits the place: %env in a notebook, export in a shell."""
    late = with_late(MAC, "PYTORCH_ENABLE_MPS_FALLBACK", "1")
    assert diagnose(late)[0].command == "%env PYTORCH_ENABLE_MPS_FALLBACK=1"


def test_any_snapshot_can_be_diagnosed_and_printed():
    """Whatever mixture of known and unknown fields: no exception, and the same answer after a journey as JSON."""
    chance = random.Random(20261130)
    hints = typing.get_type_hints(Snapshot)
    pool = {name: [getattr(machine.snapshot, name) for machine in MACHINES] for name in hints}
    odd = ["", "none", "2.x", "10.16", "99.9", "🦊", "%s{}"]
    for name, hint in hints.items():
        if hint == (str | None):
            pool[name] = pool[name] + odd
    for _ in range(1500):
        values = {name: chance.choice([None, chance.choice(pool[name])]) for name in hints}
        snapshot = Snapshot(**values)
        report = DoctorReport.of(snapshot)
        assert str(report)
        assert report._repr_html_()
        assert diagnose(from_json(snapshot.to_json())) == report.findings
