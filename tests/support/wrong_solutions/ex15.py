"""Wrong solutions of exercise 15, by the grade id of the cell that they stand in."""

WRONG = {
    "ex15-task1-signals": {
        "converted on the CPU": """
def prepare(counts, device):
    signals = counts.float().to(device)
    signals = signals - signals.mean(dim=(0, 2), keepdim=True)
    deviation = signals.std(dim=(0, 2), keepdim=True)
    return signals / torch.where(deviation > 0, deviation, 1.0)
""",
        "computed on the CPU": """
def prepare(counts, device):
    signals = counts.double()
    signals = signals - signals.mean(dim=(0, 2), keepdim=True)
    deviation = signals.std(dim=(0, 2), keepdim=True)
    return (signals / torch.where(deviation > 0, deviation, 1.0)).float().to(device)
""",
        "float64 on the device": """
def prepare(counts, device):
    signals = counts.to(device).double()
    signals = signals - signals.mean(dim=(0, 2), keepdim=True)
    deviation = signals.std(dim=(0, 2), keepdim=True)
    return signals / torch.where(deviation > 0, deviation, 1.0)
""",
        "a copy that nobody waits for": """
def prepare(counts, device):
    signals = counts.to(device, non_blocking=True).float()
    signals = signals - signals.mean(dim=(0, 2), keepdim=True)
    deviation = signals.std(dim=(0, 2), keepdim=True)
    return signals / torch.where(deviation > 0, deviation, 1.0)
""",
        "an if that reads the deviation": """
def prepare(counts, device):
    signals = counts.to(device).float()
    signals = signals - signals.mean(dim=(0, 2), keepdim=True)
    deviation = signals.std(dim=(0, 2), keepdim=True)
    if (deviation == 0).any():
        deviation = deviation + (deviation == 0)
    return signals / deviation
""",
        "squares minus the square": """
def prepare(counts, device):
    signals = counts.to(device).float()
    mean = signals.mean(dim=(0, 2), keepdim=True)
    variance = (signals.square().mean(dim=(0, 2), keepdim=True) - mean.square()).clamp(min=1e-12)
    return (signals - mean) / variance.sqrt()
""",
        "NaN for a still channel": """
def prepare(counts, device):
    signals = counts.to(device).float()
    signals = signals - signals.mean(dim=(0, 2), keepdim=True)
    deviation = signals.std(dim=(0, 2), keepdim=True)
    return signals / deviation
""",
        "all channels together": """
def prepare(counts, device):
    signals = counts.to(device).float()
    signals = signals - signals.mean()
    deviation = signals.std()
    return signals / torch.where(deviation > 0, deviation, 1.0)
""",
        "each row by itself": """
def prepare(counts, device):
    signals = counts.to(device).float()
    signals = signals - signals.mean(dim=2, keepdim=True)
    deviation = signals.std(dim=2, keepdim=True)
    return signals / torch.where(deviation > 0, deviation, 1.0)
""",
        "only the mean": """
def prepare(counts, device):
    signals = counts.to(device).float()
    signals = signals - signals.mean(dim=(0, 2), keepdim=True)
    deviation = signals.std(dim=(0, 2), keepdim=True)
    return signals
""",
        "from 0 to 1": """
def prepare(counts, device):
    signals = counts.to(device).float()
    low, high = signals.amin(dim=(0, 2), keepdim=True), signals.amax(dim=(0, 2), keepdim=True)
    return (signals - low) / (high - low).clamp(min=1)
""",
        "half precision": """
def prepare(counts, device):
    signals = counts.to(device).half()
    signals = signals - signals.mean(dim=(0, 2), keepdim=True)
    deviation = signals.std(dim=(0, 2), keepdim=True)
    return signals / torch.where(deviation > 0, deviation, 1.0)
""",
        "stays on the CPU": """
def prepare(counts, device):
    signals = counts.float()
    signals = signals - signals.mean(dim=(0, 2), keepdim=True)
    deviation = signals.std(dim=(0, 2), keepdim=True)
    return signals / torch.where(deviation > 0, deviation, 1.0)
""",
        "each channel copied by itself": """
def prepare(counts, device):
    signals = torch.stack([counts[:, c].to(device) for c in range(3)], dim=1).float()
    signals = signals - signals.mean(dim=(0, 2), keepdim=True)
    deviation = signals.std(dim=(0, 2), keepdim=True)
    return signals / torch.where(deviation > 0, deviation, 1.0)
""",
    },
    "ex15-task2-forecaster": {
        "the hasty one": """
def make_model():
    return Hasty()
""",
        "only converted to float32": """
def make_model():
    return Hasty().float()
""",
        "the window stays an attribute": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.window = torch.hann_window(24, periodic=False)
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "a window that trains": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.window = nn.Parameter(torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "a parameter that does not train": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.window = nn.Parameter(torch.hann_window(24, periodic=False), requires_grad=False)
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "the window is not saved": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False), persistent=False)
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "the window moved in each forward": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.window = torch.hann_window(24, periodic=False)
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window.to(signals.device)
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "equal readings fall": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2) > 0).float()
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "the sign itself": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = signals.diff(dim=2).sign()
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "the operator that is missing": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = torch.heaviside(signals.diff(dim=2), torch.tensor(0.5))
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "the operator on the CPU": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = torch.heaviside(signals.diff(dim=2).cpu(), torch.tensor(0.5)).to(signals.device)
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "reads the level": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            self.level = hidden.abs().mean().item()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "reads whether there is a NaN": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            if hidden.isnan().any():
                raise ValueError
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "numbers made on the CPU": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3)
    return Repaired()
