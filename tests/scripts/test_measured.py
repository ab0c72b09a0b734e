"""measured/: every file in it is fit, what is sent is refused with every reason, and a good one is on the page."""

import json
from dataclasses import replace

import pytest
from support.described_documents import described, product

from scripts import measured
from scripts.measured import crossing, main, page


def test_a_good_contribution_is_on_the_page(tmp_path, capsys):
    """Its chip, its torch, its ratio and the size from which its GPU wins."""
    path = tmp_path / "apple_m4_16gb_torch_2.14.1.json"
    path.write_text(described().to_json(), encoding="utf-8")

    assert main([str(path), "--page"]) == 0

    shown = capsys.readouterr().out
    assert "| Apple M4 | macOS 15.6.1 | 2.14.1 | mps: from 256 on |" in shown
    assert "## Matrix product 1024x1024" in shown
    assert "| 10.00 |" in shown


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'{"kind": "course bench", "schema_version": 99}'])
def test_what_is_no_document_is_refused(tmp_path, capsys, content):
    """Broken files are named with a reason, and are not on the page."""
    path = tmp_path / "broken.json"
    path.write_bytes(content)

    assert main([str(path), "--page"]) == 1

    captured = capsys.readouterr()
    assert "broken.json: refused" in captured.err
    assert "broken" not in captured.out


@pytest.mark.parametrize(("place", "said"), [("top", "'owner'"), ("timing", "'owner'"), ("size", "MiB")])
def test_what_a_bench_does_not_write_is_refused(tmp_path, capsys, place, said):
    """A name beside what is read would be published all the same, and so would a file of any size."""
    data = json.loads(described().to_json())
    (data if place == "top" else data["comparisons"][0]["timings"][0])["owner"] = "x" * (
        2**21 if place == "size" else 3
    )
    path = tmp_path / "apple_m4_16gb_torch_2.14.1.json"
    path.write_text(json.dumps(data), encoding="utf-8")

    assert main([str(path)]) == 1
    assert said in capsys.readouterr().err


def test_an_address_in_what_is_not_read_is_refused(tmp_path, capsys):
    """Warnings are made anew when a document is read; what the file says in their place is looked at, too."""
    data = json.loads(described().to_json())
    data["comparisons"][0]["timings"][0]["warnings"] = ["ask some@body.org"]
    path = tmp_path / "apple_m4_16gb_torch_2.14.1.json"
    path.write_text(json.dumps(data), encoding="utf-8")

    assert main([str(path)]) == 1
    assert "some@body.org" in capsys.readouterr().err


def test_another_reader_s_readings_are_refused(tmp_path, monkeypatch, capsys):
    """Readings that stand in a file of measured/ are that machine's, whatever else the second file says."""
    theirs = tmp_path / "measured" / "apple_m4_16gb_torch_2.14.1.json"
    mine = tmp_path / "apple_m4_24gb_torch_2.14.1.json"
    theirs.parent.mkdir()
    monkeypatch.setattr(measured, "MEASURED", theirs.parent)
    theirs.write_text(described().to_json(), encoding="utf-8")
    own = described(comparisons=(product(64, 3.1e-5, 3.1e-4),))
    copy = described({"ram_bytes": 24 * 2**30}, comparisons=(*own.comparisons, described().comparisons[2]))
    codes = []
    for document in (replace(copy, comparisons=own.comparisons), copy):
        mine.write_text(document.to_json(), encoding="utf-8")
        codes.append(main([str(mine)]))
    said = capsys.readouterr().err

    assert codes == [0, 1], said
    assert "Matrix product 1024x1024 on cpu" in said
    assert theirs.name in said
    assert "64x64" not in said


def test_every_file_that_was_shared_is_fit():
    """What lies in measured/ is fit, where something lies there."""
    assert main([]) == (0 if any(measured.MEASURED.glob("*.json")) else 2)


@pytest.mark.parametrize(("names", "code"), [(["good"], 0), (["good", "bad"], 1), ([], 2)])
def test_without_names_the_whole_folder_is_checked(tmp_path, monkeypatch, names, code):
    """One file that is refused makes the check of the folder fail, and the site's page has the others."""
    monkeypatch.setattr(measured, "MEASURED", tmp_path)
    for name in names:
        path = tmp_path / ("apple_m4_16gb_torch_2.14.1.json" if name == "good" else "another.json")
        path.write_text(described().to_json(), encoding="utf-8")

    assert main([]) == code
    assert len(measured.fit_documents(tmp_path)) == names.count("good")


def test_a_gpu_that_never_wins():
    """The sentence does not claim a size that was not measured; one size has no crossing."""
    slow = described()
    swapped = tuple(
        type(each)(each.label, (each.timings[0], type(each.timings[1])(**(vars_of(each.timings[1], 9.0)))))
        for each in slow.comparisons
    )

    assert crossing(described(comparisons=swapped), "mps") == "not up to 1024"
    assert crossing(described(comparisons=slow.comparisons[:1]), "mps") == "-"
    assert "not up to 1024" in page([described(comparisons=swapped)])


def vars_of(timing, seconds):
    """Return a timing's fields with other readings."""
    fields = {name: getattr(timing, name) for name in timing.__dataclass_fields__}
    return fields | {"times_s": (seconds,) * 9}
