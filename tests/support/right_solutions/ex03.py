"""Right solutions of exercise 03 in other people's styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex03-task1": {
        "if and elif": """
def move(batch, device):
    if torch.is_tensor(batch):
        result = batch.to(device=device)
    elif isinstance(batch, dict):
        result = {}
        for key in batch:
            result[key] = move(batch[key], device)
    elif isinstance(batch, list):
        result = []
        for value in batch:
            result.append(move(value, device))
    elif isinstance(batch, tuple):
        result = ()
        for value in batch:
            result += (move(value, device),)
    else:
        result = batch
    return result
""",
        "match": """
def move(batch, device):
    match batch:
        case torch.Tensor():
            return batch.to(device)
        case dict():
            return dict((key, move(value, device)) for key, value in batch.items())
        case list():
            return [move(value, device) for value in batch]
        case tuple():
            return tuple([move(value, device) for value in batch])
    return batch
""",
        "torch's trees": """
from torch.utils import _pytree as pytree
def move(batch, device):
    return pytree.tree_map(lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf, batch)
""",
        "an OrderedDict": """
from collections import OrderedDict
def move(batch, device):
    if hasattr(batch, "items"):
        return OrderedDict((key, move(value, device)) for key, value in batch.items())
    if type(batch) in (list, tuple):
        return type(batch)(map(lambda value: move(value, device), batch))
    return batch.to(device) if isinstance(batch, torch.Tensor) else batch
""",
        "an inner function": """
def move(batch, device):
    device = torch.device(device)
    def go(value):
        if not isinstance(value, (torch.Tensor, dict, list, tuple)):
            return value
        if isinstance(value, torch.Tensor):
            return value.to(device, non_blocking=False)
        if isinstance(value, dict):
            return {k: go(v) for k, v in value.items()}
        return value.__class__([go(v) for v in value])
    return go(batch)
""",
        "singledispatch": """
from functools import singledispatch
def move(batch, device):
    @singledispatch
    def go(value):
        return value
    go.register(torch.Tensor)(lambda value: value.to(device))
    go.register(dict)(lambda value: dict(zip(value, map(go, value.values()))))
    go.register(list)(lambda value: list(map(go, value)))
    go.register(tuple)(lambda value: tuple(map(go, value)))
    return go(batch)
""",
    },
    "ex03-task2": {
        "a number instead of a tensor": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            return self.layer(x - self.mean + self.positions + 0.5)
    return Repaired()
""",
        "an offset buffer that is saved": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
            self.register_buffer("offset", torch.full((4,), 0.5))
        def forward(self, x):
            return self.layer(x - self.mean + self.positions + self.offset)
    return Repaired()
""",
        "an offset buffer that is not": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
            self.register_buffer("offset", torch.full((4,), 0.5), persistent=False)
        def forward(self, x):
            x = x - self.mean
            x = x + self.positions
            x = x + self.offset
            return self.layer(x)
    return Repaired()
""",
        "made like x": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([0.1, 0.2, 0.3, 0.4]))
            self.register_buffer("positions", torch.arange(4.0))
        def forward(self, x):
            offset = x.new_full((4,), 0.5)
            return self.layer((x - self.mean) + self.positions + offset)
    return Repaired()
""",
        "a subclass that takes attributes away": """
def make_repaired():
    class Repaired(Broken):
        def __init__(self):
            super().__init__()
            mean, positions = self.mean.float(), self.positions
            del self.mean, self.positions
            self.register_buffer("mean", mean)
            self.register_buffer("positions", positions)
        def forward(self, x):
            return self.layer((x - self.mean).float() + self.positions + torch.full_like(self.mean, 0.5))
    return Repaired()
""",
        "whole positions, and an offset moved there": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.linspace(0.1, 0.4, 4))
            self.register_buffer("positions", torch.arange(4))
        def forward(self, x):
            offset = torch.full((4,), 0.5).to(x.device)
            return self.layer(x - self.mean + self.positions + offset)
    return Repaired()
""",
        "frozen parameters beside": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("mean", torch.tensor([1, 2, 3, 4], dtype=torch.float32) / 10)
            self.register_buffer("positions", torch.tensor([0., 1., 2., 3.]))
        def forward(self, x):
            shift = self.positions - self.mean + 0.5
            return nn.functional.linear(x + shift, self.layer.weight, self.layer.bias)
    return Repaired()
""",
        "a factory argument": """
