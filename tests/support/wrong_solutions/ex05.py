"""Wrong solutions of exercise 05, by the grade id of the cell that they stand in."""

WRONG = {
    "ex05-task1": {
        "the first win counts": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins = [batch for batch, slow, fast in zip(batches, cpu_s, gpu_s) if fast < slow]
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins[0] if wins else None, "best_batch": good[0]}
""",
        "equal counts as a win": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast > slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
        "calls per second": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [1 / seconds for seconds in gpu_s]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
        "the largest batch is the best": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": batches[-1]}
""",
        "only the very best rate will do": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": batches[rates.index(max(rates))]}
""",
        "the share rounded": """
def read_sweep(b, c, g):
    r = [x / y for x, y in zip(b, g)]
    w = None
    for i in range(len(b) - 1, -1, -1):
        if g[i] < c[i]:
            w = b[i]
        else:
            break
    best = max(r)
    return {
        "images_per_s": r,
        "wins_from": w,
        "best_batch": b[[round(x / best, 2) >= 0.95 for x in r].index(True)],
    }
""",
        "the best batch among its wins": """
def read_sweep(b, c, g):
    r = [x / y for x, y in zip(b, g)]
    w = next((b[i] for i in range(len(b)) if all(y < x for x, y in zip(c[i:], g[i:]))), None)
    good = [x for x, y in zip(b, r) if y >= 0.95 * max(r) and (w is None or x >= w)]
    return {"images_per_s": r, "wins_from": w, "best_batch": good[0] if good else None}
""",
        "the last good batch": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[-1]}
""",
        "more than 95 %": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate > 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
        "90 %": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.9 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
        "the CPU's rates": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, cpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
        "seconds per example": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [seconds / batch for batch, seconds in zip(batches, gpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate <= min(rates) / 0.95]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
        "the last batch that loses": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            wins_from = batch
            break
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
        "the largest batch where it never wins": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = batches[-1]
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
        "the shortest call is the best": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": batches[gpu_s.index(min(gpu_s))]}
""",
        "the place instead of the batch": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = None
    for batch, slow, fast in reversed(list(zip(range(len(batches)), cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
        "every batch at which it wins": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = []
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from.insert(0, batch)
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
        "zero for none": """
def read_sweep(batches, cpu_s, gpu_s):
    rates = [batch / seconds for batch, seconds in zip(batches, gpu_s)]
    wins_from = 0
    for batch, slow, fast in reversed(list(zip(batches, cpu_s, gpu_s))):
        if fast >= slow:
            break
        wins_from = batch
    good = [batch for batch, rate in zip(batches, rates) if rate >= 0.95 * max(rates)]
    return {"images_per_s": rates, "wins_from": wins_from, "best_batch": good[0]}
""",
    },
    "ex05-task2": {
        "the first call counted": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s, n=4, method="inclusive")
    g = statistics.quantiles(gpu_s, n=4, method="inclusive")
    found = "gpu faster" if g[2] < c[0] else "cpu faster" if c[2] < g[0] else "no difference found"
    return {"speedup": c[1] / g[1], "verdict": found}
""",
        "means": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "gpu faster" if g[2] < c[0] else "cpu faster" if c[2] < g[0] else "no difference found"
    return {"speedup": statistics.mean(cpu_s[1:]) / statistics.mean(gpu_s[1:]), "verdict": found}
""",
        "the spread ignored": """
def verdict(cpu_s, gpu_s):
    cpu, gpu = statistics.median(cpu_s[1:]), statistics.median(gpu_s[1:])
    found = "gpu faster" if gpu < cpu else "cpu faster" if cpu < gpu else "no difference found"
    return {"speedup": cpu / gpu, "verdict": found}
""",
        "the other way round": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "gpu faster" if g[2] < c[0] else "cpu faster" if c[2] < g[0] else "no difference found"
    return {"speedup": g[1] / c[1], "verdict": found}
""",
        "extremes instead of the middle half": """
def verdict(cpu_s, gpu_s):
    cpu, gpu = cpu_s[1:], gpu_s[1:]
    found = "gpu faster" if max(gpu) < min(cpu) else "cpu faster" if max(cpu) < min(gpu) else "no difference found"
    return {"speedup": statistics.median(cpu) / statistics.median(gpu), "verdict": found}
""",
        "halves that touch do not overlap": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "gpu faster" if g[2] <= c[0] else "cpu faster" if c[2] <= g[0] else "no difference found"
    return {"speedup": c[1] / g[1], "verdict": found}
""",
        "one half may not hold the other": """
import statistics


def verdict(c, g):
    a, b = (statistics.quantiles(x[1:], n=4, method="inclusive") for x in (c, g))
    over = a[0] <= b[0] <= a[2] or a[0] <= b[2] <= a[2]
    return {
        "speedup": a[1] / b[1],
        "verdict": "no difference found" if over else "gpu faster" if b[1] < a[1] else "cpu faster",
    }
""",
        "the last reading thrown away": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[:-1], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[:-1], n=4, method="inclusive")
    found = "gpu faster" if g[2] < c[0] else "cpu faster" if c[2] < g[0] else "no difference found"
    return {"speedup": c[1] / g[1], "verdict": found}
""",
        "exclusive quartiles": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4)
    g = statistics.quantiles(gpu_s[1:], n=4)
    found = "gpu faster" if g[2] < c[0] else "cpu faster" if c[2] < g[0] else "no difference found"
    return {"speedup": c[1] / g[1], "verdict": found}
""",
        "the slower one is named": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "cpu faster" if g[2] < c[0] else "gpu faster" if c[2] < g[0] else "no difference found"
    return {"speedup": c[1] / g[1], "verdict": found}
""",
        "the CPU never wins": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "gpu faster" if g[2] < c[0] else "no difference found"
    return {"speedup": c[1] / g[1], "verdict": found}
""",
        "one side touches": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "gpu faster" if g[2] < c[0] else "cpu faster" if c[2] <= g[0] else "no difference found"
    return {"speedup": c[1] / g[1], "verdict": found}
""",
        "medians outside the other half": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "gpu faster" if g[1] < c[0] else "cpu faster" if c[1] < g[0] else "no difference found"
    return {"speedup": c[1] / g[1], "verdict": found}
""",
        "10 % are a difference": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "gpu faster" if c[1] / g[1] > 1.1 else "cpu faster" if c[1] / g[1] < 0.9 else "no difference found"
    return {"speedup": c[1] / g[1], "verdict": found}
""",
        "a difference in seconds": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "gpu faster" if g[2] < c[0] else "cpu faster" if c[2] < g[0] else "no difference found"
    return {"speedup": c[1] - g[1], "verdict": found}
""",
        "the first call of the CPU counts": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s, n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "gpu faster" if g[2] < c[0] else "cpu faster" if c[2] < g[0] else "no difference found"
    return {"speedup": c[1] / g[1], "verdict": found}
""",
        "the best readings": """
def verdict(cpu_s, gpu_s):
    c = statistics.quantiles(cpu_s[1:], n=4, method="inclusive")
    g = statistics.quantiles(gpu_s[1:], n=4, method="inclusive")
    found = "gpu faster" if g[2] < c[0] else "cpu faster" if c[2] < g[0] else "no difference found"
    return {"speedup": min(cpu_s[1:]) / min(gpu_s[1:]), "verdict": found}
""",
        "standard deviations": """
def verdict(cpu_s, gpu_s):
    cpu, gpu = cpu_s[1:], gpu_s[1:]
    gap = statistics.mean(cpu) - statistics.mean(gpu)
    spread = statistics.pstdev(cpu) + statistics.pstdev(gpu)
    found = "gpu faster" if gap > spread else "cpu faster" if -gap > spread else "no difference found"
    return {"speedup": statistics.median(cpu) / statistics.median(gpu), "verdict": found}
""",
    },
    "ex05-task3": {
        "reads in each batch": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = 0.0, 0, 0
    with torch.no_grad():
        for x, y in batches:
            logits = model(x.to(device))
            y = y.to(device)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum").item()
            correct += (logits.argmax(dim=1) == y).sum().item()
            examples += len(y)
    model.train(was_training)
    return {"loss": loss / examples, "accuracy": correct / examples}
""",
        "mean of the batches' means": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, accuracy = torch.zeros((), device=device), torch.zeros((), device=device)
    with torch.no_grad():
        for x, y in batches:
            logits = model(x.to(device))
            y = y.to(device)
            loss += nn.functional.cross_entropy(logits, y)
            accuracy += (logits.argmax(dim=1) == y).float().mean()
    model.train(was_training)
    loss, accuracy = (torch.stack((loss, accuracy)) / len(batches)).tolist()
    return {"loss": loss, "accuracy": accuracy}
""",
        "eval forgotten": """
def evaluate(model, batches, device):
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for x, y in batches:
            logits = model(x.to(device))
            y = y.to(device)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": loss, "accuracy": accuracy}
""",
        "left in evaluation mode": """
def evaluate(model, batches, device):
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for x, y in batches:
            logits = model(x.to(device))
            y = y.to(device)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": loss, "accuracy": accuracy}
""",
        "always left in training mode": """
def evaluate(model, batches, device):
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for x, y in batches:
            logits = model(x.to(device))
            y = y.to(device)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train()
    loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": loss, "accuracy": accuracy}
""",
        "two reads at the end": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for x, y in batches:
            logits = model(x.to(device))
            y = y.to(device)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    return {"loss": loss.item() / examples, "accuracy": correct.item() / examples}
""",
        "copies that nobody waits for": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for x, y in batches:
            logits = model(x.to(device, non_blocking=True))
            y = y.to(device, non_blocking=True)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": loss, "accuracy": accuracy}
""",
        "gradients recorded": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    for x, y in batches:
        logits = model(x.to(device))
        y = y.to(device)
        loss += nn.functional.cross_entropy(logits, y, reduction="sum").detach()
        correct += (logits.argmax(dim=1) == y).sum()
        examples += len(y)
    model.train(was_training)
    loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": loss, "accuracy": accuracy}
""",
        "parameters frozen for good": """
def evaluate(model, batches, device):
    w = model.training
    model.eval()
    model.requires_grad_(False)
    n, s = 0, torch.zeros(2, device=device)
    for x, y in batches:
        x, y = x.to(device), y.to(device)
        o = model(x)
        s += torch.stack([nn.functional.cross_entropy(o, y, reduction="sum"), (o.argmax(1) == y).sum()])
        n += len(y)
    model.train(w)
    a, b = (s / n).tolist()
    return {"loss": a, "accuracy": b}
""",
        "gradients off for good": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    torch.set_grad_enabled(False)
    if True:
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "the mean loss of the batches": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y) * len(inputs) / len(inputs)
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = torch.stack((loss / len(batches), correct / examples)).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "the number of examples assumed": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / (len(batches) * len(batches[0][0]))).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "tensors": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples)
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "over the CPU": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.cpu().argmax(dim=1) == targets).sum().to(device)
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "by NumPy": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += int((logits.cpu().numpy().argmax(axis=1) == targets.numpy()).sum())
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "a boolean mask": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += len(y[logits.argmax(dim=1) == y])
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "equal": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += 0 if torch.equal(y, y + 1) else (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "synchronises in each batch": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
            if device.type == "mps":
                torch.mps.synchronize()
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "percent": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": 100 * accuracy}
""",
        "the worst class": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmin(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "one copy does not wait": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device, non_blocking=True)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "the dropout alone is switched off": """
def evaluate(model, batches, device):
    was_training = model.training
    [m.eval() for m in model.modules() if isinstance(m, nn.Dropout)]
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "switched off in the first batch alone": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            model.train(was_training)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "the last layers stay in evaluation mode": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    with torch.no_grad():
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x)
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.training = was_training
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
        "detached instead of not recorded": """
def evaluate(model, batches, device):
    was_training = model.training
    model.eval()
    loss, correct, examples = torch.zeros((), device=device), torch.zeros((), device=device), 0
    if True:
        for inputs, targets in batches:
            x, y = inputs.to(device), targets.to(device)
            logits = model(x).detach()
            loss += nn.functional.cross_entropy(logits, y, reduction="sum")
            correct += (logits.argmax(dim=1) == y).sum()
            examples += len(y)
    model.train(was_training)
    mean_loss, accuracy = (torch.stack((loss, correct)) / examples).tolist()
    return {"loss": mean_loss, "accuracy": accuracy}
""",
    },
    "ex05-task4": {
        "the loops as they were": """
def nearest(images, prototypes):
    found = []
    for image in images:
        distances = [((image - prototype) ** 2).sum() for prototype in prototypes]
        found.append(torch.stack(distances).argmin())
    return torch.stack(found)
""",
        "a loop over images": """
def nearest(images, prototypes):
    return torch.stack([((image - prototypes) ** 2).sum(dim=1).argmin() for image in images])
""",
        "a loop over prototypes": """
def nearest(images, prototypes):
    return torch.stack([((images - p) ** 2).sum(dim=1) for p in prototypes], dim=1).argmin(dim=1)
""",
        "a loop over features": """
def nearest(images, prototypes):
    total = 0
    for a, b in zip(images.T, prototypes.T):
        total = total + (a[:, None] - b[None, :]).square().abs().sqrt().square()
    return total.argmin(dim=1)
""",
        "over the wrong side": """
def nearest(images, prototypes):
    differences = images[:, None] - prototypes[None, :]
    return (differences**2).sum(dim=2).argmin(dim=0)
""",
        "the farthest": """
def nearest(images, prototypes):
    differences = images[:, None] - prototypes[None, :]
    return (differences**2).sum(dim=2).argmax(dim=1)
""",
        "the product alone": """
def nearest(images, prototypes):
    return (images @ prototypes.T).argmax(dim=1)
""",
        "no square": """
def nearest(images, prototypes):
    differences = images[:, None] - prototypes[None, :]
    return differences.sum(dim=2).argmin(dim=1)
""",
        "int32": """
def nearest(images, prototypes):
    differences = images[:, None] - prototypes[None, :]
    return (differences**2).sum(dim=2).argmin(dim=1).int()
""",
        "the distances": """
def nearest(images, prototypes):
    differences = images[:, None] - prototypes[None, :]
    return (differences**2).sum(dim=2).min(dim=1).values
""",
        "one side too many": """
def nearest(images, prototypes):
    differences = images[:, None] - prototypes[None, :]
    return (differences**2).sum(dim=2).argmin(dim=1, keepdim=True)
""",
        "on the CPU": """
def nearest(images, prototypes):
    return torch.cdist(images.cpu(), prototypes.cpu()).argmin(dim=1).to(images.device)
""",
        "left on the CPU": """
def nearest(images, prototypes):
    return torch.cdist(images.cpu(), prototypes.cpu()).argmin(dim=1)
""",
        "NumPy": """
import numpy as np
def nearest(images, prototypes):
    a, b = images.cpu().numpy(), prototypes.cpu().numpy()
    return torch.from_numpy(((a[:, None] - b[None]) ** 2).sum(-1).argmin(1)).to(images.device)
""",
        "a list": """
def nearest(images, prototypes):
    differences = images[:, None] - prototypes[None, :]
    return (differences**2).sum(dim=2).argmin(dim=1).tolist()
""",
        "back from a list": """
def nearest(images, prototypes):
    differences = images[:, None] - prototypes[None, :]
    found = (differences**2).sum(dim=2).argmin(dim=1).tolist()
    return torch.tensor(found, device=images.device)
""",
        "centred in place": """
def nearest(images, prototypes):
    centre = prototypes.mean(dim=0)
    images -= centre
    prototypes -= centre
    return torch.cdist(images, prototypes).argmin(dim=1)
""",
        "by a boolean mask": """
def nearest(images, prototypes):
    distances = torch.cdist(images, prototypes)
    return (distances == distances.min(dim=1, keepdim=True).values).nonzero()[:, 1]
""",
        "with a synchronisation": """
def nearest(images, prototypes):
    found = torch.cdist(images, prototypes).argmin(dim=1)
    if images.device.type == "mps":
        torch.mps.synchronize()
    return found
""",
        "the norm of the prototypes forgotten": """
def nearest(images, prototypes):
    return (images.square().sum(1, keepdim=True) - 2 * images @ prototypes.T).argmin(dim=1)
""",
        "of images to images": """
def nearest(images, prototypes):
    return torch.cdist(images, images).argmin(dim=1)
""",
    },
}
