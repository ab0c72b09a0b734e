"""Right solutions of exercise 01 in other people's styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex01-task1": {
        "math.prod in one sum": """
import math
def bytes_moved(reads, writes):
    return sum(math.prod(shape) * dtype.itemsize for shape, dtype in reads + writes)
""",
        "torch.Size": """
def bytes_moved(reads, writes):
    moved = 0
    for tensors in (reads, writes):
        for shape, dtype in tensors:
            moved += torch.Size(shape).numel() * dtype.itemsize
    return moved
""",
        "empty tensors on meta": """
def bytes_moved(reads, writes):
    return sum(torch.empty(s, dtype=d, device="meta").nbytes for s, d in [*reads, *writes])
""",
        "NumPy's product": """
import numpy as np
def bytes_moved(reads, writes):
    return sum((np.prod(s, dtype=np.int64) * d.itemsize for s, d in list(reads) + list(writes)), np.int64(0))
""",
        "reduce and a helper inside": """
from functools import reduce
from itertools import chain
def bytes_moved(reads, writes):
    def n_bytes(tensor):
        shape, dtype = tensor
        return reduce(lambda a, b: a * b, shape, 1) * dtype.itemsize
    return sum(map(n_bytes, chain(reads, writes)))
""",
        "early continue at a zero": """
def bytes_moved(reads, writes):
    result = 0
    for tensor in reads + writes:
        if 0 in tensor[0]:
            continue
        size = torch.tensor([], dtype=tensor[1]).element_size()
        for side in tensor[0]:
            size = size * side
        result = result + size
    return result
""",
        "two calls of an inner function": """
import math
def bytes_moved(reads, writes):
    def count(tensors):
        if not tensors:
            return 0
        (shape, dtype), *others = tensors
        return math.prod(shape) * torch.empty((), dtype=dtype).element_size() + count(others)
    return int(count(reads)) + int(count(writes))
""",
    },
    "ex01-task2": {
        "compares the times": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    moving, computing = n_bytes / bytes_per_s, flop / flop_per_s
    limit = "memory" if moving > computing else "arithmetic"
    return {"flop_per_s": flop / max(moving, computing), "limit": limit, "least_s": max(moving, computing)}
""",
        "early returns": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    if flop / n_bytes >= flop_per_s / bytes_per_s:
        return {"limit": "arithmetic", "flop_per_s": flop_per_s, "least_s": flop / flop_per_s}
    return {"limit": "memory", "flop_per_s": bytes_per_s * flop / n_bytes, "least_s": n_bytes / bytes_per_s}
""",
        "an OrderedDict": """
from collections import OrderedDict
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    by_memory = flop / n_bytes * bytes_per_s
    result = OrderedDict()
    result["flop_per_s"] = min(by_memory, flop_per_s)
    result["limit"] = "arithmetic" if by_memory >= flop_per_s else "memory"
    result["least_s"] = max(n_bytes / bytes_per_s, flop / flop_per_s)
    return result
""",
        "dict call and a list": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    times = [flop / flop_per_s, n_bytes / bytes_per_s]
    least_s = max(times)
    return dict(flop_per_s=flop / least_s, limit=["arithmetic", "memory"][times.index(least_s)], least_s=least_s)
""",
        "NumPy scalars": """
import numpy as np
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    intensity, ridge = np.float64(flop) / n_bytes, np.float64(flop_per_s) / bytes_per_s
    return {
        "flop_per_s": np.minimum(intensity * bytes_per_s, flop_per_s),
        "limit": str(np.where(intensity < ridge, "memory", "arithmetic")),
        "least_s": np.maximum(n_bytes / bytes_per_s, flop / flop_per_s),
    }
""",
        "a copy first": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    if flop == 0:
        return {"flop_per_s": 0, "limit": "memory", "least_s": n_bytes / bytes_per_s}
    rate = min(flop_per_s, flop * bytes_per_s / n_bytes)
    limit = "memory"
    if rate == flop_per_s:
        limit = "arithmetic"
    return {"flop_per_s": rate, "limit": limit, "least_s": flop / rate}
""",
    },
    "ex01-task3": {
        "terms one by one": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    n, i, o = shape
    x, w, b, y = n * i, o * i, o, n * o
    moving = (x + w + b + y) * dtype.itemsize / bytes_per_s
    computing = (2 * n * i * o + n * o) / flop_per_s
    return moving if moving > computing else computing
""",
        "a layer on meta": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    layer = torch.nn.Linear(inputs, outputs, dtype=dtype, device="meta")
    x = torch.empty(batch, inputs, dtype=dtype, device="meta")
    n_bytes = x.nbytes + layer(x).nbytes + sum(p.nbytes for p in layer.parameters())
    return max(n_bytes / bytes_per_s, batch * outputs * (2 * inputs + 1) / flop_per_s)
""",
        "uses tasks 1.1 and 1.2": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    reads = [((batch, inputs), dtype), ((outputs, inputs), dtype), ((outputs,), dtype)]
    n_bytes = bytes_moved(reads, [((batch, outputs), dtype)])
    return under_the_roof(batch * outputs * (1 + 2 * inputs), n_bytes, bytes_per_s, flop_per_s)["least_s"]
""",
        "each element of y by itself": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    flop_of_one = 2 * shape[1] + 1
    flop = shape[0] * shape[2] * flop_of_one
    elements = (shape[0] + shape[2]) * shape[1] + (shape[0] + 1) * shape[2]
    return max([elements * dtype.itemsize / bytes_per_s, flop / flop_per_s])
