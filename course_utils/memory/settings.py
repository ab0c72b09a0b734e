"""What to estimate: the options of `estimate_memory` as one value. Loads no torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from course_utils.reporting.near_names import suggest

if TYPE_CHECKING:
    import torch
    from torch import nn

    from course_utils.memory.decoder import CacheShape, DecoderShape

EstimateMode = Literal["train", "eval"]
MODES: tuple[EstimateMode, ...] = get_args(EstimateMode)
RouteDevice = Literal["mps", "cpu"]
DEVICES: tuple[RouteDevice, ...] = get_args(RouteDevice)
OPTIMIZERS = ("adamw", "adam", "sgd", "sgd-momentum", "none")

OptimizerFactory = Callable[["list[nn.Parameter]"], "torch.optim.Optimizer"]
Loss = Callable[[Any], "torch.Tensor"]


@dataclass(frozen=True)
class EstimateSettings:
    """The options of `estimate_memory`, which documents each.

    Raises:
        ValueError: for an unknown name, or a value that makes no sense; one sentence.
    """

    mode: EstimateMode = "train"
    dtype: torch.dtype | None = None
    optimizer: str | OptimizerFactory = "adamw"
    loss: Loss | None = None
    device: RouteDevice = "mps"
    batch_dimension: int | None = 0
    decoder: DecoderShape | CacheShape | None = None
    cached_tokens: int = 0
    keeps_output: bool = True
    accumulate_steps: int = 1

    def __post_init__(self) -> None:
        for what, value, known in (("mode", self.mode, MODES), ("device", self.device, DEVICES)):
            if value not in known:
                raise ValueError(f"{what} is {value!r}; it has to be one of {', '.join(known)}")
        if isinstance(self.optimizer, str) and self.optimizer not in OPTIMIZERS:
            raise ValueError(f"no optimizer is called {self.optimizer!r}; {suggest(self.optimizer, OPTIMIZERS)}")
        if not isinstance(self.optimizer, str) and not callable(self.optimizer):
            raise ValueError(
                f"optimizer is a {type(self.optimizer).__name__}; pass a name, or a function of the parameters such as "
                "lambda parameters: torch.optim.AdamW(parameters)"
            )
        if self.dtype is not None and not self.dtype.is_floating_point:
            raise ValueError(
                f"dtype is {self.dtype}; a model's weights need a floating-point dtype such as torch.bfloat16"
            )
        if self.accumulate_steps < 1:
            raise ValueError(f"accumulate_steps is {self.accumulate_steps}; it has to be 1 or more")
        if self.cached_tokens < 0:
            raise ValueError(f"cached_tokens is {self.cached_tokens}; it has to be 0 or more")
        if self.cached_tokens and self.decoder is None:
            raise ValueError(
                f"cached_tokens is {self.cached_tokens}, but decoder= does not say how wide a cached token is"
            )

    @property
    def train(self) -> bool:
        """Whether a training step is estimated."""
        return self.mode == "train"

    @property
    def optimizer_name(self) -> str:
        """The optimizer's name; "none" where nothing is trained."""
        if not self.train:
            return "none"
        return (
            self.optimizer if isinstance(self.optimizer, str) else getattr(self.optimizer, "__name__", "an optimizer")
        )

    def make_optimizer(self) -> OptimizerFactory | None:
        """Return a function that makes the optimizer, or None for no optimizer step."""
        import torch

        if not isinstance(self.optimizer, str):
            return self.optimizer
        made: dict[str, OptimizerFactory | None] = {
            "adamw": torch.optim.AdamW,
            "adam": torch.optim.Adam,
            "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
            "sgd-momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
            "none": None,
        }
        return made[self.optimizer]
