"""Machines that the doctor once got wrong, as snapshots: each with its first finding, command and exit code."""

from course_utils.devices.environment_variables import FALLBACK, HIGH_WATERMARK
from course_utils.doctor import TorchCopy, Variable
from support.described_machines import (
    DESCRIBED,
    INTEL_MAC,
    LINUX,
    MAC,
    NO_TORCH,
    ROSETTA,
    Machine,
    mac,
    with_late,
    with_variables,
)

OLD_TORCH = "/opt/shared/python"
USER_SITE = "~/.local/lib/python3.12/site-packages"
OWN = "~/course/.venv/lib/python3.12/site-packages"
OLD = {
    "torch": "2.1.0",
    "torch_import": "raised",
    "torch_error": "ImportError: cannot load module more than once per process",
    "torch_file": f"{OLD_TORCH}/torch/__init__.py",
    "mps_built": None,
    "mps_available": None,
    "mps_state": None,
    "mps_reason": None,
}
ON_PYTHONPATH = (Variable("PYTHONPATH", f"/opt/tools:{OLD_TORCH}", True),)


def copies(*entries):
    """List copies of torch: folder, version and way for each."""
    return {"torch_copies": tuple(TorchCopy(*entry) for entry in entries)}


# a torch that is not the environment's
FOREIGN = (
    Machine(
        "an old torch on PYTHONPATH, and none in the environment",
        mac(**OLD, variables=ON_PYTHONPATH),
        "torch-foreign",
        OLD_TORCH,
        also=("torch-broken", "torch-too-old"),
        command="unset PYTHONPATH",
        exit_code=1,
    ),
    Machine(
        "an old torch on PYTHONPATH hides the environment's",
        mac(
            **OLD | {"torch_import": "ok", "torch_error": None},
            **copies((OLD_TORCH, "2.1.0", "PYTHONPATH"), (OWN, "2.14.1", "environment")),
        ),
        "torch-foreign",
        "Installing another torch here does not help",
        also=("torch-too-old",),
        command="unset PYTHONPATH",
        exit_code=1,
    ),
    Machine(
        "an old torch in the user's folder, seen from a conda environment",
        mac(
            **OLD | {"torch_file": f"{USER_SITE}/torch/__init__.py"},
            environment_kind="conda",
            prefix="~/miniforge3/envs/course",
            executable="~/miniforge3/envs/course/bin/python",
            kernel_executable=None,
            lab_executable=None,
        ),
        "torch-foreign",
        f"remove {USER_SITE}/torch",
        command="PYTHONNOUSERSITE=1",
        exit_code=1,
    ),
    Machine(
        "the user's folder on a Mac, listed as a copy, in a notebook",
        mac(
            **copies(
                ("~/Library/Python/3.12/lib/python/site-packages", "2.14.1", "user site"),
                (OWN, "2.13.0", "environment"),
            ),
            in_notebook=True,
        ),
        "torch-foreign",
        "PYTHONNOUSERSITE=1",
        command="PYTHONNOUSERSITE=1 course lab",
        exit_code=1,
    ),
    Machine(
        "two torches of the same version",
        mac(torch_file=f"{OLD_TORCH}/torch/__init__.py", variables=ON_PYTHONPATH),
        "torch-foreign",
        "Unset PYTHONPATH",
        command="unset PYTHONPATH",
        exit_code=1,
    ),
    Machine(
        "two torches of the same version, both listed",
        mac(**copies((OLD_TORCH, "2.14.1", "PYTHONPATH"), (OWN, "2.14.1", "environment"))),
        "torch-foreign",
        "Unset PYTHONPATH",
        command="unset PYTHONPATH",
        exit_code=1,
    ),
    Machine(
        "a clone of PyTorch is the current folder",
        mac(
            **OLD | {"torch_file": "~/src/pytorch/torch/__init__.py", "torch": "2.14.1"},
            **copies(("~/src/pytorch", "unknown", "current folder"), (OWN, "2.14.1", "environment")),
        ),
        "torch-foreign",
        "another folder",
        also=("torch-broken",),
        command="cd ~",
        exit_code=1,
    ),
    Machine(
        "PYTHONPATH holds tools and no torch",
        mac(variables=(Variable("PYTHONPATH", "/opt/tools", True),)),
        None,
        exit_code=0,
    ),
    Machine(
        "the system's Python with its packages in the user's folder",
        mac(
            environment_kind="system",
            prefix="/Library/Frameworks/Python.framework/Versions/3.12",
            executable="/Library/Frameworks/Python.framework/Versions/3.12/bin/python3.12",
            kernel_executable=None,
            lab_executable=None,
            torch_file="~/Library/Python/3.12/lib/python/site-packages/torch/__init__.py",
            **copies(("~/Library/Python/3.12/lib/python/site-packages", "2.14.1", "user site")),
        ),
        None,
        exit_code=0,
    ),
    Machine(
        "an environment that shows its Python's own packages",
        mac(
            base_executable="/opt/homebrew/bin/python3.12",
            torch_file="/opt/homebrew/lib/python3.12/site-packages/torch/__init__.py",
        ),
        None,
        exit_code=0,
    ),
    Machine(
        "a build of one's own, linked into the environment",
        mac(
            torch="2.14.1",
            torch_file="~/src/pytorch/torch/__init__.py",
            **copies(("~/src/pytorch", "2.14.1", "other")),
        ),
        None,
        exit_code=0,
    ),
)

