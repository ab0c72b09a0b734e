"""Names and kinds of torch's operators, as a dispatch mode sees them."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def operator_name(func: Any) -> str:
    """Return an overload's operator without namespace, overload and the underscore of in-place forms."""
    name: str = func._schema.name.split("::")[-1]
    return name.rstrip("_") or name


def is_write(func: Any) -> bool:
    """Return whether an overload is an in-place operator, such as aten::add_."""
    return bool(func._schema.is_mutable) and func._schema.name.endswith("_")
