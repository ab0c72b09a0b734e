"""Ask torch itself which operators fell back: its own log of a script that runs in a child process on a Mac.

The counter of a real device goes by the operator table; this confirms it, for scripts that are cheap to run twice.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping

# the switch that prints each CPU fallback as it happens (ATen/mps/MPSProfiler.h, torch 2.0 to 2.15)
VARIABLE, LIVE_FALLBACKS = "PYTORCH_MPS_LOG_PROFILE_INFO", "4"
# CpuFbInfo::toString in ATen/mps/MPSProfiler.mm: the operator, then its tensors, then numbers
_FALLBACK = re.compile(r"CPU Fallback::(\w+::\w+)[^(]*\(id=")


def parse_profile_log(text: str) -> Mapping[str, int]:
    """Return how often each operator fell back, by name without overload, such as {"aten::linalg_eig": 2}.

    Args:
        text: what a process wrote to standard error with PYTORCH_MPS_LOG_PROFILE_INFO=4.
    """
    return Counter(match.group(1) for match in _FALLBACK.finditer(text))


def fallbacks_by_torch(source: str, *, timeout_s: float = 120.0) -> Mapping[str, int]:
    """Run Python source in a child process with the fallback variable and torch's log; return what fell back.

    Args:
        source: a script that uses device "mps".
        timeout_s: the longest that it may run, seconds.

    Raises:
        subprocess.CalledProcessError: when the script fails; `stderr` holds its last words.
        subprocess.TimeoutExpired: when it takes too long.
    """
    environment = os.environ | {VARIABLE: LIVE_FALLBACKS, "PYTORCH_ENABLE_MPS_FALLBACK": "1"}
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=timeout_s)
    return parse_profile_log(done.stderr)
