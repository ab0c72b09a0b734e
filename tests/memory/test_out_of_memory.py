"""Out-of-memory messages of public reports are read, in all their forms."""

import pytest

from course_utils.memory import explain_out_of_memory
from course_utils.reporting.units import GIB

TAIL = (
    "Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure)."
)


def message(allocated, other, limit, tried, pool="private"):
    return (
        f"RuntimeError: MPS backend out of memory (MPS allocated: {allocated}, other allocations: {other}, "
        f"max allowed: {limit}). Tried to allocate {tried} on {pool} pool. {TAIL}"
    )


def test_an_8_gb_mac_that_may_use_9():
    """MEM-01: the sum 9.43 exceeds 9.07, other allocations dominate, capacity is 5.33 (pytorch #105839)."""
    found = explain_out_of_memory(message("1.45 GB", "7.42 GB", "9.07 GB", "0.56 GB"))

    assert found.total_bytes / GIB == pytest.approx(9.43, abs=0.005)
    assert found.total_bytes > found.max_allowed_bytes
    assert found.capacity_bytes / GIB == pytest.approx(5.33, abs=0.01)
    assert "Other allocations dominate" in str(found)
    assert "a Mac with 8 GB" in str(found)
    assert "more than its RAM" in str(found)


@pytest.mark.parametrize(
    ("limit", "capacity_gib"),
    [("6.77 GB", 4), ("9.07 GB", 5.33), ("18.13 GB", 10.67), ("20.40 GB", 12), ("27.20 GiB", 16), ("36.27 GB", 21.33)],
)
def test_capacity_is_the_limit_over_1_7(limit, capacity_gib):
    """MEM-01: every quoted limit is 1.7 times a recommended working set (Comfy-Org/ComfyUI #7440)."""
    found = explain_out_of_memory(message("4.00 GB", "1.00 GB", limit, "9.00 GB"))

    assert found.capacity_bytes / GIB == pytest.approx(capacity_gib, rel=0.01)


@pytest.mark.parametrize(
    ("text", "ram_gb", "pool"),
    [
        # lllyasviel/Fooocus #980 states 8 GB, #1139 is the same limit
        (message("8.93 GB", "120.39 MB", "9.07 GB", "25.00 MB"), 8, "private"),
        # haoheliu/AudioLDM2 #20 states 16 GB
        (message("18.02 GB", "107.10 MB", "18.13 GB", "4.50 MB"), 16, "private"),
        # BoBo0037/bobo-fun #8 states 64 GB
        (message("72.40 GB", "15.71 GB", "81.60 GB", "256 bytes", "shared"), 64, "shared"),
        # Comfy-Org/ComfyUI #9308 states 128 GB
        (message("22.57 GiB", "139.74 GiB", "163.20 GiB", "1.30 GiB"), 128, "private"),
    ],
)
def test_the_mac_is_recognised(text, ram_gb, pool):
    """The RAM that the reporter states is found from the limit; both units and both pools are read."""
    found = explain_out_of_memory(text)

    assert f"a Mac with {ram_gb} GB" in str(found)
    assert found.pool == pool


def test_tensors_dominate():
    """Where torch's own tensors fill the memory, using less of them comes first."""
    found = explain_out_of_memory(message("17.68 GB", "3.95 MB", "18.13 GB", "1024.00 MB"))

    assert "Tensors dominate" in str(found)
    assert "smaller batch" in found.advice[0]


def test_the_variable_is_no_help():
    """MEM-02: the advice is to leave the watermark alone, and where it would have to be set (pytorch #96814)."""
    found = explain_out_of_memory(message("8.89 GB", "172.98 MB", "9.07 GB", "6.25 MB"))

    assert "can freeze the Mac" in found.advice[-1]
    assert "before Python starts" in found.advice[-1]


def test_varying_shapes_are_a_cause():
    """MEM-05: large other allocations point to one compiled graph for each shape (pytorch #132596)."""
    found = explain_out_of_memory(message("1.45 GB", "7.42 GB", "9.07 GB", "0.56 GB"))

    assert "pad inputs to a few lengths" in found.advice[0]


def test_nothing_allocated_is_no_shortage():
    """A virtual Mac that cannot allocate anything is recognised (actions/runner-images #9918)."""
    found = explain_out_of_memory(message("0 bytes", "0 bytes", "7.93 GB", "256 bytes", "shared"))

    assert "no shortage" in str(found)
    assert "course doctor" in found.advice[0]


def test_a_buffer_that_is_too_large():
    """A single tensor beyond Metal's largest buffer is another failure (pytorch #141909)."""
    found = explain_out_of_memory("RuntimeError: Invalid buffer size: 19.45 GB")

    assert (found.kind, found.total_bytes, found.capacity_bytes) == ("buffer", None, None)
    assert found.requested_bytes / GIB == pytest.approx(19.45)
    assert "maxBufferLength" in str(found)


def test_wrapped_and_cut_off():
    """A message wrapped over lines, or cut off after the limit, is still read."""
    wrapped = message("9.57 GiB", "17.35 GiB", "27.20 GiB", "292.50 MiB").replace(" ", "\n")
    cut = wrapped[: wrapped.index("Tried")]

    assert explain_out_of_memory(wrapped).requested_bytes == round(292.5 * 2**20)
    assert explain_out_of_memory(cut).requested_bytes is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "no out-of-memory message of MPS"),
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied", "no out-of-memory message of MPS"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "a message of CUDA"),
    ],
)
def test_other_texts_are_refused(text, word):
    """A text that holds no such message is refused in one sentence."""
    with pytest.raises(ValueError, match=word):
        explain_out_of_memory(text)


def test_it_prints_and_goes_to_json():
    """The explanation prints as text and HTML, and goes to JSON with the sum and the capacity."""
    found = explain_out_of_memory(message("1.45 GB", "7.42 GB", "9.07 GB", "0.56 GB"))

    assert "max allowed        9.07 GiB" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.to_dict()["total_bytes"] == found.total_bytes
