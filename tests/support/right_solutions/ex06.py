"""Right solutions of exercise 06, in other styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex06-task1": {
        "pow/sum/numel": """
def mean_square(x):
    y = x.to(torch.float32)
    return (y ** 2).sum() / y.numel()
""",
        "dot": """
def mean_square(x):
    v = x.flatten().float()
    return torch.dot(v, v) / len(v)
""",
        "mse_loss": """
def mean_square(x):
    y = x.float()
    return torch.nn.functional.mse_loss(y, torch.zeros_like(y))
""",
        "double then float": """
def mean_square(x):
    return x.double().pow(2).mean().float()
""",
        "norm": """
def mean_square(x):
    return torch.linalg.vector_norm(x.float()) ** 2 / x.numel()
""",
    },
    "ex06-task2": {
        "k scaled": """
def scores(q, k):
    return q @ (k.T / k.shape[1] ** 0.5)
""",
        "both by fourth root": """
def scores(q, k):
    r = q.shape[1] ** 0.25
    return (q / r) @ (k / r).T
""",
        "math.sqrt": """
import math
def scores(q, k):
    return torch.matmul(q * (1 / math.sqrt(q.size(-1))), k.transpose(0, 1))
""",
        "baddbmm alpha": """
def scores(q, k):
    return torch.einsum('nd,md->nm', q / q.shape[-1] ** 0.5, k)
""",
        "F.linear": """
def scores(q, k):
    return torch.nn.functional.linear(q / q.shape[1] ** .5, k)
""",
    },
    "ex06-task3": {
        "real GradScaler-like": """
def scales(overflowed, scale, growth_interval):
    out = []
    n = 0
    for o in overflowed:
        if o:
            scale *= 0.5
            n = 0
        else:
            n += 1
            if n % growth_interval == 0:
                scale *= 2.0
        out.append((not o, scale))
    return out
""",
        "lists in pairs": """
def scales(overflowed, scale, growth_interval):
    out = []
    n = 0
    for o in overflowed:
        if o:
            scale *= 0.5
            n = 0
        else:
            n += 1
            if n % growth_interval == 0:
                scale *= 2.0
        out.append([not o, scale])
    return out
""",
        "int scale": """
def scales(overflowed, scale, growth_interval):
    out, n = [], 0
    for o in overflowed:
        n = 0 if o else n + 1
        if o: scale = scale / 2
        if n == growth_interval: scale, n = scale * 2, 0
        out.append((o is False, scale))
    return out
""",
        "a generator": """
def scales(overflowed, scale, growth_interval):
    def walk(scale, streak=0):
        for bad in overflowed:
            streak = 0 if bad else streak + 1
            if bad:
                scale /= 2
            elif streak == growth_interval:
                scale, streak = scale * 2, 0
            yield not bad, scale
    return list(walk(scale))
""",
        "the length of the run so far": """
def scales(overflowed, scale, growth_interval):
    result = []
    since = 0
    for step, infinite in enumerate(overflowed):
        if infinite:
            scale = scale * 0.5
            since = step + 1
        elif (step + 1 - since) == growth_interval:
            scale = scale * 2
            since = step + 1
        result += [(not infinite, scale)]
    return result
""",
        "a class that keeps state": """
def scales(overflowed, scale, growth_interval):
    class Scaler:
        def __init__(self):
            self.scale, self.tracker = scale, 0
        def step(self, infinite):
            if infinite:
                self.scale, self.tracker = self.scale * 0.5, 0
                return False, self.scale
            self.tracker += 1
            if self.tracker >= growth_interval:
                self.scale, self.tracker = self.scale * 2.0, 0
            return True, self.scale
    scaler = Scaler()
    return [scaler.step(infinite) for infinite in overflowed]
""",
    },
    "ex06-task4": {
        "table": """
def precision_plan(device, torch_version, chip):
    want = ('float16', True) if device == 'mps' and chip[1] in '12' else ('bfloat16', False)
    need = {'float16': (2, 8), 'bfloat16': (2, 6)}[want[0]]
    if device == 'mps' and tuple(torch_version) < need:
        want = ('float32', False)
    return dict(zip(('dtype', 'scaler'), want))
""",
        "torch dtype": """
def precision_plan(device, torch_version, chip):
    want = (torch.float16, True) if device == 'mps' and chip[1] in '12' else (torch.bfloat16, False)
    need = {torch.float16: (2, 8), torch.bfloat16: (2, 6)}[want[0]]
    if device == 'mps' and tuple(torch_version) < need:
        want = (torch.float32, False)
    return dict(zip(('dtype', 'scaler'), want))
""",
        "early returns": """
def precision_plan(device, torch_version, chip):
    if device != "mps":
        return dict(dtype="bfloat16", scaler=False)
    if chip in {"M1", "M2"}:
        return (
            dict(dtype="float16", scaler=True)
            if torch_version >= (2, 8)
            else dict(dtype="float32", scaler=False)
        )
    return dict(dtype="bfloat16" if torch_version >= (2, 6) else "float32", scaler=False)
""",
        "match": """
def precision_plan(device, torch_version, chip):
    match device, chip:
        case "mps", "M1" | "M2":
            dtype = "float16" if tuple(torch_version) >= (2, 8) else "float32"
        case "mps", _:
            dtype = "bfloat16" if tuple(torch_version) >= (2, 6) else "float32"
        case _:
            dtype = "bfloat16"
    return {"scaler": dtype == "float16", "dtype": dtype}
""",
        "the number in the chip's name": """
def precision_plan(device, torch_version, chip):
    plan = {"dtype": "bfloat16", "scaler": False}
    if device == "mps":
        old = int(chip[1:]) <= 2
        major, minor = torch_version
        enough = major > 2 or minor >= (8 if old else 6)
        if not enough:
            plan["dtype"] = "float32"
        elif old:
            plan = {"dtype": "float16", "scaler": True}
    return plan
""",
    },
    "ex06-task5": {
        "model.zero_grad, loss outside": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    model.zero_grad()
    with torch.amp.autocast(device_type=x.device.type, dtype=torch.half):
        out = model(x)
    loss = torch.nn.functional.mse_loss(out, y)
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=limit)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()
""",
        "loss in float32": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast(device_type=str(x.device.type), dtype=torch.float16):
        predicted = model(x)
    loss = ((predicted.float() - y) ** 2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(list(model.parameters()), limit)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach().clone()
""",
        "clipped by hand": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    for p in model.parameters():
        p.grad = None
    with torch.autocast(x.device.type, torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    grads = [p.grad for p in model.parameters()]
    norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
    factor = torch.clamp(limit / (norm + 1e-6), max=1.0)
    for g in grads:
        g.mul_(factor)
    scaler.step(optimizer)
    scaler.update()
    return loss.data
""",
        "zero before and after": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), limit, norm_type=2.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return loss.detach()
""",
        "a decorator for autocast": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    @torch.autocast(x.device.type, dtype=torch.float16)
    def loss_of():
        return nn.functional.mse_loss(model(x), y)

    optimizer.zero_grad()
    loss = loss_of()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    scaler.step(optimizer)
    scaler.update()
    with torch.no_grad():
        return loss * 1
""",
    },
}
