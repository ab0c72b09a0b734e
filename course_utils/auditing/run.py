"""The audit itself: copy, check the tensors, follow one step on the device, explain."""

from __future__ import annotations

import platform
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, get_args

import torch
from torch import nn

from course_utils.auditing.calls import CallFollower, FunctionFollower
from course_utils.auditing.explain import explain
from course_utils.auditing.findings import AuditFinding, CallSite, Phase, SeenOperator
from course_utils.auditing.real_device import WARNING, RealDeviceMode
from course_utils.auditing.report import Audit
from course_utils.auditing.steps import (
    AuditedStep,
    LossFunction,
    NotAnOptimizerError,
    OptimizerFactory,
    plain_sgd,
    sum_of_outputs,
)
from course_utils.auditing.tensors import (
    address_of,
    check_tensors,
    named_tensors,
    plain_attributes,
    tensors_kept_by,
)
from course_utils.auditing.tracer import Tracer
from course_utils.data.versions import exactly, order
from course_utils.emulation import is_active
from course_utils.emulation.context import emulated_mps, version_warnings
from course_utils.emulation.kernels import kernels_of
from course_utils.emulation.location import Location, is_inside
from course_utils.operators.table import OperatorTable, operator_table
from course_utils.reporting.error_text import first_line

AuditMode = Literal["train", "eval"]


class ModelError(RuntimeError):
    """The model fails on the CPU too, so the audit says nothing about MPS; the cause is the model's own error.

    Args:
        phase: in which phase it failed.
        error: what it raised.
    """

    def __init__(self, phase: Phase, error: Exception) -> None:
        super().__init__(f"the model fails on the CPU too, in its {phase} phase: {first_line(error)}")
        self.phase = phase


def audit(
    model: nn.Module,
    inputs: Any,
    *,
    loss: LossFunction | None = None,
    optimizer: torch.optim.Optimizer | OptimizerFactory | None = None,
    mode: AuditMode = "train",
    release: str | None = None,
    macos: str | None = None,
) -> Audit:
    """Find the operators of one step of a model that MPS lacks or may refuse, where they are, and what to do.

    Runs one step on copies: forward, loss, backward and optimizer, by the route that it would take on a Mac. Without
    MPS that is the emulated device; on a Mac it is the real one, and what has no kernel runs on the CPU. The model,
    the inputs and the optimizer stay as they are, and so does the state of the random generator.

    Args:
        model: on any device; "meta" gets zeros for its weights.
        inputs: a tensor, a tuple of positional inputs, or a dict of inputs by name; any other value is one input.
        loss: function of the model's output; by default the sum of all floating outputs, which audits backward but
            not your loss. Tensors that it carries along, such as targets, are moved.
        optimizer: an instance over the model's parameters, or a factory such as `torch.optim.AdamW`; by default
            SGD in "train".
        mode: "train" follows all phases; "eval" the forward pass without gradients, and the loss if one is given.
        release: a published release such as "2.9.1" instead of the installed torch.
        macos: the macOS to judge by, such as "14.5"; by default this machine's, elsewhere every macOS is thought of.

    Returns:
        The findings, every operator seen, and warnings.

    Raises:
        ModelError: when the step fails on the CPU too; it names the phase.
        LookupError: when the release is not in the history.
        ValueError: for an unknown mode, an optimizer of another model, or a model that cannot be copied.
        TypeError: when `model` is not a module, or the factory made no optimizer.
        RuntimeError: inside an `emulated_mps()` block, or on a Mac whose MPS does not work.
    """
    _check_arguments(model, optimizer, mode)
    macos = str(exactly(macos)) if macos is not None else platform.mac_ver()[0] or None
    table = operator_table(release)
    args, kwargs = _split(inputs)
    train = mode == "train"
    notes = _notes(table, release, loss, optimizer, train)
    step = AuditedStep(
        model=getattr(model, "_orig_mod", model),
        args=args,
        kwargs=kwargs,
        loss=loss or (sum_of_outputs if train else None),
        optimizer=(optimizer or plain_sgd) if train else None,
        train=train,
    )
    before = check_tensors(named_tensors(step.model, kwargs or args, loss), table.torch_release)
    tracer, failure, left_out = _follow(step, table, macos)
    found, explained = explain(tracer.log, table)
    refused: tuple[AuditFinding, ...] = ()
    if failure is not None:
        refused = _judge_failure(step, tracer, failure, stopped_by_copy=bool(before))
        left_out += (
            f"{tracer.phase} stopped at an error ({first_line(failure)}), so what comes after it was not followed",
        )
    if tracer.log.moved:
        left_out += (f"the loss carries {', '.join(sorted(tracer.log.moved))}; taken as targets and moved",)
    if before:
        left_out += ("the tensors named before any operator were replaced by what MPS can hold, to follow the rest",)
    return Audit(
        model=type(step.model).__name__,
        mode=mode,
        phases=tuple(tracer.phases[:-1] if failure is not None else tracer.phases),
        findings=before + refused + found,
        operators=_operators(tracer),
        torch_release=table.torch_release,
        source=_source(table),
        warnings=notes + left_out + explained,
    )


