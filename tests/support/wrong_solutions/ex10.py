"""Wrong solutions of exercise 10, by the grade id of the cell that they stand in."""

WRONG = {
    "ex10-task1": {
        "the device alone": """
def portable(settings, kind):
    return (
        settings | {"device": kind if kind != "cuda" else settings["device"]}
        if "device" in settings
        else settings
    )
""",
        "adds keys": """
def portable(settings, kind):
    r = dict(settings)
    if kind == 'cuda': return r
    r.update(device=kind, pin_memory=False, non_blocking=False)
    if kind == 'mps' and r.get('dtype') == torch.float64: r['dtype'] = torch.float32
    return r
""",
        "no float64 on the CPU either": """
def portable(settings, kind):
    result = dict(settings)
    if kind == "cuda":
        return result
    narrower = {torch.float64: torch.float32, torch.complex128: torch.complex64}
    for key, value in settings.items():
        if key == "device":
            result[key] = kind
        elif key in ("pin_memory", "non_blocking"):
            result[key] = False
        elif key == "dtype":
            result[key] = narrower.get(value, value)
        elif key == "backend" and value == "nccl":
            result[key] = "gloo" if kind == "cpu" else None
    return result
""",
        "gloo on MPS, as torch 2.8 names it": """
def portable(settings, kind):
    result = dict(settings)
    if kind == "cuda":
        return result
    narrower = {torch.float64: torch.float32, torch.complex128: torch.complex64} if kind == "mps" else {}
    for key, value in settings.items():
        if key == "device":
            result[key] = kind
        elif key in ("pin_memory", "non_blocking"):
            result[key] = False
        elif key == "dtype":
            result[key] = narrower.get(value, value)
        elif key == "backend" and value == "nccl":
            result[key] = "gloo"
    return result
""",
        "dtype on cpu too": """
def portable(settings, kind):
    r = dict(settings)
    if kind == 'cuda': return r
    for k in ('pin_memory', 'non_blocking'):
        if k in r: r[k] = False
    if 'device' in r: r['device'] = kind
    if r.get('dtype') == torch.float64: r['dtype'] = torch.float32
    if r.get('dtype') == torch.complex128: r['dtype'] = torch.complex64
    if r.get('backend') == 'nccl': r['backend'] = 'gloo' if kind == 'cpu' else None
    return r
""",
        "device overwritten on cuda": """
def portable(settings, kind):
    r = dict(settings)
    if 'device' in r: r['device'] = kind
    if kind == 'cuda': return r
    for k in ('pin_memory', 'non_blocking'):
        if k in r: r[k] = False
    if kind == 'mps' and r.get('dtype') == torch.float64: r['dtype'] = torch.float32
    return r
""",
        "mutates": """
def portable(settings, kind):
    if kind == "cuda":
        return settings
    for k in ("pin_memory", "non_blocking"):
        if k in settings:
            settings[k] = False
    if "device" in settings:
        settings["device"] = kind
    if kind == "mps" and "dtype" in settings:
        settings["dtype"] = {torch.float64: torch.float32, torch.complex128: torch.complex64}.get(
            settings["dtype"], settings["dtype"]
        )
    if settings.get("backend") == "nccl":
        settings["backend"] = "gloo" if kind == "cpu" else None
    return settings
""",
        "gloo stays nccl": """
def portable(settings, kind):
    result = dict(settings)
    if kind == "cuda":
        return result
    narrower = {torch.float64: torch.float32, torch.complex128: torch.complex64} if kind == "mps" else {}
    for key, value in settings.items():
        if key == "device":
            result[key] = kind
        elif key in ("pin_memory", "non_blocking"):
            result[key] = False
        elif key == "dtype":
            result[key] = narrower.get(value, value)
    return result
""",
        "complex numbers forgotten": """
def portable(settings, kind):
    result = dict(settings)
    if kind == "cuda":
        return result
    narrower = {torch.float64: torch.float32} if kind == "mps" else {}
    for key, value in settings.items():
        if key == "device":
            result[key] = kind
        elif key in ("pin_memory", "non_blocking"):
            result[key] = False
        elif key == "dtype":
            result[key] = narrower.get(value, value)
        elif key == "backend" and value == "nccl":
            result[key] = "gloo" if kind == "cpu" else None
    return result
""",
        "the same dictionary on cuda": """
def portable(settings, kind):
    result = dict(settings)
    if kind == "cuda":
        return settings
    narrower = {torch.float64: torch.float32, torch.complex128: torch.complex64} if kind == "mps" else {}
    for key, value in settings.items():
        if key == "device":
            result[key] = kind
        elif key in ("pin_memory", "non_blocking"):
            result[key] = False
        elif key == "dtype":
            result[key] = narrower.get(value, value)
        elif key == "backend" and value == "nccl":
            result[key] = "gloo" if kind == "cpu" else None
    return result
""",
        "unknown keys are dropped": """
def portable(settings, kind):
    if kind == "cuda":
        return dict(settings)
    result = {}
    if "device" in settings:
        result["device"] = kind
    for key in ("pin_memory", "non_blocking"):
        if key in settings:
            result[key] = False
    if "dtype" in settings:
        narrower = {torch.float64: torch.float32, torch.complex128: torch.complex64} if kind == "mps" else {}
        result["dtype"] = narrower.get(settings["dtype"], settings["dtype"])
    if "backend" in settings:
        result["backend"] = (
            ("gloo" if kind == "cpu" else None) if settings["backend"] == "nccl" else settings["backend"]
        )
    return result
""",
        "non_blocking kept": """
def portable(settings, kind):
    result = dict(settings)
    if kind == "cuda":
        return result
    narrower = {torch.float64: torch.float32, torch.complex128: torch.complex64} if kind == "mps" else {}
    for key, value in settings.items():
        if key == "device":
            result[key] = kind
        elif key in ("pin_memory",):
            result[key] = False
        elif key == "dtype":
            result[key] = narrower.get(value, value)
        elif key == "backend" and value == "nccl":
            result[key] = "gloo" if kind == "cpu" else None
    return result
""",
    },
    "ex10-task2": {
        "distributed on MPS": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] else "cpu"
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
        "all GPUs, whatever is wanted": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = gpus or wanted
    while batch % size:
        size -= 1
    share = batch // size
    rows = min(share, machine["fits"])
    while share % rows:
        rows -= 1
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "as many as wanted on few GPUs": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = wanted
    while batch % size:
        size -= 1
    share = batch // size
    rows = min(share, machine["fits"])
    while share % rows:
        rows -= 1
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "as many as wanted, whatever the batch": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    share = batch // size
    rows = min(share, machine["fits"])
    while share % rows:
        rows -= 1
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "one process where the batch does not divide": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    size = size if batch % size == 0 else 1
    share = batch // size
    rows = min(share, machine["fits"])
    while share % rows:
        rows -= 1
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "half as many until the batch divides": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    while batch % size:
        size //= 2
    share = batch // size
    rows = min(share, machine["fits"])
    while share % rows:
        rows -= 1
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "the share is rounded up": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    share = -(-batch // size)
    rows = min(share, machine["fits"])
    while share % rows:
        rows -= 1
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "rows are what fits": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    while batch % size:
        size -= 1
    share = batch // size
    rows = min(share, machine["fits"])
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": -(-share // rows)}
""",
        "a last piece is left out": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    while batch % size:
        size -= 1
    share = batch // size
    rows = min(share, machine["fits"])
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "halves until it fits": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    while batch % size:
        size -= 1
    share = batch // size
    rows = share
    while rows > machine["fits"]:
        rows //= 2
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "one row at a time": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    while batch % size:
        size -= 1
    share = batch // size
    rows = 1
    while share % rows:
        rows -= 1
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "fewer than fit": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    while batch % size:
        size -= 1
    share = batch // size
    rows = min(share, machine["fits"])
    while share % rows or rows >= machine["fits"] > 1:
        rows -= 1
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "the whole batch has to fit": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "cuda" if gpus else "mps" if machine["mps"] and wanted == 1 else "cpu"
    size = min(wanted, gpus) if gpus else wanted
    while batch % size:
        size -= 1
    share = batch // size
    rows = max(1, min(share, machine["fits"] // size))
    while share % rows:
        rows -= 1
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "pieces of the whole batch": """
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
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": batch // rows}
""",
        "the device follows the processes that start": """
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
    if size == 1 and machine["mps"] and not gpus:
        device = "mps"
    backend = None if size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "a backend for one process": """
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
    backend = "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "gloo everywhere": """
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
    backend = None if size == 1 else "gloo"
    return {"device": device, "world_size": size, "backend": backend, "rows": rows, "pieces": share // rows}
""",
        "MPS before CUDA": """
def launch_plan(machine):
    wanted, gpus, batch = machine["processes"], machine["gpus"], machine["batch"]
    device = "mps" if machine["mps"] and wanted == 1 else "cuda" if gpus else "cpu"
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
    },
    "ex10-task3": {
        "the mean of the means": """
def shards(rows, world):
    short, longer = divmod(rows, world)
    bounds, start = [], 0
    for rank in range(world):
        stop = start + short + (rank < longer)
        bounds.append((start, stop))
        start = stop
    return bounds

def averaged(gradients, sizes):
    present = [rank for rank in gradients if rank is not None]
    return [sum(tensors) / len(present) for tensors in zip(*present)]
""",
        "the sum of the means": """
def shards(rows, world):
    short, longer = divmod(rows, world)
    bounds, start = [], 0
    for rank in range(world):
        stop = start + short + (rank < longer)
        bounds.append((start, stop))
        start = stop
    return bounds

def averaged(gradients, sizes):
    present = [rank for rank in gradients if rank is not None]
    return [sum(tensors) for tensors in zip(*present)]
""",
        "the rest goes to the last rank": """
def shards(rows, world):
    each = rows // world
    return [(rank * each, rows if rank == world - 1 else (rank + 1) * each) for rank in range(world)]

def averaged(gradients, sizes):
    total = sum(sizes)
    present = [(rank, size / total) for rank, size in zip(gradients, sizes) if rank is not None]
    return [sum(weight * rank[place] for rank, weight in present) for place in range(len(present[0][0]))]
""",
        "shards as chunk makes them": """
def shards(rows, world):
    each = -(-rows // world)
    return [(min(rank * each, rows), min((rank + 1) * each, rows)) for rank in range(world)]

def averaged(gradients, sizes):
    total = sum(sizes)
    present = [(rank, size / total) for rank, size in zip(gradients, sizes) if rank is not None]
    return [sum(weight * rank[place] for rank, weight in present) for place in range(len(present[0][0]))]
""",
        "stumbles over a rank without rows": """
def shards(rows, world):
    short, longer = divmod(rows, world)
    bounds, start = [], 0
    for rank in range(world):
        stop = start + short + (rank < longer)
        bounds.append((start, stop))
        start = stop
    return bounds

def averaged(gradients, sizes):
    total = sum(sizes)
    return [sum(size / total * tensor for size, tensor in zip(sizes, tensors)) for tensors in zip(*gradients)]
""",
        "last takes rest": """
def shards(rows, world):
    n = rows // world
    return [(i * n, rows if i == world - 1 else (i + 1) * n) for i in range(world)]

def averaged(gradients, sizes):
    g = [x for x in gradients if x is not None]
    return [sum(t) / len(g) for t in zip(*g)]
""",
        "ceil chunks": """
def shards(rows, world):
    n = -(-rows // world)
    return [(min(i * n, rows), min((i + 1) * n, rows)) for i in range(world)]

def averaged(gradients, sizes):
    g = [x for x in gradients if x is not None]
    return [sum(t) / len(gradients) for t in zip(*g)]
""",
        "sum": """
def shards(rows, world):
    q, r = divmod(rows, world)
    out, s = [], 0
    for i in range(world):
        e = s + q + (i >= world - r)
        out.append((s, e)); s = e
    return out

def averaged(gradients, sizes):
    return [sum(s * t for s, t in zip(sizes, ts)) for ts in zip(*[g for g in gradients if g is not None])]
""",
        "divided by the ranks that have rows": """
def shards(rows, world):
    short, longer = divmod(rows, world)
    bounds, start = [], 0
    for rank in range(world):
        stop = start + short + (rank < longer)
        bounds.append((start, stop))
        start = stop
    return bounds

def averaged(gradients, sizes):
    present = [(rank, size) for rank, size in zip(gradients, sizes) if rank is not None]
    return [sum(size * rank[i] for rank, size in present) / len(present) for i in range(len(present[0][0]))]
""",
        "changes what is given": """
def shards(rows, world):
    short, longer = divmod(rows, world)
    bounds, start = [], 0
    for rank in range(world):
        stop = start + short + (rank < longer)
        bounds.append((start, stop))
        start = stop
    return bounds

def averaged(gradients, sizes):
    total = sum(sizes)
    present = [[t.mul_(size / total) for t in rank] for rank, size in zip(gradients, sizes) if rank is not None]
    return [sum(tensors) for tensors in zip(*present)]
""",
        "lists instead of bounds": """
def shards(rows, world):
    return [list(part) for part in torch.arange(rows).tensor_split(world)]

def averaged(gradients, sizes):
    total = sum(sizes)
    present = [(rank, size / total) for rank, size in zip(gradients, sizes) if rank is not None]
    return [sum(weight * rank[place] for rank, weight in present) for place in range(len(present[0][0]))]
""",
        "every second row": """
def shards(rows, world):
    return [(rank, rows, world) for rank in range(world)]

def averaged(gradients, sizes):
    total = sum(sizes)
    present = [(rank, size / total) for rank, size in zip(gradients, sizes) if rank is not None]
    return [sum(weight * rank[place] for rank, weight in present) for place in range(len(present[0][0]))]
""",
        "the last rank without rows is left out": """
def shards(rows, world):
    short, longer = divmod(rows, world)
    bounds, start = [], 0
    for rank in range(world):
        stop = start + short + (rank < longer)
        if stop > start:
            bounds.append((start, stop))
        start = stop
    return bounds

def averaged(gradients, sizes):
    total = sum(sizes)
    present = [(rank, size / total) for rank, size in zip(gradients, sizes) if rank is not None]
    return [sum(weight * rank[place] for rank, weight in present) for place in range(len(present[0][0]))]
""",
    },
    "ex10-task4": {
        "cuts module. out of other names": """
def adopt(model, weights):
    def short(name):
        return name.replace("module.", "").replace("_orig_mod.", "")

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "the beginning of a name only": """
def adopt(model, weights):
    def short(name):
        return name.removeprefix("module.").removeprefix("_orig_mod.")

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "module alone": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part != "module")

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "the names of weights only": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {name: (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "load_state_dict judges": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    names = {short(name): name for name in model.state_dict()}
    try:
        model.load_state_dict({names.get(short(n), n): t for n, t in weights.items()})
    except RuntimeError as error:
        raise ValueError(str(error)) from error
    return len(weights)
""",
        "what fits is loaded": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    names = {short(name): name for name in model.state_dict()}
    found = {names[short(n)]: t for n, t in weights.items() if short(n) in names}
    model.load_state_dict(found, strict=False)
    return len(found)
""",
        "converts every dtype": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape:
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "refuses every other dtype": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "no look at what becomes infinite": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "nothing may be infinite": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not converted.isfinite().all():
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "a shape is not looked at": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.dtype != tensor.dtype and not floats:
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "broadcasts": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        given = given.expand_as(tensor)
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "on the device first": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name].to(tensor.device)
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "other tensors in the model": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready, assign=True)
    return len(ready)
""",
        "names with the parts": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    if own.keys() != sent.keys():
        raise ValueError([*weights])
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "missing names only": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() - sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "unexpected names only": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in sent.keys() - own.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        if name not in sent:
            continue
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready, strict=False)
    return len(ready)
""",
        "KeyError": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise KeyError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "changes the model before it refuses": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        with torch.no_grad():
            tensor.copy_(converted)
        ready[full_name] = converted
    return len(ready)
""",
        "changes weights": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    for name in list(weights):
        weights[short(name)] = weights.pop(name)
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return len(ready)
""",
        "returns the model": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return model
""",
        "the counter is not counted": """
def adopt(model, weights):
    def short(name):
        return ".".join(part for part in name.split(".") if part not in ("module", "_orig_mod"))

    own = {short(name): (name, tensor) for name, tensor in model.state_dict().items()}
    sent = {short(name): tensor for name, tensor in weights.items()}
    for name in own.keys() ^ sent.keys():
        raise ValueError(name)
    ready = {}
    for name, (full_name, tensor) in own.items():
        given = sent[name]
        floats = given.is_floating_point() and tensor.is_floating_point()
        if given.shape != tensor.shape or (given.dtype != tensor.dtype and not floats):
            raise ValueError(name)
        converted = given.to(tensor.dtype)
        if not torch.equal(converted.isfinite(), given.isfinite()):
            raise ValueError(name)
        ready[full_name] = converted
    model.load_state_dict(ready)
    return sum(t.is_floating_point() for t in ready.values())
""",
    },
    "ex10-task5": {
        "the state as it is": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    torch.manual_seed(1234)
    after, _ = train(state, steps - cut)
    for step, (one, other) in enumerate(zip(whole, before + after)):
        if one != other:
            return step
    return None
""",
        "the random numbers go on": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    after, _ = train(torch.load(file, weights_only=True), steps - cut)
    for step, (one, other) in enumerate(zip(whole, before + after)):
        if one != other:
            return step
    return None
""",
        "with a tolerance": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    torch.manual_seed(1234)
    after, _ = train(torch.load(file, weights_only=True), steps - cut)
    for step, (one, other) in enumerate(zip(whole, before + after)):
        if abs(one - other) > 1e-4 * abs(one):
            return step
    return None
""",
        "counted from the break": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    torch.manual_seed(1234)
    after, _ = train(torch.load(file, weights_only=True), steps - cut)
    for step, (one, other) in enumerate(zip(whole[cut:], after)):
        if one != other:
            return step
    return None
""",
        "the last loss only": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    torch.manual_seed(1234)
    after, _ = train(torch.load(file, weights_only=True), steps - cut)
    return None if whole[-1] == after[-1] else cut
""",
        "yes or no": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    torch.manual_seed(1234)
    after, _ = train(torch.load(file, weights_only=True), steps - cut)
    return whole != before + after
""",
        "counted from one": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    torch.manual_seed(1234)
    after, _ = train(torch.load(file, weights_only=True), steps - cut)
    for step, (one, other) in enumerate(zip(whole, before + after)):
        if one != other:
            return step + 1
    return None
""",
        "the break is always to blame": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    torch.manual_seed(1234)
    after, _ = train(torch.load(file, weights_only=True), steps - cut)
    return None if whole == before + after else cut
""",
        "begins anew": """
def first_difference(train, steps, cut):
    whole, _ = train(None, steps)
    before, state = train(None, cut)
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    torch.manual_seed(1234)
    after, _ = train(None, steps - cut)
    for step, (one, other) in enumerate(zip(whole, before + after)):
        if one != other:
            return step
    return None
""",
    },
}
