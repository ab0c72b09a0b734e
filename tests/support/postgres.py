"""A throwaway PostgreSQL server for the tests: its own cluster in a temporary folder, gone afterwards.

The server listens on a Unix socket in that folder only, and never on a network.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

PASSWORD = "p@ss/w:rd"
USER = "instructor"


def find_program(name):
    """Return the path of one of PostgreSQL's programs: on the PATH, else the newest of Debian's; None without one."""
    found = shutil.which(name)
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    return found or (str(debian[-1]) if debian else None)


def missing():
    """Say why no server can be started here; empty when one can."""
    if find_program("initdb") is None or find_program("pg_ctl") is None:
        return "PostgreSQL is not installed (no initdb and pg_ctl on the PATH or in /usr/lib/postgresql)"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    return ""


def server_account():
    """Return the account the server runs under: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextmanager
def server():
    """Start a server; yield the address of its database, and stop it at the end."""
    account = server_account()
    # the path of a socket may have about 100 characters, and pytest's folders are longer
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as folder:
        if account:
            entry = pwd.getpwnam(account)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
        base = Path(folder)
        secret = base / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        if account:
            os.chown(secret, entry.pw_uid, entry.pw_gid)

        def run(*command):
            done = subprocess.run(
                command, cwd=folder, user=account, capture_output=True, text=True, check=False, timeout=120
            )
            assert done.returncode == 0, done.stdout + done.stderr

        data, log = base / "data", base / "log"
        options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        login = ("--username", USER, "--pwfile", str(secret), "--auth", "scram-sha-256")
        run(find_program("initdb"), "--pgdata", str(data), "--encoding", "UTF8", "--no-locale", *login)
        # its output goes to a file: a server that holds pytest's pipe would keep the run from ending
        run(find_program("pg_ctl"), "--pgdata", str(data), "--wait", "--log", str(log), "--options", options, "start")
        try:
            yield f"postgresql://{USER}:{quote(PASSWORD, safe='')}@/postgres?host={folder}"
        finally:
            run(find_program("pg_ctl"), "--pgdata", str(data), "--wait", "--mode", "immediate", "stop")


@pytest.fixture(scope="module")
def postgres_server():
    """Yield the address of a server for this module; without PostgreSQL skip, or fail where COURSE_CI is 1."""
    reason = missing()
    if reason and os.environ.get("COURSE_CI") == "1":
        pytest.fail(f"{reason}, and COURSE_CI=1 wants every test")
    if reason:
        pytest.skip(reason)
    with server() as url:
        yield url


def empty_tables(url, keep):
    """Remove all rows of a database, but for those of the tables to keep."""
    import psycopg

    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        names = sorted({name for (name,) in found} - set(keep))
        if names:
            connection.execute(f"TRUNCATE {', '.join(names)}")
