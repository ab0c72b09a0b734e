"""Right solutions of exercise 09, in other styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex09-task1": {
        "a running sum": """
def fixed_bytes(model, optimizer):
    per_trained = dict(sgd=0, momentum=1, adamw=2)[optimizer]
    total = 0
    for p in model.parameters():
        total += p.nbytes
        if p.requires_grad:
            total += p.nbytes * (1 + per_trained)
    return total
""",
        "match": """
def fixed_bytes(model, optimizer):
    match optimizer:
        case "sgd":
            states = 0
        case "momentum":
            states = 1
        case "adamw":
            states = 2
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    trained = sum(p.numel() * p.element_size() for p in model.parameters() if p.requires_grad)
    return weights + trained + states * trained
""",
        "by name and itemsize": """
def fixed_bytes(model, optimizer):
    copies = ["sgd", "momentum", "adamw"].index(optimizer) + 2
    sizes = {}
    for name, parameter in model.named_parameters():
        sizes[name] = parameter.dtype.itemsize * parameter.shape.numel()
        sizes[name] *= copies if parameter.requires_grad else 1
    return sum(sizes.values())
""",
        "bits": """
def fixed_bytes(model, optimizer):
    def bits(p):
        dtype = p.dtype
        return torch.finfo(dtype).bits
    extra = {"sgd": 1, "momentum": 2, "adamw": 3}[optimizer]
    return sum((1 + extra * p.requires_grad) * p.numel() * bits(p) // 8 for p in model.parameters())
""",
        "NumPy": """
import numpy as np


def fixed_bytes(model, optimizer):
    n = np.array([p.numel() * p.element_size() for p in model.parameters()])
    k = np.array(
        [
            {"sgd": 2, "momentum": 3, "adamw": 4}[optimizer] if p.requires_grad else 1
            for p in model.parameters()
        ]
    )
    return (n * k).sum()
""",
    },
    "ex09-task2": {
        "by the words before": r"""
import re

def read_error(text):
    def size(words):
        number, unit = re.search(words + r":? ([0-9.]+) (bytes|\w+)", text).groups()
        power = {"b": 0, "K": 1, "M": 2, "G": 3}[unit[0]]
        return float(number) * 1024 ** power / 2**30

    limit = size("max allowed")
    used = size("MPS allocated") + size("other allocations")
    return {"needed": used + size("Tried to allocate"), "limit": limit, "comfortable": limit / 1.7}
""",
        "in bytes first": r"""
import re

def read_error(text):
    factor = {"bytes": 1, "KB": 2**10, "KiB": 2**10, "MB": 2**20, "MiB": 2**20, "GB": 2**30, "GiB": 2**30}
    matches = re.finditer(r"(\d+(?:\.\d+)?) (bytes|[KMG]i?B)", text)
    a, o, m, r = [float(x[1]) * factor[x[2]] for x in matches]
    gb = 2**30
    return dict(needed=(a + o + r) / gb, limit=m / gb, comfortable=m / gb / 1.7)
""",
        "split, no pattern": """
def read_error(text):
    words = text.replace(",", " ").replace(")", " ").split()
    scale = {"bytes": 1 / 1024**3, "K": 1 / 1024**2, "M": 1 / 1024, "G": 1.0}
    sizes = []
    for number, unit in zip(words, words[1:]):
        key = (
            unit
            if unit == "bytes"
            else unit[0]
            if unit.rstrip(".") in ("KB", "MB", "GB", "KiB", "MiB", "GiB")
            else None
        )
        if key:
            sizes.append(float(number) * scale[key])
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "named groups": r"""
import re

def read_error(text):
    pattern = (r"MPS allocated: (?P<a>[\d.]+ \w+), other allocations: (?P<b>[\d.]+ \w+), "
               r"max allowed: (?P<c>[\d.]+ \w+)\)\. Tried to allocate (?P<d>[\d.]+ \w+)")
    found = re.search(pattern, text).groupdict()
    gb = {}
    for key, value in found.items():
        number, unit = value.split()
        gb[key] = float(number) / {"G": 1, "M": 1024, "K": 1024**2, "b": 1024**3}[unit[0]]
    return {"needed": gb["a"] + gb["b"] + gb["d"], "limit": gb["c"], "comfortable": gb["c"] / 1.7}
""",
        "NumPy floats": r"""
import re
import numpy as np

def read_error(text):
    pairs = re.findall(r"(\d+\.?\d*) (b|K|M|G)", text)
    values = np.array([float(n) for n, _ in pairs]) / np.array([1024.0 ** "GMKb".index(u) for _, u in pairs])
    return {"needed": values[[0, 1, 3]].sum(), "limit": values[2], "comfortable": values[2] / 1.7}
""",
    },
    "ex09-task3-batches": {
        "a current list": """
def make_batches(lengths, most_tokens):
    numbers = list(range(len(lengths)))
    numbers.sort(key=lengths.__getitem__)
    batches, current = [], []
    for number in numbers:
        length = lengths[number]
        if length > most_tokens:
            raise ValueError(f"{length} tokens do not fit into {most_tokens}")
        if current and (len(current) + 1) * length > most_tokens:
            batches.append(current)
            current = []
        current.append(number)
    return batches + [current] if current else batches
""",
        "pairs": """
def make_batches(lengths, most_tokens):
    texts = sorted((length, number) for number, length in enumerate(lengths))
    if texts and texts[-1][0] > most_tokens:
        raise ValueError("a text is too long")
    batches = []
    while texts:
        size = 1
        while size < len(texts) and (size + 1) * texts[size][0] <= most_tokens:
            size += 1
        batches.append([number for _, number in texts[:size]])
        texts = texts[size:]
    return batches
""",
        "argsort": """
import numpy as np

def make_batches(lengths, most_tokens):
    array = np.asarray(lengths, dtype=np.int64)
    if (array > most_tokens).any():
        raise ValueError("too long")
    batches = []
    for number in np.argsort(array, kind="stable").tolist():
        if not batches or (len(batches[-1]) + 1) * array[number] > most_tokens:
            batches.append([])
        batches[-1].append(number)
    return batches
""",
        "torch": """
def make_batches(lengths, most_tokens):
    order = torch.tensor(lengths).argsort(stable=True).tolist()
    batches = []
    for number in order:
        if lengths[number] > most_tokens:
            raise ValueError
        fits = batches and lengths[number] * (1 + len(batches[-1])) <= most_tokens
        batches[-1].append(number) if fits else batches.append([number])
    return batches
""",
        "recursion": """
def make_batches(lengths, most_tokens):
    def rest(order):
        if not order:
            return []
        size = max((n for n in range(1, len(order) + 1) if n * lengths[order[n - 1]] <= most_tokens), default=0)
        if not size:
            raise ValueError("too long")
        return [order[:size], *rest(order[size:])]

    return rest(sorted(range(len(lengths)), key=lambda i: (lengths[i], i)))
""",
    },
    "ex09-task4": {
        "a set of places": """
def estimate_kept(layers, rows, width):
    widths, grads, places = [width], [False], set()
    for place, layer in enumerate(layers):
        linear = isinstance(layer, nn.Linear)
        widths.append(layer.out_features if linear else widths[-1])
        grads.append(grads[-1] or any(p.requires_grad for p in layer.parameters()))
        if linear and layer.weight.requires_grad or isinstance(layer, nn.GELU) and grads[place]:
            places.add(place)
        if isinstance(layer, nn.ReLU) and grads[place]:
            places.add(place + 1)
    return 4 * rows * sum(widths[place] for place in places)
""",
        "one flag for each tensor": """
def estimate_kept(layers, rows, width):
    total, kept, wants = 0, False, False  # kept: is the tensor in front of the layer counted?
    for layer in layers:
        size = rows * width * 4
        if type(layer) is nn.Linear:
            if layer.weight.requires_grad and not kept:
                total += size
            wants |= any(p.requires_grad for p in layer.parameters())
            width, kept = layer.out_features, False
        elif type(layer) is nn.GELU:
            total += size if wants and not kept else 0
            kept = False
        else:
            kept = wants
            total += size if wants else 0
    return total
""",
        "on the device meta": """
def estimate_kept(layers, rows, width):
    import copy
    own, saved = set(), {}
    def pack(tensor):
        saved[tensor.untyped_storage()._cdata] = tensor
        return tensor
    layers = [copy.deepcopy(layer).to("meta") for layer in layers]
    for layer in layers:
        own |= {parameter.untyped_storage()._cdata for parameter in layer.parameters()}
    value = torch.empty(rows, width, device="meta")
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        for layer in layers:
            value = layer(value)
    return sum(t.untyped_storage().nbytes() for key, t in saved.items() if key not in own)
""",
        "match": """
def estimate_kept(layers, rows, width):
    from torch.nn import GELU, Linear, ReLU
    needed, bytes_of = False, {}
    for index, layer in enumerate(layers):
        match layer:
            case Linear():
                if layer.weight.requires_grad:
                    bytes_of[index] = rows * width * 4
                needed = needed or layer.weight.requires_grad
                needed = needed or (layer.bias is not None and layer.bias.requires_grad)
                width = layer.out_features
            case ReLU() if needed:
                bytes_of[index + 1] = rows * width * 4
            case GELU() if needed:
                bytes_of[index] = rows * width * 4
    return sum(bytes_of.values())
""",
        "recursion": """
def estimate_kept(layers, rows, width):
    def places(rest, number, width, needs):
        if not rest:
            return {}
        layer, *rest = rest
        if isinstance(layer, nn.Linear):
            mine = {number: width} if layer.weight.requires_grad else {}
            trained = [p.requires_grad for p in layer.parameters()]
            return mine | places(rest, number + 1, layer.out_features, needs or any(trained))
        mine = {number + isinstance(layer, nn.ReLU): width} if needs else {}
        return mine | places(rest, number + 1, width, needs)
    return rows * 4 * sum(places(layers, 0, width, False).values())
""",
    },
    "ex09-task5": {
        "checkpoint_sequential": """
from torch.utils.checkpoint import checkpoint_sequential

def lean(model, x):
    return checkpoint_sequential(model, len(model), x, use_reentrant=False)
""",
        "import of the module": """
import torch.utils.checkpoint

def lean(model, x):
    h = x
    for i in range(len(model)):
        h = torch.utils.checkpoint.checkpoint(model[i], h, use_reentrant=False)
    return h
""",
        "reduce": """
from functools import partial, reduce
from torch.utils.checkpoint import checkpoint

def lean(model, x):
    run = partial(checkpoint, use_reentrant=False)
    return reduce(lambda value, block: run(block, value), model, x)
""",
        "children": """
def lean(model, x):
    import torch.utils.checkpoint as cp

    for name, block in model.named_children():
        x = cp.checkpoint(
            lambda value, block=block: block(value), x, use_reentrant=False, preserve_rng_state=True
        )
    return x
""",
        "the last block as it is": """
from torch.utils.checkpoint import checkpoint

def lean(model, x):
    *most, last = model
    for block in most:
        x = checkpoint(block, x, use_reentrant=False)
    return last(x)
""",
        "recursion": """
from torch.utils.checkpoint import checkpoint

def lean(model, x):
    if len(model) == 0:
        return x
    return lean(model[1:], checkpoint(model[0], x, use_reentrant=False))
""",
    },
}
