"""A kernel's call takes and refuses what torch 2.14's does on a Mac, and says what a Mac would read wrongly."""

import warnings

import pytest
import torch
from support.metal_here import metal  # noqa: F401  (a fixture)
from support.paths import TESTS

from course_utils.emulation import counted_mps
from course_utils.metal import MetalFault

SOURCE = (TESTS / "support" / "metal" / "call.metal").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def library(metal):  # noqa: F811
    return torch.mps.compile_shader(SOURCE)


def _zeros(*shape, dtype=torch.float32):
    return torch.zeros(*shape, dtype=dtype, device="mps")


REFUSED = {
    "an unknown name": (lambda lib: lib.nothing, RuntimeError, "Failed to create function state object for: nothing"),
    "a CPU tensor": (lambda lib: lib.fill(torch.zeros(4), 1.0), RuntimeError, "Passed CPU tensor to MPS op"),
    "an empty list": (
        lambda lib: lib.fill(_zeros(4), []),
        RuntimeError,
        "Empty list/tuple can not be an argument to metal",
    ),
    "a text": (lambda lib: lib.fill(_zeros(4), "1"), RuntimeError, "Unsupported argument type"),
    "a list of texts": (lambda lib: lib.fill(_zeros(4), ["1"]), RuntimeError, "Unexpected argument types"),
    "an unknown cast": (
        lambda lib: lib.fill(_zeros(4), 1.0, arg_casts="f16"),
        RuntimeError,
        "Unsupported cast instruction",
    ),
    "no tensor and no threads": (lambda lib: lib.fill(1.0), RuntimeError, "Number of threads is undefined"),
    "four dimensions": (lambda lib: lib.fill(_zeros(4), 1.0, threads=(1,) * 4), RuntimeError, "has wrong dimension"),
    "other dimensions": (lambda lib: lib.fill(_zeros(4), 1.0, threads=(2, 2), group_size=4), RuntimeError, "got false"),
    "a large group": (
        lambda lib: lib.fill(_zeros(4), 1.0, group_size=2048),
        ValueError,
        "Threadgroup size exceeds 1024 limit",
    ),
    "a group beyond the attribute": (
        lambda lib: lib.small_groups(_zeros(65), group_size=65),
        ValueError,
        "exceeds 64 limit",
    ),
    "below zero": (lambda lib: lib.fill(_zeros(4), 1.0, threads=-1), RuntimeError, "Unable to cast"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_as_on_a_mac(library, name):
    """The class and the words are torch's (Module.cpp and OperationUtils.mm, 2.14)."""
    call, error, text = REFUSED[name]

    with pytest.raises(error, match=text):
        call(library)


MISREAD = {
    "an int for a float": (
        lambda lib: lib.fill(_zeros(4), 1),
        "'?argument 1 is a Python int.*declares float.*pass a float",
    ),
    "a float for a half": (lambda lib: lib.fill_half(_zeros(4, dtype=torch.float16), 1.0), 'arg_casts="fp16"'),
    "a half tensor for floats": (
        lambda lib: lib.fill(_zeros(4, dtype=torch.float16), 1.0),
        "torch.float16.*declares float",
    ),
    "a float tensor for ints": (
        lambda lib: lib.labels(_zeros(4), _zeros(4)),
        "argument 1 is a tensor of torch.float32",
    ),
    "int64 labels": (lambda lib: lib.labels(_zeros(4), _zeros(4, dtype=torch.int64)), r"pass \.to\(torch\.int32\)"),
    "a list without a cast": (lambda lib: lib.add_list(_zeros(2), [1, 2]), 'arg_casts="int32"'),
    "a missing argument": (lambda lib: lib.fill(_zeros(4)), r"no argument for 'constant float& value' \[\[buffer\(1\)"),
    "one too many": (lambda lib: lib.fill(_zeros(4), 1.0, 2.0), "3 arguments were passed, and the kernel has 2"),
    "threadgroup memory from outside": (lambda lib: lib.borrowed(_zeros(4)), "declare the array inside the kernel"),
    "a group of nothing": (lambda lib: lib.fill(_zeros(4), 1.0, group_size=0), "a group of 0 threads"),
}


@pytest.mark.parametrize("name", MISREAD)
def test_what_a_mac_would_read_wrongly(library, name):
    """Arguments whose bytes the kernel would take for other numbers are named, with what to do."""
    call, text = MISREAD[name]

    with pytest.raises(MetalFault, match=text):
        call(library)


def test_numbers_are_sent_as_torch_sends_them(library):
    """An int is an int64, a float a float32, and arg_casts makes others of them."""
    out = _zeros(2, dtype=torch.int64)
    library.whole(out, -(2**40))
    assert out.tolist() == [-(2**40)] * 2
    half = _zeros(3, dtype=torch.float16)
    library.fill_half(half, 0.1, arg_casts="fp16")
    library.fill_half(half[:1], 2.0, arg_casts={1: "fp16"})
    assert half.tolist() == [2.0, *[torch.tensor(0.1).half().item()] * 2]
    listed = _zeros(2)
    library.add_list(listed, [3, -4], arg_casts="int32")
    library.add_list(listed, (1, 1), arg_casts={1: "int32"})
    assert listed.tolist() == [4, -3]


def test_a_view_is_bound_at_its_offset(library):
    """A slice is written where it lies, and nothing else is."""
    x = _zeros(4, 5)
    library.fill(x[2], 7.0)

    assert x.cpu().sum(1).tolist() == [0, 0, 35, 0]


def test_strides_are_not_seen(library):
    """A transposed tensor is read as it lies in memory, with a warning; the strides as arguments are the cure."""
    x = _zeros(3, 4).t()

    with pytest.warns(UserWarning, match=r"'out'\) is not contiguous.*shape \(4, 3\) with strides \(1, 4\)"):
        library.fill(x, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        library.fill(x.contiguous(), 1.0)


def test_positions(library):
    """Groups at the edge are smaller, and every position attribute says what Metal says."""
    out = _zeros(10 * 3 * 2 * 12, dtype=torch.int32)
    library.sizes(out, threads=(10, 3, 2), group_size=(4, 2, 1))
    rows = out.cpu().view(2, 3, 10, 12)

    # x 9 is the second of two in the third group; y 2 is alone in its row of groups
    assert rows[1, 2, 9].tolist() == [9, 1, 2, 2, 10, 3, 4, 1, 1, 0, 1, 7]
    assert rows[0, 1, 5].tolist() == [5, 1, 1, 4, 10, 3, 4, 5, 5, 0, 1, 7]
    library.sizes(out, threads=60)
    assert out.cpu().view(60, 12)[40].tolist() == [40, 40, 0, 60, 60, 1, 60, 40, 8, 1, 2, 7]


def test_nothing_to_do(library):
    """A grid without threads runs nothing."""
    library.fill(_zeros(0), 1.0)
    out = _zeros(4)
    library.fill(out, 1.0, threads=0)

    assert out.tolist() == [0] * 4


def test_a_library_lists_its_kernels(library):
    """dir() gives the names, a kernel its widths, as on a Mac."""
    assert "fill" in dir(library)
    assert library.fill.max_threads_per_threadgroup == 1024
    assert library.small_groups.max_threads_per_threadgroup == 64
    assert library.fill.thread_execution_width == 32
    with pytest.raises(TypeError, match="as text"):
        torch.mps.compile_shader(b"kernel")


def test_the_ledger_counts_a_kernel(metal, library):  # noqa: F811
    """A call queues one kernel and waits for nothing, on the emulated device and where a real one is counted."""
    out = _zeros(4)
    metal.clear_ledger()
    library.fill(out, 1.0)
    assert metal.ledger().operators == {"metal::fill": 1}
    assert (metal.ledger().launches, metal.ledger().waits) == (1, ())

    with counted_mps(over_emulation=True) as counted:
        counted_library = torch.mps.compile_shader(SOURCE)
        counted_library.fill(out, 2.0)
        assert counted_library.fill.thread_execution_width == 32
        assert counted.ledger().operators == {"metal::fill": 1}
        earlier = counted_library
    assert out.tolist() == [2.0] * 4
    # a library outlives its block, and is counted in the next
    with counted_mps(over_emulation=True) as counted:
        earlier.fill(out, 3.0)
        assert counted.ledger().operators == {"metal::fill": 1}
