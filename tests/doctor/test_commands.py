"""Commands that are advised can work on the machine at hand, and run nothing that a snapshot's text holds."""

import dataclasses
import itertools
import os
import random
import shutil
import subprocess
import typing

import pytest
from support.command_checks import problems
from support.described_machines import INTEL_MAC, MAC, NO_TORCH, ROSETTA, linux, mac
from support.found import found
from support.reported_machines import MACHINES

from course_utils.doctor import Snapshot, TorchCopy, Variable, diagnose

KINDS = ("venv", "uv", "conda", "system", None)


def advised(snapshot):
    """List what is advised for a machine: code and command."""
    return [(finding.code, finding.command) for finding in diagnose(snapshot) if finding.command is not None]


def all_advised(snapshots):
    """List what is advised for many machines: the machine, code and command."""
    return [(snapshot, code, command) for snapshot in snapshots for code, command in advised(snapshot)]


def test_a_command_can_work_on_the_machine():
    """No command needs a program, a wheel or a variable that the described machine lacks; notebook or shell."""
    varied = (
        dataclasses.replace(machine.snapshot, in_notebook=in_notebook)
        for machine in MACHINES
        for in_notebook in (machine.snapshot.in_notebook, True, False)
    )
    for snapshot, code, command in found(all_advised(varied)):
        assert problems(command, snapshot) == [], (code, command, snapshot)


def test_it_can_work_in_every_kind_of_environment():
    """The same trouble in an environment of another tool and with another Python."""
    varied = (
        dataclasses.replace(machine.snapshot, environment_kind=kind, externally_managed=kind == "system", python=python)
        for machine in MACHINES
        for kind, python in itertools.product(KINDS, (machine.snapshot.python, "3.9.6", "3.13.1", "3.15.0"))
    )
    for snapshot, code, command in found(all_advised(varied)):
        assert problems(command, snapshot) == [], (code, command, snapshot)


def test_the_check_knows_commands_that_cannot_work():
    """The check itself finds each kind of command that cannot work."""
    bad = (
        ("softwareupdate --list", linux()),
        ("uv pip install numpy", mac()),
        ("arch -arm64 python3 -m venv .venv", mac(**INTEL_MAC)),
        ("python -m pip install torch==2.14.1", mac(**ROSETTA)),
        ("python -m pip install torch==2.2.2", mac(**INTEL_MAC, python="3.13.1")),
        ('python -m pip install "torch>=2.9,<2.15"', mac(**NO_TORCH, os_version="13.6", kernel="22.6.0")),
        ("python -m pip install torch==2.14.1", mac(python="3.15.0")),
        ("python -m pip install torch==2.14.1 torchvision==0.24.0", mac()),
        ("unset COURSE_DEVICE", mac()),
        ("%env A=1", mac(in_notebook=False)),
        ("rm -r .venv && make lab", mac(prefix="/usr")),
        ("make lab", linux(system="Windows")),
        ("frobnicate", mac()),
    )
    assert [command for command, snapshot in bad if not problems(command, snapshot)] == []


HOSTILE = (
    "'; : > taken; '",
    "$(: > taken)",
    "`: > taken`",
    "1; : > taken",
    "x && : > taken",
    'a" ; : > taken; "',
    "~/$(: > taken)/.venv/bin/python",
    "/x/'; : > taken; '/bin/python",
    "UV_X; : > taken =https://download.pytorch.org/whl/cu128",
    "a;: > taken=https://download.pytorch.org/whl/mps",
    "/a/'; : > taken; '/torch.py",
    "/a;: > taken/torch/__init__.py",
    "3.12; : > taken",
)


def poisoned(snapshot, text, chance):
    """Replace some of a snapshot's texts by one that would write a file if a shell ran it."""
    changes = {}
    for name, kind in typing.get_type_hints(Snapshot).items():
        if kind == (str | None) and name not in ("system", "machine") and chance.random() < 0.5:
            changes[name] = text
    changes["variables"] = tuple(
        Variable(variable.name, text if chance.random() < 0.7 else variable.value, variable.before_torch)
        for variable in snapshot.variables or ()
    )
    changes["package_indexes"] = chance.choice([snapshot.package_indexes, (text,), (f"global.index-url={text}",)])
    changes["torch_copies"] = chance.choice([None, (TorchCopy(text, text, "PYTHONPATH"),)])
    return dataclasses.replace(snapshot, **changes)


@pytest.mark.skipif(shutil.which("bash") is None, reason="runs the commands in bash")
def test_no_text_of_a_snapshot_runs_in_the_readers_shell(tmp_path):
    """Commands are run for real, with no program to be found: nothing that came with the snapshot is carried out."""
    chance = random.Random(20261202)
    commands = set()
    for machine in MACHINES:
        for text in chance.sample(HOSTILE, 3):
            commands |= {command for _, command in advised(poisoned(machine.snapshot, text, chance))}
    shell = [command for command in commands if not command.startswith(("%", "import os;"))]

    assert len(shell) > 50
    # a part that cannot be parsed ends bash, so each command has a bash of its own, one call for all
    script = "\n".join(f"(eval {quote_for_test(command)}) < /dev/null" for command in shell)
    (tmp_path / "home").mkdir()
    subprocess.run(
        [shutil.which("bash"), "-c", script],
        cwd=tmp_path,
        env={"PATH": str(tmp_path / "nothing"), "HOME": str(tmp_path / "home")},
        capture_output=True,
        check=False,
    )
    assert os.listdir(tmp_path) == ["home"]
    for command in commands - set(shell):
        assert "taken" not in command


def quote_for_test(command):
    """Quote for bash, independently of the code under test."""
    return "'" + command.replace("'", "'\\''") + "'"


def test_the_shell_check_sees_what_runs(tmp_path):
    """An unquoted text does write the file: the check above can fail."""
    subprocess.run(["bash", "-c", f"(eval {quote_for_test('unset A; : > taken')})"], cwd=tmp_path, check=True)
    assert os.listdir(tmp_path) == ["taken"]


def test_a_healthy_mac_gets_no_command():
    """Where nothing is wrong nothing is advised."""
    assert advised(MAC) == []
