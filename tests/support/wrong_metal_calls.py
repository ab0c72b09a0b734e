"""Kernels that are wrong, each called in a way that shows it, and what has to be reported."""

import torch

from course_utils.metal import FaultKind
from support.paths import TESTS

# the line that a report has to name carries the kernel's name in a comment
SOURCE = (TESTS / "support" / "metal" / "wrong.metal").read_text(encoding="utf-8")


def x(n=64, dtype=torch.float32):
    return torch.ones(n, dtype=dtype, device="mps")


# kernel -> arguments, how it is launched, and what is reported
CALLS = {
    "no_barrier": (lambda: (x(), x()), {}, FaultKind.UNWRITTEN),
    "no_barrier_in_loop": (lambda: (x(),), {}, FaultKind.RACE),
    "one_barrier_in_scan": (lambda: (x(),), {}, FaultKind.RACE),
    "barrier_of_nothing": (lambda: (x(),), {}, FaultKind.RACE),
    "barrier_of_other_memory": (lambda: (x(),), {}, FaultKind.RACE),
    "read_one_too_far": (lambda: (x(1000), x(1000)), {}, FaultKind.OUT_OF_BOUNDS),
    "write_one_too_far": (lambda: (x(1000),), {}, FaultKind.OUT_OF_BOUNDS),
    "below_zero": (lambda: (x(), x()), {}, FaultKind.OUT_OF_BOUNDS),
    "less_or_equal": (lambda: (x(5), x(35), 7), {}, FaultKind.OUT_OF_BOUNDS),
    "rows_for_columns": (lambda: (x(15), x(15)), {"threads": (5, 3)}, FaultKind.OUT_OF_BOUNDS),
    "group_too_large": (lambda: (x(),), {"group_size": 64}, FaultKind.OUT_OF_BOUNDS),
    "early_return": (lambda: (x(60), 60), {"threads": 64, "group_size": 64}, FaultKind.BARRIER),
    "barrier_in_branch": (lambda: (x(),), {}, FaultKind.BARRIER),
    "not_all_written": (lambda: (x(),), {}, FaultKind.UNWRITTEN),
    "starts_from_garbage": (lambda: (x(),), {}, FaultKind.UNWRITTEN),
    "plain_histogram": (lambda: (x(4, torch.int32), x(64, torch.int32)), {"threads": 64}, FaultKind.RACE),
    "sum_of_groups": (lambda: (x(1), x()), {"threads": 64, "group_size": 32}, FaultKind.RACE),
    "last_one_wins": (lambda: (x(1), torch.arange(9.0).to("mps")), {"threads": 9}, FaultKind.RACE),
    "shift_in_place": (lambda: (torch.arange(64.0).to("mps"), 64), {}, FaultKind.RACE),
    "lanes_in_step": (lambda: (x(32),), {}, FaultKind.UNWRITTEN),
    "counts_before_zero": (
        lambda: (x(4, torch.int32), torch.zeros_like(x(64, torch.int32))),
        {"threads": 64},
        FaultKind.RACE,
    ),
    "absent_lane": (lambda: (x(32),), {}, FaultKind.LANE),
    "local_array": (lambda: (x(4), 1), {}, FaultKind.OUT_OF_BOUNDS),
    "by_nothing": (lambda: (x(4, torch.int32), 0), {}, FaultKind.DIVISION),
    "too_much_memory": (lambda: (x(),), {}, FaultKind.MEMORY),
    "endless": (lambda: (x(1),), {}, FaultKind.TIME),
    "too_deep": (lambda: (x(1, torch.int32),), {}, FaultKind.STACK),
    "wild_pointer": (lambda: (x(1),), {}, FaultKind.OUT_OF_BOUNDS),
    "changes_a_constant": (lambda: (x(), x()), {}, FaultKind.CRASH),
    "in_a_helper": (lambda: (x(), x()), {}, FaultKind.OUT_OF_BOUNDS),
    "next_buffer": (lambda: (x(), x(100000)), {"threads": 64}, FaultKind.OUT_OF_BOUNDS),
    "beyond_a_view": (lambda: (x(4), x(64)[:4]), {}, FaultKind.OUT_OF_BOUNDS),
    "float4_of_floats": (lambda: (x(64),), {}, FaultKind.OUT_OF_BOUNDS),
    "wrong_fill": (lambda: (x(),), {"threads": (8, 8), "group_size": (8, 8)}, FaultKind.OUT_OF_BOUNDS),
}
