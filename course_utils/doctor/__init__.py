"""The doctor: why can this machine not use MPS, and what helps.

    from course_utils.doctor import DoctorReport, describe, diagnose
    DoctorReport.of(describe())

`describe` reads the machine into a `Snapshot`, `diagnose` turns any snapshot into findings, the root cause first.
Nothing here imports torch in this process: a child process does. Import this module before torch, and it knows which
environment variables torch saw (`course_utils.devices.torch_start`).
"""

from course_utils.doctor.describe import describe
from course_utils.doctor.diagnose import diagnose
from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.report import DoctorReport
from course_utils.doctor.snapshot import Snapshot, TorchCopy, Variable
from course_utils.doctor.snapshot_file import SnapshotError, from_json, read_snapshot

__all__ = [
    "Diagnosis",
    "DoctorReport",
    "Snapshot",
    "SnapshotError",
    "TorchCopy",
    "Variable",
    "describe",
    "diagnose",
    "from_json",
    "read_snapshot",
]
