"""Wrong solutions of exercise 14, by the grade id of the cell that they stand in."""

READINGS = '''
def repaired_file():
    return """
import sys

class Readings:
    def __init__(self, path, scale):
        self.path = path
        self.scale = scale

    def lines(self):
        with open(self.path) as file:
            return file.read().split()

    def __len__(self):
        return len(self.lines())

    def __getitem__(self, i):
        return float(self.lines()[i]) * self.scale

if __name__ == "__main__":
    readings = Readings(sys.argv[1], 0.5)
    print(sum(readings[i] for i in range(len(readings))))
"""
'''
CHOOSE = """
def choose_workers(load_s, step_s, start_s, batches, cores):
    def total_s(n):
        if n == 0:
            return batches * (load_s + step_s)
        return start_s + batches * max(step_s, load_s / n)
    return min(range(cores), key=total_s)
"""
STARVED = """
def find_starved(loader, step, finish, clock):
    starved, waiting, working = [], 0.0, 0.0
    asked = clock()
    for number, batch in enumerate(loader):
        arrived = clock()
        step(batch)
        finish()
        ended = clock()
        if number > 0:
            waiting += arrived - asked
            working += ended - arrived
            if arrived - asked > ended - arrived:
                starved.append(number)
        asked = ended
    total = waiting + working
    return starved, waiting / total if total else 0.0
"""
BATCHES = """
def device_batches(x, y, batch_size, generator):
    order = torch.randperm(len(x), generator=generator).to(x.device)
    for batch in order.split(batch_size):
        yield x[batch], y[batch]
"""
EXPORT = """
import copy
from torch.export.passes import move_to_device_pass
def export_for(model, example, device):
    model = copy.deepcopy(model).eval()
    two = torch.cat([example, example])
    program = torch.export.export(model, (two,), dynamic_shapes=({0: torch.export.Dim("batch")},))
    return move_to_device_pass(program, device)
"""


