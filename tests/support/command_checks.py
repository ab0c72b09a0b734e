"""Whether a command that the doctor advises can work on the machine that it describes."""

import re
import shlex

from course_utils.data.versions import exactly, macos_version, parse
from course_utils.doctor.requirements import course_bounds, newest_torch, pairs, pip_picks, torch_lines

# program -> the systems that have it, and the kinds of environment that do where it comes with one
SYSTEMS = {
    "arch": "Darwin",
    "sysctl": "Darwin",
    "sw_vers": "Darwin",
    "softwareupdate": "Darwin",
    "chflags": "Darwin",
    "wsl": "Windows",
}
KINDS = {"uv": "uv", "conda": "conda"}
KNOWN = {
    *SYSTEMS,
    *KINDS,
    *("python", "python3", "pip", "make", "course", "unset", "export", "set", "mv", "rm", "curl", "bash", "pyenv"),
    *("cd", "py", ".venv/bin/python"),
}


def parts(command):
    """Split a command at &&, each part without the variables before it: its words."""
    for part in command.split(" && "):
        words = shlex.split(part)
        while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
            words.pop(0)
        if words:
            yield words


def torch_problem(torch, snapshot):
    """Say why a torch cannot be installed on a Mac, or has no MPS there; None where it can and has, and elsewhere."""
    python, macos = parse(snapshot.python), macos_version(snapshot.os_version, snapshot.kernel)
    line = next((line for line in torch_lines() if torch in line.releases), None)
    intel = snapshot.machine in ("x86_64", "i386")
    wrong = {
        f"no Intel wheel of torch {torch}": intel and torch != "2.2.2",
        f"2.2.2 has no Intel wheel for Python {python}": intel and python is not None and python.line > (3, 12),
        f"no such torch: {torch}": line is None,
        f"torch {torch} has no wheel for Python {python}": line is not None and not line.suits_python(python),
        f"torch {torch} has no MPS on macOS {macos}": not intel
        and line
        and macos
        and not macos.at_least(line.mps_macos),
    }
    return next((reason for reason, so in wrong.items() if so), None) if snapshot.system == "Darwin" else None


def bounds_problem(snapshot):
    """Say why a plain install within the course's bounds gives no torch with MPS on a Mac; None where it does."""
    python, macos = parse(snapshot.python), macos_version(snapshot.os_version, snapshot.kernel)
    if snapshot.system != "Darwin":
        return None if newest_torch(None, python, below=course_bounds().torch_below) else "no torch for this Python"
    if snapshot.machine in ("x86_64", "i386"):
        return "no Intel wheel within the bounds"
    if macos is None:
        return None
    best = newest_torch(macos, python, below=course_bounds().torch_below)
    if best is None or not exactly(best).at_least(course_bounds().torch_from):
        return f"no torch within the bounds has MPS on macOS {macos} with Python {python}"
    picked = pip_picks(macos, python)
    return None if picked else "pip finds no wheel"


def install_problem(words, snapshot):
    """Say why an installation cannot work."""
    text = " ".join(words).replace('"', "")
    torch, vision = re.search(r"\btorch==(\S+)", text), re.search(r"\btorchvision==(\S+)", text)
    if torch and (problem := torch_problem(torch[1], snapshot)):
        return problem
    if torch and vision and pairs(exactly(torch[1]), exactly(vision[1])) is False:
        return f"torchvision {vision[1]} does not pair with torch {torch[1]}"
    if re.search(r"\btorch>=", text):
        return bounds_problem(snapshot)
    return None


def part_problem(words, snapshot):
    """Say why one program cannot run on a machine; None where it can."""
    program, kind = words[0], snapshot.environment_kind
    installs = "install" in words and ("pip" in words or program == "%pip")
    apple_chip = snapshot.machine == "arm64" or snapshot.apple_silicon or snapshot.translated
    apple_chip = apple_chip or "Apple" in (snapshot.chip or "")
    known = program in KNOWN or re.fullmatch(r"python3\.\d+|%pip|%env|(~|/).*python[\d.]*", program)
    by_pip = installs and program in ("python", "python3")
    wrong = {
        f"no machine has a program {program!r}": not known,
        f"{program} is missing on {snapshot.system}": SYSTEMS.get(program, snapshot.system) != snapshot.system,
        f"nothing says that {program} is installed": KINDS.get(program, kind) != kind,
        "arch -arm64 needs an Apple chip": program == "arch" and not apple_chip,
        f"{program} works in a notebook only": program.startswith("%") and not snapshot.in_notebook,
        f"Windows has no {program}": program in ("make", "unset", "export") and snapshot.system == "Windows",
        "an environment of uv has no pip": by_pip and kind == "uv",
        "this Python is externally managed": by_pip and kind == "system" and snapshot.externally_managed,
        "the lessons need a torch that loads": words[:2] == ["course", "lab"]
        and snapshot.system != "Darwin"
        and (snapshot.torch == "none" or snapshot.torch_import not in (None, "ok")),
        "nothing says that there is a .venv": program == "rm" and not (snapshot.prefix or "").endswith("/.venv"),
    }
    reason = next((reason for reason, so in wrong.items() if so), None)
    if reason is None and installs:
        return install_problem(words, snapshot)
    return unset_problem(words[1], snapshot) if reason is None and program == "unset" else reason


def unset_problem(name, snapshot):
    """Say why there is nothing to unset; a variable of an index, or an older snapshot's PYTHONPATH, may be set."""
    if snapshot.variable(name) is not None or name.startswith(("PIP_", "UV_")) or name == "PYTHONPATH":
        return None
    return f"{name} is not set"


def problems(command, snapshot):
    """List why a command cannot work on a machine."""
    if command.startswith("import os; os.environ"):
        return [] if snapshot.in_notebook else ["Python code outside of a notebook"]
    found = [part_problem(words, snapshot) for words in parts(command)]
    return [problem for problem in found if problem]
