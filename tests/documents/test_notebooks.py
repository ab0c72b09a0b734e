"""Conventions of notebooks; each message names the cell and the fix. `make format` repairs what a machine can."""

import ast
import json
import re

import pytest
from support.found import found
from support.paths import ROOT

from scripts.format_notebooks import as_text, canonical, notebook_files

FILES = notebook_files(ROOT)
LESSONS = [path for path in FILES if path.parent.name == "notebooks"]
SOLUTIONS = [path for path in FILES if path.parent.parent.name == "solutions"]
KNOWN_TAGS = {"wants-mps", "nbval-check-output", "raises-exception", "your-turn", "solution-only", "remove-cell"}
FEWEST = 3  # predictions and turns of a lesson
LONGEST_CELL = 25
# a student's task and its tools may be longer than a lesson's cell, and a check cell has a check for each rule
LONGEST_EXERCISE_CELL = 80
LONGEST_CHECK_CELL = 120
DATED = re.compile(r"last verified", re.IGNORECASE)


def name_of(path):
    return str(path.relative_to(ROOT))


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def cells(path, kind=None):
    """Yield (where, source, cell) for the cells of a kind."""
    for number, cell in enumerate(read(path)["cells"], start=1):
        if kind in (None, cell["cell_type"]):
            yield f"{name_of(path)}, cell {number} ({cell['id']})", "".join(cell["source"]), cell


def prose(text):
    """Return markdown without its fenced code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


each_notebook = pytest.mark.parametrize("path", FILES, ids=name_of)
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=name_of)


def test_lessons_are_there():
    """The lessons begin with 00 and are numbered without doubles."""
    numbers = [path.name[:2] for path in LESSONS]

    assert numbers[0] == "00"
    assert len(set(numbers)) == len(numbers)


@each_notebook
def test_canonical_form(path):
    """A notebook is in the one form that the repository keeps: nbformat 4.5, python3, cleared outputs."""
    assert path.read_text(encoding="utf-8") == as_text(canonical(read(path), path.stem)), (
        f"{name_of(path)} is not in canonical form; run `make format`"
    )


@each_notebook
def test_ids_are_readable_and_unique(path):
    """Cell ids begin with the lesson (l04-) or exercise (ex04-), are readable, and occur once."""
    prefix = f"l{path.name[:2]}-" if path in LESSONS else f"ex{path.name[:2]}-"
    seen = set()
    for where, _, cell in found(cells(path)):
        assert re.fullmatch(rf"{prefix}[a-z][a-z0-9-]*", cell["id"]), f"{where}: begin the id with {prefix}, in words"
        assert "-cell-" not in cell["id"], f"{where}: `make format` made this id; give it a name that says what it is"
        assert cell["id"] not in seen, f"{where}: this id occurs twice; rename one"
        seen.add(cell["id"])


@each_notebook
def test_headings(path):
    """One H1, in the first cell, and no skipped level."""
    levels = []
    for where, source, _ in cells(path, "markdown"):
        for marks, title in re.findall(r"^(#{1,6}) (.+)$", prose(source), re.MULTILINE):
            level = len(marks)
            previous = levels[-1] if levels else 0
            assert level <= previous + 1, f"{where}: '{title}' skips from level {previous} to {level}"
            levels.append(level)
    assert levels.count(1) == 1, f"{name_of(path)} has {levels.count(1)} headings of level 1; it needs exactly one"
    assert "".join(read(path)["cells"][0]["source"]).startswith("# "), f"{name_of(path)}: begin with the title"


@each_notebook
def test_cells_are_short_and_parse(path):
    """No code cell is longer than a screen, and each parses."""
    for where, source, cell in found(cells(path, "code")):
        grading = cell["metadata"].get("nbgrader")
        longest = LONGEST_CHECK_CELL if grading and grading["grade"] else LONGEST_EXERCISE_CELL
        longest = longest if grading else LONGEST_CELL
        assert source.strip(), f"{where}: remove this empty cell"
        assert source.count("\n") < longest, f"{where}: split this cell, it has more than {longest} lines"
        ast.parse(source)


@each_notebook
def test_tags_are_known(path):
    """Tags are from the known few; a misspelt one would change nothing in silence."""
    for where, _, cell in found(cells(path)):
        unknown = set(cell["metadata"].get("tags", [])) - KNOWN_TAGS
        assert not unknown, f"{where}: unknown tag {', '.join(unknown)}; use {', '.join(sorted(KNOWN_TAGS))}"


@each_notebook
def test_strict_cells_have_steady_outputs(path):
    """A cell whose output nbval compares has a stored output without times, paths or devices of a machine."""
    for where, _, cell in found(cells(path, "code")):
        if "nbval-check-output" in cell["metadata"].get("tags", []):
            stored = json.dumps(cell["outputs"])
            assert cell["outputs"], f"{where}: run it in JupyterLab, save, and run `make format`"
            assert '"stderr"' not in stored, f"{where}: its output has a warning; a strict cell may have none"
            assert not re.search(r"0x[0-9a-f]{6,}|/home/|/Users/|mps:0|cuda:0", stored), (
                f"{where}: not the same elsewhere"
            )


@each_notebook
def test_cells_that_print_times_are_not_strict(path):
    """A cell that reads the machine's clock is never compared."""
    for where, source, cell in found(cells(path, "code")):
        if re.search(r"perf_counter|compare_devices|sweep_devices", source):
            assert "nbval-check-output" not in cell["metadata"].get("tags", []), f"{where}: its output differs each run"


