"""Running nbgrader as its users do."""

import os
import subprocess
import sys
from pathlib import Path


def nbgrader(course, *arguments):
    """Run nbgrader in a course; fail with its log."""
    # nbgrader calls alembic by name
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=course, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done
