"""Where a server that a test started takes connections."""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

import pytest

START_S, PAUSE_S = 120, 0.1


def address_of(server, written, log_path):
    """Return a server's address as soon as it has written it down and listens there; else fail, with its log.

    A Jupyter server writes its address, into its log and into a file, before it listens there (jupyter_server 2.21:
    both happen before its loop starts, and listening is the loop's first work).

    Args:
        server: the process.
        written: a function that returns the address, None before it is written.
        log_path: what the server prints.
    """
    until = time.monotonic() + START_S
    while time.monotonic() < until and server.poll() is None:
        address = written()
        if address and listens(address):
            return address
        time.sleep(PAUSE_S)
    return pytest.fail(f"the server did not start:\n{log_path.read_text(encoding='utf-8')[-3000:]}")


def listens(address):
    """Return whether a connection is accepted at an address, with host and port."""
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname, parts.port), timeout=PAUSE_S):
            return True
    except OSError:
        return False
