"""Right solutions of exercise 08, in other styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex08-task1": {
        "allclose": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    return torch.allclose(yours.double(), exact, rtol=eps, atol=4 * length**0.5 * eps)
""",
        "a tensor with one boolean": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    bound = eps * exact.abs() + 4 * length**0.5 * eps
    return ((yours.double() - exact).abs() <= bound).all()
""",
        "finite first": """
import math
def honest(yours, exact, length):
    if tuple(yours.shape) != tuple(exact.shape):
        return False
    y = yours.to(torch.float64)
    if (torch.isfinite(exact) & ~torch.isfinite(y)).any():
        return False
    eps = torch.finfo(yours.dtype).eps
    excess = (y - exact).abs() - eps * exact.abs()
    return bool(excess.max() <= 4 * math.sqrt(length) * eps)
""",
        "plain Python": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    pairs = zip(yours.double().flatten().tolist(), exact.flatten().tolist())
    return all(abs(a - b) <= eps * (abs(b) + 4 * length**0.5) for a, b in pairs)
""",
        "assert_close": """
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    eps = torch.finfo(yours.dtype).eps
    try:
        torch.testing.assert_close(yours.double(), exact, rtol=eps, atol=4 * length**0.5 * eps)
    except AssertionError:
        return False
    return True
""",
        "NumPy": """
import numpy as np
def honest(yours, exact, length):
    if yours.shape != exact.shape:
        return False
    a, b = yours.double().numpy(), exact.numpy()
    eps = torch.finfo(yours.dtype).eps
    return np.all(np.abs(a - b) <= eps * np.abs(b) + 4 * np.sqrt(length) * eps)
""",
        "any above, NaN apart": """
def honest(yours, exact, length):
    same = yours.size() == exact.size()
    if not same or not yours.isfinite().all():
        return False
    eps = torch.finfo(yours.dtype).eps
    too_far = (yours.to(exact.dtype) - exact).abs() > exact.abs() * eps + eps * 4 * length ** (1 / 2)
    return not too_far.any().item()
""",
    },
    "ex08-task2": {
        "bisect": """
import bisect
def smallest_failing(fails, largest):
    i = bisect.bisect_left(range(1, largest + 1), True, key=fails)
    return i + 1 if i < largest else None
""",
        "doubling": """
def smallest_failing(fails, largest):
    high = 1
    while high < largest and not fails(high):
        high = min(high * 2, largest)
    if not fails(high): return None
    low = high // 2
    while high - low > 1:
        m = (low + high) // 2
        if fails(m): high = m
        else: low = m
    return high
""",
        "recursive": """
def smallest_failing(fails, largest, low=1):
    if low == largest: return low if fails(low) else None
    m = (low + largest) // 2
    if fails(m): return smallest_failing(fails, m, low)
    return smallest_failing(fails, largest, m + 1)
""",
        "low is the first candidate": """
def smallest_failing(fails, largest):
    low, high = 1, largest + 1
    while low < high:
        middle = (low + high) // 2
        if fails(middle):
            high = middle
        else:
            low = middle + 1
    return None if low > largest else low
""",
        "bits": """
def smallest_failing(fails, largest):
    right = 0
    for bit in reversed(range(largest.bit_length())):
        tried = right + (1 << bit)
        if tried <= largest and not fails(tried):
            right = tried
    return right + 1 if right < largest else None
""",
    },
    "ex08-task3": {
        "global hook": """
def first_bad(model, x):
    names = {m: n for n, m in model.named_modules() if not list(m.children())}
    bad = []
    def hook(m, i, o):
        if m in names and i[0].isfinite().all() and not o.isfinite().all(): bad.append(names[m])
    h = torch.nn.modules.module.register_module_forward_hook(hook)
    try: model(x)
    finally: h.remove()
    return bad[0] if bad else None
""",
        "sum": """
def first_bad(model, x):
    first, hs = None, []

    def make(n):
        def h(m, args, out):
            nonlocal first
            if first is None and all(torch.isfinite(a).all() for a in args) and not torch.isfinite(out).all():
                first = n

        return h

    for n, m in model.named_modules():
        if len(list(m.children())) == 0:
            hs.append(m.register_forward_hook(make(n)))
    try:
        model(x)
    finally:
        [h.remove() for h in hs]
    return first
""",
        "pre and post hooks": """
def first_bad(model, x):
    ok, bad, hs = {}, [], []
    def pre(n): return lambda m, a: ok.__setitem__(n, bool(a[0].isfinite().all()))
    def post(n):
        def f(m, a, o):
            if ok[n] and not bool(o.isfinite().all()): bad.append(n)
        return f
    for n, m in model.named_modules():
        if not any(True for _ in m.children()):
            hs += [m.register_forward_pre_hook(pre(n)), m.register_forward_hook(post(n))]
    try:
        with torch.no_grad(): model(x)
    finally:
        for h in hs: h.remove()
    return next(iter(bad), None)
""",
        "partial": """
from functools import partial

def first_bad(model, x):
    names = []

    def look(name, module, args, output):
        was_fine = torch.isfinite(args[0]).all().item()
        if was_fine and not torch.isfinite(output).all().item():
            names.append(name)

    leaves = [(n, m) for n, m in model.named_modules() if next(m.children(), None) is None]
    handles = [m.register_forward_hook(partial(look, n)) for n, m in leaves]
    try:
        model(x)
    finally:
        for h in handles:
            h.remove()
    return names[0] if names else None
""",
        "ExitStack": """
from contextlib import ExitStack

def first_bad(model, x):
    bad = []
    with ExitStack() as stack:
        for name, module in model.named_modules():
            if len(module._modules) == 0:
                def hook(module, inputs, output, name=name):
                    if bool(inputs[0].isfinite().all()) and not bool(output.isfinite().all()):
                        bad.append(name)
                stack.callback(module.register_forward_hook(hook).remove)
        model(x)
    return next(iter(bad), None)
""",
    },
    "ex08-task4": {
        "allclose": """
def which_fault(device, fn):
    def run(x): return device.run(fn, (x,))
    s, b, t = torch.rand(100), torch.rand(5000), torch.rand(10, 10).t()
    if not torch.allclose(run(s), run(s)): return 'not repeatable'
    if torch.allclose(run(s), fn(s)) and not torch.allclose(run(b), fn(b)): return 'wrong above a size'
    if not torch.allclose(run(t), fn(t)): return 'ignores strides'
    return 'fine'
""",
        "arange": """
def which_fault(device, fn):
    def run(x): return device.run(fn, (x,))
    s, b = torch.linspace(-1, 1, 100), torch.linspace(-1, 1, 5000)
    t = torch.linspace(0, 1, 12).reshape(3, 4).T
    for _ in range(5):
        if not run(s).equal(run(s)): return 'not repeatable'
    if run(s).equal(fn(s)) and not run(b).equal(fn(b)): return 'wrong above a size'
    if not run(t).equal(fn(t)): return 'ignores strides'
    return 'fine'
""",
        "2d large and double": """
def which_fault(device, fn):
    x = torch.randn(70, 75)
    s = torch.randn(10, 10)
    a, b = device.run(fn, (x,)), device.run(fn, (x,))
    if not torch.equal(a, b): return 'not repeatable'
    if torch.equal(device.run(fn, (s,)), fn(s)) and not torch.equal(a, fn(x)): return 'wrong above a size'
    if not torch.equal(device.run(fn, (s.t(),)), fn(s.t())): return 'ignores strides'
    return 'fine'
""",
        "sliced input": """
def which_fault(device, fn):
    s, b = torch.randn(100), torch.randn(5000)
    if not torch.equal(device.run(fn, (s,)), device.run(fn, (s,))): return 'not repeatable'
    if not torch.equal(device.run(fn, (b,)), fn(b)): return 'wrong above a size'
    t = torch.randn(20, 5).T
    return 'fine' if torch.equal(device.run(fn, (t,)).contiguous(), fn(t.contiguous())) else 'ignores strides'
""",
        "one helper": """
def which_fault(device, fn):
    def wrong(x):
        return not torch.equal(device.run(fn, (x,)), fn(x))

    x = torch.rand(64)
    if (device.run(fn, (x,)) != device.run(fn, (x,))).any():
        return "not repeatable"
    if not wrong(x) and wrong(torch.rand(100, 60)):
        return "wrong above a size"
    return "ignores strides" if wrong(torch.rand(8, 9).T) else "fine"
""",
        "a ramp": """
def which_fault(device, fn):
    small = torch.linspace(0, 1, 100)
    large = torch.linspace(0, 1, 5000)
    first, second = device.run(fn, (small,)), device.run(fn, (small,))
    if not torch.allclose(first, second):
        return "not repeatable"
    if torch.allclose(first, fn(small)) and not torch.allclose(device.run(fn, (large,)), fn(large)):
        return "wrong above a size"
    turned = small.reshape(10, 10).transpose(0, 1)
    if not torch.allclose(device.run(fn, (turned,)), fn(turned)):
        return "ignores strides"
    return "fine"
""",
    },
    "ex08-task5": {
        "chunk": """
import math
def run_right(device, fn, x):
    flat = x.flatten().contiguous()
    parts = torch.chunk(flat, math.ceil(flat.numel() / 1000)) if flat.numel() % 1000 == 0 else flat.split(1000)
    done = [device.run(fn, (part.clone(),)) for part in parts]
    return torch.cat(done).view(x.shape)
""",
        "filled": """
def run_right(device, fn, x):
    row = torch.empty(x.numel(), dtype=x.dtype)
    row.copy_(x.reshape(-1))
    out = torch.empty_like(row)
    for start in range(0, len(row), 1000):
        out[start:start + 1000] = device.run(fn, (row[start:start + 1000],))
    return out.reshape(x.shape)
""",
        "a recursion": """
def run_right(device, fn, x):
    row = x.clone(memory_format=torch.contiguous_format).flatten()

    def run(piece):
        if len(piece) <= 1000:
            return device.run(fn, (piece,))
        return torch.cat((run(piece[:1000]), run(piece[1000:])))

    return run(row).reshape_as(x)
""",
        "hstack": """
def run_right(device, fn, x):
    pieces = torch.split(torch.ravel(x), 1000)
    return torch.hstack([device.run(fn, [p]) for p in pieces]).reshape(*x.shape)
""",
        "a list of Python numbers": """
def run_right(device, fn, x):
    values = torch.tensor(x.tolist(), dtype=x.dtype).ravel()
    results = []
    while len(values):
        results.append(device.run(fn, (values[:1000],)))
        values = values[1000:]
    return torch.cat(results).unflatten(0, x.shape)
""",
    },
}
