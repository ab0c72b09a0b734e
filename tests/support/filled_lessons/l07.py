"""Lesson 07 as a reader fills it in, and plausible mistakes that its checks have to refuse."""

FILLED = {
    "l07-predict1": """
from course_utils import compare_prediction, predict

predict("operators that MPS cannot run", 9.5, "%")
""",
    "l07-predict2": 'predict("warnings for three missing operators", 3)',
    "l07-predict3": 'predict("copied by one training step", 0.5, "MB")',
    "l07-predict4": 'predict("detours in one epoch", 12, "detours")',
    "l07-turn1": '''
start = """
import os

os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"

import torch
"""
''',
    "l07-turn2": """
@torch.no_grad()
def keep_short(weight, max_norm):
    lengths = weight.norm(dim=1, keepdim=True)
    weight *= (max_norm / lengths).clamp(max=1)
""",
    "l07-turn3": """
def margin_loss(scores, labels):
    right = scores.gather(1, labels[:, None])
    margins = (1 - right + scores).clamp(min=0)
    return (margins.sum(dim=1) - 1).mean() / scores.shape[1]
""",
}

WRONG = {
    "l07-turn1": [
        # the order is right, the value is a word
        '''
start = """
import os

os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "true"

import torch
"""
''',
        # the value is right, the order is not
        '''
start = """
import torch
import os

os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"
"""
''',
        # another variable
        '''
start = """
import os

os.environ["PYTORCH_MPS_FALLBACK"] = "1"

import torch
"""
''',
    ],
    "l07-turn2": [
        # lengthens short rows too, and makes NaN of a row of zeros
        """
@torch.no_grad()
def keep_short(weight, max_norm):
    weight *= max_norm / weight.norm(dim=1, keepdim=True)
""",
        # over the CPU
        """
@torch.no_grad()
def keep_short(weight, max_norm):
    weight.copy_(torch.renorm(weight.cpu(), 2, 0, max_norm).to(weight.device))
""",
        # returns a new tensor, and leaves the weight as it is
        """
@torch.no_grad()
def keep_short(weight, max_norm):
    return weight * (max_norm / weight.norm(dim=1, keepdim=True)).clamp(max=1)
""",
    ],
    "l07-turn3": [
        # counts the right class
        """
def margin_loss(scores, labels):
    right = scores.gather(1, labels[:, None])
    return (1 - right + scores).clamp(min=0).mean()
""",
        # over the CPU
        """
def margin_loss(scores, labels):
    loss = nn.functional.multi_margin_loss(scores.cpu(), labels.cpu())
    return loss.to(scores.device)
""",
        # no gradient
        """
def margin_loss(scores, labels):
    scores = scores.detach().requires_grad_()
    right = scores.gather(1, labels[:, None])
    return ((1 - right + scores).clamp(min=0).sum(dim=1) - 1).mean() / scores.shape[1]
""",
    ],
}
