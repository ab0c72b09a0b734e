"""The picture of the house is that of the code, and every arrow in it points down."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from scripts.layered_layout import layers_of
from scripts.read_imports import read_house
from support.paths import ROOT

from scripts import draw_architecture

SVG = "{http://www.w3.org/2000/svg}"
AGAIN = "the code's imports changed; run: python -m scripts.draw_architecture"


@pytest.fixture(scope="module")
def house():
    """Read the course's own rooms."""
    return read_house(ROOT)


def contrast(colour, other):
    """Compute WCAG's contrast of two colours such as #0072B2."""

    def luminance(text):
        parts = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(colour), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_picture_is_that_of_the_code(house):
    """Drawing again gives the committed file, byte for byte."""
    committed = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")

    assert draw_architecture.draw(house) == committed, AGAIN


def test_every_room_is_in_the_picture(house):
    """Each module and package of course_utils, the lessons and the exercises have a box with their name."""
    drawing = ET.fromstring(draw_architecture.draw(house))
    words = {element.text for element in drawing.iter(f"{SVG}text")}
    package = ROOT / "course_utils"
    expected = {path.stem for path in package.glob("*.py")} - {"__init__"}
    expected |= {path.parent.name for path in package.glob("*/__init__.py")}

    assert expected | {"lessons", "exercises"} <= words


def test_every_arrow_points_down(house):
    """Each arrow of the picture ends lower than it begins, and each use leads to a lower layer."""
    paths = re.findall(
        r'<path d="M[\d.-]+,([\d.-]+)[^"]* [\d.-]+,([\d.-]+)" fill="none"', draw_architecture.draw(house)
    )
    layer = layers_of(draw_architecture.drawn(house))

    assert len(paths) == sum(map(len, draw_architecture.drawn(house).values()))
    assert all(float(end) > float(start) for start, end in paths)
    for name, room in house.rooms.items():
        assert all(layer[goal] > layer[name] for goal in room.uses if name in layer)


def test_devices_are_at_the_bottom(house):
    """The devices use no other room, and neither the command line nor the grader is used from below."""
    assert house.rooms["devices"].uses == set()
    for name, room in house.rooms.items():
        if name not in ("cli", "commands", "grading"):
            assert not room.uses & {"cli", "commands", "grading"}, name


def test_a_new_import_changes_the_picture(house):
    """The comparison can fail: one more use is another picture."""
    tables = replace(house.rooms["tables"], uses=frozenset({"error_text"}))
    changed = replace(house, rooms={**house.rooms, "tables": tables})

    assert draw_architecture.draw(changed) != draw_architecture.draw(house)


def test_a_circle_is_not_drawn(house):
    """A room that uses what stands above it is an error that names the way."""
    devices = replace(house.rooms["devices"], uses=frozenset({"timing"}))

    with pytest.raises(ValueError, match="devices -> timing"):
        draw_architecture.draw(replace(house, rooms={**house.rooms, "devices": devices}))


def test_colours_say_nothing_alone(house):
    """Each mark has its letter, which reads on its colour; the picture has a title and a description."""
    letters = [letter for letter, _ in draw_architecture.MARKS.values()]
    drawing = ET.fromstring(draw_architecture.draw(house))

    assert len(set(letters)) == len(letters)
    assert all(contrast(colour, "#ffffff") >= 3.5 for _, colour in draw_architecture.MARKS.values())
    assert contrast(draw_architecture.ARROW, draw_architecture.PAPER) >= 4.5
    assert drawing.find(f"{SVG}title").text
    assert "commands uses" in drawing.find(f"{SVG}desc").text


def test_the_page_names_every_room(house):
    """docs/architecture.md says what each room of course_utils knows."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", "\n".join(line for line in page.splitlines() if line.startswith("|"))))

    missing = set(house.rooms) - named - {"lessons", "exercises"}
    assert not missing, f"docs/architecture.md has no row for {', '.join(sorted(missing))}"


def test_check_says_what_to_do(tmp_path, monkeypatch, capsys):
    """--check changes nothing and exits with 1 when the drawing is old; without it, the drawing is made."""
    old = tmp_path / "architecture.svg"
    old.write_text("old")
    monkeypatch.setattr(draw_architecture, "OUTPUT", old)

    assert draw_architecture.main(["--check"]) == 1
    assert "python -m scripts.draw_architecture" in capsys.readouterr().err
    assert old.read_text() == "old"
