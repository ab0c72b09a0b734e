"""Every operator on its own, in higher precision from the device's own operands: names the one that is wrong.

Nothing is carried over from operator to operator: no rounding adds up, no relu flips, and what is wrong here is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map, tree_map_only

from course_utils.devices.dispatch_mode import DispatchMode
from course_utils.numerics.reference import operator_kinds as kinds
from course_utils.numerics.reference.contracts import broken_contract, has_contract
from course_utils.numerics.reference.differences import compare_outputs
from course_utils.numerics.reference.judge import first_look
from course_utils.numerics.reference.limits import COARSENESS, Spread
from course_utils.numerics.reference.rounding import RoundingModel
from course_utils.numerics.running.attempts import Answer, Refusal, attempt
from course_utils.numerics.tensors.inputs import cast, move
from course_utils.numerics.tensors.leaves import flatten, same_bits
from course_utils.numerics.tensors.operators import operator_name

REPLICAS = 4
SIGMAS = 12.0
_FLOATS = (torch.float16, torch.bfloat16, torch.float32)


@dataclass(frozen=True)
class OperatorFault:
    """One operator that is wrong on its own.

    Args:
        operator: such as "aten::mm".
        excess: its error as a multiple of what is allowed.
        sentence: what differs.
        backward: whether it ran in backward.
    """

    operator: str
    excess: float
    sentence: str
    backward: bool


class OperatorLook(DispatchMode):
    """While active, judges every operator that the device runs.

    Attributes:
        faults: the operators that were wrong, in order.
        judged: how many were compared.
        skipped: operators without a CPU kernel to compare with.
    """

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[OperatorFault] = []
        self.judged = 0
        self.skipped: dict[str, None] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operator on the device and compare it."""
        kwargs = kwargs or {}
        name = operator_name(func)
        random = torch.Tag.nondeterministic_seeded in func.tags
        if func.is_view or random or name in kinds.NOT_COMPUTED or not _tensors((args, kwargs)):
            return func(*args, **kwargs)
        with _disable_current_modes():
            mine, options = _on_cpu(args), _on_cpu(kwargs)
        result = func(*args, **kwargs)
        with _disable_current_modes():
            answer = flatten(result)
            self._judge(func, name, (mine, options), answer)
        return result

    def _judge(self, func: Any, name: str, operands: tuple[Any, Any], answer: Answer) -> None:
        native = attempt(lambda: func(*_copied(operands[0]), **_copied(operands[1])))
        if isinstance(native, Refusal):
            self.skipped[f"{func._schema.name}: {native}"] = None
            return
        self.judged += 1
        if same_bits(native, answer):
            return
        if has_contract(name, answer):
            broken = broken_contract(name, operands[0], answer)
            if broken is not None:
                self._found(func, float("inf"), broken)
            return
        exact = attempt(lambda: func(*_wide(operands[0]), **_wide_options(operands[1])))
        dtype = next((leaf.tensor.dtype for leaf in answer if leaf.tensor.dtype in (*_FLOATS, torch.float64)), None)
        if isinstance(exact, Refusal):
            self.skipped[f"{func._schema.name} in float64: {exact}"] = None
            return
        dtype = dtype or torch.float32
        settled = first_look(answer, exact, (native,), dtype)
        if settled is not None and None not in settled:
            return
        spreads = [Spread(leaf.tensor, dtype) for leaf in exact]
        moved = [_moved(func, operands, RoundingModel(dtype, number)) for number in range(REPLICAS)]
        coarse = [
            _moved(func, operands, RoundingModel(dtype, number, coarseness=COARSENESS)) for number in range(REPLICAS)
        ]
        for place, spread in enumerate(spreads):
            for other in moved:
                if other is not None and place < len(other):
                    spread.add(other[place].tensor)
            for one, other in zip(coarse[::2], coarse[1::2], strict=True):
                if one is not None and other is not None and place < min(len(one), len(other)):
                    spread.add_pair(one[place].tensor, other[place].tensor)
        bounds = [spread.bound(SIGMAS) for spread in spreads]
        differences = compare_outputs(answer, exact, bounds, dtype=dtype)
        real = [d for d in differences if d.kind not in ("dtype", "overflow")]
        if real:
            worst = max(real, key=lambda difference: difference.excess)
            self._found(func, worst.excess, worst.sentence.replace("output", "its result"))

    def _found(self, func: Any, excess: float, sentence: str) -> None:
        backward = bool(torch._C._current_graph_task_id() != -1)
        self.faults.append(OperatorFault(func._schema.name, excess, sentence, backward))


def _moved(func: Any, operands: tuple[Any, Any], model: RoundingModel) -> Answer | None:
    with model:
        answer = attempt(lambda: func(*_wide(operands[0]), **_wide_options(operands[1])))
    return None if isinstance(answer, Refusal) else answer


def _tensors(values: Any) -> bool:
    return any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(values))


def _on_cpu(values: Any) -> Any:
    def one(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return move(value, "cpu")
        return torch.device("cpu") if isinstance(value, torch.device) else value

    return tree_map(one, values)


def _copied(values: Any) -> Any:
    return tree_map_only(torch.Tensor, lambda t: move(t, "cpu"), values)


def _wide(values: Any) -> Any:
    return tree_map_only(torch.Tensor, lambda t: cast(move(t, "cpu"), torch.float64), values)


def _wide_options(options: dict[str, Any]) -> dict[str, Any]:
    wide: dict[str, Any] = _wide(options)
    return {key: torch.float64 if key == "dtype" and value in _FLOATS else value for key, value in wide.items()}
