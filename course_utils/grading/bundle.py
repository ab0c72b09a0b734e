"""The archive that students get: the course without solutions, hidden tests and what only its makers need."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from course_utils.grading.release import generate, source_names
from course_utils.grading.release_gate import (
    SHORTEST_TELLING_LINE,
    hidden_lines,
    solution_lines,
    solution_texts,
    texts_in,
)

FOLDER = "pytorch-apple-silicon-course"
# what students get, as patterns below the course's root; exercises/ is generated anew and not copied
CONTENT = (
    "README.md",
    "LICENSE",
    "Makefile",
    "environment.yml",
    "nbgrader_config.py",
    "pyproject.toml",
    "benchmarks/README.md",
    "course_utils/**/*",
    "docs/**/*",
    "notebooks/[0-9][0-9]_*.ipynb",
    "notebooks/*.png",
    "notebooks/*.svg",
    "scripts/check_python.py",
    "scripts/list_requirements.py",
    "scripts/setup_environment.sh",
)
# zip's earliest date: an archive made twice has the same bytes
DATE = (1980, 1, 1, 0, 0, 0)


def collect_files(root: Path) -> dict[str, bytes]:
    """Collect what goes into the archive.

    Args:
        root: the course's root, with solutions/.

    Returns:
        The content of each file by its path in the archive, below FOLDER, in order.

    Raises:
        GenerationError: when nbgrader does not make an exercise.
    """
    found = {
        path.relative_to(root).as_posix(): path
        for pattern in CONTENT
        for path in root.glob(pattern)
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts)
    }
    files = {name: path.read_bytes() for name, path in found.items()}
    with tempfile.TemporaryDirectory(prefix="course-bundle-") as scratch:
        generate(root, source_names(root), Path(scratch))
        for path in Path(scratch).rglob("*"):
            if path.is_file():
                files[path.relative_to(scratch).as_posix()] = path.read_bytes()
    return dict(sorted(files.items()))


def find_secrets(files: Mapping[str, bytes], sources: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Look for hidden tests and solutions in an archive's files.

    In exercises/ no telling line of either may stand. Elsewhere no line of a hidden test and no solution as a whole;
    a line of a solution, such as a loop over layers, stands in lessons too.

    Args:
        files: contents by path.
        sources: the instructor's notebooks.

    Returns:
        One sentence for each secret and file.
    """
    texts = {name: _readable(name, data) for name, data in files.items()}
    found = []
    for source in sources:
        notebook = dict(source)
        everywhere = [line for line in hidden_lines(notebook) if len(line) >= SHORTEST_TELLING_LINE]
        everywhere += [text for text in solution_texts(notebook) if len(text) >= SHORTEST_TELLING_LINE]
        in_exercises = [*hidden_lines(notebook), *solution_lines(notebook)]
        for name, text in texts.items():
            for secret in in_exercises if name.startswith("exercises/") else everywhere:
                if secret in text:
                    found.append(f"{name} would give away {secret.splitlines()[0]!r}")
    return tuple(dict.fromkeys(found))


def _readable(name: str, data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    if name.endswith(".ipynb"):
        text = "\n".join(texts_in(json.loads(text)))
    # a solution copied elsewhere may stand at another indentation
    return "\n".join(line.strip() for line in text.splitlines())


def write_archive(files: Mapping[str, bytes], output: Path) -> None:
    """Write a zip with fixed dates, order and rights; a broken-off write leaves no file behind."""
    handle, name = tempfile.mkstemp(prefix=f".{output.name}-", dir=output.resolve().parent)
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
            for path, data in sorted(files.items()):
                entry = zipfile.ZipInfo(f"{FOLDER}/{path}", DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # Unix, so that the rights count on every system that packs
                entry.external_attr = (0o100755 if path.endswith(".sh") else 0o100644) << 16
                archive.writestr(entry, data)
        scratch.chmod(0o644)
        scratch.replace(output)
    finally:
        scratch.unlink(missing_ok=True)
