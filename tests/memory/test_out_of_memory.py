"""Out-of-memory messages of public reports are read, in all their forms."""

import textwrap

import pytest

from course_utils.memory import explain_out_of_memory
from course_utils.memory.known_texts import known_texts
from course_utils.memory.pasted import find
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
    """MEM-02: the advice is to leave the watermark alone, and where it would have to be set."""
    found = explain_out_of_memory(message("8.89 GB", "172.98 MB", "9.07 GB", "6.25 MB"))

    assert "warns of system failure" in found.advice[-1]
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
        ("I am skilled at this, and killed time", "no out-of-memory message of MPS"),
        ("assert kernel.size == 3, 'kernel size is 5'", "no out-of-memory message of MPS"),
        ("KeyError: 'exit code'", "no out-of-memory message of MPS"),
        ("The semaphore was released; signal 9 of 10 was drawn", "no out-of-memory message of MPS"),
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


FULL = message("8.93 GB", "120.39 MB", "9.07 GB", "25.00 MB")


@pytest.mark.parametrize(
    "text",
    [
        FULL.lower(),
        FULL.replace("RuntimeError", "torch.OutOfMemoryError"),
        FULL.replace(".", ",").replace("RuntimeError: ", ""),
        FULL.replace(" GB", "\u00a0GB"),
        FULL.replace(" GB", " GiB").replace(" MB", " MiB"),
        "\n".join("> " + line for line in textwrap.wrap(FULL, 30)),
        "\n".join(textwrap.wrap(FULL, 7)),
        f"\x1b[31m{FULL}\x1b[0m",
        "Traceback (most recent call last):\n" + FULL + "\nzsh: killed python train.py",
    ],
)
def test_one_message_in_many_forms(text):
    """Case, units, decimal commas, wraps in the middle of a word, colours and text around it change nothing."""
    found = explain_out_of_memory(text)

    assert (found.kind, found.requested_bytes) == ("limit", 25 * 2**20)
    assert found.max_allowed_bytes == round(9.07 * GIB)
    assert found.allocated_bytes == round(8.93 * GIB)


def test_thousands():
    """Both ways to write a thousand are read."""
    for text in ("1,024.50 MB", "1.024,50 MB"):
        assert explain_out_of_memory(FULL.replace("120.39 MB", text)).other_bytes == round(1024.5 * 2**20)


@pytest.mark.parametrize(
    "numbers",
    [
        "MPS allocated: 30 GB, other allocations: 1 GB, max allowed: unlimited). Tried to allocate 1 GB on private",
        "MPS allocated: 30 GB, other allocations: 1 GB). Tried to allocate 1 GB on shared pool.",
        "currently allocated: 30 GB, max allowed: unlimited). Tried to allocate 1 GB.",
    ],
)
def test_no_limit(numbers):
    """Without a limit the answer says that the watermark was 0, and what to do about it."""
    found = explain_out_of_memory(f"MPS backend out of memory ({numbers}")

    assert (found.kind, found.max_allowed_bytes, found.capacity_bytes) == ("no limit", None, None)
    assert found.requested_bytes == GIB
    assert "PYTORCH_MPS_HIGH_WATERMARK_RATIO was 0" in found.findings[0]
    assert "unset" in found.advice[0]


def test_the_older_wording():
    """The message of the first releases gives the parts that it has."""
    found = explain_out_of_memory(
        "MPS backend out of memory (currently allocated: 6.65 GB, max allowed: 6.80 GB). Tried to allocate 256.00 MB"
    )

    assert (found.allocated_bytes, found.other_bytes) == (round(6.65 * GIB), None)
    assert found.total_bytes == round(6.65 * GIB) + 256 * 2**20
    assert found.max_allowed_bytes == round(6.8 * GIB)
    assert "exceed the limit" in str(found)


@pytest.mark.parametrize(("allocated", "contradicts"), [("36.27 GB", True), ("18.02 GB", False), ("9.00 GB", False)])
def test_numbers_that_contradict_each_other(allocated, contradicts):
    """More allocated than allowed is said to be a contradiction; a full device is none."""
    found = explain_out_of_memory(message(allocated, "107.10 MB", "18.13 GB", "4.50 MB"))

    assert ("contradict" in str(found)) == contradicts


def test_a_message_without_numbers():
    """The first words alone are recognised, and the rest is asked for."""
    found = explain_out_of_memory("RuntimeError: MPS backend out of memory")

    assert (found.kind, found.total_bytes) == ("limit", None)
    assert "paste the whole message" in str(found)


