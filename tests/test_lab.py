"""JupyterLab: `course lab` serves it on loopback."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from submissions import ROOT

from course_utils.commands.lab import choose_lesson

LIMIT_S = 120


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture
def server(tmp_path):
    """Start JupyterLab as `course lab` does; give its address, and end it with all it started."""
    port = free_port()
    command = [sys.executable, "-m", "course_utils.cli", "lab", "--no-browser", f"--port={port}"]
    settings = {
        name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR")
    }
    log_path = tmp_path / "log"
    with log_path.open("w") as log:
        child = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | settings, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield f"http://localhost:{port}", child, log_path
        finally:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def ask(address):
    """Ask until the server answers; a server that ends or stays silent fails the test with its log."""
    base, child, log_path = address
    started = time.monotonic()
    while True:
        token = re.search(r"token=([0-9a-f]+)", log_path.read_text())
        if token:
            try:
                with urllib.request.urlopen(f"{base}/lab?token={token.group(1)}", timeout=10) as answer:
                    return token.group(1), answer.status, answer.read().decode()
            except (urllib.error.URLError, ConnectionError):
                pass
        if child.poll() is not None or time.monotonic() - started > LIMIT_S:
            pytest.fail(f"no JupyterLab at {base}:\n{log_path.read_text()}")
        time.sleep(0.2)


def test_course_lab_serves_jupyterlab(server):
    """`course lab` serves JupyterLab on the next unfinished lesson, with the course's files, on loopback only."""
    token, status, page = ask(server)
    base, _, log_path = server

    assert status == 200
    assert "JupyterLab" in page
    assert f"lab/tree/notebooks/{choose_lesson(ROOT, None).name}" in log_path.read_text()
    with urllib.request.urlopen(f"{base}/api/contents/exercises?token={token}", timeout=10) as answer:
        names = [entry["name"] for entry in json.load(answer)["content"]]
    assert "04_measuring_time" in names
    assert "0.0.0.0" not in log_path.read_text()
