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
        "NumPy": """
import numpy as np

def report(measurement):
    if measurement["device"].startswith("emulated"):
        raise ValueError("no times")
    t = np.array(measurement["times_s"][measurement["warmup"]:]) * 1e3
    if t.size < 2:
        raise ValueError("too few")
    q1, q2, q3 = np.percentile(t, [25, 50, 75])
    checks = {
        "no warm-up": measurement["warmup"] == 0,
        "did not wait": measurement["device"] != "cpu" and not measurement["waited"],
        "few readings": t.size < 9,
        "wide spread": q3 - q1 > 0.2 * q2,
    }
    return {"device": measurement["device"], "median_ms": q2, "iqr_ms": q3 - q1,
            "first_call_ms": measurement["times_s"][0] * 1000, "readings": t.size,
            "doubts": [text for text, holds in checks.items() if holds]}
""",
        "median apart": """
def report(measurement):
    kept = measurement["times_s"][measurement["warmup"]:]
    if measurement["device"][:8] == "emulated" or len(kept) < 2:
        raise ValueError(measurement["device"])
    quartiles = statistics.quantiles(kept, n=4, method="inclusive")
    result = {
        "device": measurement["device"],
        "median_ms": statistics.median(kept) * 1e3,
        "iqr_ms": (quartiles[2] - quartiles[0]) * 1e3,
        "first_call_ms": measurement["times_s"][0] * 1e3,
        "readings": len(kept),
        "doubts": [],
    }
    if not measurement["warmup"]:
        result["doubts"].append("no warm-up")
    if measurement["device"] != "cpu" and not measurement["waited"]:
        result["doubts"].append("did not wait")
    if result["readings"] < 9:
        result["doubts"].append("few readings")
    if result["iqr_ms"] / result["median_ms"] > 0.2:
        result["doubts"].append("wide spread")
    return result
""",
        "unpacked": """
def report(measurement):
    device, times, warmup, waited = (measurement[k] for k in ("device", "times_s", "warmup", "waited"))
    if device.startswith("emulated"):
        raise ValueError("an emulated device has no times")
    first_call, readings = times[0], times[warmup:]
    if len(readings) <= 1:
        raise ValueError("fewer than 2 readings")
    low, middle, high = statistics.quantiles(readings, n=4, method="inclusive")
    spread = high - low
    doubts = (["no warm-up"] * (warmup == 0) + ["did not wait"] * (device != "cpu" and not waited)
              + ["few readings"] * (len(readings) < 9) + ["wide spread"] * (spread > middle / 5))
    ms = 1000
    return dict(device=device, median_ms=middle * ms, iqr_ms=spread * ms, first_call_ms=first_call * ms,
                readings=len(readings), doubts=doubts)
""",
        "in milliseconds from the start": """
def report(measurement):
    ms = [1000 * t for t in measurement["times_s"]]
    rest = ms[measurement["warmup"]:]
    device = measurement["device"]
    if "emulated" == device.split()[0]:
        raise ValueError("emulated")
    q = statistics.quantiles(rest, method="inclusive") if len(rest) > 1 else None
    if q is None:
        raise ValueError("no spread")
    doubts = []
    for text, holds in (
        ("no warm-up", len(rest) == len(ms)),
        ("did not wait", not measurement["waited"] and device != "cpu"),
        ("few readings", len(rest) < 9),
        ("wide spread", (q[2] - q[0]) > 0.2 * q[1]),
    ):
        if holds:
            doubts.append(text)
    return {"device": device, "median_ms": q[1], "iqr_ms": q[2] - q[0], "first_call_ms": ms[0],
            "readings": len(rest), "doubts": doubts}
""",
        "quartiles by hand": """
def report(measurement):
    values = sorted(measurement["times_s"][measurement["warmup"]:])
    if measurement["device"].startswith("emulated") or len(values) < 2:
        raise ValueError

    def quantile(share):
        place = share * (len(values) - 1)
        low = int(place)
        high = min(low + 1, len(values) - 1)
        return values[low] + (place - low) * (values[high] - values[low])

    median, iqr = quantile(0.5), quantile(0.75) - quantile(0.25)
    doubts = []
    if measurement["warmup"] == 0: doubts.append("no warm-up")
    if measurement["device"] != "cpu" and measurement["waited"] is False: doubts.append("did not wait")
    if len(values) < 9: doubts.append("few readings")
    if iqr > 0.2 * median: doubts.append("wide spread")
    return {"device": measurement["device"], "median_ms": median * 1000, "iqr_ms": iqr * 1000,
            "first_call_ms": measurement["times_s"][0] * 1000, "readings": len(values), "doubts": doubts}
""",
    },
}
