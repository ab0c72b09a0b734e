"""Changing future tokens must not change earlier outputs: causal attention, checked token by token."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from course_utils.numerics.questions.session import ComparisonRecord, FailingInputs
from course_utils.numerics.reference.expected import Expected
from course_utils.numerics.reference.limits import ErrorBound
from course_utils.numerics.running.attempts import Answer, Refusal, attempt
from course_utils.numerics.running.runners import DeviceRunner, Fn, run_on_cpu
from course_utils.numerics.running.seeds import set_seed
from course_utils.numerics.tensors.inputs import Inputs
from course_utils.numerics.tensors.leaves import OutputLeaf

MOST_POSITIONS = 16


@dataclass(frozen=True)
class TokenLeak:
    """An earlier output that depends on a later token.

    Args:
        dim: the dimension of the tokens.
        length: how many tokens there are.
        seen: pairs (first token that was changed, first earlier output that changed with it).
        block: the size of the blocks within which tokens see each other, where that explains all pairs; or None.
    """

    dim: int
    length: int
    seen: tuple[tuple[int, int], ...]
    block: int | None

    def __str__(self) -> str:
        token, output = self.seen[0]
        text = f"changing the tokens from {token} on (dimension {self.dim}) changes the output at token {output}"
        if self.block is not None:
            return f"{text}; all {len(self.seen)} leaks found fit blocks of {self.block} tokens that see each other"
        return f"{text}; {len(self.seen)} positions leak"


def change_from(inputs: Inputs, dim: int, first: int) -> Inputs:
    """Replace everything from token `first` on by other values of the same tensors.

    Args:
        inputs: tensors whose dimension `dim` counts tokens; shorter ones stay as they are.
        dim: the dimension of the tokens.
        first: the first token to change.
    """
    length = token_count(inputs, dim)

    def one(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim() <= dim or tensor.shape[dim] != length or tensor.dtype == torch.bool:
            return tensor
        # other values, and within the range of the given ones: tokens have to stay in the vocabulary
        other = tensor.max() + tensor.min() - tensor.flip(0) if not tensor.is_complex() else -tensor
        keep = torch.arange(length).view([-1 if d == dim else 1 for d in range(tensor.dim())]) < first
        return torch.where(keep, tensor, other.to(tensor.dtype))

    return tuple(tree_map_only(torch.Tensor, one, list(inputs)))


def token_count(inputs: Inputs, dim: int) -> int:
    """Count the tokens: the largest size of the dimension."""
    return max(
        (leaf.shape[dim] for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor) and leaf.dim() > dim),
        default=0,
    )


def causal_dims(fn: Fn, inputs: Inputs) -> tuple[int, ...]:
    """Find the dimensions along which a callable is causal and not merely working token by token.

    Args:
        fn: the callable, on the CPU, in the reference's dtype.
        inputs: its inputs in that dtype.

    Returns:
        The dimensions along which later tokens change no earlier output while the first token changes a later one.
    """
    tensors = [leaf for leaf in tree_leaves(list(inputs)) if isinstance(leaf, torch.Tensor)]
    base = attempt(lambda: run_on_cpu(fn, inputs))
    if isinstance(base, Refusal):
        return ()
    return tuple(dim for dim in range(max((t.dim() for t in tensors), default=0)) if _is_causal(fn, inputs, dim, base))


def _is_causal(fn: Fn, inputs: Inputs, dim: int, base: Answer) -> bool:
    length = token_count(inputs, dim)
    if length < 2 or not _token_leaves(base, dim, length):
        return False
    # the first token alone: everything changed, then everything after it restored
    alone = attempt(lambda: run_on_cpu(fn, _merge(change_from(inputs, dim, 0), inputs, dim, length)))
    if isinstance(alone, Refusal) or _first_change(alone, base, dim, length, start=1) is None:
        return False
    for cut in {length // 2, length - 1} - {0}:
        changed = attempt(functools.partial(run_on_cpu, fn, change_from(inputs, dim, cut)))
        if isinstance(changed, Refusal) or _first_change(changed, base, dim, length, stop=cut) is not None:
            return False
    return True


def find_leak(
    runner: DeviceRunner, fn: Fn, inputs: Inputs, dim: int, bounds: Callable[[], tuple[ErrorBound, ...]]
) -> TokenLeak | Refusal | None:
    """Change future tokens on the device, one position after the other, and look for changed earlier outputs.

    Args:
        runner: the device.
        fn: the callable in the device's dtype.
        inputs: its inputs in that dtype.
        dim: the dimension of the tokens.
        bounds: computes which change is only rounding, one bound for each output; called where something changed.

    Returns:
        The leak, what the device raised where the CPU answers, or None.
    """
    length = token_count(inputs, dim)
    base = attempt(lambda: runner.run(fn, inputs))
    if isinstance(base, Refusal):
        return base
    step = max(1, -(-(length - 1) // MOST_POSITIONS))
    seen = []
    # neighbours first: blocks are small
    cuts = sorted({*range(1, min(length, MOST_POSITIONS + 1)), *range(1, length, step)})
    for cut in cuts:
        other = change_from(inputs, dim, cut)
        changed = attempt(functools.partial(runner.run, fn, other))
        if isinstance(changed, Refusal):
            if isinstance(attempt(functools.partial(run_on_cpu, fn, other)), Refusal):
                continue
            return changed
        if _first_change(changed, base, dim, length, stop=cut) is None:
            continue
        first = _first_change(changed, base, dim, length, stop=cut, bounds=bounds())
        if first is not None:
            seen.append((cut, first))
    return TokenLeak(dim, length, tuple(seen), _block(seen, cuts)) if seen else None


def check_causality(record: ComparisonRecord, inputs: Inputs, expected: Expected, causal: bool | int | None) -> bool:
    """Change future tokens; return whether an earlier output changed."""
    if causal is False:
        return False
    setting = record.setting
    case = "future tokens changed"
    dims = causal_dims(expected.exact.fn, expected.inputs)
    wanted = dims if causal is None or causal is True else (causal,)
    if causal is not None and not set(wanted) & set(dims):
        text = "the callable itself is not causal: the reference on the CPU leaks too"
        record.find("leaks future tokens", text, case)
        return False
    for dim in wanted:
        set_seed(setting.seed)
        record.progress(case)
        fn = expected.call.observed(setting.lower)
        fn.gradients = False
        leak = find_leak(setting.runner, fn, inputs, dim, lambda: expected.bounds)
        if isinstance(leak, Refusal):
            record.find("refused", f"the device raises {leak} for other tokens", case)
            return True
        record.values["later tokens changed"] = None
        if leak is not None:
            record.find("leaks future tokens", str(leak), case, index=leak.seen[0])
            record.shown.append(FailingInputs(inputs))
            return True
    return False


def _block(seen: list[tuple[int, int]], cuts: list[int]) -> int | None:
    leaks = dict(seen)
    for size in range(2, max(cuts) + 2):
        if all(leaks.get(cut) == (cut // size * size if cut % size else None) for cut in cuts):
            return size
    return None


def _token_leaves(leaves: tuple[OutputLeaf, ...], dim: int, length: int) -> list[int]:
    return [
        place
        for place, leaf in enumerate(leaves)
        if leaf.path.startswith("output") and leaf.tensor.dim() > dim and leaf.tensor.shape[dim] == length
    ]


def _first_change(
    changed: tuple[OutputLeaf, ...],
    base: tuple[OutputLeaf, ...],
    dim: int,
    length: int,
    *,
    start: int = 0,
    stop: int | None = None,
    bounds: tuple[ErrorBound, ...] | None = None,
) -> int | None:
    """Return the first token between `start` and `stop` whose output changed."""
    firsts = []
    for place in _token_leaves(base, dim, length):
        left, right = changed[place].tensor, base[place].tensor
        if left.shape != right.shape:
            return start
        wide: Any = torch.complex128 if left.is_complex() else torch.float64
        difference = (left.to(wide) - right.to(wide)).abs().nan_to_num(0.0)
        allowed = bounds[place].limit if bounds is not None and bounds[place].limit.shape == difference.shape else 0.0
        moved = (difference > allowed).movedim(dim, 0).reshape(length, -1).any(dim=1)
        moved[:start] = False
        if stop is not None:
            moved[stop:] = False
        if bool(moved.any()):
            firsts.append(int(moved.nonzero()[0]))
    return min(firsts, default=None)


def _merge(first: Inputs, rest: Inputs, dim: int, length: int) -> Inputs:
    """Take token 0 from `first` and all others from `rest`."""
    mixed = []
    for left, right in zip(first, rest, strict=True):
        if isinstance(left, torch.Tensor) and left.dim() > dim and left.shape[dim] == length:
            keep = torch.arange(length).view([-1 if d == dim else 1 for d in range(left.dim())]) == 0
            mixed.append(torch.where(keep, left, right))
        else:
            mixed.append(right)
    return tuple(mixed)
