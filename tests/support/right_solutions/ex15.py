"""Right solutions of exercise 15, in other styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex15-task1-signals": {
        "std_mean": """
def prepare(counts, device):
    x = counts.to(device).to(torch.float32)
    std, mean = torch.std_mean(x, dim=(0, 2), keepdim=True)
    return (x - mean) / std.clamp(min=1e-6)
""",
        "channel by channel": """
def prepare(counts, device):
    x = counts.to(device)
    channels = []
    for c in range(x.shape[1]):
        channel = x[:, c].float()
        channel = channel - channel.mean()
        spread = channel.pow(2).mean().sqrt()
        channels.append(channel / (spread + (spread == 0)))
    return torch.stack(channels, dim=1)
""",
        "nan_to_num": """
def prepare(counts, device):
    there = counts.to(device=device, copy=True).float()
    centred = there - there.mean((0, 2)).view(1, -1, 1)
    return torch.nan_to_num(centred / centred.std((0, 2)).view(1, -1, 1))
""",
        "flattened": """
def prepare(counts, device):
    moved = torch.as_tensor(counts, device=device)
    n, c, t = moved.shape
    rows = moved.transpose(0, 1).reshape(c, n * t).float()
    rows = rows - rows.mean(dim=1, keepdim=True)
    scale = torch.sqrt((rows * rows).mean(dim=1, keepdim=True))
    rows = torch.where(scale == 0, rows, rows / scale)
    return rows.reshape(c, n, t).transpose(0, 1)
""",
        "shifted by the first reading": """
def prepare(counts, device):
    x = counts.to(torch.device(device)).float()
    x = x - x[:1, :, :1]
    x = x - x.mean(dim=[0, 2], keepdim=True)
    var = x.var(dim=[0, 2], unbiased=False, keepdim=True)
    return x * torch.rsqrt(var + 1e-12)
""",
        "nn.BatchNorm": """
def prepare(counts, device):
    x = counts.to(device).float()
    x = x - x.mean(dim=(0, 2), keepdim=True)
    return nn.functional.batch_norm(x, None, None, training=True, eps=1e-10)
""",
    },
    "ex15-task2-forecaster": {
        "comparisons": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff() > 0).float() + 0.5 * (signals.diff() == 0).float()
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "the numbers as a buffer": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)
            self.register_buffer("numbers", torch.arange(3.0), persistent=False)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + self.numbers
    return Repaired()
""",
        "where": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            steps = signals[..., 1:] - signals[..., :-1]
            half = torch.full_like(steps, 0.5)
            rises = torch.where(steps == 0, half, (steps > 0).to(steps.dtype))
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "a subclass of Hasty": """
def make_model():
    class Portable(Hasty):
        def __init__(self):
            super().__init__()
            window = self.window.float()
            del self.window
            self.register_buffer("window", window)
            self.float()

        def forward(self, signals):
            steps = signals[:, :, 1:] - signals[:, :, :-1]
            rises = torch.sign(steps).add(1).div(2)
            together = torch.cat([(signals * self.window).flatten(1), rises.flatten(1)], dim=1)
            hidden = torch.tanh(self.layer(together))
            self.level = hidden.detach().abs().mean()
            return self.head(hidden) + torch.arange(3, device=hidden.device)

    return Portable()
""",
        "clamp": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals[:, :, 1:] - signals[:, :, :-1]).mul(1e30).clamp(-0.5, 0.5) + 0.5
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + hidden.new_ones(3).cumsum(0) - 1
    return Repaired()
""",
        "loads the old weights": """
class Forecaster(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.register_buffer("window", window)
        self.layer, self.head = nn.Linear(141, 16), nn.Linear(16, 3)

    def features(self, signals):
        rises = signals.diff(dim=-1).sign().mul(0.5).add(0.5)
        return torch.hstack(
            [(signals * self.window).reshape(len(signals), -1), rises.reshape(len(signals), -1)]
        )

    def forward(self, signals):
        out = self.head(self.layer(self.features(signals)).tanh())
        return out + torch.arange(out.shape[1], device=out.device, dtype=out.dtype)


def make_model():
    old = Hasty()
    new = Forecaster(old.window.float())
    new.load_state_dict({k: v.float() for k, v in old.state_dict().items()}, strict=False)
    return new
""",
    },
    "ex15-task3-fit": {
        "deepcopy": """
import copy

def fit(model, train, test, optimizer, settings):
    (x, y), (x_test, y_test) = train, test
    batch = settings["batch"]
    losses, best, best_weights, since = [], float("inf"), None, 0
    while len(losses) < settings["epochs"]:
        model.train()
        for first in range(0, len(x), batch):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x[first : first + batch]), y[first : first + batch])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            losses.append(nn.functional.mse_loss(model(x_test), y_test).item())
        if losses[-1] < best:
            best, since = losses[-1], 0
            best_weights = copy.deepcopy(model.state_dict())
        else:
            since += 1
        if since == settings["patience"]:
            break
    model.load_state_dict(best_weights)
    return losses
""",
        "split": """
