"""What the package knows of itself: its version, which pyproject.toml reads here, and its folder."""

from pathlib import Path

VERSION = "0.1.0"
FOLDER = Path(__file__).resolve().parent.parent
