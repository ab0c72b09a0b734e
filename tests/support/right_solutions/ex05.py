"""Right solutions of exercise 05 in other people's styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex05-task1": {
        "walking up, and forgetting": """
def read_sweep(batches, cpu_s, gpu_s):
    answer = {"images_per_s": [], "wins_from": None, "best_batch": None}
    for i in range(len(batches)):
        answer["images_per_s"].append(batches[i] / gpu_s[i])
        if gpu_s[i] >= cpu_s[i]:
            answer["wins_from"] = None
        elif answer["wins_from"] is None:
            answer["wins_from"] = batches[i]
    best = max(answer["images_per_s"])
    for batch, rate in zip(batches, answer["images_per_s"]):
        if rate >= best * 0.95:
            answer["best_batch"] = batch
            break
    return answer
""",
        "NumPy": """
import numpy as np
def read_sweep(batches, cpu_s, gpu_s):
    b, c, g = map(np.array, (batches, cpu_s, gpu_s))
    rates = b / g
    losing = np.flatnonzero(g >= c)
    start = losing[-1] + 1 if losing.size else 0
    return {
        "images_per_s": rates.tolist(),
        "wins_from": b[start] if start < len(b) else None,
        "best_batch": b[np.argmax(rates >= 0.95 * rates.max())],
    }
""",
        "all of the rest": """
def read_sweep(batches, cpu_s, gpu_s):
    n = len(batches)
    wins = [g < c for c, g in zip(cpu_s, gpu_s)]
    rates = tuple(b / s for b, s in zip(batches, gpu_s))
    return dict(
        images_per_s=rates,
        wins_from=next((batches[i] for i in range(n) if all(wins[i:])), None),
        best_batch=min(b for b, r in zip(batches, rates) if r / max(rates) >= 0.95),
    )
""",
        "takewhile": """
from itertools import takewhile
def read_sweep(batches, cpu_s, gpu_s):
    rows = list(zip(batches, cpu_s, gpu_s))
    rates = list(map(lambda row: row[0] / row[2], rows))
    wins = list(takewhile(lambda row: row[2] < row[1], rows[::-1]))
    best = [row[0] for row, rate in zip(rows, rates) if rate >= max(rates) * 0.95][0]
    return {"images_per_s": rates, "wins_from": wins[-1][0] if wins else None, "best_batch": best}
""",
        "an OrderedDict and while": """
from collections import OrderedDict
def read_sweep(batches, cpu_s, gpu_s):
    result = OrderedDict()
    result["images_per_s"] = [float(b) / s for b, s in zip(batches, gpu_s)]
    i = len(batches)
    while i > 0 and gpu_s[i - 1] < cpu_s[i - 1]:
        i -= 1
    result["wins_from"] = None if i == len(batches) else batches[i]
    j = 0
    while result["images_per_s"][j] < 0.95 * max(result["images_per_s"]):
        j += 1
    result["best_batch"] = batches[j]
    return result
""",
    },
    "ex05-task2": {
        "NumPy": """
import numpy as np
def verdict(cpu_s, gpu_s):
    c, g = np.array(cpu_s)[1:], np.array(gpu_s)[1:]
    cq, gq = np.percentile(c, [25, 75]), np.percentile(g, [25, 75])
    word = "no difference found"
    if gq[1] < cq[0]:
        word = "gpu faster"
    if cq[1] < gq[0]:
        word = "cpu faster"
    return {"speedup": np.median(c) / np.median(g), "verdict": word}
""",
        "overlap first": """
def verdict(cpu_s, gpu_s):
    def quartiles(readings):
        return statistics.quantiles(readings[1:], n=4, method="inclusive")
    (c1, c2, c3), (g1, g2, g3) = quartiles(cpu_s), quartiles(gpu_s)
    if max(c1, g1) <= min(c3, g3):
        return {"speedup": c2 / g2, "verdict": "no difference found"}
    return {"speedup": c2 / g2, "verdict": "gpu faster" if g2 < c2 else "cpu faster"}
""",
        "unpacked": """
def verdict(cpu_s, gpu_s):
    _, *cpu = cpu_s
    _, *gpu = gpu_s
    speedup = statistics.median(cpu) / statistics.median(gpu)
    cpu_low, _, cpu_high = statistics.quantiles(cpu, n=4, method="inclusive")
    gpu_low, _, gpu_high = statistics.quantiles(gpu, n=4, method="inclusive")
    apart = gpu_high < cpu_low or cpu_high < gpu_low
    winner = ["cpu", "gpu"][speedup > 1]
    return {"speedup": speedup, "verdict": f"{winner} faster" if apart else "no difference found"}
""",
        "torch": """
def verdict(cpu_s, gpu_s):
    q = torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64)
    c = torch.tensor(cpu_s[1:], dtype=torch.float64).quantile(q)
    g = torch.tensor(gpu_s[1:], dtype=torch.float64).quantile(q)
    if (g[2] < c[0]).item():
        verdict = "gpu faster"
    elif (c[2] < g[0]).item():
        verdict = "cpu faster"
    else:
        verdict = "no difference found"
    return {"speedup": (c[1] / g[1]).item(), "verdict": verdict}
""",
        "by hand, in a class": """
class Readings:
    def __init__(self, times):
        self.times = sorted(times[1:])

    def at(self, share):
        place = share * (len(self.times) - 1)
        low = int(place)
        above = self.times[min(low + 1, len(self.times) - 1)]
        return self.times[low] + (above - self.times[low]) * (place - low)

    def __lt__(self, other):
        return self.at(0.75) < other.at(0.25)


