"""Models as people run them on Macs: no false alarm, and each known gap found (torch 2.14)."""

import warnings

import pytest
import torch
from support.mac_models import GAPS, MODELS

from course_utils.auditing import audit


def _audit(name):
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what torch says about jit and RNNs of one layer
        model, inputs, *loss = MODELS[name]()
        return audit(model, inputs, loss=loss[0] if loss else None, optimizer=torch.optim.AdamW, release="2.14.1")


def test_there_are_enough_models():
    """Sixty without a gap, and each gap belongs to a model."""
    assert len(MODELS.keys() - GAPS.keys()) >= 60
    assert GAPS.keys() <= MODELS.keys()


@pytest.mark.parametrize("name", sorted(MODELS.keys() - GAPS.keys()))
def test_no_false_alarm(name):
    """A model that runs on MPS is clean, through all phases of a training step."""
    found = _audit(name)
    assert found.clean, found
    assert found.phases[-1] == "optimizer", found


@pytest.mark.parametrize("name", sorted(GAPS))
def test_each_gap_is_found(name):
    """A model with a known gap is told that gap and no other."""
    found = _audit(name)
    assert found.findings, found
    for part in GAPS[name]:
        assert any(part in finding.name for finding in found.findings), found
    for finding in found.findings:
        assert any(part in finding.name for part in GAPS[name]), found
