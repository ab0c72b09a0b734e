"""The script that audits torchvision's zoo, and the form of the table that it wrote."""

import re

import pytest
from support.paths import ROOT

from scripts import audit_model_zoo as zoo

DOCUMENT = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
TABLE = DOCUMENT.partition(zoo.BEGIN)[2].partition(zoo.END)[0]


def test_the_table_is_there():
    """The document says with which versions and when the zoo was audited, and covers every kind of model."""
    assert re.search(r"^torch \d+\.\d+\.\d+, torchvision \d+\.\d+\.\d+, \d+ models, \d{4}-\d\d-\d\d$", TABLE, re.M)
    rows = [line for line in TABLE.splitlines() if line.startswith("| ") and "training step" not in line]
    assert {row.split(" | ")[0].removeprefix("| ") for row in rows} == set(zoo.TASKS)
    assert all(len(row.split(" | ")) == 5 for row in rows)


def test_every_model_is_in_the_table():
    """The table has every builder of the installed torchvision, and nothing crashed."""
    listed = {name for row in TABLE.splitlines() if row.startswith("| ") for name in row.split(" | ")[1].split(", ")}
    missing = {name for task in zoo.TASKS for name in zoo.models_of(task)} - listed

    assert not missing
    assert "no audit" not in TABLE


def test_every_kind_of_result_is_explained():
    """Each kind of finding in the table has its explanation in the document."""
    kinds = {cell.split(":")[0] for row in TABLE.splitlines() for cell in re.findall(r"(?:\| |<br>)([a-z ]+: )", row)}

    assert all(f"**{kind}**" in DOCUMENT for kind in kinds)


def test_rows_with_the_same_result_share_a_line():
    """Models of one task with the same input and result share a line of the table."""
    same = [zoo.Row("video", name, "1x3", ("missing: aten::x, forward",), ()) for name in ("a", "b")]
    text = zoo.table(same, "torch 1")

    assert "| video | a, b | 1x3 | missing: aten::x, forward | clean |" in text


def test_writing_needs_the_markers(tmp_path):
    """The table goes between the markers, and a document without them is refused."""
    document = tmp_path / "x.md"
    document.write_text(f"before {zoo.BEGIN} old {zoo.END} after")
    zoo.write("new", document)
    assert document.read_text() == f"before {zoo.BEGIN}\nnew\n{zoo.END} after"
    document.write_text("nothing")
    with pytest.raises(ValueError, match="no markers"):
        zoo.write("new", document)
