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
        "raises whenever something is missing": """
def what_happens(kind, fallback, warned_before):
    if kind == "missing":
        return "raises"
    if kind == "native":
        return "runs on MPS"
    return "runs on the CPU silently" if warned_before else "runs on the CPU with a warning"
""",
        "always on the CPU never warns": """
def what_happens(kind, fallback, warned_before):
    if kind == "native":
        return "runs on MPS"
    if kind == "always on the CPU":
        return "runs on the CPU silently"
    if not fallback:
        return "raises"
    return "runs on the CPU silently" if warned_before else "runs on the CPU with a warning"
""",
        "always on the CPU raises without the variable, silently with it": """
def what_happens(kind, fallback, warned_before):
    if kind == "native":
        return "runs on MPS"
    if not fallback:
        return "raises"
    if kind == "missing" and not warned_before:
        return "runs on the CPU with a warning"
    return "runs on the CPU silently"
""",
        "a warning decides first": """
def what_happens(kind, fallback, warned_before):
    if kind == "native":
        return "runs on MPS"
    if warned_before:
        return "runs on the CPU silently"
    if kind == "missing" and not fallback:
        return "raises"
    return "runs on the CPU with a warning"
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
        "a word raises at once": """
def fallback_is_on(events):
    value = 0
    for what, argument in events:
        if what == "set":
            value = int(argument)
        elif what == "import" and argument == "torch":
            return value != 0
    return False
""",
        "a word is off": """
def fallback_is_on(events):
    value = "0"
    for what, argument in events:
        if what == "set":
            value = argument
        elif what == "import" and argument == "torch":
            return value.isdigit() and int(value) != 0
    return False
""",
        "on without an import": """
def fallback_is_on(events):
    value = "0"
    for what, argument in events:
        if what == "set":
            value = argument
        elif what == "import" and argument == "torch":
            break
    return int(value) != 0
""",
        "the first value counts": """
def fallback_is_on(events):
    value = None
    for what, argument in events:
        if what == "set" and value is None:
            value = argument
        elif what == "import" and argument == "torch":
            return int(value or 0) != 0
    return False
""",
        "any value but the text 0": """
def fallback_is_on(events):
    value = "0"
    for what, argument in events:
        if what == "set":
            value = argument
        elif what == "import" and argument == "torch":
            int(value)
            return value != "0"
    return False
""",
    },
    "ex07-task3-labels": {
        "the missing operator itself": """
def labels_loss(scores, right):
    places = torch.full(right.shape, -1, device=scores.device)
    for row, labels in zip(places, right):
        found = labels.nonzero()[:, 0]
        row[: len(found)] = found
    return nn.functional.multilabel_margin_loss(scores, places)
""",
        "a detour by hand": """
def labels_loss(scores, right):
    device, scores, right = scores.device, scores.cpu(), right.cpu()
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return ((margins * pairs).sum(dim=(1, 2)).mean() / scores.shape[1]).to(device)
""",
        "over NumPy": """
def labels_loss(scores, right):
    import numpy as np
    s, r = scores.detach().cpu().numpy(), right.cpu().numpy()
    margins = np.maximum(0, 1 - s[:, :, None] + s[:, None, :]) * (r[:, :, None] & ~r[:, None, :])
    loss = margins.sum((1, 2)).mean() / s.shape[1]
    return torch.tensor(loss, dtype=scores.dtype, device=scores.device, requires_grad=True)
""",
        "the pairs the other way round": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return (margins.transpose(1, 2) * pairs).sum(dim=(1, 2)).mean() / scores.shape[1]
""",
        "right classes count against each other": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return (margins * right[:, :, None]).sum(dim=(1, 2)).mean() / scores.shape[1]
""",
        "each class with itself": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    same = torch.eye(scores.shape[1], dtype=torch.bool, device=scores.device)
    return (margins * (pairs | same)).sum(dim=(1, 2)).mean() / scores.shape[1]
""",
        "not divided by C": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return (margins * pairs).sum(dim=(1, 2)).mean()
""",
        "the sum over rows": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return (margins * pairs).sum() / scores.shape[1]
""",
        "the mean over the pairs": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return (margins * pairs).sum() / pairs.sum().clamp(min=1)
