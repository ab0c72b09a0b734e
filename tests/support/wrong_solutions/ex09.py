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
    },
    "ex09-task2": {
        "the request forgotten": """
def read_error(text):
    import re
    units = {"b": 1 / 1024**3, "K": 1 / 1024**2, "M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "units ignored": """
def read_error(text):
    import re
    sizes = [float(number) for number, unit in re.findall(r"([\\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "a thousand MB to the GB": """
def read_error(text):
    import re
    units = {"b": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "old units only": """
def read_error(text):
    import re
    units = {"M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\\d.]+) ([MG]B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2] / 1.7}
""",
        "the limit is comfortable": """
def read_error(text):
    import re
    units = {"b": 1 / 1024**3, "K": 1 / 1024**2, "M": 1 / 1024, "G": 1}
    sizes = [float(number) * units[unit[0]] for number, unit in re.findall(r"([\\d.]+) (bytes|[KMG]i?B)", text)]
    return {"needed": sizes[0] + sizes[1] + sizes[3], "limit": sizes[2], "comfortable": sizes[2]}
""",
    },
    "ex09-task3": {
        "to the longest sequence": """
def pad_batch(sequences, lengths):
    longest = max(len(sequence) for sequence in sequences)
    if longest > max(lengths):
        raise ValueError("too long")
    padded = sequences[0].new_zeros(len(sequences), longest)
    for row, sequence in zip(padded, sequences):
        row[: len(sequence)] = sequence
    return padded
""",
        "always the largest length": """
def pad_batch(sequences, lengths):
    if max(map(len, sequences)) > max(lengths):
        raise ValueError("too long")
    padded = sequences[0].new_zeros(len(sequences), max(lengths))
    for row, sequence in zip(padded, sequences):
        row[: len(sequence)] = sequence
    return padded
""",
        "lengths taken as ascending": """
def pad_batch(sequences, lengths):
    longest = max(len(sequence) for sequence in sequences)
    fitting = [length for length in lengths if length >= longest]
    if not fitting:
        raise ValueError("too long")
    padded = sequences[0].new_zeros(len(sequences), fitting[0])
    for row, sequence in zip(padded, sequences):
        row[: len(sequence)] = sequence
    return padded
""",
        "always float": """
def pad_batch(sequences, lengths):
    longest = max(len(sequence) for sequence in sequences)
    fitting = [length for length in lengths if length >= longest]
    if not fitting:
        raise ValueError("too long")
    padded = torch.zeros(len(sequences), min(fitting))
    for row, sequence in zip(padded, sequences):
        row[: len(sequence)] = sequence
    return padded
""",
        "cuts what is too long": """
def pad_batch(sequences, lengths):
    longest = min(max(len(sequence) for sequence in sequences), max(lengths))
    length = min(length for length in lengths if length >= longest)
    padded = sequences[0].new_zeros(len(sequences), length)
    for row, sequence in zip(padded, sequences):
        row[: len(sequence)] = sequence[:length]
    return padded
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
    },
}
