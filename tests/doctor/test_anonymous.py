"""What is sent names no person, no host and no path: planted names are looked for in what is left."""

import json
import re
import zipfile
from xml.etree import ElementTree

import pytest
from support.described_machines import MAC

from course_utils.doctor import DoctorReport, from_json
from course_utils.doctor.anonymous import Sender, anonymous, anonymous_json, hide_path, this_sender
from course_utils.doctor.archive import LONGEST_BYTES, shared_text, write_archive

SENDER = Sender(
    home="/Users/grete", user="grete", names=("gretes-macbook.local", "gretes-macbook", "Grete Hermann", "Hermann")
)
# words that must not be left of what each text says
PLANTED = [
    ("no kernel at /Users/grete/Thesis/.venv/bin/python", ("grete", "Thesis")),
    ("dlopen(/Volumes/Emmy/quiet/libtorch_cpu.dylib, 0x6)", ("Emmy", "quiet")),
    ("PYTHONPATH=/srv/clients/acme:/opt/secret/lib/python3.12", ("clients", "acme", "secret")),
    ("connecting to gretes-macbook.local, or GRETES-MACBOOK", ("macbook", "MACBOOK")),
    ("by Grete Hermann (hermann)", ("Grete", "ermann")),
    ("index-url=https://grete:pw@pypi.acme.example/simple?token=1", ("grete", "pw", "acme", "token")),
    ("file:///srv/acme/simple", ("acme",)),
    ("~/clients/acme/net.py, line 3", ("clients", "acme", "net")),
    ("'/home/noether/x.py'", ("noether",)),
    ("see (/data/noether/run)", ("noether",)),
    ("a\n/private/var/folders/zz/q1w2e3/T/x", ("zz", "q1w2e3")),
]


@pytest.mark.parametrize(("text", "names"), PLANTED)
def test_planted_names_are_gone(text, names):
    """Names, hosts and parts of paths are gone, alone and within a document; the rest of the text is there."""
    document = json.dumps({"a": [{"b": text}], "number": 1.5, "none": None, "yes": True})
    for left in (anonymous(text, SENDER), anonymous_json(document, SENDER)):
        assert [name for name in names if name in left] == []
    found = json.loads(anonymous_json(document, SENDER))
    assert (found["number"], found["none"], found["yes"]) == (1.5, None, True)


@pytest.mark.parametrize(
    "text",
    [
        "float32/float16 and/or 3/4 of 1.5 GB/s; n/a",
        "https://github.com/pytorch/pytorch/issues/125197",
        "/usr/lib/python3.12/site-packages/torch/nn/modules/linear.py",
        "Apple M4 Max, torch 2.14.1",
        "Matrix product 512x512 on mps:0",
    ],
)
def test_what_names_nobody_stays(text):
    """Units, public addresses, installed packages and chips are what the report is about."""
    assert anonymous(text, SENDER) == text


def test_an_account_called_like_a_chip():
    """Of a sender whose account is "max" the account goes, and the chip stays."""
    max_ = Sender(home="/Users/max", user="max")

    assert anonymous("Apple M4 Max in /Users/max/x; user max", max_) == "Apple M4 Max in ~/*; user *"


def test_spaces_in_a_path():
    """A value that is one path is hidden as a whole, although parts of it have spaces."""
    found = json.loads(anonymous_json(json.dumps({"a": "/Volumes/My Disk/Secret Work/.venv"}), SENDER))

    assert found == {"a": "/Volumes/*/*/.venv"}
    assert hide_path("~/a b/.venv/bin/python3.12") == "~/*/.venv/bin/python3.12"


def test_a_snapshot_stays_one():
    """The doctor finds in an anonymous snapshot of a Mac what it found in the snapshot itself."""
    before = from_json(MAC.to_json())
    after = from_json(anonymous_json(MAC.to_json(), SENDER))

    findings = [[finding.kind for finding in DoctorReport.of(each).findings] for each in (before, after)]
    assert findings[0] == findings[1]
    assert after.chip == before.chip


def test_this_sender_is_somebody():
    """On any machine the home folder and the host's name are known."""
    sender = this_sender()

    assert sender.home.startswith("/")
    assert all(sender.names)


def test_the_archive_holds_anonymous_text(tmp_path):
    """JSON stays JSON, text stays text, and what is longer than any step writes loses its middle."""
    text = "\n".join(planted for planted, _ in PLANTED)
    files = {"a.json": json.dumps([text]).encode(), "b.txt": text.encode() + b"\xff", "c.txt": b"x\n" * LONGEST_BYTES}
    write_archive(files, tmp_path / "report.zip", SENDER)

    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(found) == {f"report/{name}" for name in files}
    assert isinstance(json.loads(found["report/a.json"]), list)
    assert len(found["report/c.txt"]) < LONGEST_BYTES + 200
    assert "cut out here" in found["report/c.txt"]
    for name in {name for _, names in PLANTED for name in names} - {"quiet", "run", "net"}:
        assert not re.search(rf"\b{name}\b", found["report/a.json"] + found["report/b.txt"]), name


def test_xml_stays_xml():
    """Texts and values of pytest's XML are anonymous; its elements, also those that look like paths, stay."""
    text = (
        '<?xml version="1.0"?><testsuites><testcase classname="tests.a" name="test_x[/Users/grete/thesis]">'
        "<failure message='at /Users/grete/x'>E at /Users/grete/thesis &lt;b&gt;</failure></testcase>tail of grete"
        "</testsuites>"
    )
    (case,) = ElementTree.fromstring(shared_text(text.encode(), SENDER)).iter("testcase")

    assert case.get("classname") == "tests.a"
    assert "<b>" in (case.find("failure").text or "")
    assert "grete" not in ElementTree.tostring(case, encoding="unicode")