def fit(model, train, test, optimizer, settings):
    history, snapshot = [], None
    for epoch in range(settings["epochs"]):
        model.train(True)
        for images, targets in zip(*(part.split(settings["batch"]) for part in train)):
            model.zero_grad()
            nn.functional.mse_loss(model(images), targets).backward()
            optimizer.step()
        model.train(False)
        with torch.inference_mode():
            value = float(nn.functional.mse_loss(model(test[0]), test[1]))
        if not history or value < min(history):
            snapshot = [p.detach().clone() for p in model.state_dict().values()]
            best_epoch = epoch
        history.append(value)
        if epoch - best_epoch >= settings["patience"]:
            break
    with torch.no_grad():
        for mine, kept in zip(model.state_dict().values(), snapshot):
            mine.copy_(kept)
    return history
""",
        "helpers": """
def fit(model, train, test, optimizer, settings):
    def epoch():
        model.train()
        x, y = train
        start = 0
        while start < len(x):
            stop = start + settings["batch"]
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(model(x[start:stop]), y[start:stop])
            loss.backward()
            optimizer.step()
            start = stop

    @torch.no_grad()
    def test_loss():
        model.eval()
        return nn.functional.mse_loss(model(test[0]), test[1]).item()

    losses, waited, kept = [], 0, None
    while len(losses) < settings["epochs"] and waited < settings["patience"]:
        epoch()
        loss = test_loss()
        if kept is None or loss < kept[0]:
            kept, waited = (loss, {k: torch.clone(v) for k, v in model.state_dict().items()}), 0
        else:
            waited += 1
        losses.append(loss)
    model.load_state_dict(kept[1])
    return losses
""",
        "arange of starts": """
def fit(model, train, test, optimizer, settings):
    (x, y), (x_test, y_test) = train, test
    batch = settings["batch"]
    losses, best, best_weights, since = [], float("inf"), None, 0
    while len(losses) < settings["epochs"]:
        model.train()
        for first in torch.arange(0, len(x), batch).tolist():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x[first : first + batch]), y[first : first + batch])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            losses.append(nn.functional.mse_loss(model(x_test), y_test).item())
        if losses[-1] < best:
            best, since = losses[-1], 0
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            since += 1
        if since == settings["patience"]:
            break
    model.load_state_dict(best_weights)
    return losses
""",
        "tuple of settings": """
