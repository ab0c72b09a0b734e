"""Lesson 03, filled in as a reader would: what is right, and what plausible readers get wrong."""

_FIXED = """
class Fixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        {line}

    def forward(self, x):
        return self.layer(x) * {scale}
"""
_RIGHT_LINE = 'self.register_buffer("scale", torch.tensor([1.0, 2.0]))'

_TRAIN = """
def train(model, images, labels, device, epochs=2, batch=128):
    {moves}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(epochs):
        for first in range(0, len(images), batch):
            x, y = images[first : first + batch]{each}, labels[first : first + batch]{each}
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses
"""
_ONCE = "model.to(device); images, labels = images.to(device), labels.to(device)"

FILLED = {
    "l03-predict1": "from course_utils import compare_prediction, predict\n\n"
    'predict("bytes that move with the digits", 400, "kB")',
    "l03-predict2": 'predict("the checkpoint", 80, "kB")',
    "l03-predict3": 'predict("host waits in two epochs", 24)',
    "l03-turn1": _FIXED.format(line=_RIGHT_LINE, scale="self.scale"),
    "l03-turn2": _TRAIN.format(moves=_ONCE, each=""),
    "l03-turn3": """
def start(shape, seed, device):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(device)
""",
}

WRONG = {
    "l03-turn1": [
        _FIXED.format(line="self.scale = nn.Parameter(torch.tensor([1.0, 2.0]))", scale="self.scale"),
        _FIXED.format(line="self.scale = torch.tensor([1.0, 2.0])", scale="self.scale.to(x.device)"),
        _FIXED.format(line=_RIGHT_LINE.replace("]))", "]), persistent=False)"), scale="self.scale"),
        _FIXED.format(line=_RIGHT_LINE.replace("[1.0, 2.0]", "2.0"), scale="self.scale"),
    ],
    "l03-turn2": [
        _TRAIN.format(moves="model.to(device)", each=".to(device)"),
        _TRAIN.format(moves="images, labels = images.to(device), labels.to(device)", each=""),
        _TRAIN.format(moves=_ONCE.replace("to(device)", "to(device, non_blocking=True)"), each=""),
        _TRAIN.format(moves=_ONCE.replace("(device)", "('mps')"), each=""),
        _TRAIN.format(moves="pass", each=""),
    ],
    "l03-turn3": [
        "def start(shape, seed, device):\n    torch.manual_seed(seed)\n    return torch.randn(shape).to(device)",
        "def start(shape, seed, device):\n    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))",
        "def start(shape, seed, device):\n"
        "    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)).to(device)",
        "def start(shape, seed, device):\n"
        "    return torch.randn(shape, generator=torch.Generator().manual_seed(7)).to(device)",
    ],
}
