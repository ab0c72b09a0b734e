"""Build the package with the reader's files inside, for `course start`; pyproject.toml names the class.

An editable installation needs no copies: the clone has the files.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent.parent
# pip builds in an environment of its own, which holds setuptools and does not have this folder on its path
sys.path.insert(0, str(ROOT))

from course_utils.exercises.reader_files import PACKED, READER_FILES, find_files  # noqa: E402


class BuildWithReaderFiles(build_py):
    """setuptools' step that collects Python files, and then the lessons and exercises."""

    def run(self) -> None:
        """Collect the package, then copy the reader's files into it."""
        super().run()
        if self.editable_mode:
            return
        for name, source in find_files(ROOT, READER_FILES).items():
            target = Path(self.build_lib, "course_utils", PACKED.name, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