def fit(model, train, test, optimizer, settings):
    batch, epochs, patience = (settings[name] for name in ("batch", "epochs", "patience"))
    losses, best_at = [], -1
    for number in range(epochs):
        model.train()
        for i in range(-(-len(train[0]) // batch)):
            rows = slice(i * batch, (i + 1) * batch)
            optimizer.zero_grad()
            torch.nn.MSELoss()(model(train[0][rows]), train[1][rows]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            loss = torch.nn.functional.mse_loss(model(test[0]), test[1])
        losses += [loss.item()]
        if best_at < 0 or losses[number] < losses[best_at]:
            best_at, weights = number, {n: t.detach().clone() for n, t in model.state_dict().items()}
        elif number - best_at == patience:
            break
    model.load_state_dict(weights, strict=True)
    return losses
""",
    },
    "ex15-task4-counts": {
        "two blocks": """
def compare_counts(before, after):
    def count(step):
        with mps_or_emulated() as mps:
            step(mps.device)
            mps.clear_ledger()
            step(mps.device)
            book = mps.ledger()
            return len(book.waits_of("read")), book.bytes_copied("to mps")

    (r0, b0), (r1, b1) = count(before), count(after)
    return {"before": (r0, b0), "after": (r1, b1), "better": r1 <= r0 and b1 <= b0 and (r1, b1) != (r0, b0)}
""",
        "differences": """
def compare_counts(before, after):
    with mps_or_emulated() as mps:
        def state():
            ledger = mps.ledger()
            return len([w for w in ledger.waits if w.kind == "read"]), ledger.bytes_copied("to mps")

        result = {}
        for name, function in {"before": before, "after": after}.items():
            function(mps.device)
            reads, copied = state()
            function(mps.device)
            now = state()
            result[name] = [now[0] - reads, now[1] - copied]
    lower = [a < b for a, b in zip(result["after"], result["before"])]
    higher = [a > b for a, b in zip(result["after"], result["before"])]
    result["better"] = any(lower) and not any(higher)
    return result
""",
        "sums by hand": """
def compare_counts(before, after):
    counts = []
    with mps_or_emulated() as device:
        for f in (before, after):
            f(device.device)
            device.clear_ledger()
            f(device.device)
            ledger = device.ledger()
            copied = sum(c.n_bytes for c in ledger.copies if c.direction == "to mps")
            counts.append((sum(w.kind == "read" for w in ledger.waits), copied))
    old, new = counts
    better = old != new and new[0] <= old[0] and new[1] <= old[1]
    return dict(before=old, after=new, better=better)
""",
        "NumPy": """
import numpy as np

def compare_counts(before, after):
    rows = []
    with mps_or_emulated() as mps:
        for step in [before, after]:
            for _ in range(2):
                mps.clear_ledger()
                step(mps.device)
            ledger = mps.ledger()
            rows.append([len(ledger.waits_of("read")), ledger.bytes_copied("to mps")])
    change = np.subtract(rows[1], rows[0])
    return {"before": rows[0], "after": rows[1], "better": bool((change <= 0).all() and (change < 0).any())}
""",
        "warm-up of both first": """
def compare_counts(before, after):
    with mps_or_emulated() as mps:
        before(mps.device)
        after(mps.device)
        mps.clear_ledger()
        before(mps.device)
        first = mps.ledger()
        mps.clear_ledger()
        after(mps.device)
        second = mps.ledger()
    a = (len(first.waits_of("read")), first.bytes_copied("to mps"))
    b = (len(second.waits_of("read")), second.bytes_copied("to mps"))
    return {"before": a, "after": b, "better": max(y - x for x, y in zip(a, b)) <= 0 and sum(b) < sum(a)}
""",
    },
    "ex15-task5": {
        "plain": """
def report(before, after):
    if before["device"].startswith("emulated") or after["device"].startswith("emulated"):
        raise ValueError("no times")
    changed = [key for key in ("device", "torch", "threads") if before[key] != after[key]]
    unwaited = []
    if not before["waited"] and before["device"] != "cpu":
        unwaited.append("before")
    if not after["waited"] and after["device"] != "cpu":
        unwaited.append("after")
    q1, q2, q3 = before["quartiles_ms"]
    r1, r2, r3 = after["quartiles_ms"]
    gain = [q1 / r3, q2 / r2, q3 / r1]
    claim = "faster" if gain[0] > 1 else "slower" if gain[2] < 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "quartiles compared": """
def report(before, after):
    for one in (before, after):
        if one["device"][:8] == "emulated":
            raise ValueError(one["device"])
    keys = ["device", "torch", "threads"]
    changed = list(filter(lambda key: before[key] != after[key], keys))
    unwaited = [
        name
        for name, one in zip(("before", "after"), (before, after))
        if not (one["waited"] or one["device"] == "cpu")
    ]
    old, new = before["quartiles_ms"], after["quartiles_ms"]
    claim = "not shown"
    if old[0] > new[2]:
        claim = "faster"
    if old[2] < new[0]:
        claim = "slower"
    return {
        "changed": changed,
        "unwaited": unwaited,
        "gain": [a / b for a, b in zip(old, reversed(new))],
        "claim": "none" if changed + unwaited else claim,
    }
""",
        "NumPy": """
import numpy as np

def report(before, after):
    if any(str(m["device"]).startswith("emulated") for m in (before, after)):
        raise ValueError("an emulated device has no times")
    changed = [k for k in ("device", "torch", "threads") if not before[k] == after[k]]
    unwaited = [k for k, m in dict(before=before, after=after).items() if not m["waited"]]
    unwaited = [k for k in unwaited if {"before": before, "after": after}[k]["device"] != "cpu"]
    gain = np.array(before["quartiles_ms"]) / np.array(after["quartiles_ms"])[::-1]
    if changed or unwaited:
        claim = "none"
    else:
        claim = "faster" if (gain > 1).all() else "slower" if (gain < 1).all() else "not shown"
    return dict(changed=changed, unwaited=unwaited, gain=gain.tolist(), claim=claim)
""",
        "a function for each part": """
def report(before, after):
    def waits(one):
        return one["waited"] or one["device"] == "cpu"

    def verdict(low, high):
        if low > 1:
            return "faster"
        return "slower" if high < 1 else "not shown"

    if "emulated" in (before["device"].split()[0], after["device"].split()[0]):
        raise ValueError("emulated")
    result = {"changed": [], "unwaited": [], "claim": "none"}
    for key in ("device", "torch", "threads"):
        if before[key] != after[key]:
            result["changed"].append(key)
    for name in ("before", "after"):
        if not waits({"before": before, "after": after}[name]):
            result["unwaited"].append(name)
    a, b = before["quartiles_ms"], after["quartiles_ms"]
    result["gain"] = (a[0] / b[2], a[1] / b[1], a[2] / b[0])
    if not result["changed"] and not result["unwaited"]:
        result["claim"] = verdict(result["gain"][0], result["gain"][-1])
    return result
""",
        "match": """
def report(before, after):
    match before["device"], after["device"]:
        case (str(a), str(b)) if a.startswith("emulated") or b.startswith("emulated"):
            raise ValueError(f"{a}, {b}")
    first, middle, third = before["quartiles_ms"]
    gain = [first / after["quartiles_ms"][2], middle / after["quartiles_ms"][1], third / after["quartiles_ms"][0]]
    changed = [key for key in ("device", "torch", "threads") if before[key] != after[key]]
    unwaited = [w for w, m in (("before", before), ("after", after)) if m["device"] != "cpu" and not m["waited"]]
    match bool(changed or unwaited), gain[0] > 1, gain[2] < 1:
        case True, _, _:
            claim = "none"
        case _, True, _:
            claim = "faster"
        case _, _, True:
            claim = "slower"
        case _:
            claim = "not shown"
    return {"claim": claim, "gain": gain, "unwaited": unwaited, "changed": changed}
""",
    },
}