def verdict(cpu_s, gpu_s):
    cpu, gpu = Readings(cpu_s), Readings(gpu_s)
    found = {(True, False): "gpu faster", (False, True): "cpu faster"}.get(
        (gpu < cpu, cpu < gpu), "no difference found"
    )
    return dict(verdict=found, speedup=cpu.at(0.5) / gpu.at(0.5))
""",
    },
    "ex05-task3": {
        "inference mode, and try": """
def evaluate(model, batches, device):
    was = model.training
    model.eval()
    try:
        with torch.inference_mode():
            total = torch.zeros(2, device=device)
            n = 0
            for x, y in batches:
                x, y = x.to(device), y.to(device)
                out = model(x)
                total[0] += nn.functional.cross_entropy(out, y, reduction="sum")
                total[1] += (out.argmax(1) == y).sum()
                n += x.shape[0]
            loss, accuracy = (total / n).tolist()
    finally:
        model.train(was)
    return {"loss": loss, "accuracy": accuracy}
""",
        "all logits together": """
@torch.no_grad()
def evaluate(model, batches, device):
    training = model.training
    model.eval()
    logits = torch.cat([model(x.to(device)) for x, _ in batches])
    targets = torch.cat([y.to(device) for _, y in batches])
    if training:
        model.train()
    loss = nn.functional.cross_entropy(logits, targets)
    accuracy = (logits.argmax(dim=-1) == targets).float().mean()
    values = torch.stack([loss, accuracy]).cpu()
    return {"loss": values[0].item(), "accuracy": values[1].item()}
""",
        "weighted means": """
def evaluate(model, batches, device):
    mode = model.training
    model.train(False)
    losses, hits, sizes = [], [], []
    with torch.no_grad():
        for x, y in batches:
            y = y.to(device)
            output = model(x.to(device))
            losses.append(nn.functional.cross_entropy(output, y) * len(x))
            hits.append(torch.sum(output.max(dim=1).indices == y))
            sizes.append(len(x))
    model.train(mode)
    both = torch.stack([torch.stack(losses).sum(), torch.stack(hits).sum().float()])
    numbers = both.cpu().numpy() / sum(sizes)
    return {"loss": float(numbers[0]), "accuracy": float(numbers[1])}
""",
        "grad mode given back by hand": """
def evaluate(model, batches, device):
    was_training, was_enabled = model.training, torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    model.eval()
    criterion = nn.CrossEntropyLoss(reduction="sum")
    loss_sum = correct = 0
    count = 0
    for batch in batches:
        x, y = [tensor.to(device) for tensor in batch]
        prediction = model(x)
        loss_sum = loss_sum + criterion(prediction, y)
        correct = correct + torch.eq(prediction.argmax(1), y).sum()
        count += y.numel()
    torch.set_grad_enabled(was_enabled)
    model.train(was_training)
    a, b = torch.stack((loss_sum, correct.float())).tolist()
    return dict(loss=a / count, accuracy=b / count)
""",
        "a context manager": """
from contextlib import contextmanager
@contextmanager
def evaluating(model):
    training = model.training
    with torch.no_grad():
        yield model.eval()
    model.train(training)
def evaluate(model, batches, device):
    with evaluating(model):
        sums = sum(batch_sums(model, x.to(device), y.to(device)) for x, y in batches)
    loss, accuracy = (sums / sum(len(y) for _, y in batches)).tolist()
    return {"accuracy": accuracy, "loss": loss}
def batch_sums(model, x, y):
    scores = model(x)
    loss = nn.functional.nll_loss(scores.log_softmax(dim=1), y, reduction="sum")
    return torch.stack([loss, (scores.argmax(dim=1) == y).sum()])
""",
    },
    "ex05-task4": {
        "cdist": """
def nearest(images, prototypes):
    return torch.cdist(images, prototypes).argmin(dim=1)
""",
        "the binomial": """
def nearest(images, prototypes):
    return (prototypes.square().sum(dim=1) - 2 * images @ prototypes.T).argmin(dim=1)
""",
        "norms of differences": """
def nearest(images, prototypes):
    gap = images.unsqueeze(1) - prototypes.unsqueeze(0)
    return torch.linalg.vector_norm(gap, dim=-1).min(dim=-1).indices
""",
        "vmap": """
def nearest(images, prototypes):
    def one(image):
        return ((image - prototypes) ** 2).sum(dim=1).argmin()
    return torch.vmap(one)(images)
""",
        "sorted": """
def nearest(images, prototypes):
    n, m = len(images), len(prototypes)
    distances = (images.reshape(n, 1, -1) - prototypes.reshape(1, m, -1)).pow(2).mean(-1)
    return torch.argsort(distances, dim=1)[:, 0]
""",
        "topk": """
def nearest(images, prototypes):
    gap = images[:, None, :].expand(-1, prototypes.shape[0], -1) - prototypes
    return torch.topk(torch.einsum("ijk,ijk->ij", gap, gap), 1, dim=1, largest=False).indices.squeeze(1)
""",
        "the greatest score": """
def nearest(images, prototypes):
    with torch.no_grad():
        a2 = (images * images).sum(1, keepdim=True)
        b2 = (prototypes * prototypes).sum(1)
        scores = -(a2 + b2 - 2 * torch.mm(images, prototypes.t()))
        return torch.argmax(scores, dim=1)
""",
    },
}
