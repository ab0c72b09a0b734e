"""Wrong solutions of exercise 01, by the grade id of the cell that they stand in."""

WRONG = {
    "ex01-task1": {
        "every element has 4 bytes": """
def bytes_moved(reads, writes):
    total = 0
    for shape, _ in [*reads, *writes]:
        elements = 1
        for side in shape:
            elements *= side
        total += 4 * elements
    return total
""",
        "writes forgotten": """
def bytes_moved(reads, writes):
    return sum(torch.Size(shape).numel() * dtype.itemsize for shape, dtype in reads)
""",
        "one number has no elements": """
def bytes_moved(reads, writes):
    total = 0
    for shape, dtype in [*reads, *writes]:
        elements = 1 if shape else 0
        for side in shape:
            elements *= side
        total += elements * dtype.itemsize
    return total
""",
        "each tensor counted once, read or written": """
def bytes_moved(reads, writes):
    return sum(torch.Size(shape).numel() * dtype.itemsize for shape, dtype in {*reads, *writes})
""",
        "bits": """
def bytes_moved(reads, writes):
    return sum(torch.Size(shape).numel() * dtype.itemsize * 8 for shape, dtype in [*reads, *writes])
""",
        "a sum of the sides": """
def bytes_moved(reads, writes):
    return sum(sum(shape) * dtype.itemsize for shape, dtype in reads + writes)
""",
        "a float": """
import math
def bytes_moved(reads, writes):
    return sum(math.prod(shape) * torch.finfo(dtype).bits / 8 if dtype.is_floating_point
               else math.prod(shape) * float(dtype.itemsize) for shape, dtype in reads + writes)
""",
        "an empty tensor is one number": """
def bytes_moved(reads, writes):
    total = 0
    for shape, dtype in reads + writes:
        elements = 1
        for side in shape:
            elements *= side or 1
        total += elements * dtype.itemsize
    return total
""",
        "the dtype of the first tensor for all": """
import math
def bytes_moved(reads, writes):
    dtype = (reads or writes)[0][1]
    return sum(math.prod(shape) for shape, _ in reads + writes) * dtype.itemsize
""",
        "in place counted once": """
import math
def bytes_moved(reads, writes):
    tensors = list(reads) + [tensor for tensor in writes if tensor not in reads]
    return sum(math.prod(shape) * dtype.itemsize for shape, dtype in tensors)
""",
        "elements": """
import math
def bytes_moved(reads, writes):
    return sum(math.prod(shape) for shape, _ in reads + writes)
""",
        "a boolean takes one bit": """
def bytes_moved(reads, writes):
    bits = 0
    for s, d in reads + writes:
        n = 1 if d == torch.bool else d.itemsize * 8
        for k in s:
            n *= k
        bits += n
    return bits // 8
""",
        "two sides at most": """
def bytes_moved(reads, writes):
    return sum((s[0] if len(s) else 1) * (s[1] if len(s) > 1 else 1) * d.itemsize for s, d in reads + writes)
""",
    },
    "ex01-task2": {
        "times added": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    intensity = flop / n_bytes
    return {
        "flop_per_s": min(intensity * bytes_per_s, flop_per_s),
        "limit": "memory" if intensity < flop_per_s / bytes_per_s else "arithmetic",
        "least_s": n_bytes / bytes_per_s + flop / flop_per_s,
    }
""",
        "the higher ceiling": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    intensity = flop / n_bytes
    return {
        "flop_per_s": max(intensity * bytes_per_s, flop_per_s),
        "limit": "memory" if intensity < flop_per_s / bytes_per_s else "arithmetic",
        "least_s": max(n_bytes / bytes_per_s, flop / flop_per_s),
    }
""",
        "limited by memory at the ridge": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    intensity = flop / n_bytes
    return {
        "flop_per_s": min(intensity * bytes_per_s, flop_per_s),
        "limit": "memory" if intensity <= flop_per_s / bytes_per_s else "arithmetic",
        "least_s": max(n_bytes / bytes_per_s, flop / flop_per_s),
    }
""",
        "a copy divides by zero": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    intensity = flop / n_bytes
    rate = min(intensity * bytes_per_s, flop_per_s)
    limit = "memory" if intensity < flop_per_s / bytes_per_s else "arithmetic"
    return {"flop_per_s": rate, "limit": limit, "least_s": flop / rate}
""",
        "a fixed ridge": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    intensity = flop / n_bytes
    return {
        "flop_per_s": min(intensity * bytes_per_s, flop_per_s),
        "limit": "memory" if intensity < 16 else "arithmetic",
        "least_s": max(n_bytes / bytes_per_s, flop / flop_per_s),
    }
""",
        "the rate of the memory alone": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    intensity = flop / n_bytes
    return {
        "flop_per_s": intensity * bytes_per_s,
        "limit": "memory" if intensity < flop_per_s / bytes_per_s else "arithmetic",
        "least_s": max(n_bytes / bytes_per_s, flop / flop_per_s),
    }
""",
        "the limits the other way round": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    moving, computing = n_bytes / bytes_per_s, flop / flop_per_s
    limit = "arithmetic" if moving > computing else "memory"
    return {"flop_per_s": flop / max(moving, computing), "limit": limit, "least_s": max(moving, computing)}
""",
        "the shorter time": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    moving, computing = n_bytes / bytes_per_s, flop / flop_per_s
    limit = "memory" if moving > computing else "arithmetic"
    return {"flop_per_s": flop / max(moving, computing), "limit": limit, "least_s": min(moving, computing)}
""",
        "a copy runs at the peak": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    moving, computing = n_bytes / bytes_per_s, flop / flop_per_s
    if not flop:
        return {"flop_per_s": flop_per_s, "limit": "memory", "least_s": moving}
    limit = "memory" if moving > computing else "arithmetic"
    return {"flop_per_s": flop / max(moving, computing), "limit": limit, "least_s": max(moving, computing)}
""",
        "bytes per FLOP": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    intensity = n_bytes / flop if flop else float("inf")
    limit = "memory" if intensity < flop_per_s / bytes_per_s else "arithmetic"
    rate = min(flop / n_bytes * bytes_per_s, flop_per_s)
    return {"flop_per_s": rate, "limit": limit, "least_s": max(n_bytes / bytes_per_s, flop / flop_per_s)}
""",
        "milliseconds": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    moving, computing = n_bytes / bytes_per_s, flop / flop_per_s
    limit = "memory" if moving > computing else "arithmetic"
    return {"flop_per_s": flop / max(moving, computing), "limit": limit, "least_s": 1e3 * max(moving, computing)}
""",
        "the intensity rounded down": """
def under_the_roof(flop, n_bytes, bytes_per_s, flop_per_s):
    i = flop // n_bytes
    r = flop_per_s / bytes_per_s
    return {
        "flop_per_s": min(flop / n_bytes * bytes_per_s, flop_per_s),
        "limit": "memory" if i < r else "arithmetic",
        "least_s": max(n_bytes / bytes_per_s, flop / flop_per_s),
    }
""",
    },
    "ex01-task3": {
        "weights alone": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    flop = 2 * batch * inputs * outputs + batch * outputs
    return max(inputs * outputs * dtype.itemsize / bytes_per_s, flop / flop_per_s)
""",
        "one FLOP for a multiplication with its addition": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * inputs + outputs * inputs + outputs + batch * outputs
    flop = batch * inputs * outputs + batch * outputs
    return max(elements * dtype.itemsize / bytes_per_s, flop / flop_per_s)
""",
        "float32 assumed": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * inputs + outputs * inputs + outputs + batch * outputs
    flop = 2 * batch * inputs * outputs + batch * outputs
    return max(elements * 4 / bytes_per_s, flop / flop_per_s)
""",
        "weights read again for each example": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * (inputs + outputs * inputs + outputs + outputs)
    flop = 2 * batch * inputs * outputs + batch * outputs
    return max(elements * dtype.itemsize / bytes_per_s, flop / flop_per_s)
""",
        "half precision computes twice as fast": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * inputs + outputs * inputs + outputs + batch * outputs
    flop = 2 * batch * inputs * outputs + batch * outputs
    return max(elements * dtype.itemsize / bytes_per_s, flop / (flop_per_s * 4 / dtype.itemsize))
""",
        "bias for free": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * inputs + outputs * inputs + outputs + batch * outputs
    return max(elements * dtype.itemsize / bytes_per_s, 2 * batch * inputs * outputs / flop_per_s)
""",
        "the output is not written": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * inputs + outputs * inputs + outputs
    flop = 2 * batch * inputs * outputs + batch * outputs
    return max(elements * dtype.itemsize / bytes_per_s, flop / flop_per_s)
""",
        "the bias is not read": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * inputs + outputs * inputs + batch * outputs
    flop = 2 * batch * inputs * outputs + batch * outputs
    return max(elements * dtype.itemsize / bytes_per_s, flop / flop_per_s)
""",
        "moving and computing added": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * inputs + outputs * inputs + outputs + batch * outputs
    flop = 2 * batch * inputs * outputs + batch * outputs
    return elements * dtype.itemsize / bytes_per_s + flop / flop_per_s
""",
        "2 FLOP for the bias": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * inputs + outputs * inputs + outputs + batch * outputs
    flop = 2 * batch * outputs * (inputs + 1)
    return max(elements * dtype.itemsize / bytes_per_s, flop / flop_per_s)
""",
        "one bias for all": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * inputs + outputs * inputs + outputs + batch * outputs
    return max(elements * dtype.itemsize / bytes_per_s, (2 * batch * inputs * outputs + outputs) / flop_per_s)
""",
        "the shape in another order": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, outputs, inputs = shape
    elements = batch * inputs + outputs * inputs + outputs + batch * outputs
    flop = 2 * batch * inputs * outputs + batch * outputs
    return max(elements * dtype.itemsize / bytes_per_s, flop / flop_per_s)
""",
        "the shorter time": """
def linear_s(shape, dtype, bytes_per_s, flop_per_s):
    batch, inputs, outputs = shape
    elements = batch * inputs + outputs * inputs + outputs + batch * outputs
    flop = 2 * batch * inputs * outputs + batch * outputs
    return min(elements * dtype.itemsize / bytes_per_s, flop / flop_per_s)
""",
    },
    "ex01-task4": {
        "the whole memory": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] and bandwidth * share >= weights_gb * tokens_per_s
    ]
    return (min(found)[3], min(found)[0]) if found else None
""",
        "the published bandwidth": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth >= weights_gb * tokens_per_s
    ]
    return (min(found)[3], min(found)[0]) if found else None
""",
        "the best version of each chip": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (max(chip["gb_per_s"]), chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        if weights_gb <= chip["memory_gb"] * 2 / 3 and max(chip["gb_per_s"]) * share >= weights_gb * tokens_per_s
    ]
    return (min(found)[3], min(found)[0]) if found else None
""",
        "the first that will do": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    for chip in chips:
        for bandwidth in chip["gb_per_s"]:
            if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * share >= weights_gb * tokens_per_s:
                return chip["name"], bandwidth
    return None
""",
        "fails where nothing will do": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    return min(
        (
            (bandwidth, chip["memory_gb"], place, chip["name"])
            for place, chip in enumerate(chips)
            for bandwidth in chip["gb_per_s"]
            if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * share >= weights_gb * tokens_per_s
        ),
    )[::-3]
""",
        "memory ignored among equals": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (chip["name"], bandwidth)
        for chip in chips
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * share >= weights_gb * tokens_per_s
    ]
    return min(found, key=lambda version: version[1], default=None)
