"""What an audit finds: findings with their places, and the operators that it saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Phase = Literal["before", "forward", "loss", "backward", "optimizer"]
PHASES: tuple[Phase, ...] = get_args(Phase)
FindingKind = Literal[
    "float64",  # a dtype that Metal lacks: float64 or complex128
    "sparse",
    "mixed devices",
    "missing",
    "cpu always",
    "outside aten",
    "refused",  # raised on the way, although the CPU runs it
    "wrong result",  # a known fault: has a kernel that computes such calls wrongly, without an error
    "may refuse",  # has a kernel with a documented limit that this call reaches
    "may leave the GPU",  # has a kernel that computes such calls on the CPU
]
KINDS: tuple[FindingKind, ...] = get_args(FindingKind)


@dataclass(frozen=True)
class CallSite:
    """StepPosition a finding comes from.

    Args:
        module: path of the module whose forward runs, such as "encoder.layers.0.self_attn"; the model's class name
            for the model itself; "" outside every module. In the backward phase, the module of the forward call.
        source: file and line outside torch, such as "model.py:12"; "" where the whole way leads through torch.
        count: how often.
    """

    module: str
    source: str
    count: int = 1

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.module, self.source) if part)
        return where or "the step itself"


@dataclass(frozen=True)
class AuditFinding:
    """One thing that will go wrong or may go wrong on MPS.

    Args:
        kind: one of `KINDS`.
        name: the overload ("aten::linalg_eig"), or the tensor ("buffer scale").
        public: the name a reader would know, such as "torch.linalg.eigvals"; "" where there is none.
        effect: what will happen, such as the error's type and the name in its text.
        advice: what to do.
        since: the first release with an MPS kernel, as a sentence; "" where no release is in question.
        phase: in which part of the step; "before" for tensors that cannot even be moved.
        places: where, each with its count.
        source: where the claim comes from, for documented limits.
    """

    kind: FindingKind
    name: str
    public: str
    effect: str
    advice: str
    since: str = ""
    phase: Phase = "before"
    places: tuple[CallSite, ...] = ()
    source: str = ""

    @property
    def count(self) -> int:
        """How often it happens in one step."""
        return sum(place.count for place in self.places)

    @property
    def what(self) -> str:
        """The name, with the public name where that tells more."""
        return f"{self.name} ({self.public})" if self.public else self.name

    def where(self, most: int = 2) -> str:
        """Return the first places, and how many others there are."""
        named = [str(place) for place in self.places[:most]]
        rest = len(self.places) - most
        return "; ".join(named) + (f"; {rest} more" if rest > 0 else "")

    def sentence(self) -> str:
        """Return what will happen, since when it would not, and what to do."""
        parts = (self.effect, self.since, f"do: {self.advice}", f"source: {self.source}" if self.source else "")
        return ". ".join(part for part in parts if part)


@dataclass(frozen=True)
class SeenOperator:
    """One operator that reached the device.

    Args:
        name: qualified name with overload, "aten::add.Tensor".
        verdict: "native", "composite", "cpu_always" or "missing".
        count: how often in one step.
    """

    name: str
    verdict: str
    count: int
