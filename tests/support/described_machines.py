"""Machines described as snapshots: for each, the root cause's code, a word of the fix, and what else must be found."""

from dataclasses import dataclass, replace

from course_utils.devices.environment_variables import FALLBACK, HIGH_WATERMARK, LOW_WATERMARK
from course_utils.doctor import Snapshot, Variable

# a Mac on which everything works; each described machine says how it differs
MAC = Snapshot(
    system="Darwin",
    os_version="15.6.1",
    os_build="24G90",
    kernel="24.6.0",
    kernel_version="RELEASE_ARM64_T6030",
    machine="arm64",
    translated=False,
    apple_silicon=True,
    chip="Apple M3 Pro",
    model="Mac15,6",
    gpu="Apple M3 Pro",
    virtual_machine=False,
    container="none",
    sandbox="none",
    ci="none",
    memory_bytes=17179869184,
    nvidia_driver="none",
    python="3.12.4",
    executable="~/course/.venv/bin/python",
    prefix="~/course/.venv",
    environment_kind="venv",
    torch="2.14.1",
    torchvision="0.29.1",
    numpy="2.4.6",
    torch_import="ok",
    torch_file="~/course/.venv/lib/python3.12/site-packages/torch/__init__.py",
    torch_cuda="none",
    mps_built=True,
    mps_available=True,
    mps_state="usable",
    mps_reason="a 64x64 matrix product on it equals the CPU's (difference 0)",
    cuda_state="absent",
    cuda_reason="this torch was built without CUDA",
    variables=(),
    shell_exports=(),
    openmp=("lib/python3.12/site-packages/torch/lib/libomp.dylib",),
    package_indexes=(),
    in_notebook=False,
    kernel_executable="~/course/.venv/bin/python",
    lab_executable="~/course/.venv/bin/jupyter-lab",
)
UNAVAILABLE = {
    "mps_available": False,
    "mps_state": "absent",
    "mps_reason": "torch finds no usable Metal device",
    "gpu": None,
}
UNUSABLE = {
    "mps_state": "present but unusable",
    "mps_reason": "torch offers it, but a 64x64 matrix product failed: MPS backend out of memory (MPS allocated: "
    "0 bytes, other allocations: 0 bytes, max allowed: 7.93 GB). Tried to allocate 256 bytes on private pool.",
    "gpu": None,
}
NO_TORCH = {
    "torch": "none",
    "torchvision": "none",
    "torch_import": "missing",
    "torch_error": "ModuleNotFoundError: No module named 'torch'",
    "torch_file": None,
    "torch_cuda": None,
    "mps_built": None,
    "mps_available": None,
    "mps_state": None,
    "mps_reason": None,
    "cuda_state": None,
    "cuda_reason": None,
    "gpu": None,
}
INTEL_PYTHON = {
    **UNAVAILABLE,
    "machine": "x86_64",
    "torch": "2.2.2",
    "torchvision": "0.17.2",
    "numpy": "1.26.4",
    "mps_built": True,  # the x86_64 wheel of 2.2.2 links Metal
}
ROSETTA = {**INTEL_PYTHON, "translated": True}
INTEL_MAC = {
    **INTEL_PYTHON,
    "translated": None,
    "apple_silicon": None,
    "chip": "Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz",
    "kernel_version": "RELEASE_X86_64",
    "model": "MacBookPro15,1",
    "os_version": "13.7.4",
    "kernel": "22.6.0",
}
LINUX = replace(
    MAC,
    system="Linux",
    os_version="Ubuntu 24.04.1 LTS",
    os_build=None,
    kernel="6.8.0-45-generic",
    kernel_version=None,
    machine="x86_64",
    translated=None,
    apple_silicon=None,
    chip="AMD Ryzen 7 5800X",
    model=None,
    gpu=None,
    virtual_machine=None,
    mps_built=False,
    mps_available=False,
    mps_state="absent",
    mps_reason="this is Linux",
    openmp=(),
)
DOCKER_ON_MAC = {
    "kernel": "6.6.12-linuxkit",
    "machine": "aarch64",
    "chip": "Apple (CPU implementer 0x61)",
    "container": "docker",
}