""",
        "a row without a pair does not count": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    rows = (margins * pairs).sum(dim=(1, 2)) / scores.shape[1]
    return rows.sum() / pairs.flatten(1).any(1).sum().clamp(min=1)
""",
        "cut off from the gradient": """
def labels_loss(scores, right):
    scores = scores.detach()
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    loss = (margins * pairs).sum(dim=(1, 2)).mean() / scores.shape[1]
    return loss.requires_grad_()
""",
        "no gradient through the other class": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores.detach()[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return (margins * pairs).sum(dim=(1, 2)).mean() / scores.shape[1]
""",
        "a mask of booleans, which waits": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return margins[pairs].sum() / scores.numel()
""",
        "row by row, with what is right picked out": """
def labels_loss(scores, right):
    total = scores.sum() * 0
    for row, labels in zip(scores, right):
        total = total + (1 - row[labels][:, None] + row[~labels][None]).clamp(min=0).sum()
    return total / scores.numel()
""",
        "the largest violation only": """
def labels_loss(scores, right):
    margins = (1 - scores[:, :, None] + scores[:, None, :]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return (margins * pairs).flatten(1).max(dim=1).values.mean() / scores.shape[1]
""",
        "no margin": """
def labels_loss(scores, right):
    margins = (scores[:, None, :] - scores[:, :, None]).clamp(min=0)
    pairs = right[:, :, None] & ~right[:, None, :]
    return (margins * pairs).sum(dim=(1, 2)).mean() / scores.shape[1]
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
        "a detour by hand": """
def pair_distances(x):
    return torch.pdist(x.cpu()).to(x.device)
""",
        "over NumPy": """
def pair_distances(x):
    import numpy as np
    a = x.detach().cpu().numpy()
    i, j = np.triu_indices(len(a), 1)
    return torch.from_numpy(np.linalg.norm(a[i] - a[j], axis=1)).to(x.device)
""",
        "every pair twice": """
def pair_distances(x):
    n = len(x)
    rows, columns = (
        [i for i in range(n) for j in range(n) if i != j],
        [j for i in range(n) for j in range(n) if i != j],
    )
    return torch.linalg.vector_norm(x[rows] - x[columns], dim=1)
""",
        "the sum of absolute differences": """
def pair_distances(x):
    rows, columns = torch.triu_indices(len(x), len(x), offset=1, device=x.device)
    return (x[rows] - x[columns]).abs().sum(dim=1)
""",
        "the diagonal too": """
def pair_distances(x):
    rows, columns = torch.triu_indices(len(x), len(x), offset=0, device=x.device)
    return torch.linalg.vector_norm(x[rows] - x[columns], dim=1)
""",
        "neighbours only": """
def pair_distances(x):
    return torch.linalg.vector_norm(x[1:] - x[:-1], dim=1)
""",
        "no gradient": """
def pair_distances(x):
    with torch.no_grad():
        rows, columns = torch.triu_indices(len(x), len(x), offset=1, device=x.device)
        return torch.linalg.vector_norm(x[rows] - x[columns], dim=1)
""",
    },
    "ex07-task5": {
        "forward only": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        function(x.to(mps.device))
        events = mps.ledger().fallbacks
    found = {}
    for f in events:
        found[f.operator] = found.get(f.operator, 0) + f.n_bytes
    return found
""",
        "read before the backward pass": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        result = function(x.to(mps.device).requires_grad_())
        events = mps.ledger().fallbacks
        result.sum().backward()
    found = {}
    for f in events:
        found[f.operator] = found.get(f.operator, 0) + f.n_bytes
    return found
""",
        "the last detour replaces the ones before": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        function(x.to(mps.device).requires_grad_()).sum().backward()
        events = mps.ledger().fallbacks
    return {f.operator: f.n_bytes for f in events}
""",
        "how often, not how much": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        function(x.to(mps.device).requires_grad_()).sum().backward()
        events = mps.ledger().fallbacks
    found = {}
    for f in events:
        found[f.operator] = found.get(f.operator, 0) + 1
    return found
""",
        "all copies": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        function(x.to(mps.device).requires_grad_()).sum().backward()
        copies = mps.ledger().copies
    found = {}
    for c in copies:
        found[c.cause] = found.get(c.cause, 0) + c.n_bytes
    return found
""",
        "without the fallback": """
def detours(function, x):
    with mps_or_emulated() as mps:
        function(x.to(mps.device).requires_grad_()).sum().backward()
        events = mps.ledger().fallbacks
    found = {}
    for f in events:
        found[f.operator] = found.get(f.operator, 0) + f.n_bytes
    return found
""",
        "the caller's tensor needs a gradient": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        x.requires_grad_()
        function(x.to(mps.device)).sum().backward()
        events = mps.ledger().fallbacks
    found = {}
    for f in events:
        found[f.operator] = found.get(f.operator, 0) + f.n_bytes
    return found
""",
        "one sum for all": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        function(x.to(mps.device).requires_grad_()).sum().backward()
        events = mps.ledger().fallbacks
    return {"bytes": sum(f.n_bytes for f in events)} if events else {}
""",
        "one way only": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        function(x.to(mps.device).requires_grad_()).sum().backward()
        copies = mps.ledger().copies
    found = {}
    for c in copies:
        if c.direction == 'to cpu':
            name = c.cause.removeprefix('fallback of ')
            found[name] = found.get(name, 0) + c.n_bytes
    return found
""",
        "counted on the CPU": """
def detours(function, x):
    with mps_or_emulated(fallback=True) as mps:
        function(x.clone().requires_grad_()).sum().backward()
        events = mps.ledger().fallbacks
    found = {}
    for f in events:
        found[f.operator] = found.get(f.operator, 0) + f.n_bytes
    return found
""",
    },
}
