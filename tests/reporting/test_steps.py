"""A step's processes end with it: at its own end, at its time limit, and when who asked for it is stopped or killed.

All processes of a step hold a named pipe open, so that its end says that the last of them has ended.
"""

import os
import secrets
import select
import signal
import subprocess
import sys
from contextlib import contextmanager
from threading import Thread

import pytest
from support.paths import ROOT

from course_utils.reporting import keeper
from course_utils.reporting.steps import Step, run_step

# a failing test ends, too
PATIENCE_S = 60
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
# each writes a letter into the pipe once it runs: the step itself, its child, one with a session of its own, and one
# that lost its parent and has a session of its own
STEP = """
import os, signal, sys
pipe = os.open(sys.argv[1], os.O_WRONLY)

def report(letter):
    os.write(pipe, letter)

# a signal that comes before the wait for it is not lost
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])

def stay():
    signal.sigwait([signal.SIGINT])
    raise KeyboardInterrupt

if os.fork() == 0:
    report(b"c")
    stay()
if os.fork() == 0:
    os.setsid()
    report(b"s")
    stay()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        report(b"o")
        stay()
    os._exit(0)
report(b"l")
"""
STAYS = "stay()\n"
IS_DEAF = "report(b'd')\nos.dup2(os.pipe()[0], 0)\nos.read(0, 1)\n"
# a step that is asked to end writes what it has
WRITES_WHAT_IT_HAS = """
try:
    stay()
except KeyboardInterrupt:
    print("what it has")
    sys.exit(2)
"""
CALLER = """
import pathlib, sys
from course_utils.reporting.steps import Step, run_step
run_step(Step("one", "stays", tuple(sys.argv[2:])), pathlib.Path(sys.argv[1]))
"""


class Pipe:
    """The reading end of the pipe that the processes of a step hold."""

    def __init__(self, path):
        os.mkfifo(path)
        self.path = path
        self.descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def read(self):
        """Return the next bytes; nothing when no process holds the pipe any more."""
        ready, _, _ = select.select([self.descriptor], [], [], PATIENCE_S)
        assert ready, "a process still lives"
        return os.read(self.descriptor, 100)

    def read_letters(self, letters):
        """Wait for these letters, in any order."""
        seen = b""
        while len(seen) < len(letters):
            seen += self.read()
        assert sorted(seen) == sorted(letters)

    def rest(self):
        """Wait until the last process has ended; return what they wrote."""
        seen = b""
        while new := self.read():
            seen += new
        return seen


@pytest.fixture
def pipe(tmp_path):
    """Return a pipe for the processes of a step."""
    made = Pipe(tmp_path / "pipe")
    yield made
    os.close(made.descriptor)


@contextmanager
def running(folder, pipe):
    """Run a step in a process that is to be stopped; yield it when all of the step's processes run."""
    words = [sys.executable, "-c", CALLER, str(folder), sys.executable, "-c", STEP + STAYS, str(pipe.path)]
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, start_new_session=True) as caller:
        pipe.read_letters(b"lcso")
        yield caller


def step(pipe, then, **options):
    """Return a step with its processes."""
    return Step("one", "stays", (sys.executable, "-c", STEP + then, str(pipe.path)), **options)


@pytest.mark.parametrize(
    "how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda how: how.name
)
def test_nothing_outlives_who_asked(tmp_path, pipe, how):
    """Ctrl-C, a closed terminal and a kill end all that a step started, wherever it went."""
    with running(tmp_path, pipe) as caller:
        os.killpg(caller.pid, how)
        assert pipe.rest() == b""
        assert caller.wait() == -how


def test_a_step_that_does_not_listen_ends_too(pipe, monkeypatch):
    """What ignores Ctrl-C is killed when its patience is over."""
    monkeypatch.setattr(keeper, "ASK_PATIENCE_S", 0.1)
    monkeypatch.setenv(keeper.MARK, secrets.token_hex(8))
    life, held = os.pipe()

    def let_go():
        pipe.read_letters(b"lcsod")
        os.close(held)

    reader = Thread(target=let_go)
    reader.start()
    ended = keeper.keep([sys.executable, "-c", STEP + IS_DEAF, str(pipe.path)], life, PATIENCE_S)
    reader.join()
    os.close(life)
    assert pipe.rest() == b""
    assert ended == keeper.Kept(-signal.SIGKILL, timed_out=False)


@pytest.mark.parametrize("code", [0, 3])
def test_nothing_outlives_a_step(tmp_path, pipe, code):
    """A step that ends by itself leaves nothing behind, and its exit code is its own."""
    ended = run_step(step(pipe, f"sys.exit({code})\n"), tmp_path)

    assert (ended.code, ended.answered, ended.timed_out) == (code, code == 0, False)
    pipe.rest()


def test_the_time_limit(tmp_path, pipe):
    """At its limit a step is asked to end, keeps what it has written, and nothing of it lives."""
    ended = run_step(step(pipe, WRITES_WHAT_IT_HAS, limit_s=3.0, answers=(0, 2)), tmp_path)

    assert (ended.timed_out, ended.answered, ended.words) == (True, False, "stopped at its time limit")
    assert pipe.rest()
    assert (tmp_path / "one.txt").read_text(encoding="utf-8") == "what it has\n"


def test_the_keeper_itself_is_killed(tmp_path, pipe):
    """Where the process in between is killed, the one that asked ends the rest."""
    kills = "os.kill(os.getppid(), signal.SIGKILL)\nstay()\n"
    ended = run_step(step(pipe, kills), tmp_path)

    assert (ended.code, ended.answered) == (-signal.SIGKILL, False)
    pipe.rest()


def test_a_command_that_does_not_exist(tmp_path):
    """It fails as in a shell, with a sentence in the step's file."""
    ended = run_step(Step("one", "nothing", (str(tmp_path / "nothing"),)), tmp_path)

    assert ended.code == 127
    assert "cannot be started" in (tmp_path / "one.stderr.txt").read_text(encoding="utf-8")
    assert ended.words == "failed (exit code 127)"
