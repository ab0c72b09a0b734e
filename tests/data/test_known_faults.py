"""The publicly reported faults: complete data, and which machine has which."""

from datetime import date
from urllib.parse import urlsplit

import pytest
from support.paths import ROOT

from course_utils.data.known_faults import BASES, all_known_faults, known_fault
from course_utils.data.versions import exactly

FAULTS = all_known_faults()


def test_every_fault_is_complete():
    """Each has a public link, a known kind and basis, releases that are versions, a way around and a date."""
    kinds = {
        *("strides", "offsets", "sizes", "values", "gradients", "masks", "integers", "dtypes"),
        *("random numbers", "copies", "repeatability", "out of bounds"),
    }
    assert len(FAULTS) > 100
    assert len({fault.id for fault in FAULTS}) == len(FAULTS)
    assert {fault.kind for fault in FAULTS} == kinds
    for fault in FAULTS:
        repository, number = fault.id.split("#")
        link = urlsplit(fault.link)
        assert link.netloc == "github.com"
        assert link.path.split("/")[2] == repository
        assert link.path.endswith(f"/{number}")
        assert fault.basis in BASES
        assert (fault.basis == "open") <= (fault.repaired_in is None)
        assert all((fault.title, fault.operator, fault.trigger, fault.symptom, fault.releases, fault.way_around))
        assert 2022 <= fault.reported <= date.fromisoformat(fault.looked_at).year
        for version in (fault.seen_in, fault.repaired_in, fault.macos_from, fault.macos_below):
            assert version is None or exactly(version)


def test_pages_count_right():
    """Where a page says how many faults there are, it is what the data hold."""
    asked = [fault for fault in FAULTS if fault.not_asked is None and fault.needs_gib is None]
    views = [fault for fault in FAULTS if fault.kind in ("strides", "offsets")]
    lesson = (ROOT / "notebooks/08_trust_but_verify.ipynb").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert f"Of the {len(FAULTS)} silent faults" in lesson
    assert f"{len(views)} need such strides" in lesson
    assert f" {len(asked)} of the {len(FAULTS)} silent faults" in readme


@pytest.mark.parametrize(
    ("issue", "torch", "macos", "chip", "answer"),
    [
        ("pytorch#193487", "2.13.0", "26.1", "Apple M1 Pro", True),
        ("pytorch#193487", "2.13.0", "26.1", "Apple M4", False),
        ("pytorch#193487", "2.13.0", "26.1", None, None),
        ("pytorch#193487", "2.14.1", "26.1", "Apple M1 Pro", False),
        ("pytorch#193487", "2.6.0", "26.1", "Apple M1 Pro", None),
        ("pytorch#197114", "2.14.1", "26.2.1", "Apple M4", True),
        ("pytorch#197114", "2.14.1", "26.3", "Apple M4", False),
        ("pytorch#197114", "2.14.1", None, "Apple M4", None),
        ("pytorch#197114", "2.14.1", "26", "Apple M4", None),
        ("pytorch#197114", "2.14.1", "15", "Apple M4", False),
        ("runner-images#14380", "2.14.1", "26.1", "Apple M4", None),
        ("pytorch#150967", "2.7.1", "14.6", "Apple M2", True),
        ("pytorch#150967", "2.7.1", "15.0", "Apple M2", False),
        ("pytorch#127676", "2.15.0", "26.5", "Apple M10 Max", True),
        # the release of the repair is not confirmed
        ("pytorch#195595", "2.14.1", "26.5", "Apple M2", None),
        ("pytorch#195595", "2.15.0a0+git1234567", "26.5", "Apple M2", False),
    ],
)
def test_which_machine_has_a_fault(issue, torch, macos, chip, answer):
    """Inside what was reported it is True, outside False, and where nobody knows None."""
    assert known_fault(issue).fits(torch=torch, macos=macos, chip=chip) is answer


def test_an_unknown_fault_is_an_error():
    """A wrong id does not pass for a fault."""
    with pytest.raises(KeyError):
        known_fault("pytorch#1")
