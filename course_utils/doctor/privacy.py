"""Take out of text what a student should not have to send: home folders, user names, credentials."""

from __future__ import annotations

import re

_HOMES = re.compile(r"(?P<root>/Users|/home|[A-Za-z]:\\Users)(?P<slash>[/\\])(?!Shared\b)[^/\\:\s'\",;)]+")
_CREDENTIALS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)[^/\s@]*@", re.IGNORECASE)
_QUERY = re.compile(r"(?P<address>[a-z][a-z0-9+.-]*://[^\s?#'\"]*)[?#][^\s'\"]*", re.IGNORECASE)

# names of accounts that belong to nobody, and words that paths need
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "root admin user runner ubuntu vscode jovyan python torch conda lib bin opt usr local share venv jupyter "
        "homebrew miniforge3 anaconda3 kernels site packages frameworks library apple mac linux darwin",
    )
)

# chips and devices are called so, with a capital: of an account with such a name only the exact spelling is a name
_CHIP_WORDS = frozenset(("max", "pro", "ultra", "air", "mini", "studio", "cpu", "gpu", "mps", "cuda", "intel"))


def is_common(name: str) -> bool:
    """Return whether a name is nobody's, such as "root", so that it may stay."""
    return name.lower() in _COMMON


def scrub(text: str, *, home: str | None, user: str | None) -> str:
    """Replace the home folder by ~, other people's homes and the user's name by *, and cut credentials out.

    Args:
        text: a path, an address or an error message.
        home: this user's home folder.
        user: this user's name.
    """
    if home and len(home) > 1:
        text = re.sub(rf"(?<![\w.-]){re.escape(home.rstrip('/'))}(?![\w.-])", "~", text)
    text = _HOMES.sub(lambda match: f"{match['root']}{match['slash']}*", text)
    text = _CREDENTIALS.sub(lambda match: match["scheme"], text)
    text = _QUERY.sub(lambda match: match["address"], text)
    if user and len(user) > 2 and not is_common(user):
        exact = 0 if user.lower() in _CHIP_WORDS else re.IGNORECASE
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(user)}(?![A-Za-z0-9])", "*", text, flags=exact)
    return text
