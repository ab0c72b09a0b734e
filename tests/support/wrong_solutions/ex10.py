"""Wrong solutions of exercise 10, by the grade id of the cell that they stand in."""

_SHARDS = """
def shards(rows, world):
    short, longer = divmod(rows, world)
    bounds, start = [], 0
    for rank in range(world):
        stop = start + short + (rank < longer)
        bounds.append((start, stop))
        start = stop
    return bounds
"""
_AVERAGED = """
def averaged(gradients, sizes):
    total = sum(sizes)
    present = [(rank, size / total) for rank, size in zip(gradients, sizes) if rank is not None]
    return [sum(weight * rank[place] for rank, weight in present) for place in range(len(present[0][0]))]
"""
_PACK = """
def pack(state):
    if isinstance(state, torch.Tensor):
        return state.detach().cpu().clone()
    if isinstance(state, dict):
        return {key: pack(value) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return type(state)(pack(value) for value in state)
    return state
"""
_LOAD = """
def load_into(model, weights):
    wanted = model.state_dict()
    for name in sorted(set(wanted) ^ set(weights)):
        raise ValueError(name)
    for name, tensor in wanted.items():
        if (weights[name].shape, weights[name].dtype) != (tensor.shape, tensor.dtype):
            raise ValueError(name)
    model.load_state_dict(weights)
    return len(weights)
"""

WRONG = {
    "ex10-task1": {
        "the device alone": """
def portable(settings, kind):
    return settings | {"device": kind if kind != "cuda" else settings["device"]} if "device" in settings else settings
""",
        "adds keys": """
def portable(settings, kind):
    if kind == "cuda":
        return dict(settings)
    narrower = {torch.float64: torch.float32, torch.complex128: torch.complex64} if kind == "mps" else {}
    result = settings | {"device": kind, "pin_memory": False, "non_blocking": False}
    if "dtype" in result:
        result["dtype"] = narrower.get(result["dtype"], result["dtype"])
    if result.get("backend") == "nccl":
        result["backend"] = "gloo" if kind == "cpu" else None
    return result
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
    },
    "ex10-task2": {
        "distributed on MPS": """
def launch_plan(machine):
    wanted = machine["processes"]
    device = "cuda" if machine["gpus"] else "mps" if machine["mps"] else "cpu"
    world_size = min(wanted, machine["gpus"]) if device == "cuda" else wanted
    if device == "cuda":
        dtype = torch.bfloat16 if machine["capability"] >= (8, 0) else torch.float16
    else:
        dtype = torch.float16 if device == "mps" else torch.float32
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype == torch.float16}
""",
        "all GPUs, whatever is wanted": """
def launch_plan(machine):
    wanted = machine["processes"]
    if machine["gpus"]:
        device, world_size = "cuda", machine["gpus"]
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
        "bfloat16 on every GPU, a scaler for every half": """
def launch_plan(machine):
    wanted = machine["processes"]
    if machine["gpus"]:
        device, world_size = "cuda", min(wanted, machine["gpus"])
    elif wanted == 1 and machine["mps"]:
        device, world_size = "mps", 1
    else:
        device, world_size = "cpu", wanted
    dtype = {"cuda": torch.bfloat16, "mps": torch.float16, "cpu": torch.float32}[device]
    backend = None if world_size == 1 else "nccl" if device == "cuda" else "gloo"
    return {"device": device, "world_size": world_size, "backend": backend, "pin_memory": device == "cuda",
            "dtype": dtype, "scaler": dtype != torch.float32}
""",
    },
    "ex10-task3": {
        "the mean of the means": _SHARDS
        + """
def averaged(gradients, sizes):
    present = [rank for rank in gradients if rank is not None]
    return [sum(tensors) / len(present) for tensors in zip(*present)]
""",
        "the sum of the means": _SHARDS
        + """
def averaged(gradients, sizes):
    present = [rank for rank in gradients if rank is not None]
    return [sum(tensors) for tensors in zip(*present)]
""",
        "the rest goes to the last rank": """
def shards(rows, world):
    each = rows // world
    return [(rank * each, rows if rank == world - 1 else (rank + 1) * each) for rank in range(world)]
"""
        + _AVERAGED,
        "shards as chunk makes them": """
def shards(rows, world):
    each = -(-rows // world)
    return [(min(rank * each, rows), min((rank + 1) * each, rows)) for rank in range(world)]
"""
        + _AVERAGED,
        "stumbles over a rank without rows": _SHARDS
        + """
def averaged(gradients, sizes):
    total = sum(sizes)
    return [sum(size / total * tensor for size, tensor in zip(sizes, tensors)) for tensors in zip(*gradients)]
""",
    },
    "ex10-task4": {
        "no memory of its own": """
def pack(state):
    if isinstance(state, torch.Tensor):
        return state.detach().cpu()
    if isinstance(state, dict):
        return {key: pack(value) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return type(state)(pack(value) for value in state)
    return state
"""
        + _LOAD,
        "tuples become lists": """
def pack(state):
    if isinstance(state, torch.Tensor):
        return state.detach().cpu().clone()
    if isinstance(state, dict):
        return {key: pack(value) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return [pack(value) for value in state]
    return state
"""
        + _LOAD,
        "one level deep": """
def pack(state):
    return {key: value.detach().cpu().clone() if isinstance(value, torch.Tensor) else value
            for key, value in state.items()}
"""
        + _LOAD,
        "what load_state_dict checks": _PACK
        + """
def load_into(model, weights):
    model.load_state_dict(weights)
    return len(weights)
""",
        "not strict about names": _PACK
        + """
def load_into(model, weights):
    for name, tensor in model.state_dict().items():
        if name in weights and (weights[name].shape, weights[name].dtype) != (tensor.shape, tensor.dtype):
            raise ValueError(name)
    model.load_state_dict(weights, strict=False)
    return len(weights)
""",
        "copies what fits before it refuses": _PACK
        + """
def load_into(model, weights):
    wanted = model.state_dict()
    for name in sorted(set(wanted) ^ set(weights)):
        raise ValueError(name)
    for name, tensor in wanted.items():
        if (weights[name].shape, weights[name].dtype) != (tensor.shape, tensor.dtype):
            raise ValueError(name)
        tensor.copy_(weights[name])
    return len(weights)
""",
    },
}
