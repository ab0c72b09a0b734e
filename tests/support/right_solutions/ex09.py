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
        "a list, then a set": """
def activation_bytes(model, x):
    kept = []
    def pack(t):
        kept.append(t)
        return t
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = model(x)
    params = {p.untyped_storage().data_ptr() for p in model.parameters()}
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    return sum(n for ptr, n in storages.items() if ptr not in params)
""",
        "a class for the hooks": """
def activation_bytes(model, x):
    class Book:
        def __init__(self, skip):
            self.skip, self.seen, self.total = set(skip), set(), 0
        def __call__(self, t):
            s = t.untyped_storage()
            address = s.data_ptr()
            if address not in self.skip and address not in self.seen:
                self.seen.add(address)
                self.total += s.nbytes()
            return t
    book = Book(p.untyped_storage().data_ptr() for p in model.parameters())
    with torch.autograd.graph.saved_tensors_hooks(book, lambda t: t):
        y = model(x)
    return book.total
""",
        "size of the storage": """
def activation_bytes(model, x):
    skip = [p.untyped_storage().data_ptr() for p in model.parameters()]
    found = {}
    keep = []
    def pack(tensor):
        keep.append(tensor)
        storage = tensor.untyped_storage()
        found.setdefault(storage.data_ptr(), storage.size())
        return tensor
    def unpack(tensor):
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        model(x)
    return sum(size for address, size in found.items() if address not in skip)
""",
        "parameters taken out at the end": """
def activation_bytes(model, x):
    sizes = {}
    def pack(t):
        sizes[t.untyped_storage().data_ptr()] = len(t.untyped_storage())
        return t
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
        y = model(x)
    for p in model.parameters():
        sizes.pop(p.untyped_storage().data_ptr(), None)
    return sum(sizes.values())
""",
        "grad mode on": """
def activation_bytes(model, x):
    weights = {p.untyped_storage()._cdata for p in model.parameters()}
    seen, kept = {}, []
    def pack(t):
        if t.untyped_storage()._cdata not in weights:
            kept.append(t)
            seen[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t
    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        output = model(x)
    return sum(seen.values())
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
