"""Read the Python environment around torch: packages, OpenMP runtimes, indexes, kernels, variables. A thin edge."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import sys
import sysconfig
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from course_utils.devices.environment_variables import (
    COURSE_DEVICE,
    FALLBACK,
    HIGH_WATERMARK,
    LOW_WATERMARK,
    fallback_is_on,
)
from course_utils.devices.machine import ask
from course_utils.devices.torch_start import StartRecord, start_record
from course_utils.doctor.fallback_check import torch_falls_back
from course_utils.doctor.machine import read_file
from course_utils.doctor.snapshot import NONE, Variable
from course_utils.doctor.torch_copies import find_torch_copies

# the only environment variables that a snapshot holds
VARIABLES = (
    FALLBACK,
    HIGH_WATERMARK,
    LOW_WATERMARK,
    "PYTORCH_MPS_FAST_MATH",
    "PYTORCH_MPS_PREFER_METAL",
    "PYTORCH_MPS_METAL_VERSION",
    "PYTORCH_DEBUG_MPS_ALLOCATOR",
    "PYTORCH_MPS_LOG_PROFILE_INFO",
    "KMP_DUPLICATE_LIB_OK",
    COURSE_DEVICE,
    "CONDA_SUBDIR",
    "PYTHONPATH",
    "PYTHONNOUSERSITE",
    "SYSTEM_VERSION_COMPAT",
    "CUDA_VERSION",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
)
INDEX_VARIABLES = ("UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_EXTRA_INDEX_URL")


def package_version(name: str) -> str:
    """Return the installed version of a package, or "none"."""
    try:
        return metadata.version(name) or NONE
    except metadata.PackageNotFoundError:
        return NONE


def environment_kind(prefix: Path) -> str:
    """Return what made a Python environment, from the marks in its folder."""
    if (prefix / "conda-meta").is_dir():
        return "conda"
    settings = read_file(str(prefix / "pyvenv.cfg"))
    if settings is None:
        return "system"
    return "uv" if re.search(r"^uv\s*=", settings, re.MULTILINE) else "venv"


def openmp_files(prefix: Path) -> tuple[str, ...]:
    """Return the files of libomp and libiomp5 in an environment, relative to it, each file once."""
    names = ("libomp.dylib", "libiomp5.dylib", "libomp.so*", "libiomp5.so*", "libomp-*.so*", "libiomp5-*.so*")
    packages = "lib/python*/site-packages"
    folders = ("lib", f"{packages}/*/lib", f"{packages}/*/.dylibs", f"{packages}/*/*/.dylibs", f"{packages}/*.libs")
    found: dict[Path, str] = {}
    for folder in folders:
        for name in names:
            for path in sorted(prefix.glob(f"{folder}/{name}")):
                found.setdefault(path.resolve(), str(path.relative_to(prefix)))
    return tuple(found.values())


def hidden_files(prefix: Path) -> tuple[str, ...]:
    """Return an environment's .pth files that macOS hides, as it does with synced folders; Python skips those.

    Python since 3.11.8, 3.12.2 and 3.13 (cpython #113659).
    """
    hidden = (path for path in sorted(prefix.glob("lib/python*/site-packages/*.pth")) if _is_hidden(path))
    return tuple(str(path.relative_to(prefix)) for path in hidden)


def _is_hidden(path: Path) -> bool:
    flags: int = getattr(path.stat(), "st_flags", 0)  # only BSD and macOS have flags
    return bool(flags & stat.UF_HIDDEN)


def free_bytes(folder: Path) -> int | None:
    """Return the free space on the disk of a folder, bytes; None where the system does not tell."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def package_indexes() -> tuple[str, ...] | None:
    """Return pip's and uv's settings of package indexes; None where pip cannot be asked and no variable is set."""
    answer = ask(sys.executable, "-m", "pip", "config", "list", time_limit_s=20)
    lines = re.findall(r"^(\S*(?:index-url|find-links))='(.*)'$", answer or "", re.MULTILINE)
    found = [f"{name}={address}" for name, address in lines]
    found += [f"{name}={os.environ[name]}" for name in INDEX_VARIABLES if os.environ.get(name)]
    if answer is None and not found:
        # pip says nothing both when it has no settings and when it is missing
        return () if package_version("pip") != NONE else None
    return tuple(found)


def kernel_python() -> str | None:
    """Return the Python that Jupyter's "python3" kernel starts; None where the kernel follows JupyterLab's own."""
    try:
        from jupyter_core.paths import jupyter_path

        specifications = [Path(folder, "python3", "kernel.json") for folder in jupyter_path("kernels")]
        first = next(path for path in specifications if path.is_file())
        python = json.loads(first.read_text(encoding="utf-8"))["argv"][0]
    except (ImportError, StopIteration, OSError, ValueError, KeyError, IndexError, TypeError):
        return None
    return python if isinstance(python, str) and os.path.isabs(python) else None


def lab_python() -> str | None:
    """Return the Python of the JupyterLab that started this kernel, from its command line; None if unknown."""
    parent = os.environ.get("JPY_PARENT_PID", "")
    if not parent.isdigit():
        return None
    line = (read_file(f"/proc/{parent}/cmdline") or "").replace("\0", " ") or ask(
        "ps", "-ww", "-o", "command=", "-p", parent
    )
    python = re.match(r"(/.*?/bin/python[0-9.]*)\s", line or "")
    return python[1] if python else None


def shell_exports(cells: Iterable[str]) -> tuple[str, ...]:
    """Return the variables that notebook cells exported in a shell of their own (`!export NAME=1`, `%%bash`)."""
    wanted = "|".join(VARIABLES)
    return tuple(dict.fromkeys(name for cell in cells for name in re.findall(rf"\bexport\s+({wanted})\b", cell)))


def set_after_torch(cells: Iterable[str], name: str) -> bool:
    """Return whether a notebook's cells show that a variable was set after `import torch` had run.

    Args:
        cells: what was entered, in the order in which it ran.
        name: the variable.
    """
    text = "\n".join(cells)
    torch = re.search(r"^[ \t]*(?:import|from) torch\b", text, re.MULTILINE)
    setting = re.search(rf"environ\S*[\[(]\s*['\"]{name}['\"]|['\"]?%?env['\"]?,?\s*['\"]?{name}\b", text)
    return torch is not None and setting is not None and torch.start() < setting.start()


def notebook_cells() -> list[str] | None:
    """Return what was entered in this notebook so far; None outside IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return None
    return [str(cell) for cell in shell.user_ns.get("In", [])]


def read_variables(record: StartRecord, *, fallback_on: bool | None, cells: Iterable[str] = ()) -> tuple[Variable, ...]:
    """Return the environment variables that matter, and whether torch saw them.

    Args:
        record: what is known of the moment torch loaded.
        fallback_on: torch's own answer about its CPU fallback; it wins over the record.
        cells: a notebook's cells, which decide where neither of the two knows.
    """
    found = []
    for name in VARIABLES:
        value = os.environ.get(name)
        if value is None:
            continue
        seen = record.seen(name, value)
        if name == FALLBACK and fallback_on is not None and seen is not True:
            with contextlib.suppress(ValueError):  # a torch that loaded cannot have seen such a value
                seen = fallback_on == fallback_is_on({FALLBACK: value})
        elif seen is None and set_after_torch(cells, name):
            seen = False
        found.append(Variable(name, value, seen))
    return tuple(found)


def read_surroundings() -> dict[str, Any]:
    """Return this environment's values for the fields of `Snapshot`."""
    prefix = Path(sys.prefix)
    cells = notebook_cells()
    in_notebook = cells is not None and "ipykernel" in sys.modules
    on_path = shutil.which("jupyter-lab")
    return {
        "executable": sys.executable or None,
        "prefix": sys.prefix,
        "base_executable": getattr(sys, "_base_executable", None) or None,
        "environment_kind": environment_kind(prefix),
        "externally_managed": sys.prefix == sys.base_prefix
        and Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").is_file(),
        "hidden_files": hidden_files(prefix),
        "disk_free_bytes": free_bytes(prefix),
        "torch": package_version("torch"),
        "torchvision": package_version("torchvision"),
        "numpy": package_version("numpy"),
        "torch_copies": find_torch_copies(),
        "variables": read_variables(start_record(), fallback_on=torch_falls_back(), cells=cells or ()),
        "shell_exports": shell_exports(cells or ()),
        "openmp": openmp_files(prefix),
        "package_indexes": package_indexes(),
        "in_notebook": in_notebook,
        "kernel_executable": sys.executable if in_notebook else kernel_python(),
        "lab_executable": lab_python() if in_notebook else on_path,
    }
