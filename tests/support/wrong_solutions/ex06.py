"""Wrong solutions of exercise 06, by the grade id of the cell that they stand in."""

WRONG = {
    "ex06-task1": {
        "squares in half": """
def mean_square(x):
    return x.square().float().mean()
""",
        "converts at the end": """
def mean_square(x):
    return (x * x).mean().float()
""",
        "root mean square": """
def mean_square(x):
    return x.float().square().mean().sqrt()
""",
        "in float64": """
def mean_square(x):
    return x.double().square().mean()
""",
    },
    "ex06-task2": {
        "scales afterwards": """
def scores(q, k):
    return (q @ k.T) / q.shape[1] ** 0.5
""",
        "in float32": """
def scores(q, k):
    return q.float() @ k.float().T / q.shape[1] ** 0.5
""",
        "divides by d": """
def scores(q, k):
    return (q / q.shape[1]) @ k.T
""",
        "divides by the number of rows": """
def scores(q, k):
    return (q / q.shape[0] ** 0.5) @ k.T
""",
    },
    "ex06-task3": {
        "takes the overflowed step": """
def scales(overflowed, scale, growth_interval):
    found, good = [], 0
    for infinite in overflowed:
        if infinite:
            scale, good = scale / 2, 0
        else:
            good += 1
            if good == growth_interval:
                scale, good = scale * 2, 0
        found.append((True, scale))
    return found
""",
        "an overflow does not begin the count anew": """
def scales(overflowed, scale, growth_interval):
    found, good = [], 0
    for infinite in overflowed:
        if infinite:
            scale = scale / 2
        else:
            good += 1
            if good == growth_interval:
                scale, good = scale * 2, 0
        found.append((not infinite, scale))
    return found
""",
        "grows at every good step after the interval": """
def scales(overflowed, scale, growth_interval):
    found, good = [], 0
    for infinite in overflowed:
        if infinite:
            scale, good = scale / 2, 0
        else:
            good += 1
            if good >= growth_interval:
                scale = scale * 2
        found.append((not infinite, scale))
    return found
""",
        "the scale before the step": """
def scales(overflowed, scale, growth_interval):
    found, good = [], 0
    for infinite in overflowed:
        found.append((not infinite, scale))
        if infinite:
            scale, good = scale / 2, 0
        else:
            good += 1
            if good == growth_interval:
                scale, good = scale * 2, 0
    return found
""",
    },
    "ex06-task4": {
        "float16 on every Mac": """
def precision_plan(device, torch_version, chip):
    if device == "mps":
        return {"dtype": "float16", "scaler": True}
    return {"dtype": "bfloat16", "scaler": False}
""",
        "versions ignored": """
def precision_plan(device, torch_version, chip):
    if device == "mps" and chip in ("M1", "M2"):
        return {"dtype": "float16", "scaler": True}
    return {"dtype": "bfloat16", "scaler": False}
""",
        "minor version as a decimal": """
def precision_plan(device, torch_version, chip):
    version = float(f"{torch_version[0]}.{torch_version[1]}")
    if device == "mps" and chip in ("M1", "M2"):
        return {"dtype": "float16", "scaler": True} if version >= 2.8 else {"dtype": "float32", "scaler": False}
    if device == "mps" and version < 2.6:
        return {"dtype": "float32", "scaler": False}
    return {"dtype": "bfloat16", "scaler": False}
""",
        "one rule for all of MPS": """
def precision_plan(device, torch_version, chip):
    if device == "mps" and torch_version < (2, 8):
        return {"dtype": "float32", "scaler": False}
    if device == "mps" and chip in ("M1", "M2"):
        return {"dtype": "float16", "scaler": True}
    return {"dtype": "bfloat16", "scaler": False}
""",
    },
}
