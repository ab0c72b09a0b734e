"""The formatter of notebooks: one form, nothing of the student's or author's text lost."""

import copy

from scripts.format_notebooks import as_text, canonical

MESSY = {
    "nbformat": 4,
    "nbformat_minor": 4,
    "metadata": {"kernelspec": {"name": "conda-env-dl"}, "widgets": {}},
    "cells": [
        {"cell_type": "markdown", "metadata": {"collapsed": True}, "source": "# Title  \n\ntext\n"},
        {
            "cell_type": "code",
            "id": "l09-run",
            "metadata": {"tags": [], "execution": {"iopub": 1}},
            "execution_count": 7,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}],
            "source": ["print(1)\n"],
        },
        {
            "cell_type": "code",
            "id": "l09-strict",
            "metadata": {"tags": ["nbval-check-output"]},
            "execution_count": 8,
            "outputs": [{"output_type": "execute_result", "execution_count": 8, "data": {}, "metadata": {}}],
            "source": "2",
        },
    ],
}


def test_form_is_one():
    """Kernel, format, counts and editor metadata are set; outputs stay only where nbval compares them."""
    found = canonical(copy.deepcopy(MESSY), "09_memory")

    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    assert found["metadata"]["kernelspec"]["name"] == "python3"
    assert found["cells"][0] == {
        "cell_type": "markdown",
        "id": "09-cell-1",
        "metadata": {},
        "source": ["# Title\n", "\n", "text"],
    }
    assert found["cells"][1]["outputs"] == []
    assert found["cells"][1]["metadata"] == {}
    assert found["cells"][2]["outputs"][0]["execution_count"] == 1
    assert [cell.get("execution_count") for cell in found["cells"]] == [None, None, 1]


def test_formatting_twice_changes_nothing():
    """The canonical form of the canonical form is itself."""
    once = canonical(copy.deepcopy(MESSY), "09_memory")

    assert as_text(canonical(copy.deepcopy(once), "09_memory")) == as_text(once)


def test_grading_metadata_stays():
    """Nbgrader's metadata is kept as it is."""
    grading = {"grade": True, "grade_id": "t", "points": 2}
    cell = {"cell_type": "code", "id": "a", "metadata": {"nbgrader": grading}, "source": "1", "outputs": []}

    assert canonical({"cells": [cell]}, "09")["cells"][0]["metadata"] == {"nbgrader": grading}
