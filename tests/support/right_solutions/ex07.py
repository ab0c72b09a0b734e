"""Right solutions of exercise 07, in other styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex07-task1": {
        "a table": """
def what_happens(kind, fallback, warned_before):
    on_cpu = ("runs on the CPU with a warning", "runs on the CPU silently")[warned_before]
    return {
        "native": "runs on MPS",
        "always on the CPU": on_cpu,
        "missing": on_cpu if fallback else "raises",
    }[kind]
""",
        "match": """
def what_happens(kind, fallback, warned_before):
    match kind, fallback, warned_before:
        case "native", _, _:
            return "runs on MPS"
        case "missing", False, _:
            return "raises"
        case _, _, True:
            return "runs on the CPU silently"
    return "runs on the CPU with a warning"
""",
        "a flag": """
def what_happens(kind, fallback, warned_before):
    runs_on_cpu = kind == "always on the CPU" or (kind == "missing" and fallback)
    if runs_on_cpu and not warned_before:
        return "runs on the CPU with a warning"
    elif runs_on_cpu:
        return "runs on the CPU silently"
    elif kind == "missing":
        return "raises"
    else:
        return "runs on MPS"
""",
        "nested": """
def what_happens(kind, fallback, warned_before):
    if kind != "native":
        if fallback or kind == "always on the CPU":
            if warned_before is False:
                return "runs on the CPU with a warning"
            return "runs on the CPU silently"
        return "raises"
    return "runs on MPS"
""",
        "an expression": """
def what_happens(kind, fallback, warned_before):
    how = "silently" if warned_before else "with a warning"
    return "runs on MPS" if kind == "native" else (
        "raises" if kind == "missing" and not fallback else f"runs on the CPU {how}"
    )
""",
    },
    "ex07-task2": {
        "cut at the import": """
def fallback_is_on(events):
    events = list(events)
    if ("import", "torch") not in events:
        return False
    before = events[: events.index(("import", "torch"))]
    values = [value for what, value in before if what == "set"]
    return bool(values) and int(values[-1]) != 0
""",
        "an environment": """
def fallback_is_on(events):
    environment = {}
    for event in events:
        if event == ("import", "torch"):
            return bool(int(environment.get("PYTORCH_ENABLE_MPS_FALLBACK", 0)))
        if event[0] == "set":
            environment["PYTORCH_ENABLE_MPS_FALLBACK"] = event[1]
    return False
""",
        "takewhile": """
from itertools import takewhile

def fallback_is_on(events):
    before = list(takewhile(lambda event: tuple(event) != ("import", "torch"), events))
    if len(before) == len(events):
        return False
    last = next((value for kind, value in reversed(before) if kind == "set"), "0")
    return int(last) != 0
""",
        "raises by hand": """
def fallback_is_on(events):
    current = None
    for what, argument in events:
        if what == "set":
            current = argument
        if what == "import" and argument == "torch":
            if current is None:
                return False
            if not current.isdigit():
                raise ValueError(f"{current!r} is not a whole number")
            return current.strip("0") != ""
    return False
""",
        "match": """
def fallback_is_on(events):
    value = 0
    for event in events:
        match event:
            case ["set", new] | ("set", new):
                value = new
            case ("import", "torch"):
                return int(value) > 0 or int(value) < 0
    return False
