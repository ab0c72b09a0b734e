"""The address of a gradebook: read, shown without its password, and what went wrong with it in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from course_utils.reporting.errors import CourseError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL


class GradebookError(CourseError):
    """The gradebook could not be used; the message says what happened, with which one, and what to do."""


def read_address(url: str) -> URL:
    """Read a gradebook's address.

    Args:
        url: such as "sqlite:////course/gradebook.db" or "postgresql://user:password@host/gradebook".

    Returns:
        The address; PostgreSQL is reached with psycopg 3, whatever SQLAlchemy's default is (psycopg2 before 2.1).

    Raises:
        GradebookError: when it is no such address. What was given is not repeated, since it may hold a password.
    """
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        raise GradebookError(
            "the gradebook's address cannot be read; it has to look like sqlite:////folder/gradebook.db or "
            "postgresql://user:password@host/database"
        ) from None
    kind = address.get_backend_name()
    if kind == "postgres" or address.drivername == "postgresql":
        return address.set(drivername="postgresql+psycopg")
    if kind not in ("sqlite", "postgresql"):
        raise GradebookError(
            f"the gradebook's address begins with {kind!r}; this course writes to sqlite and postgresql"
        )
    return address


def shown(address: URL) -> str:
    """Write an address for a reader: no password, neither before the host nor among the options."""
    return address.set(query={}).render_as_string(hide_password=True)


def explain(error: Exception, address: URL) -> GradebookError:
    """Return an error whose message says what a database's error means and what to do.

    Args:
        error: what SQLAlchemy, its driver or nbgrader raised.
        address: the gradebook's address.
    """
    text = _driver_text(error, address)
    name = f"the gradebook {shown(address)}"
    low = text.lower()
    for part, what, todo in _KNOWN:
        if part in low:
            return GradebookError(f"{name} {what}; {todo}")
    return GradebookError(f"{name} could not be used ({text}); check the address and what runs there")


# what a database driver's text has in it (drivers give no codes for these), what happened, what to do
_KNOWN = (
    (
        "database is locked",
        "is locked by another program",
        "close formgrader and other gradings that write to it, and write again",
    ),
    ("unable to open database file", "cannot be opened", "its folder has to exist and to be writable"),
    ("readonly database", "is read-only", "make the file and its folder writable"),
    ("file is not a database", "is no SQLite database", "give the path of nbgrader's gradebook.db, or of no file yet"),
    ("database disk image is malformed", "is damaged", "put a copy of it back"),
    ("password authentication failed", "refuses the user or the password", "check both in the address"),
    ("no password supplied", "wants a password", "write it into the address as user:password@host"),
    ("does not exist", "has no such database, user or table", "check the address, or create the database"),
    ("connection refused", "cannot be reached", "start the database server, or check host and port in the address"),
    ("could not translate host name", "cannot be reached", "check the host in the address"),
    ("failed to resolve host", "cannot be reached", "check the host in the address"),
    ("connection timeout", "cannot be reached", "check host and port in the address, and the network"),
    ("no module named 'psycopg'", "needs psycopg", 'install it with pip install "psycopg[binary]"'),
)


def _driver_text(error: Exception, address: URL) -> str:
    """Return the first line of the driver's own error, with no password in it."""
    text = str(getattr(error, "orig", None) or error)
    line = (text.strip().splitlines() or [type(error).__name__])[0]
    secrets = {address.password, *(v for k, v in address.query.items() if "pass" in k and isinstance(v, str))}
    for secret in filter(None, secrets):
        for written in (secret, quote(secret, safe=""), quote_plus(secret)):
            line = line.replace(written, "***")
    return line
