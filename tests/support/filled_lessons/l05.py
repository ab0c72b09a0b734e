"""Lesson 05, filled in as a reader would: what is right, and what plausible readers get wrong."""

SHORTER = {"l05-batches-run": ("[1, 2, 4, 8, 16]", "[1, 2, 4]")}

_TRAIN = """
def train(model, images, labels, device, epochs=2, batch=128):
    model.to(device)
    images, labels = images.to(device), labels.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(epochs):
        for first in range(0, len(images), batch):
            x, y = images[first : first + batch], labels[first : first + batch]
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append({kept})
    return {result}
"""

FILLED = {
    "l05-predict1": "from course_utils import compare_prediction, predict\n\n"
    'predict("pictures in a second, 16 at a time over one by one", 3, "times as many")',
    "l05-predict2": 'predict("kernels in a forward pass of ResNet-18", 60)',
    "l05-predict3": 'predict("reads in an epoch of 12 steps", 24)',
    "l05-turn1": """
def enough(batches, rates):
    for batch, rate in zip(batches, rates):
        if rate >= 0.9 * max(rates):
            return batch
""",
    "l05-turn2": "def keep_best(best, loss):\n    return torch.minimum(best, loss.detach())",
    "l05-turn3": _TRAIN.format(kept="loss.detach()", result="torch.stack(losses).tolist()"),
}

WRONG = {
    "l05-turn1": [
        "def enough(batches, rates):\n    return batches[rates.index(max(rates))]",
        "def enough(batches, rates):\n    return next(b for b, r in zip(batches, rates) if r > 0.9)",
        "def enough(batches, rates):\n"
        "    last = [b for b, r in zip(batches, rates) if r < 0.9 * max(rates)]\n"
        "    return batches[batches.index(last[-1]) + 1] if last else batches[0]",
        "def enough(batches, rates):\n    return next(r for r in rates if r >= 0.9 * max(rates))",
    ],
    "l05-turn2": [
        "def keep_best(best, loss):\n    return torch.minimum(best, loss)",
        "def keep_best(best, loss):\n    return torch.tensor(min(best.item(), loss.item()))",
        "def keep_best(best, loss):\n    return min(best, loss).detach()",
        "def keep_best(best, loss):\n    return torch.maximum(best, loss.detach())",
        "def keep_best(best, loss):\n    return torch.minimum(best.cpu(), loss.detach().cpu()).to(best.device)",
    ],
    "l05-turn3": [
        _TRAIN.format(kept="loss.item()", result="losses"),
        _TRAIN.format(kept="loss.detach()", result="[loss.item() for loss in losses]"),
        _TRAIN.format(kept="loss.detach().cpu()", result="torch.stack(losses).tolist()"),
        _TRAIN.format(kept="loss.detach().to('cpu', non_blocking=True)", result="torch.stack(losses).tolist()"),
        _TRAIN.format(kept="loss.detach()", result="torch.stack(losses)"),
        _TRAIN.format(kept="loss.detach()", result="torch.stack(losses).mean().tolist()"),
        _TRAIN.format(kept="float(loss)", result="losses"),
    ],
}
