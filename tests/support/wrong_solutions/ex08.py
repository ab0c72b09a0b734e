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
    eps = torch.finfo(torch.float32).eps
    bound = eps * exact.abs() + 4 * length**0.5 * eps
    return bool(((yours.double() - exact).abs() <= bound).all())
""",
        "the sign of the error counts": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + 4 * length**0.5 * eps
    return bool(((yours.double() - exact) <= bound).all())
""",
        "the mean error": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + 4 * length**0.5 * eps
    return bool((yours.double() - exact).abs().mean() <= bound.mean())
""",
        "NaN passes": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + 4 * length**0.5 * eps
    return not bool(((yours.double() - exact).abs() > bound).any())
""",
        "the old rule, without eps * |exact|": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    bound = 4 * length**0.5 * torch.finfo(yours.dtype).eps
    return bool(((yours.double() - exact).abs() <= bound).all())
""",
        "no look at the shapes": """
def honest(yours, exact, length):
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + 4 * length**0.5 * eps
    n = min(len(yours), len(exact))
    return bool(((yours.flatten()[:n].double() - exact.flatten()[:n]).abs() <= bound.flatten()[:n]).all())
""",
        "shapes that broadcast": """
def honest(yours, exact, length):
    try:
        error = (yours.double() - exact).abs()
    except RuntimeError:
        return False
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + 4 * length**0.5 * eps
    return bool((error <= bound).all())
""",
        "any instead of all": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + 4 * length**0.5 * eps
    return bool(((yours.double() - exact).abs() <= bound).any())
""",
        "the length without a root": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + 4 * length * eps
    return bool(((yours.double() - exact).abs() <= bound).all())
""",
        "the root alone": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + length**0.5 * eps
    return bool(((yours.double() - exact).abs() <= bound).all())
""",
        "relative all over": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    bound = (eps + 4 * length**0.5 * eps) * exact.abs()
    return bool(((yours.double() - exact).abs() <= bound).all())
""",
        "infinity passes": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + 4 * length**0.5 * eps
    error = torch.nan_to_num(yours.double() - exact, nan=1e9, posinf=0.0, neginf=0.0).abs()
    return bool((error <= bound).all())
""",
        "numel instead of shape": """
def honest(yours, exact, length):
    if yours.numel() != exact.numel():
        return False
    yours, exact = yours.flatten(), exact.flatten()
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + 4 * length**0.5 * eps
    return bool(((yours.double() - exact).abs() <= bound).all())
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
        "linear": """
def smallest_failing(fails, largest):
    for s in range(1, largest + 1):
        if fails(s): return s
    return None
""",
        "off by one": """
def smallest_failing(fails, largest):
    low, high = 1, largest
    if not fails(largest): return None
    while high - low > 1:
        m = (low + high) // 2
        if fails(m): high = m
        else: low = m
    return high
""",
        "assumes it fails": """
def smallest_failing(fails, largest):
    low, high = 1, largest
    while low < high:
        m = (low + high) // 2
        if fails(m): high = m
        else: low = m + 1
    return low
""",
        "a step of a thousand": """
def smallest_failing(fails, largest):
    for size in range(1, largest + 1, 1000):
        if fails(size):
            return size
    return None
""",
        "minus one for none": """
def smallest_failing(fails, largest):
    if not fails(largest):
        return -1
    low, high = 0, largest
    while high - low > 1:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle
    return high
""",
        "largest is never asked": """
def smallest_failing(fails, largest):
    low, high = 0, largest
    while high - low > 1:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle
    return high if high < largest else None
""",
        "counts down": """
