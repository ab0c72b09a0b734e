"""Macs as people have them, healthy in every combination, and troubles to plant into each of them."""

import random
from dataclasses import replace

from course_utils.devices.environment_variables import FALLBACK, HIGH_WATERMARK
from course_utils.doctor import TorchCopy, Variable
from support.described_machines import MAC, NO_TORCH, UNAVAILABLE, UNUSABLE, with_variables

CHIPS = (
    ("Apple M3", "Mac15,3"),
    ("Apple M3 Max", "Mac15,9"),
    ("Apple M4", "Mac16,10"),
    ("Apple M4 Pro", "Mac16,8"),
    ("Apple M5", "Mac17,2"),
    ("Apple M5 Max", "Mac17,7"),
    ("Apple M1", "MacBookAir10,1"),
    ("Apple M2 Ultra", "Mac14,14"),
)
SYSTEMS = (("14.8.2", "23.6.0"), ("15.0", "24.0.0"), ("15.7.1", "24.6.0"), ("26.1", "25.1.0"), ("26.6.2", "25.6.0"))
PYTHONS = ("3.11.9", "3.12.12", "3.13.7", "3.14.2")
# kind, prefix, packages below it, base Python; {v} is the Python's version, {m} its line
PLACES = (
    ("venv", "~/course/.venv", "", "/opt/homebrew/opt/python@{m}/bin/python{m}"),
    (
        "venv",
        "~/Documents/Kurse/Apple Silicon/.venv",
        "",
        "/Library/Frameworks/Python.framework/Versions/{m}/bin/python{m}",
    ),
    ("venv", "~/.pyenv/versions/{v}/envs/course", "", "~/.pyenv/versions/{v}/bin/python{m}"),
    ("venv", "~/Library/Caches/pypoetry/virtualenvs/course-Xy1_-py{m}", "", "/opt/homebrew/bin/python{m}"),
    ("venv", "/Volumes/Samsung T7/envs/torch", "", "/usr/local/bin/python{m}"),
    ("uv", "~/code/apple-silicon/.venv", "", "~/.local/share/uv/python/cpython-{v}-macos-aarch64-none/bin/python{m}"),
    ("conda", "~/miniforge3/envs/course", "", None),
    ("conda", "/opt/homebrew/Caskroom/miniforge/base/envs/mps", "", None),
    ("conda", "/opt/anaconda3", "", None),
    ("system", "/Library/Frameworks/Python.framework/Versions/{m}", "", None),
    ("system", "/opt/homebrew/opt/python@{m}/Frameworks/Python.framework/Versions/{m}", "/opt/homebrew", None),
)
HARMLESS = (
    (),
    (Variable("PYTHONPATH", "~/lib/python", True),),
    (Variable("COURSE_DEVICE", "mps", True),),
    (Variable(FALLBACK, "0", True),),
    (Variable("CONDA_SUBDIR", "osx-arm64", True),),
    (Variable(HIGH_WATERMARK, "1.6", True),),
)


def healthy_macs(number, seed):
    """Draw Macs on which everything works: chip, macOS, Python, environment, notebook and settings vary."""
    chance = random.Random(seed)
    for _ in range(number):
        chip, model = chance.choice(CHIPS)
        system, kernel = chance.choice(SYSTEMS)
        python = chance.choice(PYTHONS)
        line = ".".join(python.split(".")[:2])
        kind, prefix, packages, base = chance.choice(PLACES)
        prefix, packages, base = (
            text and text.format(v=python, m=line)
            for text in (prefix, packages or prefix, base or f"{prefix}/bin/python{line}")
        )
        executable = f"{prefix}/bin/python"
        folder = f"{packages}/lib/python{line}/site-packages"
        notebook = chance.random() < 0.4
        yield replace(
            MAC,
            chip=chip,
            gpu=chip,
            model=model,
            os_version=system,
            kernel=kernel,
            kernel_version=chance.choice(["RELEASE_ARM64_T8112", None]),
            python=python,
            prefix=prefix,
            executable=executable,
            base_executable=chance.choice([base, None]),
            environment_kind=kind,
            externally_managed=kind == "system" and "homebrew" in prefix,
            torch_file=f"{folder}/torch/__init__.py",
            torch_copies=chance.choice([None, (TorchCopy(folder, "2.14.1", "environment"),)]),
            openmp=chance.choice([None, (f"lib/python{line}/site-packages/torch/lib/libomp.dylib",)]),
            in_notebook=notebook,
            kernel_executable=chance.choice([executable, None]),
            lab_executable=executable if notebook else chance.choice([f"{prefix}/bin/jupyter-lab", None]),
            memory_bytes=chance.choice([8, 16, 24, 36, 48, 128, 512]) * 2**30,
            disk_free_bytes=chance.choice([None, 3 * 10**9, 10**12]),
            variables=chance.choice(HARMLESS),
            package_indexes=chance.choice([(), None, ("global.index-url=https://pypi.example.org/simple",)]),
            hidden_files=chance.choice([(), None]),
        )


