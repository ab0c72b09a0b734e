"""A small real data set that comes with the course: 1797 handwritten digits of 8x8 pixels, already split.

The test part of "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, 1998, UCI Machine Learning
Repository, CC BY 4.0); licence and citation are in course_utils/data/digits_licence.txt.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from importlib import resources

import torch

TRAIN_IMAGES = 1437  # the first four fifths of the file; the last 360 images are for testing
SIDE = 8
WHITEST, BLACKEST = 0, 16


@dataclass(frozen=True, repr=False)
class Digits:
    """Images and labels on the CPU, as they are in the file.

    Args:
        train_images: (1437, 8, 8), uint8, from 0 (white) to 16 (black).
        train_labels: (1437,), int64, the digit from 0 to 9.
        test_images: (360, 8, 8), uint8.
        test_labels: (360,), int64.
    """

    train_images: torch.Tensor
    train_labels: torch.Tensor
    test_images: torch.Tensor
    test_labels: torch.Tensor

    def __str__(self) -> str:
        return (
            f"handwritten digits, {SIDE}x{SIDE}, uint8 {WHITEST}..{BLACKEST}: {len(self.train_images)} to train with, "
            f"{len(self.test_images)} to test with (UCI, CC BY 4.0)"
        )

    def __repr__(self) -> str:
        return str(self)


def load_digits() -> Digits:
    """Return the digits, in the file's order: the first 1437 are for training, the last 360 for testing.

    Nothing is shuffled, so that everybody has the same split. People wrote several digits each, and the file does not
    say who wrote which: a few of the writers may be in both parts.

    Returns:
        New tensors with each call, on the CPU.
    """
    packed = (resources.files("course_utils.data") / "digits.csv.gz").read_bytes()
    rows = [[int(value) for value in line.split(b",")] for line in gzip.decompress(packed).splitlines()]
    table = torch.tensor(rows, dtype=torch.uint8)
    images, labels = table[:, :-1].reshape(-1, SIDE, SIDE).contiguous(), table[:, -1].long()
    return Digits(
        train_images=images[:TRAIN_IMAGES].clone(),
        train_labels=labels[:TRAIN_IMAGES].clone(),
        test_images=images[TRAIN_IMAGES:].clone(),
        test_labels=labels[TRAIN_IMAGES:].clone(),
    )
