"""Report what a release of torch changes in the lessons; a maintainer runs it when one comes out.

    python -m scripts.check_new_torch                                   # the torch of this environment
    python -m scripts.check_new_torch --python OTHER/bin/python         # that of another environment
    python -m scripts.check_new_torch --python ... --lessons 04 07 --output report.md

The operator history is built again with the release's own operator list (into build/, the package's stays as it is);
operators that lessons name and claims whose range of releases ended are listed; every lesson runs in that environment.
It needs torch, torchvision, matplotlib, pyyaml, tqdm and ipykernel; the course is used from here. Exit code 0: nothing
changed; 1: something to look at; 2: wrong usage.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_utils.exercises.course import lesson_paths
from course_utils.operators.hand_registered import hand_registered
from course_utils.operators.history import read_history
from scripts.build_operator_history import OUTPUT as KNOWN_HISTORY
from scripts.build_operator_history import merge, render
from scripts.torch_changes import LessonRun, TorchChanges, changed_operators, ended_claims, read_claims

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "new_torch"
NEEDED = ("torch", "torchvision", "matplotlib", "yaml", "tqdm", "ipykernel")
COMPARED = "nbval-check-output"
# a lesson may take a minute on two cores
TIMEOUT_S = 600

PROBE = """
import importlib, json, platform, sys
missing = []
for name in {needed!r}:
    try:
        importlib.import_module(name)
    except ImportError:
        missing.append(name)