def test_images_have_alt_text():
    """Every image of notebooks and pages says in words what it shows."""
    texts = [(where, source) for path in FILES for where, source, _ in cells(path, "markdown")]
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    texts += [(page.name, page.read_text(encoding="utf-8")) for page in pages]
    written = [(where, alt) for where, source in texts for alt in re.findall(r"!\[([^\]]*)\]\(", source)]
    tags = [(where, tag) for where, source in texts for tag in re.findall(r"<img[^>]*>", source)]
    alts = written + [(where, "".join(re.findall(r'alt="([^"]*)"', tag))) for where, tag in tags]
    for where, alt in found(alts):
        assert len(alt) >= 15, f"{where}: the image needs an alt text that says what it shows"


def test_local_links_resolve():
    """Every link to a file of the course finds it."""
    links = [
        (path, where, target)
        for path in FILES
        for where, source, _ in cells(path, "markdown")
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", source)
        if not re.match(r"[a-z]+:", target)
    ]
    for path, where, target in found(links):
        assert (path.parent / target).exists(), f"{where}: nothing at {target}"


@each_notebook
def test_no_non_blocking_copies(path):
    """No cell copies to the device without waiting: the source may be freed first (pytorch #139550)."""
    for where, source, _ in found(cells(path, "code")):
        assert "non_blocking=True" not in source, f"{where}: remove non_blocking=True"


@each_notebook
def test_device_is_chosen_by_the_probe(path):
    """No cell decides by is_available or is_built alone; the probe computes."""
    for where, source, _ in found(cells(path, "code")):
        assert not re.search(r"mps\.is_(available|built)\(\)", source), f"{where}: use probe_mps() or pick_device()"


@each_lesson
def test_lesson_shape(path):
    """A lesson has its card, myths with sources, a recap."""
    text = "\n".join(source for _, source, _ in cells(path, "markdown"))
    first = "".join(read(path)["cells"][0]["source"])
    for needed in ("You will be able to", "Time", "You need", "Last verified"):
        assert f"**{needed}**" in first, f"{name_of(path)}: the card in the first cell lacks '{needed}'"
    assert re.search(r"torch \d+\.\d+", first), f"{name_of(path)}: 'Last verified' names no torch version"
    for needed in ("## Myth or fact?", "## Recap"):
        assert needed in text, f"{name_of(path)} lacks the section '{needed}'"
    recap = text.split("## Recap")[1]
    assert re.findall(r"^(\d)\. ", recap, re.MULTILINE) == ["1", "2", "3"], f"{name_of(path)}: three lines of recap"
    myths = re.search(r"## Myth or fact\?\n\n((?:\|.*\n)+)", text).group(1).splitlines()[2:]
    assert myths, f"{name_of(path)}: the myth box is empty"
    for row in myths:
        assert len(row.strip("|").split("|")) == 3, f"{name_of(path)}: a myth needs fact and dated source: {row}"


