"""Counting from above, as on a Mac, equals the emulated device's own book: over training scripts and workloads."""

import contextlib
import io
import warnings

import pytest
import torch
from support.rehearsal import differences
from support.training_scripts import SCRIPTS

from course_utils import load_workload
from course_utils.emulation import counted_mps, emulated_mps

# name -> size at which the same operators run sooner; bert_base has distilbert's operators, twice
WORKLOADS = {"mobilenet_v3": 64, "vit_tiny": None, "resnet18": 64, "resnet50": 64, "distilbert": 8, "matmul": 16}


def books(function):
    """Run a function of the device under both counts; return the two ledgers."""
    torch.manual_seed(0)
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        emulated_mps(fallback=True) as mps,
        counted_mps(over_emulation=True) as counted,
    ):
        warnings.simplefilter("ignore")
        function(mps.device)
        return counted.ledger(), mps.ledger()


def test_there_are_thirty_scripts():
    """The proof is over at least 30 training scripts."""
    assert len(SCRIPTS) >= 30


@pytest.mark.parametrize("name", SCRIPTS)
def test_training_script(name):
    """Copies, waits and fallbacks are equal entry by entry; so are the operators that queue a kernel."""
    above, inside = books(SCRIPTS[name])

    assert above.launches > 0
    assert differences(above, inside) == []


@pytest.mark.parametrize("mode", ["forward", "train"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_workload(name, mode):
    """The models that lessons measure, moved to the device, and their steps."""
    if (name, mode) == ("matmul", "train"):
        pytest.skip("a matrix product has no training step")
    options = {} if WORKLOADS[name] is None else {"size": WORKLOADS[name]}
    work = load_workload(name, mode, **options)

    def run(device):
        function, inputs = work.on(device)
        function(*inputs)

    above, inside = books(run)

    assert len(above.copies) > 0
    assert differences(above, inside) == []


# a number beside a tensor; composite operators hand it on in the place of a tensor
WITH_NUMBERS = {
    "%": lambda i, x: (i % 2, x % 1.5, 7 % (i + 1)),
    "remainder and fmod": lambda i, x: (x.remainder(2), x.fmod(2), i.clone().remainder_(2)),
    "bits": lambda i, x: (i & 1, i | 2, i ^ 3, i << 1, i >> 1, 1 << i, ~i),
    "quotients": lambda i, x: (i // 2, x / 3, 2 / (x + 1), torch.div(x, 2, rounding_mode="trunc")),
    "powers": lambda i, x: (i**2, 2**x, x**0.5),
    "comparisons": lambda i, x: (i == 1, x < 2, x <= 1, torch.isin(i, 2)),
    "signs and logarithms": lambda i, x: (x.copysign(-1.0), torch.xlogy(x, 2.0), torch.special.xlog1py(x, 2.0)),
    "choices": lambda i, x: (torch.where(x > 1, x, 0.0), x.clamp(min=1), x.masked_fill(x > 1, 0.5), x.lerp(x + 1, 0.5)),
}


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_numbers_beside_tensors(name):
    """Operators of a tensor and a number give the CPU's results under both counts, and both counts are equal."""
    results = []

    def run(device):
        i, x = torch.arange(4), torch.arange(4.0)
        results.extend(value.cpu() for value in WITH_NUMBERS[name](i.to(device), x.to(device)))

    above, inside = books(run)

    assert above.launches > 0
    assert differences(above, inside) == []
    torch.testing.assert_close(results, list(WITH_NUMBERS[name](torch.arange(4), torch.arange(4.0))))
