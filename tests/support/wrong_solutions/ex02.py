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
    },
}
