"""Operators get the names that readers know."""

import pytest
import torch

from course_utils.auditing.public_names import name_of_function, public_name

NAMES = {
    "aten::_linalg_eigvals": "torch.linalg.eigvals",
    "aten::linalg_eig": "torch.linalg.eig",
    "aten::_fft_r2c": "",
    "aten::special_airy_ai": "torch.special.airy_ai",
    "aten::_ctc_loss.Tensor": "torch.ctc_loss",
    "aten::_ctc_loss_backward": "torch.ctc_loss",
    "aten::_pdist_forward": "torch.pdist",
    "aten::adaptive_max_pool3d.out": "torch.nn.functional.adaptive_max_pool3d",
    "aten::logit_": "torch.logit",
    "torchvision::nms": "torchvision",
    "some_library::f": "",
}


@pytest.mark.parametrize("operator", NAMES)
def test_public_name(operator):
    """An operator's name leads to a function of torch that exists, or to none."""
    assert public_name(operator) == NAMES[operator]


def test_name_of_function():
    """A function of torch is named as it is called; anything else has no name."""
    assert name_of_function(torch.linalg.eigvals) == "torch.linalg.eigvals"
    assert name_of_function(torch.Tensor.double) == "torch.Tensor.double"
    assert name_of_function(None) == ""
    assert name_of_function(print) == ""
