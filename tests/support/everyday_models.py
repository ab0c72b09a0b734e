"""Ten models as people write them, to compare on devices: pictures of 8x3x64x64 and rows of 4x512."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


class Squeezed(nn.Module):
    """A convolution whose channels are weighed by what they hold on average."""

    def __init__(self):
        super().__init__()
        self.conv, self.down, self.up = nn.Conv2d(3, 12, 3, 2, 1), nn.Linear(12, 4), nn.Linear(4, 12)
        self.last = nn.Conv2d(12, 6, 1)

    def forward(self, x):
        """Return six maps."""
        x = F.relu(self.conv(x))
        weights = torch.sigmoid(self.up(F.relu(self.down(x.mean((2, 3))))))
        return self.last(x * weights[:, :, None, None])


class Dense(nn.Module):
    """Each layer sees all before it."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 7, 4, 3)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, 8, 3, padding=1)) for width in (8, 16, 24)
        )
        self.last = nn.Linear(32, 10)

    def forward(self, x):
        """Return ten scores."""
        x = F.max_pool2d(self.first(x), 2)
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return self.last(x.amax((2, 3)))


class Mixed(nn.Module):
    """Patches, mixed along places and along channels in turn."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 24, 16, 16)
        self.norms = nn.ModuleList(nn.LayerNorm(24) for _ in range(3))
        self.places = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.channels = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 24))
        self.last = nn.Linear(24, 10)

    def forward(self, x):
        """Return ten scores."""
        x = self.patches(x).flatten(2).mT
        x = x + self.places(self.norms[0](x).mT).mT
        x = x + self.channels(self.norms[1](x))
        return self.last(self.norms[2](x).mean(1))


class Shuffled(nn.Module):
    """Grouped convolutions with their channels shuffled between them."""

    def __init__(self):
        super().__init__()
        self.stem, self.one = nn.Conv2d(3, 12, 3, 4, 1), nn.Conv2d(12, 12, 1, groups=3)
        self.deep, self.two = nn.Conv2d(12, 12, 3, 1, 1, groups=12), nn.Conv2d(12, 12, 1, groups=3)
        self.shuffle = nn.ChannelShuffle(3)

    def forward(self, x):
        """Return twelve maps."""
        x = self.stem(x)
        return x + self.two(F.leaky_relu(self.deep(self.shuffle(F.relu6(self.one(x))))))


class Gated(nn.Module):
    """The gated layer of language models, behind an RMSNorm."""

    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(512)
        self.gate, self.up, self.down = (nn.Linear(*s, bias=False) for s in ((512, 96), (512, 96), (96, 512)))

    def forward(self, x):
        """Add what passes the gate."""
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Causal(nn.Module):
    """One head of causal attention over 32 tokens of 16 numbers."""

    def __init__(self):
        super().__init__()
        self.mix, self.norm = nn.Linear(16, 48), nn.LayerNorm(16)

    def forward(self, x):
        """Return 32 tokens."""
        x = x.unflatten(-1, (-1, 16)) if x.dim() == 2 else x
        q, k, v = self.mix(self.norm(x)).unsqueeze(1).chunk(3, -1)
        return x + F.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(1)


class Stepping(nn.Module):
    """A GRU over 16 steps of 32 numbers."""

    def __init__(self):
        super().__init__()
        self.cell, self.last = nn.GRU(32, 24, batch_first=True), nn.Linear(24, 5)

    def forward(self, x):
        """Return five scores of the last state."""
        return self.last(self.cell(x.unflatten(-1, (16, 32)))[1][0])


def plain():
    """Make convolutions and max pools, then a hidden layer, as in a first tutorial."""
    return nn.Sequential(
        *(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(4), nn.Conv2d(6, 12, 5), nn.ReLU(), nn.MaxPool2d(4)),
        *(nn.Flatten(), nn.Linear(48, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 10)),
    )


def compressing():
    """Make an autoencoder of rows."""
    return nn.Sequential(
        nn.Linear(512, 64), nn.ELU(), nn.Linear(64, 12), nn.Linear(12, 80), nn.ELU(), nn.Linear(80, 512)
    )


def table():
    """Make a classifier of rows of a table: batch norm, ReLU, softmax."""
    return nn.Sequential(nn.BatchNorm1d(512), nn.Linear(512, 48), nn.ReLU(), nn.Linear(48, 7), nn.Softmax(-1))


PICTURES = {"plain": plain, "squeezed": Squeezed, "dense": Dense, "mixed": Mixed, "shuffled": Shuffled}
ROWS = {"gated": Gated, "causal": Causal, "stepping": Stepping, "compressing": compressing, "table": table}
