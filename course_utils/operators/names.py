"""Names of operators as people and torch write them, and the overload that they mean."""

from __future__ import annotations

from collections.abc import Collection

from course_utils.reporting.near_names import near_names


def base_of(overload: str) -> str:
    """Drop the overload's suffix: "isin" for "isin.Tensor_Tensor"."""
    return overload.partition(".")[0]


def without_namespace(name: object) -> str:
    """Drop "aten::", "aten." or "torch.ops.aten." and a trailing ".default".

    Args:
        name: a string, or an overload of torch such as `torch.ops.aten.isin.Tensor_Tensor`.

    Raises:
        LookupError: when the name is in another namespace than aten.
    """
    text = str(name).strip().removeprefix("torch.ops.")
    for prefix in ("aten::", "aten."):
        text = text.removeprefix(prefix)
    if "::" in text:
        raise LookupError(
            f"{text} is outside aten: it is not in torch's native_functions.yaml, so whether MPS has a kernel for it "
            "is up to the library that defines it"
        )
    return text.removesuffix(".default")


def find_overload(name: object, known: Collection[str]) -> str:
    """Find the one overload that a name means.

    Args:
        name: "linalg_eig", "aten::linalg_eig", "aten.linalg_eig.default", "isin.Tensor_Tensor" or torch's overload.
        known: overloads without "aten::".

    Raises:
        LookupError: when there is no such overload; the message has the operator's overloads, or the nearest names.
    """
    wanted = without_namespace(name)
    if wanted in known:
        return wanted
    overloads = [overload for overload in known if base_of(overload) == base_of(wanted)]
    if overloads:
        raise LookupError(f"aten::{wanted} is not an overload; this operator has {', '.join(sorted(overloads))}")
    raise LookupError(f"torch has no operator aten::{wanted}; {nearest(wanted, known)}")


def find_overloads(name: object, known: Collection[str]) -> tuple[str, ...]:
    """Find the overload that a name means, or all overloads of the operator that it names.

    Raises:
        LookupError: when there is neither; the message has the nearest names.
    """
    wanted = without_namespace(name)
    overloads = tuple(sorted(overload for overload in known if base_of(overload) == wanted))
    return overloads or (find_overload(wanted, known),)


def nearest(wanted: str, known: Collection[str]) -> str:
    """Return a sentence with the operators whose names are like the one wanted."""
    operators = {base_of(overload) for overload in known}
    close = near_names(wanted, operators, most=4, similar=0.6)
    # "bicubic" means upsample_bicubic2d, which no measure of likeness finds
    close += [operator for operator in sorted(operators, key=len) if wanted in operator and operator not in close][:4]
    return f"nearest names: {', '.join(close)}" if close else "no name is like it"
