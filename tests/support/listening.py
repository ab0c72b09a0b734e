"""A server that a test started: whether it takes connections yet."""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

PAUSE_S = 0.1


def wait_until_it_listens(server, address, until):
    """Return whether a server takes connections before a time of the monotonic clock, and before it ends.

    A Jupyter server writes its address, into its log and into a file, before it listens there (jupyter_server 2.21:
    both happen before its loop starts, and listening is the loop's first work).

    Args:
        server: the process.
        address: its address, with host and port.
        until: when to give up, in seconds of `time.monotonic()`.
    """
    parts = urlsplit(address)
    while time.monotonic() < until and server.poll() is None:
        try:
            with socket.create_connection((parts.hostname, parts.port), timeout=PAUSE_S):
                return True
        except OSError:
            time.sleep(PAUSE_S)
    return False
