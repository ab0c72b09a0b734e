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
