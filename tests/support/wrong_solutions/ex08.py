"""Wrong solutions of exercise 08, by the grade id of the cell that they stand in."""

WRONG = {
    "ex08-task1": {
        "a fixed tolerance": """
def honest(yours, exact, length):
    return yours.shape == exact.shape and bool(torch.allclose(yours.double(), exact, atol=1e-3))
""",
        "float32's eps for every format": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    bound = 4 * length**0.5 * torch.finfo(torch.float32).eps
    return bool(((yours.double() - exact).abs() <= bound).all())
""",
        "the sign of the error counts": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    bound = 4 * length**0.5 * torch.finfo(yours.dtype).eps
    return bool(((yours.double() - exact) <= bound).all())
""",
        "the mean error": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    bound = 4 * length**0.5 * torch.finfo(yours.dtype).eps
    return bool((yours.double() - exact).abs().mean() <= bound)
""",
        "NaN passes": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    bound = 4 * length**0.5 * torch.finfo(yours.dtype).eps
    return not bool(((yours.double() - exact).abs() > bound).any())
""",
    },
    "ex08-task2": {
        "one by one": """
def smallest_failing(fails, largest):
    for size in range(1, largest + 1):
        if fails(size):
            return size
    return None
""",
        "powers of two only": """
def smallest_failing(fails, largest):
    size = 1
    while size <= largest:
        if fails(size):
            return size
        size *= 2
    return None
""",
        "one too small": """
def smallest_failing(fails, largest):
    if not fails(largest):
        return None
    low, high = 0, largest
    while high - low > 1:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle
    return low
""",
        "never None": """
def smallest_failing(fails, largest):
    low, high = 0, largest
    while high - low > 1:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle
    return high
""",
    },
    "ex08-task3": {
        "the last bad layer": """
def first_bad(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            def hook(module, inputs, output, name=name):
                if not torch.isfinite(output).all():
                    found.append(name)
            handles.append(module.register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found[-1] if found else None
""",
        "the input is not looked at": """
def first_bad(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            def hook(module, inputs, output, name=name):
                if not torch.isfinite(output).all():
                    found.append(name)
            handles.append(module.register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found[0] if found else None
""",
        "hooks stay": """
def first_bad(model, x):
    found = []
    for name, module in model.named_modules():
        if not list(module.children()):
            def hook(module, inputs, output, name=name):
                if torch.isfinite(inputs[0]).all() and not torch.isfinite(output).all():
                    found.append(name)
            module.register_forward_hook(hook)
    model(x)
    return found[0] if found else None
""",
        "in the order of making": """
def first_bad(model, x):
    bad, handles = set(), []
    for name, module in model.named_modules():
        if not list(module.children()):
            def hook(module, inputs, output, name=name):
                if not torch.isfinite(output).all():
                    bad.add(name)
            handles.append(module.register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return next((name for name, _ in model.named_modules() if name in bad), None)
""",
    },
    "ex08-task4": {
        "contiguous inputs only": """
def which_fault(device, fn):
    small, large = torch.randn(100), torch.randn(5000)
    if not torch.equal(device.run(fn, (small,)), device.run(fn, (small,))):
        return "not repeatable"
    return "fine" if torch.equal(device.run(fn, (large,)), fn(large)) else "wrong above a size"
""",
        "no question asked twice": """
def which_fault(device, fn):
    large, transposed = torch.randn(5000), torch.randn(10, 10).t()
    if not torch.equal(device.run(fn, (large,)), fn(large)):
        return "wrong above a size"
    return "fine" if torch.equal(device.run(fn, (transposed,)), fn(transposed)) else "ignores strides"
""",
        "small inputs only": """
def which_fault(device, fn):
    small, transposed = torch.randn(100), torch.randn(10, 10).t()
    if not torch.equal(device.run(fn, (small,)), device.run(fn, (small,))):
        return "not repeatable"
    return "fine" if torch.equal(device.run(fn, (transposed,)), fn(transposed)) else "ignores strides"
""",
        "a constant hides the strides": """
def which_fault(device, fn):
    small, large, transposed = torch.randn(100), torch.randn(5000), torch.ones(10, 10).t()
    if not torch.equal(device.run(fn, (small,)), device.run(fn, (small,))):
        return "not repeatable"
    if not torch.equal(device.run(fn, (large,)), fn(large)):
        return "wrong above a size"
    return "fine" if torch.equal(device.run(fn, (transposed,)), fn(transposed)) else "ignores strides"
""",
    },
}
