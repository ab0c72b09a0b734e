"""Fillings of lesson 12."""

FILLED = {
    "l12-predict1": 'predict("operators of activate", 5, "operators")',
    "l12-predict2": 'predict("bytes one by one, over the bytes of one kernel", 6, "times")',
    "l12-predict3": 'predict("speed of the compiled function, over eager", 3, "times")',
    "l12-predict4": 'predict("graphs of one call of shrink", 2, "graphs")',
    "l12-predict5": 'predict("graphs of six lengths, by default", 2, "graphs")',
    "l12-turn1": """
def bytes_fused(graph):
    total = 0
    for node in graph.graph.nodes:
        if node.op == "placeholder":
            total += node.meta["example_value"].nbytes
        if node.op == "output":
            total += sum(each.meta["example_value"].nbytes for each in node.all_input_nodes)
    return total
""",
    "l12-turn2": """
def shrink_in_one(x):
    total = x.abs().sum()
    x = torch.where(total > 10, x / total, x)
    return torch.tanh(x) + 1
""",
    "l12-turn3": """
class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls.add_(1)
        return torch.relu(x) * 2
""",
}

WRONG = {
    "l12-turn1": [
        # only what goes out
        """
def bytes_fused(graph):
    output = [node for node in graph.graph.nodes if node.op == "output"][0]
    return sum(each.meta["example_value"].nbytes for each in output.all_input_nodes)
""",
        # the first result only
        """
def bytes_fused(graph):
    total = 0
    for node in graph.graph.nodes:
        if node.op == "placeholder":
            total += node.meta["example_value"].nbytes
        if node.op == "output":
            total += node.all_input_nodes[0].meta["example_value"].nbytes
    return total
""",
        # the result has the size of the first input
        """
def bytes_fused(graph):
    came = [node.meta["example_value"].nbytes for node in graph.graph.nodes if node.op == "placeholder"]
    return sum(came) + came[0]
""",
        # everything, once
        """
def bytes_fused(graph):
    return sum(node.meta["example_value"].nbytes for node in graph.graph.nodes if node.op != "output")
""",
    ],
    "l12-turn2": [
        # the wrong way around
        """
def shrink_in_one(x):
    total = x.abs().sum()
    x = torch.where(total > 10, x, x / total)
    return torch.tanh(x) + 1
""",
        # .item() breaks as well
        """
def shrink_in_one(x):
    total = x.abs().sum().item()
    x = x / total if total > 10 else x
    return torch.tanh(x) + 1
""",
        # no branch at all
        """
def shrink_in_one(x):
    return torch.tanh(x / x.abs().sum()) + 1
""",
        # without abs
        """
def shrink_in_one(x):
    total = x.sum()
    x = torch.where(total > 10, x / total, x)
    return torch.tanh(x) + 1
""",
        # kept out of the compiler
        """
@torch.compiler.disable
def shrink_in_one(x):
    return shrink(x)
""",
    ],
    "l12-turn3": [
        # does not count
        """
class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        return torch.relu(x) * 2
""",
        # a Python list
        """
class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []

    @property
    def calls(self):
        return len(self.seen)

    def forward(self, x):
        self.seen.append(1)
        return torch.relu(x) * 2
""",
        # counts twice
        """
class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.calls.add_(2)
        return torch.relu(x) * 2
""",
    ],
}
