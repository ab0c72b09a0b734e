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
    },
}
