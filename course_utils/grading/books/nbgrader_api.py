"""nbgrader's own gradebook code, loaded quickly; everything that bends another package's import stands here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from course_utils.grading.books.database_url import GradebookError

_SLOW = "rfc3987_syntax"


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
    """Return the schema version that this nbgrader writes, and all that it knows."""
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    scripts = ScriptDirectory(ALEMBIC_DIR)
    return str(scripts.get_current_head()), frozenset(script.revision for script in scripts.walk_revisions())


@contextmanager
def alembic_on_path() -> Iterator[None]:
    """Let nbgrader find `alembic`, which it calls by name for a new gradebook, beside this Python."""
    before = os.environ.get("PATH")
    os.environ["PATH"] = os.pathsep.join(filter(None, (str(Path(sys.executable).parent), before)))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = before
