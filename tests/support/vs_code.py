"""VS Code, as far as it can run here: how it saves a notebook, and how it starts a notebook's kernel."""

from __future__ import annotations

import json

import nbformat
from nbclient import NotebookClient


def as_vs_code(notebook):
    """Return a notebook as VS Code saves it: what it does not know is dropped, languages and a kernel are noted."""
    cells = [cell | {"metadata": {"vscode": {"languageId": "python"}}} for cell in notebook["cells"]]
    kernel = {"display_name": ".venv", "language": "python", "name": "python3"}
    return notebook | {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}}


def run_as_vs_code(path):
    """Run a notebook in a kernel as VS Code starts it: in the notebook's folder, told its path by a variable."""
    notebook = nbformat.reads(json.dumps(as_vs_code(json.loads(path.read_text(encoding="utf-8")))), as_version=4)
    told = nbformat.v4.new_code_cell(f"__vsc_ipynb_file__ = {str(path)!r}")
    notebook.cells.insert(0, told)
    place = {"metadata": {"path": path.parent}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    return notebook


def errors_in(notebook):
    """Return the outputs of a notebook that are errors."""
    return [out for cell in notebook.cells for out in cell.get("outputs", []) if out["output_type"] == "error"]
