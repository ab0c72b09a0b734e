"""torch's own log of CPU fallbacks is read, and names what the counter names."""

import subprocess

import pytest

from course_utils import probe_mps
from course_utils.emulation import counted_mps
from course_utils.emulation.profile_log import LIVE_FALLBACKS, VARIABLE, fallbacks_by_torch, parse_profile_log

# as MPSProfiler.mm writes it: other lines of the log, and the same operator twice
LOG = """aten::mul_:Float[2,2]:Float[2,2] (id=K1, run=1)
CPU Fallback::aten::linalg_eig:Float[2,2] (id=1, run=1, CopyOverhead=16 bytes)
some/path/CPU Fallback of something else
CPU Fallback::aten::linalg_eig:Float[2,2] (id=1, run=2, CopyOverhead=16 bytes, cpu=0.021 ms)
CPU Fallback::aten::_pdist_forward (id=2, run=1, CopyOverhead=1.2 KB)
"""
SCRIPT = """
import torch
matrix = torch.eye(3, device="mps")
torch.linalg.eigvals(matrix)
torch.pdist(matrix)
"""


def test_log_is_read():
    """Each fallback counts once for each line; other lines do not count."""
    assert parse_profile_log(LOG) == {"aten::linalg_eig": 2, "aten::_pdist_forward": 1}
    assert parse_profile_log("") == {}


def test_child_has_the_variables():
    """The script runs with both variables; what it writes to standard error is read."""
    script = (
        "import os, sys\n"
        f"assert os.environ['{VARIABLE}'] == '{LIVE_FALLBACKS}' and os.environ['PYTORCH_ENABLE_MPS_FALLBACK'] == '1'\n"
        f"sys.stderr.write({LOG!r})"
    )
    assert sum(fallbacks_by_torch(script).values()) == 3


def test_a_failing_script_is_an_error():
    """A script that fails has not shown that nothing falls back."""
    with pytest.raises(subprocess.CalledProcessError) as caught:
        fallbacks_by_torch("raise SystemExit('broken')")
    assert "broken" in caught.value.stderr


def test_counter_and_torch_agree():
    """On a Mac the operators that the counter says fall back are those that torch logs."""
    if not probe_mps().usable:
        pytest.skip(f"needs a real MPS device; {probe_mps()}")
    with counted_mps(fallback=True) as mps:
        exec(SCRIPT, {})
        counted = {fallback.operator.partition(".")[0] for fallback in mps.ledger().fallbacks}
    assert counted == set(fallbacks_by_torch(SCRIPT))
