"""The sandbox: which one, what it shows and hides, and that there is no silent way around it."""

import ast
import os
import subprocess
import sys
from dataclasses import replace

import psutil
import pytest
from support import small_exercise
from support.sandbox_here import needs_sandbox

from course_utils.grading.checking.engine import Grader
from course_utils.sandbox import sandbox, seatbelt, shared_template, starters
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.process_tree import _from_proc, _with_psutil, read_usage
from course_utils.sandbox.sandbox import Sandbox, SandboxError, choose_sandbox
from course_utils.sandbox.syscall_filter import write_filter

pytestmark = pytest.mark.slow


def test_no_sandbox_is_refused(monkeypatch):
    """Without bubblewrap nothing is graded, and the message says what to install and what --unsafe means."""
    monkeypatch.setattr(sandbox, "find_bubblewrap", lambda: None)

    with pytest.raises(SandboxError, match=r"apt-get install bubblewrap.*--unsafe"):
        choose_sandbox("/w", unsafe=False, system="linux")


def test_other_systems_are_refused():
    """A system that has neither sandbox is named."""
    with pytest.raises(SandboxError, match="win32"):
        choose_sandbox("/w", unsafe=False, system="win32")


def test_unsafe_is_asked_for_and_said():
    """--unsafe runs without a sandbox, and its name says so."""
    assert choose_sandbox("/w", unsafe=True).name == "none (--unsafe)"


def words_of(prefix, flag):
    """Return what follows each use of a flag."""
    return [prefix[place + 1] for place, word in enumerate(prefix) if word == flag]


def test_bubblewrap_shuts_everything():
    """All namespaces are unshared, the environment is emptied, and nothing is bound writable."""
    prefix = choose_sandbox("/w", unsafe=False, system="linux", bubblewrap="/usr/bin/bwrap").prefix

    for flag in ("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"):
        assert flag in prefix
    # where submissions get user namespaces of their own, the filter of system calls keeps code from making more
    assert ("--disable-userns" in prefix) == (write_filter() is None)
    assert "--clearenv" in prefix
    assert not {"--bind", "--dev-bind", "--share-net"} & set(prefix)
    assert words_of(prefix, "--cap-add") == ["CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SYS_PTRACE"]


def test_the_course_is_hidden_below_a_folder_that_is_shown(monkeypatch, tmp_path):
    """A course that lies below a shown folder is covered, its own Python is shown again."""
    monkeypatch.setattr(sandbox, "PACKAGE", tmp_path / "course" / "course_utils")
    shown = (str(tmp_path), str(tmp_path / "course" / ".venv"))
    prefix = sandbox.bubblewrap_arguments("bwrap", shown, {}, (str(tmp_path / "course"),))

    covered = [
        place for place, word in enumerate(prefix) if prefix[place - 1 : place + 1] == ("--tmpfs", shown[0] + "/course")
    ]
    again = [place for place, word in enumerate(prefix) if word == shown[1]]
    assert covered
    assert covered[0] < again[-1]


def test_a_python_below_tmp_keeps_tmp_read_only():
    """Where Python lies below /tmp, that folder is shared between submissions and so nobody writes there."""
    assert "/tmp" in sandbox.scratch_folders(("/usr",))
    assert "/tmp" not in sandbox.scratch_folders(("/tmp/a/b",))


@needs_sandbox
def test_a_sandbox_that_does_not_start_says_why(monkeypatch):
    """When bubblewrap fails, its own last line is in the message."""
    words = (sandbox.find_bubblewrap(), "--no-such-flag")
    broken = Sandbox("bubblewrap", words, {}, "/course", ("/student",), forks=True)

    with pytest.raises(SandboxError, match="no-such-flag"):
        starters.make_starter(broken, [])


@needs_sandbox
@pytest.mark.parametrize("kind", ["prestarted in bubblewrap", "prestarted without", "forked without"])
def test_every_way_to_start_grades_alike(kind, monkeypatch, tmp_path):
    """Interpreters started ahead (as on a Mac) and runs without a sandbox give the same points."""
    chosen = choose_sandbox(str(tmp_path), unsafe="without" in kind)
    # without a fork there are no namespaces of its own: the folder is the interpreter's alone
    ways = {"prestarted": replace(chosen, scratch=(), forks=False, syscall_filter=None)}
    monkeypatch.setattr(
        "course_utils.grading.checking.engine.choose_sandbox", lambda *_, **__: ways.get(kind.split()[0], chosen)
    )
    death = {"ex90-task3": "import os\ndef longest(words):\n    os._exit(4)"}
    hang = {"ex90-task2": "def square(x):\n    while True:\n        pass"}
    with Grader(small_exercise.assignment(), Limits(task_s=2)) as grader:
        results = [grader.grade(small_exercise.submission(code)) for code in ({}, death, hang)]

    assert [result.points for result in results] == [10, 8, 8]
    assert [str(result.reason) for result in results] == ["ok", "crashed", "timeout"]
    assert results[1].tasks[2].message == "your code ended its own process (exit status 4)"
    assert bool(results[0].warnings) == ("without" in kind)


