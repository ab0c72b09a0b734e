"""The smallest reproducer of a finding, as code that runs without this package wherever the callable allows it."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from course_utils.numerics.running.runners import DeviceRunner, TorchDevice
from course_utils.numerics.tensors.inputs import Inputs
from course_utils.numerics.tensors.layouts import differs_in_memory

Form = Literal["forward", "twice", "gradient", "step"]
MOST_LITERALS = 64
_NAMES: dict[str, Any] = {"torch": torch, "nn": nn, "F": nn.functional}


def fn_code(fn: Callable[..., Any]) -> tuple[str, bool]:
    """Write code that defines `fn`.

    Returns:
        The code, and whether it is complete; where a callable cannot be written down, a line to fill in.
    """
    return (_module_code(fn) if isinstance(fn, nn.Module) else _callable_code(fn)) or (
        f"fn = ...  # your {getattr(fn, '__qualname__', type(fn).__name__)}",
        False,
    )


def _module_code(module: nn.Module) -> tuple[str, bool] | None:
    # the text of torch's own leaf modules builds them again
    if type(module).__module__.startswith("torch.nn.modules") and not list(module.children()):
        text = f"nn.{module!r}"
        try:
            rebuilt = eval(text, dict(_NAMES))
        except (TypeError, SyntaxError, NameError, ValueError):  # some texts leave arguments out
            return None
        if isinstance(rebuilt, nn.Module):
            mode = "" if module.training else ".eval()"
            return f"torch.manual_seed(0)\nfn = {text}{mode}", True
    return None


def _callable_code(fn: Callable[..., Any]) -> tuple[str, bool] | None:
    if isinstance(fn, functools.partial) and not fn.args:
        inner = _public_name(fn.func)
        arguments = "".join(f", {key}={value!r}" for key, value in fn.keywords.items())
        return (f"fn = lambda *inputs: {inner}(*inputs{arguments})", True) if inner else None
    public = _public_name(fn)
    if public:
        return f"fn = {public}", True
    try:
        source = textwrap.dedent(inspect.getsource(fn))
    except (OSError, TypeError):
        return None
    code = _definition(source, getattr(fn, "__name__", ""))
    unknown = _unknown_names(code) if code else set()
    if code is None or unknown:
        return None
    return code, True


def _public_name(fn: Callable[..., Any]) -> str | None:
    name = getattr(fn, "__name__", "")
    homes = {"torch": torch, "F": nn.functional, "torch.special": torch.special, "torch.linalg": torch.linalg}
    for prefix, home in homes.items():
        # torch.linalg.inv calls itself linalg_inv
        short = name.removeprefix(prefix.removeprefix("torch.") + "_")
        if short and getattr(home, short, None) is fn:
            return f"{prefix}.{short}"
    return None


def _definition(source: str, name: str) -> str | None:
    """Cut a def or a lambda out of its source; None where it cannot be told apart from another."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        # a lambda inside a call: the line alone need not be a statement
        start = source.find("lambda")
        return _shortest_lambda(source[start:]) if start >= 0 and source.count("lambda") == 1 else None
    if name != "<lambda>":
        defined = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name), None)
        return f"{ast.unparse(defined)}\n\nfn = {name}" if defined and not defined.decorator_list else None
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    return f"fn = {ast.unparse(lambdas[0])}" if len(lambdas) == 1 else None


def _shortest_lambda(text: str) -> str | None:
    for end in range(len(text), 0, -1):
        try:
            node = ast.parse(text[:end].strip(), mode="eval").body
        except SyntaxError:
            continue
        if isinstance(node, ast.Lambda):
            return f"fn = {ast.unparse(node)}"
        if isinstance(node, ast.Tuple) and node.elts and isinstance(node.elts[0], ast.Lambda):
            return f"fn = {ast.unparse(node.elts[0])}"
    return None


def _unknown_names(code: str) -> set[str]:
    tree = ast.parse(code)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return {node.id for node in names} - bound - set(dir(builtins)) - set(_NAMES)


def write_reproducer(
    fn: Callable[..., Any],
    inputs: Inputs,
    runner: DeviceRunner,
    *,
    form: Form = "forward",
    dtype: torch.dtype = torch.float32,
    precision: torch.dtype = torch.float64,
    parameter_layout: str = "",
    source: str | None = None,
) -> str:
    """Write the finding as a script.

    Args:
        fn: the callable.
        inputs: the smallest failing inputs, in the device's dtype and strides.
        runner: where it fails.
        form: "forward" compares outputs, "twice" two calls on the device, "gradient" the gradients, "step" a module's
            parameters after a step of Adam.
        dtype: the dtype the device computes in.
        precision: the dtype of the reference.
        parameter_layout: how a module's parameters lie in memory, one of `LAYOUTS`, or "".
        source: code that defines `fn`, where the caller knows it; else it is found as far as possible.

    Returns:
        Python code that prints how far the device is from the CPU.
    """
    definition, complete = (source, True) if source else fn_code(fn)
    module = isinstance(fn, nn.Module)
    lines = [*_IMPORTS, definition]
    if not complete:
        lines.append("# complete the line above; the rest is ready to run")
    if module:
        lines.append(f"fn = fn.to({dtype})")
    if parameter_layout == "transposed":
        lines += _TRANSPOSED
    elif parameter_layout:
        lines += _laid_out(parameter_layout)
    leaves = tree_leaves(list(inputs))
    lines += ["", *(f"base{place} = {_base(leaf, place)}" for place, leaf in enumerate(leaves)), ""]
    places = iter(range(len(leaves)))
    arguments = tree_map(lambda leaf: _Code(_look(leaf, next(places))), list(inputs))
    lines += ["", "def arguments(change):", f"    return {arguments!r}", "", ""]
    lines += [
        "def exact(tensor):",
        f"    return tensor.to({precision}) if tensor.is_floating_point() else tensor.clone()",
        "",
    ]
    call = "fn"
    if form in ("gradient", "step"):
        lines += _GRADIENT if form == "gradient" else _STEP
        call = form
    lines += ["", *_on_device(runner, module=module, call=call)]
    lines.append("actual = on_device()")
    reference = f"copy.deepcopy(fn).to({precision})" if module else "fn"
    called = f"{reference}(*arguments(exact))" if call == "fn" else f"{call}({reference}, arguments(exact))"
    lines.append("expected = on_device()" if form == "twice" else f"expected = {called}")
    lines += _COMPARISON
    return "\n".join(lines) + "\n"


