"""Plain values, frames and described arguments: what goes over arrives as it was, and nothing else does."""

import json
import math
import random
from collections import OrderedDict

import numpy as np
import pytest
import torch
from torch import nn

from course_utils.sandbox.described import DescribedReader, DescribingWriter, NamedInStudentProcess
from course_utils.sandbox.frames import Frame, FrameReader, MalformedFrameError, TooLongError
from course_utils.sandbox.values import Opaque, Reader, ValueNotPlainError, Writer

DEPTH = 20
PLAIN = [
    None,
    True,
    0,
    -(2**70),
    1.5,
    math.inf,
    2 + 3j,
    "text with \ud800 a lone surrogate",
    b"\x00\xff",
    [1, [2, []]],
    (1, "a"),
    {"a": 1, 2: (3,), None: [4]},
    {1, 2},
    frozenset({"x"}),
    torch.float16,
    torch.device("meta"),
    torch.Size([2, 3]),
]
TENSORS = [
    torch.arange(6).reshape(1, 6)[:, 2],  # one element, with a stride of six
    torch.arange(6.0).reshape(2, 3),
    torch.tensor(3, dtype=torch.int64),
    torch.tensor([True, False]),
    torch.rand(3).bfloat16(),
    torch.empty(0, 4),
    torch.arange(6.0).reshape(2, 3).t(),
    torch.ones(3, requires_grad=True),
    torch.tensor([1 + 2j]).conj(),
]


def over(value, depth=DEPTH):
    """Send a value over, frame included."""
    writer = Writer(depth)
    data = Frame({"value": writer.write(value)}, writer.blobs).to_bytes()
    frame = FrameReader(10**6).feed(data)
    return Reader(frame.blobs, depth).read(frame.content["value"])


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_arrive(value):
    """A plain value arrives with its value and its exact type."""
    arrived = over(value)

    assert type(arrived) is type(value)
    assert arrived == value


def test_nan_arrives():
    """Not-a-number stays not-a-number."""
    assert math.isnan(over(math.nan))


@pytest.mark.parametrize("tensor", TENSORS, ids=lambda tensor: f"{tensor.dtype}{list(tensor.shape)}")
def test_tensors_arrive(tensor):
    """A tensor arrives with its dtype, shape, values and whether it wants a gradient."""
    arrived = over(tensor)

    assert (arrived.dtype, arrived.shape, arrived.requires_grad) == (tensor.dtype, tensor.shape, tensor.requires_grad)
    assert torch.equal(arrived, tensor)


def test_meta_tensors_and_parameters_arrive():
    """A tensor without data keeps its device, and a parameter stays one."""
    assert over(torch.empty(2, 10**6, device="meta")).device.type == "meta"
    assert isinstance(over(nn.Parameter(torch.ones(2))), nn.Parameter)


@pytest.mark.parametrize("value", [np.float32(1.5), np.arange(4).reshape(2, 2), np.bool_(True)], ids=repr)
def test_numpy_arrives(value):
    """Numbers and arrays of numpy stay what they were."""
    arrived = over(value)

    assert type(arrived) is type(value)
    assert arrived.dtype == value.dtype
    assert np.array_equal(arrived, value)


class Same(int):
    """Equal to everything."""

    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


@pytest.mark.parametrize("value", [Same(3), OrderedDict(a=1), object(), nn.Linear(1, 1), test_nan_arrives, [Same(1)]])
def test_what_is_not_plain_is_named_only(value):
    """A subclass or an object does not arrive: only its type's name and its text do."""
    arrived = over(value)
    inner = arrived[0] if isinstance(arrived, list) else arrived

    assert type(inner) is Opaque
    assert inner != 3


def test_a_repr_that_raises_does_no_harm():
    """An object whose repr raises arrives as such."""

    class Odd:
        def __repr__(self):
            raise RuntimeError

    assert "RuntimeError" in over(Odd()).text


@pytest.mark.parametrize("kind", ["list", "dict", "itself"])
def test_deep_values_are_refused(kind):
    """A value nested too deep, or in itself, is refused in one sentence."""
    value = []
    for _ in range(DEPTH + 2):
        value = [value] if kind == "list" else {"a": value}
    if kind == "itself":
        value = []
        value.append(value)

    with pytest.raises(ValueNotPlainError, match="deeper than 20"):
        over(value)


@pytest.mark.parametrize("value", [dict.fromkeys(range(60_000)), set(range(60_000))], ids=["dict", "set"])
def test_very_many_keys_are_refused(value):
    """Keys can be made to collide, so their number is bounded."""
    with pytest.raises(ValueNotPlainError, match="60,000 entries"):
        over(value)


MALFORMED = [
    {"tensor": {"dtype": "float32", "shape": [2], "blob": 0, "strides": [1]}},
    {"tensor": {"dtype": "float32", "shape": [-1], "blob": 0, "strides": [1]}},
    {"tensor": {"dtype": "float32", "shape": [10**30], "blob": None, "strides": [1]}},
    {"tensor": {"dtype": "load", "shape": [1], "blob": 0, "strides": [1]}},
    {"tensor": {"dtype": "float32", "shape": [1], "blob": 7, "strides": [1]}},
    {"array": {"dtype": "|O", "shape": [1], "blob": 0}},
    {"bytes": -1},
    {"bytes": "0"},
    {"import": ["os", "system"]},
    {"object": [{"imported": ["os", "system"]}, {}]},
    {"dict": [[[1], 2]]},
    {"set": [[1]]},
    {"dict": 3},
    {"int": "zz"},
    {"size": [True]},
    {"a": 1, "b": 2},
    {},
    {"complex": ["x"]},
    {"opaque": 3},
]