@dataclass(frozen=True)
class Machine:
    """One described machine.

    Args:
        name: says what is odd about it.
        snapshot: the machine.
        root: the code that has to come first; None where nothing may be found.
        word: has to occur in the first finding's fix or command.
        also: codes that have to be found too.
        never: codes that would mislead here.
        command: has to occur in the first finding's command.
        exit_code: of `course doctor --snapshot`; None where the test of the root does not ask.
    """

    name: str
    snapshot: Snapshot
    root: str | None
    word: str = ""
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    command: str = ""
    exit_code: int | None = None


WRONG = "known-wrong-results"


def mac(**changes):
    """Describe a Mac that differs from the one on which everything works."""
    return replace(MAC, **changes)


def linux(**changes):
    """Describe a Linux machine."""
    return replace(LINUX, **changes)


def with_variables(machine, **values):
    """Set environment variables in a described machine, before torch loaded."""
    return replace(machine, variables=tuple(Variable(name, value, True) for name, value in values.items()))


def with_late(machine, name, value):
    """Set an environment variable after torch loaded, in a notebook."""
    return replace(machine, variables=(Variable(name, value, False),), in_notebook=True)


def mac_with_torch(torch, macos, *, usable, **changes):
    """Describe a Mac with a torch and a macOS, and MPS usable or not."""
    python = {"python": "3.11.9"} | changes
    pairs = {"2.2.2": "0.17.2", "2.4.1": "0.19.1", "2.5.0": "0.20.0", "2.5.1": "0.20.1", "2.6.0": "0.21.0"}
    pairs |= {"2.8.0": "0.23.0", "2.9.0": "0.24.0", "2.11.0": "0.26.0", "2.12.1": "0.27.1", "1.13.1": "0.14.1"}
    state = {} if usable else UNAVAILABLE
    return mac(torch=torch, os_version=macos, torchvision=pairs.get(torch, "0.29.1"), **state, **python)