@each_lesson
def test_figures_print_their_sentence(path):
    """A cell that draws by itself prints what the figure shows; plot_ functions do so on their own."""
    for where, source, _ in found(cells(path, "code")):
        if "plt.show()" in source:
            assert "print(" in source, f"{where}: print the sentence that says what the figure shows"
            assert 'facecolor="white"' in source, f"{where}: give the figure a white face, for dark pages"


def numbered(path, kind):
    """Return the code cells of a lesson's predictions ("predict") or turns ("turn"), by their number."""
    pattern = rf"l{path.name[:2]}-{kind}(\d+)"
    code = {cell["id"]: (source, cell) for _, source, cell in cells(path, "code")}
    return {int(match[1]): code[name] for name in code if (match := re.fullmatch(pattern, name))}


@each_lesson
def test_a_lesson_asks_for_three_predictions(path):
    """Each lNN-predictK asks with dots; its name is compared, once measured, in a later cell."""
    predictions = numbered(path, "predict")
    assert len(predictions) >= FEWEST, f"{name_of(path)} asks for {len(predictions)} predictions"
    assert sorted(predictions) == list(range(1, len(predictions) + 1)), f"{name_of(path)}: number them from 1"
    texts = [source for _, source, _ in cells(path, "code")]
    for source, cell in found(predictions.values()):
        asked = re.findall(r'^predict\(\s*("[^"]+"),\s*\.\.\.', source, re.MULTILINE)
        assert asked, f"{cell['id']}: write predict(name, ..., unit) at the beginning of a line, with dots as stored"
        later = "".join(texts[texts.index(source) + 1 :])
        for name in asked:
            assert re.search(rf"compare_prediction\(\s*{re.escape(name)}", later), (
                f"{cell['id']}: {name} is never compared"
            )
    assert "my_guess" not in "".join(texts), f"{name_of(path)}: predict() takes the place of my_guess"


@each_lesson
def test_a_lesson_has_three_turns(path):
    """Each lNN-turnK is tagged, is told in the text cell before it, and is checked by the cell lNN-turnK-check."""
    turns = numbered(path, "turn")
    order = [(cell["id"], cell) for _, _, cell in cells(path)]
    ids = [identifier for identifier, _ in order]
    assert len(turns) >= FEWEST, f"{name_of(path)} has {len(turns)} turns"
    assert sorted(turns) == list(range(1, len(turns) + 1)), f"{name_of(path)}: number the turns from 1"
    for _, cell in found(turns.values()):
        name = cell["id"]
        assert "your-turn" in cell["metadata"].get("tags", []), f"{name}: tag it your-turn"
        before = order[ids.index(name) - 1][1]
        assert before["cell_type"] == "markdown", f"{name}: say in a text cell before it what to do"
        assert f"{name}-check" in ids[ids.index(name) :], f"{name}: its check is the cell {name}-check, below it"
        check = "".join(order[ids.index(f"{name}-check")][1]["source"])
        task = re.search(r"^\w+ = Task\(([^)]*)\)", check, re.MULTILINE)
        assert task, f"{name}-check: it makes a Task"
        assert "points=" not in task[1], f"{name}-check: a lesson's task has no points"
        assert re.search(r"\.score\(\)$", check), f"{name}-check: end with score(), which shows the table"
    tagged = {cell["id"] for _, _, cell in cells(path) if "your-turn" in cell["metadata"].get("tags", [])}
    assert tagged == {cell["id"] for _, cell in turns.values()}, f"{name_of(path)}: only turns are tagged your-turn"


@pytest.mark.parametrize("path", SOLUTIONS, ids=name_of)
def test_the_end_of_an_exercise_names_the_next_step(path):
    """The last cell says how to check, hand in and read the solution, and where to go on."""
    last = "".join(read(path)["cells"][-1]["source"])
    number = path.name[:2]
    for command in ("check", "submit", "solution"):
        assert f"`course {command} {number}`" in last, f"{name_of(path)}: the last cell does not name course {command}"
    is_capstone = path.stem.endswith("_capstone")
    assert is_capstone or "../../notebooks/" in last, f"{name_of(path)}: the last cell names no next lesson"