""",
        "numbers copied in each forward": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.tensor([0.0, 1.0, 2.0], device=signals.device)
    return Repaired()
""",
        "a window of 24 that begins anew": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "other names": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.hidden = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.hidden(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + torch.arange(3, device=signals.device)
    return Repaired()
""",
        "no numbers added": """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(24, periodic=False))
            self.layer = nn.Linear(72 + 69, 16)
            self.head = nn.Linear(16, 3)

        def forward(self, signals):
            rises = (signals.diff(dim=2).sign() + 1) / 2
            smooth = signals * self.window
            hidden = self.layer(torch.cat([smooth.flatten(1), rises.flatten(1)], 1)).tanh()
            return self.head(hidden) + 0
    return Repaired()
""",
    },
    "ex15-task3-fit": {
        "the last weights": """
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
            best_weights = model.state_dict()
        else:
            since += 1
        if since == settings["patience"]:
            break
    model.load_state_dict(best_weights)
    return losses
""",
        "the best are not loaded": """
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
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            since += 1
        if since == settings["patience"]:
            break
    return losses
""",
        "bad epochs are added up": """
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
            best, unused = losses[-1], 0
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            since += 1
        if since == settings["patience"]:
            break
    model.load_state_dict(best_weights)
    return losses
""",
        "a plateau never ends": """
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
        if losses[-1] <= best:
            best, since = losses[-1], 0
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            since += 1
        if since == settings["patience"]:
            break
    model.load_state_dict(best_weights)
    return losses
""",
        "one epoch more": """
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
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            since += 1
        if since > settings["patience"]:
            break
    model.load_state_dict(best_weights)
    return losses
""",
        "never stops": """
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
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            since += 1
        if False:
            break
    model.load_state_dict(best_weights)
    return losses
""",
        "stays in evaluation mode": """
def fit(model, train, test, optimizer, settings):
    (x, y), (x_test, y_test) = train, test
    batch = settings["batch"]
    losses, best, best_weights, since = [], float("inf"), None, 0
    model.train()
    while len(losses) < settings["epochs"]:
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
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            since += 1
        if since == settings["patience"]:
            break
    model.load_state_dict(best_weights)
    return losses
""",
        "tests in training mode": """
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
        "tests with gradients": """
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
        "drops the last batch": """
def fit(model, train, test, optimizer, settings):
    (x, y), (x_test, y_test) = train, test
    batch = settings["batch"]
    losses, best, best_weights, since = [], float("inf"), None, 0
    while len(losses) < settings["epochs"]:
        model.train()
        for first in range(0, len(x) - batch + 1, batch):
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
        "gradients pile up": """
def fit(model, train, test, optimizer, settings):
    (x, y), (x_test, y_test) = train, test
    batch = settings["batch"]
    losses, best, best_weights, since = [], float("inf"), None, 0
    while len(losses) < settings["epochs"]:
        model.train()
        for first in range(0, len(x), batch):
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
        "reads the loss of each step": """
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
            if loss.item() != loss.item():
                return losses
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
        "weights kept on the CPU": """
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
            best_weights = {name: value.cpu() for name, value in model.state_dict().items()}
        else:
            since += 1
        if since == settings["patience"]:
            break
    model.load_state_dict(best_weights)
    return losses
""",
        "test losses as tensors, read at the end of all": """
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
            losses.append(nn.functional.mse_loss(model(x_test), y_test))
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
        "only the lowest loss": """
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
            best_weights = {name: value.clone() for name, value in model.state_dict().items()}
        else:
            since += 1
        if since == settings["patience"]:
            break
    model.load_state_dict(best_weights)
    return best
