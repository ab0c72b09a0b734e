"""Take out of what a reader shares everything that names them: themselves, their machine, their folders, their hosts.

`scrub` (in `privacy`) leaves paths readable, for somebody who helps one person. What is sent to be published goes
through here as well: of a path only the parts stay that every machine has, such as `/usr/lib` and site-packages.
"""

from __future__ import annotations

import getpass
import json
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from course_utils.devices.machine import ask
from course_utils.doctor.privacy import is_common, scrub

HIDDEN = "*"
# addresses that everybody uses; any other may be a company's
PUBLIC_HOSTS = ("pypi.org", "pythonhosted.org", "pytorch.org", "github.com", "anaconda.org", "conda.io")
# from here on a path is what pip installed
INSTALLED = ("site-packages", "dist-packages")
_EVERYWHERE = frozenset(
    re.findall(
        r"\S+",
        "usr bin sbin lib lib64 opt local etc dev proc sys var tmp private share null run mnt media "
        "Users home Volumes Shared Library System Applications Frameworks Versions Current Cellar "
        "homebrew conda envs miniforge3 miniconda3 mambaforge anaconda3 .pyenv versions .local .venv venv uv "
        "site-packages dist-packages torch torchvision course_utils notebooks exercises tests scripts",
    )
)
_NUMBERED = re.compile(r"(lib)?python\d*(\.\d+)*|\d+(\.\d+)+|(lib)?(torch|omp|iomp5?|gomp|c10)\w*\.(dylib|so)[\d.]*")
_SPOTS = re.compile(r"(?P<url>[a-z][a-z0-9+.-]*://[^\s'\"]*)|(?<![\w.*-])(?P<path>~?/[^\s'\",;:()<>|\[\]{}]*)", re.I)


@dataclass(frozen=True)
class Sender:
    """What names a sender and their machine.

    Args:
        home: the home folder.
        user: the name of the account; None where there is none.
        names: other names of the person and of the machine, such as a full name, a host name.
    """

    home: str
    user: str | None = None
    names: tuple[str, ...] = ()


def this_sender() -> Sender:
    """Return what names the person who runs this, and this machine."""
    try:
        user: str | None = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container may run a user without a name
        user = None
    host = platform.node()
    computer = ask("scutil", "--get", "ComputerName") if platform.system() == "Darwin" else None
    full = _full_name()
    parts = [part for part in full.split() if len(part) > 3]
    found = [host, host.partition(".")[0], (computer or "").strip(), full, *parts]
    return Sender(str(Path.home()), user, tuple(dict.fromkeys(name for name in found if name)))


def _full_name() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0].strip()
    except KeyError:  # a container may run a user without an account
        return ""


def anonymous(text: str, sender: Sender) -> str:
    """Return a text without names, hosts and the parts of paths that only this machine has.

    Args:
        text: anything that is shared.
        sender: whom it must not name.
    """
    text = scrub(text, home=sender.home, user=sender.user)
    for name in sorted(sender.names, key=len, reverse=True):
        if len(name) > 2 and not is_common(name):
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", HIDDEN, text, flags=re.IGNORECASE)
    return _SPOTS.sub(lambda spot: _hide_url(spot["url"]) if spot["url"] else hide_path(spot["path"]), text)


def anonymous_json(text: str, sender: Sender) -> str:
    """Return a JSON document whose texts are anonymous; names of fields stay.

    Raises:
        ValueError: when it is not JSON.
    """
    return json.dumps(_anonymous_value(json.loads(text), sender), indent=2, ensure_ascii=False) + "\n"


def anonymous_xml(text: str, sender: Sender) -> str:
    """Return an XML document whose texts and values are anonymous; names of elements and attributes stay.

    Raises:
        ValueError: when it is not XML.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"it is no XML ({error})") from error
    for element in root.iter():
        element.attrib.update({name: anonymous(value, sender) for name, value in element.attrib.items()})
        element.text, element.tail = (part and anonymous(part, sender) for part in (element.text, element.tail))
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _anonymous_value(value: Any, sender: Sender) -> Any:
    if isinstance(value, dict):
        return {key: _anonymous_value(each, sender) for key, each in value.items()}
    if isinstance(value, list):
        return [_anonymous_value(each, sender) for each in value]
    if not isinstance(value, str):
        return value
    found = anonymous(value, sender)
    # a value that is one path may have spaces in it
    return hide_path(found) if value.startswith(("/", "~/")) and "\n" not in value else found


def hide_path(path: str) -> str:
    """Return a path with every part hidden that not every machine has.

    >>> hide_path("/srv/clients/acme/.venv/lib/python3.12/site-packages/torch/__init__.py")
    '/*/*/*/.venv/lib/python3.12/site-packages/torch/__init__.py'
    """
    shown, installed = [], False
    for part in path.split("/"):
        known = installed or part in ("", "~", HIDDEN) or part in _EVERYWHERE or _NUMBERED.fullmatch(part)
        shown.append(part if known else HIDDEN)
        installed = installed or part in INSTALLED
    return "/".join(shown)


def _hide_url(url: str) -> str:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if scheme.lower() == "file":
        return f"{scheme}://{hide_path(slash + path)}"
    public = any(host == known or host.endswith(f".{known}") for known in PUBLIC_HOSTS)
    return url if public else f"{scheme}://{HIDDEN}"