RELEASES = (
    Machine("2.16 on macOS 15.0", mac_with_torch("2.16.0", "15.0", usable=True), "torch-untested", "newest tested"),
    Machine("2.15 on macOS 15.0", mac_with_torch("2.15.0", "15.0", usable=True), None),
    Machine("2.15 on macOS 14.7", mac_with_torch("2.15.0", "14.7.1", usable=False), "torch-too-new", "torch==2.14.1"),
    Machine(
        "2.15 built from source on 14.7",
        mac_with_torch("2.15.0a0+git", "14.7", usable=False),
        "torch-too-new",
        "2.14.1",
    ),
    Machine("2.15 on macOS 13", mac_with_torch("2.15.0", "13.7", usable=False), "macos-too-old", "Update macOS"),
    Machine("2.14.1 on macOS 14.0", mac_with_torch("2.14.1", "14.0", usable=True), WRONG, "index_add_"),
    Machine("2.14.1 on macOS 26.3.1", mac_with_torch("2.14.1", "26.3.1", usable=True), None),
    Machine("2.12.1 on macOS 14.0", mac_with_torch("2.12.1", "14.0", usable=True), WRONG, "torch==2.14.1"),
    Machine(
        "2.12.1 forced onto macOS 13", mac_with_torch("2.12.1", "13.6", usable=False), "macos-too-old", "torch 2.8.0"
    ),
    Machine(
        "2.11 that pip takes on macOS 13", mac_with_torch("2.11.0", "13.7.4", usable=False), "macos-too-old", "2.8.0"
    ),
    Machine("2.11 on macOS 11", mac_with_torch("2.11.0", "11.7", usable=False), "macos-too-old", "No torch has MPS"),
    Machine("2.9.0 on macOS 14.0", mac_with_torch("2.9.0", "14.0", usable=True), WRONG, "torch==2.14.1"),
    Machine(
        "2.9.0 on macOS 13.7 (ENV-04)", mac_with_torch("2.9.0", "13.7", usable=False), "macos-too-old", "macOS to 14"
    ),
    Machine(
        "nightly on macOS 13.7.4 with the misleading text (ENV-04)",
        mac_with_torch(
            "2.10.0.dev20251008",
            "13.7.4",
            usable=False,
            mps_message="RuntimeError: The MPS backend is supported on macOS 13.0+. Current OS version can be queried "
            "using `sw_vers`",
        ),
        "macos-too-old",
        "Update macOS",
        never=("sandboxed",),
    ),
    Machine(
        "2.8.0 on macOS 13.7 (ENV-04)",
        mac_with_torch("2.8.0", "13.7", usable=True),
        "torch-too-old",
        "update macOS to 14",
    ),
    Machine("2.8.0 on macOS 12.7", mac_with_torch("2.8.0", "12.7", usable=False), "macos-too-old", "torch 2.4.1"),
    Machine("2.6.0 on macOS 13.0", mac_with_torch("2.6.0", "13.0", usable=True), "torch-too-old", "2.8.0"),
    Machine("2.6.0 on macOS 12.7", mac_with_torch("2.6.0", "12.7", usable=False), "macos-too-old", "Update macOS"),
    Machine("2.5.1 on macOS 13.0", mac_with_torch("2.5.1", "13.0", usable=True), "torch-too-old", "2.8.0"),
    Machine(
        "2.5.0 on macOS 12.7 (ENV-04)", mac_with_torch("2.5.0", "12.7", usable=False), "macos-too-old", "torch==2.4.1"
    ),
    Machine(
        "2.4.1 on macOS 12.3 (ENV-04)",
        mac_with_torch("2.4.1", "12.3", usable=True),
        "torch-too-old",
        "update macOS to 14",
    ),
    Machine("2.4.1 on macOS 12.2", mac_with_torch("2.4.1", "12.2", usable=False), "macos-too-old", "softwareupdate"),
    Machine(
        "1.13.1 on macOS 12.3", mac_with_torch("1.13.1", "12.3", usable=True, numpy="1.26.4"), "torch-too-old", "macOS"
    ),
    Machine(
        "1.11.0, before MPS", mac_with_torch("1.11.0", "15.1", usable=False, mps_built=False), "torch-too-old", "2.15.0"
    ),
    Machine(
        "2.8.0 on macOS 15, before the Timer waits",
        mac_with_torch("2.8.0", "15.1", usable=True),
        "torch-too-old",
        "2.15.0",
    ),
    Machine(
        "an old Python that says 10.16, on macOS 14",
        mac(os_version="10.16", kernel="23.6.0", torch="2.15.0", **UNAVAILABLE),
        "torch-too-new",
        "2.14.1",
        also=("macos-masked",),
    ),
    Machine("10.16 on macOS 26", mac(os_version="10.16", kernel="25.2.0"), "macos-masked", "sw_vers"),
    Machine("macOS 26 reported as 16.0", mac(os_version="16.2", kernel="25.2.0"), WRONG, "26.3"),
    Machine("long sums on an M1", mac(chip="Apple M1 Pro"), WRONG, "inner dimension"),
    Machine("long sums on an M2", mac(chip="Apple M2"), WRONG, "inner dimension"),
    Machine(
        "long sums on an M1 without MPS",
        mac(chip="Apple M1", **UNUSABLE),
        "mps-unusable",
        never=(WRONG,),
    ),
    Machine("a chip of unknown generation", mac(chip=None), None),
    Machine(
        "attention that sees the future",
        mac_with_torch("2.12.1", "26.3.1", usable=True),
        WRONG,
        "2.15.0",
    ),
    Machine(
        "10.16 and no kernel: no guess",
        mac(os_version="10.16", kernel=None, torch="2.15.0", **UNAVAILABLE),
        "cause-unknown",
        "course doctor --save",
        never=("torch-too-new", "macos-too-old", "sandboxed"),
    ),
    Machine(
        "Python 3.9 with its last torch",
        mac_with_torch("2.8.0", "15.1", usable=True, python="3.9.6"),
        "python-out-of-range",
        "3.11",
        also=("torch-too-old",),
    ),
    Machine("Python 3.10 with a torch that works", mac(python="3.10.14"), "python-out-of-range", "python3.12"),
    Machine(
        "Python 3.16 without torch",
        mac(python="3.16.0", **NO_TORCH),
        "python-out-of-range",
        "3.14",
        also=("torch-missing",),
    ),
    Machine(
        "torchvision of the release before", mac(torchvision="0.28.0"), "torchvision-mismatch", "torchvision>=0.29.1"
    ),
    Machine(
        "torchvision of another patch release",
        mac(torch="2.9.1", torchvision="0.24.0"),
        "torchvision-mismatch",
        "torchvision==0.24.1",
    ),
    Machine(
        "torchvision too new for an older torch",
        mac(torch="2.13.0", torchvision="0.29.2"),
        "torchvision-mismatch",
        "0.28.0",
    ),
    Machine("torchvision that pins 2.14.0", mac(torch="2.14.0", torchvision="0.29.0"), None),
    Machine("no torchvision", mac(torchvision="none"), "torchvision-missing", "torchvision"),
)