@pytest.mark.parametrize("written", MALFORMED, ids=json.dumps)
def test_malformed_values_are_refused(written):
    """What no writer wrote is refused, never executed, never a bare error of Python."""
    with pytest.raises(ValueNotPlainError):
        Reader([b"\x00" * 3], DEPTH).read(written)


def test_random_json_is_read_or_refused():
    """Whatever JSON arrives is read as plain data or refused."""
    source = random.Random(0)
    kinds = ["tuple", "dict", "tensor", "array", "bytes", "int", "size", "dtype", "device", "opaque", "callback"]

    def build(level):
        choice = source.randrange(7 if level else 3)
        if choice < 3:
            return source.choice([None, 1, -5, "cpu", "float32", 2.5, True])
        if choice < 5:
            return [build(level - 1) for _ in range(source.randrange(3))]
        return {
            source.choice([*kinds, "dtype", "shape", "blob"]): build(level - 1) for _ in range(source.choice([1, 3]))
        }

    refused = 0
    for _ in range(2000):
        try:
            Reader([b"\x00" * 4], DEPTH).read(build(5))
        except ValueNotPlainError:
            refused += 1
    assert 0 < refused < 2000


def test_a_frame_is_whole_or_not_there():
    """A frame that comes in pieces is given out once, when it is whole."""
    data = Frame({"a": 1}, [b"xyz"]).to_bytes()
    reader = FrameReader(1000)
    given = [reader.feed(data[n : n + 1]) for n in range(len(data))]

    assert given[:-1] == [None] * (len(data) - 1)
    assert given[-1] == Frame({"a": 1}, [b"xyz"])


def test_two_frames_at_once():
    """Two frames that arrive together are two frames."""
    reader = FrameReader(1000)
    first = reader.feed(Frame({"a": 1}).to_bytes() + Frame({"b": 2}).to_bytes())

    assert (first.content, reader.feed(b"").content) == ({"a": 1}, {"b": 2})


def test_a_large_frame_is_refused_before_it_is_read():
    """The announced size is enough to refuse a frame."""
    with pytest.raises(TooLongError, match="at most 100"):
        FrameReader(100).feed(b"\x00\x00\xff\xff\x00\x00\x00\x00")


@pytest.mark.parametrize(
    "text", [b"spam", b"[]", b"{}", b'{"blobs": 3}', b'{"blobs": [5]}', b'{"blobs": [-1, 1]}', b"[" * 5000, b"\xff\xfe"]
)
def test_bytes_that_are_no_frame_are_refused(text):
    """Bytes that are no frame are refused in one way."""
    with pytest.raises(MalformedFrameError):
        FrameReader(10_000).feed(len(text).to_bytes(4, "big") + bytes(4) + text)


class Given(nn.Module):
    """A module that a given cell defines."""

    def __init__(self):
        super().__init__()
        self.inner, self.factor = nn.Linear(2, 3), 2.0
        self.register_buffer("offset", torch.ones(3))

    def forward(self, x):
        """Compute."""
        return self.inner(x) * self.factor + self.offset


def describe(value, given=None):
    """Send an argument over, both sides having `given`."""
    names, callbacks = given or {}, []
    writer = DescribingWriter(DEPTH, names, callbacks)
    frame = FrameReader(10**6).feed(Frame({"value": writer.write(value)}, writer.blobs).to_bytes())

    def call_back(place, arguments, named):
        return callbacks[place](*arguments, **named)

    reader = DescribedReader(frame.blobs, DEPTH, namespace=names, kept=[], call_back=call_back)
    return reader.read(frame.content["value"])


def test_modules_arrive_as_modules():
    """A module of torch, and one that a given cell defines, arrives with its parameters and computes the same."""
    x = torch.rand(4, 2)
    model = nn.Sequential(Given(), nn.BatchNorm1d(3), nn.Sequential(nn.ReLU(), nn.Dropout())).eval()
    arrived = describe(model, {"Given": Given})

    assert torch.equal(arrived(x), model(x))
    assert [name for name, _ in arrived.named_parameters()] == [name for name, _ in model.named_parameters()]


@pytest.mark.parametrize("function", [torch.sin, nn.functional.relu, math.sqrt, max, nn.ReLU, torch.linalg.norm])
def test_importable_functions_arrive_as_themselves(function):
    """A function or class that both sides can import is the same over there."""
    assert describe(function) is function


def test_other_functions_are_called_back():
    """A function that only the checks have is called here, with the values from there."""
    seen = []
    arrived = describe(lambda x, *, y: seen.append((x, y)) or x + y)

    assert arrived(1, y=2) == 3
    assert seen == [(1, 2)]


def test_strides_arrive():
    """A transposed argument arrives transposed, with the same numbers."""
    x = torch.arange(6.0).reshape(2, 3).t()
    arrived = describe(x)

    assert arrived.stride() == x.stride()
    assert torch.equal(arrived, x)


def test_generators_arrive_in_their_state():
    """A random generator goes on over there where it stood here."""
    generator = torch.Generator().manual_seed(5)
    torch.rand(3, generator=generator)
    arrived = describe(generator)

    assert torch.equal(torch.rand(2, generator=arrived), torch.rand(2, generator=generator))


def test_the_students_own_functions_go_by_name():
    """A stand-in for a student's function is that function over there."""
    assert describe(NamedInStudentProcess("add"), {"add": max}) is max


def test_what_cannot_be_described_is_an_error_of_the_exercise():
    """An object of an unknown class says what to do."""

    class Local:
        pass

    with pytest.raises(ValueNotPlainError, match="given cell"):
        describe(Local())
