"""Whether the file of a notebook is what the student sees: was it saved since it last ran in JupyterLab?

Commands read the file, and JupyterLab keeps what was typed in the browser until it saves. What is in the browser cannot
be asked from here; when the notebook's kernel was last busy can, of each Jupyter server on this machine that lists
itself (jupyter_server 1 and 2 write jpserver-*.json). A kernel that was busy after the file was written says that
cells ran that may not be saved.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from course_utils.exercises.notebook import Cell

PATIENCE_S = 2.0
# JupyterLab writes the file a moment after a kernel says its last word, and clocks of file systems are coarse
SLACK_S = 3.0
CHECK_SUFFIX = "-check"


@dataclass(frozen=True)
class JupyterServer:
    """A Jupyter server of this user on this machine.

    Args:
        url: where it answers.
        token: what it wants to be told.
        root: the folder whose notebooks it shows.
    """

    url: str
    token: str
    root: Path

    def last_busy(self, notebook: Path) -> float | None:
        """Return when the kernel of a notebook last said something, seconds since 1970; None where it has none.

        Raises:
            OSError: when nobody answers.
        """
        import urllib.request  # brings TLS, and most readers of a file have no server to ask

        request = urllib.request.Request(
            urllib.parse.urljoin(self.url, "api/sessions"), headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            sessions = json.load(answer)
        found = [
            datetime.fromisoformat(session["kernel"]["last_activity"]).timestamp()
            for session in sessions
            if session.get("kernel") and (self.root / session["path"]).resolve() == notebook.resolve()
        ]
        return max(found, default=None)


def running_servers(folder: Path) -> Iterator[JupyterServer]:
    """List the servers that have a file in Jupyter's runtime folder; some may have ended without removing it."""
    for path in sorted(folder.glob("jpserver-*.json")):
        try:
            row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            server = JupyterServer(str(row["url"]), str(row["token"]), Path(row["root_dir"]))
        except (OSError, ValueError, KeyError, TypeError):  # it is just being written, or another's
            continue
        # a token is for this machine alone
        if urllib.parse.urlsplit(server.url).hostname in ("localhost", "127.0.0.1", "::1"):
            yield server


def runtime_folder() -> Path:
    """Return the folder in which Jupyter's servers list themselves."""
    from jupyter_core.paths import jupyter_runtime_dir

    return Path(jupyter_runtime_dir())


def unsaved_run(notebook: Path, folder: Path | None = None) -> str:
    """Return a sentence where a notebook ran in JupyterLab and was not saved since; empty where that is not known.

    Args:
        notebook: the file.
        folder: Jupyter's runtime folder; this user's own when None.
    """
    saved_s = notebook.stat().st_mtime
    for server in running_servers(folder or runtime_folder()):
        try:
            busy_s = server.last_busy(notebook)
        except (OSError, ValueError, KeyError, TypeError):  # it has ended, or is no Jupyter server
            continue
        if busy_s is not None and busy_s > saved_s + SLACK_S:
            ran = datetime.fromtimestamp(busy_s).strftime("%H:%M:%S")
            saved = datetime.fromtimestamp(saved_s).strftime("%H:%M:%S")
            return (
                f"{notebook.name} ran in JupyterLab at {ran} and was last saved at {saved}, so what you see there may "
                "be newer than this file; save it (Ctrl+S, on a Mac Cmd+S), then run this again"
            )
    return ""


def deleted_checks(cells: tuple[Cell, ...]) -> tuple[str, ...]:
    """Return the ids of check cells that a notebook lacks: every task's cell `ex04-task1` has `ex04-task1-check`."""
    ids = {cell.grade_id for cell in cells}
    checked = any(cell.graded and str(cell.grade_id).endswith(CHECK_SUFFIX) for cell in cells)
    tasks = [cell.grade_id for cell in cells if cell.solution and not cell.graded and cell.grade_id]
    return tuple(f"{task}{CHECK_SUFFIX}" for task in tasks if checked and f"{task}{CHECK_SUFFIX}" not in ids)
