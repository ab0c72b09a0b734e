"""Decide whether an interpreter can run the course; prints the reason when it cannot and exits 1.

Run by the interpreter in question, so this file has to load in very old ones: no f-strings, no annotations.
"""

import platform
import subprocess
import sys

LOWEST = (3, 11)
TOO_NEW = (3, 15)


def verdict(version, system, machine, apple_chip, has_venv):
    """Judge an interpreter.

    Args:
        version: (major, minor).
        system: platform.system() of the interpreter.
        machine: platform.machine() of the interpreter; "x86_64" under Rosetta.
        apple_chip: whether the Mac has an Apple chip, whatever the interpreter is built for.
        has_venv: whether the modules venv and ensurepip are there.

    Returns:
        None when it suits, else what to install, in one sentence.
    """
    name = "Python %d.%d" % version
    if system == "Darwin" and machine == "x86_64" and apple_chip:
        return (
            "%s is an Intel build on an Apple chip and stuck at torch 2.2.2: install an arm64 Python 3.11 to 3.14, for "
            "example from python.org or with an arm64 Miniforge." % name
        )
    if system == "Darwin" and machine == "x86_64":
        return "this is an Intel Mac, for which torch ended with 2.2.2; the course needs torch 2.9 or newer."
    if not LOWEST <= version < TOO_NEW:
        return "%s is not in the course's range: install Python 3.11, 3.12, 3.13 or 3.14." % name
    if not has_venv:
        return "%s lacks venv or ensurepip: install them (on Debian and Ubuntu the package python3-venv)." % name
    return None


def has_apple_chip():
    """Return whether macOS says that the chip is Apple's; the answer is the same under Rosetta."""
    try:
        answer = subprocess.Popen(["sysctl", "-n", "hw.optional.arm64"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return answer.communicate()[0].strip() == b"1"
    except OSError:
        return False


def can_make_environments():
    """Try the modules that `python -m venv` needs."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    reason = verdict(
        sys.version_info[:2], platform.system(), platform.machine(), has_apple_chip(), can_make_environments()
    )
    if reason is not None:
        print(reason)
        sys.exit(1)
