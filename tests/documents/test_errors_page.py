"""The page of error messages: every message that our tools quote is on it, and each says what to do."""

import json
import re

import pytest
import torch
from support.found import found
from support.paths import ROOT

from course_utils.emulation import messages
from course_utils.memory.out_of_memory import explain_out_of_memory

PAGE = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```text\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
SECTIONS = re.findall(r"^### ([^\n]+)\n(.*?)(?=^##)", PAGE + "\n## ", re.DOTALL | re.MULTILINE)


def one_line(text):
    """Leave line breaks out, which wrap the page and say nothing."""
    return " ".join(text.split())


QUOTED = one_line("\n".join(BLOCKS))

# every public function of emulation/messages.py, called as the page shows it
CALLS = {
    "missing": [lambda: messages.missing("aten::NAME").replace(torch.version.git_version, "COMMIT")],
    "fallback": [lambda: messages.fallback("aten::NAME")],
    "view": [lambda: messages.view("aten::NAME")],
    "distributed": [lambda: messages.distributed("c10d::NAME")],
    "unsupported_dtype": [
        lambda: messages.unsupported_dtype(torch.float64),
        lambda: messages.unsupported_dtype(torch.complex128),
    ],
    "too_many_dimensions": [lambda: messages.too_many_dimensions(17)],
    "not_numpy": [messages.not_numpy],
    "wrong_generator": [lambda: messages.wrong_generator("cpu")],
    "mixed_devices": [
        lambda overload=overload, on_cpu=on_cpu: messages.mixed_devices(
            overload, pointwise=overload.startswith("add"), on_cpu=on_cpu, first_is_cpu=on_cpu == 0
        )
        for overload, on_cpu in [
            ("linear", 0),
            ("linear", 1),
            ("mm", 0),
            ("add.Tensor", 0),
            ("add.Tensor", 1),
            ("embedding", 0),
            ("softmax", 0),
        ]
    ],
    "convolution_on_cpu": [lambda: messages.convolution_on_cpu("weight", torch.float32)],
}


def test_every_function_that_words_a_message_is_tried():
    """A new message in the emulation is noticed here, and then missed on the page."""
    public = {
        name
        for name, value in vars(messages).items()
        if callable(value) and getattr(value, "__module__", "") == messages.__name__ and not name.startswith("_")
    }

    assert public == set(CALLS)


@pytest.mark.parametrize(
    "message", [pytest.param(call, id=f"{name}-{n}") for name, calls in CALLS.items() for n, call in enumerate(calls)]
)
def test_emulated_messages_are_on_the_page(message):
    """What the emulated device raises or warns is quoted word for word."""
    assert one_line(message()) in QUOTED


def test_constant_messages_are_on_the_page():
    """Messages without a name or number in them are quoted word for word."""
    constants = {name: text for name, text in vars(messages).items() if isinstance(text, str) and name[0].isupper()}

    assert {"FLOAT64", "LSTM_PROJECTIONS"} <= set(constants)
    assert [name for name, text in constants.items() if one_line(text) not in QUOTED] == []


def test_limits_that_raise_are_on_the_page():
    """Every text that a known limit of a kernel raises is quoted."""
    limits = json.loads((ROOT / "course_utils/data/mps_limits.json").read_text(encoding="utf-8"))["limits"]
    texts = [
        text
        for limit in limits
        for text in re.findall(r"(?:RuntimeError|NotImplementedError): ([^;]+)", limit["effect"])
    ]
    own_words = {"the kernel takes only float32 and complex64"}  # the wheel's text is put together from pieces

    assert len(texts) > 5
    assert [text for text in texts if text not in QUOTED and text not in own_words] == []


def test_memory_messages_are_understood():
    """The out-of-memory messages of the page are those that `course memory --explain` reads."""
    blocks = [block for block in BLOCKS if "out of memory" in block or "buffer size" in block]
    explained = [explain_out_of_memory(block) for block in blocks]

    assert [one.kind for one in explained] == ["limit", "limit", "buffer"]
    assert explained[0].total_bytes > explained[0].max_allowed_bytes
    assert "virtual Macs" in str(explained[1])


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("The CPU's memory is full", "cpu"),
        ("The GPU had no memory for a command", "command buffer"),
        ("Killed", "killed"),
        ("The kernel died", "killed"),
        ("A failed assertion", "assertion"),
        ("An LLVM error", "assertion"),
    ],
)
def test_texts_of_an_end_are_understood(title, kind):
    """What the page says about memory and about processes that end, `course memory --explain` reads too."""
    (body,) = [body for name, body in SECTIONS if name == title]
    (block,) = re.findall(r"^```text\n(.*?)^```", body, re.DOTALL | re.MULTILINE)

    assert explain_out_of_memory(block).kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "Torch not compiled with CUDA enabled",
        "Attempting to deserialize object on a CUDA device",
        "Storage device not recognized: mps",
        "target dtype is not supported. Disabling autocast",
        "Can't get attribute",
        "operator torchvision::nms does not exist",
        "failed to compile",
        "mpsFileLoc",
        "LLVM ERROR",
        "failed assertion",
    ],
)
def test_texts_that_people_search_for_are_quoted(text):
    """What torch, pickle and Metal print is quoted in a section, whose four lines are looked at below."""
    assert text in QUOTED


@pytest.mark.parametrize(("title", "body"), SECTIONS, ids=[title for title, _ in SECTIONS])
def test_each_message_has_its_four_lines(title, body):
    """Each section quotes a message, then says what it means, for which torch, what to do, and which lesson has it."""
    assert "```text\n" in body, title
    assert re.findall(r"^- \*\*(\w+):\*\* \S", body, re.MULTILINE) == ["Means", "Torch", "Do", "Lesson"], title
    lesson = re.search(r"\*\*Lesson:\*\* \[(\d\d) [^\]]+\]\((\.\./notebooks/\1_\w+\.ipynb)\)", body)
    assert lesson, title
    assert (ROOT / "docs" / lesson.group(2)).is_file()


def test_links_resolve():
    """Links to files and to sections of the page find their target; the others go to public trackers."""
    headings = {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.+)$", PAGE, re.M)}
    for target in found(re.findall(r"\]\(([^)]+)\)", PAGE)):
        if target.startswith("#"):
            assert target[1:] in headings, target
        elif target.startswith("https://"):
            assert re.match(r"https://github\.com/[\w-]+/[\w-]+/(issues|pull)/\d+$", target), target
        else:
            assert (ROOT / "docs" / target).exists(), target