DEVICES = (
    Machine(
        "COURSE_DEVICE=cuda on a Mac with MPS",
        with_variables(MAC, COURSE_DEVICE="cuda"),
        "course-device-unusable",
        "Unset",
        command="unset COURSE_DEVICE",
        exit_code=1,
    ),
    Machine(
        "COURSE_DEVICE is a word",
        with_variables(MAC, COURSE_DEVICE="gpu"),
        "course-device-unusable",
        command="unset COURSE_DEVICE",
        exit_code=1,
    ),
    Machine(
        "COURSE_DEVICE=MPS, in capitals",
        with_variables(MAC, COURSE_DEVICE="MPS"),
        "course-device-unusable",
        command="unset COURSE_DEVICE",
        exit_code=1,
    ),
    Machine("COURSE_DEVICE=mps:0", with_variables(MAC, COURSE_DEVICE="mps:0"), "course-device-set", exit_code=0),
    Machine("COURSE_DEVICE is empty", with_variables(MAC, COURSE_DEVICE=""), None, exit_code=0),
    Machine(
        "COURSE_DEVICE=mps on Linux",
        with_variables(LINUX, COURSE_DEVICE="mps"),
        "linux",
        also=("course-device-unusable",),
        command="COURSE_DEVICE=cpu course lab",
        exit_code=1,
    ),
    Machine(
        "COURSE_DEVICE=mps where torch is too new for macOS",
        with_variables(
            mac(torch="2.15.0", os_version="14.6", mps_available=False, mps_state="absent"), COURSE_DEVICE="mps"
        ),
        "torch-too-new",
        "2.14.1",
        also=("course-device-unusable",),
        exit_code=1,
    ),
)