def _check_arguments(model: object, optimizer: object, mode: str) -> None:
    if is_active():
        raise RuntimeError("emulated_mps() is already on in this process; leave that block before an audit")
    if not isinstance(model, nn.Module):
        raise TypeError(f"audit takes a torch.nn.Module, not {type(model).__name__}; wrap a function in one")
    if mode not in get_args(AuditMode):
        raise ValueError(f"mode is {mode!r}; it has to be 'train' or 'eval'")
    if mode == "eval" and optimizer is not None:
        raise ValueError("an optimizer has no part in mode='eval'; leave it out, or use mode='train'")


def _split(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(inputs, tuple):
        return inputs, {}
    if isinstance(inputs, Mapping) and all(isinstance(name, str) for name in inputs):
        return (), dict(inputs)
    return (inputs,), {}


def _notes(table: OperatorTable, release: str | None, loss: Any, optimizer: Any, train: bool) -> tuple[str, ...]:
    notes = [*version_warnings(torch.__version__), *table.warnings]
    if train and loss is None:
        notes.append(
            "no loss was given: the sum of all floating outputs stands in, so your loss's operators are not seen"
        )
    if train and optimizer is None:
        notes.append(
            "no optimizer was given: SGD without momentum stands in, so your optimizer's operators are not seen"
        )
    if release is not None and order(table.torch_release) != order(torch.__version__):
        notes.append(
            f"the verdicts are torch {table.torch_release}'s, but which operators are called is decided by the "
            f"installed torch {torch.__version__.partition('+')[0]}"
        )
    if torch._C._has_mps:
        notes.append(WARNING)
    return tuple(notes)


def _source(table: OperatorTable) -> str:
    where = "this machine's MPS" if torch._C._has_mps else "the emulated device"
    return f"torch {table.torch_release}, {table.source}; followed on {where}"


def _follow(
    step: AuditedStep, table: OperatorTable, macos: str | None
) -> tuple[Tracer, Exception | None, tuple[str, ...]]:
    """Run a copy of the step on the device; an error of the device is returned, not raised."""
    copied_step = step.copy()
    tracer = Tracer(copied_step.model)
    follower = CallFollower(
        tracer,
        attributes=plain_attributes(copied_step.model),
        targets={address_of(t): name for name, t in tensors_kept_by(step.loss) if _is_dense(t)},
    )
    left_out: tuple[str, ...] = ()
    failure: Exception | None = None
    with _device(follower, table, macos) as device, _quiet():
        copied_step.to(device)
        try:
            with tracer.tracing(), FunctionFollower(follower):
                left_out = copied_step.run(tracer.enter)
        except NotAnOptimizerError:
            raise
        except Exception as error:  # whatever a model raises
            failure = error
    return tracer, failure, left_out


@contextmanager
def _device(follower: CallFollower, table: OperatorTable, macos: str | None) -> Iterator[torch.device]:
    """Give the device to follow the step on, with the follower as its hook.

    Raises:
        RuntimeError: where torch was built with MPS but cannot use it; nothing can be emulated there.
    """
    kernels = kernels_of(table)
    if not torch._C._has_mps:
        with emulated_mps(missing="record", hook=follower, kernels=kernels, macos=macos) as mps:
            yield mps.device
        return
    if not torch.backends.mps.is_available():
        raise RuntimeError("this torch was built with MPS but finds no usable GPU; see course_utils.probe_mps()")
    with RealDeviceMode(follower, kernels, macos):
        yield torch.device("mps")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the random generator's state, and silence a warning that does not concern the model.

    An operator that torch registers for MPS by hand above autograd's formulas (linalg_svd up to 2.13) has no
    gradient there.
    """
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*an autograd kernel was not registered")
        yield


def _is_dense(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_meta


def _judge_failure(
    step: AuditedStep, tracer: Tracer, failure: Exception, *, stopped_by_copy: bool
) -> tuple[AuditFinding, ...]:
    """Find out whether the CPU fails too; if not, the device refused.

    Raises:
        ModelError: when it does.
    """
    phases: list[Phase] = []
    copied_step = step.copy()
    if any(parameter.is_meta for parameter in copied_step.model.parameters()):
        copied_step.to("cpu")
    try:
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the CPU says about a step that nobody asked it for
            copied_step.run(lambda phase, _: phases.append(phase))
    except Exception as error:  # the model's own
        raise ModelError(phases[-1], error) from error
    if stopped_by_copy and not isinstance(failure, (NotImplementedError, TypeError)):
        return ()  # it may as well be our replacement that the model did not take
    return (
        AuditFinding(
            kind="refused",
            name=type(failure).__name__,
            public="",
            effect=f"{first_line(failure)}; the CPU runs it",
            advice="change this call, or compute this part on the CPU on purpose, with .cpu()",
            phase=tracer.phase,
            places=(CallSite("", _line_of(failure)),),
        ),
    )


def _line_of(error: Exception) -> str:
    """Return the innermost line outside torch and this package that an error came through."""
    lines = [
        Location(frame.filename, frame.lineno or 0, frame.name)
        for frame in traceback.extract_tb(error.__traceback__)
        if not is_inside(frame.filename)
    ]
    return str(lines[-1]) if lines else ""


def _operators(tracer: Tracer) -> tuple[SeenOperator, ...]:
    counted: Counter[tuple[str, str]] = tracer.log.seen
    return tuple(SeenOperator(name, verdict, count) for (name, verdict), count in counted.most_common())
