"""Fixtures that several test modules share: a browser and a database server."""

from support.browser import browser  # noqa: F401
from support.postgres import postgres_server  # noqa: F401