""",
        "just enough is too little room": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb < chip["memory_gb"] * 2 / 3 and bandwidth * share >= weights_gb * tokens_per_s
    ]
    return (min(found)[3], min(found)[0]) if found else None
""",
        "just enough is too slow": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * share > weights_gb * tokens_per_s
    ]
    return (min(found)[3], min(found)[0]) if found else None
""",
        "share of the need": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth >= share * weights_gb * tokens_per_s
    ]
    return (min(found)[3], min(found)[0]) if found else None
""",
        "the default share only": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * 0.8 >= weights_gb * tokens_per_s
    ]
    return (min(found)[3], min(found)[0]) if found else None
""",
        "by name among equals": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * share >= weights_gb * tokens_per_s
    ]
    return min((b, m, n) for b, m, _, n in found)[::-2] if found else None
""",
        "the last of equals": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * share >= weights_gb * tokens_per_s
    ]
    return (lambda best: (best[3], best[0]))(min(found, key=lambda f: (f[0], f[1], -f[2]))) if found else None
""",
        "least memory before bandwidth": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * share >= weights_gb * tokens_per_s
    ]
    return (lambda best: (best[3], best[0]))(min(found, key=lambda f: (f[1], f[0], f[2]))) if found else None
""",
        "the fastest": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * share >= weights_gb * tokens_per_s
    ]
    return (max(found)[3], max(found)[0]) if found else None
