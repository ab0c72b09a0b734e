"""Wrong solutions of exercise 11, by the grade id of the cell that they stand in."""

_TRAIN = """
def train_epoch(model, x, y, optimizer, batch):
    model.train()
    total = torch.zeros((), device=x.device)
    for first in range(0, len(x), batch):
        rows, labels = x[first : first + batch], y[first : first + batch]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(rows)
    return (total / len(x)).item()
"""
_EVALUATE = """
def evaluate(model, x, y):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        right = (model(x).argmax(dim=1) == y).float().mean().item()
    model.train(was_training)
    return right
"""
_MODEL = """
def make_model():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            {centre}
            self.convolution = nn.Conv2d(1, 8, 3, padding=1)
            self.activation = {activation}
            self.pool = nn.MaxPool2d(2)
            self.head = nn.Linear(128, 10)
        def forward(self, images):
            hidden = self.activation(self.convolution(images - self.centre))
            return self.head(self.pool(hidden).flatten(1)) + {ramp}
    return Repaired()
"""
_RIGHT = {
    "centre": 'self.register_buffer("centre", torch.full((8, 8), 0.3))',
    "activation": "nn.LeakyReLU(11 / 48)",
    "ramp": "torch.linspace(0, 1, 10, device=hidden.device)",
}
_REPORT = """
def report(measurement):
    device, warmup = measurement["device"], measurement["warmup"]
    readings = measurement["times_s"][{left_out}:]
    if device.startswith("emulated") or len(readings) < 2:
        raise ValueError(device)
    first, median, third = statistics.quantiles(readings, n=4, method="inclusive")
    doubts = []
    if warmup == 0:
        doubts.append("no warm-up")
    if {unwaited}:
        doubts.append("did not wait")
    if len(readings) < 9:
        doubts.append("few readings")
    if third - first > 0.2 * median:
        doubts.append("wide spread")
    return {{"device": device, "median_ms": 1000 * {middle}, "iqr_ms": 1000 * (third - first),
            "first_call_ms": 1000 * measurement["times_s"][0], "readings": len(readings), "doubts": doubts}}
"""
_HONEST = {"left_out": "warmup", "unwaited": 'not measurement["waited"] and device != "cpu"', "middle": "median"}

WRONG = {
    "ex11-task1": {
        "converted on the CPU": """
def prepare(images, labels, device):
    return (images[:, None].float() / 16).to(device), labels.long().to(device)
""",
        "float64": """
def prepare(images, labels, device):
    return images[:, None].double().to(torch.device(device)) / 16, labels.to(device).long()
""",
        "divided by 255": """
def prepare(images, labels, device):
    return images.to(device)[:, None].float() / 255, labels.to(device).long()
""",
        "no channel": """
def prepare(images, labels, device):
    return images.to(device).float() / 16, labels.to(device).long()
""",
        "labels as they are": """
def prepare(images, labels, device):
    return images.to(device)[:, None].float() / 16, labels.to(device)
""",
    },
    "ex11-task2": {
        "the sinful one": """
def make_model():
    return Sinful()
""",
        "only converted to float32": """
def make_model():
    return Sinful().float()
""",
        "the centre stays an attribute": _MODEL.format(
            **(_RIGHT | {"centre": "self.centre = torch.full((8, 8), 0.3)"})
        ),
        "the usual slope of LeakyReLU": _MODEL.format(**(_RIGHT | {"activation": "nn.LeakyReLU()"})),
        "RReLU kept": _MODEL.format(**(_RIGHT | {"activation": "nn.RReLU()"})),
        "the ramp is made on the CPU": _MODEL.format(**(_RIGHT | {"ramp": "torch.linspace(0, 1, 10)"})),
    },
    "ex11-task3": {
        "reads every loss": """
def train_epoch(model, x, y, optimizer, batch):
    model.train()
    total = 0.0
    for first in range(0, len(x), batch):
        rows, labels = x[first : first + batch], y[first : first + batch]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(x)
"""
        + _EVALUATE,
        "the mean of the batches": """
def train_epoch(model, x, y, optimizer, batch):
    model.train()
    losses = []
    for first in range(0, len(x), batch):
        rows, labels = x[first : first + batch], y[first : first + batch]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean().item()
"""
        + _EVALUATE,
        "drops the last batch": """
def train_epoch(model, x, y, optimizer, batch):
    model.train()
    total = torch.zeros((), device=x.device)
    for first in range(0, len(x) - batch + 1, batch):
        rows, labels = x[first : first + batch], y[first : first + batch]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(rows)
    return (total / len(x)).item()
"""
        + _EVALUATE,
        "gradients pile up": """
def train_epoch(model, x, y, optimizer, batch):
    model.train()
    total = torch.zeros((), device=x.device)
    for first in range(0, len(x), batch):
        rows, labels = x[first : first + batch], y[first : first + batch]
        loss = nn.functional.cross_entropy(model(rows), labels)
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(rows)
    return (total / len(x)).item()
"""
        + _EVALUATE,
        "tests image by image": _TRAIN
        + """
def evaluate(model, x, y):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        right = sum(int(model(image[None]).argmax() == label) for image, label in zip(x, y))
    model.train(was_training)
    return right / len(x)
""",
        "stays in evaluation mode": _TRAIN
        + """
def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()
""",
        "tests in training mode": _TRAIN
        + """
def evaluate(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()
""",
    },
    "ex11-task4": {
        "tries every batch": """
def largest_batch(peak_bytes, limit_bytes, most):
    fitting = [batch for batch in range(1, most + 1) if peak_bytes(batch) <= limit_bytes]
    return max(fitting, default=0)
""",
        "powers of two": """
def largest_batch(peak_bytes, limit_bytes, most):
    batch = 1
    while batch <= most and peak_bytes(batch) <= limit_bytes:
        batch *= 2
    return batch // 2
""",
        "a straight line through one image": """
def largest_batch(peak_bytes, limit_bytes, most):
    return min(most, limit_bytes // peak_bytes(1))
""",
        "less than the limit": """
def largest_batch(peak_bytes, limit_bytes, most):
    fits, too_large = 0, most + 1
    while too_large - fits > 1:
        middle = (fits + too_large) // 2
        if peak_bytes(middle) < limit_bytes:
            fits = middle
        else:
            too_large = middle
    return fits
""",
        "never all of them": """
def largest_batch(peak_bytes, limit_bytes, most):
    fits, too_large = 0, most
    while too_large - fits > 1:
        middle = (fits + too_large) // 2
        if peak_bytes(middle) <= limit_bytes:
            fits = middle
        else:
            too_large = middle
    return fits
""",
    },
    "ex11-task5": {
        "the mean": _REPORT.format(**(_HONEST | {"middle": "statistics.mean(readings)"})),
        "the warm-up is counted": _REPORT.format(**(_HONEST | {"left_out": "0"})),
        "doubts the CPU too": _REPORT.format(**(_HONEST | {"unwaited": 'not measurement["waited"]'})),
        "only the first call is warm-up": _REPORT.format(**(_HONEST | {"left_out": "1 if warmup else 0"})),
    },
}
