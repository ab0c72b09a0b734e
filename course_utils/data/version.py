"""The version of the course, in the one place that pyproject.toml reads too."""

VERSION = "0.1.0"
