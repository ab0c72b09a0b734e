"""nbgrader's own gradebook code, loaded quickly; everything that bends another package's import stands here."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from course_utils.grading.books.database_url import GradebookError

# module -> the names that nbgrader's gradebook imports from it and does not use (nbgrader 0.9.5 and 0.9.6)
_UNUSED = {
    "setuptools": (),
    "setuptools.archive_util": ("unpack_archive", "unpack_tarfile", "unpack_zipfile"),
    "nbformat": (),
    "nbformat.notebooknode": ("NotebookNode",),
    "nbgrader.auth": ("Authenticator",),
}
_REVISION = re.compile(r"^revision = ['\"](\w+)['\"]", re.MULTILINE)
_BEFORE = re.compile(r"^down_revision = ['\"](\w+)['\"]", re.MULTILINE)


@cache
def load_api() -> Any:
    """Import nbgrader.api, which the extra "grading" installs, without what it does not need.

    Four things are set aside while it is imported, and can be imported as before afterwards. nbgrader's own `__init__`
    loads its server extensions, and with them nbconvert and Jupyter's servers. nbgrader.utils takes functions that
    unpack archives from setuptools, and a class of nbformat for its annotations; nbformat loads jsonschema, and that a
    package that builds about 35 parsers (python-jsonschema #1392). nbgrader.auth loads requests, for JupyterHub. The
    gradebook uses none of them.

    Raises:
        GradebookError: when nbgrader is not installed.
    """
    with _set_aside():
        try:
            return importlib.import_module("nbgrader.api")
        except ImportError as error:
            raise GradebookError(
                f"nbgrader cannot be imported ({error}); install the course with its extra, pip install '.[grading]'"
            ) from error


@contextmanager
def _set_aside() -> Iterator[None]:
    """Import nbgrader's modules without its `__init__`, and without what they import and the gradebook does not use."""
    stands_in: dict[str, ModuleType] = {}
    spec = importlib.util.find_spec("nbgrader") if "nbgrader" not in sys.modules else None
    if spec is not None and spec.submodule_search_locations is not None:
        package = ModuleType("nbgrader")
        package.__path__ = list(spec.submodule_search_locations)
        stands_in["nbgrader"] = package
    for name, attributes in _UNUSED.items():
        if name not in sys.modules:
            stands_in[name] = module = ModuleType(name)
            module.__dict__.update(dict.fromkeys(attributes, object))
    sys.modules.update(stands_in)
    try:
        yield
    finally:
        for name in stands_in:
            del sys.modules[name]
        if "nbgrader" in stands_in:
            # whoever imports nbgrader later gets it whole
            for name in [name for name in sys.modules if name.startswith("nbgrader.")]:
                del sys.modules[name]


def schema_versions() -> tuple[str, frozenset[str]]:
    """Return the schema version that this nbgrader writes, and all that it knows.

    Its revisions are a chain of small modules, which are read as text: alembic takes a third of a second to load.
    """
    spec = importlib.util.find_spec("nbgrader")
    (folder,) = (spec.submodule_search_locations or [""])[:1] if spec is not None else [""]
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(folder, "alembic", "versions").glob("*.py"))]
    known = {found[1] for text in texts if (found := _REVISION.search(text))}
    before = {found[1] for text in texts if (found := _BEFORE.search(text))}
    (current,) = known - before
    return current, frozenset(known)
