"""Wrong solutions of exercise 12, by the grade id of the cell that they stand in."""

PAYS = """
def calls_until_it_pays(first_ms, later_ms, eager_ms):
    later, eager = statistics.median(later_ms), statistics.median(eager_ms)
    if first_ms <= eager:
        return 1
    if later >= eager:
        return None
    return 1 + math.ceil((first_ms - eager) / (eager - later))
"""

RECORDING = """
def recording(report):
    def backend(graph, inputs):
        nodes = [node for node in graph.graph.nodes if node.op.startswith("call_")]
        kernels, before = 0, False
        for node in nodes:
            fusible = name_of(node) in ELEMENTWISE
            kernels += not (fusible and before)
            before = fusible
        report.append([len(nodes), kernels])
        return graph.forward
    return backend
"""

ONE_GRAPH = """
class OneGraph(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(6, 5)
        self.down = nn.Linear(5, 1)
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.seen.add_(len(x))
        x = torch.where(x.abs().max() > 10, x / 10, x)
        h = torch.relu(self.up(x))
        return self.down(h / (1 + h.mean().detach()))

def make_model():
    return OneGraph()
"""

PADDED = """
def call_padded(compiled, x, lengths):
    length = min(each for each in lengths if each >= len(x))
    padded = torch.cat([x, x.new_zeros(length - len(x), x.shape[1])])
    mask = torch.arange(length, device=x.device) < len(x)
    return compiled(padded, mask)[: len(x)]
"""

DIFFERENCE = """
def first_difference(function, compiled, cases):
    for place, case in enumerate(cases):
        ours, theirs = [each.clone() for each in case], [each.clone() for each in case]
        expected = [function(*ours), *ours]
        found = [compiled(*theirs), *theirs]
        try:
            torch.testing.assert_close(found, expected, equal_nan=True)
        except AssertionError:
            return place
    return None
"""


def changed(source, old, new):
    """Return a source with one mistake put in."""
    assert old in source, old
    return source.replace(old, new)


