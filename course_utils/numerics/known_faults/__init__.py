"""Silent faults of MPS that were reported in public, asked of this machine: `course compare --known`.

The faults stand in `course_utils/data/known_faults.json`; the modules named after kinds of fault hold a reproducer for
each, a few lines that a device computes and what is right. `run` asks, `isolation` asks in another process.

A new fault needs three things, and the tests name the one that is missing: an entry in the data, a reproducer with
`@reproduces(ISSUE)`, and in `tests/support/planted_known_faults/` the fault itself, planted into a kernel of the CPU.
"""

from __future__ import annotations

from course_utils.numerics.known_faults.asking import FaultAnswer, FaultState
from course_utils.numerics.known_faults.report import KnownFaultsReport
from course_utils.numerics.known_faults.run import ask_known_faults

__all__ = ["FaultAnswer", "FaultState", "KnownFaultsReport", "ask_known_faults"]
