"""Replace kernels of the CPU below autograd, or functions of torch above it, for the length of a block."""

from collections import defaultdict
from contextlib import ExitStack, contextmanager

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# issue -> what to replace; {"kernels": {packet: replacement}, "functions": {name: replacement}}
PLANTED = defaultdict(lambda: {"kernels": {}, "functions": {}})


class Kernels(TorchDispatchMode):
    """Calls a replacement, with the operator and its arguments, in place of each kernel that has one."""

    def __init__(self, replacements):
        super().__init__()
        self.replacements = replacements

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        replacement = self.replacements.get(operator.overloadpacket)
        return replacement(operator, *args, **(kwargs or {})) if replacement else operator(*args, **(kwargs or {}))


class Functions(TorchFunctionMode):
    """Calls a replacement, with the function and its arguments, in place of each function whose name has one."""

    def __init__(self, replacements):
        super().__init__()
        self.replacements = replacements

    def __torch_function__(self, function, types, args=(), kwargs=None):
        replacement = self.replacements.get(getattr(function, "__name__", ""))
        return replacement(function, *args, **(kwargs or {})) if replacement else function(*args, **(kwargs or {}))


def kernel(issue, *names):
    """Register the decorated function as the faulty kernel of operators, such as "digamma" of aten."""

    def register(replacement):
        PLANTED[issue]["kernels"] |= {getattr(torch.ops.aten, name): replacement for name in names}
        return replacement

    return register


def function(issue, *names):
    """Register the decorated function in place of functions, such as "scaled_dot_product_attention"."""

    def register(replacement):
        PLANTED[issue]["functions"] |= dict.fromkeys(names, replacement)
        return replacement

    return register


@contextmanager
def planted(issue):
    """Have the fault of an issue for the length of the block."""
    plants = PLANTED[issue]
    assert plants["kernels"] or plants["functions"], f"nothing is planted for {issue}"
    with ExitStack() as stack:
        if plants["kernels"]:
            stack.enter_context(Kernels(plants["kernels"]))
        if plants["functions"]:
            stack.enter_context(Functions(plants["functions"]))
        yield


def storage_of(x):
    """Return the whole memory behind a tensor, as one row."""
    return x.as_strided((x.untyped_storage().nbytes() // x.element_size(),), (1,), 0)


def in_memory_order(x):
    """Return a tensor as a kernel reads it that ignores strides: element after element from where it begins."""
    memory = storage_of(x)
    positions = (x.storage_offset() + torch.arange(x.numel())) % len(memory)
    return memory[positions].reshape(x.shape)


def at_storage_start(x):
    """Return a tensor as a kernel reads it that ignores the storage offset."""
    return x.as_strided(x.shape, x.stride(), 0)


def with_argument(operator, args, kwargs, **changed):
    """Return the arguments of an operator with some of them changed, by the names of its schema."""
    args, kwargs = list(args), dict(kwargs)
    for place, argument in enumerate(operator._schema.arguments):
        if argument.name in changed:
            if place < len(args):
                args[place] = changed.pop(argument.name)
            else:
                kwargs[argument.name] = changed.pop(argument.name)
    assert not changed, f"{operator} has no {', '.join(changed)}"
    return args, kwargs
