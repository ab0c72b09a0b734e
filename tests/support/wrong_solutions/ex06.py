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
        "half sum in half": """
def mean_square(x):
    return x.square().mean(dtype=torch.float32)
""",
        "clamped": """
def mean_square(x):
    return x.square().clamp(max=65504).float().mean()
""",
        "mean dim0": """
def mean_square(x):
    return x.float().square().mean(dim=0)
""",
        "scaled in half": """
def mean_square(x):
    s = x.abs().max()
    return (x / s).square().float().mean() * s.float() ** 2
""",
        "only the sum in float32": """
def mean_square(x):
    return (x * x).sum(dtype=torch.float32) / x.numel()
""",
        "the square of the mean": """
def mean_square(x):
    return x.float().mean().square()
""",
        "a Python float": """
def mean_square(x):
    return x.float().square().mean().item()
""",
        "back in half": """
def mean_square(x):
    return x.float().square().mean().to(x.dtype)
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
        "float32 then half (forbidden by the text)": """
def scores(q, k):
    return (q.float() @ k.float().T / q.shape[1] ** 0.5).half()
""",
        "float64 then half (forbidden)": """
def scores(q, k):
    return (q.double() @ k.double().T / q.shape[1] ** 0.5).half()
""",
        "clamp": """
def scores(q, k):
    return ((q @ k.T).clamp(-65504, 65504) / q.shape[1] ** 0.5)
""",
        "both by sqrt d": """
def scores(q, k):
    r = q.shape[1] ** 0.5
    return (q / r) @ (k / r).T
""",
        "divide by max first": """
def scores(q, k):
    return (q / 8) @ k.T
""",
        "changes q": """
def scores(q, k):
    q /= q.shape[1] ** 0.5
    return q @ k.T
""",
        "not scaled": """
def scores(q, k):
    return q @ k.T
""",
        "over NumPy": """
def scores(q, k):
    product = q.double().numpy() @ k.double().numpy().T
    return torch.from_numpy(product / q.shape[1] ** 0.5).half()
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
        "scale before": """
def scales(overflowed, scale, growth_interval):
    out, n = [], 0
    for o in overflowed:
        out.append((not o, scale))
        if o: scale, n = scale / 2, 0
        else:
            n += 1
            if n == growth_interval: scale, n = scale * 2, 0
    return out
""",
        "counter not reset on overflow": """
def scales(overflowed, scale, growth_interval):
    out, n = [], 0
    for o in overflowed:
        if o: scale = scale / 2
        else:
            n += 1
            if n == growth_interval: scale, n = scale * 2, 0
        out.append((not o, scale))
    return out
""",
        "counter not reset on growth": """
def scales(overflowed, scale, growth_interval):
    out, n = [], 0
    for o in overflowed:
        if o: scale, n = scale / 2, 0
        else:
            n += 1
            if n == growth_interval: scale = scale * 2
        out.append((not o, scale))
    return out
""",
        "divided by four": """
def scales(overflowed, scale, growth_interval):
    found, good = [], 0
    for infinite in overflowed:
        if infinite:
            scale, good = scale / 4, 0
        else:
            good += 1
            if good == growth_interval:
                scale, good = scale * 2, 0
        found.append((not infinite, scale))
    return found
""",
        "one step late": """
def scales(overflowed, scale, growth_interval):
    found, good = [], 0
    for infinite in overflowed:
        if infinite:
            scale, good = scale / 2, 0
        else:
            if good == growth_interval:
                scale, good = scale * 2, 0
            good += 1
        found.append((not infinite, scale))
    return found
""",
        "the step that overflowed, not the one taken": """
def scales(overflowed, scale, growth_interval):
    found, good = [], 0
    for infinite in overflowed:
        if infinite:
            scale, good = scale / 2, 0
        else:
            good += 1
            if good == growth_interval:
                scale, good = scale * 2, 0
        found.append((infinite, scale))
    return found
""",
        "counts from the first step, whatever happens": """
def scales(overflowed, scale, growth_interval):
    out, n = [], 0
    for i, bad in enumerate(overflowed):
        if bad:
            scale /= 2
            n = 0
        elif (i + 1) % growth_interval == 0:
            scale *= 2
        out.append((not bad, scale))
    return out
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
        "no version": """
