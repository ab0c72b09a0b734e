"""Generate exercises/ from solutions/ with nbgrader; with --into FOLDER, into another course root (tests do that).

The gradebook that nbgrader needs is made in a temporary folder, so that this changes no scores.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def generate(root: Path, into: Path) -> int:
    """Generate the release of every exercise.

    Args:
        root: the course's root, with solutions/ and nbgrader_config.py.
        into: the folder that gets exercises/.

    Returns:
        nbgrader's exit code, 0 when all were generated.
    """
    names = sorted(path.name for path in (root / "solutions").glob("[0-9][0-9]_*"))
    with tempfile.TemporaryDirectory() as scratch:
        course = Path(scratch)
        shutil.copytree(root / "solutions", course / "solutions", ignore=shutil.ignore_patterns(".*"))
        shutil.copy(root / "nbgrader_config.py", course)
        # nbgrader calls alembic by name
        env = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
        for name in names:
            command = [sys.executable, "-m", "nbgrader", "generate_assignment", name, "--create"]
            done = subprocess.run(command, cwd=course, env=env, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(done.stderr, file=sys.stderr)
                print(f"nbgrader could not generate {name}; its log is above", file=sys.stderr)
                return done.returncode
        shutil.rmtree(into / "exercises", ignore_errors=True)
        shutil.copytree(course / "exercises", into / "exercises")
    print(f"generated {', '.join(names)}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Generate exercises/ from solutions/.")
    parser.add_argument("--into", type=Path, default=ROOT, help="the folder that gets exercises/ (default: the course)")
    sys.exit(generate(ROOT, parser.parse_args().into))