""",
        "test row by row": """
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
            rows = [nn.functional.mse_loss(model(a[None]), b[None]).item() for a, b in zip(x_test, y_test)]
            losses.append(sum(rows) / len(rows))
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
        "from the last row to the first": """
def fit(model, train, test, optimizer, settings):
    (x, y), (x_test, y_test) = train, test
    batch = settings["batch"]
    losses, best, best_weights, since = [], float("inf"), None, 0
    while len(losses) < settings["epochs"]:
        model.train()
        for first in reversed(range(0, len(x), batch)):
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
        "the weights of the first epoch": """
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
            best_weights = best_weights or {name: value.clone() for name, value in model.state_dict().items()}
        else:
            since += 1
        if since == settings["patience"]:
            break
    model.load_state_dict(best_weights)
    return losses
""",
        "an equal loss replaces the weights": """
def fit(model, train, test, optimizer, settings):
    losses, best = [], None
    for _ in range(settings["epochs"]):
        model.train()
        for x, y in zip(train[0].split(settings["batch"]), train[1].split(settings["batch"])):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            losses.append(nn.functional.mse_loss(model(test[0]), test[1]).item())
        if losses[-1] == min(losses):
            best = {k: v.clone() for k, v in model.state_dict().items()}
        if (
            len(losses) > settings["patience"]
            and min(losses[-settings["patience"] :]) >= losses[-settings["patience"] - 1]
        ):
            break
    model.load_state_dict(best)
    return losses
""",
    },
    "ex15-task4-counts": {
        "the first call is counted": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (len(ledger.waits_of("read")), ledger.bytes_copied("to mps"))
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = all(b >= a for b, a in pairs) and any(b > a for b, a in pairs)
    return found
""",
        "both calls are counted": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            mps.clear_ledger()
            step(mps.device)
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (len(ledger.waits_of("read")), ledger.bytes_copied("to mps"))
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = all(b >= a for b, a in pairs) and any(b > a for b, a in pairs)
    return found
""",
        "cleared once": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            step(mps.device)
            if name == 'before':
                mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (len(ledger.waits_of("read")), ledger.bytes_copied("to mps"))
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = all(b >= a for b, a in pairs) and any(b > a for b, a in pairs)
    return found
""",
        "all waits": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            step(mps.device)
            mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (len(ledger.waits), ledger.bytes_copied("to mps"))
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = all(b >= a for b, a in pairs) and any(b > a for b, a in pairs)
    return found
""",
        "bytes in both directions": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            step(mps.device)
            mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (
                len(ledger.waits_of("read")),
                ledger.bytes_copied("to mps") + 4 * len(ledger.waits_of("read")),
            )
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = all(b >= a for b, a in pairs) and any(b > a for b, a in pairs)
    return found
""",
        "how many copies, not how much": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            step(mps.device)
            mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (
                len(ledger.waits_of("read")),
                len([c for c in ledger.copies if c.direction == "to mps"]),
            )
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = all(b >= a for b, a in pairs) and any(b > a for b, a in pairs)
    return found
""",
        "better by the sum": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            step(mps.device)
            mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (len(ledger.waits_of("read")), ledger.bytes_copied("to mps"))
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = sum(found["after"]) < sum(found["before"])
    return found
""",
        "better when equal": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            step(mps.device)
            mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (len(ledger.waits_of("read")), ledger.bytes_copied("to mps"))
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = all(b >= a for b, a in pairs)
    return found
""",
        "only where both are lower": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            step(mps.device)
            mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (len(ledger.waits_of("read")), ledger.bytes_copied("to mps"))
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = all(b > a for b, a in pairs)
    return found
""",
        "pairs compared as tuples": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            step(mps.device)
            mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (len(ledger.waits_of("read")), ledger.bytes_copied("to mps"))
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = found["after"] < found["before"]
    return found
