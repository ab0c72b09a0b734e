"""Rules about the environment around torch: two OpenMP runtimes, a wrong index, a notebook in another environment."""

from __future__ import annotations

import re

from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.requirements import known
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.commands import fresh_environment, python_name, start_lab, usable_path
from course_utils.doctor.rules.conditions import environment_of, is_mac
from course_utils.doctor.snapshot import Snapshot

# what PyTorch's index offers only for Linux and Windows
_NO_MAC_WHEELS = re.compile(r"download\.pytorch\.org/whl/(?:nightly/|test/)?(?P<kind>cu\d+|rocm[\d.]*|xpu)\b")
_NO_SUCH_INDEX = re.compile(r"download\.pytorch\.org/whl/(?:nightly/|test/)?(?P<kind>macos(?:/arm64)?|mps|metal)\b")


def _owner(path: str) -> str:
    """Return the name of what brought a library: a package of site-packages, or the environment itself (conda)."""
    package = re.search(r"site-packages/([^/]+)/", path)
    if package is None:
        return "the environment (conda)"
    # torch's wheels up to 2.0 carry one copy in torch and one in functorch
    return "torch" if package[1] in ("torch", "functorch") else package[1].removesuffix(".libs")


def openmp_duplicate(snapshot: Snapshot) -> Diagnosis | None:
    """Two OpenMP runtimes in one process abort it, or compute wrongly."""
    files = [path for path in snapshot.openmp or () if re.search(r"lib(?:omp|iomp5)\b", path)]
    owners = list(dict.fromkeys(_owner(path) for path in files))
    said = next(
        (text for text in (snapshot.torch_error, snapshot.mps_reason) if "OMP: Error #15" in (text or "")), None
    )
    if len(owners) < 2 and said is None:
        return None
    signs = [said] if said else []
    signs += [f"the environment holds {', '.join(files)}"] if len(owners) > 1 else []
    return Diagnosis(
        severity="error" if said else "warning",
        code="openmp-duplicate",
        what="Two OpenMP runtimes"
        + (f" (from {' and '.join(owners)})" if len(owners) > 1 else "")
        + " meet here: loaded into one process, they abort it with OMP Error #15 or slow it down.",
        how_known="; ".join(signs),
        fix="Make an environment in which torch, NumPy and all else that carries OpenMP come from one source: all from "
        "conda-forge or all from pip. Do not set KMP_DUPLICATE_LIB_OK.",
        command=fresh_environment(snapshot),
        source="pytorch #78490, #83540; cvg/Hierarchical-Localization #491 (torch 1.12 to 2.x)",
    )


def _is_extra(name: str) -> bool:
    """Return whether pip looks into this index beside its ordinary one, so that macOS wheels are found all the same.

    uv takes a package from the first index that has it, and looks into extra ones first.
    """
    return not name.startswith("UV_") and name.endswith(("extra-index-url", "find-links"))


def _without_mac_wheels(snapshot: Snapshot, *, extra: bool) -> tuple[str, str] | None:
    """Return the first setting, name and address, of an index that has no torch for a Mac."""
    for setting in snapshot.package_indexes or () if is_mac(snapshot) else ():
        name, _, address = setting.partition("=")
        useless = _NO_MAC_WHEELS.search(address) or _NO_SUCH_INDEX.search(address)
        if useless and _is_extra(name) == extra:
            return name, address
    return None


def extra_index(snapshot: Snapshot) -> Diagnosis | None:
    """An additional index without macOS wheels does no harm: pip takes the wheel that fits from the ordinary one."""
    found = _without_mac_wheels(snapshot, extra=True)
    if found is None:
        return None
    name, address = found
    return Diagnosis(
        severity="note",
        code="extra-index",
        what=f"An extra package index ({address}) has no wheels for macOS; pip takes those of the ordinary index.",
        how_known=f"{name} is {address}",
        fix="Nothing has to be done; without the setting pip asks one server fewer.",
        command=_unset(snapshot, name),
        source="pip documentation: of all indexes, the best wheel whose tags fit is taken",
    )


def wrong_index(snapshot: Snapshot) -> Diagnosis | None:
    """An index without macOS wheels, or one that does not exist."""
    found = _without_mac_wheels(snapshot, extra=False)
    if found is None:
        return None
    name, address = found
    no_mac = _NO_MAC_WHEELS.search(address)
    if no_mac is not None:
        kind = "CUDA" if no_mac["kind"].startswith("cu") else no_mac["kind"]
        what = f"The package index is PyTorch's for {kind} ({address}): it has no wheels for macOS."
    else:
        what = f"The package index {address} does not exist: macOS wheels are in the ordinary Python package index."
    return Diagnosis(
        severity="warning",
        code="wrong-index",
        what=what,
        how_known=f"{name} is {address}",
        fix="Remove the setting; on a Mac plain `pip install torch torchvision` takes the arm64 wheel, with MPS.",
        command=_unset(snapshot, name),
        source="Apple's page on PyTorch for Metal; pytorch #157271, #167679 (no index called mps or macos)",
    )