PACKAGES = (
    Machine("NumPy is missing", mac(numpy="none"), "numpy-missing", command="pip install numpy", exit_code=1),
    Machine(
        "NumPy is missing beside an old torch",
        mac(numpy="none", torch="2.2.2", torchvision="0.17.2", python="3.11.9"),
        "numpy-missing",
        command='"numpy<2"',
        also=("torch-too-old",),
        exit_code=1,
    ),
    Machine("no NumPy in a snapshot that is silent about it", mac(numpy=None), None, exit_code=0),
    Machine(
        "the disk is full",
        mac(
            **NO_TORCH
            | {
                "torch": "2.14.1",
                "torchvision": "0.29.1",
                "torch_import": "raised",
                "torch_error": "OSError: [Errno 28] No space left on device",
            },
            disk_free_bytes=0,
        ),
        "disk-full",
        "Trash",
        never=("torch-broken",),
        command="pip cache purge",
        exit_code=1,
    ),
    Machine(
        "so full that nothing could be tried, conda",
        mac(
            **NO_TORCH
            | {
                "torch": "2.14.1",
                "torchvision": "0.29.1",
                "torch_import": None,
                "torch_error": "no scratch folder could be made: FileNotFoundError: [Errno 2] No usable folder",
            },
            disk_free_bytes=0,
            environment_kind="conda",
        ),
        "disk-full",
        "du -sh",
        command="conda clean",
        exit_code=1,
    ),
    Machine(
        "the disk is full when MPS compiles its first kernel",
        mac(
            mps_state="present but unusable", mps_reason="a product failed: OSError: [Errno 28] No space left on device"
        ),
        "disk-full",
        "Trash",
        also=("mps-unusable",),
        exit_code=1,
    ),
    Machine(
        "the import ends the process on a full disk",
        mac(
            **NO_TORCH
            | {
                "torch": "2.14.1",
                "torchvision": "0.29.1",
                "torch_import": "exited",
                "torch_error": "exit code 1; last words: OSError: [Errno 28] No space left on device",
            },
        ),
        "disk-full",
        also=("torch-aborts",),
        exit_code=1,
    ),
    Machine(
        "another error that has a number",
        mac(
            **NO_TORCH
            | {
                "torch": "2.14.1",
                "torchvision": "0.29.1",
                "torch_import": "raised",
                "torch_error": "PermissionError: [Errno 13] Permission denied: 'libtorch.dylib'",
            }
        ),
        "torch-broken",
        never=("disk-full",),
        exit_code=1,
    ),
    Machine(
        "an extra index with CUDA wheels, and torch works",
        mac(package_indexes=("global.extra-index-url=https://download.pytorch.org/whl/cu128",)),
        "extra-index",
        "Nothing has to be done",
        never=("wrong-index",),
        exit_code=0,
    ),
    Machine(
        "an extra index in a variable, and no torch yet",
        mac(package_indexes=(":env:.extra-index-url=https://download.pytorch.org/whl/cu130",), **NO_TORCH),
        "torch-missing",
        "2.15.0",
        never=("wrong-index",),
        exit_code=1,
    ),
    Machine(
        "uv looks into its extra index first",
        mac(
            package_indexes=("UV_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu128",),
            environment_kind="uv",
            **NO_TORCH,
        ),
        "wrong-index",
        command="unset UV_EXTRA_INDEX_URL",
        exit_code=1,
    ),
    Machine(
        "iCloud hid the link to the course",
        mac(hidden_files=("lib/python3.12/site-packages/__editable__.pytorch_apple_silicon_course-0.1.0.pth",)),
        "hidden-files",
        "iCloud",
        command="chflags -R nohidden ~/course/.venv",
        exit_code=1,
    ),
    Machine(
        "iCloud hid a link that this Python follows all the same",
        mac(hidden_files=("lib/python3.12/site-packages/__editable__.course.pth",), python="3.12.1"),
        None,
        exit_code=0,
    ),
    Machine(
        "Python 3.15 without torch",
        mac(python="3.15.0", **NO_TORCH),
        "python-out-of-range",
        "3.14",
        also=("torch-missing",),
        command="python3.14",
        exit_code=1,
    ),
)

INTEL = (
    Machine(
        "Rosetta, pyenv",
        mac(**ROSETTA, executable="~/.pyenv/versions/3.12.4/bin/python", prefix="~/.pyenv/versions/3.12.4"),
        "rosetta",
        "native",
        command="arch -arm64 pyenv install --force 3.12.4",
        exit_code=1,
    ),
    Machine(
        "Rosetta, a venv of pyenv's Python",
        mac(**ROSETTA, base_executable="~/.pyenv/versions/3.12.4/bin/python3.12"),
        "rosetta",
        "new environment",
        command="arch -arm64 pyenv install",
        exit_code=1,
    ),
    Machine(
        "Rosetta, started as /usr/local/bin/python3.12",
        mac(**ROSETTA, executable="/usr/local/bin/python3.12", environment_kind="system", prefix="/usr/local"),
        "rosetta",
        "new environment",
        command="arch -arm64 /usr/local/bin/python3.12",
        exit_code=1,
    ),
    Machine(
        "Rosetta, a venv that does not tell what it was made from",
        mac(**ROSETTA),
        "rosetta",
        "Bad CPU type",
        command="arch -arm64 python3.12 -m venv",
        exit_code=1,
    ),
    Machine(
        "Rosetta, an Intel Homebrew",
        mac(**ROSETTA, base_executable="/usr/local/Cellar/python@3.12/3.12.4/bin/python3.12"),
        "rosetta",
        "/opt/homebrew",
        command="arch -arm64 /bin/bash",
        exit_code=1,
    ),
    Machine(
        "Rosetta, a conda base that is Intel",
        mac(
            **ROSETTA,
            environment_kind="conda",
            prefix="~/miniconda3",
            executable="~/miniconda3/bin/python",
            torch_file="~/miniconda3/lib/python3.12/site-packages/torch/__init__.py",
        ),
        "rosetta",
        "~/miniconda3",
        command="MacOSX-arm64",
        exit_code=1,
    ),
    Machine(
        "Rosetta, torch 2.2.2 whose MPS computes",
        mac(
            **ROSETTA
            | {
                "mps_built": True,
                "mps_available": True,
                "mps_state": "usable",
                "mps_reason": "it computes",
                "python": "3.11.9",
            }
        ),
        "rosetta",
        "MPS computes here",
        also=("torch-too-old",),
        exit_code=1,
    ),
    Machine(
        "Intel Mac, Python 3.13, no torch",
        mac(**INTEL_MAC | NO_TORCH | {"numpy": "2.1.0"}, python="3.13.1"),
        "intel-mac",
        "Linux",
        also=("torch-missing",),
        command="3.12",
        exit_code=1,
    ),
    Machine(
        "Intel Mac with an AMD GPU whose MPS computes",
        mac(
            **INTEL_MAC | {"mps_built": True, "mps_available": True, "mps_state": "usable", "mps_reason": "it computes"}
        ),
        "intel-mac",
        "MPS computes here",
        exit_code=1,
    ),
)

