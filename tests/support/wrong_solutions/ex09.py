"""Wrong solutions of exercise 09, by the grade id of the cell that they stand in."""

WRONG = {
    "ex09-task1": {
        "four bytes for everything": """
def fixed_bytes(model, optimizer):
    copies = {"sgd": 2, "momentum": 3, "adamw": 4}[optimizer]
    return sum(p.numel() * 4 * (copies if p.requires_grad else 1) for p in model.parameters())
""",
        "frozen ones have gradients": """
def fixed_bytes(model, optimizer):
    copies = {"sgd": 2, "momentum": 3, "adamw": 4}[optimizer]
    return sum(p.numel() * p.element_size() * copies for p in model.parameters())
""",
        "no gradients": """
def fixed_bytes(model, optimizer):
    copies = {"sgd": 1, "momentum": 2, "adamw": 3}[optimizer]
    return sum(p.numel() * p.element_size() * (copies if p.requires_grad else 1) for p in model.parameters())
""",
        "buffers counted": """
def fixed_bytes(model, optimizer):
    copies = {"sgd": 2, "momentum": 3, "adamw": 4}[optimizer]
    fixed = sum(p.numel() * p.element_size() * (copies if p.requires_grad else 1) for p in model.parameters())
    return fixed + sum(b.numel() * b.element_size() for b in model.buffers())
""",
        "the state dict": """
def fixed_bytes(model, optimizer):
    copies = {"sgd": 2, "momentum": 3, "adamw": 4}[optimizer]
    return sum(t.numel() * t.element_size() * copies for t in model.state_dict().values())
""",
        "one state for AdamW": """
def fixed_bytes(model, optimizer):
    copies = {"sgd": 2, "momentum": 3, "adamw": 3}[optimizer]
    return sum(p.numel() * p.element_size() * (copies if p.requires_grad else 1) for p in model.parameters())
""",
        "frozen ones are left out": """
def fixed_bytes(model, optimizer):
    copies = {"sgd": 2, "momentum": 3, "adamw": 4}[optimizer]
    return sum(p.numel() * p.element_size() * copies for p in model.parameters() if p.requires_grad)
""",
        "state in float32": """
def fixed_bytes(model, optimizer):
    states = {"sgd": 0, "momentum": 1, "adamw": 2}[optimizer]
    return sum(
        p.nbytes + (p.nbytes + 4 * states * p.numel() if p.requires_grad else 0) for p in model.parameters()
    )
""",
        "the size of the first parameter": """
def fixed_bytes(model, optimizer):
    copies = {"sgd": 2, "momentum": 3, "adamw": 4}[optimizer]
    size = next(model.parameters()).element_size()
    return sum(p.numel() * size * (copies if p.requires_grad else 1) for p in model.parameters())
""",
    },
    "ex09-task2": {
        "the request forgotten": r"""
def read_error(text):
    import re
    units = {"b": 1 / 1024**3, "K": 1 / 1024**2, "M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "units ignored": r"""
def read_error(text):
    import re
    sizes = [float(number) for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "a thousand MB to the GB": r"""
def read_error(text):
    import re
    units = {"b": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "old units only": r"""
def read_error(text):
    import re
    units = {"M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\d.]+) ([MG]B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "the limit is comfortable": r"""
def read_error(text):
    import re
    units = {"b": 1 / 1024**3, "K": 1 / 1024**2, "M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2]}
""",
        "other allocations forgotten": r"""
def read_error(text):
    import re
    units = {"b": 1 / 1024**3, "K": 1 / 1024**2, "M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "times 1.7": r"""
def read_error(text):
    import re
    units = {"b": 1 / 1024**3, "K": 1 / 1024**2, "M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] * 1.7}
""",
        "needed is what is missing": r"""
def read_error(text):
    import re

    units = {"b": 1 / 1024**3, "K": 1 / 1024**2, "M": 1 / 1024, "G": 1}
    sizes = [
        float(number) * units[unit[0]] for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)
    ]
    return {
        "needed": sizes[0] + sizes[1] + sizes[3] - sizes[2],
        "limit": sizes[2],
        "comfortable": sizes[2] / 1.7,
    }
""",
        "GiB is not GB": r"""
def read_error(text):
    import re
    units = {"bytes": 2**-30, "KB": 1e-6, "MB": 1e-3, "GB": 1.0, "KiB": 2**-20, "MiB": 2**-10, "GiB": 1.0}
    sizes = [float(number) * units[unit] for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "in MB": r"""
def read_error(text):
    import re
    units = {"b": 1 / 1024**3, "K": 1 / 1024**2, "M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)]
    sizes = [1024 * size for size in sizes]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "kilobytes read as megabytes": r"""
def read_error(text):
    import re
    units = {"b": 1 / 1024**3, "K": 1 / 1024, "M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "bytes read as megabytes": r"""
def read_error(text):
    import re
    units = {"b": 1 / 1024, "K": 1 / 1024**2, "M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
    },
    "ex09-task3-batches": {
        "tokens added up": """
def make_batches(lengths, most_tokens):
    if any(length > most_tokens for length in lengths):
        raise ValueError("too long")
    batches = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if batches and sum(lengths[one] for one in batches[-1]) + lengths[number] <= most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "exactly as many is too many": """
def make_batches(lengths, most_tokens):
    if any(length > most_tokens for length in lengths):
        raise ValueError("too long")
    batches = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if batches and (len(batches[-1]) + 1) * lengths[number] < most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "in the order of lengths": """
def make_batches(lengths, most_tokens):
    if any(length > most_tokens for length in lengths):
        raise ValueError("too long")
    batches = []
    for number in range(len(lengths)):
        if batches and (len(batches[-1]) + 1) * lengths[number] <= most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "the longest first": """
def make_batches(lengths, most_tokens):
    if any(length > most_tokens for length in lengths):
        raise ValueError("too long")
    batches = []
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        if batches and (len(batches[-1]) + 1) * lengths[batches[-1][0]] <= most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "equal ones the other way round": """
def make_batches(lengths, most_tokens):
    if any(length > most_tokens for length in lengths):
        raise ValueError("too long")
    batches = []
    for number in sorted(range(len(lengths)), key=lambda number: (lengths[number], -number)):
        if batches and (len(batches[-1]) + 1) * lengths[number] <= most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "without the new text": """
def make_batches(lengths, most_tokens):
    if any(length > most_tokens for length in lengths):
        raise ValueError("too long")
    batches = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if batches and len(batches[-1]) * lengths[number] <= most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "the longest before the new one": """
def make_batches(lengths, most_tokens):
    if any(length > most_tokens for length in lengths):
        raise ValueError("too long")
    batches = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if batches and (len(batches[-1]) + 1) * lengths[batches[-1][-1]] <= most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "a batch of its own for what is too long": """
def make_batches(lengths, most_tokens):
    batches = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if batches and (len(batches[-1]) + 1) * lengths[number] <= most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "what is too long is left out": """
def make_batches(lengths, most_tokens):
    batches, order = [], sorted(range(len(lengths)), key=lambda one: lengths[one])
    for number in [one for one in order if lengths[one] <= most_tokens]:
        if batches and (len(batches[-1]) + 1) * lengths[number] <= most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "a text may not fill a batch alone": """
def make_batches(lengths, most_tokens):
    if any(length >= most_tokens for length in lengths):
        raise ValueError("too long")
    batches = []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if batches and (len(batches[-1]) + 1) * lengths[number] <= most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "sorts the caller's list": """
def make_batches(lengths, most_tokens):
    order = sorted(range(len(lengths)), key=lambda number: lengths[number])
    lengths.sort()
    if lengths and lengths[-1] > most_tokens:
        raise ValueError("too long")
    batches = []
    for place, number in enumerate(order):
        if batches and (len(batches[-1]) + 1) * lengths[place] <= most_tokens:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches
""",
        "lengths in place of numbers": """
def make_batches(lengths, most_tokens):
    batches = []
    for length in sorted(lengths):
        if length > most_tokens:
            raise ValueError("too long")
        if batches and (len(batches[-1]) + 1) * length <= most_tokens:
            batches[-1].append(length)
        else:
            batches.append([length])
    return batches
""",
        "the last batch is forgotten": """
def make_batches(lengths, most_tokens):
    batches, current = [], []
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if lengths[number] > most_tokens:
            raise ValueError("too long")
        if (len(current) + 1) * lengths[number] > most_tokens:
            batches.append(current)
            current = []
        current.append(number)
    return batches
""",
        "an empty batch without texts": """
def make_batches(lengths, most_tokens):
    batches = [[]]
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if lengths[number] > most_tokens:
            raise ValueError("too long")
        if (len(batches[-1]) + 1) * lengths[number] > most_tokens:
            batches.append([])
        batches[-1].append(number)
    return batches
""",
        "as many texts in each batch": """
def make_batches(lengths, most_tokens):
    if max(lengths, default=0) > most_tokens:
        raise ValueError("too long")
    order = sorted(range(len(lengths)), key=lambda number: lengths[number])
    size = most_tokens // max(lengths, default=1)
    return [order[first : first + size] for first in range(0, len(order), size)]
""",
    },
    "ex09-task4": {
        "parameters counted": """
def activation_bytes(model, x):
    saved = {}
    def pack(tensor):
        saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model(x)
    return sum(saved.values())
""",
        "every tensor counted": """
def activation_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    saved = []
    def pack(tensor):
        if tensor.untyped_storage().data_ptr() not in own:
            saved.append(tensor.untyped_storage().nbytes())
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model(x)
    return sum(saved)
""",
        "numbers instead of bytes": """
def activation_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    saved = {}
    def pack(tensor):
        if tensor.untyped_storage().data_ptr() not in own:
            saved[tensor.untyped_storage().data_ptr()] = tensor.numel()
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model(x)
    return sum(saved.values())
""",
        "only the output": """
def activation_bytes(model, x):
    output = model(x)
    return output.numel() * output.element_size()
""",
        "leaf tensors are left out": """
def activation_bytes(model, x):
    saved = {}
    def pack(tensor):
        if not tensor.is_leaf:
            saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model(x)
    return sum(saved.values())
""",
        "parameters known by identity": """
def activation_bytes(model, x):
    own = {id(parameter) for parameter in model.parameters()}
    saved = {}
    def pack(tensor):
        if id(tensor) not in own:
            saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model(x)
    return sum(saved.values())
""",
        "outputs of all layers": """
def activation_bytes(model, x):
    total, handles = [], []
    for module in model.modules():
        if not list(module.children()):
            handles.append(module.register_forward_hook(lambda m, i, o: total.append(o.nbytes)))
    model(x)
    for handle in handles:
        handle.remove()
    return sum(total)
""",
        "without gradients": """
def activation_bytes(model, x):
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    saved = {}
    def pack(tensor):
        if tensor.untyped_storage().data_ptr() not in own:
            saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor
    with torch.no_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model(x)
    return sum(saved.values())
""",
        "the size of all parameters is subtracted": """
def activation_bytes(model, x):
    saved = {}
    def pack(tensor):
        saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        output = model(x)
    return sum(saved.values()) - sum(p.nbytes for p in model.parameters())
""",
    },
    "ex09-task5": {
        "nothing done": """
def lean(model, x):
    return model(x)
""",
        "no gradients recorded": """
def lean(model, x):
    with torch.no_grad():
        return model(x)
""",
        "one checkpoint around everything": """
from torch.utils.checkpoint import checkpoint

def lean(model, x):
    return checkpoint(model, x, use_reentrant=False)
""",
        "the reentrant kind": """
from torch.utils.checkpoint import checkpoint

def lean(model, x):
    for block in model:
        x = checkpoint(block, x, use_reentrant=True)
    return x
""",
        "cut between the blocks": """
from torch.utils.checkpoint import checkpoint

def lean(model, x):
    for block in model:
        x = checkpoint(block, x.detach(), use_reentrant=False)
    return x
""",
        "two parts": """
from torch.utils.checkpoint import checkpoint_sequential

def lean(model, x):
    return checkpoint_sequential(model, 2, x, use_reentrant=False)
""",
        "random numbers are not kept": """
from torch.utils.checkpoint import checkpoint

def lean(model, x):
    for block in model:
        x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)
    return x
""",
        "every second block": """
from torch.utils.checkpoint import checkpoint

def lean(model, x):
    for number, block in enumerate(model):
        x = checkpoint(block, x, use_reentrant=False) if number % 2 else block(x)
    return x
""",
        "the last block left out": """
from torch.utils.checkpoint import checkpoint

def lean(model, x):
    for block in model[:-1]:
        x = checkpoint(block, x, use_reentrant=False)
    return x
""",
    },
}
