"""The rules that turn torch's native_functions.yaml into one verdict for each aten overload on MPS.

Every torch wheel, Linux too, carries the yaml that its dispatcher was generated from. The rules follow the
dispatcher's own order: a kernel for the key MPS, then CompositeExplicitAutogradNonFunctional,
CompositeExplicitAutograd, CompositeImplicitAutograd, then the backend's fallback, which on MPS is an error
(or, with PYTORCH_ENABLE_MPS_FALLBACK=1, the CPU).

A verdict is one letter, so that the verdicts of sixteen releases stay a small file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from course_utils.operators.hand_registered import HandRegistered

Status = Literal["native", "composite", "cpu_always", "missing", "refused", "irrelevant"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class VerdictRule:
    """What one letter means.

    Args:
        status: the verdict.
        reason: why, in words that fit after "because of".
        cpu_fallback: whether PYTORCH_ENABLE_MPS_FALLBACK=1, set before torch is imported, makes it run on the CPU.
        from_delegate: the verdict comes from the out= overload that a structured operator delegates to.
    """

    status: Status
    reason: str
    cpu_fallback: bool = False
    from_delegate: bool = False


RULES: Mapping[str, VerdictRule] = {
    "n": VerdictRule("native", "an MPS kernel of its own"),
    "d": VerdictRule("native", "the structured MPS kernel of its out= overload", from_delegate=True),
    "i": VerdictRule("composite", "CompositeImplicitAutograd: it decomposes before autograd sees it"),
    "e": VerdictRule("composite", "CompositeExplicitAutograd: one kernel for every backend, made of other operators"),
    "f": VerdictRule("composite", "CompositeExplicitAutogradNonFunctional: one kernel for every backend"),
    "g": VerdictRule("composite", "a generated variant that calls the functional operator"),
    "p": VerdictRule("composite", "a registration from Python, made of other operators"),
    "P": VerdictRule("composite", "the registration from Python for its out= overload", from_delegate=True),
    "c": VerdictRule("cpu_always", "a hand-registered CPU fallback", cpu_fallback=True),
    "C": VerdictRule(
        "cpu_always", "the CPU fallback registered for its out= overload", cpu_fallback=True, from_delegate=True
    ),
    "x": VerdictRule("refused", "a registration that only refuses arguments on different devices"),
    "m": VerdictRule("missing", "no kernel for MPS", cpu_fallback=True),
    "o": VerdictRule("missing", "no kernel for MPS in its out= overload", cpu_fallback=True, from_delegate=True),
    "w": VerdictRule("missing", "no kernel for MPS nor for the CPU in its out= overload", from_delegate=True),
    "v": VerdictRule("missing", "no kernel for MPS, and a view cannot fall back to the CPU"),
    "u": VerdictRule("missing", "no kernel for MPS nor for the CPU"),
    "r": VerdictRule("irrelevant", "kernels only for sparse, quantized, MKLDNN or nested tensors"),
}

# layouts and wrappers that a dense tensor on MPS never has
_OTHER_LAYOUTS = ("Sparse", "Quantized", "Mkldnn", "NestedTensor")
# "Tensor(a)" among the returns is a view of an argument, "Tensor(a!)" the argument itself
_VIEW = re.compile(r"Tensor\([a-z|]+\)")


@dataclass(frozen=True)
class YamlEntry:
    """What the rules need of one entry of native_functions.yaml.

    Args:
        name: the overload without "aten::", such as "isin.Tensor_Tensor".
        keys: the dispatch keys with a kernel; None where the entry has no dispatch table at all, which means
            CompositeImplicitAutograd, while an empty table means no kernel anywhere.
        delegate: the out= overload that a structured operator delegates to, or None.
        structured: this is the out= overload that others delegate to.
        autogen: overloads generated from this one.
        is_view: it returns a view of an argument.
    """

    name: str
    keys: frozenset[str] | None = None
    delegate: str | None = None
    structured: bool = False
    autogen: tuple[str, ...] = ()
    is_view: bool = False


def read_entry(item: Mapping[str, Any]) -> YamlEntry:
    """Read one entry as YAML gives it."""
    signature = str(item["func"])
    keys = None
    if "dispatch" in item:
        keys = frozenset(key.strip() for keys in item["dispatch"] or () for key in keys.split(","))
    return YamlEntry(
        name=signature.partition("(")[0].strip(),
        keys=keys,
        delegate=item.get("structured_delegate"),
        structured=bool(item.get("structured")),
        autogen=tuple(name.strip() for name in item.get("autogen", "").split(",") if name.strip()),
        is_view=_VIEW.search(signature.rpartition("->")[2]) is not None,
    )


def read_yaml(text: str) -> list[YamlEntry]:
    """Read native_functions.yaml; without libyaml this takes several times longer.

    Raises:
        ValueError: when the text is not a list of operators.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return [read_entry(item) for item in yaml.load(text, Loader=loader)]
    except (yaml.YAMLError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"this is not torch's native_functions.yaml: {error}") from error