COMMAND_BUFFER = (
    "Error: command buffer exited with error status.\n\tThe Metal Performance Shaders operations encoded on it"
)
MEMORY = "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)"
LEAKED = "resource_tracker.py:254: UserWarning: There appear to be 1 leaked semaphore objects to clean up at shutdown"
ARRAY = "MPSNDArray.mm:850: failed assertion `[MPSNDArray initWithDevice:] Error: total bytes of NDArray > 2**32'"
CPU = (
    "[enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: not enough memory: you tried to allocate {} bytes."
)
OTHER_CPU = "DefaultCPUAllocator: can't allocate memory: you tried to allocate {} bytes. Error code 12"
TEXTS = [
    (MEMORY, "command buffer", "resident", None),
    (f"{COMMAND_BUFFER} may not have completed.\n\tError: \n\t({MEMORY})", "command buffer", "resident", None),
    (f"RuntimeError: MPS command buffer execution failed: {MEMORY}", "command buffer", "resident", None),
    (f"{COMMAND_BUFFER} ... Internal Error (0000000e:Internal Error)", "command buffer", "not valid", None),
    ("Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)", "command buffer", "too long", None),
    ("Discarded (victim of GPU error/recovery) (00000005:InnocentVictim)", "command buffer", "thrown away", None),
    ("zsh: killed     python train.py", "killed", "swap", None),
    ("[1]    12345 killed     python train.py --epochs 3", "killed", "swap", None),
    ("[2]  + 4711 killed     ./run.sh", "killed", "swap", None),
    ("bash: line 1: 4711 Killed: 9  python train.py", "killed", "swap", None),
    ("epoch 3\nKilled\n$", "killed", "swap", None),
    ("Process finished with exit code 137 (interrupted by signal 9:SIGKILL)", "killed", "swap", None),
    ("Command '['python']' died with <Signals.SIGKILL: 9>.", "killed", "swap", None),
    ("The Kernel crashed while executing code in the current cell or a previous cell.", "killed", "swap", None),
    ("The kernel appears to have died. It will restart automatically.", "killed", "swap", None),
    ("nbclient.exceptions.DeadKernelError: Kernel died", "killed", "swap", None),
    ("Canceled future for execute_request message before replies were done", "killed", "swap", None),
    (LEAKED, "killed", "swap", None),
    (ARRAY, "assertion", "not a matter of RAM", None),
    ("error: total bytes of NDArray &gt; 2^32", "assertion", "split", None),
    ("MPSNDArray.mm:829: failed assertion `Error: NDArray dimension length > INT_MAX'", "assertion", "reshape", None),
    ("failed assertion `something that nobody has reported yet'", "assertion", "ends the whole process", None),
    ("Assertion failed: (size > 0), function make, file MPSGraph.mm, line 3.", "assertion", "ends the whole", None),
    ("LLVM ERROR: Failed to infer result type(s).", "assertion", "terminal", None),
    ("zsh: abort      python train.py\nSIGABRT", "aborted", "faulthandler", None),
    ("zsh: segmentation fault  python train.py", "aborted", "faulthandler", None),
    ("Failed to allocate private MTLBuffer for size 19879428096", "buffer", "maxBufferLength", 19879428096),
    ("RuntimeError: Invalid buffer size: 19,45 GB", "buffer", "maxBufferLength", round(19.45 * GIB)),
    (CPU.format(34359738368), "cpu", "RAM and swap", 2**35),
    (OTHER_CPU.format(8589934592), "cpu", "RAM and swap", 2**33),
]


@pytest.mark.parametrize(("text", "kind", "word", "requested"), TEXTS)
@pytest.mark.parametrize("form", [str, str.upper, lambda text: f"log 12:00:01 | x\r\n{text}\r\n(base) ada@mac %"])
def test_other_texts_of_an_end(text, kind, word, requested, form):
    """Each text has its cause and what helps, in capitals too, and among other lines."""
    found = explain_out_of_memory(form(text))

    assert (found.kind, found.requested_bytes) == (kind, requested)
    assert word.lower() in str(found).lower()
    assert found.advice
    assert found.ends_process == (kind in ("killed", "assertion", "aborted") or word == "too long")


@pytest.mark.parametrize("text", [MEMORY, "total bytes of NDArray > 2**32", "failed assertion", TAIL + FULL])
def test_wraps_in_the_middle_of_a_word(text):
    """A terminal breaks lines wherever its window ends."""
    whole = explain_out_of_memory(text)

    for width in (9, 17, 40):
        wrapped = "\n".join(text[start : start + width] for start in range(0, len(text), width))
        assert explain_out_of_memory(wrapped).headline == whole.headline


def test_known_texts_are_sound():
    """Each known text has a pattern that compiles, advice and a source, and two texts have different titles."""
    texts = known_texts()

    assert len({known.title for known in texts}) == len(texts) > 15
    for known in texts:
        assert known.advice
        assert known.sources
        assert all(find(pattern, "") is None for pattern in known.patterns)
