"""Wrong solutions of exercise 03, by the grade id of the cell that they stand in."""

WRONG = {
    "ex03-task1": {
        "dictionaries only": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    return batch
""",
        "one level deep": """
def move(batch, device):
    send = lambda value: value.to(device) if isinstance(value, torch.Tensor) else value
    if isinstance(batch, dict):
        return {key: send(value) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(map(send, batch))
    return send(batch)
""",
        "tuples become lists": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return [move(value, device) for value in batch]
    return batch
""",
        "changes the batch": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        for key in batch:
            batch[key] = move(batch[key], device)
        return batch
    if isinstance(batch, list):
        for place, value in enumerate(batch):
            batch[place] = move(value, device)
        return batch
    if isinstance(batch, tuple):
        return tuple(move(value, device) for value in batch)
    return batch
""",
    },
    "ex03-task2": {
        "the broken one": """
def make_repaired():
    return Broken()
""",
        "float64 buffers": """
def make_repaired():
    class Repaired(Broken):
        def __init__(self):
            super().__init__()
            mean, positions = self.mean, self.positions
            del self.mean, self.positions
            self.register_buffer("mean", mean)
            self.register_buffer("positions", positions)
    return Repaired()
""",
        "a tensor made on the CPU in forward": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            return self.layer(x - self.mean + self.positions + torch.full((4,), 0.5))
    return Repaired()
""",
        "buffers that are not saved": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]), persistent=False)
            self.register_buffer("positions", torch.arange(4.0), persistent=False)
        def forward(self, x):
            return self.layer(x - self.mean + self.positions + 0.5)
    return Repaired()
""",
    },
    "ex03-task3": {
        "no attributes": """
def strangers(model, device):
    found = [*model.named_parameters(), *model.named_buffers()]
    return sorted(name for name, tensor in found if tensor.device.type != torch.device(device).type)
""",
        "attributes of the outermost module only": """
def strangers(model, device):
    found = [*model.named_parameters(), *model.named_buffers()]
    found += [(name, value) for name, value in vars(model).items() if isinstance(value, torch.Tensor)]
    return sorted(name for name, tensor in found if tensor.device.type != torch.device(device).type)
""",
        "no buffers": """
def strangers(model, device):
    found = [*model.named_parameters()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted(name for name, tensor in found if tensor.device.type != torch.device(device).type)
""",
        "compares devices with their index": """
def strangers(model, device):
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted(name for name, tensor in found if str(tensor.device) != str(device))
""",
    },
    "ex03-task4": {
        "reads every step": """
def train_epoch(model, batches, optimizer, device):
    total = 0.0
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(batches)
""",
        "sum instead of mean": """
def train_epoch(model, batches, optimizer, device):
    total = torch.zeros((), device=device)
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total.item()
""",
        "copies that nobody waits for": """
def train_epoch(model, batches, optimizer, device):
    total = torch.zeros((), device=device)
    for x, y in batches:
        optimizer.zero_grad()
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return (total / len(batches)).item()
""",
        "gradients pile up": """
def train_epoch(model, batches, optimizer, device):
    total = torch.zeros((), device=device)
    for x, y in batches:
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return (total / len(batches)).item()
""",
        "waits by a comparison": """
def train_epoch(model, batches, optimizer, device):
    total = torch.zeros((), device=device)
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        if loss > 1e6:
            raise ValueError("the training diverges")
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return (total / len(batches)).item()
""",
        "the last loss": """
def train_epoch(model, batches, optimizer, device):
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    return loss.item()
""",
    },
}