_IMPORTS = [
    *("import copy", "from math import inf, nan", ""),
    *("import torch", "import torch.nn.functional as F", "from torch import nn"),
    *("from torch.utils._pytree import tree_leaves", ""),
]
_GRADIENT = [
    "",
    "def gradient(fn, inputs):",
    "    inputs = [x.detach().requires_grad_() if x.is_floating_point() else x for x in inputs]",
    "    output = tree_leaves(fn(*inputs))[0]",
    "    weights = torch.randn(output.shape, generator=torch.Generator().manual_seed(0)).to(output)",
    "    wanted = [x for x in inputs if x.requires_grad]",
    "    wanted += [*fn.parameters()] if isinstance(fn, nn.Module) else []",
    "    return torch.autograd.grad((output * weights).sum(), wanted, allow_unused=True)",
    "",
]
_STEP = [
    "",
    "def step(fn, inputs):",
    "    output = tree_leaves(fn(*inputs))[0]",
    "    weights = torch.randn(output.shape, generator=torch.Generator().manual_seed(0)).to(output)",
    "    optimizer = torch.optim.Adam(fn.parameters(), lr=0.1, eps=0.1)",
    "    (output * weights).sum().backward()",
    "    optimizer.step()",
    "    return [parameter.detach() for parameter in fn.parameters()]",
    "",
]
_TRANSPOSED = [
    "for parameter in fn.parameters():",
    "    if parameter.dim() >= 2:",
    "        parameter.data = parameter.data.transpose(-1, -2).contiguous().transpose(-1, -2)",
]


def _laid_out(layout: str) -> list[str]:
    return [
        "from course_utils.numerics import lay_out",
        "",
        "for parameter in fn.parameters():",
        f"    parameter.data = lay_out(parameter.data, {layout!r})",
    ]


_COMPARISON = [
    "for yours, right in zip(tree_leaves(actual), tree_leaves(expected)):",
    "    yours, right = yours.detach().cpu().double(), right.detach().cpu().double()",
    '    print("largest difference:", (yours - right).abs().max().item() if yours.shape == right.shape else "shape")',
]


class _Code(str):
    """Text that shows without quotes, to write nested arguments as code."""

    def __repr__(self) -> str:
        return str(self)


def _base(leaf: Any, place: int) -> str:
    """Write the memory behind an argument: its numbers where they are few, else a seeded draw."""
    if not isinstance(leaf, torch.Tensor):
        return repr(leaf)
    memory = leaf.detach()
    if differs_in_memory(leaf):
        memory = memory.as_strided((leaf.untyped_storage().nbytes() // leaf.element_size(),), (1,), 0)
    shape = tuple(memory.shape)
    if memory.numel() <= MOST_LITERALS:
        return f"torch.tensor({memory.tolist()!r}, dtype={leaf.dtype}).reshape({shape})"
    generator = f"generator=torch.Generator().manual_seed({place})"
    if leaf.is_floating_point() or leaf.is_complex():
        return f"torch.randn({shape}, {generator}).to({leaf.dtype})  # drawn anew"
    if leaf.dtype == torch.bool:
        return f"torch.rand({shape}, {generator}) < 0.5  # drawn anew"
    low, high = int(memory.min()), int(memory.max()) + 1
    return f"torch.randint({low}, {high}, {shape}, {generator}, dtype={leaf.dtype})  # drawn anew"


def _look(leaf: Any, place: int) -> str:
    if not isinstance(leaf, torch.Tensor):
        return f"base{place}"
    if not differs_in_memory(leaf):
        return f"change(base{place})"
    return f"change(base{place}).as_strided({tuple(leaf.shape)}, {leaf.stride()}, {leaf.storage_offset()})"


def _on_device(runner: DeviceRunner, *, module: bool, call: str) -> list[str]:
    if isinstance(runner, TorchDevice):
        there = "copy.deepcopy(fn).to(device)" if module else "fn"
        moved = "arguments(lambda tensor: tensor.to(device))"
        called = f"{there}(*{moved})" if call == "fn" else f"{call}({there}, {moved})"
        return [f'device = torch.device("{runner.name}")', f"on_device = lambda: {called}"]
    lines = ["device = ...  # your device: an object with run(fn, inputs)"]
    if type(runner).__module__.startswith("course_utils"):
        lines = ["from course_utils.numerics import FaultyDevice  # a planted fault; it computes on the CPU"]
        lines.append(f"device = {runner!r}")
    if call != "fn":
        inner = f"{call}(copy.deepcopy(fn), inputs)"
        return [*lines, f"on_device = lambda: device.run(lambda *inputs: {inner}, arguments(torch.clone))"]
    return [*lines, "on_device = lambda: device.run(fn, arguments(torch.clone))"]
