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
        "copies that nobody waits for": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(move(value, device) for value in batch)
    return batch
""",
        "lists become tuples": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return tuple(move(value, device) for value in batch)
    return batch
""",
        "copied twice": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        batch.to(device)
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(move(value, device) for value in batch)
    return batch
""",
        "numbers become tensors": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(move(value, device) for value in batch)
    return torch.tensor(batch, device=device) if isinstance(batch, int | float) else batch
""",
        "None for everything else": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(move(value, device) for value in batch)
    return None
""",
        "tuples are left alone": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list):
        return type(batch)(move(value, device) for value in batch)
    return batch
""",
        "an error for everything else": """
def move(batch, device):
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(move(value, device) for value in batch)
    return batch.to(device)
""",
        "a map instead of a list": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return map(lambda value: move(value, device), batch)
    return batch
""",
        "text taken apart": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    try:
        return type(batch)([move(value, device) for value in batch] if len(batch) != 1 else batch)
    except TypeError:
        return batch
""",
        "a shallow copy that is changed": """
import copy
def move(batch, device):
    batch = copy.copy(batch)
    def go(inside):
        if isinstance(inside, dict):
            for key in inside:
                inside[key] = go(inside[key])
            return inside
        if isinstance(inside, list):
            inside[:] = [go(value) for value in inside]
            return inside
        if isinstance(inside, tuple):
            return tuple(go(value) for value in inside)
        return inside.to(device) if isinstance(inside, torch.Tensor) else inside
    return go(batch)
""",
        "the tensors themselves are changed": """
def move(batch, device):
    if isinstance(batch, torch.Tensor):
        batch.data = batch.data.to(device)
        return batch
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(move(value, device) for value in batch)
    return batch
""",
        "empty containers become None": """
def move(batch, device):
    if isinstance(batch, list | tuple | dict) and not batch:
        return None
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(move(value, device) for value in batch)
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
        "parameters that train": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.mean = nn.Parameter(torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.positions = nn.Parameter(torch.arange(4.0))
        def forward(self, x):
            return self.layer(x - self.mean + self.positions + 0.5)
    return Repaired()
""",
        "one parameter that trains": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.positions = nn.Parameter(torch.arange(4.0))
        def forward(self, x):
            return self.layer(x - self.mean + self.positions + 0.5)
    return Repaired()
""",
        "attributes moved in each forward": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.mean = torch.tensor([0.1, 0.2, 0.3, 0.4])
            self.positions = torch.arange(4.0)
        def forward(self, x):
            return self.layer(x - self.mean.to(x.device) + self.positions.to(x.device) + 0.5)
    return Repaired()
""",
        "made for MPS alone": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            return self.layer(x - self.mean + self.positions + torch.full((4,), 0.5, device="mps"))
    return Repaired()
""",
        "the sum on the CPU": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            shifted = x.cpu() - self.mean.cpu() + self.positions.cpu() + 0.5
            return self.layer(shifted.to(x.device))
    return Repaired()
""",
        "by NumPy": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            values = x.detach().cpu().numpy() - self.mean.cpu().numpy() + self.positions.cpu().numpy() + 0.5
            return self.layer(torch.from_numpy(values).to(x.device))
    return Repaired()
""",
        "no gradient for the input": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            return self.layer(x.detach() - self.mean + self.positions + 0.5)
    return Repaired()
""",
        "the offset forgotten": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            return self.layer(x - self.mean + self.positions)
    return Repaired()
""",
        "the mean added": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            return self.layer(x + self.mean + self.positions + 0.5)
    return Repaired()
""",
        "the layer renamed": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            return self.linear(x - self.mean + self.positions + 0.5)
    return Repaired()
""",
        "the mean is not a buffer": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.mean = [0.1, 0.2, 0.3, 0.4]
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            return self.layer(x - torch.tensor(self.mean, device=x.device) + self.positions + 0.5)
    return Repaired()
""",
        "float64 until forward": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            return self.layer(x - self.mean.float() + self.positions + 0.5)
    return Repaired()
