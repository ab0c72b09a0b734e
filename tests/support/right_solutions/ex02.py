"""Right solutions of exercise 02 in other people's styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex02-task1": {
        "nested questions": """
def root_cause(facts):
    if facts["system"] == "Darwin":
        if facts["machine"] == "x86_64":
            if facts["apple_chip"]:
                return "Intel Python on an Apple chip"
            return "Intel Mac"
        if facts["available"]:
            if facts["computes"]:
                return "fine"
            return "available but unusable"
        return "MPS is off"
    if facts["system"] == "Linux" and facts["kernel"].find("linuxkit") != -1:
        return "container on a Mac"
    return "not a Mac"
""",
        "a list of pairs": """
def root_cause(facts):
    intel = facts["machine"] == "x86_64"
    rules = [
        ("container on a Mac", facts["system"] == "Linux" and "linuxkit" in facts["kernel"]),
        ("not a Mac", facts["system"] != "Darwin"),
        ("Intel Python on an Apple chip", intel and facts["apple_chip"]),
        ("Intel Mac", intel),
        ("MPS is off", not facts["available"]),
        ("available but unusable", not facts["computes"]),
        ("fine", True),
    ]
    return next(name for name, holds in rules if holds)
""",
        "match": """
def root_cause(facts):
    match facts:
        case {"system": "Linux", "kernel": kernel} if "linuxkit" in kernel:
            return "container on a Mac"
        case {"system": "Linux" | "Windows"}:
            return "not a Mac"
        case {"machine": "x86_64", "apple_chip": True}:
            return "Intel Python on an Apple chip"
        case {"machine": "x86_64"}:
            return "Intel Mac"
        case {"available": False}:
            return "MPS is off"
        case {"computes": False}:
            return "available but unusable"
    return "fine"
""",
        "elif, unpacked": """
def root_cause(facts):
    system, machine, apple, kernel, available, computes = (
        facts[k] for k in ("system", "machine", "apple_chip", "kernel", "available", "computes")
    )
    if system == "Linux" and "linuxkit" in kernel:
        answer = "container on a Mac"
    elif system != "Darwin":
        answer = "not a Mac"
    elif machine != "arm64":
        answer = ("Intel Mac", "Intel Python on an Apple chip")[apple]
    elif not available:
        answer = "MPS is off"
    elif not computes:
        answer = "available but unusable"
    else:
        answer = "fine"
    return answer
""",
        "an enum of text": """
from enum import StrEnum
import re
def root_cause(facts):
    class Cause(StrEnum):
        CONTAINER = "container on a Mac"
        OTHER = "not a Mac"
        ROSETTA = "Intel Python on an Apple chip"
        INTEL = "Intel Mac"
        OFF = "MPS is off"
        UNUSABLE = "available but unusable"
        FINE = "fine"
    if facts["system"] == "Linux" and re.search("linuxkit", facts["kernel"]):
        return Cause.CONTAINER
    if facts["system"] != "Darwin":
        return Cause.OTHER
    if facts["machine"] == "x86_64":
        return Cause.ROSETTA if facts["apple_chip"] else Cause.INTEL
    if not facts["available"]:
        return Cause.OFF
    return Cause.FINE if facts["computes"] else Cause.UNUSABLE
""",
    },
    "ex02-task2": {
        "padded lists": """
def newest_torch_for(macos):
    def parse(text):
        parts = list(map(int, text.split(".")))
        while len(parts) < 3:
            parts.append(0)
        return parts
    answer = None
    for release in NEEDS:
        if parse(macos) >= parse(NEEDS[release]):
            answer = release
    return answer
""",
        "packaging": """
from packaging.version import Version
def newest_torch_for(macos):
    fit = [release for release in NEEDS if Version(NEEDS[release]) <= Version(macos)]
    return str(max(map(Version, fit))) if fit else None
""",
        "from the newest down": """
def newest_torch_for(macos):
    have = [int(part) for part in macos.split(".")] + [0, 0]
    for release, needed in reversed(NEEDS.items()):
        major, minor = needed.split(".")
        if (have[0], have[1]) >= (int(major), int(minor)):
            return release
""",
        "a number of each version": """
def newest_torch_for(macos):
    def number(text):
        major, minor, *_ = (text + ".0").split(".")
        return int(major) * 1000 + int(minor)
    possible = list(filter(lambda item: number(item[1]) <= number(macos), NEEDS.items()))
    return possible[-1][0] if possible else None
""",
        "zip_longest": """
from itertools import zip_longest
def newest_torch_for(macos):
    def at_least(have, needed):
        for a, b in zip_longest(have.split("."), needed.split("."), fillvalue="0"):
            if int(a) != int(b):
                return int(a) > int(b)
        return True
    fit = [release for release, needed in NEEDS.items() if at_least(macos, needed)]
    return fit.pop() if fit else None
""",
        "sorted with a key": """
import numpy as np
def newest_torch_for(macos):
    key = lambda text: tuple(np.array((text.split(".") + ["0", "0"])[:3], dtype=int))
    fit = sorted((r for r in NEEDS if key(NEEDS[r]) <= key(macos)), key=key)
    return fit[-1] if len(fit) else None
""",
    },
    "ex02-task3": {
        "a regular expression": """
import re
def wheel_fits(filename, python, macos, machine):
    found = re.fullmatch(r".+-cp(3)([0-9]+)-[^-]+-macosx_([0-9]+)_([0-9]+)_(arm64|x86_64).whl", filename)
    if found is None:
        return False
    if f"{found[1]}.{found[2]}" != python or found[5] != machine:
        return False
    have = [int(n) for n in macos.split(".")] + [0]
    return have[:2] >= [int(found[3]), int(found[4])]
