"""torch's pool of threads is renewed in each fork, before a second thread can use it."""

import subprocess
import sys

# what a fork does by itself, before any code of its own: how many threads it has, and what it asks torch for
IN_A_FORK = """
import os, threading
from course_utils.sandbox.template import load_all

load_all(["torch"])
load_all(["torch"])
import torch

asked, ask = [], torch.set_num_threads
torch.set_num_threads = lambda number: (asked.append((number, threading.active_count())), ask(number))
child = os.fork()
if child == 0:
    print(asked, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(asked)
"""


def test_a_fork_renews_the_pool_with_one_thread():
    """It does so once, as long as it has one thread, and the process that forks does not."""
    done = subprocess.run([sys.executable, "-c", IN_A_FORK], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[(1, 1)]", "[]"]