def no_torch(machine):
    """Take torch out of a machine."""
    return replace(machine, **NO_TORCH, torch_copies=())


def intel(machine):
    """Run an Intel Python on the same Mac."""
    translated = {"machine": "x86_64", "translated": True, "torch": "2.2.2", "torchvision": "0.17.2", "numpy": "1.26.4"}
    return replace(machine, **UNAVAILABLE, **translated, python="3.11.9")


def broken(machine, outcome, error):
    """Let the import of torch end in some other way."""
    nothing = {name: value for name, value in NO_TORCH.items() if name not in ("torch", "torchvision", "torch_file")}
    return replace(machine, **nothing | {"torch_import": outcome, "torch_error": error})


def other_torch(machine, *, file, version="2.14.1", via=None):
    """Put another torch in front of the environment's."""
    folder = file.removesuffix("/torch/__init__.py")
    variables = (Variable("PYTHONPATH", folder, True),) if via == "PYTHONPATH" else ()
    return replace(machine, torch_file=file, torch=version, torch_copies=None, variables=variables)


USER_SITE = "~/Library/Python/3.12/lib/python/site-packages/torch/__init__.py"

# trouble -> how to plant it, and the code that has to come first
TROUBLES = {
    "Rosetta": (intel, "rosetta"),
    "torch missing": (no_torch, "torch-missing"),
    "macOS too old for torch 2.15": (
        lambda m: replace(m, **UNAVAILABLE, os_version="14.5", kernel="23.5.0", torch="2.15.0", torchvision="0.29.2"),
        "torch-too-new",
    ),
    "macOS 13": (lambda m: replace(m, **UNAVAILABLE, os_version="13.6.9", kernel="22.6.0"), "macos-too-old"),
    "a virtual Mac": (
        lambda m: replace(m, **UNUSABLE, virtual_machine=True, model="VirtualMac2,1", chip="Apple M1 (Virtual)"),
        "virtual-mac",
    ),
    "no usable MPS": (lambda m: replace(m, **UNUSABLE), "mps-unusable"),
    "a sandbox": (lambda m: replace(m, **UNAVAILABLE), "sandboxed"),
    "a torch without MPS": (lambda m: replace(m, **UNAVAILABLE | {"mps_built": False}), "torch-without-mps"),
    "torch on PYTHONPATH": (
        lambda m: other_torch(m, file="/opt/lib/torch/__init__.py", via="PYTHONPATH"),
        "torch-foreign",
    ),
    "an old torch on PYTHONPATH that breaks": (
        lambda m: broken(
            other_torch(m, file="~/old/torch/__init__.py", version="2.1.0", via="PYTHONPATH"),
            "raised",
            "ImportError: no",
        ),
        "torch-foreign",
    ),
    "torch in the user's folder": (
        lambda m: other_torch(replace(m, environment_kind="conda"), file=USER_SITE),
        "torch-foreign",
    ),
    "COURSE_DEVICE=cuda": (lambda m: with_variables(m, COURSE_DEVICE="cuda:0"), "course-device-unusable"),
    "COURSE_DEVICE is a word": (lambda m: with_variables(m, COURSE_DEVICE="metal"), "course-device-unusable"),
    "NumPy missing": (lambda m: replace(m, numpy="none"), "numpy-missing"),
    "a full disk": (lambda m: broken(m, "raised", "OSError: [Errno 28] No space left on device"), "disk-full"),
    "a damaged torch": (lambda m: broken(m, "raised", "ImportError: dlopen: Symbol not found: _foo"), "torch-broken"),
    "a torch that aborts": (lambda m: broken(m, "killed", "killed by SIGSEGV"), "torch-aborts"),
    "fallback is a word": (lambda m: with_variables(m, **{FALLBACK: "enabled"}), "fallback-not-a-number"),
    "no memory limit": (lambda m: with_variables(m, **{HIGH_WATERMARK: "unlimited"}), "watermark-zero"),
    "another kernel": (
        lambda m: replace(m, in_notebook=False, kernel_executable="~/elsewhere/bin/python"),
        "kernel-elsewhere",
    ),
    "two OpenMP runtimes": (
        lambda m: replace(m, openmp=("lib/libiomp5.dylib", "lib/python3.12/site-packages/torch/lib/libomp.dylib")),
        "openmp-duplicate",
    ),
    "torchvision of another torch": (lambda m: replace(m, torchvision="0.28.0"), "torchvision-mismatch"),
    "Python 3.10": (lambda m: replace(m, python="3.10.14"), "python-out-of-range"),
    "hidden files": (
        lambda m: replace(m, hidden_files=("lib/python3.12/site-packages/__editable__.course.pth",)),
        "hidden-files",
    ),
}