def smallest_failing(fails, largest):
    size = largest
    while size > 0 and fails(size):
        size -= 1
    return size + 1 if size < largest else None
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
        "output only": """
def first_bad(model, x):
    bad, hs = [], []
    for n, m in model.named_modules():
        if not list(m.children()):
            hs.append(
                m.register_forward_hook(
                    lambda m, i, o, n=n: bad.append(n) if not o.isfinite().all() else None
                )
            )
    model(x)
    for h in hs:
        h.remove()
    return bad[0] if bad else None
""",
        "leaves hooks": """
def first_bad(model, x):
    bad = []
    for n, m in model.named_modules():
        if not list(m.children()):
            m.register_forward_hook(
                lambda m, i, o, n=n: (
                    bad.append(n) if i[0].isfinite().all() and not o.isfinite().all() else None
                )
            )
    model(x)
    return bad[0] if bad else None
""",
        "children order": """
def first_bad(model, x):
    for n, m in model.named_children():
        y = m(x)
        if x.isfinite().all() and not y.isfinite().all(): return n
        x = y
    return None
""",
        "the type of the layer": """
def first_bad(model, x):
    found, handles = [], []
    def hook(module, inputs, output):
        if torch.isfinite(inputs[0]).all() and not torch.isfinite(output).all():
            found.append(type(module).__name__)
    for module in model.modules():
        if not list(module.children()):
            handles.append(module.register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found[0] if found else None
""",
        "the loop's last name": """
def first_bad(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            def hook(module, inputs, output):
                if torch.isfinite(inputs[0]).all() and not torch.isfinite(output).all():
                    found.append(name)
            handles.append(module.register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found[0] if found else None
""",
        "NaN only": """
def first_bad(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            def hook(module, inputs, output, name=name):
                if not torch.isnan(inputs[0]).any() and torch.isnan(output).any():
                    found.append(name)
            handles.append(module.register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found[0] if found else None
""",
        "containers too": """
def first_bad(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        def hook(module, inputs, output, name=name):
            if torch.isfinite(inputs[0]).all() and not torch.isfinite(output).all():
                found.append(name)
        handles.append(module.register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return min(found, key=len) if found else None
""",
        "runs it again for each layer": """
def first_bad(model, x):
    for name, module in model.named_modules():
        if list(module.children()):
            continue
        seen = []
        handle = module.register_forward_hook(lambda m, i, o: seen.append((i[0], o)))
        model(x)
        handle.remove()
        if seen and seen[0][0].isfinite().all() and not seen[0][1].isfinite().all():
            return name
    return None
""",
        "all numbers have to be bad": """
def first_bad(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            def hook(module, inputs, output, name=name):
                if torch.isfinite(inputs[0]).all() and not torch.isfinite(output).any():
                    found.append(name)
            handles.append(module.register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found[0] if found else None
""",
        "a list of all": """
def first_bad(model, x):
    found, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            def hook(module, inputs, output, name=name):
                if torch.isfinite(inputs[0]).all() and not torch.isfinite(output).all():
                    found.append(name)
            handles.append(module.register_forward_hook(hook))
    model(x)
    for handle in handles:
        handle.remove()
    return found
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
        "symmetric": """
def which_fault(device, fn):
    s, b, t = torch.randn(100), torch.randn(5000), torch.eye(10).t()
    if not torch.equal(device.run(fn, (s,)), device.run(fn, (s,))): return 'not repeatable'
    if not torch.equal(device.run(fn, (b,)), fn(b)): return 'wrong above a size'
    if not torch.equal(device.run(fn, (t,)), fn(t)): return 'ignores strides'
    return 'fine'
""",
        "one input both": """
def which_fault(device, fn):
    t = torch.randn(80, 80).t()
    if not torch.equal(device.run(fn, (t,)), device.run(fn, (t,))): return 'not repeatable'
    if not torch.equal(device.run(fn, (t,)), fn(t)): return 'ignores strides'
    return 'fine'
""",
        "small only": """
def which_fault(device, fn):
    s, t = torch.randn(100), torch.randn(10, 10).t()
    if not torch.equal(device.run(fn, (s,)), device.run(fn, (s,))): return 'not repeatable'
    if not torch.equal(device.run(fn, (t,)), fn(t)): return 'ignores strides'
    return 'fine'
""",
        "another input for the second run": """
