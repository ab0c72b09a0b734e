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
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif machine["mps"]:
        device, world_size = "mps", wanted
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16 if machine["torch"] >= (2, 8) else torch.float32
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 6) else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "all GPUs, whatever is wanted": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", gpus
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16 if machine["torch"] >= (2, 8) else torch.float32
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 6) else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "as many as wanted on few GPUs": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", wanted
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16 if machine["torch"] >= (2, 8) else torch.float32
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 6) else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "bfloat16 on every GPU": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16 if machine["torch"] >= (2, 8) else torch.float32
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 6) else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "a scaler for every half": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16 if machine["torch"] >= (2, 8) else torch.float32
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 6) else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype != torch.float32}
""",
        "the old rule: float16 on every Mac, float32 on a CPU": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    else:
        dtype = torch.float16 if device == "mps" else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "the format of the Mac for the CPU": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif not machine["mps"]:
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16 if machine["torch"] >= (2, 8) else torch.float32
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 6) else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "the release does not matter": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16
    else:
        dtype = torch.bfloat16
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "one release for all chips": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16 if machine["torch"] >= (2, 8) else torch.float32
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 8) else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "float16 without a scaler before 2.8": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 6) else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16 and machine["torch"] >= (2, 8)}
""",
        "a backend for one process": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16 if machine["torch"] >= (2, 8) else torch.float32
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 6) else torch.float32
    backend = "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "gloo everywhere": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16 if machine["torch"] >= (2, 8) else torch.float32
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 6) else torch.float32
    backend = None if world_size == 1 else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "pinned on a Mac too": """
def launch_plan(machine):
    wanted, gpus = machine["processes"], machine["gpus"]
    if gpus:
        device, world_size = "cuda", min(wanted, gpus)
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    elif device == "cpu":
        dtype = torch.bfloat16
    elif machine["chip"] in ("M1", "M2"):
        dtype = torch.float16 if machine["torch"] >= (2, 8) else torch.float32
    else:
        dtype = torch.bfloat16 if machine["torch"] >= (2, 6) else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device != "cpu",
            "dtype": dtype, "scaler": dtype == torch.float16}
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
