"""Ways to write one task that is measured on the emulated device: honest ones, and those that forge the count.

The task is `total(x, steps)`: the sum of `x + steps`, read once, at the end.
"""

HONEST = {
    "plain": """
def total(x, steps):
    for _ in range(steps):
        x = x + 1
    return x.sum().item()
""",
    "a class": """
class Summer:
    def __init__(self, n):
        self.n = n
    def __call__(self, x):
        for _ in range(self.n):
            x += 1
        return x.sum().item()
def total(x, steps):
    return Summer(steps)(x)
""",
    "a callable object": """
class Total:
    def __call__(self, x, steps):
        return (x + steps).sum().item()
total = Total()
""",
    "a lambda": """
total = lambda x, steps: (x + steps).sum().item()
""",
    "no gradient": """
import torch
@torch.no_grad()
def total(x, steps):
    return (x + steps).sum().item()
""",
    "inference mode": """
import torch
def total(x, steps):
    with torch.inference_mode():
        return (x + steps).sum().item()
""",
    "autocast": """
import torch
def total(x, steps):
    with torch.autocast('mps', dtype=torch.float16):
        return (x + steps).sum().item()
""",
    "float()": """
def total(x, steps):
    return float((x + steps).sum())
""",
    "tolist": """
def total(x, steps):
    return sum((x + steps).tolist())
""",
    "to the host": """
def total(x, steps):
    return (x + steps).cpu().sum().item()
""",
    "numpy": """
import numpy as np
def total(x, steps):
    return float(np.sum((x + steps).cpu().numpy()))
""",
    "numpy, which refuses, then by way of the host": """
import numpy as np
def total(x, steps):
    try:
        return float((x + steps).numpy().sum())
    except TypeError:
        return float(np.sum((x + steps).cpu().numpy()))
""",
    "a truth value that is none": """
def total(x, steps):
    try:
        assert x
    except RuntimeError:
        pass
    return (x + steps).sum().item()
""",
    "recursion": """
def grow(x, steps):
    return x if not steps else grow(x + 1, steps - 1)
def total(x, steps):
    return grow(x, steps).sum().item()
""",
    "a generator": """
def grown(x, steps):
    for _ in range(steps):
        x = x + 1
        yield x
def total(x, steps):
    *_, last = grown(x, steps)
    return last.sum().item()
""",
    "a progress bar": """
from tqdm import tqdm
def total(x, steps):
    for _ in tqdm(range(steps)):
        x = x + 1
    return x.sum().item()
""",
    "a pool": """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
def total(x, steps):
    more = sum(pool.map(int, [1] * steps))
    return (x + more).sum().item()
""",
    "threads that are waited for": """
import threading
def total(x, steps):
    seen = []
    for n in range(steps):
        t = threading.Thread(target=seen.append, args=(n,))
        t.start()
        t.join()
    return (x + len(seen)).sum().item()
""",
    "logging": """
import logging
def total(x, steps):
    logging.getLogger('mine').warning('steps %d', steps)
    return (x + steps).sum().item()
""",
    "an exception printed": """
import traceback
def total(x, steps):
    try:
        1 / 0
    except ZeroDivisionError:
        traceback.print_exc()
    return (x + steps).sum().item()
""",
    "a warning": """
import warnings
def total(x, steps):
    warnings.warn('slow')
    return (x + steps).sum().item()
""",
    "garbage collected": """
import gc
def total(x, steps):
    gc.collect()
    return (x + steps).sum().item()
""",
    "its own signature": """
import inspect
def total(x, steps):
    assert len(inspect.signature(total).parameters) == 2
    return (x + steps).sum().item()
""",
    "named tuples and enums": """
from collections import namedtuple
from enum import Enum
def total(x, steps):
    P = namedtuple('P', 'a b')
    E = Enum('E', 'ONE')
    return (x + P(steps, E.ONE).a).sum().item()
""",
    "time and printing": """
import time
def total(x, steps):
    start = time.perf_counter()
    out = (x + steps).sum().item()
    print(f'{time.perf_counter() - start:.3f} s', x.shape)
    return out
""",
    "a module": """
from torch import nn
class Plus(nn.Module):
    def forward(self, x):
        return x + 1
def total(x, steps):
    return nn.Sequential(*(Plus() for _ in range(steps)))(x).sum().item()
""",
    "a gradient": """
def total(x, steps):
    y = x.detach().clone().requires_grad_()
    (y * steps).sum().backward()
    return (x + y.grad).sum().item()
""",
    "a hook": """
from torch import nn
def total(x, steps):
    seen = []
    layer = nn.Identity()
    layer.register_forward_hook(lambda m, a, out: seen.append(out.shape))
    return (layer(x) + steps).sum().item()
""",
    "a context manager": """
from contextlib import contextmanager
@contextmanager
def quiet():
    yield
def total(x, steps):
    with quiet():
        return (x + steps).sum().item()
""",
    "a seed": """
import torch, random
def total(x, steps):
    torch.manual_seed(0)
    random.seed(1)
    return (x + steps).sum().item()
""",
    "memoised": """
from functools import cache
@cache
def plus(n):
    return n
def total(x, steps):
    return (x + plus(steps)).sum().item()
""",
    "synchronized": """
import torch
def total(x, steps):
    out = (x + steps).sum()
    return out.item()
sum_of = total
""",
    "its own sum": """
def sum(x):
    return x.sum()
def total(x, steps):
    return sum(x + steps).item()
""",
    "an import inside": """
def total(x, steps):
    import torch.nn.functional as F
    from course_utils.emulation import emulated_mps
    from course_utils import audit
    return F.relu(x + steps).sum().item()
""",
    "async": """
import asyncio
async def work(x, steps):
    return (x + steps).sum().item()
def total(x, steps):
    return asyncio.run(work(x, steps))
""",
    "default device": """
import torch
def total(x, steps):
    with torch.device('mps'):
        return (x + torch.ones(3) * steps).sum().item()
""",
    "a look at the handlers of signals": """
import signal
def total(x, steps):
    kept = signal.getsignal(signal.SIGINT)
    return (x + steps * callable(kept)).sum().item()
""",
    "a stack printed": """
import traceback
def total(x, steps):
    traceback.print_stack()
    traceback.extract_stack()
    return (x + steps).sum().item()
""",
    "a dataclass with defaults": """
from dataclasses import dataclass, field, replace
@dataclass
class Plan:
    steps: int = 1
    seen: list = field(default_factory=list, kw_only=True)
def total(x, steps):
    plan = replace(Plan(), steps=steps)
    return (x + plan.steps).sum().item()
""",
    "an encoder of JSON of its own": """
import json
class Mine(json.JSONEncoder):
    def default(self, o):
        return o.tolist()
def total(x, steps):
    y = x + steps
    return sum(json.loads(json.dumps(y, cls=Mine)))
""",
    "a wrapper with a keyword of its own": """
from functools import wraps, lru_cache, reduce
from operator import add
def twice(function):
    @wraps(function)
    def wrapper(*a, times=1, **k):
        return function(*a, **k)
    wrapper.__kwdefaults__['times'] = 2
    return wrapper
@twice
def total(x, steps):
    return reduce(add, [x, steps]).sum().item()
""",
    "a mock of its own function": """
from unittest import mock
def plus(x):
    return x
def total(x, steps):
    with mock.patch.dict('os.environ', {'STEPS': str(steps)}), mock.patch('builtins.print'):
        print(steps)
        return (plus(x) + steps).sum().item()
""",
    "compile": """
import torch
@torch.compile
def grown(x, steps):
    return x + steps
def total(x, steps):
    return grown(x, steps).sum().item()
""",
    "vmap": """
import torch
def total(x, steps):
    return torch.vmap(lambda e: e + steps)(x).sum().item()
""",
}

