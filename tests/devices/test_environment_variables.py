"""Variables are read as torch's C++ reads them, and everybody who asks gets the same answer."""

import ctypes
import errno
import math
import random

from support.described_machines import MAC, with_variables
from support.found import found

from course_utils.devices import torch_start
from course_utils.devices.environment_variables import (
    FALLBACK,
    HIGH_WATERMARK,
    LARGEST_RATIO,
    LOW_WATERMARK,
    fallback_is_on,
    stoi,
    strtod,
    watermark_ratio,
)
from course_utils.doctor import diagnose
from course_utils.emulation.context import choose_policy
from course_utils.memory.budget import describe_budget

libc = ctypes.CDLL(None, use_errno=True)
libc.strtod.restype, libc.strtod.argtypes = ctypes.c_double, [ctypes.c_char_p, ctypes.c_void_p]
libc.strtol.restype = ctypes.c_long
libc.strtol.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_int]

WORDS = """
1 0 0.0 -0 1.7 2 1.5x 0x1 0X1p-1 0x 0x.8 0x1.8p3z 0xg off on true yes half none inf -inf infinity INFINITYx nan -nan
nan(1) nano .5 5. . -.5e1 1e 1e+ 1e400 -1e400 1e-400 0x1p9999 1,5 1_000 +1 +-1 --1 1.5.2 2147483647 2147483648
-2147483648 -2147483649 99999999999999999999 00000000000000000001 1e1 ٣ 0b1 1f 2.0000001
"""
TEXTS = (*WORDS.split(), "", " ", " 1", "\t2", "\n1.5 ", "1 2", "\v1", "\xa01", "9" * 400)


def libc_stoi(text):
    """Return what std::stoi does, which is made of strtol: the number, or None where it throws."""
    ctypes.set_errno(0)
    end = ctypes.c_void_p()
    data = ctypes.create_string_buffer(text.encode())
    number = libc.strtol(ctypes.cast(data, ctypes.c_char_p), ctypes.byref(end), 10)
    nothing = end.value == ctypes.addressof(data)
    return None if nothing or ctypes.get_errno() == errno.ERANGE or not -(2**31) <= number < 2**31 else number


def random_texts():
    """Draw short texts of the signs that numbers are made of."""
    chance = random.Random(20261201)
    return ["".join(chance.choices("0123456789.xXeEpPinfa+-, ", k=chance.randint(1, 9))) for _ in range(3000)]


def test_strtod_is_the_c_librarys():
    """Each text gives the number that this machine's own strtod gives."""
    for text in (*TEXTS, *random_texts()):
        ours, theirs = strtod(text), libc.strtod(text.encode(), None)
        assert ours == theirs or (math.isnan(ours) and math.isnan(theirs)), text


def test_stoi_is_the_c_librarys():
    """Each text gives the integer that std::stoi gives, or the error that it throws."""
    for text in (*TEXTS, *random_texts()):
        try:
            ours = stoi(text)
        except ValueError:
            ours = None
        assert ours == libc_stoi(text), text


def test_doctor_emulation_and_reader_agree_on_the_fallback(monkeypatch):
    """The emulation's policy, the doctor's findings and the reader tell the same about one value."""
    for text in found(TEXTS):
        try:
            expected = "fallback" if fallback_is_on({FALLBACK: text}) else "raise"
        except ValueError:
            expected = "abort"
        record = torch_start.StartRecord({FALLBACK: text}, {}, None)
        monkeypatch.setattr(torch_start, "start_record", lambda record=record: record)
        try:
            emulated = choose_policy(None, None, torch_start.fallback_at_load)
        except ValueError:
            emulated = "abort"
        codes = {finding.code for finding in diagnose(with_variables(MAC, **{FALLBACK: text}))}
        told = "abort" if "fallback-not-a-number" in codes else "fallback" if "fallback-on" in codes else "raise"

        assert (emulated, told) == (expected, expected), text


def test_doctor_and_memory_agree_on_the_high_watermark():
    """The memory budget's hard limit and the doctor's findings follow from the same number."""
    for text in found(TEXTS):
        ratio = watermark_ratio(HIGH_WATERMARK, {HIGH_WATERMARK: text})
        budget = describe_budget("M4", 16, environ={HIGH_WATERMARK: text, LOW_WATERMARK: "0"})
        machine = with_variables(MAC, **{HIGH_WATERMARK: text, LOW_WATERMARK: "0"})
        codes = {finding.code for finding in diagnose(machine)}

        assert ratio.accepted == (0 <= strtod(text) <= LARGEST_RATIO), text
        assert ("watermark-invalid" in codes) == (not ratio.accepted), text
        assert ("watermark-zero" in codes) == (budget.hard_limit_bytes is None), text
        if ratio.accepted and ratio.value > 0:
            assert budget.hard_limit_bytes == int(ratio.value * budget.recommended_bytes), text
        odd = codes & {"watermark-invalid", "watermark-zero", "watermark-misread"}
        assert bool(budget.warnings) == bool(odd), text


def test_unset_is_the_default():
    """Without the variables there is no fallback, and torch's own factors hold."""
    assert fallback_is_on({}) is False
    assert [watermark_ratio(name, {}).value for name in (HIGH_WATERMARK, LOW_WATERMARK)] == [1.7, 1.4]
