"""What torch says on MPS, word for word, with the source and the releases it holds for."""

from __future__ import annotations

import torch

# torch 2.9 to 2.15, strings of libtorch_cpu.dylib in the macOS wheels; aten/src/ATen/mps/EmptyTensor.cpp
FLOAT64 = (
    "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
    "Please use float32 instead."
)

# C++ names of the dtypes that Metal lacks, as c10::toString prints them
_CPP_NAME = {torch.complex128: "ComplexDouble"}

# torch 2.9 to 2.15; text for which issue 141287 collects requests since 2.6
_MISSING = (
    "The operator '{name}' is not currently implemented for the MPS device. If you want this op to be considered "
    "for addition please comment on https://github.com/pytorch/pytorch/issues/141287 and mention use-case, that "
    "resulted in missing op as well as commit hash {commit}. As a temporary fix, you can set the environment "
    "variable `PYTORCH_ENABLE_MPS_FALLBACK=1` to use the CPU as a fallback for this op. WARNING: this will be "
    "slower than running natively on MPS."
)

# All releases; torch's C++ adds " (Triggered internally at .../MPSFallback.mm:LINE.)", which depends on the build.
_FALLBACK = (
    "The operator '{name}' is not currently supported on the MPS backend and will fall back to run on the CPU. "
    "This may have performance implications."
)

# aten/src/ATen/native/CPUFallback.cpp; the texts of the warning and of the error were swapped over time
_VIEW = (
    'The operator {name} appears to be a view operator, but it has no implementation for the backend "mps:0". '
    "View operators don't support falling back to run on the CPU, since the tensor's storage cannot be shared "
    "across devices."
)

# c10d operators refuse since 2.11
_DISTRIBUTED = (
    "The distributed operator '{name}' is not currently implemented for the MPS device. Please note, that "
    "distributed operators can not fall back to CPU"
)


def missing(name: str) -> str:
    """Return the NotImplementedError's text for an operator without an MPS kernel, such as "aten::linalg_eig"."""
    return _MISSING.format(name=name, commit=torch.version.git_version)


def fallback(name: str) -> str:
    """Return the text of the UserWarning for an operator that falls back to the CPU."""
    return _FALLBACK.format(name=name)


def view(name: str) -> str:
    """Return the text of the RuntimeError for a view operator without an MPS kernel, which cannot fall back."""
    return _VIEW.format(name=name)


def distributed(name: str) -> str:
    """Return the text of the error for a c10d operator, which cannot fall back."""
    return _DISTRIBUTED.format(name=name)


def unsupported_dtype(dtype: torch.dtype) -> str | None:
    """Return the text of the TypeError for a dtype that Metal lacks; None for a dtype that MPS holds."""
    if dtype == torch.float64:
        return FLOAT64
    if dtype in _CPP_NAME:  # aten/src/ATen/native/mps/OperationUtils.mm
        return f"Trying to convert {_CPP_NAME[dtype]} to the MPS backend but it does not have support for that dtype."
    return None


def too_many_dimensions(n_dimensions: int) -> str:
    """Return the text of the RuntimeError for more than 16 dimensions (torch 2.1 and later, EmptyTensor.cpp)."""
    return f"MPS supports tensors with dimensions <= 16, but got {n_dimensions}."


def not_numpy() -> str:
    """Return the text of the TypeError of `.numpy()` on a tensor of the device (torch/csrc/utils/tensor_numpy.cpp)."""
    return "can't convert mps:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."


def wrong_generator(device_type: str) -> str:
    """Return the RuntimeError's text for a generator of another device (check_generator in ATen/core/Generator.h)."""
    return f"Expected a 'mps' device type for generator but found '{device_type}'"


# Metal kernels, 2.6 and later
METAL_ON_CPU_TENSOR = "Passed CPU tensor to MPS op"
# argument names in the text of Linear.mm, in the order of the operator's arguments
_LINEAR_ARGUMENTS = ("input", "weight", "bias")
# TensorArg names in LinearAlgebra.mm; checkAllSameGPU numbers them from 1
_MM_ARGUMENTS = ("mat1", "mat2")
# raised by TensorIterator although torch does not tag them pointwise (pytorch forum reports name `cat`)
_ITERATOR = frozenset({"cat", "where.self", "stack", "isclose"})
# still built on MPSGraph placeholders, or reported with this text (pytorch #123995, #130790)
_PLACEHOLDER = frozenset({"embedding", "index_select", "nll_loss_forward", "nll_loss2d_forward", "native_batch_norm"})


def mixed_devices(overload: str, *, pointwise: bool, on_cpu: int, first_is_cpu: bool) -> str:
    """Return the text of the RuntimeError for a CPU tensor among tensors of the device.

    MPS has no common check: its generated wrappers carry no device guard, so the text is the kernel's own.
    Known texts: `linear` (Linear.mm, 2.4 and later), `mm` (checkAllSameGPU), pointwise operators (TensorIterator),
    MPSGraph kernels ("Placeholder ...") and Metal kernels ("Passed CPU tensor", 2.6 and later). Which of the last
    two an operator gives depends on the release; outside the names above, the Metal text is used.

    Args:
        overload: such as "linear" or "add.Tensor".
        pointwise: whether torch tags the operator pointwise.
        on_cpu: position of the first CPU tensor among the tensor arguments, from 0.
        first_is_cpu: whether the first tensor argument is the one on the CPU.
    """
    base = overload.partition(".")[0]
    if base == "linear" and on_cpu < len(_LINEAR_ARGUMENTS):
        return f"Tensor for argument {_LINEAR_ARGUMENTS[on_cpu]} is on cpu but expected on mps"
    if overload == "mm":
        return (
            f"Tensor for argument #{on_cpu + 1} '{_MM_ARGUMENTS[on_cpu]}' is on CPU, but expected it to be on GPU "
            "(while checking arguments for mm)"
        )
    if pointwise or overload in _ITERATOR:
        devices = "cpu and mps:0" if first_is_cpu else "mps:0 and cpu"
        return f"Expected all tensors to be on the same device, but found at least two devices, {devices}!"
    if overload in _PLACEHOLDER:
        return "Placeholder storage has not been allocated on MPS device!"
    return METAL_ON_CPU_TENSOR


def convolution_on_cpu(argument: str, input_dtype: torch.dtype) -> str:
    """Return the RuntimeError's text of a convolution whose weight or bias is on the CPU (ATen/native/Convolution.cpp).

    Args:
        argument: "weight" or "bias".
        input_dtype: dtype of the input.
    """
    kind = {torch.float32: "Float", torch.float16: "Half", torch.bfloat16: "BFloat16"}.get(input_dtype, "Float")
    return f"Input type (MPS{kind}Type) and {argument} type (torch.{kind}Tensor) should be the same"


# MPSFallback.mm, all releases: the CPU's algorithm was chosen by the input, the MPS key by the weight
CONVOLUTION_ON_CPU_INPUT = (
    "slow_conv2d_forward_mps: input(device='cpu') and weight(device=mps:0')  must be on the same device"
)
# aten/src/ATen/native/mps/operations/RnnOps.mm
LSTM_PROJECTIONS = "LSTM with projections is not currently supported with MPS."
