"""Rules about the system: not a Mac, a container on one, CUDA expected where there is none."""

from __future__ import annotations

from course_utils.doctor.findings import Diagnosis
from course_utils.doctor.rules import Rule
from course_utils.doctor.rules.commands import fresh_environment, pip_install, reinstall_flags, start_lab
from course_utils.doctor.rules.conditions import is_mac
from course_utils.doctor.snapshot import NONE, Snapshot

CUDA_WHEELS = "--index-url https://download.pytorch.org/whl/cu130"


def system_unknown(snapshot: Snapshot) -> Diagnosis | None:
    """Nothing can be said of a machine whose system is unknown."""
    if snapshot.system is not None:
        return None
    return Diagnosis(
        severity="error",
        code="system-unknown",
        what="The snapshot does not say which system this is, so nothing can be concluded.",
        how_known="system is unknown",
        fix="Save the snapshot again, on the machine itself.",
        command="course doctor --save machine.json",
        source="platform.system() of the Python documentation",
    )


def mac_marks(snapshot: Snapshot) -> str | None:
    """Return what shows that this Linux runs on a Mac."""
    kernel, chip = snapshot.kernel or "", snapshot.chip or ""
    if "asahi" in kernel:
        return None
    if "linuxkit" in kernel and snapshot.machine in ("aarch64", "arm64"):
        return f"the kernel {kernel} is Docker Desktop's, on an Arm processor"
    if "orbstack" in kernel:
        return f"the kernel {kernel} is OrbStack's, which exists only for Macs"
    if "Apple" in chip:
        return f"the processor is {chip!r}, under a Linux kernel"
    return None


def container_on_mac(snapshot: Snapshot) -> Diagnosis | None:
    """A container or virtual machine with Linux on a Mac has no Metal."""
    marks = mac_marks(snapshot) if snapshot.system == "Linux" else None
    if marks is None:
        return None
    return Diagnosis(
        severity="error",
        code="container-on-mac",
        what="This is Linux in a container or virtual machine on a Mac; Metal, and so MPS, cannot be reached from "
        "here.",
        how_known=f"system is Linux, machine {snapshot.machine}; {marks}",
        fix="Leave the container and run natively: in the Mac's own Terminal, outside Docker, in the course's "
        "folder. No torch version and no image changes this.",
        command="make lab",
        source="pytorch #96066, #81224: containers on a Mac are Linux guests without Metal (all torch versions)",
    )


def wsl(snapshot: Snapshot) -> Diagnosis | None:
    """Windows Subsystem for Linux is Linux on a PC."""
    if snapshot.system != "Linux" or "microsoft" not in (snapshot.kernel or "").lower():
        return None
    return Diagnosis(
        severity="error",
        code="wsl",
        what="This is Linux inside Windows (WSL): MPS exists only on macOS with an Apple chip.",
        how_known=f"system is Linux, its kernel is {snapshot.kernel}",
        fix="Work through the lessons on the CPU, or on CUDA with an NVIDIA GPU and its Windows driver; for MPS use a "
        "Mac.",
        command=_begin(snapshot),
        source="PyTorch's MPS notes: macOS only (torch 1.12 to 2.15)",
    )


def _torch_fails(snapshot: Snapshot) -> bool:
    """Return whether there is no torch here that loads."""
    return snapshot.torch_import not in (None, "ok") or snapshot.torch == NONE


def _begin(snapshot: Snapshot) -> str:
    """Return the command that opens the lessons; it sets the course up first where torch does not load."""
    return "make lab" if _torch_fails(snapshot) else start_lab(snapshot)


def linux(snapshot: Snapshot) -> Diagnosis | None:
    """Linux has no MPS; the course runs on what there is."""
    if snapshot.system != "Linux" or mac_marks(snapshot) or wsl(snapshot):
        return None
    device = "CUDA" if snapshot.cuda_state == "usable" else "the CPU"
    first = "Get torch to load first, see below. Then work" if _torch_fails(snapshot) else "Work"
    desktop = "; the kernel is Docker Desktop's: is a Mac around it?" if "linuxkit" in (snapshot.kernel or "") else ""
    native = " Apple's GPU has no Metal under Linux." if "asahi" in (snapshot.kernel or "") else ""
    return Diagnosis(
        severity="error",
        code="linux",
        what="This is Linux: MPS exists only on macOS with an Apple chip." + native,
        how_known=f"system is Linux, machine {snapshot.machine or 'unknown'}" + desktop,
        fix=f"{first} through the lessons on {device}: every cell runs here; for MPS, set the course up on a Mac.",
        command=_begin(snapshot),
        source="PyTorch's MPS notes: macOS only (torch 1.12 to 2.15)",
    )


