"""Right solutions of exercise 10, in other styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex10-task1": {
        "comprehension": """
def portable(settings, kind):
    if kind == 'cuda': return dict(settings)
    new = {'device': lambda v: kind, 'pin_memory': lambda v: False, 'non_blocking': lambda v: False}
    if kind == 'mps':
        new['dtype'] = lambda v: {torch.float64: torch.float32, torch.complex128: torch.complex64}.get(v, v)
    new['backend'] = lambda v: ('gloo' if kind == 'cpu' else None) if v == 'nccl' else v
    return {k: new.get(k, lambda v: v)(v) for k, v in settings.items()}
""",
        "backend on mps always None": """
def portable(settings, kind):
    r = settings.copy()
    if kind != 'cuda':
        for k in ('pin_memory', 'non_blocking'):
            if k in r: r[k] = False
        if 'device' in r: r['device'] = kind
        if r.get('backend') == 'nccl' and kind == 'cpu': r['backend'] = 'gloo'
        if 'backend' in r and kind == 'mps': r['backend'] = None
        if kind == 'mps' and r.get('dtype') is torch.float64: r['dtype'] = torch.float32
        if kind == 'mps' and r.get('dtype') is torch.complex128: r['dtype'] = torch.complex64
    return r
""",
        "match": """
def portable(settings, kind):
    def carry(key, value):
        match key, kind:
            case _, "cuda":
                return value
            case "device", _:
                return kind
            case ("pin_memory" | "non_blocking"), _:
                return False
            case "dtype", "mps" if value == torch.float64:
                return torch.float32
            case "dtype", "mps" if value == torch.complex128:
                return torch.complex64
            case "backend", _ if value == "nccl":
                return {"cpu": "gloo", "mps": None}[kind]
        return value

    return {key: carry(key, value) for key, value in settings.items()}
""",
        "a deep copy": """
import copy
def portable(settings, kind):
    new = copy.deepcopy(settings)
    if kind != "cuda":
        if "device" in new:
            new["device"] = kind
        for flag in {"pin_memory", "non_blocking"} & new.keys():
            new[flag] = False
        if new.get("backend") == "nccl":
            new["backend"] = None if kind == "mps" else "gloo"
    if kind == "mps" and new.get("dtype") in (torch.float64, torch.complex128):
        new["dtype"] = torch.float32 if new["dtype"] == torch.float64 else torch.complex64
    return new
""",
        "the union of what is there": """
def portable(settings, kind):
    changes = {}
    if kind != "cuda":
        changes = {"device": kind, "pin_memory": False, "non_blocking": False}
        if settings.get("backend") == "nccl":
            changes["backend"] = {"mps": None}.get(kind, "gloo")
        if kind == "mps" and settings.get("dtype") is torch.double:
            changes["dtype"] = torch.float
        if kind == "mps" and settings.get("dtype") is torch.cdouble:
            changes["dtype"] = torch.cfloat
    return settings | {key: value for key, value in changes.items() if key in settings}