""",
        "packaging's parts": """
def wheel_fits(filename, python, macos, machine):
    tag_python, _, platform = filename[:-4].split("-")[-3:]
    if tag_python != "cp{}{}".format(*python.split(".")):
        return False
    if platform[:7] != "macosx_" or not platform.endswith("_" + machine):
        return False
    needed = platform[len("macosx_"):-len("_" + machine)].split("_")
    return [int(n) for n in macos.split(".")[:2]] >= [int(n) for n in needed]
""",
        "early returns": """
def wheel_fits(filename, python, macos, machine):
    parts = filename.replace(".whl", "").split("-")
    platform = parts[4]
    if platform.split("_")[0] != "macosx":
        return False
    if parts[2] != "cp" + "".join(python.split(".")):
        return False
    if "_".join(platform.split("_")[3:]) != machine:
        return False
    major, minor = platform.split("_")[1:3]
    mine_major, mine_minor = macos.split(".")[0:2]
    if int(mine_major) > int(major):
        return True
    return int(mine_major) == int(major) and int(mine_minor) >= int(minor)
""",
        "all of a list": """
from packaging.version import Version
def wheel_fits(filename, python, macos, machine):
    *_, tag, abi, platform = filename.removesuffix(".whl").split("-")
    system, _, rest = platform.partition("_")
    major, _, rest = rest.partition("_")
    minor, _, architecture = rest.partition("_")
    return system == "macosx" and all([
        tag == "cp" + python.replace(".", ""),
        architecture == machine,
        Version(macos) >= Version(f"{major}.{minor}"),
    ])
""",
        "try": """
def wheel_fits(filename, python, macos, machine):
    try:
        name, version, py, abi, plat = filename.removesuffix(".whl").split("-")
        prefix, major, minor, arch = plat.split("_", 3)
        needed = int(major) * 100 + int(minor)
    except ValueError:
        return False
    have = macos.split(".")
    return bool(
        prefix == "macosx"
        and py == "cp" + python.replace(".", "")
        and arch == machine
        and int(have[0]) * 100 + int(have[1]) >= needed
    )
""",
    },
    "ex02-task4": {
        "a table": """
def where_to_run(needs):
    table = {
        frozenset(): "native", frozenset({"mps"}): "native", frozenset({"linux"}): "container",
        frozenset({"mps", "linux"}): "impossible together",
    }
    return table.get(frozenset(needs), "another machine")
""",
        "three flags": """
def where_to_run(needs):
    mps, cuda, linux = (name in needs for name in ("mps", "cuda", "linux"))
    if cuda:
        return "another machine"
    if mps and linux:
        return "impossible together"
    if linux:
        return "container"
    return "native"
""",
        "match on the sorted needs": """
def where_to_run(needs):
    match sorted(needs):
        case ["cuda", *_]:
            return "another machine"
        case ["linux", "mps"]:
            return "impossible together"
        case ["linux"]:
            return "container"
        case _:
            return "native"
""",
        "from the last line up": """
def where_to_run(needs):
    answer = "native"
    if "linux" in needs:
        answer = "container"
    if needs >= {"linux", "mps"}:
        answer = "impossible together"
    if not needs.isdisjoint({"cuda"}):
        answer = "another machine"
    return answer
""",
        "one expression": """
def where_to_run(needs):
    return (
        "another machine" if "cuda" in needs
        else "impossible together" if len({"mps", "linux"} & needs) == 2
        else "container" if needs == {"linux"} else "native"
    )
""",
    },
    "ex02-task5": {
        "torch.testing": """
def computes(device):
    try:
        a, b = torch.rand(8, 5), torch.rand(5, 6)
        torch.testing.assert_close(torch.mm(a.to(device), b.to(device)).cpu(), a @ b)
    except Exception:
        return False
    return True
""",
        "einsum and the largest difference": """
def computes(device):
    x = torch.randn(4, 4)
    try:
        y = torch.einsum("ij,jk->ik", x.to(device), x.to(device)).to("cpu")
    except BaseException:
        return False
    return bool((y - x @ x).abs().max() < 1e-4)
""",
        "lists compared": """
def computes(device):
    rows = [[1.0, 2.0], [3.0, 4.0]]
    right = (torch.tensor(rows) @ torch.tensor(rows)).tolist()
    try:
        there = torch.tensor(rows, device=device)
        return torch.matmul(there, there).tolist() == right
    except Exception as error:
        print(f"{device}: {type(error).__name__}")
        return False
""",
        "a linear layer": """
from torch import nn
def computes(device):
    layer, x = nn.Linear(6, 3), torch.rand(2, 6)
    with torch.no_grad():
        right = layer(x)
        try:
            answer = layer.to(device)(x.to(device)).cpu()
        except Exception:
            return False
        return torch.isclose(answer, right, rtol=1e-3, atol=1e-5).all().item()
""",
        "whole numbers, exactly": """
def computes(device):
    x = torch.randint(1, 9, (5, 5)).float()
    try:
        answer = (x.to(device) @ x.to(device)).cpu()
        ok = torch.equal(answer, x @ x)
    except (RuntimeError, AssertionError, NotImplementedError, TypeError, ValueError):
        ok = False
    return ok
""",
        "NumPy compares": """
import numpy as np
def computes(device):
    a = torch.eye(3) + 2
    try:
        d = torch.device(device)
        return bool(np.allclose((a.to(d) @ a.to(d)).cpu().numpy(), (a @ a).numpy(), atol=1e-5))
    except Exception:
        return False
""",
    },
}