""",
        "trained by accident": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.mean = nn.Parameter(torch.tensor([0.1, 0.2, 0.3, 0.4]), requires_grad=True)
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            return self.layer(x - self.mean + self.positions + 0.5)
    return Repaired()
""",
        "without gradients": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            with torch.no_grad():
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
        "the state_dict and attributes": """
def strangers(model, device):
    wanted = torch.device(device).type
    found = list(model.state_dict().items())
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted(name for name, tensor in found if tensor.device.type != wanted)
""",
        "not sorted": """
def strangers(model, device):
    wanted = torch.device(device).type
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return [name for name, tensor in found if tensor.device.type != wanted]
""",
        "names that begin with a dot": """
def strangers(model, device):
    wanted = torch.device(device).type
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}", value))
    return sorted(name for name, tensor in found if tensor.device.type != wanted)
""",
        "attributes without their module's name": """
def strangers(model, device):
    wanted = torch.device(device).type
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((name, value))
    return sorted(name for name, tensor in found if tensor.device.type != wanted)
""",
        "those at home": """
def strangers(model, device):
    wanted = torch.device(device).type
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted(name for name, tensor in found if tensor.device.type == wanted)
""",
        "device compared with text": """
def strangers(model, device):
    wanted = device
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted(name for name, tensor in found if tensor.device != wanted)
""",
        "the text of the device": """
def strangers(model, device):
    wanted = str(device)
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted(name for name, tensor in found if tensor.device.type != wanted)
""",
        "children only": """
def strangers(model, device):
    wanted = torch.device(device).type
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in [("", model), *model.named_children()]:
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted(name for name, tensor in found if tensor.device.type != wanted)
""",
        "no parameters": """
def strangers(model, device):
    wanted = torch.device(device).type
    found = [*model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted(name for name, tensor in found if tensor.device.type != wanted)
""",
        "slots": """
def strangers(model, device):
    wanted = torch.device(device).type
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in module._parameters.items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted(name for name, tensor in found if tensor.device.type != wanted)
""",
        "pairs": """
def strangers(model, device):
    wanted = torch.device(device).type
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted((name, tensor.device.type) for name, tensor in found if tensor.device.type != wanted)
""",
        "trainable ones alone": """
def strangers(model, device):
    wanted = torch.device(device).type
    found = [*model.named_parameters(), *model.named_buffers()]
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return sorted(name for name, tensor in found if tensor.requires_grad and tensor.device.type != wanted)
""",
    },
    "ex03-task4": {
        "only the model": """
def move_training(model, optimizer, device):
    model.to(device)
""",
        "only the state": """
def move_training(model, optimizer, device):
    for kept in optimizer.state.values():
        for name, value in kept.items():
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                kept[name] = value.to(device)
""",
        "a new optimizer": """
def move_training(model, optimizer, device):
    model.to(device)
    optimizer = type(optimizer)(model.parameters(), lr=optimizer.param_groups[0]["lr"])
""",
        "the state is thrown away": """
def move_training(model, optimizer, device):
    model.to(device)
    optimizer.state.clear()
""",
        "everything is a tensor": """
def move_training(model, optimizer, device):
    model.to(device)
    for kept in optimizer.state.values():
        for name, value in kept.items():
            kept[name] = value.to(device)
""",
        "a copy of the model": """
def move_training(model, optimizer, device):
    import copy
    model = copy.deepcopy(model).to(device)
    for kept in optimizer.state.values():
        for name, value in kept.items():
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                kept[name] = value.to(device)
""",
        "new names only": """
def move_training(model, optimizer, device):
    model.to(device)
    for kept in optimizer.state.values():
        for value in kept.values():
            if isinstance(value, torch.Tensor):
                value = value.to(device)
""",
        "new parameters": """
def move_training(model, optimizer, device):
    for module in model.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            moved = nn.Parameter(parameter.detach().to(device), parameter.requires_grad)
            setattr(module, name, moved)
    for kept in optimizer.state.values():
        for name, value in kept.items():
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                kept[name] = value.to(device)
""",
        "zeros in place of the state": """
def move_training(model, optimizer, device):
    model.to(device)
    for kept in optimizer.state.values():
        for name, value in kept.items():
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                kept[name] = torch.zeros_like(value, device=device)
""",
        "the copies do not wait": """
def move_training(model, optimizer, device):
    model.to(device, non_blocking=True)
    for kept in optimizer.state.values():
        for name, value in kept.items():
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                kept[name] = value.to(device, non_blocking=True)
""",
        "there and back": """
def move_training(model, optimizer, device):
    model.to(device)
    for kept in optimizer.state.values():
        for name, value in kept.items():
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                kept[name] = value.to(device).cpu().to(device)
""",
        "momentum alone": """
def move_training(model, optimizer, device):
    model.to(device)
    for kept in optimizer.state.values():
        if kept.get("momentum_buffer") is not None:
            kept["momentum_buffer"] = kept["momentum_buffer"].to(device)
""",
        "the rate is set anew": """
def move_training(model, optimizer, device):
    model.to(device)
    optimizer.load_state_dict(optimizer.state_dict())
    for group in optimizer.param_groups:
        group["lr"] = 0.1
""",
        "two copies of each": """
def move_training(model, optimizer, device):
    model.to(device)
    state = optimizer.state_dict()
    for kept in state["state"].values():
        for name, value in kept.items():
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                kept[name] = value.to(device)
    for parameter in model.parameters():
        parameter.data = parameter.data.cpu().to(device)
    optimizer.load_state_dict(state)
""",
    },
}