@dataclass(frozen=True)
class VerdictLetters:
    """The verdicts of one yaml, without "aten::" in the names.

    Args:
        letters: overload -> key of RULES.
        delegates: overload -> its out= overload, where the verdict comes from there.
        sparse_keys: overload -> those of SparseMPS and SparseCsrMPS that have a kernel.
    """

    letters: Mapping[str, str]
    delegates: Mapping[str, str]
    sparse_keys: Mapping[str, tuple[str, ...]]


def judge(entries: Iterable[YamlEntry], hand: HandRegistered) -> VerdictLetters:
    """Give every overload its verdict.

    Args:
        entries: all entries of one yaml; a structured operator needs its out= overload among them.
        hand: what the same release registers by hand.

    Raises:
        ValueError: when a structured operator delegates to an overload that is not there.
    """
    by_name = {entry.name: entry for entry in entries}
    letters = {name: _letter(entry, by_name, hand) for name, entry in by_name.items()}
    for entry in by_name.values():
        for name in entry.autogen:
            letters.setdefault(name, "g")
    return VerdictLetters(
        letters=letters,
        delegates={
            name: entry.delegate
            for name, entry in by_name.items()
            if entry.delegate is not None and RULES[letters[name]].from_delegate
        },
        sparse_keys={
            name: tuple(key for key in ("SparseMPS", "SparseCsrMPS") if key in (entry.keys or ()))
            for name, entry in by_name.items()
            if entry.keys is not None and not entry.keys.isdisjoint(("SparseMPS", "SparseCsrMPS"))
        },
    )


def _letter(entry: YamlEntry, by_name: Mapping[str, YamlEntry], hand: HandRegistered) -> str:
    """Apply the rules to one overload; the first that holds decides, in the dispatcher's order."""
    keys = entry.keys or frozenset()
    inherited = _inherited(entry, by_name, hand)
    candidates = (
        ("c", entry.name in hand.cpu_fallback),
        ("x", entry.name in hand.refuses_mixed_devices),
        ("p", entry.name in hand.python_registration),
        ("n", "MPS" in keys),
        (inherited, inherited != ""),
        ("f", "CompositeExplicitAutogradNonFunctional" in keys),
        ("e", "CompositeExplicitAutograd" in keys),
        ("i", "CompositeImplicitAutograd" in keys or (entry.keys is None and not entry.structured)),
    )
    return next((letter for letter, holds in candidates if holds), _kind_of_missing(entry, keys))


def _inherited(entry: YamlEntry, by_name: Mapping[str, YamlEntry], hand: HandRegistered) -> str:
    """Find what a structured operator takes over from its out= overload; "" where its own keys decide."""
    if entry.delegate is None:
        return ""
    if entry.delegate not in by_name:
        raise ValueError(f"{entry.name} delegates to {entry.delegate}, which this yaml does not have")
    return _INHERITED.get(_letter(by_name[entry.delegate], by_name, hand), "")


# a generic kernel calls the out= overload, so that its verdict, and its name in the error, is what counts
_INHERITED = {"n": "d", "p": "P", "c": "C", "m": "o", "u": "w"}


def _kind_of_missing(entry: YamlEntry, keys: frozenset[str]) -> str:
    backends = keys - {"Meta"}  # no device: shapes only
    if backends and all(key.startswith(_OTHER_LAYOUTS) for key in backends):
        return "r"
    if "CPU" not in keys:
        return "u"
    return "v" if entry.is_view else "m"
