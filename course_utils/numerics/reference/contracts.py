"""Operators with more than one right answer: what each of them has to satisfy, whichever it gives."""

from __future__ import annotations

from typing import Any

import torch

from course_utils.numerics.running.attempts import Answer

_ORDERING = ("sort", "topk")
_PICKING = ("kthvalue", "median", "nanmedian", "mode")
_FACTORS = ("linalg_qr", "_linalg_svd", "_linalg_eigh")


def has_contract(name: str, answer: Answer) -> bool:
    """Return whether an operator's answer is judged by what it has to satisfy, not by its numbers."""
    return name in _FACTORS or (name in _ORDERING + _PICKING and len(answer) == 2)


def broken_contract(name: str, operands: tuple[Any, ...], answer: Answer) -> str | None:
    """Return what an answer does not satisfy, or None where it satisfies everything or nothing is known.

    Args:
        name: the operator.
        operands: its positional operands, on the CPU.
        answer: its flat results.
    """
    if not has_contract(name, answer):
        return None
    if name in _ORDERING:
        return _ordering(operands, answer[0].tensor, answer[1].tensor)
    if name in _PICKING:
        return _picking(operands[0], answer[0].tensor, answer[1].tensor)
    return _factors(name, operands[0], [leaf.tensor for leaf in answer], upper=operands[1:2] == ("U",))


def _ordering(operands: tuple[Any, ...], values: torch.Tensor, places: torch.Tensor) -> str | None:
    given = operands[0]
    if not given.dim() or not values.numel():
        return None
    # sort.stable and topk take the dimension at other places; the one whose size differs or fits is found by trying
    candidates = [
        dim
        for dim in range(given.dim())
        if all(values.shape[d] == given.shape[d] for d in range(given.dim()) if d != dim)
        and int(places.min()) >= 0
        and int(places.max()) < given.shape[dim]
    ]
    for dim in candidates:
        ordered = places.sort(dim).values
        if _are_at(given, dim, places, values) and bool((ordered.diff(dim=dim) != 0).all()):
            return None
    return "the values are not the elements at the returned places, or a place is returned twice"


def _picking(given: torch.Tensor, values: torch.Tensor, places: torch.Tensor) -> str | None:
    """Judge one element of each row: which of several equal ones is meant is not promised."""
    if not given.dim() or not values.numel():
        return None
    for dim in range(given.dim()):
        kept = [side if side.dim() == given.dim() else side.unsqueeze(dim) for side in (values, places)]
        shape = (*given.shape[:dim], 1, *given.shape[dim + 1 :])
        inside = int(places.min()) >= 0 and int(places.max()) < given.shape[dim]
        if inside and kept[0].shape == shape and _are_at(given, dim, kept[1], kept[0]):
            return None
    return "the values are not the elements at the returned places"


def _are_at(given: torch.Tensor, dim: int, places: torch.Tensor, values: torch.Tensor) -> bool:
    taken = given.gather(dim, places)
    return bool(((taken == values) | (taken.isnan() & values.isnan())).all())


def _factors(name: str, matrix: torch.Tensor, factors: list[torch.Tensor], *, upper: bool) -> str | None:
    if any(not factor.numel() for factor in factors) or not bool(matrix.isfinite().all()):
        return None
    wide = [f.to(torch.complex128 if f.is_complex() else torch.float64) for f in factors]
    if name == "linalg_qr":
        made = wide[0] @ wide[1]
    elif name == "_linalg_svd":
        count = wide[1].shape[-1]
        made = (wide[0][..., :count] * wide[1].unsqueeze(-2).to(wide[0].dtype)) @ wide[2][..., :count, :]
    else:
        made = (wide[1] * wide[0].unsqueeze(-2).to(wide[1].dtype)) @ wide[1].mH
        half = matrix.triu() if upper else matrix.tril()  # eigh reads one half
        matrix = half + (half.triu(1) if upper else half.tril(-1)).mH
    if made.shape != matrix.shape:
        return None
    size = max(matrix.shape[-2:])
    norm = torch.linalg.matrix_norm(matrix.to(made.dtype))
    residual = torch.linalg.matrix_norm(made - matrix.to(made.dtype))
    allowed = 10 * size * torch.finfo(factors[-1].dtype).eps * norm
    if bool((residual > allowed).any()):
        return "the factors multiplied do not give the matrix"
    basis = wide[0] if name != "_linalg_eigh" else wide[1]
    unit = basis.mH @ basis
    off = (unit - torch.eye(unit.shape[-1], dtype=unit.dtype)).abs().max()
    if float(off) > 10 * size * torch.finfo(factors[-1].dtype).eps:
        return "the vectors are not orthonormal"
    return None
