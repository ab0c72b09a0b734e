"""Composite operators of the installed torch that an older release, which the device follows, does not have.

What such an operator calls, the older release may never call: its kernels here only note that they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import torch

from course_utils.emulation.call import resolve
from course_utils.emulation.events import Kernel
from course_utils.emulation.runtime import Runtime
from course_utils.operators.table import operator_table

_Key = torch._C.DispatchKey
# the dispatcher's order for operators without a kernel of their own
_COMPOSITE_KEYS = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd", "CompositeImplicitAutograd")


def make_routes(runtime: Runtime, kernels: Set[str]) -> Iterator[tuple[str, Kernel, tuple[str, ...]]]:
    """Yield a kernel for each composite operator that the followed release lacks; none for the installed release.

    Args:
        runtime: the device.
        kernels: overloads of aten that get a kernel anyway.

    Yields:
        Overload, kernel, and the dispatch keys to register it for: an operator that decomposes before autograd needs
        autograd's, too; one that decomposes below keeps its derivative.
    """
    followed = runtime.table.operators
    if followed is None or runtime.hook is None:
        return
    installed = operator_table()
    if followed.torch_release == installed.torch_release:
        return
    names = {name.removeprefix("aten::") for name in installed.with_status("composite")}
    for name in sorted(names - followed.verdicts.letters.keys() - kernels):
        operator = resolve(name)
        if operator is None:
            continue
        has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
        found = next((key for key in _COMPOSITE_KEYS if has_kernel(operator.name(), key)), None)
        if found is not None:
            keys = ("MPS", "AutogradMPS") if found == "CompositeImplicitAutograd" else ("MPS",)
            yield name, _noting(runtime, operator, getattr(_Key, found)), keys


def _noting(runtime: Runtime, operator: Any, key: Any) -> Kernel:
    name = operator.name()

    def kernel(*args: Any, **kwargs: Any) -> Any:
        call = runtime.recorder.call
        outer, call.through = call.through, call.through or name
        try:
            return operator._op_dk(key, *args, **kwargs)
        finally:
            call.through = outer

    return kernel