def _change(source: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert source.count(old) == 1, f"{old!r} occurs {source.count(old)} times"
        source = source.replace(old, new)
    return source


KEPT = (
    (
        "        self.scale = scale\n",
        "        self.scale = scale\n        self.kept = None\n",
    ),
    (
        "        with open(self.path) as file:\n            return file.read().split()",
        "        self.kept = self.kept or open(self.path).read().split()\n        return self.kept",
    ),
)

WRONG = {
    "ex14-task1": {
        "the lambda stays": _change(
            READINGS,
            ("        self.scale = scale", "        self.convert = lambda text: float(text) * scale"),
            ("float(self.lines()[i]) * self.scale", "self.convert(self.lines()[i])"),
        ),
        "a function inside __init__": _change(
            READINGS,
            (
                "        self.scale = scale",
                "        def convert(text): return float(text) * scale\n        self.convert = convert",
            ),
            ("float(self.lines()[i]) * self.scale", "self.convert(self.lines()[i])"),
        ),
        "the file stays open": _change(
            READINGS,
            ("        self.path = path\n", "        self.path = path\n        self.file = open(path)\n"),
        ),
        "opened at the first access, and kept": _change(
            READINGS,
            ("        self.path = path\n", "        self.path = path\n        self.file = None\n"),
            (
                "        with open(self.path) as file:\n            return file.read().split()",
                "        self.file = self.file or open(self.path)\n        self.file.seek(0)\n"
                "        return self.file.read().split()",
            ),
        ),
        "all lines travel": _change(
            READINGS,
            ("        self.path = path\n", "        self.kept = open(path).read().split()\n"),
            (
                "        with open(self.path) as file:\n            return file.read().split()",
                "        return self.kept",
            ),
        ),
        "lines kept at the first access travel": _change(READINGS, *KEPT),
        "no guard": _change(
            READINGS,
            ('if __name__ == "__main__":\n    readings', "readings"),
            ("    print(sum(readings[i]", "print(sum(readings[i]"),
        ),
        "the sum is not printed": _change(READINGS, ("    print(sum(", "    (sum(")),
        "only the print is guarded": _change(
            READINGS,
            (
                'if __name__ == "__main__":\n    readings = Readings(sys.argv[1], 0.5)\n',
                'readings = Readings(sys.argv[1], 0.5)\nif __name__ == "__main__":\n',
            ),
        ),
        "the class is guarded, too": _change(
            READINGS,
            ("class Readings:", 'if __name__ != "__main__": sys.exit()\nclass Readings:'),
        ),
        "the scale in a global variable": _change(
            READINGS,
            ("        self.scale = scale", "        global SCALE\n        SCALE = scale"),
            ("* self.scale", "* SCALE"),
        ),
        "a scale of its own": _change(READINGS, ("* self.scale", "* 0.5")),
        "the program has no scale": _change(READINGS, ("Readings(sys.argv[1], 0.5)", "Readings(sys.argv[1], 1.0)")),
        "a path of its own": _change(READINGS, ("sys.argv[1]", '"readings.txt"')),
        "says that it is imported": _change(READINGS, ("import sys\n", 'import sys\nprint("reading")\n')),
    },
    "ex14-task2": {
        "both times add up": _change(CHOOSE, ("max(step_s, load_s / n)", "(step_s + load_s / n)")),
        "the start is forgotten": _change(CHOOSE, ("start_s + batches", "batches")),
        "each worker pays for its start": _change(CHOOSE, ("start_s + batches", "n * start_s + batches")),
        "all cores": _change(CHOOSE, ("range(cores)", "range(cores + 1)")),
        "at least one worker": _change(CHOOSE, ("range(cores)", "range(1, max(cores, 2))")),
        "of equal ones the largest": _change(CHOOSE, ("range(cores)", "range(cores - 1, -1, -1)")),
        "of equal ones the largest of those with workers": _change(
            CHOOSE, ("range(cores)", "[0, *range(cores - 1, 0, -1)]")
        ),
        "without workers the longer one": _change(CHOOSE, ("(load_s + step_s)", "max(load_s, step_s)")),
        "as many as there are": """
def choose_workers(load_s, step_s, start_s, batches, cores):
    return cores - 1
""",
        "as many as hide the loading, always": """
import math
def choose_workers(load_s, step_s, start_s, batches, cores):
    return min(cores - 1, math.ceil(load_s / step_s))
""",
        "one batch decides": _change(CHOOSE, ("return start_s + batches * max", "return start_s + max")),
        "the shorter one": _change(CHOOSE, ("max(step_s, load_s / n)", "min(step_s, load_s / n)")),
        "the time instead of the number": _change(
            CHOOSE, ("return min(range(cores), key=total_s)", "return min(map(total_s, range(cores)))")
        ),
    },
    "ex14-task3": {
        "the device is not waited for": _change(STARVED, ("        finish()\n", "")),
        "waited for after the clock": _change(
            STARVED, ("        finish()\n        ended = clock()\n", "        ended = clock()\n        finish()\n")
        ),
        "waited for before the step": _change(
            STARVED, ("        step(batch)\n        finish()\n", "        finish()\n        step(batch)\n")
        ),
        "the first counts": _change(STARVED, ("number > 0", "number >= 0")),
        "only the first list leaves it out": _change(
            STARVED,
            ("        if number > 0:\n", "        if True:\n"),
            ("if arrived - asked > ended - arrived", "if number > 0 and arrived - asked > ended - arrived"),
        ),
        "as long is starved": _change(STARVED, ("asked > ended", "asked >= ended")),
        "the step begins when it was asked for": _change(
            STARVED,
            ("working += ended - arrived", "working += ended - asked"),
        ),
        "a share of the steps": _change(STARVED, ("waiting / total if total", "waiting / working if working")),
        "numbers from 1": _change(STARVED, ("append(number)", "append(number + 1)")),
        "numbers from the second": _change(STARVED, ("append(number)", "append(number - 1)")),
        "nothing is divided by zero": _change(STARVED, (" if total else 0.0", "")),
        "the end of the loader counts": _change(
            STARVED, ("    total = waiting", "    waiting += clock() - asked\n    total = waiting")
        ),
        "the share of starved steps": _change(STARVED, ("waiting / total if total", "len(starved) / total if total")),
        "the loader as a list": _change(STARVED, ("enumerate(loader)", "enumerate(list(loader))")),
        "the last clock is the first": _change(STARVED, ("        asked = ended\n", "")),
    },
    "ex14-task4": {
        "the last is dropped": """
def device_batches(x, y, batch_size, generator):
    order = torch.randperm(len(x), generator=generator).to(x.device)
    for k in range(len(x) // batch_size):
        batch = order[k * batch_size : (k + 1) * batch_size]
        yield x[batch], y[batch]
""",
        "not shuffled": _change(BATCHES, ("torch.randperm(len(x), generator=generator)", "torch.arange(len(x))")),
        "another generator": _change(BATCHES, (", generator=generator", "")),
        "seeded anew": _change(
            BATCHES,
            ("    order = ", "    generator.manual_seed(generator.initial_seed())\n    order = "),
        ),
        "the index on the CPU": _change(BATCHES, (".to(x.device)", "")),
        "one copy for each batch": _change(
            BATCHES,
            (".to(x.device)", ""),
            ("        yield", "        batch = batch.to(x.device)\n        yield"),
        ),
        "the copy does not wait": _change(BATCHES, (".to(x.device)", ".to(x.device, non_blocking=True)")),
        "batches on the CPU": _change(BATCHES, ("yield x[batch], y[batch]", "yield x[batch].cpu(), y[batch].cpu()")),
        "the data goes back first": _change(
            BATCHES,
            ("    order", "    x, y = x.cpu(), y.cpu()\n    order"),
        ),
        "only x is shuffled": _change(BATCHES, ("y[batch]", "y[: len(batch)]")),
        "a loader": """
def device_batches(x, y, batch_size, generator):
    data = torch.utils.data.TensorDataset(x, y)
    return torch.utils.data.DataLoader(data, batch_size, shuffle=True, generator=generator)
""",
        "numbers as a list": _change(
            BATCHES,
            (".to(x.device)", ""),
            ("x[batch], y[batch]", "x[batch.tolist()], y[batch.tolist()]"),
        ),
        "drawn for each batch": """
def device_batches(x, y, batch_size, generator):
    for start in range(0, len(x), batch_size):
        order = torch.randperm(len(x), generator=generator).to(x.device)
        batch = order[start : start + batch_size]
        yield x[batch], y[batch]
""",
    },
    "ex14-task5": {
        "the batch is fixed": _change(EXPORT, (', dynamic_shapes=({0: torch.export.Dim("batch")},)', "")),
        "a single row stays single": _change(EXPORT, ("torch.cat([example, example])", "example")),
        "auto fixes a single row": _change(
            EXPORT,
            ("torch.cat([example, example])", "example"),
            ('torch.export.Dim("batch")', "torch.export.Dim.AUTO"),
        ),
        "a smallest batch of two": _change(EXPORT, ('Dim("batch")', 'Dim("batch", min=2, max=8)')),
        "in the mode it has": _change(EXPORT, (".eval()", "")),
        "eval stays": _change(EXPORT, ("copy.deepcopy(model).eval()", "model.eval()")),
        "all are in training afterwards": _change(
            EXPORT,
            ("copy.deepcopy(model).eval()", "model.eval()"),
            ("    return", "    model.train()\n    return"),
        ),
        "the mode of the whole is put back": _change(
            EXPORT,
            ("    model = copy.deepcopy(model).eval()", "    training = model.training\n    model.eval()"),
            ("    return", "    model.train(training)\n    return"),
        ),
        "not moved": _change(EXPORT, ("move_to_device_pass(program, device)", "program")),
        "the model itself goes to the device": _change(
            EXPORT,
            ("    return move", "    original.to(device)\n    return move"),
            ("    model = copy", "    original = model\n    model = copy"),
        ),
        "only the weights are moved": _change(
            EXPORT,
            (
                "return move_to_device_pass(program, device)",
                "program._state_dict = {k: v.to(device) for k, v in program.state_dict.items()}\n    return program",
            ),
        ),
        "always to the same device": _change(EXPORT, ("(program, device)", '(program, "cpu")')),
    },
}
