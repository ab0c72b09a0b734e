"""Lesson 06, filled in as a reader would: what is right, and what plausible readers get wrong."""

_TRAIN = """
def train(model, images, labels, device, dtype=torch.float32, epochs=2, batch=128):
    model.to({to})
    images, labels = images.to(device), labels.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler({scaler})
    losses = []
    for _ in range(epochs):
        for first in range(0, len(images), batch):
            x, y = images[first : first + batch], labels[first : first + batch]
            with torch.autocast({cast}):
                loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            {backward}
            {step}
            losses.append(loss.detach())
    return torch.stack(losses).tolist()
"""
_RIGHT = {
    "to": "device",
    "scaler": "device.type, enabled=dtype == torch.float16",
    "cast": "device.type, dtype=dtype, enabled=dtype != torch.float32",
    "backward": "scaler.scale(loss).backward()",
    "step": "scaler.step(optimizer); scaler.update()",
}

FILLED = {
    "l06-predict1": "from course_utils import compare_prediction, predict\n\n"
    'predict("10,000 times 0.001 in bfloat16", 9)',
    "l06-predict2": 'predict("kept for backward, with autocast over without", 0.5, "times as much")',
    "l06-predict3": 'predict("the product, float16 over float32", 2, "times as fast")',
    "l06-turn1": "def length(x):\n    return x.float().square().sum().sqrt()",
    "l06-turn2": "scale = 2.0**16",
    "l06-turn3": _TRAIN.format(**_RIGHT),
}

WRONG = {
    "l06-turn1": [
        "def length(x):\n    return x.square().float().sum().sqrt()",
        "def length(x):\n    return x.norm()",
        "def length(x):\n    return x.norm().float()",
        "def length(x):\n    return x.double().square().sum().sqrt().float()",
        "def length(x):\n    return x.float().square().sum()",
    ],
    "l06-turn2": ["scale = 16.0", "scale = 2.0**6", "scale = 1e12", "scale = 1e-9"],
    "l06-turn3": [
        _TRAIN.format(**_RIGHT | {"to": "device, dtype"}),
        _TRAIN.format(**_RIGHT | {"scaler": "device.type, enabled=False"}),
        _TRAIN.format(**_RIGHT | {"scaler": "device.type, enabled=dtype != torch.float32"}),
        _TRAIN.format(**_RIGHT | {"scaler": "enabled=dtype == torch.float16"}),
        _TRAIN.format(**_RIGHT | {"step": "optimizer.step()"}),
        _TRAIN.format(**_RIGHT | {"step": "scaler.step(optimizer)"}),
        _TRAIN.format(**_RIGHT | {"cast": "'cuda', dtype=dtype"}),
        _TRAIN.format(**_RIGHT | {"cast": "device.type, dtype=torch.float16"}),
        _TRAIN.format(**_RIGHT | {"backward": "loss.backward()", "step": "optimizer.step()"}),
    ],
}
