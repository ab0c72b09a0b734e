"""The doctor's rules by theme; each module has RULES: from a snapshot to the finding it calls for, or None."""

from __future__ import annotations

from collections.abc import Callable

from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.snapshot import Snapshot

Rule = Callable[[Snapshot], Diagnosis | None]
