"""Pictures in one file. Lesson 14 imports this file, and so does each worker."""

import os
import zlib

import torch
from torch.nn.functional import interpolate

SIDE = 448  # pixels on each side, in the file
SMALL = 32  # pixels on each side, for the model


def write_pictures(path, images):
    """Write images (n, 8, 8) from 0 to 16 to one file, enlarged and compressed.

    Returns:
        The places in the file at which the pictures begin, and the place after the last one.
    """
    starts = [0]
    with open(path, "wb") as file:
        for image in images:
            large = interpolate(image.float()[None, None], size=(SIDE, SIDE), mode="bilinear")
            packed = zlib.compress((large * 15).byte().numpy().tobytes())
            file.write(packed)
            starts.append(starts[-1] + len(packed))
    return starts


class Pictures:
    """A dataset: picture i is read and decoded when it is asked for.

    It opens the file for each picture, and keeps only its name and a few numbers.
    """

    def __init__(self, path, starts, labels):
        self.path = path
        self.starts = starts
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        """Return picture i (1, 32, 32) from 0 to 1, its label, and who decoded it."""
        with open(self.path, "rb") as file:
            file.seek(self.starts[i])
            packed = file.read(self.starts[i + 1] - self.starts[i])
        pixels = torch.frombuffer(bytearray(zlib.decompress(packed)), dtype=torch.uint8)
        large = pixels.view(1, 1, SIDE, SIDE).float() / 255
        small = interpolate(large, size=(SMALL, SMALL), mode="bilinear", antialias=True)[0]
        return small, self.labels[i], os.getpid()