PROCESSORS = (
    Machine(
        "Rosetta, conda (ENV-01)",
        mac(**ROSETTA, environment_kind="conda"),
        "rosetta",
        "Miniforge",
        never=("intel-mac",),
    ),
    Machine("Rosetta known by hw.optional.arm64 (ENV-01)", mac(**{**ROSETTA, "translated": None}), "rosetta", "arm64"),
    Machine("Rosetta, old torch (ENV-02)", mac(**ROSETTA), "rosetta", "end at torch 2.2.2", also=("torch-too-old",)),
    Machine(
        "Rosetta, no torch at all (ENV-02)", mac(**ROSETTA | NO_TORCH), "rosetta", "arm64", also=("torch-missing",)
    ),
    Machine(
        "Rosetta with NumPy 2",
        mac(**{**ROSETTA, "numpy": "2.0.2"}),
        "rosetta",
        "arm64 Python",
        also=("numpy-too-new", "torch-too-old"),
    ),
    Machine(
        "Rosetta, python.org",
        mac(**ROSETTA, executable="/Library/Frameworks/Python.framework/Versions/3.12/bin/python3.12"),
        "rosetta",
        "arch -arm64",
    ),
    Machine("Rosetta, uv", mac(**ROSETTA, environment_kind="uv"), "rosetta", "macos-aarch64"),
    Machine(
        "Rosetta on macOS 11, named VirtualApple",
        mac(**{**ROSETTA, "translated": None, "apple_silicon": None, "chip": "VirtualApple @ 2.50GHz processor"}),
        "rosetta",
        "arm64",
    ),
    Machine(
        "Intel Mac (ENV-02)",
        mac(**INTEL_MAC),
        "intel-mac",
        "2.2.2",
        never=("rosetta", "torch-too-new", "macos-too-old"),
    ),
    Machine(
        "Intel Mac with NumPy 2 (ENV-09)",
        mac(**{**INTEL_MAC, "numpy": "2.4.0", "translated": False}),
        "intel-mac",
        "numpy<2",
        also=("numpy-too-new",),
        never=("rosetta",),
    ),
    Machine(
        "Intel Python, chip unknown",
        Snapshot(system="Darwin", machine="x86_64", torch="2.2.2"),
        "intel-python",
        "sysctl",
    ),
    Machine(
        "GitHub runner, macos-14 (ENV-07)",
        mac(
            **UNUSABLE,
            os_version="14.7.6",
            kernel="23.6.0",
            ci="GitHub Actions",
            virtual_machine=True,
            model="VirtualMac2,1",
            chip="Apple M1 (Virtual)",
        ),
        "virtual-mac",
        "CPU",
        also=("mps-unusable",),
    ),
    Machine(
        "virtual Mac known by its GPU",
        mac(**{**UNUSABLE, "gpu": "Apple Paravirtual device"}),
        "virtual-mac",
        "real Mac",
    ),
    Machine(
        "virtual Mac without a Metal device",
        mac(
            **UNAVAILABLE,
            torch="2.15.0",
            virtual_machine=True,
            mps_message="RuntimeError: MPS backend is unavailable: no supported Metal GPU was found.",
        ),
        "virtual-mac",
        "real Mac",
        never=("sandboxed",),
    ),
    Machine(
        "GitHub runner, macos-15, where MPS computes",
        mac(ci="GitHub Actions", virtual_machine=True),
        "virtual-mac",
        "measure on a real Mac",
    ),
    Machine(
        "CI, no sign of a virtual machine but the failure",
        mac(**UNUSABLE, ci="an unnamed CI service"),
        "virtual-mac",
        "CI",
    ),
)