def precision_plan(device, torch_version, chip):
    if device == 'mps' and chip in ('M1', 'M2'): return {'dtype': 'float16', 'scaler': True}
    return {'dtype': 'bfloat16', 'scaler': False}
""",
        "float16 without scaler on 2.5": """
def precision_plan(device, torch_version, chip):
    if device == 'mps' and chip in ('M1', 'M2'):
        return {'dtype': 'float16', 'scaler': torch_version >= (2, 8)}
    if device == 'mps' and torch_version < (2, 6): return {'dtype': 'float32', 'scaler': False}
    return {'dtype': 'bfloat16', 'scaler': False}
""",
        "float versions": """
def precision_plan(device, torch_version, chip):
    v = float('.'.join(map(str, torch_version)))
    if device == 'mps' and chip in ('M1', 'M2'):
        return {'dtype': 'float16', 'scaler': True} if v >= 2.8 else {'dtype': 'float32', 'scaler': False}
    if device == 'mps' and v < 2.6: return {'dtype': 'float32', 'scaler': False}
    return {'dtype': 'bfloat16', 'scaler': False}
""",
        "torch 2.8 is too old for its own scaler": """
def precision_plan(device, torch_version, chip):
    if device == "mps" and chip in ("M1", "M2"):
        return (
            {"dtype": "float16", "scaler": True}
            if torch_version > (2, 8)
            else {"dtype": "float32", "scaler": False}
        )
    if device == "mps" and torch_version < (2, 6):
        return {"dtype": "float32", "scaler": False}
    return {"dtype": "bfloat16", "scaler": False}
""",
        "only M1 is old": """
def precision_plan(device, torch_version, chip):
    if device == "mps" and chip == "M1":
        return (
            {"dtype": "float16", "scaler": True}
            if torch_version >= (2, 8)
            else {"dtype": "float32", "scaler": False}
        )
    if device == "mps" and torch_version < (2, 6):
        return {"dtype": "float32", "scaler": False}
    return {"dtype": "bfloat16", "scaler": False}
""",
        "the version counts everywhere": """
def precision_plan(device, torch_version, chip):
    if chip in ("M1", "M2"):
        return (
            {"dtype": "float16", "scaler": True}
            if torch_version >= (2, 8)
            else {"dtype": "float32", "scaler": False}
        )
    if torch_version < (2, 6):
        return {"dtype": "float32", "scaler": False}
    return {"dtype": "bfloat16", "scaler": False}
""",
        "float32 on a CPU": """
def precision_plan(device, torch_version, chip):
    if device == "cpu":
        return {"dtype": "float32", "scaler": False}
    if device == "mps" and chip in ("M1", "M2"):
        return (
            {"dtype": "float16", "scaler": True}
            if torch_version >= (2, 8)
            else {"dtype": "float32", "scaler": False}
        )
    if device == "mps" and torch_version < (2, 6):
        return {"dtype": "float32", "scaler": False}
    return {"dtype": "bfloat16", "scaler": False}
""",
    },
    "ex06-task5": {
        "the broken one": """
def repaired_step(model, batch, optimizer, scaler, limit):
    return broken_step(model, batch, optimizer, scaler, limit)
""",
        "cut before the scale is taken out": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()
""",
        "never taken out before cutting": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()
""",
        "no update": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    scaler.step(optimizer)
    return loss.detach()
""",
        "the optimizer steps by itself": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    optimizer.step()
    scaler.update()
    return loss.detach()
""",
        "not cut": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()
""",
        "gradients pile up": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()
""",
        "bfloat16": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()
""",
        "float32": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()
""",
        "returns the scaled loss": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    scaler.step(optimizer)
    scaler.update()
    return scaler.scale(loss).detach()
""",
        "keeps the graph": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    scaler.step(optimizer)
    scaler.update()
    return loss
""",
        "a Python number": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()
""",
        "no scaler at all": """
def repaired_step(model, batch, optimizer, scaler, limit):
    x, y = batch
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), limit)
    optimizer.step()
    return loss.detach()
""",
    },
}
