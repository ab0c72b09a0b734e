"""Right solutions of exercise 12 in other people's styles, by the grade id of the cell that they stand in."""

ONE_GRAPH = """
class OneGraph(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(6, 5), nn.Linear(5, 1)
        self.register_buffer("seen", torch.tensor(0))

    def forward(self, x):
        self.seen += x.shape[0]
        divisor = torch.where((x.abs() > 10).any(), 10.0, 1.0)
        h = self.up(x / divisor).relu()
        return self.down(h / (h.detach().mean() + 1))

def make_model():
    return OneGraph()
"""

RIGHT = {
    "ex12-task1": {
        "by the quotient, at least one": """
def calls_until_it_pays(first_ms, later_ms, eager_ms):
    later = statistics.median(later_ms)
    eager = statistics.median(eager_ms)
    if first_ms <= eager:
        return 1
    if eager <= later:
        return None
    return max(1, math.ceil((first_ms - later) / (eager - later)))
""",
        "counted up": """
def calls_until_it_pays(first_ms, later_ms, eager_ms):
    later, eager = statistics.median(later_ms), statistics.median(eager_ms)
    if first_ms > eager and later >= eager:
        return None
    n = 1
    while first_ms + (n - 1) * later > n * eager:
        n += 1
    return n
""",
        "without statistics": """
def calls_until_it_pays(first_ms, later_ms, eager_ms):
    def middle(times):
        times = sorted(times)
        half = len(times) // 2
        return times[half] if len(times) % 2 else (times[half - 1] + times[half]) / 2
    loss, gain = first_ms - middle(eager_ms), middle(eager_ms) - middle(later_ms)
    if loss <= 0:
        return 1
    return None if gain <= 0 else 1 - int(-loss // gain)
""",
        "NumPy": """
import numpy as np
def calls_until_it_pays(first_ms, later_ms, eager_ms):
    later, eager = np.median(later_ms), np.median(eager_ms)
    if first_ms <= eager:
        return 1
    return int(np.ceil((first_ms - later) / (eager - later))) if eager > later else None
""",
        "fractions": """
from fractions import Fraction
def calls_until_it_pays(first_ms, later_ms, eager_ms):
    first = Fraction(first_ms)
    later = Fraction(statistics.median(later_ms))
    eager = Fraction(statistics.median(eager_ms))
    if first <= eager:
        return 1
    if eager > later:
        return math.ceil((first - eager) / (eager - later)) + 1
""",
    },
    "ex12-task2": {
        "groupby": """
from itertools import groupby
def recording(report):
    def backend(graph, inputs):
        names = [name_of(n) for n in graph.graph.nodes if n.op.startswith("call_")]
        kernels = 0
        for fusible, run in groupby(names, key=lambda name: name in ELEMENTWISE):
            kernels += 1 if fusible else len(list(run))
        report.append([len(names), kernels])
        return graph.forward
    return backend
""",
        "a flag; the graph itself": """
def recording(report):
    def backend(graph, inputs):
        operators = kernels = 0
        in_run = False
        for node in graph.graph.nodes:
            if node.op not in ("call_function", "call_method", "call_module"):
                continue
            operators += 1
            fusible = name_of(node) in ELEMENTWISE
            if not (fusible and in_run):
                kernels += 1
            in_run = fusible
        report.append([operators, kernels])
        return graph
    return backend
""",
        "a class": """
class Recorder:
    def __init__(self, report):
        self.report = report
    def __call__(self, graph, inputs):
        nodes = [n for n in graph.graph.nodes if "call" in n.op]
        text = "".join("e" if name_of(n) in ELEMENTWISE else "o" for n in nodes)
        while "ee" in text:
            text = text.replace("ee", "e")
        self.report.append([len(nodes), len(text)])
        return graph.forward
def recording(report):
    return Recorder(report)
""",
        "a partial function": """
from functools import partial
def note(report, graph, inputs):
    names = [name_of(n) for n in graph.graph.nodes if n.op not in ("placeholder", "get_attr", "output")]
    starts = [i for i, name in enumerate(names)
              if name not in ELEMENTWISE or i == 0 or names[i - 1] not in ELEMENTWISE]
    report += [[len(names), len(starts)]]
    return graph.forward
def recording(report):
    return partial(note, report)
""",
        "a tuple; options accepted": """
def recording(report):
    def backend(graph, example_inputs, **options):
        previous, operators, kernels = "", 0, 0
        for node in graph.graph.nodes:
            if not node.op.startswith("call_"):
                continue
            name = name_of(node)
            operators += 1
            kernels += not (name in ELEMENTWISE and previous in ELEMENTWISE)
            previous = name
        report.append((operators, kernels))
        return lambda *inputs: graph(*inputs)
    return backend
""",
    },
    "ex12-task3": {
        "a divisor": ONE_GRAPH,
        "inherits": """
class OneGraph(Broken):
    def __init__(self):
        super().__init__()
        del self.seen
        self.register_buffer("seen", torch.zeros(1, dtype=torch.long), persistent=False)

    def forward(self, x):
        self.seen += len(x)
        large = x.abs().amax() > 10
        x = torch.where(large, x / 10, x)
        h = torch.relu(self.up(x))
        with torch.no_grad():
            size = h.mean()
        return self.down(h / (1 + size))

def make_model():
    return OneGraph()
""",
        "a new buffer each time": ONE_GRAPH.replace("self.seen += x.shape[0]", "self.seen = self.seen + len(x)"),
        "arithmetic in place of where": ONE_GRAPH.replace(
            "torch.where((x.abs() > 10).any(), 10.0, 1.0)", "1 + 9 * (x.abs().max() > 10).to(x.dtype)"
        ),
        "functional, another name": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(6, 5)
        self.down = nn.Linear(5, 1)
        self.register_buffer("seen", torch.zeros((), dtype=torch.float64))

    def forward(self, x):
        self.seen.add_(x.size(0))
        too_large = torch.linalg.vector_norm(x, float("inf")) > 10
        x = torch.where(too_large, x * 0.1, x)
        h = nn.functional.relu(nn.functional.linear(x, self.up.weight, self.up.bias))
        return self.down(h / h.mean().detach().add(1))

OneGraph = Net

def make_model():
    return Net()
""",
        "a plain tensor as the counter": ONE_GRAPH.replace(
            'self.register_buffer("seen", torch.tensor(0))', "self.seen = torch.zeros(())"
        ),
    },
    "ex12-task4": {
        "nn.functional.pad": """
def call_padded(compiled, x, lengths):
    rows = x.size(0)
    fitting = [n for n in sorted(lengths) if n >= rows]
    if not fitting:
        raise ValueError(f"{rows} rows are more than the largest length, {max(lengths)}")
    padded = nn.functional.pad(x, (0, 0, 0, fitting[0] - rows))
    mask = torch.zeros(fitting[0], dtype=torch.bool, device=x.device)
    mask[:rows] = True
    return compiled(padded, mask)[:rows]
""",
        "bisect": """
import bisect
def call_padded(compiled, x, lengths):
    allowed = sorted(lengths)
    place = bisect.bisect_left(allowed, len(x))
    if place == len(allowed):
        raise ValueError("too many rows")
    n = allowed[place]
    padded = torch.zeros(n, x.shape[1], dtype=x.dtype, device=x.device)
    padded[: len(x)] = x
    return compiled(padded, torch.arange(n, device=x.device).lt(len(x)))[: len(x)]
""",
        "a loop for the smallest": """
def call_padded(compiled, x, lengths):
    best = None
    for length in lengths:
        if length >= x.shape[0] and (best is None or length < best):
            best = length
    if best is None:
        raise ValueError("no length is large enough")
    missing = best - x.shape[0]
    padded = torch.vstack([x, torch.zeros(missing, x.shape[1]).to(x)])
    mask = torch.tensor([True] * x.shape[0] + [False] * missing, device=x.device)
    answer = compiled(padded, mask)
    return answer.narrow(0, 0, x.shape[0])
""",
        "new_full and named arguments": """
def call_padded(compiled, x, lengths):
    rows, columns = x.shape
    length = min(n for n in set(lengths) if n >= rows)
    filler = x.new_full((length - rows, columns), 0)
    mask = torch.cat([x.new_ones(rows), x.new_zeros(length - rows)]).bool()
    answer = compiled(torch.cat((x, filler), dim=0), mask)
    return answer[mask]
""",
        "split": """
def call_padded(compiled, x, lengths):
    enough = list(filter(lambda n: n >= len(x), lengths))
    if len(enough) == 0:
        raise ValueError(len(x))
    length = min(enough)
    padded = torch.empty((length, x.shape[1]), dtype=x.dtype, device=x.device).zero_()
    padded[:len(x)].copy_(x)
    mine, _ = compiled(padded, torch.arange(length, device=x.device) <= len(x) - 1).split([len(x), length - len(x)])
    return mine
""",
    },
    "ex12-task5": {
        "one by one": """
def first_difference(function, compiled, cases):
    for i in range(len(cases)):
        a = tuple(t.clone() for t in cases[i])
        b = tuple(t.clone() for t in cases[i])
        ra, rb = function(*a), compiled(*b)
        try:
            torch.testing.assert_close(rb, ra, equal_nan=True)
            for u, v in zip(b, a):
                torch.testing.assert_close(u, v, equal_nan=True)
        except AssertionError:
            return i
""",
        "deepcopy": """
import copy
def first_difference(function, compiled, cases):
    for i, case in enumerate(cases):
        left, right = copy.deepcopy(case), copy.deepcopy(case)
        pair = (compiled(*right), right), (function(*left), left)
        try:
            torch.testing.assert_close(*pair, equal_nan=True)
        except AssertionError:
            return i
    return None
""",
        "all cases first": """
def first_difference(function, compiled, cases):
    def outcomes(f):
        found = []
        for case in cases:
            arguments = [t.detach().clone() for t in case]
            found.append([f(*arguments), *arguments])
        return found
    def same(a, b):
        try:
            torch.testing.assert_close(a, b, equal_nan=True)
            return True
        except AssertionError:
            return False
    verdicts = [same(a, b) for a, b in zip(outcomes(compiled), outcomes(function))]
    return verdicts.index(False) if False in verdicts else None
""",
        "by hand, with allclose": """
def first_difference(function, compiled, cases):
    def equal(a, b):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        rtol, atol = (1e-7, 1e-7) if a.dtype == torch.float64 else (1.3e-6, 1e-5)
        return torch.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    for i, case in enumerate(cases):
        a, b = [t.clone() for t in case], [t.clone() for t in case]
        x, y = function(*a), compiled(*b)
        if not equal(y, x) or not all(equal(v, u) for u, v in zip(a, b)):
            return i
    return None
""",
        "a generator": """
def first_difference(function, compiled, cases):
    def differs(case):
        mine, other = ([t.clone() for t in case] for _ in "12")
        mine.append(function(*mine))
        other.append(compiled(*other))
        try:
            torch.testing.assert_close(other, mine, equal_nan=True)
        except AssertionError:
            return True
        return False
    return next((i for i, case in enumerate(cases) if differs(case)), None)
""",
    },
}