METAL = (
    Machine(
        "available, unusable, no sign of a virtual machine (ENV-07)",
        mac(**UNUSABLE, virtual_machine=None),
        "mps-unusable",
        "virtual machine",
    ),
    Machine(
        "computes wrongly",
        mac(mps_state="present but unusable", mps_reason="a 64x64 matrix product on it differs from the CPU's by 3"),
        "mps-unusable",
        "restart",
    ),
    Machine(
        "dies while computing",
        mac(mps_state="present but unusable", mps_reason="the process that tried it: killed by SIGABRT"),
        "mps-unusable",
        "restart",
    ),
    Machine(
        "sandbox, torch 2.15's own text",
        mac(
            **UNAVAILABLE,
            torch="2.15.0",
            mps_message="RuntimeError: MPS backend is unavailable: no supported Metal GPU was found. This can happen "
            "when running inside a virtual machine, sandbox or container without GPU access",
        ),
        "sandboxed",
        "Terminal",
    ),
    Machine(
        "sandbox on macOS 26.2, the misleading older text",
        mac(
            **UNAVAILABLE,
            os_version="26.2",
            kernel="25.2.0",
            mps_message="RuntimeError: The MPS backend is supported on macOS 14.0+. Current OS version can be queried "
            "using `sw_vers`",
        ),
        "sandboxed",
        "outside any sandbox",
        never=("macos-too-old", "torch-too-new"),
    ),
    Machine("sandbox known by its variable", mac(**UNAVAILABLE, sandbox="Codex sandbox"), "sandboxed", "sandbox"),
    Machine(
        "old macOS inside a sandbox: the macOS is first",
        mac(**UNAVAILABLE, torch="2.15.0", os_version="14.5", kernel="23.5.0", sandbox="Codex sandbox"),
        "torch-too-new",
        "2.14.1",
    ),
    Machine(
        "torch without MPS, conda",
        mac(**UNAVAILABLE | {"mps_built": False}, environment_kind="conda"),
        "torch-without-mps",
        "conda remove",
    ),
    Machine("built, never tried (ENV-08)", mac(mps_state=None, mps_reason=None), "mps-unproved", "course doctor"),
    Machine(
        "a torch without torch.mps.is_available (ENV-08)",
        mac_with_torch("2.4.1", "14.4", usable=True),
        "torch-too-old",
        "2.14.1",
    ),
    Machine("everything well", MAC, None),
)

SYSTEMS = (
    Machine(
        "Docker on a Mac (ENV-06)",
        linux(**DOCKER_ON_MAC),
        "container-on-mac",
        "natively",
        never=("linux", "torch-too-new"),
    ),
    Machine(
        "dev container, old torch (ENV-06)",
        linux(**DOCKER_ON_MAC | {"chip": None}, torch="1.13.1", torchvision="0.14.1", numpy="1.26.0"),
        "container-on-mac",
        "No torch version",
    ),
    Machine("OrbStack", linux(kernel="6.10.14-orbstack-00291", machine="aarch64"), "container-on-mac", "Terminal"),
    Machine(
        "an amd64 image on an Apple chip",
        linux(kernel="6.6.12-linuxkit", chip="VirtualApple @ 2.50GHz", container="docker"),
        "container-on-mac",
        "make lab",
    ),
    Machine(
        "CUDA image on a Mac",
        linux(**DOCKER_ON_MAC, torch="2.9.0+cu128", torchvision="0.24.0", torch_cuda="12.8"),
        "container-on-mac",
        "natively",
        also=("cuda-on-mac",),
    ),
    Machine(
        "CUDA wheel index on a Mac",
        mac(package_indexes=("global.index-url=https://download.pytorch.org/whl/cu128",), **NO_TORCH),
        "wrong-index",
        "config unset global.index-url",
        also=("torch-missing",),
    ),
    Machine(
        "an index that does not exist",
        mac(package_indexes=(":env:.index-url=https://download.pytorch.org/whl/macos/arm64",)),
        "wrong-index",
        "unset PIP_INDEX_URL",
    ),
    Machine(
        "nightly CPU index, which holds macOS wheels",
        mac(package_indexes=("global.index-url=https://download.pytorch.org/whl/nightly/cpu",)),
        None,
    ),
    Machine("Linux without NVIDIA", LINUX, "linux", "CPU"),
    Machine(
        "Linux with the CUDA build and no driver",
        linux(torch="2.14.1+cu130", torch_cuda="13.0"),
        "linux",
        "CPU",
        also=("cuda-without-gpu",),
    ),
    Machine(
        "Linux with NVIDIA",
        linux(
            torch_cuda="13.0", nvidia_driver="580.65", cuda_state="usable", cuda_reason="it computes", gpu="NVIDIA L4"
        ),
        "linux",
        "CUDA",
    ),
    Machine(
        "Linux with NVIDIA, torch without CUDA",
        linux(nvidia_driver="580.65"),
        "linux",
        "CPU",
        also=("cuda-build-missing",),
    ),
    Machine("Linux in Docker, not on a Mac", linux(container="docker"), "linux", "CPU", never=("container-on-mac",)),
    Machine("WSL", linux(kernel="5.15.153.1-microsoft-standard-WSL2"), "wsl", "Windows driver"),
    Machine(
        "Asahi Linux",
        linux(kernel="6.11.3-asahi", machine="aarch64", chip="Apple (CPU implementer 0x61)"),
        "linux",
        "CPU",
    ),
    Machine(
        "Windows",
        linux(system="Windows", os_version="10.0.22631", kernel="11", machine="AMD64"),
        "windows",
        "wsl --install",
    ),
    Machine("nothing known", Snapshot(), "system-unknown", "--save"),
    Machine("only the system known", Snapshot(system="Darwin"), "torch-unknown", "--save"),
    Machine("Linux, torch missing", linux(**NO_TORCH), "linux", "CPU", also=("torch-missing",)),
)

