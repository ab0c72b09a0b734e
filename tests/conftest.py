"""Fixtures that several test modules share: a browser and a database server."""

from browser import browser  # noqa: F401
from postgres import postgres_server  # noqa: F401