def test_the_mac_profile_denies_first_and_allows_the_gpu():
    """The profile denies by default, names no network, and allows what Metal needs and the scratch folder."""
    text = seatbelt.profile(readable=["/opt/python"], writable=["/private/tmp/work"])

    assert text.startswith("(version 1)\n(deny default)")
    assert "network" not in text
    assert "AGXDeviceUserClient" in text
    assert "com.apple.MTLCompilerService" in text
    assert '(allow file-write* (subpath "/private/tmp/work"))' in text
    assert "/Users" not in text


@pytest.mark.parametrize("path", ['/a"b', "/a\\b", "/a\nb"])
def test_a_path_cannot_leave_its_quotes(path):
    """A path that would end its own quotes is refused."""
    with pytest.raises(ValueError, match="plainer path"):
        seatbelt.profile(readable=[path], writable=[])


def test_a_mac_uses_its_own_sandbox():
    """On a Mac each submission is an interpreter of its own in sandbox-exec, not a fork."""
    chosen = choose_sandbox("/private/tmp/w", unsafe=False, system="darwin")

    assert chosen.name == "sandbox-exec"
    assert chosen.prefix[:2] == ("/usr/bin/sandbox-exec", "-p")
    assert not chosen.forks


def test_a_mac_is_given_real_places(tmp_path):
    """The profile of a Mac names the folder that a link leads to, since it does not follow links."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    chosen = choose_sandbox(str(tmp_path / "link"), unsafe=False, system="darwin")

    assert f'(allow file-write* (subpath "{tmp_path / "real"}"))' in chosen.prefix[2]
    assert chosen.environment["HOME"] == str(tmp_path / "real")


def test_the_command_ignores_the_readers_python_settings():
    """Student code's Python looks at no environment variable and no current folder."""
    command = choose_sandbox("/w", unsafe=True).command("main", 7)

    assert command[:2] == [sys.executable, "-I"]
    assert command[-1] == "7"


def test_both_ways_find_the_same_processes():
    """Children and their children are found from /proc and by psutil, each with memory."""
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as child:
        while len(psutil.Process(child.pid).children()) == 0:
            assert child.poll() is None
        ways = [_from_proc(child.pid), _with_psutil(child.pid)]
        child.communicate()

    assert sorted(ways[0].processes) == sorted(ways[1].processes)
    assert len(ways[0].processes) == 2
    assert all(way.memory_bytes > 2**20 for way in ways)


def test_usage_of_this_process():
    """This process is found, with memory of its own; one that is not there has nothing."""
    assert os.getpid() in read_usage(os.getpid()).processes
    assert read_usage(os.getpid()).memory_bytes > 0
    assert read_usage(2**22 + 1).processes == ()


def test_nothing_is_left_running_without_a_sandbox():
    """A submission that runs with --unsafe leaves no process behind either, however detached."""
    source = """
import os, time
def add(a, b):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        grandchild = os.fork()
        if grandchild == 0:
            time.sleep(1000)
        os.write(writing, str(grandchild).encode())
        os._exit(0)
    os.wait()
    return os.read(reading, 20).decode()
"""
    with Grader(small_exercise.assignment(), Limits(task_s=20), unsafe=True) as grader:
        result = grader.grade(small_exercise.submission({"ex90-task1": source}))
    process = int(ast.literal_eval(result.tasks[0].checks[0].yours.split(",")[0]))

    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@needs_sandbox
def test_workers_share_one_template(tmp_path):
    """Several workers get forks of one template; one whose fork ends starts a template of its own."""
    chosen = choose_sandbox(str(tmp_path), unsafe=False)
    here = psutil.Process()
    before = len(here.children())
    template = shared_template.SharedTemplate(chosen, ["json"])
    both = [starters.make_starter(chosen, ["json"], template.connect()) for _ in range(2)]
    try:
        for starter in (*both, both[0]):
            starter.start(Limits()).close()
        assert len(here.children()) == before + 1
        template.close()
        assert len(here.children()) == before
        both[1].start(Limits()).close()
        assert len(here.children()) == before + 1
    finally:
        for starter in both:
            starter.close()