LOADING = (
    Machine("torch missing", mac(**NO_TORCH), "torch-missing", "torch==2.15.0"),
    Machine(
        "torch missing on macOS 14",
        mac(**NO_TORCH, os_version="14.7", kernel="23.6.0"),
        "torch-missing",
        "takes 2.15.0",
    ),
    Machine("torch missing, uv", mac(**NO_TORCH, environment_kind="uv"), "torch-missing", "uv pip install"),
    Machine(
        "torch aborts",
        mac(
            **NO_TORCH
            | {"torch": "2.14.1", "torchvision": "0.29.1", "torch_import": "killed", "torch_error": "killed by SIGABRT"}
        ),
        "torch-aborts",
        "force-reinstall",
    ),
    Machine(
        "torch exits",
        mac(
            **NO_TORCH
            | {"torch": "2.14.1", "torchvision": "0.29.1", "torch_import": "exited", "torch_error": "exit code 3"}
        ),
        "torch-aborts",
        "Reinstall",
    ),
    Machine(
        "torch hangs",
        mac(
            **NO_TORCH
            | {
                "torch": "2.14.1",
                "torchvision": "0.29.1",
                "torch_import": "timed out",
                "torch_error": "no answer within 120 s",
            }
        ),
        "torch-hangs",
        "faulthandler",
    ),
    Machine(
        "torch raises",
        mac(
            **NO_TORCH
            | {
                "torch": "2.14.1",
                "torchvision": "0.29.1",
                "torch_import": "raised",
                "torch_error": "ImportError: dlopen(...) Symbol not found",
            }
        ),
        "torch-broken",
        "force-reinstall",
    ),
    Machine(
        "torch for another processor",
        mac(
            **NO_TORCH
            | {
                "torch": "2.2.2",
                "torchvision": "0.17.2",
                "numpy": "1.26.4",
                "torch_import": "raised",
                "torch_error": "ImportError: dlopen(libtorch_python.dylib): incompatible architecture (have "
                "'x86_64', need 'arm64')",
            }
        ),
        "wrong-architecture",
        "arm64",
    ),
    Machine(
        "a torch.py of one's own",
        mac(
            **NO_TORCH
            | {
                "torch": "2.14.1",
                "torchvision": "0.29.1",
                "torch_import": "raised",
                "torch_error": "the module named torch holds no Tensor",
                "torch_file": "~/course/notebooks/torch.py",
            }
        ),
        "torch-shadowed",
        "Rename",
    ),
    Machine(
        "two OpenMP runtimes abort the import (ENV-11)",
        mac(
            **NO_TORCH
            | {
                "torch": "2.14.1",
                "torchvision": "0.29.1",
                "torch_import": "killed",
                "torch_error": "killed by SIGABRT; last words: OMP: Error #15: Initializing libomp.dylib, but "
                "found libiomp5.dylib already initialized.",
            },
            environment_kind="conda",
            openmp=("lib/libiomp5.dylib", "lib/python3.12/site-packages/torch/lib/libomp.dylib"),
        ),
        "openmp-duplicate",
        "one source",
        also=("torch-aborts",),
    ),
)