""",
    },
    "ex07-task3-labels": {
        "where": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return torch.where(pairs, margins, torch.zeros_like(margins)).sum() / scores.numel()
""",
        "masked_fill and relu": """
def labels_loss(scores, right):
    n, c = scores.shape
    other = scores.unsqueeze(1).masked_fill(right.unsqueeze(1), float("-inf"))
    loss = torch.relu(1 - scores.unsqueeze(2) + other)
    return loss.masked_fill(~right.unsqueeze(2), 0.0).sum(-1).sum(-1).mean() / c
""",
        "class by class": """
def labels_loss(scores, right):
    total = torch.zeros_like(scores)
    for c in range(scores.shape[1]):
        margin = torch.relu(1 - scores[:, c : c + 1] + scores)
        total = total + margin * (right[:, c : c + 1] & ~right)
    return total.mean(dim=1).mean()
""",
        "einsum": """
def labels_loss(scores, right):
    margins = nn.functional.relu(1.0 - scores[..., None] + scores[..., None, :])
    yes = right.to(scores.dtype)
    return torch.einsum("nij,ni,nj->n", margins, yes, 1 - yes).mean() / scores.size(-1)
""",
        "the other index first": """
def labels_loss(scores, right):
    margins = torch.maximum(1 + scores[:, :, None] - scores[:, None, :], scores.new_zeros(()))
    wrong = torch.logical_not(right)
    return (margins * wrong[:, :, None] * right[:, None, :]).sum((1, 2)).div(scores.shape[1]).mean()
""",
    },
    "ex07-task4": {
        "square, sum, sqrt": """
def pair_distances(x):
    i, j = torch.triu_indices(x.shape[0], x.shape[0], 1, device=x.device)
    return (x[i] - x[j]).pow(2).sum(-1).sqrt()
""",
        "cdist": """
def pair_distances(x):
    i, j = torch.triu_indices(len(x), len(x), offset=1, device=x.device)
    return torch.cdist(x, x)[i, j]
""",
        "pairwise_distance": """
def pair_distances(x):
    rows, columns = torch.triu_indices(len(x), len(x), offset=1).to(x.device)
    return nn.functional.pairwise_distance(x[rows], x[columns])
""",
        "row by row": """
def pair_distances(x):
    parts = [(x[i] - x[i + 1:]).norm(dim=1) for i in range(len(x) - 1)]
    return torch.cat(parts) if parts else x.new_zeros(0)
""",
        "index_select": """
def pair_distances(x):
    n = x.size(0)
    first = [i for i in range(n) for j in range(i + 1, n)]
    second = [j for i in range(n) for j in range(i + 1, n)]
    first = torch.tensor(first, dtype=torch.long, device=x.device)
    second = torch.tensor(second, dtype=torch.long, device=x.device)
    difference = x.index_select(0, first) - x.index_select(0, second)
    return torch.sqrt((difference * difference).sum(dim=1))
""",
        "einsum": """
def pair_distances(x):
    ij = torch.triu_indices(len(x), len(x), offset=1, device=x.device)
    d = x[ij[0]] - x[ij[1]]
    return torch.einsum("pd,pd->p", d, d) ** 0.5
""",
    },
    "ex07-task5": {
        "Counter": """
from collections import Counter

def detours(function, x):
    counter = Counter()
    with mps_or_emulated(fallback=True) as mps:
        y = x.to(mps.device).requires_grad_(True)
        mps.clear_ledger()
        function(y).sum().backward()
        for event in mps.ledger().fallbacks:
            counter[event.operator] += event.n_bytes
    return counter
""",
        "defaultdict": """
def detours(function, x):
    from collections import defaultdict
    total = defaultdict(int)
    with mps_or_emulated(fallback=True) as device:
        moved = x.detach().clone().to(device.device)
        moved.requires_grad = True
        function(moved).sum().backward()
        ledger = device.ledger()
    for item in ledger.fallbacks:
        total[item.operator] += item.n_bytes
    return dict(total)
""",
        "a sum for each name": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        leaf = x.to(mps.device).clone().requires_grad_()
        result = function(leaf)
        result.sum().backward()
        events = mps.ledger().fallbacks
    names = {event.operator for event in events}
    return {name: sum(e.n_bytes for e in events if e.operator == name) for name in names}
""",
        "setdefault": """
def detours(function, x):
    found = {}
    with mps_or_emulated(fallback=True) as mps:
        leaf = x.to(mps.device).requires_grad_()
        torch.sum(function(leaf)).backward()
        for fallback in mps.ledger().fallbacks:
            found.setdefault(fallback.operator, []).append(fallback.n_bytes)
    return {operator: sum(sizes) for operator, sizes in found.items()}
""",
        "by cause of the copies": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        there = x.to(mps.device).requires_grad_()
        mps.clear_ledger()
        function(there).sum().backward()
        ledger = mps.ledger()
    found = {fallback.operator: 0 for fallback in ledger.fallbacks}
    for fallback in ledger.fallbacks:
        found[fallback.operator] += fallback.n_bytes
    return found
""",
    },
}
