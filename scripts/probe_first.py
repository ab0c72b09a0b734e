"""The first step of a CI job on a Mac: say whether MPS works there, before anything relies on it.

    python -m scripts.probe_first --output "$GITHUB_OUTPUT"    # adds the line mps=usable, mps=unusable or mps=absent

A virtual Mac may offer MPS and fail at the first computation, so the answer comes from a computation. That MPS does not
work is an answer and no failure, unless --require-mps says that this runner has to have it. The fallback variable has
to be unset: with it a missing operator would run on the CPU in silence, and the job would be green.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.devices.environment_variables import FALLBACK

if TYPE_CHECKING:
    from course_utils.devices.probe import Probe

WORDS = {"usable": "usable", "present but unusable": "unusable", "absent": "absent"}


@dataclass(frozen=True)
class Decision:
    """What the job does after the probe.

    Args:
        exit_code: 0 to go on, 1 when MPS was required and does not work, 2 when the job is set up wrongly.
        sentence: what was found, for the log.
        line: the line for later steps, such as "mps=usable".
    """

    exit_code: int
    sentence: str
    line: str


def decide(probe: Probe, variables: Mapping[str, str], *, required: bool) -> Decision:
    """Decide from what the probe found and from the environment.

    Args:
        probe: what a computation on MPS showed.
        variables: the environment variables of the job.
        required: whether this runner has to have a working MPS.
    """
    line = f"mps={WORDS[probe.state]}"
    if FALLBACK in variables:
        return Decision(
            2,
            f"{FALLBACK} is set to {variables[FALLBACK]!r}; unset it: a missing operator has to raise in this job",
            line,
        )
    if required and not probe.usable:
        return Decision(1, f"this runner has to have MPS. {probe}", line)
    return Decision(0, str(probe), line)


def main(arguments: Sequence[str] | None = None) -> int:
    """Probe, say what was found, and leave it for later steps.

    Returns:
        The decision's exit code.
    """
    parser = argparse.ArgumentParser(description="Say whether MPS works on this machine, for a CI job.")
    parser.add_argument("--output", type=Path, help="add the line mps=... to this file")
    parser.add_argument("--require-mps", action="store_true", help="exit code 1 when MPS does not work")
    options = parser.parse_args(arguments)
    from course_utils import probe_mps

    decision = decide(probe_mps(), os.environ, required=options.require_mps)
    print(decision.sentence, file=sys.stderr if decision.exit_code else sys.stdout)
    if options.output is not None:
        with options.output.open("a", encoding="utf-8") as file:
            file.write(f"{decision.line}\n")
    return decision.exit_code


if __name__ == "__main__":
    sys.exit(main())