found = {{"missing": missing, "python": platform.python_version(), "machine": platform.platform(terse=True)}}
if not missing:
    import torch, torchgen
    from pathlib import Path
    import course_utils
    found["torch"], found["torchvision"] = torch.__version__, importlib.import_module("torchvision").__version__
    found["yaml"] = str(Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml")
    found["probe"] = str(course_utils.probe_mps())
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Environment:
    """An environment with torch.

    Args:
        python: its interpreter.
        torch: its torch, such as "2.14.1+cu130".
        yaml: the operator list inside its torch.
        words: the environment in words.
    """

    python: Path
    torch: str
    yaml: Path
    words: str

    @property
    def release(self) -> str:
        """The release without what is built in, such as "2.14.1"."""
        return self.torch.split("+")[0]


class UnusableEnvironmentError(ValueError):
    """The environment cannot run lessons; the message says why in one sentence."""


def course_environment() -> dict[str, str]:
    """Return this process's environment variables, with this course first on the path of other interpreters."""
    return os.environ | {"PYTHONPATH": str(ROOT)}


def read_probe(python: Path, answer: str) -> Environment:
    """Read what an environment answered.

    Args:
        python: its interpreter.
        answer: the JSON that PROBE printed.

    Raises:
        UnusableEnvironmentError: when something that lessons need is not installed.
    """
    found = json.loads(answer)
    if found["missing"]:
        names = ", ".join("pyyaml" if name == "yaml" else name for name in found["missing"])
        raise UnusableEnvironmentError(f"{python} lacks {names}; install it there: {python} -m pip install ...")
    words = (
        f"torch {found['torch']}, torchvision {found['torchvision']}, Python {found['python']}, {found['machine']}; "
        f"{found['probe']}"
    )
    return Environment(python, found["torch"], Path(found["yaml"]), words)


def look_at(python: Path) -> Environment:
    """Return what is installed in an interpreter's environment.

    Raises:
        UnusableEnvironmentError: when it cannot be run or cannot run lessons.
    """
    command = [str(python), "-c", PROBE.format(needed=NEEDED)]
    try:
        done = subprocess.run(command, env=course_environment(), capture_output=True, text=True, check=False)
    except OSError as error:
        raise UnusableEnvironmentError(f"{python} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UnusableEnvironmentError(f"{python} cannot load the course: {last}")
    return read_probe(python, done.stdout.strip().splitlines()[-1])


def rebuilt_history(known: Mapping[str, Any], release: str, yaml: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Merge the operator list of a release into the history.

    Args:
        known: the JSON of the package's history.
        release: such as "2.16.0".
        yaml: the text of its native_functions.yaml.

    Returns:
        The new history's JSON, and warnings: a release whose hand registrations nobody looked up, or a list that is not
        the one in the macOS wheel of the same release.
    """
    checksum = hashlib.sha256(yaml.encode()).hexdigest()
    published = known["yaml_sha256"].get(release)
    warnings = hand_registered(release).warnings
    if published is not None and published != checksum:
        warnings += (f"this torch's operator list is not the one in the macOS wheel of {release}",)
    # the line keeps its release, so that a stamp of the same line is compared with itself
    return merge(known, {release: yaml}, {}), warnings


def printed(outputs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines that a cell printed or returned as text."""
    parts = []
    for output in outputs:
        if output["output_type"] == "stream" and output["name"] == "stdout":
            parts.append("".join(output["text"]))
        elif output["output_type"] == "execute_result":
            parts.append("".join(output["data"].get("text/plain", "")) + "\n")
    return "".join(parts).splitlines()


def first_difference(now: Sequence[str], stored: Sequence[str]) -> tuple[str, str] | None:
    """Find the first line that differs, None where all are the same."""
    for index in range(max(len(now), len(stored))):
        pair = tuple(lines[index] if index < len(lines) else "(nothing)" for lines in (now, stored))
        if pair[0] != pair[1]:
            return pair[0], pair[1]
    return None


def compare_cells(
    stored: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]
) -> tuple[tuple[str, str, str], ...]:
    """Compare the cells whose stored output is meant to be the same everywhere.

    Returns:
        (cell id, first line that differs, stored line) for each cell that differs.
    """
    found = []
    for before, after in zip(stored, now, strict=True):
        if COMPARED in before["metadata"].get("tags", []):
            difference = first_difference(printed(after["outputs"]), printed(before["outputs"]))
            if difference is not None:
                found.append((str(before["id"]), *difference))
    return tuple(found)


def run_lesson(path: Path, python: Path) -> LessonRun:
    """Run a lesson with another interpreter's kernel, and compare what it shows with what is stored."""
    import nbformat
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    stored = json.loads(path.read_text(encoding="utf-8"))
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]

    class Kernel(AsyncKernelManager):
        def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
            return [str(python), "-m", "ipykernel_launcher", "-f", self.connection_file]

    client = NotebookClient(
        notebook,
        timeout=TIMEOUT_S,
        kernel_manager_class=Kernel,
        resources={"metadata": {"path": str(path.parent)}},
    )
    error = None
    try:
        # the kernel's own log says nothing about the lesson
        client.execute(env=course_environment(), stderr=subprocess.DEVNULL)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as failure:
        name, value = getattr(failure, "ename", type(failure).__name__), getattr(failure, "evalue", str(failure))
        error = f"{name}: {(value.splitlines() or [''])[0]}"
    different = () if error else compare_cells(stored["cells"], notebook["cells"])
    return LessonRun(path.stem, error, different)


def lesson_files(wanted: Sequence[str]) -> list[Path]:
    """List the lessons, or those whose numbers are wanted.

    Raises:
        LookupError: when there is none with a number; the message lists what there is.
    """
    files = lesson_paths(ROOT)
    unknown = [number for number in wanted if not any(path.name.startswith(f"{number}_") for path in files)]
    if unknown:
        raise LookupError(f"no lesson {', '.join(unknown)}; there are {', '.join(path.name[:2] for path in files)}")
    return [path for path in files if not wanted or path.name[:2] in wanted]


def check(environment: Environment, files: Sequence[Path], *, run: bool) -> TorchChanges:
    """Compare the lessons with a release.

    Args:
        environment: where it is installed.
        files: the lessons.
        run: whether to run them.
    """
    release = environment.release
    known = json.loads(KNOWN_HISTORY.read_text(encoding="utf-8"))
    data, warnings = rebuilt_history(known, release, environment.yaml.read_text(encoding="utf-8"))
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / KNOWN_HISTORY.name).write_text(render(data), encoding="utf-8")
    lessons = [read_claims(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in files]
    runs = []
    for path in files if run else []:
        runs.append(run_lesson(path, environment.python))
        print(f"{path.stem}: {runs[-1].error or 'ran'}", file=sys.stderr)
    return TorchChanges(
        release=release,
        environment=environment.words,
        operators=changed_operators(read_history(data), lessons, release),
        ended=ended_claims(lessons, release),
        runs=tuple(runs),
        warnings=warnings,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Look at a release and print the report.

    Returns:
        0 when nothing changed, 1 when there is something to look at, 2 on wrong usage.
    """
    parser = argparse.ArgumentParser(description="Report what a release of torch changes in the lessons.")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="the environment's interpreter")
    parser.add_argument("--lessons", nargs="+", default=[], metavar="NN", help="numbers of lessons, all by default")
    parser.add_argument("--no-run", action="store_true", help="compare claims only, run no lesson")
    parser.add_argument("--output", type=Path, help="also write the report to this file")
    options = parser.parse_args(arguments)
    try:
        files = lesson_files(options.lessons)
        environment = look_at(options.python)
    except (LookupError, UnusableEnvironmentError) as error:
        print(f"check_new_torch: {error}", file=sys.stderr)
        return 2
    changes = check(environment, files, run=not options.no_run)
    print(changes)
    if options.output is not None:
        options.output.write_text(str(changes), encoding="utf-8")
    return 0 if changes.nothing else 1


if __name__ == "__main__":
    sys.exit(main())