VALUES = (
    Machine(
        "fallback 'yes', set after the import",
        with_late(MAC, FALLBACK, "yes"),
        "fallback-not-a-number",
        "before the first",
        also=("fallback-too-late",),
        command=f"%env {FALLBACK}=1",
        exit_code=1,
    ),
    Machine(
        "fallback 'off', which ends the import",
        with_variables(MAC, **{FALLBACK: "off"}),
        "fallback-not-a-number",
        command=f"unset {FALLBACK}",
        exit_code=1,
    ),
    Machine(
        "a fallback value that would run in a shell",
        with_variables(MAC, **{FALLBACK: "1; rm -rf ~"}),
        "fallback-on",
        command=f"unset {FALLBACK}",
        exit_code=0,
    ),
    Machine(
        "a late fallback value that would run in a notebook",
        with_late(MAC, FALLBACK, "1; rm -rf ~"),
        "fallback-too-late",
        command=f"%env {FALLBACK}=1",
        exit_code=1,
    ),
    Machine(
        "watermark 'off'",
        with_variables(MAC, **{HIGH_WATERMARK: "off"}),
        "watermark-zero",
        "smaller batch",
        command=f"unset {HIGH_WATERMARK}",
        exit_code=1,
    ),
    Machine(
        "a late watermark with a tail",
        with_late(MAC, HIGH_WATERMARK, "1.5x"),
        "watermark-misread",
        "number alone",
        also=("watermark-too-late",),
        exit_code=1,
    ),
)

KNOWN_WRONG = (
    Machine(
        "macOS 27.0 with torch 2.12.1",
        mac(os_version="27.0", kernel="26.0.0", chip="Apple M4", torch="2.12.1", torchvision="0.27.1"),
        "known-wrong-results",
        "Install torch 2.15.0",
        command="torch==2.15.0",
        exit_code=1,
    ),
    Machine(
        "M2 with torch 2.13",
        mac(chip="Apple M2", torch="2.13.0", torchvision="0.28.0"),
        "known-wrong-results",
        "Install torch 2.15.0",
        command="torch==2.15.0",
        exit_code=1,
    ),
    Machine(
        "M1 Max with torch 2.9 and macOS 14",
        mac(chip="Apple M1 Max", torch="2.9.1", torchvision="0.24.1", os_version="14.7", kernel="23.6.0"),
        "known-wrong-results",
        command="torch==2.14.1",
        exit_code=1,
    ),
    Machine("M1 with torch 2.14.1", mac(chip="Apple M1"), "known-wrong-results", "course compare", exit_code=0),
)

KERNELS = (
    Machine(
        "the kernel of another environment, both with torch",
        mac(kernel_executable="~/miniforge3/envs/ml/bin/python"),
        "kernel-elsewhere",
        "ipykernel",
        command="~/course/.venv/bin/python -m ipykernel",
        exit_code=1,
    ),
)

REPORTED = (*FOREIGN, *DEVICES, *PACKAGES, *INTEL, *VALUES, *KNOWN_WRONG, *KERNELS)
MACHINES = (*DESCRIBED, *REPORTED)