""",
        "the name alone": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * share >= weights_gb * tokens_per_s
    ]
    return min(found)[3] if found else None
""",
        "a text where none will do": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (bandwidth, chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        for bandwidth in chip["gb_per_s"]
        if weights_gb <= chip["memory_gb"] * 2 / 3 and bandwidth * share >= weights_gb * tokens_per_s
    ]
    return (min(found)[3], min(found)[0]) if found else "none"
""",
        "the slower version of each chip": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    found = [
        (chip["gb_per_s"][0], chip["memory_gb"], place, chip["name"])
        for place, chip in enumerate(chips)
        if weights_gb <= chip["memory_gb"] * 2 / 3 and chip["gb_per_s"][0] * share >= weights_gb * tokens_per_s
    ]
    return (min(found)[3], min(found)[0]) if found else None
""",
        "the share of the memory too": """
def smallest_chip(chips, weights_gb, tokens_per_s, share=0.8):
    f = [
        (b, c["memory_gb"], i, c["name"])
        for i, c in enumerate(chips)
        for b in c["gb_per_s"]
        if weights_gb <= c["memory_gb"] * share and b * share >= weights_gb * tokens_per_s
    ]
    return (min(f)[3], min(f)[0]) if f else None
""",
    },
    "ex01-task5": {
        "the bytes of the view": """
def new_bytes(operation, x):
    y = operation(x)
    return 0 if y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() else y.nbytes
""",
        "the first element has to be the same": """
def new_bytes(operation, x):
    y = operation(x)
    return 0 if y.data_ptr() == x.data_ptr() else y.untyped_storage().nbytes()
""",
        "the same object": """
def new_bytes(operation, x):
    y = operation(x)
    return 0 if y is x else y.untyped_storage().nbytes()
""",
        "asks for the base": """
def new_bytes(operation, x):
    y = operation(x)
    return 0 if y is x or y._base is x else y.untyped_storage().nbytes()
""",
        "equal numbers are the same memory": """
def new_bytes(operation, x):
    y = operation(x)
    if y.shape == x.shape and bool((y.cpu() == x.cpu()).all()):
        return 0
    return y.untyped_storage().nbytes()
""",
        "called twice": """
def new_bytes(operation, x):
    if operation(x).untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
        return 0
    return operation(x).untyped_storage().nbytes()
""",
        "works on a copy of x": """
def new_bytes(operation, x):
    x = x.clone()
    y = operation(x)
    same = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    return 0 if same else y.untyped_storage().nbytes() + x.nbytes
""",
        "all the result's memory": """
def new_bytes(operation, x):
    return operation(x).untyped_storage().nbytes()
""",
        "elements instead of bytes": """
def new_bytes(operation, x):
    y = operation(x)
    same = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    return 0 if same else y.untyped_storage().nbytes() // 4
""",
        "four bytes each": """
def new_bytes(operation, x):
    y = operation(x)
    return 0 if y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() else y.numel() * 4
""",
        "one memory, so nothing on MPS is new": """
def new_bytes(operation, x):
    y = operation(x)
    if y.device.type == "mps" or y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
        return 0
    return y.untyped_storage().nbytes()
""",
        "by NumPy": """
import numpy as np
def new_bytes(operation, x):
    y = operation(x)
    return 0 if np.shares_memory(x.numpy(), y.numpy()) else y.untyped_storage().nbytes()
""",
    },
}
