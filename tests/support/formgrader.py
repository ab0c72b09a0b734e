"""A real Jupyter server with nbgrader's formgrader, on this machine's loopback only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from support.listening import address_of

TOKEN = "formgrader-test"


@contextmanager
def formgrader(course, home):
    """Start the server on a course; yield its address, and end it.

    Args:
        course: the course's root, with nbgrader_config.py.
        home: an empty folder for what Jupyter keeps, so that no settings of this machine are read.
    """
    home.mkdir(exist_ok=True)
    env = os.environ | {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_NO_CONFIG": "1",
        # nbgrader calls alembic by name
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [
        sys.executable,
        "-m",
        "jupyter_server",
        "--ip=127.0.0.1",
        "--ServerApp.port=0",
        "--no-browser",
        "--allow-root",
        f"--IdentityProvider.token={TOKEN}",
        f"--ServerApp.root_dir={course}",
        "--ServerApp.jpserver_extensions={'nbgrader': True}",
    ]
    with (home / "log").open("w+", encoding="utf-8") as log:
        server = subprocess.Popen(command, cwd=course, env=env, stdout=log, stderr=log)
        try:
            yield address_of(server, partial(written_address, home / "runtime"), home / "log")
        finally:
            server.terminate()
            server.wait(timeout=30)


def written_address(folder):
    """Return the address that a server wrote into a folder; None before all of it is there."""
    for path in folder.glob("jpserver-*.json"):
        try:
            return json.loads(path.read_text(encoding="utf-8"))["url"].rstrip("/")
        except (json.JSONDecodeError, KeyError):
            pass  # it is being written
    return None


def get(address, path):
    """Fetch a path of the server as text."""
    request = urllib.request.Request(f"{address}{path}", headers={"Authorization": f"token {TOKEN}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def get_json(address, path):
    """Fetch a path of the server as JSON."""
    return json.loads(get(address, path))