WRONG = {
    "ex12-task1": {
        "one too many": changed(PAYS, "math.ceil(", "int(1 + ").replace("1 + int(1 +", "2 + int("),
        "the mean": changed(PAYS, "statistics.median", "statistics.mean"),
        "the smallest": changed(PAYS, "statistics.median", "min"),
        "rounded down": changed(PAYS, "math.ceil(", "math.floor("),
        "the first call does no work": changed(
            PAYS, "1 + math.ceil((first_ms - eager)", "math.ceil((first_ms - 0 * eager)"
        ),
        "the saving before the first call": changed(
            PAYS,
            "    if first_ms <= eager:\n        return 1\n    if later >= eager:\n        return None\n",
            "    if later >= eager:\n        return None\n    if first_ms <= eager:\n        return 1\n",
        ),
        "infinity": changed(PAYS, "return None", "return math.inf"),
        "divides by nothing": changed(PAYS, "if later >= eager:", "if later > eager:"),
        "without the first call of eager": changed(PAYS, "return 1 + math.ceil", "return math.ceil"),
        "has to be less": changed(PAYS, "1 + math.ceil((first_ms - eager) /", "2 + math.floor((first_ms - eager) /"),
    },
    "ex12-task2": {
        "all nodes": changed(RECORDING, 'if node.op.startswith("call_")', 'if node.op != "output"'),
        "functions only": changed(RECORDING, 'node.op.startswith("call_")', 'node.op == "call_function"'),
        "reports at each call": changed(
            RECORDING,
            "        report.append([len(nodes), kernels])\n        return graph.forward",
            "        def run(*inputs):\n            report.append([len(nodes), kernels])\n"
            "            return graph.forward(*inputs)\n        return run",
        ),
        "runs go on": changed(RECORDING, "before = fusible", "before = before or fusible"),
        "the others fuse, too": changed(RECORDING, "not (fusible and before)", "fusible != before"),
        "the last graph only": changed(
            RECORDING, "report.append([len(nodes), kernels])", "report[:] = [[len(nodes), kernels]]"
        ),
        "elementwise after anything is free": changed(RECORDING, "before = fusible", "before = True"),
        "drops what it does not know": changed(RECORDING, "return graph.forward", "return lambda *inputs: [inputs[0]]"),
    },
    "ex12-task3": {
        "as it was": "OneGraph = Broken\ndef make_model():\n    return OneGraph()\n",
        "no detach": changed(ONE_GRAPH, ".detach()", ""),
        "each number by itself": changed(ONE_GRAPH, "x.abs().max() > 10", "x.abs() > 10"),
        "without abs": changed(ONE_GRAPH, "x.abs().max()", "x.max()"),
        "a number counts": changed(
            ONE_GRAPH, 'self.register_buffer("seen", torch.zeros((), dtype=torch.int64))', "self.seen = 0"
        ).replace("self.seen.add_(len(x))", "self.seen += len(x)"),
        "does not count": changed(ONE_GRAPH, "self.seen.add_(len(x))", "pass"),
        "reads the mean": changed(ONE_GRAPH, "h.mean().detach()", "h.mean().item()"),
        "kept out of the compiler": changed(
            ONE_GRAPH, "    def forward(self, x):", "    @torch.compiler.disable\n    def forward(self, x):"
        ),
        "other names": ONE_GRAPH.replace("self.up", "self.first").replace("self.down", "self.last"),
        "the counter is a parameter": changed(
            ONE_GRAPH,
            'self.register_buffer("seen", torch.zeros((), dtype=torch.int64))',
            "self.seen = nn.Parameter(torch.zeros(()), requires_grad=False)",
        ),
    },
    "ex12-task4": {
        "the largest": changed(PADDED, "min(each for each in lengths if each >= len(x))", "max(lengths)"),
        "the first that fits": changed(
            PADDED, "min(each for each in lengths if each >= len(x))", "next(n for n in lengths if n >= len(x))"
        ),
        "sorts the caller's list": changed(PADDED, "    length = ", "    lengths.sort()\n    length = "),
        "returns the zeros": changed(PADDED, "[: len(x)]", ""),
        "the mask the wrong way": changed(PADDED, "< len(x)", ">= len(x)"),
        "one row too many": changed(
            PADDED, "torch.arange(length, device=x.device) < len(x)", "torch.arange(length, device=x.device) <= len(x)"
        ),
        "zeros first": changed(
            PADDED, "[x, x.new_zeros(length - len(x), x.shape[1])]", "[x.new_zeros(length - len(x), x.shape[1]), x]"
        ),
        "float32 zeros": changed(
            PADDED,
            "torch.cat([x, x.new_zeros(length - len(x), x.shape[1])])",
            "torch.zeros(length, x.shape[1], device=x.device)\n    padded[: len(x)] = x",
        ),
        "not padded": changed(
            PADDED,
            "padded = torch.cat([x, x.new_zeros(length - len(x), x.shape[1])])\n"
            "    mask = torch.arange(length, device=x.device) < len(x)",
            "padded = x\n    mask = torch.ones(len(x), dtype=torch.bool, device=x.device)",
        ),
        "pads further": changed(
            PADDED,
            "min(each for each in lengths if each >= len(x))",
            "min((each for each in lengths if each >= len(x)), default=len(x))",
        ),
        "the mask on the CPU": changed(PADDED, ", device=x.device", ""),
        "the zeros on the CPU": changed(
            PADDED,
            "torch.cat([x, x.new_zeros(length - len(x), x.shape[1])])",
            "torch.zeros(length, x.shape[1], dtype=x.dtype)\n    padded[: len(x)] = x",
        ),
        "brought to the CPU": changed(PADDED, "    length = ", "    x = x.cpu()\n    length = "),
        "called twice": changed(PADDED, "return compiled", "compiled(padded, mask)\n    return compiled"),
    },
    "ex12-task5": {
        "equal": changed(
            DIFFERENCE,
            "        try:\n            torch.testing.assert_close(found, expected, equal_nan=True)\n"
            "        except AssertionError:\n            return place",
            "        if not all(torch.equal(a, b) for a, b in zip(found, expected)):\n            return place",
        ),
        "allclose": changed(
            DIFFERENCE,
            "        try:\n            torch.testing.assert_close(found, expected, equal_nan=True)\n"
            "        except AssertionError:\n            return place",
            "        if not all(torch.allclose(a.double(), b.double(), equal_nan=True)"
            " for a, b in zip(found, expected)):\n            return place",
        ),
        "no NaN": changed(DIFFERENCE, ", equal_nan=True", ""),
        "the result alone": changed(DIFFERENCE, ", *ours]", "]").replace(", *theirs]", "]"),
        "no copies": changed(
            DIFFERENCE, "[each.clone() for each in case], [each.clone() for each in case]", "case, case"
        ),
        "one copy for both": changed(
            DIFFERENCE,
            "ours, theirs = [each.clone() for each in case], [each.clone() for each in case]",
            "ours = theirs = [each.clone() for each in case]",
        ),
        "a copy for one": changed(
            DIFFERENCE,
            "ours, theirs = [each.clone() for each in case], [each.clone() for each in case]",
            "ours, theirs = [each.clone() for each in case], case",
        ),
        "warms up": changed(
            DIFFERENCE, "        expected =", "        compiled(*[t.clone() for t in case])\n        expected ="
        ),
        "the first case alone": changed(DIFFERENCE, "enumerate(cases)", "enumerate(cases[:1])"),
        "the last one": changed(
            DIFFERENCE, "            return place\n    return None", "            last = place\n    return last"
        ).replace("    for place", "    last = None\n    for place"),
        "any dtype": changed(DIFFERENCE, "equal_nan=True", "equal_nan=True, check_dtype=False"),
        "backwards": changed(DIFFERENCE, "in enumerate(cases)", "in reversed(list(enumerate(cases)))"),
        "a wide tolerance": changed(DIFFERENCE, "equal_nan=True", "equal_nan=True, rtol=1e-2, atol=1e-2"),
    },
}
