"""Right solutions of exercise 14 in other people's styles, by the grade id of the cell that they stand in."""

MAIN = """
if __name__ == "__main__":
    readings = Readings(sys.argv[1], 0.5)
    print(sum(readings[i] for i in range(len(readings))))
"""


def _file(before: str, main: str = MAIN) -> str:
    return f'def repaired_file():\n    return """\n{before}{main}"""\n'


RIGHT = {
    "ex14-task1": {
        "lines kept, and left out of what travels": _file("""
import sys

class Readings:
    def __init__(self, path, scale):
        self.path, self.scale, self.kept = path, scale, None

    @property
    def lines(self):
        if self.kept is None:
            with open(self.path) as file:
                self.kept = file.read().split()
        return self.kept

    def __getstate__(self):
        return {**self.__dict__, "kept": None}

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, i):
        return float(self.lines[i]) * self.scale
"""),
        "linecache": _file("""
import linecache
import sys

class Readings:
    def __init__(self, path, scale):
        self.path = path
        self.scale = scale

    def __len__(self):
        return len(linecache.getlines(self.path))

    def __getitem__(self, i):
        if not 0 <= i < len(self):
            raise IndexError(i)
        return self.scale * float(linecache.getline(self.path, i + 1))
"""),
        "a cached function of the file": _file("""
import sys
from functools import lru_cache

@lru_cache
def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().split()

class Readings:
    def __init__(self, path, scale):
        self.path = path
        self.scale = scale
    def __len__(self):
        return len(lines_of(self.path))
    def __getitem__(self, i):
        return float(lines_of(self.path)[i]) * self.scale
"""),
        "a data class, pathlib and a main function": _file(
            """
import sys
from dataclasses import dataclass
from pathlib import Path

@dataclass(frozen=True)
class Readings:
    path: str
    scale: float

    def numbers(self):
        return [float(line) * self.scale for line in Path(self.path).read_text().split()]

    def __len__(self):
        return len(self.numbers())

    def __getitem__(self, i):
        return self.numbers()[i]

def main():
    print(sum(Readings(sys.argv[1], 0.5).numbers()))
""",
            """
if __name__ == '__main__':
    main()
""",
        ),
        "__reduce__ builds it again": _file("""
import sys

class Readings:
    def __init__(self, path, scale):
        self.arguments = path, scale
        self.file = open(path)
        self.lines = self.file.read().split()
        self.convert = lambda text: float(text) * scale

    def __reduce__(self):
        return Readings, self.arguments

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, i):
        return self.convert(self.lines[i])
"""),
        "the length is counted at the start": _file("""
import sys

class Readings:
    def __init__(self, path, scale):
        self.path, self.scale = path, scale
        with open(path) as file:
            self.n = sum(1 for line in file)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        with open(self.path) as file:
            for number, line in enumerate(file):
                if number == i:
                    return float(line) * self.scale
        raise IndexError(i)
"""),
    },
    "ex14-task2": {
        "a loop with smaller": """
def choose_workers(load_s, step_s, start_s, batches, cores):
    best, best_s = 0, batches * (load_s + step_s)
    for n in range(1, cores):
        total = start_s + batches * max(step_s, load_s / n)
        if total < best_s:
            best, best_s = n, total
    return best
""",
        "a list and its index": """
def choose_workers(load_s, step_s, start_s, batches, cores):
    totals = [batches * (load_s + step_s)]
    totals += [start_s + batches * max(step_s, load_s / n) for n in range(1, cores)]
    return totals.index(min(totals))
""",
        "pairs": """
def choose_workers(load_s, step_s, start_s, batches, cores):
    pairs = [((load_s + step_s) * batches, 0)]
    for n in range(1, cores - 1 + 1):
        pairs.append((max(load_s / n, step_s) * batches + start_s, n))
    return sorted(pairs)[0][1]
""",
        "a dict": """
def choose_workers(load_s, step_s, start_s, batches, cores):
    times = {0: batches * load_s + batches * step_s}
    for n in range(1, cores):
        times[n] = start_s + (batches * step_s if step_s >= load_s / n else batches * load_s / n)
    return min(times, key=times.get)
""",
        "NumPy": """
import numpy as np
def choose_workers(load_s, step_s, start_s, batches, cores):
    totals = [batches * (load_s + step_s)]
    if cores > 1:
        n = np.arange(1, cores)
        totals.extend(start_s + batches * np.maximum(step_s, load_s / n))
    return np.argmin(totals)
""",
    },
    "ex14-task3": {
        "next by hand": """
def find_starved(loader, step, finish, clock):
    batches = iter(loader)
    starved, waits, works = [], [], []
    while True:
        a = clock()
        try:
            batch = next(batches)
        except StopIteration:
            break
        b = clock()
        step(batch)
        finish()
        c = clock()
        waits.append(b - a)
        works.append(c - b)
    for i in range(1, len(waits)):
        if waits[i] > works[i]:
            starved.append(i)
    whole = sum(waits[1:]) + sum(works[1:])
    return starved, sum(waits[1:]) / whole if whole > 0 else 0.0
""",
        "one log, evaluated afterwards": """
def find_starved(loader, step, finish, clock):
    log = []
    before = clock()
    for batch in loader:
        here = clock()
        step(batch)
        finish()
        after = clock()
        log.append((here - before, after - here))
        before = after
    log = list(enumerate(log))[1:]
    if not log:
        return [], 0.0
    return [i for i, (w, s) in log if w > s], sum(w for _, (w, _) in log) / sum(w + s for _, (w, s) in log)
""",
        "a list instead of a tuple": """
def find_starved(loader, step, finish, clock):
    found, wait_s, all_s = [], 0, 0
    last, number = None, 0
    for batch in loader:
        arrived = clock()
        step(batch)
        finish()
        done = clock()
        if last is not None:
            wait_s += arrived - last
            all_s += done - last
            if 2 * (arrived - last) > done - last:
                found.append(number)
        last = done
        number += 1
    return [found, wait_s / all_s if all_s else 0.0]
""",
        "waits twice": """
def find_starved(loader, step, finish, clock):
    finish()
    starved, waiting, working = [], 0.0, 0.0
    asked = clock()
    for number, batch in enumerate(loader):
        arrived = clock()
        step(batch)
        finish()
        finish()
        ended = clock()
        if number:
            waiting, working = waiting + arrived - asked, working + ended - arrived
            starved += [number] * (arrived - asked > ended - arrived)
        asked = clock()
    return starved, waiting / ((waiting + working) or 1.0)
""",
        "torch adds": """
def find_starved(loader, step, finish, clock):
    times = [clock()]
    for batch in loader:
        times.append(clock())
        step(batch)
        finish()
        times.append(clock())
    gaps = torch.tensor(times, dtype=torch.float64).diff().view(-1, 2)[1:]
    starved = (gaps[:, 0] > gaps[:, 1]).nonzero().flatten() + 1
    share = gaps[:, 0].sum() / gaps.sum() if len(gaps) else torch.tensor(0.0)
    return starved.tolist(), share.item()
""",
    },
    "ex14-task4": {
        "yield": """
def device_batches(x, y, batch_size, generator):
    order = torch.randperm(len(x), generator=generator).to(x.device)
    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        yield x[batch], y[batch]
""",
        "a list, index_select": """
def device_batches(x, y, batch_size, generator):
    order = torch.randperm(x.shape[0], generator=generator).to(x.device)
    return [(x.index_select(0, part), y.index_select(0, part)) for part in torch.split(order, batch_size)]
""",
        "all in order first": """
def device_batches(x, y, batch_size, generator):
    order = torch.randperm(len(x), generator=generator).to(device=x.device)
    return zip(x[order].split(batch_size), y[order].split(batch_size))
""",
        "a while loop": """
def device_batches(x, y, batch_size, generator):
    device = x.device
    left = torch.randperm(len(y), generator=generator).to(device)
    while len(left):
        now, left = left[:batch_size], left[batch_size:]
        yield (x[now], y[now])
""",
        "a class": """
class Batches:
    def __init__(self, x, y, size, generator):
        self.x, self.y, self.size = x, y, size
        self.order = torch.randperm(len(x), generator=generator).to(x.device)
    def __iter__(self):
        for k in range(0, len(self.x), self.size):
            i = self.order[k:k + self.size]
            yield [self.x[i], self.y[i]]

def device_batches(x, y, batch_size, generator):
    return Batches(x, y, batch_size, generator)
""",
        "a number of batches, rounded up": """
import math
def device_batches(x, y, batch_size, generator):
    n = len(x)
    order = torch.randperm(n, generator=generator)
    order = torch.as_tensor(order, device=x.device)
    for k in range(math.ceil(n / batch_size)):
        part = order[k * batch_size : min(n, (k + 1) * batch_size)]
        yield x[part], y[part]
""",
    },
    "ex14-task5": {
        "modes put back": """
from torch.export.passes import move_to_device_pass
def export_for(model, example, device):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        rows = example if len(example) > 1 else example.repeat(2, *[1] * (example.dim() - 1))
        program = torch.export.export(model, (rows,), dynamic_shapes=[{0: torch.export.Dim("n", min=1)}])
    finally:
        for module, training in modes:
            module.training = training
    return move_to_device_pass(program, torch.device(device))
""",
        "dynamic, and zeros as the example": """
import copy
import torch.export.passes
def export_for(model, example, device):
    still = copy.deepcopy(model)
    still.eval()
    rows = torch.zeros(2, *example.shape[1:], dtype=example.dtype)
    with torch.no_grad():
        ep = torch.export.export(still, args=(rows,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
    return torch.export.passes.move_to_device_pass(ep, device)
""",
        "auto, with three rows": """
from copy import deepcopy
from torch.export import Dim, export
from torch.export.passes import move_to_device_pass
def export_for(model, example, device):
    rows = example[:1].expand(3, *example.shape[1:]).clone()
    return move_to_device_pass(export(deepcopy(model).eval(), (rows,), dynamic_shapes=({0: Dim.AUTO},)), device)
""",
        "a dict of devices": """
import copy
from torch.export.passes import move_to_device_pass
def export_for(model, example, device):
    m = copy.deepcopy(model)
    for each in m.modules():
        each.training = False
    batch = torch.export.Dim("batch")
    ep = torch.export.export(m, (torch.cat((example,) * 2, dim=0),), dynamic_shapes=({0: batch},))
    return move_to_device_pass(ep, {"cpu": device})
""",
        "names of modules": """
from torch.export.passes import move_to_device_pass
def export_for(model, example, device):
    was = {name: module.training for name, module in model.named_modules()}
    model.train(False)
    shape = (2,) + tuple(example.shape[1:])
    program = torch.export.export(
        model, (torch.randn(shape).to(example.dtype),), dynamic_shapes=({0: torch.export.Dim("rows")},)
    )
    for name, training in was.items():
        model.get_submodule(name).training = training
    moved = move_to_device_pass(program, device)
    return moved
""",
    },
}