def make_repaired():
    class Repaired(nn.Module):
        def __init__(self, features=4):
            super().__init__()
            self.layer = nn.Linear(features, features)
            for name, value in (
                ("mean", (torch.arange(features) + 1) * 0.1),
                ("positions", torch.arange(features).float()),
            ):
                self.register_buffer(name, value)

        def forward(self, x):
            offset = torch.ones(x.shape[-1], dtype=x.dtype, device=x.device) / 2
            return self.layer(torch.sub(x, self.mean).add(self.positions).add(offset))

    model = Repaired()
    return model
""",
    },
    "ex03-task3": {
        "one walk, not recursing": """
def strangers(model, device):
    kind, names = torch.device(device).type, []
    for path, module in model.named_modules():
        own = dict(module.named_parameters(recurse=False)) | dict(module.named_buffers(recurse=False))
        own |= {k: v for k, v in vars(module).items() if torch.is_tensor(v)}
        names += [".".join(filter(None, [path, k])) for k, v in own.items() if v.device.type != kind]
    return sorted(names)
""",
        "recursive": """
def strangers(model, device):
    wanted = device.type if isinstance(device, torch.device) else device.split(":")[0]
    def look(module, before):
        found = []
        for table in (module._parameters, module._buffers, module.__dict__):
            for name, value in table.items():
                if isinstance(value, torch.Tensor) and value.device.type != wanted:
                    found.append(before + name)
        for name, child in module.named_children():
            found += look(child, before + name + ".")
        return found
    return sorted(look(model, ""))
""",
        "a set": """
def strangers(model, device):
    home = torch.empty(0, device=device).device.type
    result = set()
    for name, p in list(model.named_parameters()) + list(model.named_buffers()):
        if p.device.type != home:
            result.add(name)
    for prefix, module in model.named_modules():
        for name in vars(module):
            value = getattr(module, name)
            if isinstance(value, torch.Tensor) and value.device.type != home:
                result.add((prefix + "." + name).lstrip("."))
    result = list(result)
    result.sort()
    return result
""",
        "a generator": """
def strangers(model, device):
    def tensors():
        yield from model.named_parameters()
        yield from model.named_buffers()
        for prefix, module in model.named_modules():
            for name, value in module.__dict__.items():
                if isinstance(value, torch.Tensor):
                    yield (prefix + "." + name if prefix != "" else name), value
    return sorted([n for n, t in tensors() if not t.device.type == torch.device(device).type])
""",
        "a dictionary of everything": """
from itertools import chain
def strangers(model, device):
    everything = dict(chain(model.named_parameters(), model.named_buffers()))
    for prefix, module in model.named_modules():
        start = prefix and prefix + "."
        everything.update({start + k: v for k, v in vars(module).items() if isinstance(v, torch.Tensor)})
    return tuple(sorted(k for k in everything if everything[k].device.type != torch.device(device).type))
""",
    },
    "ex03-task4": {
        "the optimizer loads its own state": """
def move_training(model, optimizer, device):
    model.to(device)
    optimizer.load_state_dict(optimizer.state_dict())
""",
        "by the groups": """
def move_training(model, optimizer, device):
    model = model.to(device)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter not in optimizer.state:
                continue
            kept = optimizer.state[parameter]
            for name in list(kept):
                if torch.is_tensor(kept[name]) and kept[name].shape == parameter.shape:
                    kept[name] = kept[name].to(parameter.device)
""",
        "a new dictionary for each parameter": """
def move_training(model, optimizer, device):
    def there(value):
        return value.to(device) if isinstance(value, torch.Tensor) and value.ndim else value

    model.to(device)
    for parameter, kept in list(optimizer.state.items()):
        optimizer.state[parameter] = {name: there(value) for name, value in kept.items()}
""",
        "in place": """
def move_training(model, optimizer, device):
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            tensor.data = tensor.data.to(device)
            if tensor.grad is not None:
                tensor.grad = tensor.grad.to(device)
        for kept in optimizer.state.values():
            for value in kept.values():
                if isinstance(value, torch.Tensor) and value.numel() > 1:
                    value.data = value.data.to(device)
""",
        "the state first": """
def move_training(model, optimizer, device):
    for parameter, kept in optimizer.state.items():
        kept.update(
            (name, value.to(device=device))
            for name, value in kept.items()
            if getattr(value, "shape", None) == parameter.shape
        )
    model.to(device=device)
""",
    },
}
