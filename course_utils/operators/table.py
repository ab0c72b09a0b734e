"""The verdict for every aten overload on MPS, for the installed torch or another release.

    operator_table().verdict("aten::linalg_eig")

The installed torch's own native_functions.yaml answers; on a torch built with MPS the dispatcher is asked too.
What the table cannot know: whether a kernel refuses a shape or dtype, and which operators a composite one calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path

from course_utils.data.versions import installed_torch, line_of, order
from course_utils.operators.cache import cache_folder, file_name, load, store
from course_utils.operators.dispatcher import compare, registered_for_mps
from course_utils.operators.hand_registered import hand_registered
from course_utils.operators.history import history
from course_utils.operators.names import base_of, find_overload, find_overloads
from course_utils.operators.rules import RULES, STATUSES, Status, VerdictLetters, judge, read_yaml
from course_utils.reporting.results import TableResult, TextResult

YAML = "packaged/ATen/native/native_functions.yaml"

WORDS: Mapping[Status, str] = {
    "native": "native",
    "composite": "composite",
    "cpu_always": "always on the CPU",
    "missing": "missing",
    "refused": "refused",
    "irrelevant": "irrelevant for dense tensors",
}


@dataclass(frozen=True)
class OperatorVerdict(TextResult):
    """What one release of torch does with one aten overload for dense tensors on MPS.

    Args:
        overload: as torch names it, "aten::isin.Tensor_Tensor".
        status: "native", "composite" (made of other operators, each with its own verdict), "cpu_always",
            "missing", "refused" or "irrelevant" (only for sparse, quantized, MKLDNN or nested tensors).
        reason: where the verdict comes from.
        error_name: the name that torch's NotImplementedError will use, None unless missing.
        cpu_fallback: whether it runs on the CPU, if missing then only with PYTORCH_ENABLE_MPS_FALLBACK=1 set
            before torch is imported.
        sparse: those of SparseMPS and SparseCsrMPS that have a kernel.
        first_native_release: the first release line with an MPS kernel, such as "2.14"; "2.0" may stand for an
            older one; None when no release read has one.
        since: the same as a sentence, "native since 2.14, you have 2.13".
        newer_release: the first release line with which it runs on MPS, where that is newer than `torch_release`.
        torch_release: the release that the verdict is about.
        warnings: what is not certain about it.
    """

    overload: str
    status: Status
    reason: str
    error_name: str | None
    cpu_fallback: bool
    sparse: tuple[str, ...]
    first_native_release: str | None
    since: str
    newer_release: str | None
    torch_release: str
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{self.overload} on MPS, torch {self.torch_release}: {WORDS[self.status]} ({self.reason})"]
        if self.error_name is not None and self.error_name != self.overload:
            parts.append(f"the error names {self.error_name}")
        if self.sparse:
            parts.append(f"has kernels for {' and '.join(self.sparse)}")
        parts.append(self.since)
        return "; ".join(parts) + "".join(f"\n  warning: {warning}" for warning in self.warnings)


@dataclass(frozen=True, eq=False, repr=False)
class OperatorTable(TableResult):
    """The verdicts of one release of torch.

    Args:
        torch_release: such as "2.14.1".
        source: what answered, in words.
        verdicts: one letter of `rules.RULES` for each overload, and what belongs to it.
        overload_warnings: overload -> why its verdict is not certain.
        warnings: what is not certain about the table as a whole.
    """

    torch_release: str
    source: str
    verdicts: VerdictLetters = field(repr=False)
    overload_warnings: Mapping[str, str] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()

    def verdict(self, name: object) -> OperatorVerdict:
        """Look up one overload.

        Args:
            name: "linalg_eig", "aten::linalg_eig", "aten.linalg_eig.default", "isin.Tensor_Tensor" or torch's own
                overload object.

        Raises:
            LookupError: when there is no such overload; the message has the operator's overloads or the nearest names.
        """
        return self._verdict(find_overload(name, self.verdicts.letters))

    def overloads(self, name: object) -> tuple[OperatorVerdict, ...]:
        """Look up all overloads of an operator such as "isin", or the one overload that the name means.

        Raises:
            LookupError: when there is neither; the message has the nearest names.
        """
        return tuple(self._verdict(overload) for overload in find_overloads(name, self.verdicts.letters))

    def known_overloads(self, operator: str) -> tuple[OperatorVerdict, ...]:
        """Return the verdicts on all overloads of an operator, none where this release lacks it."""
        return tuple(self._verdict(name) for name in sorted(self.verdicts.letters) if base_of(name) == operator)

    def parts_of(self, operator: str) -> tuple[str, ...]:
        """Return the operators that a composite one is known by its name to call, their backward included.

        Args:
            operator: without overload, such as "grid_sampler", which calls grid_sampler_2d and grid_sampler_3d.
        """
        if any(verdict.status != "composite" for verdict in self.known_overloads(operator)):
            return ()
        forward = [f"_{operator}", f"{operator}_forward", f"{operator}2d", f"{operator}3d"]
        forward += [f"{operator}_2d", f"{operator}_3d"]
        known = {base_of(name) for name in self.verdicts.letters}
        return tuple(name for each in forward for name in (each, f"{each}_backward") if name in known)

    def _verdict(self, overload: str) -> OperatorVerdict:
        rule = RULES[self.verdicts.letters[overload]]
        warning = self.overload_warnings.get(overload)
        if base_of(overload) in hand_registered(self.torch_release).reached_by_mixed_devices:
            warning = (
                "on MPS only a convolution whose input is on the CPU and whose weight is on MPS calls it; its error "
                "means different devices, so move both with .to('mps')"
            )
        missing = rule.status == "missing"
        return OperatorVerdict(
            overload=f"aten::{overload}",
            status=rule.status,
            reason=rule.reason,
            error_name=f"aten::{self.verdicts.delegates.get(overload, overload)}" if missing else None,
            cpu_fallback=rule.cpu_fallback,
            sparse=self.verdicts.sparse_keys.get(overload, ()),
            first_native_release=history().first_native(overload),
            since=history().sentence(overload, self.torch_release),
            newer_release=history().newer_release(overload, self.torch_release),
            torch_release=self.torch_release,
            warnings=(*self.warnings, warning) if warning else self.warnings,
        )

    def with_status(self, status: Status) -> frozenset[str]:
        """List the overloads with one verdict, as torch names them, "aten::linalg_eig".

        Raises:
            ValueError: when there is no such status.
        """
        if status not in STATUSES:
            raise ValueError(f"there is no status {status!r}; the table uses {', '.join(STATUSES)}")
        return frozenset(
            f"aten::{name}" for name, letter in self.verdicts.letters.items() if RULES[letter].status == status
        )

    @cached_property
    def native(self) -> frozenset[str]:
        """The overloads with an MPS kernel, such as "aten::linalg_qr"."""
        return self.with_status("native")

    @cached_property
    def sparse(self) -> frozenset[str]:
        """The overloads with a kernel for SparseMPS or SparseCsrMPS."""
        return frozenset(f"aten::{name}" for name in self.verdicts.sparse_keys)

    def counts(self) -> dict[Status, int]:
        """Count the overloads by verdict, in the order of `rules.STATUSES`."""
        found = Counter(RULES[letter].status for letter in self.verdicts.letters.values())
        return {status: found[status] for status in STATUSES}

    def __len__(self) -> int:
        return len(self.verdicts.letters)

    def title(self) -> str:
        """Return what the table is about."""
        return f"{len(self)} aten overloads on MPS, torch {self.torch_release} ({self.source})"

    def rows(self) -> list[list[str]]:
        """Return how many overloads have each verdict, the heading first."""
        counted = [[str(count), WORDS[status]] for status, count in self.counts().items()]
        sparse = [str(len(self.sparse)), "with a kernel for sparse tensors on MPS, whatever the verdict above"]
        return [["count", "verdict"], *counted, sparse]


def operator_table(release: str | None = None) -> OperatorTable:
    """Load the table of the installed torch, or of a published release.

    The first call for a torch reads its yaml and caches the verdicts on disk; later ones take some milliseconds.

    Args:
        release: such as "2.9.1" or "2.9", answered by the history; None or the installed version: the installed torch.

    Raises:
        LookupError: when the release is not in the history; the message lists those that are.
        ValueError: when it is not a release's name.
        FileNotFoundError: when the installed torch is asked for and there is none, or it has no yaml.
    """
    installed = installed_torch()
    if release is None or (installed is not None and order(release) == order(installed) and release.count(".") > 1):
        return _installed()
    return historical_table(release)


@cache
def _installed() -> OperatorTable:
    version = installed_torch()
    if version is None:
        raise FileNotFoundError(
            "no torch is installed in this Python; install it, or ask for a published release such as "
            f"operator_table(release={history().releases[-1]!r})"
        )
    try:
        torchgen = resources.files("torchgen")
    except ModuleNotFoundError as error:
        raise FileNotFoundError(_without_yaml(version)) from error
    with resources.as_file(torchgen / YAML) as path:
        table = read_table(path, version, cache_folder())
    registered = registered_for_mps()
    return table if registered is None else with_dispatcher(table, registered)


def _without_yaml(torch_version: str) -> str:
    return f"torch {torch_version} here has no torchgen/{YAML}; install torch from its published wheel"


def read_table(path: Path, torch_version: str, folder: Path | None) -> OperatorTable:
    """Read the table of one yaml, from the cache where it is there.

    Args:
        path: native_functions.yaml.
        torch_version: the torch it belongs to, such as "2.14.1".
        folder: the cache's folder, which need not exist nor be writable; None for no cache.

    Raises:
        FileNotFoundError: when the yaml is not there.
        ValueError: when it is not such a yaml.
    """
    hand = hand_registered(torch_version)
    try:
        stat = path.stat()
    except FileNotFoundError as error:
        raise FileNotFoundError(_without_yaml(torch_version)) from error
    cached = folder / file_name(torch_version, stat.st_size, stat.st_mtime_ns, hand) if folder else None
    verdicts = load(cached) if cached else None
    if verdicts is None:
        verdicts = judge(read_yaml(path.read_text(encoding="utf-8")), hand)
        if cached:
            store(cached, verdicts)
    return OperatorTable(
        torch_release=torch_version,
        source="its own native_functions.yaml",
        verdicts=verdicts,
        warnings=hand.warnings,
    )


@cache
def historical_table(release: str) -> OperatorTable:
    """Take the table of a published release out of the history, whatever torch is installed.

    Raises:
        LookupError: when nothing of its line was read; the message lists what was.
        ValueError: when it is not a release's name.
    """
    found = history().find_release(release)
    warnings: tuple[str, ...] = ()
    if order(found) != order(release) and release.strip() != line_of(release):
        warnings = (f"torch {release} itself was not read; these are the verdicts of {found}, of the same line",)
    return OperatorTable(
        torch_release=found,
        source="native_functions.yaml of the published wheel",
        verdicts=history().verdicts(found),
        warnings=warnings,
    )


def with_dispatcher(table: OperatorTable, registered: frozenset[str]) -> OperatorTable:
    """Let the dispatcher of a torch built with MPS correct a table; each difference becomes a warning.

    Args:
        table: the verdicts of the same torch's yaml.
        registered: what the dispatcher has registered for the key MPS, without "aten::".

    Returns:
        The table, in which an unexpected kernel counts as native and a lacking one as missing, both with a warning.
    """
    letters = table.verdicts.letters
    # "C" is not registered itself: a generic kernel calls its out= overload, which is
    expected = {name for name, letter in letters.items() if letter in "ndcx"}
    allowed = {name for name, letter in letters.items() if letter == "p"}
    difference = compare(registered, expected, allowed)
    changes = dict.fromkeys(difference.unexpected, "n") | dict.fromkeys(difference.lacking, "m")
    unexpected = dict.fromkeys(difference.unexpected, "the yaml shows no MPS kernel, but the dispatcher has one")
    lacking = dict.fromkeys(difference.lacking, "the yaml promises an MPS kernel, but the dispatcher has none")
    return replace(
        table,
        source=f"{table.source} and the dispatcher",
        verdicts=replace(table.verdicts, letters={**letters, **changes}),
        overload_warnings={**table.overload_warnings, **unexpected, **lacking},
        warnings=table.warnings + difference.warnings,
    )
