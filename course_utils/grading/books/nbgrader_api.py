"""nbgrader's own gradebook code, loaded quickly; everything that bends another package's import stands here."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from course_utils.grading.books.database_url import GradebookError

_SLOW = "rfc3987_syntax"
_REVISION = re.compile(r"^revision = ['\"](\w+)['\"]", re.MULTILINE)
_BEFORE = re.compile(r"^down_revision = ['\"](\w+)['\"]", re.MULTILINE)


def load_api() -> Any:
    """Import nbgrader.api, which the extra "grading" installs.

    nbgrader imports nbformat, that jsonschema, and that, for the format "iri" alone, a package that builds about 35
    parsers at its import (python-jsonschema #1392): 1.2 of 1.8 seconds. jsonschema goes without where it is not
    installed, and no schema of nbformat, nbgrader or Jupyter uses the format, so here it counts as not installed
    while nbgrader is imported; afterwards it can be imported as before.

    Raises:
        GradebookError: when nbgrader is not installed.
    """
    hide = _SLOW not in sys.modules and "jsonschema" not in sys.modules
    if hide:
        sys.modules[_SLOW] = None  # type: ignore[assignment]  # None is how Python marks what cannot be imported
    try:
        from nbgrader import api
    except ImportError as error:
        raise GradebookError(
            f"nbgrader cannot be imported ({error}); install the course with its extra, pip install '.[grading]'"
        ) from error
    finally:
        if hide:
            del sys.modules[_SLOW]
    return api


def schema_versions() -> tuple[str, frozenset[str]]:
    """Return the schema version that this nbgrader writes, and all that it knows.

    Its revisions are a chain of small modules, which are read as text: alembic takes a third of a second to load.
    """
    from nbgrader.dbutil import ALEMBIC_DIR

    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(ALEMBIC_DIR, "versions").glob("*.py"))]
    known = {found[1] for text in texts if (found := _REVISION.search(text))}
    before = {found[1] for text in texts if (found := _BEFORE.search(text))}
    (current,) = known - before
    return current, frozenset(known)
