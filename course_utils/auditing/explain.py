"""Turn the log of a step into findings: what will happen, since when it would not, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import torch

from course_utils.auditing.findings import KINDS, PHASES, AuditFinding, CallSite, FindingKind, Phase
from course_utils.auditing.public_names import GRADIENT_ROUTES, name_of_function, public_name
from course_utils.auditing.tracer import StepPosition, TraceLog
from course_utils.operators.names import base_of
from course_utils.operators.table import OperatorTable, OperatorVerdict

_ONCE = "torch's warning comes once per process, so later ones are silent"
_UNSET_FALLBACK = (
    f"with PYTORCH_ENABLE_MPS_FALLBACK=1 set before torch is imported it runs on the CPU, copied both ways; {_ONCE}"
)


def explain(log: TraceLog, table: OperatorTable) -> tuple[tuple[AuditFinding, ...], tuple[str, ...]]:
    """Return the findings, in the order of their kinds, and the warnings.

    Args:
        log: what was seen.
        table: the verdicts of the release in question.
    """
    found = [*_stray_tensors(log), *_limits(log)]
    for (name, verdict), places in log.suspects.items():
        for phase, in_phase in _by_phase(places):
            finding = _operator(name, verdict, phase, in_phase, log.rules[name])
            found += [finding] if finding is not None else []
    found.sort(key=lambda finding: (KINDS.index(finding.kind), PHASES.index(finding.phase)))
    return tuple(found), _warnings(log, table)


def _warnings(log: TraceLog, table: OperatorTable) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for (name, through), count in log.rerouted.items():
        found[
            f"torch {torch.__version__.partition('+')[0]} reaches {name} ({count} x) through {through}, which torch "
            f"{table.torch_release} does not have; for this operator the route is the installed torch's, so nothing is "
            "claimed about it"
        ] = None
    for name, _ in log.suspects:
        known = log.rules[name]
        if known is not None:
            found.update(dict.fromkeys(warning for warning in known.warnings if warning not in table.warnings))
        elif name.startswith("aten::"):
            found[
                f"{name} is an operator of the installed torch that torch {table.torch_release} does not have; "
                "which one it would call instead is not known"
            ] = None
    return tuple(found)


def _operator(
    name: str, verdict: str, phase: Phase, places: Counter[StepPosition], known: OperatorVerdict | None
) -> AuditFinding | None:
    if known is None:
        return None if name.startswith("aten::") else _outside_aten(name, phase, places)
    kind: FindingKind = "cpu always" if verdict == "cpu_always" else "missing"
    effect = f"runs on the CPU whatever the fallback variable says, copied both ways; {_ONCE}"
    if kind == "missing":
        effect = _missing_effect(known)
    route = GRADIENT_ROUTES.get(base_of(name.removeprefix("aten::")))
    return AuditFinding(
        kind=kind,
        name=name,
        public=_public(name, places),
        effect=f"{effect}; {route}" if route else effect,
        advice=_advice(known),
        since=known.since,
        phase=phase,
        places=_places(places),
    )


def _missing_effect(known: OperatorVerdict) -> str:
    error = f"NotImplementedError: The operator '{known.error_name or known.overload}' is not currently implemented"
    if known.cpu_fallback:
        return f"{error} for the MPS device; {_UNSET_FALLBACK}"
    return f"{error} for the MPS device; the fallback variable does not help ({known.reason})"


# what helps better than another operator: parts of the operator's name -> advice
_SPECIAL_ADVICE = {
    "_nested_tensor_from_mask": "pass enable_nested_tensor=False to nn.TransformerEncoder, which MPS then runs",
    "_nested_tensor_from_mask_left_aligned": "pass enable_nested_tensor=False to nn.TransformerEncoder",
}


def _advice(known: OperatorVerdict) -> str:
    special = _SPECIAL_ADVICE.get(base_of(known.overload.removeprefix("aten::")))
    if special is not None:
        return special
    if known.overload.startswith("quantized::"):
        return "keep a quantized model on the CPU, or move the model without quantization"
    if known.newer_release is not None:
        return f"use torch {known.newer_release} or newer, or replace the operator"
    return "replace it with operators that MPS has, or compute this part on the CPU on purpose, with .cpu()"


def _outside_aten(name: str, phase: Phase, places: Counter[StepPosition]) -> AuditFinding:
    namespace = name.partition("::")[0]
    return AuditFinding(
        kind="outside aten",
        name=name,
        public="",
        effect="outside aten: unknown; whether it has an MPS kernel is up to the library that defines it, and without "
        "one NotImplementedError names it",
        advice=f"look in the documentation of {namespace}, or try it on a Mac",
        phase=phase,
        places=_places(places),
    )


def _limits(log: TraceLog) -> Iterator[AuditFinding]:
    for (limit, name), places in log.reached.items():
        for phase, in_phase in _by_phase(places):
            yield AuditFinding(
                kind=limit.kind,
                name=name,
                public=_public(name, in_phase),
                effect=limit.effect,
                advice=limit.advice,
                phase=phase,
                places=_places(in_phase),
                source=limit.source,
            )


def _stray_tensors(log: TraceLog) -> Iterator[AuditFinding]:
    for name, places in log.float64.items():
        first = next(iter(places)).phase
        yield AuditFinding(
            kind="float64",
            name=_public(name, places) or name,
            public="float64",
            effect="TypeError: MPS has no float64 and no complex128, and this call asks for one",
            advice="ask for float32 or complex64",
            phase=first,
            places=_places(places),
            source="pytorch #122602",
        )
    for name, places in log.mixed.items():
        first = next(iter(places)).phase
        held = log.held[name]
        yield AuditFinding(
            kind="mixed devices",
            name=name,
            public="",
            effect="RuntimeError: it stays on the CPU while the others are on MPS"
            + (", because .to() moves parameters and buffers only" if held is not None else ""),
            advice=held.advice if held is not None else "create it with device=x.device",
            phase=first,
            places=_places(places),
            source="pytorch #130790",
        )


def _public(name: str, places: Counter[StepPosition]) -> str:
    """Return the function that the reader called where one is known, else the one that the operator is named after."""
    called = {name_of_function(where.function) for where in places if where.function is not None} - {""}
    return ", ".join(sorted(called)) or public_name(name)


def _by_phase(places: Counter[StepPosition]) -> Iterator[tuple[Phase, Counter[StepPosition]]]:
    for phase in PHASES:
        chosen = Counter({where: count for where, count in places.items() if where.phase == phase})
        if chosen:
            yield phase, chosen


def _places(places: Counter[StepPosition]) -> tuple[CallSite, ...]:
    grouped: Counter[tuple[str, str]] = Counter()
    for where, count in places.items():
        grouped[where.module, str(where.location) if where.location is not None else ""] += count
    return tuple(CallSite(module, source, count) for (module, source), count in grouped.items())
