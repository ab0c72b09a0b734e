"""Whether the file of a notebook is what the student sees: was it saved since it last ran in JupyterLab?

Commands read the file, and JupyterLab keeps what was typed in the browser until it saves. What is in the browser cannot
be asked from here; when the notebook's kernel was last busy can, of each Jupyter server on this machine that lists
itself (jupyter_server 1 and 2 write jpserver-*.json). A kernel that was busy after the file was written, or is busy
now, says that cells ran that may not be saved. Without a server there is the checkpoint that Jupyter keeps: a copy of
the file, with its time, from when the student saved last (FileCheckpoints of jupyter_server 2). Where it is newer than
the file, an older copy has taken the file's place.
"""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
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
SAVE = "save it (Ctrl+S, on a Mac Cmd+S), then run this again"


@dataclass(frozen=True)
class Activity:
    """What a server says of a kernel.

    Args:
        last_s: when it last said something, seconds since 1970.
        busy: whether cells are running now.
    """

    last_s: float
    busy: bool


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

    def last_busy(self, notebook: Path) -> Activity | None:
        """Return when the kernel of a notebook last said something; None where it has none.

        Raises:
            OSError: when nobody answers.
        """
        request = urllib.request.Request(
            urllib.parse.urljoin(self.url, "api/sessions"), headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            sessions = json.load(answer)
        found = [
            Activity(
                datetime.fromisoformat(session["kernel"]["last_activity"]).timestamp(),
                session["kernel"].get("execution_state") == "busy",
            )
            for session in sessions
            if session.get("kernel") and (self.root / session["path"]).resolve() == notebook.resolve()
        ]
        return max(found, key=lambda activity: (activity.busy, activity.last_s), default=None)


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
    """Return a sentence where a notebook runs in JupyterLab, or ran and was not saved since; empty where none is known.

    Args:
        notebook: the file.
        folder: Jupyter's runtime folder; this user's own when None.
    """
    saved_s = notebook.stat().st_mtime
    for server in running_servers(folder or runtime_folder()):
        try:
            kernel = server.last_busy(notebook)
        except (OSError, ValueError, KeyError, TypeError):  # it has ended, or is no Jupyter server
            continue
        if kernel is not None and kernel.busy:
            return (
                f"cells of {notebook.name} are running in JupyterLab now, and this file was last saved at "
                f"{_clock(saved_s)}; wait until they are done, {SAVE}"
            )
        if kernel is not None and kernel.last_s > saved_s + SLACK_S:
            return (
                f"{notebook.name} ran in JupyterLab at {_clock(kernel.last_s)} and was last saved at "
                f"{_clock(saved_s)}, so what you see there may be newer than this file; {SAVE}"
            )
    return ""


def newer_checkpoint(notebook: Path) -> str:
    """Return a sentence where Jupyter's checkpoint of a notebook is newer than its file, and another; else empty."""
    checkpoint = notebook.parent / ".ipynb_checkpoints" / f"{notebook.stem}-checkpoint{notebook.suffix}"
    if not checkpoint.is_file():
        return ""
    saved_s, kept_s = notebook.stat().st_mtime, checkpoint.stat().st_mtime
    if kept_s <= saved_s + SLACK_S or checkpoint.read_bytes() == notebook.read_bytes():
        return ""
    return (
        f"you saved {notebook.name} in JupyterLab at {_clock(kept_s)}, and this file is of {_clock(saved_s)}: an older "
        f"copy has taken its place; if your work is still open there, {SAVE}, else open {checkpoint}"
    )


def _clock(seconds: float) -> str:
    """Return a time as a student reads it; with the day where that is not today."""
    then = datetime.fromtimestamp(seconds)
    return then.strftime("%H:%M:%S" if then.date() == datetime.now().date() else "%H:%M:%S on %Y-%m-%d")


def deleted_checks(cells: tuple[Cell, ...]) -> tuple[str, ...]:
    """Return the ids of check cells that a notebook lacks: every task's cell `ex04-task1` has `ex04-task1-check`."""
    ids = {cell.grade_id for cell in cells}
    checked = any(cell.graded and str(cell.grade_id).endswith(CHECK_SUFFIX) for cell in cells)
    tasks = [cell.grade_id for cell in cells if cell.solution and not cell.graded and cell.grade_id]
    return tuple(f"{task}{CHECK_SUFFIX}" for task in tasks if checked and f"{task}{CHECK_SUFFIX}" not in ids)