VARIABLES = (
    Machine(
        "two OpenMP files (ENV-11)",
        mac(openmp=("lib/libiomp5.dylib", "lib/python3.12/site-packages/torch/lib/libomp.dylib")),
        "openmp-duplicate",
        "KMP_DUPLICATE_LIB_OK",
    ),
    Machine(
        "torch and functorch carry one each: one source",
        mac(
            openmp=(
                "lib/python3.12/site-packages/torch/.dylibs/libomp.dylib",
                "lib/python3.12/site-packages/functorch/.dylibs/libomp.dylib",
            )
        ),
        None,
    ),
    Machine(
        "KMP_DUPLICATE_LIB_OK (ENV-11)",
        with_variables(MAC, KMP_DUPLICATE_LIB_OK="TRUE"),
        "kmp-duplicate-ok",
        "unset KMP_DUPLICATE_LIB_OK",
    ),
    Machine("KMP_DUPLICATE_LIB_OK switched off", with_variables(MAC, KMP_DUPLICATE_LIB_OK="FALSE"), None),
    Machine("fallback too late (FB-01)", with_late(MAC, FALLBACK, "1"), "fallback-too-late", "Restart the kernel"),
    Machine(
        "fallback, order unknown",
        replace(MAC, variables=(Variable(FALLBACK, "1", None),), in_notebook=True),
        "fallback-order-unknown",
        "first cell",
    ),
    Machine(
        "fallback 'true' on a torch that has not loaded (FB-01)",
        with_variables(MAC, **{FALLBACK: "true"}),
        "fallback-not-a-number",
        "1",
    ),
    Machine(
        "fallback 'true' kills torch (FB-01)",
        with_variables(
            mac(
                **NO_TORCH
                | {
                    "torch": "2.14.1",
                    "torchvision": "0.29.1",
                    "torch_import": "killed",
                    "torch_error": "killed by SIGABRT; last words: libc++abi: terminating due to uncaught "
                    "exception of type std::invalid_argument: stoi: no conversion",
                }
            ),
            **{FALLBACK: "true"},
        ),
        "fallback-not-a-number",
        "unset",
        also=("torch-aborts",),
    ),
    Machine(
        "fallback exported in a cell (FB-01)",
        mac(shell_exports=(FALLBACK,), in_notebook=True),
        "export-in-a-cell",
        "%env",
    ),
    Machine(
        "fallback set in CI", with_variables(mac(ci="GitHub Actions"), **{FALLBACK: "1"}), "fallback-in-ci", "workflow"
    ),
    Machine("fallback set, and known", with_variables(MAC, **{FALLBACK: "1"}), "fallback-on", "Unset"),
    Machine("fallback set to 0", with_variables(MAC, **{FALLBACK: "0"}), None),
    Machine(
        "watermark 0.0 (MEM-02)", with_variables(MAC, **{HIGH_WATERMARK: "0.0"}), "watermark-zero", "smaller batch"
    ),
    Machine(
        "watermark 0.5 alone",
        with_variables(mac(**UNUSABLE | {"mps_reason": "invalid low watermark ratio 1.4"}), **{HIGH_WATERMARK: "0.5"}),
        "watermark-order",
        "Set both",
        also=("mps-unusable",),
    ),
    Machine(
        "watermarks, both lowered together", with_variables(MAC, **{HIGH_WATERMARK: "0.8", LOW_WATERMARK: "0.6"}), None
    ),
    Machine(
        "low watermark above the default high",
        with_variables(MAC, **{LOW_WATERMARK: "1.8"}),
        "watermark-order",
        LOW_WATERMARK,
    ),
    Machine(
        "watermark above 2",
        with_variables(mac(**UNUSABLE | {"mps_reason": "invalid high watermark ratio 2.5"}), **{HIGH_WATERMARK: "2.5"}),
        "watermark-invalid",
        "defaults are 1.7",
    ),
    Machine("watermark no number (MEM-02)", with_variables(MAC, **{HIGH_WATERMARK: "half"}), "watermark-zero", "unset"),
    Machine(
        "watermark '1.5x', which is 1.5",
        with_variables(MAC, **{HIGH_WATERMARK: "1.5x"}),
        "watermark-misread",
        "number alone",
        never=("watermark-zero", "watermark-invalid"),
    ),
    Machine(
        "watermark '0x1', which is 1, below the default low one",
        with_variables(MAC, **{HIGH_WATERMARK: "0x1"}),
        "watermark-order",
        "Set both",
        also=("watermark-misread",),
        never=("watermark-zero", "watermark-invalid"),
    ),
    Machine(
        "watermark set after import (MEM-02)",
        with_late(MAC, HIGH_WATERMARK, "1.5"),
        "watermark-too-late",
        "set_per_process_memory_fraction",
    ),
    Machine("COURSE_DEVICE", with_variables(MAC, COURSE_DEVICE="cpu"), "course-device-set", "unset COURSE_DEVICE"),
    Machine(
        "variables for MPS on Linux: notes only",
        with_variables(LINUX, **{HIGH_WATERMARK: "0.0", FALLBACK: "true"}),
        "linux",
        "CPU",
        also=("watermark-zero", "fallback-not-a-number"),
    ),
)

