"""Lesson 09 as a reader fills it in, and plausible mistakes that its checks have to refuse."""

SHORTER = {"l09-parts-figure": ("(1, 8, 32, 128)", "(1, 8)")}

FILLED = {
    "l09-predict1": """
from course_utils import compare_prediction, predict

predict("fixed part of training 6.7 billion parameters", 50, "GiB")
""",
    "l09-predict2": 'predict("largest comfortable batch on a 16 GB M4", 300, "images")',
    "l09-predict3": 'predict("KV cache of 4096 tokens", 1, "GiB")',
    "l09-turn1": """
environ = {
    "PYTORCH_MPS_HIGH_WATERMARK_RATIO": "1.0",
    "PYTORCH_MPS_LOW_WATERMARK_RATIO": "0.9",
}
""",
    "l09-turn2": "batch, pieces = 256, 4",
    "l09-turn3": """
def sure(scores, labels):
    return scores.detach().softmax(dim=1).gather(1, labels[:, None]).mean()
""",
}

WRONG = {
    "l09-turn1": [
        # no limit at all
        'environ = {"PYTORCH_MPS_HIGH_WATERMARK_RATIO": "0.0"}',
        # the low limit above the high one
        """
environ = {
    "PYTORCH_MPS_HIGH_WATERMARK_RATIO": "1.0",
    "PYTORCH_MPS_LOW_WATERMARK_RATIO": "1.2",
}
""",
        # nothing is set
        "environ = {}",
    ],
    "l09-turn2": [
        "batch, pieces = 256, 1",
        "batch, pieces = 512, 2",
        "batch, pieces = 64, 16",
    ],
    "l09-turn3": [
        # reads in each step
        """
def sure(scores, labels):
    return scores.softmax(dim=1).gather(1, labels[:, None]).mean().item()
""",
        # still on the graph
        """
def sure(scores, labels):
    return scores.softmax(dim=1).gather(1, labels[:, None]).mean().clone()
""",
        # the number is cut off, and the scores are kept
        """
kept_scores = []


def sure(scores, labels):
    kept_scores.append(scores.detach())
    return scores.detach().softmax(dim=1).gather(1, labels[:, None]).mean()
""",
        # another number
        """
def sure(scores, labels):
    return scores.detach().softmax(dim=1).max(dim=1).values.mean() * 0.9
""",
    ],
}