def other_system(snapshot: Snapshot) -> Diagnosis | None:
    """Windows and the rest have no MPS."""
    if snapshot.system in (None, "Darwin", "Linux"):
        return None
    windows = snapshot.system == "Windows"
    return Diagnosis(
        severity="error",
        code="windows" if windows else "other-system",
        what=f"This is {snapshot.system}: MPS exists only on macOS with an Apple chip.",
        how_known=f"system is {snapshot.system}",
        fix="Work on the CPU, or on CUDA with an NVIDIA GPU; the course's `make` needs "
        + ("WSL, so install that first." if windows else "Linux or macOS.")
        + " For MPS use a Mac.",
        command="wsl --install" if windows else None,
        source="PyTorch's MPS notes: macOS only (torch 1.12 to 2.15)",
    )


def cuda_on_mac(snapshot: Snapshot) -> Diagnosis | None:
    """A CUDA image or CUDA settings do not help a Mac, which has no NVIDIA GPU."""
    in_linux = container_on_mac(snapshot) is not None
    if not is_mac(snapshot) and not in_linux:
        return None
    signs = []
    if snapshot.torch_cuda not in (None, NONE):
        signs.append(f"torch was built for CUDA {snapshot.torch_cuda}")
    elif "+cu" in (snapshot.torch or ""):
        signs.append(f"torch is {snapshot.torch}")
    if "not compiled with CUDA" in (snapshot.torch_error or ""):
        signs.append(f"torch says: {snapshot.torch_error}")
    names = ("CUDA_VERSION", "NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
    signs += [f"{name} is set" for name in names if snapshot.variable(name) is not None]
    if not signs:
        return None
    return Diagnosis(
        severity="warning" if in_linux else "note",
        code="cuda-on-mac",
        what="CUDA is expected here, and no Mac with an Apple chip has an NVIDIA GPU: a CUDA image or wheel computes "
        "on its CPU at best.",
        how_known="; ".join(signs),
        fix="On the Mac itself install the plain torch wheel, whose GPU device is called mps."
        if in_linux
        else "Nothing reads these variables on a Mac; write mps where code says cuda.",
        command="make lab" if in_linux else None,
        source="ml-explore/mlx discussion 3349; PyTorch's CUDA images are Linux images (linux/amd64, some linux/arm64)",
    )


def cuda_without_gpu(snapshot: Snapshot) -> Diagnosis | None:
    """On Linux, the CUDA build of torch without an NVIDIA GPU only costs disk."""
    if snapshot.system != "Linux" or mac_marks(snapshot) or snapshot.torch_cuda in (None, NONE):
        return None
    if snapshot.cuda_state != "absent" or snapshot.nvidia_driver != NONE:
        return None
    return Diagnosis(
        severity="note",
        code="cuda-without-gpu",
        what="torch's CUDA build is installed and there is no NVIDIA driver: the CPU works, the build only costs disk.",
        how_known=f"torch was built for CUDA {snapshot.torch_cuda}; {snapshot.cuda_reason or 'CUDA is absent'}",
        fix="Keep it, or set the course up again with the small CPU build.",
        command=f"{fresh_environment(snapshot)} TORCH_INDEX=https://download.pytorch.org/whl/cpu"
        if snapshot.environment_kind in ("venv", "uv")
        else None,
        source="PyTorch's installation page: the Linux default wheel carries CUDA (torch 2.9 to 2.15)",
    )


def cuda_build_missing(snapshot: Snapshot) -> Diagnosis | None:
    """On Linux, an NVIDIA driver with a CPU build of torch is a GPU left unused."""
    if snapshot.system not in ("Linux", "Windows") or snapshot.nvidia_driver in (None, NONE):
        return None
    if snapshot.torch_cuda != NONE or snapshot.torch_import != "ok":
        return None
    return Diagnosis(
        severity="warning",
        code="cuda-build-missing",
        what="There is an NVIDIA driver, and this torch was built without CUDA: the GPU stays unused.",
        how_known=f"NVIDIA driver {snapshot.nvidia_driver}; torch.version.cuda is None",
        fix="Install torch again from the index with CUDA wheels.",
        command=pip_install(snapshot, "torch", "torchvision", flags=f"{reinstall_flags(snapshot)} {CUDA_WHEELS}"),
        source="PyTorch's installation page: CPU and CUDA wheels have separate indexes (torch 2.9 to 2.15)",
    )


RULES: tuple[Rule, ...] = (
    system_unknown,
    container_on_mac,
    wsl,
    linux,
    other_system,
    cuda_on_mac,
    cuda_without_gpu,
    cuda_build_missing,
)