NOTEBOOKS = (
    Machine(
        "JupyterLab's kernel is another environment",
        mac(kernel_executable="/opt/miniforge3/bin/python"),
        "kernel-elsewhere",
        "ipykernel install",
    ),
    Machine(
        "the kernel lacks torch, JupyterLab's environment has it",
        mac(
            **NO_TORCH,
            in_notebook=True,
            executable="/opt/miniforge3/bin/python",
            kernel_executable="/opt/miniforge3/bin/python",
            lab_executable="~/course/.venv/bin/python",
        ),
        "kernel-elsewhere",
        "%pip",
        also=("torch-missing",),
    ),
    Machine(
        "a central JupyterLab, and MPS computes",
        mac(in_notebook=True, lab_executable="/opt/jupyterlab/bin/python"),
        "kernel-elsewhere",
        "course lab",
    ),
    Machine(
        "another environment's jupyter-lab on the PATH",
        mac(lab_executable="/opt/miniforge3/bin/jupyter-lab"),
        "lab-elsewhere",
        "course lab",
    ),
)

TWO_CAUSES = (
    Machine(
        "too new a torch and a late variable",
        with_late(mac(**UNAVAILABLE, torch="2.15.0", os_version="14.6", kernel="23.6.0"), FALLBACK, "1"),
        "torch-too-new",
        "2.14.1",
        also=("fallback-too-late",),
    ),
    Machine(
        "Rosetta, in the wrong kernel",
        mac(**ROSETTA, kernel_executable="/opt/miniforge3/bin/python"),
        "rosetta",
        "arm64",
        also=("kernel-elsewhere", "torch-too-old"),
    ),
    Machine(
        "virtual Mac, fallback in CI",
        with_variables(mac(**UNUSABLE, ci="GitHub Actions", virtual_machine=True), **{FALLBACK: "1"}),
        "virtual-mac",
        "real Mac",
        also=("mps-unusable", "fallback-in-ci"),
    ),
    Machine(
        "old macOS and a torchvision that does not pair",
        mac(**UNAVAILABLE, torch="2.9.0", torchvision="0.23.0", os_version="13.7", kernel="22.6.0"),
        "macos-too-old",
        "macOS",
        also=("torchvision-mismatch",),
    ),
    Machine(
        "old torch and two OpenMP runtimes",
        mac(
            torch="2.8.0",
            torchvision="0.23.0",
            openmp=("lib/libomp.dylib", "lib/python3.12/site-packages/torch/lib/libomp.dylib"),
        ),
        "openmp-duplicate",
        "one source",
        also=("torch-too-old",),
    ),
    Machine(
        "container on a Mac, fallback set",
        with_variables(linux(**DOCKER_ON_MAC), **{FALLBACK: "1"}),
        "container-on-mac",
        "natively",
        also=("fallback-on",),
    ),
)

DESCRIBED = (*RELEASES, *PROCESSORS, *METAL, *SYSTEMS, *LOADING, *VARIABLES, *NOTEBOOKS, *TWO_CAUSES)
