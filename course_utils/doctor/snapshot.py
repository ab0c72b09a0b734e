"""What a machine looked like at one moment: plain values that can be sent, read and described in a test.

None means unknown, the word "none" means looked for and not there. A snapshot holds nothing private: see `privacy`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Literal

from course_utils.devices.machine import DeviceState
from course_utils.reporting.tables import html_table, text_table

# format 2, 2026-12: base_executable, externally_managed, torch_copies, disk_free_bytes, hidden_files
FORMAT = 2
KIND = "course-snapshot"
NONE = "none"

TorchImport = Literal["ok", "missing", "raised", "exited", "killed", "timed out"]
EnvironmentKind = Literal["venv", "uv", "conda", "system"]
PathOrigin = Literal["environment", "base Python", "PYTHONPATH", "user site", "current folder", "other"]


@dataclass(frozen=True)
class Variable:
    """One environment variable that torch, pip or the course reads.

    Args:
        name: such as "PYTORCH_ENABLE_MPS_FALLBACK".
        value: its value now.
        before_torch: whether torch saw this value when it loaded; None if unknown.
    """

    name: str
    value: str
    before_torch: bool | None = None


@dataclass(frozen=True)
class TorchCopy:
    """One torch that Python could import; the first on its path is the one that it does import.

    Args:
        folder: the folder on Python's path that holds it.
        version: what its files say, or "unknown".
        via: how that folder came onto the path.
    """

    folder: str
    version: str
    via: PathOrigin


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """One machine and one Python environment; every field may be None, unknown.

    Args:
        system: `platform.system()`: "Darwin", "Linux" or "Windows".
        os_version: the product version, such as "15.6.1" for macOS or "Debian GNU/Linux 12".
        os_build: macOS's build, such as "24G90".
        kernel: `platform.release()`, such as "24.6.0" or "6.6.12-linuxkit".
        kernel_version: the architecture named in `platform.version()`, such as "RELEASE_ARM64_T6000".
        machine: `platform.machine()`, the architecture that this Python is built for.
        translated: whether Rosetta translates this process (`sysctl.proc_translated`).
        apple_silicon: whether the chip is Apple's (`hw.optional.arm64`).
        chip: the processor's name, such as "Apple M1 Pro".
        model: the computer's model, such as "MacBookPro18,3" or "VirtualMac2,1".
        gpu: the GPU's name as torch gives it (torch 2.9 and newer on MPS).
        virtual_machine: whether a hypervisor runs this system (`kern.hv_vmm_present`).
        container: "docker", "podman", ... or "none".
        sandbox: what restricts this process, such as "App Sandbox", or "none".
        ci: the continuous integration service, such as "GitHub Actions", or "none".
        memory_bytes: RAM, bytes.
        disk_free_bytes: free space on the disk of the environment, bytes.
        nvidia_driver: version of the NVIDIA driver, or "none".
        python: the Python's version.
        executable: the Python that ran the doctor; a home folder is written as ~.
        prefix: the environment it belongs to.
        base_executable: the Python that a venv was made from; `executable` where there is no venv.
        environment_kind: "venv", "uv", "conda" or "system".
        externally_managed: whether a package manager owns this Python, so that pip refuses to install (PEP 668).
        hidden_files: .pth files of the environment that macOS hides, which Python skips; relative to `prefix`.
        torch: installed version, or "none".
        torchvision: installed version, or "none".
        numpy: installed version, or "none".
        torch_import: how importing torch in a child process ended.
        torch_error: the error's first line, the exit code or the signal, with the last words on standard error.
        torch_file: the file that was imported as torch.
        torch_copies: every torch on Python's path, the one that is imported first.
        torch_cuda: the CUDA version that torch was built for, or "none".
        mps_built: `torch.backends.mps.is_built()`.
        mps_available: `torch.backends.mps.is_available()`.
        mps_message: torch's own words when asked for an MPS tensor where MPS is not available.
        mps_state: what a small computation on MPS found.
        mps_reason: how that is known.
        cuda_state: what a small computation on CUDA found.
        cuda_reason: how that is known.
        variables: environment variables that matter and are set.
        shell_exports: variables that a notebook cell exported in a shell of its own, which no Python sees.
        openmp: files of the OpenMP runtimes libomp and libiomp5, relative to `prefix`.
        package_indexes: pip's and uv's settings of package indexes, "name=address", without credentials.
        in_notebook: whether the doctor ran in a notebook.
        kernel_executable: the Python that notebooks run, from the kernel or its specification.
        lab_executable: the Python, or the script, that starts JupyterLab.
    """

    system: str | None = None
    os_version: str | None = None
    os_build: str | None = None
    kernel: str | None = None
    kernel_version: str | None = None
    machine: str | None = None
    translated: bool | None = None
    apple_silicon: bool | None = None
    chip: str | None = None
    model: str | None = None
    gpu: str | None = None
    virtual_machine: bool | None = None
    container: str | None = None
    sandbox: str | None = None
    ci: str | None = None
    memory_bytes: int | None = None
    disk_free_bytes: int | None = None
    nvidia_driver: str | None = None
    python: str | None = None
    executable: str | None = None
    prefix: str | None = None
    base_executable: str | None = None
    environment_kind: EnvironmentKind | None = None
    externally_managed: bool | None = None
    hidden_files: tuple[str, ...] | None = None
    torch: str | None = None
    torchvision: str | None = None
    numpy: str | None = None
    torch_import: TorchImport | None = None
    torch_error: str | None = None
    torch_file: str | None = None
    torch_copies: tuple[TorchCopy, ...] | None = None
    torch_cuda: str | None = None
    mps_built: bool | None = None
    mps_available: bool | None = None
    mps_message: str | None = None
    mps_state: DeviceState | None = None
    mps_reason: str | None = None
    cuda_state: DeviceState | None = None
    cuda_reason: str | None = None
    variables: tuple[Variable, ...] | None = None
    shell_exports: tuple[str, ...] | None = None
    openmp: tuple[str, ...] | None = None
    package_indexes: tuple[str, ...] | None = None
    in_notebook: bool | None = None
    kernel_executable: str | None = None
    lab_executable: str | None = None

    def variable(self, name: str) -> Variable | None:
        """Return an environment variable; None where it is not set, or nothing is known of variables."""
        return next((variable for variable in self.variables or () if variable.name == name), None)

    def to_json(self) -> str:
        """Return the snapshot as JSON; `snapshot_file.from_json` reads it back."""
        return json.dumps({"kind": KIND, "format": FORMAT, **asdict(self)}, indent=2, ensure_ascii=False)

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("field", "value")]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "variables" and value:
                value = ", ".join(f"{variable.name}={variable.value}" for variable in value)
            elif field.name == "torch_copies" and value:
                value = ", ".join(f"{copy.version} in {copy.folder} ({copy.via})" for copy in value)
            elif isinstance(value, tuple):
                value = ", ".join(value) or NONE
            rows.append((field.name, "unknown" if value is None else str(value)))
        return rows

    def __str__(self) -> str:
        return "\n".join(text_table(self._rows()))

    def _repr_html_(self) -> str:
        return html_table("Snapshot of a machine", self._rows())
