"""Build course_utils/data/mps_operator_history.json from published torch wheels; rerun it for a new release.

    python scripts/build_operator_history.py            # the newest patch of every line from 2.0 on, where new
    python scripts/build_operator_history.py 2.16.0     # one release
    python scripts/build_operator_history.py --again    # read all of them again, after a change of the rules

Each wheel is fetched with pip (about 55 to 140 MB; pip's own configuration and environment apply, so
PIP_CONFIG_FILE or PIP_CONSTRAINT can lift a local constraint for this one command). The yaml and the registrations in
all Python files are read out of it, and it is deleted. A release that cannot be had is listed as unread, and nothing
is claimed about it.

First bring course_utils/data/mps_cpu_fallbacks.json up to date: the yaml does not show those operators. Where it
differs from what a wheel's Python files register, the script says so.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from course_utils.data.versions import line_of, order
from course_utils.operators.hand_registered import hand_registered
from course_utils.operators.history import ABSENT, FORMAT, SPARSE, read_history
from course_utils.operators.rules import VerdictLetters, judge, read_yaml

YAML = "torchgen/packaged/ATen/native/native_functions.yaml"
OUTPUT = Path(__file__).resolve().parents[1] / "course_utils" / "data" / "mps_operator_history.json"
OLDEST = "2.0"
ABOUT = (
    "The verdict of every aten overload on MPS, by release of torch: one letter a release, in the order of "
    "'releases', '-' where the release lacks the overload. The letters are RULES in course_utils/operators/rules.py; "
    "those of 'sparse' are SPARSE in history.py. Built by scripts/build_operator_history.py."
)
SOURCE = f"{YAML} in the published macOS arm64 wheels of torch, and mps_cpu_fallbacks.json"


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this Python's pip."""
    return subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True, check=False)


def newest_of_each_line(versions: Sequence[str], oldest: str = OLDEST) -> list[str]:
    """Keep the newest patch of every line, oldest line first; pre-releases and older lines are left out."""
    newest: dict[str, str] = {}
    for version in sorted((name for name in versions if re.fullmatch(r"\d+\.\d+\.\d+", name)), key=order):
        if order(version) >= order(oldest):
            newest[line_of(version)] = version
    return list(newest.values())


def published_versions(target: Sequence[str]) -> list[str]:
    """Return the versions of torch that pip finds for a platform.

    Raises:
        RuntimeError: when pip does not answer with a list.
    """
    answer = pip("index", "versions", "torch", *target)
    for line in answer.stdout.splitlines():
        if line.startswith("Available versions:"):
            return [name.strip() for name in line.partition(":")[2].split(",")]
    raise RuntimeError(f"pip lists no versions of torch; name the releases instead. {last_line(answer.stderr)}")


def last_line(text: str) -> str:
    """Take the last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "pip said nothing")


class Wheel(NamedTuple):
    """What the history needs of one wheel.

    Args:
        yaml: text of native_functions.yaml.
        registered: overloads that the wheel's Python files register for MPS, without "aten::".
    """

    yaml: str
    registered: frozenset[str]


def python_registrations(source: str) -> frozenset[str]:
    """Find the operators of aten that a Python file registers for MPS with torch.library.

    Args:
        source: text of the file; a file that this Python cannot parse has none.

    Returns:
        Overloads without "aten::".
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return frozenset()
    # names of libraries made for the key MPS: lib = Library("aten", "IMPL", "MPS")
    for_mps = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and _is_call_of(node.value, "Library")
        and "MPS" in _constants(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_call_of(node, "impl") and node.args:
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            texts = _constants(node)
            if texts and ("MPS" in texts[1:] or (isinstance(owner, ast.Name) and owner.id in for_mps)):
                found.add(texts[0].removeprefix("aten::"))
    return frozenset(found)


def _is_call_of(node: ast.Call, name: str) -> bool:
    function = node.func
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) == name


def _constants(node: ast.Call) -> list[str]:
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    return [value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)]


def read_wheel(path: Path) -> Wheel:
    """Read one wheel.

    Raises:
        KeyError: when the wheel has no native_functions.yaml.
        zipfile.BadZipFile: when the file is not a wheel.
    """
    registered: set[str] = set()
    with zipfile.ZipFile(path) as wheel:
        for name in wheel.namelist():
            if name.endswith(".py") and not name.startswith("torch/testing/"):
                source = wheel.read(name)
                if b"MPS" in source and b".impl(" in source:
                    registered |= python_registrations(source.decode("utf-8", "replace"))
        return Wheel(wheel.read(YAML).decode("utf-8"), frozenset(registered))


def fetch_wheel(release: str, target: Sequence[str]) -> Wheel:
    """Fetch one wheel, read it, delete it.

    Raises:
        OSError: when pip cannot get the wheel, or the wheel has no such file; the message says which.
    """
    with tempfile.TemporaryDirectory(prefix="torch-wheel-") as folder:
        answer = pip("download", "--no-deps", "--no-cache-dir", "--dest", folder, *target, f"torch=={release}")
        wheels = list(Path(folder).glob("*.whl"))
        if answer.returncode != 0 or not wheels:
            raise OSError(last_line(answer.stderr))
        try:
            return read_wheel(wheels[0])
        except (KeyError, zipfile.BadZipFile) as error:
            raise OSError(f"{wheels[0].name} cannot be read: {error}") from error


