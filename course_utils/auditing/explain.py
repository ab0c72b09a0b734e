"""Turn what a tracer wrote down into findings: what will happen, since when it would not, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from course_utils.auditing.findings import KINDS, PHASES, Finding, Kind, Phase, Place
from course_utils.auditing.public_names import GRADIENT_ROUTES, name_of_function, public_name
from course_utils.auditing.tracer import Notebook, Where
from course_utils.operators.hand_registered import torchvision_kernels
from course_utils.operators.names import base_of
from course_utils.operators.table import OperatorTable, Verdict

_ONCE = "torch's warning comes once per process, so later ones are silent"
_UNSET_FALLBACK = (
    f"with PYTORCH_ENABLE_MPS_FALLBACK=1 set before torch is imported it runs on the CPU, copied both ways; {_ONCE}"
)


def explain(notebook: Notebook, table: OperatorTable) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Return the findings, in the order of their kinds, and what is doubtful.

    Args:
        notebook: what was seen.
        table: the verdicts of the release in question.
    """
    found = [*_stray_tensors(notebook), *_limits(notebook)]
    for (name, verdict), places in notebook.suspects.items():
        for phase, in_phase in _by_phase(places):
            finding = _operator(name, verdict, phase, in_phase, table)
            found += [finding] if finding is not None else []
    found.sort(key=lambda finding: (KINDS.index(finding.kind), PHASES.index(finding.phase)))
    return tuple(found), _doubts(notebook, table)


def _lookup(name: str, table: OperatorTable) -> Verdict | None:
    try:
        return table.verdict(name)
    except LookupError:
        return None


def _doubts(notebook: Notebook, table: OperatorTable) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name, _ in notebook.suspects:
        known = _lookup(name, table) if name.startswith("aten::") else None
        if known is not None:
            found.update(dict.fromkeys(doubt for doubt in known.warnings if doubt not in table.warnings))
        elif name.startswith("aten::"):
            found[
                f"{name} is an operator of the installed torch that torch {table.torch_release} does not have; "
                "which one it would call instead is not known"
            ] = None
    return tuple(found)


def _operator(name: str, verdict: str, phase: Phase, places: Counter[Where], table: OperatorTable) -> Finding | None:
    if not name.startswith("aten::"):
        return _outside_aten(name, phase, places)
    known = _lookup(name, table)
    if known is None:
        return None
    kind: Kind = "cpu always" if verdict == "cpu_always" else "missing"
    effect = f"runs on the CPU whatever the fallback variable says, copied both ways; {_ONCE}"
    if kind == "missing":
        effect = _missing_effect(known)
    route = GRADIENT_ROUTES.get(base_of(name.removeprefix("aten::")))
    return Finding(
        kind=kind,
        name=name,
        public=_public(name, places),
        effect=f"{effect}; {route}" if route else effect,
        advice=_advice(known),
        since=known.since,
        phase=phase,
        places=_places(places),
    )


def _missing_effect(known: Verdict) -> str:
    error = f"NotImplementedError: The operator '{known.error_name or known.overload}' is not currently implemented"
    if known.cpu_fallback:
        return f"{error} for the MPS device; {_UNSET_FALLBACK}"
    return f"{error} for the MPS device; the fallback variable does not help ({known.reason})"


def _advice(known: Verdict) -> str:
    if "you have" in known.since:
        return f"use torch {known.since.split(' since ')[1].split(',')[0]} or newer, or replace the operator"
    return "replace it with operators that MPS has, or compute this part on the CPU on purpose, with .cpu()"


def _outside_aten(name: str, phase: Phase, places: Counter[Where]) -> Finding:
    namespace = name.partition("::")[0]
    known = torchvision_kernels()
    if name in known:
        return Finding(
            kind="missing",
            name=name,
            public="torchvision",
            effect=f"NotImplementedError: The operator '{name}' is not currently implemented for the MPS device; "
            f"{_UNSET_FALLBACK}",
            advice="compute this part on the CPU on purpose, with .cpu()",
            since="no torchvision up to 0.29 has an MPS kernel for it",
            phase=phase,
            places=_places(places),
        )
    return Finding(
        kind="outside aten",
        name=name,
        public="",
        effect="outside aten: unknown; whether it has an MPS kernel is up to the library that defines it, and without "
        "one NotImplementedError names it",
        advice=f"look in the documentation of {namespace}, or try it on a Mac",
        phase=phase,
        places=_places(places),
    )


def _limits(notebook: Notebook) -> Iterator[Finding]:
    for (limit, name), places in notebook.reached.items():
        for phase, in_phase in _by_phase(places):
            yield Finding(
                kind=limit.kind,
                name=name,
                public=_public(name, in_phase),
                effect=limit.effect,
                advice=limit.advice,
                phase=phase,
                places=_places(in_phase),
                source=limit.source,
            )


def _stray_tensors(notebook: Notebook) -> Iterator[Finding]:
    for name, places in notebook.float64.items():
        first = next(iter(places)).phase
        yield Finding(
            kind="float64",
            name=_public(name, places) or name,
            public="float64",
            effect="TypeError: MPS holds no float64 and no complex128, and this call asks for one",
            advice="ask for float32 or complex64",
            phase=first,
            places=_places(places),
            source="pytorch #122602",
        )
    for name, places in notebook.mixed.items():
        first = next(iter(places)).phase
        attribute = name.startswith("attribute")
        yield Finding(
            kind="mixed devices",
            name=name,
            public="",
            effect="RuntimeError: it stays on the CPU while the others are on MPS"
            + (", because .to() moves parameters and buffers only" if attribute else ""),
            advice="register it with register_buffer" if attribute else "create it with device=x.device",
            phase=first,
            places=_places(places),
            source="pytorch #130790",
        )


def _public(name: str, places: Counter[Where]) -> str:
    """Name the function that the reader called where one is known, else the one that the operator is named after."""
    called = {name_of_function(where.function) for where in places if where.function is not None} - {""}
    return ", ".join(sorted(called)) or public_name(name)


def _by_phase(places: Counter[Where]) -> Iterator[tuple[Phase, Counter[Where]]]:
    for phase in PHASES:
        chosen = Counter({where: count for where, count in places.items() if where.phase == phase})
        if chosen:
            yield phase, chosen


def _places(places: Counter[Where]) -> tuple[Place, ...]:
    grouped: Counter[tuple[str, str]] = Counter()
    for where, count in places.items():
        grouped[where.module, str(where.location) if where.location is not None else ""] += count
    return tuple(Place(module, source, count) for (module, source), count in grouped.items())