""",
        "NumPy": """
import numpy as np
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = map(int, shape)
    size = torch.zeros(1, dtype=dtype).element_size()
    moving = np.dot([batch * inputs, outputs * inputs, outputs, batch * outputs], [size] * 4) / bytes_per_s
    return np.max([moving, (2 * batch * inputs * outputs + batch * outputs) / flop_per_s])
""",
        "sorted": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    n_bytes = 0
    for n in (batch * inputs, inputs * outputs, outputs, batch * outputs):
        n_bytes += n * dtype.itemsize
    flop = 2 * batch * inputs * outputs
    flop += batch * outputs
    return sorted([n_bytes / bytes_per_s, flop / flop_per_s])[-1]
""",
    },
    "ex01-task4": {
        "sorted, with the place": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    versions = []
    for place, chip in enumerate(chips):
        for rate in chip["gb_per_s"]:
            if chip["memory_gb"] * 2 / 3 >= weights_gb and rate * share >= weights_gb * tokens_per_s:
                versions.append((rate, chip["memory_gb"], place, chip["name"]))
    if not versions:
        return None
    rate, _, _, name = sorted(versions)[0]
    return name, rate
""",
        "the best so far": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    best = best_key = None
    for chip in chips:
        if chip["memory_gb"] * 2 < weights_gb * 3:
            continue
        for rate in sorted(chip["gb_per_s"]):
            if share * rate < weights_gb * tokens_per_s:
                continue
            key = (rate, chip["memory_gb"])
            if best is None or key < best_key:
                best, best_key = (chip["name"], rate), key
            break
    return best
""",
        "stable sort of pairs": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    pairs = [(c, r) for c in chips for r in c["gb_per_s"]]
    pairs = [p for p in pairs if p[0]["memory_gb"] >= 1.5 * weights_gb]
    pairs = [p for p in pairs if p[1] * share / weights_gb >= tokens_per_s]
    pairs.sort(key=lambda p: p[0]["memory_gb"])
    pairs.sort(key=lambda p: p[1])
    return [pairs[0][0]["name"], pairs[0][1]] if pairs else None
""",
        "an exception for none": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    need = weights_gb * tokens_per_s / share
    roomy = (c for c in chips if weights_gb / c["memory_gb"] <= 2 / 3)
    try:
        return min(
            ((c["name"], r, c["memory_gb"]) for c in roomy for r in c["gb_per_s"] if r >= need),
            key=lambda v: v[1:],
        )[:2]
    except ValueError:
        return None
""",
        "a class for a version": """
from dataclasses import dataclass
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    @dataclass(order=True)
    class Version:
        bandwidth: float
        memory: float
        place: int
        name: str
    fit = [
        Version(bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if bandwidth * share >= tokens_per_s * weights_gb and weights_gb <= 2 * chip["memory_gb"] / 3
    ]
    return (min(fit).name, min(fit).bandwidth) if fit else None
""",
        "steps of filtering by hand": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    fit = [
        (chip, rate)
        for chip in chips
        for rate in chip["gb_per_s"]
        if 3 * weights_gb <= 2 * chip["memory_gb"] and rate * share >= weights_gb * tokens_per_s
    ]
    if len(fit) == 0:
        return
    lowest = min(rate for _, rate in fit)
    fit = [chip for chip, rate in fit if rate == lowest]
    least = min(chip["memory_gb"] for chip in fit)
    for chip in fit:
        if chip["memory_gb"] == least:
            return (chip["name"], lowest)
""",
    },
    "ex01-task5": {
        "addresses in a set": """
def new_bytes(operation, x):
    y = operation(x)
    mine, its = x.untyped_storage(), y.untyped_storage()
    return its.nbytes() if len({mine.data_ptr(), its.data_ptr()}) == 2 else 0
""",
        "the storage object's address": """
def new_bytes(operation, x):
    result = operation(x)
    same = result.untyped_storage()._cdata == x.untyped_storage()._cdata
    return 0 if same else len(result.untyped_storage())
""",
        "torch's own question": """
def new_bytes(operation, x):
    y = operation(x)
    if torch._C._is_alias_of(x, y):
        return 0
    return y.untyped_storage().size()
""",
        "device and address": """
def new_bytes(operation, x):
    y = operation(x)
    where = lambda t: (t.device, t.untyped_storage().data_ptr())
    return int(where(x) != where(y)) * y.untyped_storage().nbytes()
""",
        "noted before the call": """
def new_bytes(operation, x):
    before = x.untyped_storage().data_ptr()
    after = operation(x).untyped_storage()
    if after.data_ptr() != before:
        n_bytes = after.nbytes()
    else:
        n_bytes = 0
    return n_bytes
""",
        "the address of the first element, counted back": """
def new_bytes(operation, x):
    def start(t):
        return t.data_ptr() - t.storage_offset() * t.element_size()
    y = operation(x)
    return 0 if start(y) == start(x) else y.untyped_storage().nbytes()
""",
    },
}