""",
        "exchanged": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("after", before), ("before", after)):
            step(mps.device)
            mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (len(ledger.waits_of("read")), ledger.bytes_copied("to mps"))
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = all(b >= a for b, a in pairs) and any(b > a for b, a in pairs)
    return found
""",
        "any number that is lower": """
def compare_counts(before, after):
    found = {}
    with mps_or_emulated() as mps:
        for name, step in (("before", before), ("after", after)):
            step(mps.device)
            mps.clear_ledger()
            step(mps.device)
            ledger = mps.ledger()
            found[name] = (len(ledger.waits_of("read")), ledger.bytes_copied("to mps"))
    pairs = list(zip(found["before"], found["after"], strict=True))
    found["better"] = any(b > a for b, a in pairs)
    return found
""",
    },
    "ex15-task5": {
        "the quotient the wrong way round": """
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
    gain = [r1 / q3, r2 / q2, r3 / q1]
    claim = "faster" if gain[0] > 1 else "slower" if gain[2] < 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "first against first": """
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
    gain = [q1 / r1, q2 / r2, q3 / r3]
    claim = "faster" if gain[0] > 1 else "slower" if gain[2] < 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "the hopeful number first": """
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
    gain = [q3 / r1, q2 / r2, q1 / r3]
    claim = "faster" if gain[2] > 1 else "slower" if gain[0] < 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "the medians alone": """
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
    claim = "faster" if gain[1] > 1 else "slower" if gain[1] < 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "the hopeful number is enough": """
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
    claim = "faster" if gain[2] > 1 else "slower" if gain[2] < 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "the differences": """
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
    gain = [q1 - r3, q2 - r2, q3 - r1]
    claim = "faster" if gain[0] > 1 else "slower" if gain[2] < 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "doubts the CPU too": """
def report(before, after):
    if before["device"].startswith("emulated") or after["device"].startswith("emulated"):
        raise ValueError("no times")
    changed = [key for key in ("device", "torch", "threads") if before[key] != after[key]]
    unwaited = []
    if not before["waited"]:
        unwaited.append("before")
    if not after["waited"]:
        unwaited.append("after")
    q1, q2, q3 = before["quartiles_ms"]
    r1, r2, r3 = after["quartiles_ms"]
    gain = [q1 / r3, q2 / r2, q3 / r1]
    claim = "faster" if gain[0] > 1 else "slower" if gain[2] < 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "the device of the other one": """
def report(before, after):
    if before["device"].startswith("emulated") or after["device"].startswith("emulated"):
        raise ValueError("no times")
    changed = [key for key in ("device", "torch", "threads") if before[key] != after[key]]
    unwaited = []
    if not before["waited"] and before["device"] != "cpu":
        unwaited.append("before")
    if not after["waited"] and before["device"] != "cpu":
        unwaited.append("after")
    q1, q2, q3 = before["quartiles_ms"]
    r1, r2, r3 = after["quartiles_ms"]
    gain = [q1 / r3, q2 / r2, q3 / r1]
    claim = "faster" if gain[0] > 1 else "slower" if gain[2] < 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "a claim although something has changed": """
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
    if unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "a claim although nobody waited": """
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
    if changed:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "no claim only if both are wrong": """
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
    if changed and unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "one is faster too": """
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
    claim = "faster" if gain[0] >= 1 else "slower" if gain[2] < 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "only the first device is asked": """
def report(before, after):
    if before["device"].startswith("emulated"):
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
        "only MPS is emulated": """
def report(before, after):
    if "emulated mps" in (before["device"], after["device"]):
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
        "an emulated device gives no claim": """
def report(before, after):
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
    if changed or unwaited or "emulated" in before["device"] + after["device"]:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
        "a set of what changed": """
def report(before, after):
    if before["device"].startswith("emulated") or after["device"].startswith("emulated"):
        raise ValueError("no times")
    changed = {key for key in ("device", "torch", "threads") if before[key] != after[key]}
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
        "all keys that differ": """
def report(before, after):
    if before["device"].startswith("emulated") or after["device"].startswith("emulated"):
        raise ValueError("no times")
    changed = [key for key in before if before[key] != after[key]]
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
        "threads do not matter": """
def report(before, after):
    if before["device"].startswith("emulated") or after["device"].startswith("emulated"):
        raise ValueError("no times")
    changed = [key for key in ("device", "torch") if before[key] != after[key]]
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
        "slower is not shown": """
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
    claim = "faster" if gain[0] > 1 else "not shown"
    if changed or unwaited:
        claim = "none"
    return {"changed": changed, "unwaited": unwaited, "gain": gain, "claim": claim}
""",
    },
}