def merge(old: Mapping[str, Any] | None, read: Mapping[str, str], unread: Mapping[str, str]) -> dict[str, Any]:
    """Merge newly read yaml texts into a history; a line keeps one release, the one read last.

    Args:
        old: the history's JSON so far, or None.
        read: release -> text of its native_functions.yaml.
        unread: release -> why it could not be had.

    Returns:
        The new history's JSON.

    Raises:
        ValueError: when a yaml is not one, or an overload changed its out= overload between releases.
    """
    columns: dict[str, VerdictLetters] = {}
    checksums: dict[str, str] = {}
    old_unread: dict[str, str] = {}
    if old is not None:
        known = read_history(old)
        columns = {release: known.verdicts(release) for release in known.releases}
        checksums = dict(old["yaml_sha256"])
        old_unread = dict(old["unread"])
    for release, text in read.items():
        columns = {name: verdicts for name, verdicts in columns.items() if line_of(name) != line_of(release)}
        columns[release] = judge(read_yaml(text), hand_registered(release))
        checksums[release] = hashlib.sha256(text.encode()).hexdigest()
    releases = sorted(columns, key=order)
    lines = {line_of(release) for release in releases}
    return {
        "about": ABOUT,
        "source": SOURCE,
        "format": FORMAT,
        "releases": releases,
        "unread": {name: why for name, why in (old_unread | dict(unread)).items() if line_of(name) not in lines},
        "yaml_sha256": {release: checksums[release] for release in releases},
        "delegates": merge_delegates(columns),
        "letters": rows([columns[release].letters for release in releases]),
        "sparse": rows([sparse_letters(columns[release]) for release in releases]),
    }


def rows(columns: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Turn one mapping for each release into one row of letters for each overload."""
    names = sorted(set().union(*columns))
    return {name: "".join(column.get(name, ABSENT) for column in columns) for name in names}


def sparse_letters(verdicts: VerdictLetters) -> dict[str, str]:
    """Turn the sparse keys of each overload into a letter."""
    letter_of = {keys: letter for letter, keys in SPARSE.items()}
    return {name: letter_of[keys] for name, keys in verdicts.sparse_keys.items()}


def merge_delegates(columns: Mapping[str, VerdictLetters]) -> dict[str, str]:
    """Merge which overload delegates to which.

    Raises:
        ValueError: when two releases disagree, since the file has room for one answer.
    """
    merged: dict[str, str] = {}
    for release, verdicts in columns.items():
        for name, out in verdicts.delegates.items():
            if merged.setdefault(name, out) != out:
                raise ValueError(f"{name} delegates to {out} in {release} and to {merged[name]} in another release")
    return dict(sorted(merged.items()))


def render(data: Mapping[str, Any]) -> str:
    """Return a history as JSON with one overload a line, so that a new release gives a readable difference."""
    parts = []
    for key, value in data.items():
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items())
            parts.append(f"  {json.dumps(key)}: {{\n{inner}\n  }}")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the releases that are asked for and not yet known, and write the history.

    Returns:
        0, or 1 when a release could not be read, or registers other operators from Python than the hand list has.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("releases", nargs="*", help="such as 2.16.0; all published ones by default")
    parser.add_argument("--again", action="store_true", help="also read releases that the history has")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    # every wheel since 2.0 has one for CPython 3.11; the newest macOS tag admits all older ones
    parser.add_argument("--python-version", default="3.11")
    parser.add_argument("--platform", default="macosx_15_0_arm64")
    options = parser.parse_args(arguments)
    target = ("--only-binary", ":all:", "--python-version", options.python_version, "--platform", options.platform)

    old = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else None
    known = set(old["releases"]) if old and not options.again else set()
    read: dict[str, str] = {}
    unread: dict[str, str] = {}
    differing = False
    for release in options.releases or newest_of_each_line(published_versions(target)):
        if release in known:
            continue
        try:
            wheel = fetch_wheel(release, target)
            read[release] = wheel.yaml
            print(f"torch {release}: read")
            hand = hand_registered(release)
            for warning in hand.warnings:
                print(f"torch {release}: {warning}", file=sys.stderr)
            differing |= wheel.registered != hand.python_registration
            if wheel.registered != hand.python_registration:
                print(
                    f"torch {release}: its Python files register {sorted(wheel.registered)} for MPS, "
                    f"mps_cpu_fallbacks.json has {sorted(hand.python_registration)}; correct it and run --again",
                    file=sys.stderr,
                )
        except OSError as error:
            unread[release] = str(error)
            print(f"torch {release}: not read, {error}", file=sys.stderr)
    data = merge(old, read, unread)
    options.output.write_text(render(data), encoding="utf-8")
    print(f"{len(data['releases'])} releases, {len(data['letters'])} overloads, {options.output.stat().st_size} bytes")
    return 1 if unread or differing else 0


if __name__ == "__main__":
    sys.exit(main())