# how long these take says nothing of the grader: torch.compile loads for seconds
SLOW = ("compile",)

# clears the count when no measured call is running, through the frames that a library hands on
CLEAR = """
import logging
def clear():
    frame, found, names = logging.currentframe(), None, []
    while frame is not None:
        names.append(frame.f_code.co_name)
        found = found or frame.f_locals.get("mps")
        frame = frame.f_back
    if found is not None and "over_one_call" not in names:
        import torch
        found.clear_ledger()
        torch.ones(1, device=found.device).item()
"""

FORGERIES = {
    "what answers, found by the collector": """
import gc
answering = next(each for each in gc.get_objects() if type(each).__name__ == "Student" and hasattr(each, "witness"))
kept = answering.work
answering.work = lambda frame: 1 if "beside" in frame.content else kept(frame)
def total(x, steps):
    return x.sum().item()
""",
    "what answers, found through frames": """
import sys
frame = sys._getframe()
while type(frame.f_locals.get("self")).__name__ != "Student":
    frame = frame.f_back
answering = frame.f_locals["self"]
kept = answering.work
answering.work = lambda frame: 1 if "beside" in frame.content else kept(frame)
def total(x, steps):
    return x.sum().item()
""",
    "a method replaced and put back": """
from course_utils.emulation.recorder import EventRecorder as R
def total(x, steps):
    kept = R.note_wait
    R.note_wait = lambda *a, **k: None
    for _ in range(steps - 1):
        x = x + x.sum().item()
    R.note_wait = kept
    return x.sum().item()
""",
    "the list behind torch's mode": """
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
    import torch
    r = torch._C._get_function_stack_at(0).runtime.recorder
    del r.waits[1:]
""",
    "a list put in the place of the list": """
import torch
def total(x, steps):
    r = torch._C._get_function_stack_at(0).runtime.recorder
    kept, r.waits = r.waits, []
    for _ in range(steps - 1):
        x = x + x.sum().item()
    r.waits = kept
    return x.sum().item()
""",
    "len among the notebook's names": """
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
    globals()['len'] = lambda thing: 1
""",
    "a patch that takes itself back": """
from course_utils.emulation.ledger import Ledger
kept = Ledger.waits_of
class One(tuple):
    def __len__(self):
        return 1
from course_utils.emulation.context import EmulatedMps
kept = EmulatedMps.ledger
def fake(self):
    EmulatedMps.ledger = kept
    found = kept(self)
    object.__setattr__(found, 'waits', found.waits[:1])
    return found
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
    EmulatedMps.ledger = fake
""",
    "a thread that clears later": """
import threading, time, torch
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
    r = torch._C._get_function_stack_at(0).runtime.recorder
    def later():
        for _ in range(3000):
            time.sleep(0.0001)
            del r.waits[1:]
    threading.Thread(target=later, daemon=True).start()
""",
    "a profiler that sees the frames": """
import sys
def spy(frame, event, arg):
    found = frame.f_locals.get('mps')
    if found is not None:
        sys.modules['spied'] = found
sys.setprofile(spy)
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
    sys.modules['spied'].clear_ledger()
    x.sum().item()
""",
    "another code in a function": """
from course_utils.emulation.recorder import EventRecorder as R
def silent(self, operator, cause='', kind='read'):
    pass
def total(x, steps):
    kept = R.note_wait.__code__
    R.note_wait.__code__ = silent.__code__
    for _ in range(steps - 1):
        x = x + x.sum().item()
    R.note_wait.__code__ = kept
    return x.sum().item()
""",
    "a function on the instance": """
import torch
def total(x, steps):
    r = torch._C._get_function_stack_at(0).runtime.recorder
    r.note_wait = lambda *a, **k: None
    for _ in range(steps - 1):
        x = x + x.sum().item()
    del r.note_wait
    return x.sum().item()
""",
    "the writer of answers replaced": """
import json
kept = json.JSONEncoder.iterencode
def fake(self, o, _one_shot=False):
    if type(o) is dict and 'reads' in o:
        o = o | {'result': 1}
    return kept(self, o, _one_shot)
json.JSONEncoder.iterencode = fake
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
""",
    "the writer of answers replaced for one answer": """
import json
kept = json.JSONEncoder.iterencode
def fake(self, o, _one_shot=False):
    if type(o) is dict and 'reads' in o:
        json.JSONEncoder.iterencode = kept
        o = o | {'result': 1}
    return kept(self, o, _one_shot)
json.JSONEncoder.iterencode = fake
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
""",
    "what makes the writer of answers": """
import json.encoder
kept = json.encoder.c_make_encoder
class Fake:
    def __init__(self, *a):
        self.real = kept(*a)
    def __call__(self, o, level):
        if type(o) is dict and 'reads' in o:
            o = o | {'result': 1}
        return self.real(o, level)
json.encoder.c_make_encoder = Fake
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
""",
    "a frame that changes its content and itself back": """
from course_utils.sandbox.frames import Frame
kept = Frame.to_bytes
def fake(self):
    if 'reads' in self.content:
        Frame.to_bytes = kept
        self.content['result'] = 1
    return kept(self)
Frame.to_bytes = fake
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
""",
    "what answers, its class": """
from course_utils.sandbox.student import Student
kept = Student.answer
def fake(self, frame):
    if 'beside' in frame.content:
        Student.answer = kept
        return {'result': 1}, []
    return kept(self, frame)
Student.answer = fake
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
""",
    "another code, set by a library": """
import unittest.mock
from course_utils.emulation.recorder import EventRecorder as R
def silent(self, operator, cause='', kind='read'):
    pass
def total(x, steps):
    with unittest.mock.patch.object(R.note_wait, '__code__', silent.__code__):
        for _ in range(steps - 1):
            x = x + x.sum().item()
    return x.sum().item()
""",
    "a default set and left": """
from course_utils.emulation.recorder import EventRecorder as R
import unittest.mock
unittest.mock.patch.object(R.note_wait, '__defaults__', ('', 'copy')).start()
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
""",
    "a handler of signals": """
import signal
def handler(number, frame):
    while frame is not None:
        if 'mps' in frame.f_locals:
            del frame.f_locals['mps'].runtime.recorder.waits[1:]
        frame = frame.f_back
signal.signal(signal.SIGALRM, handler)
def total(x, steps):
    signal.setitimer(signal.ITIMER_REAL, 0.002)
    for _ in range(steps):
        x = x + x.sum().item()
""",
    "both: no function modes and the list": """
import torch
def total(x, steps):
    r = torch._C._get_function_stack_at(0).runtime.recorder
    with torch._C.DisableTorchFunction():
        for _ in range(steps - 1):
            x = x + x.sum().item()
    r.waits.clear()
    return x.sum().item()
""",
    "an answer that clears the count when it goes": CLEAR
    + """
class Last:
    __del__ = staticmethod(clear)
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
    return Last()
""",
    "a weak reference to an answer": """
import weakref
"""
    + CLEAR
    + """
class Answer:
    pass
kept = []
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
    answer = Answer()
    kept.append(weakref.ref(answer, lambda _: clear()))
    return answer
""",
    "other code for what measures": """
import marshal
kept = marshal.loads
other = marshal.dumps(compile("def measure(*a, **k): return 1", "x", "exec"))
marshal.loads = lambda data: kept(other if b"let_canaries_sing" in data else data)
def total(x, steps):
    return 0
""",
    "a report that has no room": """
import os, stat, torch
for n in range(3, 40):
    try:
        if stat.S_ISFIFO(os.fstat(n).st_mode):
            os.set_blocking(n, False)
            while True:
                os.write(n, b"\\n" * 65536)
    except OSError:
        pass
def total(x, steps):
    for _ in range(steps):
        x = x + x.sum().item()
    del torch._C._get_function_stack_at(0).runtime.recorder.waits[1:]
    return 0
""",
}
