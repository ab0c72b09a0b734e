"""The audit: which operators of a training step MPS lacks or may refuse, where, and what to do; on any machine.

    from course_utils import audit
    print(audit(model, batch, loss=lambda output: cross_entropy(output, targets), optimizer=torch.optim.AdamW))

Importing this package does not import torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# public name -> the module that holds it
_HOME = {
    "Audit": "report",
    "AuditFinding": "findings",
    "ModelError": "run",
    "CallSite": "findings",
    "SeenOperator": "findings",
    "audit": "run",
}

__all__ = ["Audit", "AuditFinding", "CallSite", "ModelError", "SeenOperator", "audit"]

if TYPE_CHECKING:
    from course_utils.auditing.findings import AuditFinding, CallSite, SeenOperator
    from course_utils.auditing.report import Audit
    from course_utils.auditing.run import ModelError, audit


def __getattr__(name: str) -> Any:
    """Load the module that holds `name` on first use (PEP 562)."""
    if name in _HOME:
        return getattr(importlib.import_module(f"course_utils.auditing.{_HOME[name]}"), name)
    raise AttributeError(
        f"module 'course_utils.auditing' has no attribute {name!r}; it has {', '.join(sorted(__all__))}"
    )


def __dir__() -> list[str]:
    return __all__
