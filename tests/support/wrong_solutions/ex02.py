"""Wrong solutions of exercise 02, by the grade id of the cell that they stand in."""

WRONG = {
    "ex02-task1": {
        "every Intel Python is an Intel Mac": """
def root_cause(facts):
    if facts["system"] == "Linux" and "linuxkit" in facts["kernel"]:
        return "container on a Mac"
    if facts["system"] != "Darwin":
        return "not a Mac"
    if facts["machine"] == "x86_64":
        return "Intel Mac"
    if not facts["available"]:
        return "MPS is off"
    return "fine" if facts["computes"] else "available but unusable"
""",
        "available is enough": """
def root_cause(facts):
    if facts["system"] == "Linux" and "linuxkit" in facts["kernel"]:
        return "container on a Mac"
    if facts["system"] != "Darwin":
        return "not a Mac"
    if facts["machine"] == "x86_64":
        return "Intel Python on an Apple chip" if facts["apple_chip"] else "Intel Mac"
    return "fine" if facts["available"] else "MPS is off"
""",
        "every ARM Linux is a container": """
def root_cause(facts):
    if facts["system"] == "Linux" and facts["machine"] == "aarch64":
        return "container on a Mac"
    if facts["system"] != "Darwin":
        return "not a Mac"
    if facts["machine"] == "x86_64":
        return "Intel Python on an Apple chip" if facts["apple_chip"] else "Intel Mac"
    if not facts["available"]:
        return "MPS is off"
    return "fine" if facts["computes"] else "available but unusable"
""",
        "off before Rosetta": """
def root_cause(facts):
    if facts["system"] == "Linux" and "linuxkit" in facts["kernel"]:
        return "container on a Mac"
    if facts["system"] != "Darwin":
        return "not a Mac"
    if not facts["available"]:
        return "MPS is off"
    if facts["machine"] == "x86_64":
        return "Intel Python on an Apple chip" if facts["apple_chip"] else "Intel Mac"
    return "fine" if facts["computes"] else "available but unusable"
""",
        "a kernel that ends in linuxkit": """
def root_cause(facts):
    if facts["system"] == "Linux" and facts["kernel"].endswith("linuxkit"):
        return "container on a Mac"
    if facts["system"] != "Darwin":
        return "not a Mac"
    if facts["machine"] == "x86_64" and facts["apple_chip"]:
        return "Intel Python on an Apple chip"
    if facts["machine"] == "x86_64":
        return "Intel Mac"
    if not facts["available"]:
        return "MPS is off"
    if not facts["computes"]:
        return "available but unusable"
    return "fine"
""",
        "an Intel Python whose MPS computes is fine": """
def root_cause(facts):
    if facts["system"] == "Linux" and "linuxkit" in facts["kernel"]:
        return "container on a Mac"
    if facts["system"] != "Darwin":
        return "not a Mac"
    if facts["machine"] == "x86_64" and facts["apple_chip"] and not facts["computes"]:
        return "Intel Python on an Apple chip"
    if facts["machine"] == "x86_64" and not facts["computes"]:
        return "Intel Mac"
    if not facts["available"]:
        return "MPS is off"
    if not facts["computes"]:
        return "available but unusable"
    return "fine"
""",
        "an Intel Mac with MPS is fine": """
def root_cause(facts):
    if facts["system"] == "Linux" and "linuxkit" in facts["kernel"]:
        return "container on a Mac"
    if facts["system"] != "Darwin":
        return "not a Mac"
    if facts["machine"] == "x86_64" and facts["apple_chip"]:
        return "Intel Python on an Apple chip"
    if facts["machine"] == "x86_64" and not facts["available"]:
        return "Intel Mac"
    if not facts["available"]:
        return "MPS is off"
    if not facts["computes"]:
        return "available but unusable"
    return "fine"
""",
        "Windows forgotten": """
def root_cause(facts):
    if facts["system"] == "Linux" and "linuxkit" in facts["kernel"]:
        return "container on a Mac"
    if facts["system"] == "Linux":
        return "not a Mac"
    if facts["machine"] == "x86_64" and facts["apple_chip"]:
        return "Intel Python on an Apple chip"
    if facts["machine"] == "x86_64":
        return "Intel Mac"
    if not facts["available"]:
        return "MPS is off"
    if not facts["computes"]:
        return "available but unusable"
    return "fine"
""",
        "every Linux is a container": """
def root_cause(facts):
    if facts["system"] == "Linux":
        return "container on a Mac"
    if facts["system"] != "Darwin":
        return "not a Mac"
    if facts["machine"] == "x86_64" and facts["apple_chip"]:
        return "Intel Python on an Apple chip"
    if facts["machine"] == "x86_64":
        return "Intel Mac"
    if not facts["available"]:
        return "MPS is off"
    if not facts["computes"]:
        return "available but unusable"
    return "fine"
""",
        "a Mac without an Apple chip is no Mac": """
def root_cause(facts):
    if facts["system"] == "Linux" and "linuxkit" in facts["kernel"]:
        return "container on a Mac"
    if facts["system"] != "Darwin" or not facts["apple_chip"]:
        return "not a Mac"
    if facts["machine"] == "x86_64" and facts["apple_chip"]:
        return "Intel Python on an Apple chip"
    if facts["machine"] == "x86_64":
        return "Intel Mac"
    if not facts["available"]:
        return "MPS is off"
    if not facts["computes"]:
        return "available but unusable"
    return "fine"
""",
        "off and unusable are one": """
def root_cause(facts):
    if facts["system"] == "Linux" and "linuxkit" in facts["kernel"]:
        return "container on a Mac"
    if facts["system"] != "Darwin":
        return "not a Mac"
    if facts["machine"] == "x86_64" and facts["apple_chip"]:
        return "Intel Python on an Apple chip"
    if facts["machine"] == "x86_64":
        return "Intel Mac"
    if not facts["available"] or not facts["computes"]:
        return "MPS is off"
    if not facts["computes"]:
        return "available but unusable"
    return "fine"
""",
        "not a Mac before the container": """
def root_cause(facts):
    if facts["system"] != "Darwin":
        return "not a Mac"
    if facts["system"] == "Linux" and "linuxkit" in facts["kernel"]:
        return "container on a Mac"
    if facts["machine"] == "x86_64":
        return "Intel Python on an Apple chip" if facts["apple_chip"] else "Intel Mac"
    if not facts["available"]:
        return "MPS is off"
    return "fine" if facts["computes"] else "available but unusable"
""",
        "a container only on ARM": """
def root_cause(facts):
    if facts["machine"] == "aarch64" and "linuxkit" in facts["kernel"]:
        return "container on a Mac"
    if facts["system"] != "Darwin":
        return "not a Mac"
    if facts["machine"] == "x86_64" and facts["apple_chip"]:
        return "Intel Python on an Apple chip"
    if facts["machine"] == "x86_64":
        return "Intel Mac"
    if not facts["available"]:
        return "MPS is off"
    if not facts["computes"]:
        return "available but unusable"
    return "fine"
""",
    },
    "ex02-task2": {
        "compared as text": """
def newest_torch_for(macos):
    fitting = [torch for torch, needed in NEEDS.items() if macos >= needed]
    return fitting[-1] if fitting else None
""",
        "major version only": """
def newest_torch_for(macos):
    major = int(macos.split(".")[0])
    fitting = [torch for torch, needed in NEEDS.items() if major >= int(needed.split(".")[0])]
    return fitting[-1] if fitting else None
""",
        "the edge is too old": """
def newest_torch_for(macos):
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    fitting = [t for t, needed in NEEDS.items() if have > tuple(int(part) for part in needed.split("."))]
    return fitting[-1] if fitting else None
""",
        "short versions are smaller": """
def newest_torch_for(macos):
    have = tuple(int(part) for part in macos.split("."))
    fitting = [t for t, needed in NEEDS.items() if have >= tuple(int(part) for part in needed.split("."))]
    return fitting[-1] if fitting else None
""",
        "newest by text": """
def newest_torch_for(macos):
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    fitting = [t for t, needed in NEEDS.items() if have >= tuple(int(part) for part in needed.split("."))]
    return max(fitting, default=None)
""",
        "decimal numbers": """
def newest_torch_for(macos):
    have = float(".".join(macos.split(".")[:2]))
    fitting = [release for release, needed in NEEDS.items() if have >= float(needed)]
    return fitting[-1] if fitting else None
""",
        "the oldest that fits": """
def newest_torch_for(macos):
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    for release, needed in NEEDS.items():
        if have >= tuple(map(int, needed.split("."))):
            return release
    return None
""",
        "an empty text for none": """
def newest_torch_for(macos):
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    newest = ""
    for release, needed in NEEDS.items():
        if have >= tuple(map(int, needed.split("."))):
            newest = release
    return newest
""",
        "the oldest release where none works": """
def newest_torch_for(macos):
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    newest = next(iter(NEEDS))
    for release, needed in NEEDS.items():
        if have >= tuple(map(int, needed.split("."))):
            newest = release
    return newest
""",
        "a tuple instead of text": """
def newest_torch_for(macos):
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    fit = [r for r, needed in NEEDS.items() if have >= tuple(map(int, needed.split(".")))]
    return tuple(map(int, fit[-1].split("."))) if fit else None
""",
        "the macOS instead of the release": """
def newest_torch_for(macos):
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    fit = [needed for needed in NEEDS.values() if have >= tuple(map(int, needed.split(".")))]
    return fit[-1] if fit else None
""",
        "an exact match only": """
def newest_torch_for(macos):
    major = macos.split(".")[0]
    fit = [release for release, needed in NEEDS.items() if needed.split(".")[0] == major]
    return fit[-1] if fit else None
""",
        "digits put together": """
def newest_torch_for(macos):
    have = int((macos + ".0").replace(".", "")[:3])
    fit = [release for release, needed in NEEDS.items() if have >= int(needed.replace(".", ""))]
    return fit[-1] if fit else None
""",
    },
    "ex02-task3": {
        "architecture ignored": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, _, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_") or python_tag != "cp" + python.replace(".", ""):
        return False
    _, major, minor, _ = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return have >= (int(major), int(minor))
""",
        "only the same macOS": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, _, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    return python_tag == "cp" + python.replace(".", "") and architecture == machine and macos == f"{major}.{minor}"
""",
        "versions as a decimal number": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, _, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_") or python_tag != "cp" + python.replace(".", ""):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    return architecture == machine and float(macos) >= float(f"{major}.{minor}")
""",
        "a newer Python is fine": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, _, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_") or int(python.replace(".", "")) < int(python_tag[2:]):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return architecture == machine and have >= (int(major), int(minor))
""",
        "Linux wheels are not ruled out": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, _, platform = filename.removesuffix(".whl").split("-")
    if python_tag != "cp" + python.replace(".", ""):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return architecture == machine and have >= (int(major), int(minor))
""",
        "the ABI has to be the Python's": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, abi, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return (
        python_tag == "cp" + python.replace(".", "")
        and architecture == machine
        and have >= (int(major), int(minor))
        and abi == python_tag
    )
""",
        "a tag that begins so": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, abi, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return (
        python_tag.startswith("cp" + python.replace(".", ""))
        and architecture == machine
        and have >= (int(major), int(minor))
    )
""",
        "a part of the name": """
def wheel_fits(filename, python, macos, machine):
    tag = "cp" + python.replace(".", "")
    major = filename.split("macosx_")[-1].split("_")[0]
    return (
        "macosx_" in filename
        and tag in filename
        and machine in filename
        and int(macos.split(".")[0]) >= int(major)
    )
""",
        "major version only": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, abi, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return python_tag == "cp" + python.replace(".", "") and architecture == machine and have[0] >= int(major)
""",
        "minor compared by itself": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, abi, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return (
        python_tag == "cp" + python.replace(".", "")
        and architecture == machine
        and have[0] >= int(major)
        and have[1] >= int(minor)
    )
""",
        "its own macOS is too old": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, abi, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return (
        python_tag == "cp" + python.replace(".", "")
        and architecture == machine
        and have > (int(major), int(minor))
    )
""",
        "compared as text": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, abi, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return python_tag == "cp" + python.replace(".", "") and architecture == machine and macos >= f"{major}.{minor}"
""",
        "the Python is not asked": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, abi, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return architecture == machine and have >= (int(major), int(minor))
""",
        "the macOS is not asked": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, abi, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return python_tag == "cp" + python.replace(".", "") and architecture == machine
""",
        "arm64 runs Intel wheels too": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, abi, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, architecture = platform.split("_", 3)
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    return (
        python_tag == "cp" + python.replace(".", "")
        and (architecture == machine or machine == "arm64")
        and have >= (int(major), int(minor))
    )
""",
        "the architecture is the last part": """
def wheel_fits(filename, python, macos, machine):
    _, _, python_tag, _, platform = filename.removesuffix(".whl").split("-")
    if not platform.startswith("macosx_"):
        return False
    _, major, minor, *_, architecture = platform.split("_")
    have = tuple(int(part) for part in (macos + ".0").split(".")[:2])
    right = python_tag == "cp" + python.replace(".", "") and architecture == machine
    return right and have >= (int(major), int(minor))
""",
    },
    "ex02-task4": {
        "a container with MPS": """
def where_to_run(needs):
    if "cuda" in needs:
        return "another machine"
    return "container" if "linux" in needs else "native"
""",
        "CUDA in a container": """
def where_to_run(needs):
    if {"mps", "linux"} <= needs:
        return "impossible together"
    if "linux" in needs:
        return "container"
    return "another machine" if "cuda" in needs else "native"
""",
        "always native": """
def where_to_run(needs):
    return "native"
""",
        "nothing but CUDA": """
def where_to_run(needs):
    if needs == {"cuda"}:
        return "another machine"
    if {"mps", "linux"} <= needs:
        return "impossible together"
    return "container" if "linux" in needs else "native"
""",
        "CUDA and MPS are impossible together": """
def where_to_run(needs):
    if "mps" in needs and len(needs) > 1:
        return "impossible together"
    if "cuda" in needs:
        return "another machine"
    return "container" if "linux" in needs else "native"
""",
        "a container for what needs nothing": """
def where_to_run(needs):
    if "cuda" in needs:
        return "another machine"
    if "mps" in needs:
        return "impossible together" if "linux" in needs else "native"
    return "container"
""",
        "MPS is asked before Linux": """
def where_to_run(needs):
    if "cuda" in needs:
        return "another machine"
    if "mps" in needs:
        return "native"
    return "container" if "linux" in needs else "native"
""",
        "nothing for nothing": """
def where_to_run(needs):
    if "cuda" in needs:
        return "another machine"
    if {"mps", "linux"} <= needs:
        return "impossible together"
    if "mps" in needs:
        return "native"
    if "linux" in needs:
        return "container"
""",
    },
    "ex02-task5": {
        "asks whether it is available": """
def computes(device):
    device = torch.device(device)
    return device.type == "cpu" or (device.type == "mps" and torch.backends.mps.is_available())
""",
        "there and back": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        return torch.equal(x.to(device).cpu(), x)
    except Exception:
        return False
""",
        "RuntimeError only": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        return torch.allclose((x.to(device) @ x.to(device)).cpu(), x @ x)
    except RuntimeError:
        return False
""",
        "errors get out": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    return torch.allclose((x.to(device) @ x.to(device)).cpu(), x @ x)
""",
        "a difference above the limit is the fault": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        a = (x.to(device) @ x.to(device)).cpu()
        return not bool(((a - x @ x).abs() > 1e-3).any())
    except Exception:
        return False
""",
        "what raises nothing computes": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        (x.to(device) @ x.to(device)).cpu()
        return True
    except Exception:
        return False
""",
        "twice on the device": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        y = x.to(device)
        return torch.equal(y @ y, y @ y)
    except Exception:
        return False
""",
        "computed on the CPU": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        y = x.to(device).cpu()
        return torch.allclose(y @ y, x @ x)
    except Exception:
        return False
""",
        "a matrix of zeros": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        x = torch.zeros(3, 3)
        y = x.to(device)
        return torch.allclose((y @ y).cpu(), x @ x)
    except Exception:
        return False
""",
        "shapes alone": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        y = x.to(device)
        return (y @ y).cpu().shape == x.shape
    except Exception:
        return False
""",
        "a sum instead of a product": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        y = x.to(device)
        return torch.allclose((y + y).cpu(), x + x)
    except Exception:
        return False
""",
        "NaN counts as equal": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        y = x.to(device)
        return torch.allclose(torch.nan_to_num((y @ y).cpu(), nan=0.0), x @ x) or bool((y @ y).isnan().all())
    except Exception:
        return False
""",
        "the first number alone": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        y = x.to(device)
        return abs((y @ y)[0, 0].item() - 30.0) < 1e-3
    except Exception:
        return False
""",
        "nothing instead of False": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        y = x.to(device)
        if torch.allclose((y @ y).cpu(), x @ x):
            return True
    except Exception:
        return None
""",
        "compares with the device's own answer": """
def computes(device):
    x = torch.arange(1.0, 10.0).reshape(3, 3)
    try:
        y = x.to(device)
        right = (y @ y).cpu()
        return torch.allclose(right, (y @ y).cpu()) and not right.isnan().any().item()
    except Exception:
        return False
""",
    },
}