def _unset(snapshot: Snapshot, name: str) -> str | None:
    """Return the command that removes an index setting of pip or uv; None where its name is not one."""
    if re.fullmatch(r"[\w.:-]+", name) is None:
        return None
    if name.startswith("UV_"):
        return f"unset {name}"
    if name.startswith(":env:."):
        return "unset PIP_" + name.removeprefix(":env:.").upper().replace("-", "_")
    return f"{python_name(snapshot)} -m pip config unset {name}"


def hidden_files(snapshot: Snapshot) -> Diagnosis | None:
    """Python skips .pth files that macOS hides, and with them packages that they link, such as the course."""
    hidden, python = snapshot.hidden_files or (), known(snapshot.python)
    first = {(3, 11): "3.11.8", (3, 12): "3.12.2"}.get(python.line, "3.13") if python else "0"
    if not hidden or (python is not None and not python.at_least(first)):
        return None
    return Diagnosis(
        severity="warning",
        code="hidden-files",
        what=f"macOS hides {len(hidden)} .pth file{'s' if len(hidden) > 1 else ''} of this environment, which Python "
        "then skips: \"No module named 'course_utils'\".",
        how_known=f"hidden below {snapshot.prefix or 'the environment'}: {', '.join(hidden)}",
        fix="Show them again. macOS hides them again in a folder that iCloud syncs, perhaps Documents or Desktop: "
        "move the course to another one, such as ~/course, and set it up there.",
        command=f"chflags -R nohidden {usable_path(snapshot.prefix) or '.venv'}",
        source="cpython #113659 (Python 3.11.8, 3.12.2, 3.13), #148121; setuptools #4595",
    )


def kernel_elsewhere(snapshot: Snapshot) -> Diagnosis | None:
    """Notebooks run with the Python of another environment than the one the doctor looks at."""
    here = snapshot.executable or (f"{snapshot.prefix}/bin/python" if snapshot.prefix else None)
    if here is None or snapshot.kernel_executable is None:
        return None
    kernel, lab = environment_of(snapshot.kernel_executable), snapshot.lab_executable
    if kernel != environment_of(here):
        return Diagnosis(
            severity="warning",
            code="kernel-elsewhere",
            what=f"Notebooks run the Python of {kernel}, not of this environment, {environment_of(here)}: they do not "
            "use the torch that is installed here.",
            how_known=f"JupyterLab's kernel is {snapshot.kernel_executable}, this Python is {here}",
            fix="Make this environment the kernel, then choose it in JupyterLab (Kernel > Change Kernel); `course lab` "
            "always opens this environment's.",
            command=f"{usable_path(here) or 'python'} -m ipykernel install --user --name apple-silicon-course",
            source="Jupyter documentation: a kernel is the Python named in its kernel.json",
        )
    if not snapshot.in_notebook or lab is None or environment_of(lab) == kernel:
        return None
    return Diagnosis(
        # a central JupyterLab with kernels from elsewhere is a fair set-up, as long as MPS computes in this one
        severity="note" if snapshot.mps_state == "usable" else "warning",
        code="kernel-elsewhere",
        what="JupyterLab runs in one environment and this notebook's kernel in another one: what you install next to "
        "JupyterLab does not reach this notebook.",
        how_known=f"JupyterLab runs {lab}, this notebook runs {here}",
        fix="Install with `%pip` in a cell, which reaches the notebook's own environment; or start JupyterLab with "
        "`course lab` in the environment that holds torch.",
        command=start_lab(snapshot),
        source="Jupyter documentation: a kernel is the Python named in its kernel.json",
    )


def lab_elsewhere(snapshot: Snapshot) -> Diagnosis | None:
    """The jupyter-lab on the PATH belongs to another environment."""
    here, lab = snapshot.executable, snapshot.lab_executable
    if snapshot.in_notebook or here is None or lab is None or environment_of(lab) == environment_of(here):
        return None
    return Diagnosis(
        severity="note",
        code="lab-elsewhere",
        what="The `jupyter lab` of this terminal is another environment's, whose notebooks may lack this torch.",
        how_known=f"jupyter-lab is {lab}, this environment is {environment_of(here)}",
        fix="Start JupyterLab with `course lab`, which uses this environment.",
        command=start_lab(snapshot),
        source="Jupyter documentation: JupyterLab's own environment holds its default kernel",
    )


RULES: tuple[Rule, ...] = (kernel_elsewhere, wrong_index, openmp_duplicate, hidden_files, extra_index, lab_elsewhere)