def which_fault(device, fn):
    large, transposed = torch.randn(5000), torch.randn(10, 10).t()
    if not torch.equal(device.run(fn, (torch.randn(100),)), device.run(fn, (torch.randn(100),))):
        return "not repeatable"
    if not torch.equal(device.run(fn, (large,)), fn(large)):
        return "wrong above a size"
    return "fine" if torch.equal(device.run(fn, (transposed,)), fn(transposed)) else "ignores strides"
""",
        "the device compared with itself": """
def which_fault(device, fn):
    small, large, transposed = torch.randn(100), torch.randn(5000), torch.randn(10, 10).t()
    for x, fault in ((small, "not repeatable"), (large, "wrong above a size"), (transposed, "ignores strides")):
        if not torch.equal(device.run(fn, (x,)), device.run(fn, (x,))):
            return fault
    return "fine"
""",
        "strides last asked of a contiguous copy": """
def which_fault(device, fn):
    small, large, transposed = torch.randn(100), torch.randn(5000), torch.randn(10, 10).t().contiguous()
    if not torch.equal(device.run(fn, (small,)), device.run(fn, (small,))):
        return "not repeatable"
    if not torch.equal(device.run(fn, (large,)), fn(large)):
        return "wrong above a size"
    return "fine" if torch.equal(device.run(fn, (transposed,)), fn(transposed)) else "ignores strides"
""",
        "a large transposed input first": """
def which_fault(device, fn):
    small, both = torch.randn(100), torch.randn(100, 50).t()
    if not torch.equal(device.run(fn, (small,)), device.run(fn, (small,))):
        return "not repeatable"
    if not torch.equal(device.run(fn, (both,)), fn(both)):
        return "wrong above a size"
    return "fine"
""",
    },
    "ex08-task5": {
        "strides only": """
def run_right(device, fn, x):
    return device.run(fn, (x.contiguous(),))
""",
        "size only": """
def run_right(device, fn, x):
    return torch.cat([device.run(fn, (part,)) for part in x.split(max(1, 1000 // x.shape[1]))])
""",
        "on the CPU": """
def run_right(device, fn, x):
    return fn(x)
""",
        "asks the device, answers itself": """
def run_right(device, fn, x):
    for piece in x.reshape(-1).split(1000):
        device.run(fn, (piece,))
    return fn(x)
""",
        "one by one": """
def run_right(device, fn, x):
    row = x.contiguous().reshape(-1)
    return torch.cat([device.run(fn, (row[i:i + 1],)) for i in range(len(row))]).reshape(x.shape)
""",
        "a flat result": """
def run_right(device, fn, x):
    pieces = x.contiguous().reshape(-1).split(1000)
    return torch.cat([device.run(fn, (piece,)) for piece in pieces])
""",
        "whole pieces only": """
def run_right(device, fn, x):
    row = x.contiguous().reshape(-1)
    pieces = [row[i:i + 1000] for i in range(0, len(row) - len(row) % 1000, 1000)] or [row]
    return torch.cat([device.run(fn, (piece,)) for piece in pieces]).reshape(x.shape)
""",
        "the transposed shape": """
def run_right(device, fn, x):
    pieces = x.t().contiguous().reshape(-1).split(1000)
    return torch.cat([device.run(fn, (piece,)) for piece in pieces]).reshape(x.shape)
""",
        "row by row": """
def run_right(device, fn, x):
    return torch.stack([device.run(fn, (row.contiguous(),)) for row in x])
""",
        "pieces of 500": """
def run_right(device, fn, x):
    pieces = x.contiguous().reshape(-1).split(500)
    return torch.cat([device.run(fn, (piece,)) for piece in pieces]).reshape(x.shape)
""",
        "believes the larger of two answers": """
def run_right(device, fn, x):
    a, b = device.run(fn, (x,)), device.run(fn, (x.contiguous(),))
    return torch.where(a.abs() > b.abs(), a, b)
""",
        "one piece more than the thousands": """
def run_right(device, fn, x):
    flat = x.contiguous().view(-1)
    return torch.cat([device.run(fn, (p,)) for p in flat.chunk(len(flat) // 1000 + 1)]).view(x.shape)
""",
    },
}