""",
    },
    "ex10-task2": {
        "count down": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    while batch % size:
        size -= 1
    share = batch // size
    rows = min(share, machine["fits"])
    while share % rows:
        rows -= 1
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "one expression for each": """
def launch_plan(machine):
    g, w, b = machine['gpus'], machine['processes'], machine['batch']
    d = 'cuda' if g > 0 else 'mps' if machine['mps'] and w == 1 else 'cpu'
    n = [i for i in range(1, (min(g, w) if g else w) + 1) if not b % i][-1]
    r = [i for i in range(1, machine['fits'] + 1) if not (b // n) % i][-1]
    return dict(device=d, world_size=n, backend=None if n == 1 else {'cuda': 'nccl', 'cpu': 'gloo'}[d],
                rows=r, pieces=b // n // r)
""",
        "the smallest number of pieces": """
def launch_plan(machine):
    plan = {"device": "cpu", "backend": "gloo"}
    limit = machine["processes"]
    if machine["gpus"] > 0:
        plan = {"device": "cuda", "backend": "nccl"}
        limit = min(limit, machine["gpus"])
    elif machine["mps"] and limit == 1:
        plan["device"] = "mps"
    world = max(n for n in range(1, limit + 1) if machine["batch"] % n == 0)
    share, pieces = machine["batch"] // world, 1
    while share % pieces or share // pieces > machine["fits"]:
        pieces += 1
    if world == 1:
        plan["backend"] = None
    return plan | {"world_size": world, "rows": share // pieces, "pieces": pieces}
""",
        "divisors first": """
def launch_plan(machine):
    def divisors(number):
        small = [n for n in range(1, int(number**0.5) + 1) if number % n == 0]
        return sorted({*small, *(number // n for n in small)})

    match machine:
        case {"gpus": gpus, "processes": most} if gpus:
            device, most = "cuda", min(gpus, most)
        case {"mps": True, "processes": 1}:
            device, most = "mps", 1
        case {"processes": most}:
            device = "cpu"
    size = max(filter(lambda n: n <= most, divisors(machine["batch"])))
    each = machine["batch"] // size
    rows = max(n for n in divisors(each) if n <= machine["fits"])
    backend = {"cuda": "nccl", "cpu": "gloo", "mps": None}[device] if size > 1 else None
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": each // rows}
""",
        "next": """
def launch_plan(machine):
    gpus, wanted, batch = (machine[key] for key in ("gpus", "processes", "batch"))
    world_size = next(n for n in range(wanted, 0, -1) if batch % n == 0 and (not gpus or n <= gpus))
    share = batch // world_size
    rows = next(n for n in range(machine["fits"], 0, -1) if share % n == 0)
    result = {"world_size": world_size, "rows": rows, "pieces": share // rows, "backend": None}
    if gpus:
        result["device"] = "cuda"
    elif wanted > 1:
        result["device"] = "cpu"
    else:
        result["device"] = "mps" if machine["mps"] else "cpu"
    if world_size > 1:
        result["backend"] = "nccl" if gpus else "gloo"
    return result
""",
    },
    "ex10-task3": {
        "array_split": """
import numpy as np
def shards(rows, world):
    parts = np.array_split(np.arange(rows), world)
    out, s = [], 0
    for p in parts:
        out.append((s, s + len(p)))
        s += len(p)
    return out

def averaged(gradients, sizes):
    n = sum(sizes)
    out = None
    for g, s in zip(gradients, sizes):
        if g is None: continue
        g = [t * s / n for t in g]
        out = g if out is None else [a + b for a, b in zip(out, g)]
    return out
""",
        "tensor_split": """
def shards(rows, world):
    out, s = [], 0
    for p in torch.arange(rows).tensor_split(world):
        out.append((s, s + len(p)))
        s += len(p)
    return out

def averaged(gradients, sizes):
    have = [(g, s) for g, s in zip(gradients, sizes) if s]
    w = torch.tensor([s for _, s in have], dtype=torch.float32)
    w = w / w.sum()
    return [torch.tensordot(w, torch.stack(ts), dims=1) for ts in zip(*[g for g, _ in have])]
""",
        "formula": """
def shards(rows, world):
    q, r = rows // world, rows % world
    return [(i * q + min(i, r), (i + 1) * q + min(i + 1, r)) for i in range(world)]

def averaged(gradients, sizes):
    total = sum(sizes)
    first = next(g for g in gradients if g is not None)
    acc = [torch.zeros_like(t) for t in first]
    for g, s in zip(gradients, sizes):
        if g is not None:
            for a, t in zip(acc, g): a.add_(t, alpha=s / total)
    return acc
""",
        "ceil of what is left": """
def shards(rows, world):
    out, start = [], 0
    for left in range(world, 0, -1):
        stop = start + -(-(rows - start) // left)
        out.append((start, stop))
        start = stop
    return out

def averaged(gradients, sizes):
    pairs = [(g, n) for g, n in zip(gradients, sizes) if g is not None]
    totals = [torch.zeros_like(t) for t in pairs[0][0]]
    for g, n in pairs:
        totals = [total + t * n for total, t in zip(totals, g)]
    return [total / sum(sizes) for total in totals]
""",
        "accumulate, stack": """
from itertools import accumulate, pairwise

def shards(rows, world):
    lengths = [rows // world + 1] * (rows % world) + [rows // world] * (world - rows % world)
    return list(pairwise([0, *accumulate(lengths)]))

def averaged(gradients, sizes):
    kept = [k for k, g in enumerate(gradients) if g is not None]
    weights = torch.tensor([sizes[k] for k in kept], dtype=torch.float32)
    result = []
    for tensors in zip(*(gradients[k] for k in kept)):
        stacked = torch.stack(tensors)
        w = weights.reshape(-1, *[1] * (stacked.dim() - 1))
        result.append((w * stacked).sum(0) / weights.sum())
    return result
""",
    },
    "ex10-task4": {
        "a regular expression, and copies": r"""
import re
def adopt(model, weights):
    def short(name):
        return re.sub(r"(?<![^.])(module|_orig_mod)(\.|$)", "", name)

    given = {short(name): tensor for name, tensor in weights.items()}
    wanted = {short(name): tensor for name, tensor in model.state_dict().items()}
    for name in sorted(set(given) ^ set(wanted)):
        raise ValueError(f"no match for {name}")
    pairs = []
    for name, mine in wanted.items():
        theirs = given[name]
        if theirs.shape != mine.shape:
            raise ValueError(f"{name}: {theirs.shape}")
        if mine.is_floating_point() and theirs.is_floating_point():
            new = theirs.to(mine.dtype)
            if (new.isinf() & theirs.isfinite()).any():
                raise ValueError(f"{name} overflows")
        elif mine.dtype != theirs.dtype:
            raise ValueError(f"{name}: {theirs.dtype}")
        else:
            new = theirs
        pairs.append((mine, new))
    with torch.no_grad():
        for mine, new in pairs:
            mine.copy_(new)
    return len(pairs)
""",
        "parts taken away one by one": """
def adopt(model, weights):
    def key(name):
        parts = name.split(".")
        for extra in ("module", "_orig_mod"):
            while extra in parts:
                parts.remove(extra)
        return ".".join(parts)

    theirs = dict((key(name), weights[name]) for name in weights)
    loaded, full_names = {}, {}
    for full_name, mine in model.state_dict().items():
        name = key(full_name)
        try:
            tensor = theirs.pop(name)
        except KeyError:
            raise ValueError(f"{name} is missing") from None
        if tensor.shape != mine.shape:
            raise ValueError(f"{name} has another shape")
        if tensor.dtype != mine.dtype:
            if not (tensor.dtype.is_floating_point and mine.dtype.is_floating_point):
                raise ValueError(f"{name} has another dtype")
            most = torch.finfo(mine.dtype).max
            narrow = tensor.to(mine.dtype)
            if int(torch.isfinite(narrow).sum()) != int(torch.isfinite(tensor).sum()):
                raise ValueError(f"{name} has numbers above {most}")
            tensor = narrow
        loaded[full_name] = tensor
    if theirs:
        raise ValueError(f"unexpected: {next(iter(theirs))}")
    model.load_state_dict(loaded, strict=True)
    return len(loaded)
""",
        "on the device by hand": """
def adopt(model, weights):
    import itertools

    WRAPPERS = {"module", "_orig_mod"}
    short = lambda name: ".".join(itertools.filterfalse(WRAPPERS.__contains__, name.split(".")))
    mine = {short(name): tensor for name, tensor in model.state_dict(keep_vars=True).items()}
    theirs = {short(name): tensor for name, tensor in weights.items()}
    missing, unexpected = mine.keys() - theirs.keys(), theirs.keys() - mine.keys()
    if missing or unexpected:
        raise ValueError((missing or unexpected).pop())
    for name, target in mine.items():
        if theirs[name].shape != target.shape:
            raise ValueError(name)
        if theirs[name].dtype.is_floating_point != target.dtype.is_floating_point:
            raise ValueError(name)
        if not target.dtype.is_floating_point and theirs[name].dtype != target.dtype:
            raise ValueError(name)
        theirs[name] = new = theirs[name].type(target.dtype)
        old = dict(zip(map(short, weights), weights.values()))[name]
        if old.isfinite().logical_and(~new.isfinite()).any():
            raise ValueError(name)
    for name, target in mine.items():
        target.data.copy_(theirs[name].to(target.device))
    return len(mine)
""",
        "checks in functions of their own": """
def adopt(model, weights):
    def short(name):
        return ".".join(p for p in name.split(".") if p != "module" and p != "_orig_mod")

    def fitted(name, given, mine):
        if tuple(given.size()) != tuple(mine.size()):
            raise ValueError(f"{name}: {tuple(given.size())}")
        if given.dtype == mine.dtype:
            return given.clone()
        if not given.is_floating_point() or not mine.is_floating_point():
            raise ValueError(f"{name}: {given.dtype}")
        result = given.to(mine.dtype)
        if given[given.isfinite()].to(mine.dtype).isinf().any():
            raise ValueError(f"{name} becomes infinite")
        return result

    names = {short(full): full for full in model.state_dict()}
    given = {short(full): tensor for full, tensor in weights.items()}
    for name in set(names).symmetric_difference(given):
        raise ValueError("names differ: " + name)
    state = model.state_dict()
    new = {full: fitted(name, given[name], state[full]) for name, full in names.items()}
    result = model.load_state_dict(new)
    assert not result.missing_keys
    return len(new)
""",
        "a copy of the model tries it first": """
import copy
def adopt(model, weights):
    def short(name):
        return ".".join(x for x in name.split(".") if x not in {"module", "_orig_mod"})

    trial = copy.deepcopy(model).to("cpu")
    state = {short(name): tensor for name, tensor in trial.state_dict().items()}
    given = {short(name): tensor for name, tensor in weights.items()}
    for name in (*state, *given):
        if name not in state or name not in given:
            raise ValueError(name)
    for name, tensor in state.items():
        other = given[name]
        same_kind = other.dtype == tensor.dtype or (
            other.is_floating_point() and tensor.is_floating_point()
        )
        if not same_kind or other.shape != tensor.shape:
            raise ValueError(name)
        tensor.copy_(other)
        if (~torch.isfinite(tensor) & torch.isfinite(other)).any():
            raise ValueError(name)
    model.load_state_dict(trial.state_dict())
    return len(state)
""",
    },
    "ex10-task5": {
        "a file on disk": """
import tempfile
from pathlib import Path

def first_difference(train, steps, cut):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.pt"
        first_part, state = train(None, cut)
        torch.save(state, path)
        torch.manual_seed(1234)
        second_part, _ = train(torch.load(path, weights_only=True), steps - cut)
    resumed = first_part + second_part
    straight = train(None, steps)[0]
    return next((i for i in range(steps) if resumed[i] != straight[i]), None)
""",
        "getvalue": """
def first_difference(train, steps, cut):
    buffer = io.BytesIO()
    part, state = train(None, cut)
    torch.save(state, buffer)
    loaded = torch.load(io.BytesIO(buffer.getvalue()), map_location="cpu", weights_only=True)
    torch.manual_seed(1234)
    part = list(part) + list(train(loaded, steps - cut)[0])
    full, _ = train(None, steps)
    different = [a != b for a, b in zip(full, part)]
    return different.index(True) if any(different) else None
""",
        "tensors of losses": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    torch.manual_seed(1234)
    after, _ = train(torch.load(file, weights_only=True), steps - cut)
    same = torch.tensor(whole, dtype=torch.float64) == torch.tensor(before + after, dtype=torch.float64)
    return None if same.all() else int((~same).nonzero()[0])
""",
        "only after the cut": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    torch.manual_seed(1234)
    after, _ = train(torch.load(file, weights_only=True), steps - cut)
    for number, loss in enumerate(after, start=cut):
        if loss != whole[number]:
            return number
""",
        "helpers": """
def first_difference(train, steps, cut):
    def through_file(value):
        with io.BytesIO() as stream:
            torch.save(value, stream)
            stream.seek(0)
            return torch.load(stream, weights_only=True)

    losses, state = train(None, cut)
    state = through_file(state)
    torch.manual_seed(1234)
    more, _ = train(state, steps - cut)
    reference, _ = train(None, steps)
    for k, pair in enumerate(zip(losses + more, reference, strict=True)):
        if len(set(pair)) == 2:
            return k
    return None
""",
    },
}
