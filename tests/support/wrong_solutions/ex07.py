"""Wrong solutions of exercise 07, by the grade id of the cell that they stand in."""

WRONG = {
    "ex07-task1": {
        "silent fallback by default": """
def what_happens(kind, fallback, warned_before):
    if kind == "native":
        return "runs on MPS"
    return "runs on the CPU silently" if warned_before or not fallback else "runs on the CPU with a warning"
""",
        "always on the CPU needs the variable": """
def what_happens(kind, fallback, warned_before):
    if kind == "native":
        return "runs on MPS"
    if not fallback:
        return "raises"
    return "runs on the CPU silently" if warned_before else "runs on the CPU with a warning"
""",
        "warns each time": """
def what_happens(kind, fallback, warned_before):
    if kind == "native":
        return "runs on MPS"
    if kind == "missing" and not fallback:
        return "raises"
    return "runs on the CPU with a warning"
""",
        "the variable moves everything": """
def what_happens(kind, fallback, warned_before):
    if kind == "native" and not fallback:
        return "runs on MPS"
    if kind == "missing" and not fallback:
        return "raises"
    return "runs on the CPU silently" if warned_before else "runs on the CPU with a warning"
""",
    },
    "ex07-task2": {
        "order ignored": """
def fallback_is_on(events):
    values = [argument for what, argument in events if what == "set"]
    return bool(values) and int(values[-1]) != 0
""",
        "any value counts as on": """
def fallback_is_on(events):
    on = False
    for what, argument in events:
        if what == "set":
            on = True
        elif argument == "torch":
            return on
    return False
""",
        "an export in a cell counts": """
def fallback_is_on(events):
    value = "0"
    for what, argument in events:
        if what in ("set", "shell"):
            value = argument
        elif argument == "torch":
            return int(value) != 0
    return False
""",
        "any import counts": """
def fallback_is_on(events):
    value = "0"
    for what, argument in events:
        if what == "set":
            value = argument
        elif what == "import":
            return int(value) != 0
    return False
""",
        "only 1 counts": """
def fallback_is_on(events):
    value = "0"
    for what, argument in events:
        if what == "set":
            value = argument
        elif what == "import" and argument == "torch":
            int(value)
            return value == "1"
    return False
""",
    },
    "ex07-task3": {
        "the missing operator itself": """
def shuffle_channels(x, groups):
    return nn.functional.channel_shuffle(x, groups)
""",
        "groups and channels exchanged": """
def shuffle_channels(x, groups):
    batch, channels, height, width = x.shape
    table = x.reshape(batch, channels // groups, groups, height, width)
    return table.transpose(1, 2).reshape(batch, channels, height, width)
""",
        "no transpose": """
def shuffle_channels(x, groups):
    batch, channels, height, width = x.shape
    return x.reshape(batch, groups, channels // groups, height, width).reshape(batch, channels, height, width)
""",
        "needs contiguous memory": """
def shuffle_channels(x, groups):
    batch, channels, height, width = x.shape
    table = torch.as_strided(x, (batch, groups, channels // groups, height, width),
                             (channels * height * width, channels // groups * height * width, height * width, width, 1))
    return table.transpose(1, 2).reshape(batch, channels, height, width)
""",
    },
    "ex07-task4": {
        "the missing operator itself": """
def pair_distances(x):
    return torch.pdist(x)
""",
        "full table, gradient not finite": """
def pair_distances(x):
    rows, columns = torch.triu_indices(len(x), len(x), offset=1, device=x.device)
    table = (x[:, None] - x[None]).pow(2).sum(dim=2).sqrt()
    return table[rows, columns]
""",
        "pairs in another order": """
def pair_distances(x):
    columns, rows = torch.tril_indices(len(x), len(x), offset=-1, device=x.device)
    return torch.linalg.vector_norm(x[rows] - x[columns], dim=1)
""",
        "squared distances": """
def pair_distances(x):
    rows, columns = torch.triu_indices(len(x), len(x), offset=1, device=x.device)
    return (x[rows] - x[columns]).pow(2).sum(dim=1)
""",
        "cut off from the gradient": """
def pair_distances(x):
    rows, columns = torch.triu_indices(len(x), len(x), offset=1, device=x.device)
    return torch.linalg.vector_norm(x.detach()[rows] - x[columns], dim=1)
""",
    },
}
