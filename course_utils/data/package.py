"""What the package knows of itself: its name, its version, which pyproject.toml reads here, and its folder."""

from pathlib import Path

DISTRIBUTION = "pytorch-apple-silicon-course"
VERSION = "0.1.0"
FOLDER = Path(__file__).resolve().parent.parent
