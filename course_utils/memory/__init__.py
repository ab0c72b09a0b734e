"""What a model needs, what a Mac offers, and whether the one fits into the other.

Nothing here loads torch before a model is traced, so `course memory --explain` answers at once.
"""

from course_utils.memory.budget import MemoryBudget, memory_budget
from course_utils.memory.estimate import estimate_memory
from course_utils.memory.fit import Fit, fits
from course_utils.memory.footprint import MemoryEstimate
from course_utils.memory.out_of_memory import MemoryMessage, explain_out_of_memory
from course_utils.reporting.units import format_bytes

__all__ = [
    "Fit",
    "MemoryBudget",
    "MemoryEstimate",
    "MemoryMessage",
    "estimate_memory",
    "explain_out_of_memory",
    "fits",
    "format_bytes",
    "memory_budget",
]
