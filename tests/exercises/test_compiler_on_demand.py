"""torch's compiler is loaded by what asks for it, and by nothing else; whoever asks gets all of it."""

import json
import subprocess
import sys

from course_utils.exercises.compiler_on_demand import COMPILER

START = """
import sys
from course_utils.exercises.compiler_on_demand import put_off_compiler

put_off_compiler()
import torch

weight = torch.nn.Parameter(torch.zeros(1))
weight.grad = torch.ones(1)
step = torch.optim.SGD([weight], lr=0.5).step

def loaded():
    return "torch._dynamo.config" in sys.modules
"""

STEPS = """
import inspect, pickle

step()
optimizer = torch.optim.AdamW([weight])
optimizer.step()
optimizer.load_state_dict(pickle.loads(pickle.dumps(optimizer.state_dict())))
assert inspect.getmodule(step) is not None  # asks all modules for fields of theirs
assert sys.modules["torch._dynamo"].__name__ == "torch._dynamo"
assert not loaded()
assert weight.item() != 0.0
"""

WAYS_TO_ASK = {
    "an attribute": "torch._dynamo.config.suppress_errors = True\nassert torch._dynamo.config.suppress_errors",
    "a module below": "import torch._dynamo.config as config\nassert config.__spec__.origin == config.__file__",
    "a module that the start does not load": "import torch._dynamo.profiler as below\nassert below.__spec__",
    "a field that is set": "torch._dynamo.marked = 1\nimport torch._dynamo.config\nassert torch._dynamo.marked == 1",
    "a function that is not compiled": "assert torch._dynamo.disable(lambda x: x, reason='none')(3) == 3",
    "the optimizer's step, compiled": "torch.compile(step, backend='eager')()\nassert weight.item() == -1.0",
    "an export": "assert torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)).module()",
}


# each way in a fork of one process that has made a step
IN_FORKS = """
import json, os, traceback

step()
assert not loaded()
failed = {}
for name, way in json.loads(sys.argv[1]).items():
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            exec(way, {"sys": sys, "torch": torch, "step": step, "weight": weight})
            assert loaded() and type(sys.modules["torch._dynamo"]) is type(sys) and torch._dynamo.optimize
            os.write(writing, b"right")
        except BaseException:
            os.write(writing, traceback.format_exc()[-2000:].encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as told:
        failed[name] = told.read()
print(json.dumps(failed))
"""


def run(code, *arguments):
    """Run code in a fresh process; return what it printed."""
    command = [sys.executable, "-c", code, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_optimizers_do_without():
    """Steps, state dicts and tools that ask every module for its fields load nothing of it."""
    assert run(START + STEPS) == ""


def test_who_asks_gets_it():
    """After steps that did without, each way to ask for the compiler loads all of it."""
    told = json.loads(run(START + IN_FORKS, json.dumps(WAYS_TO_ASK)))
    assert told == dict.fromkeys(WAYS_TO_ASK, "right")


def test_loaded_already():
    """Where the compiler is there already, nothing changes."""
    code = "import sys, torch._dynamo as before\n" + START
    assert run(f"{code}\nassert sys.modules[{COMPILER!r}] is before and type(before) is type(sys)") == ""
