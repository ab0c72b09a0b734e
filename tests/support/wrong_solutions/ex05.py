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
    },
    "ex05-task4": {
        "the loop as it was": """
def train_epoch(model, batches, optimizer, device, max_norm):
    total, clipped = 0.0, 0
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        total += loss.item()
        if norm > max_norm:
            clipped += 1
    return {"loss": total / len(batches), "clipped": clipped}
""",
        "an if in each step": """
def train_epoch(model, batches, optimizer, device, max_norm):
    total, clipped = torch.zeros((), device=device), 0
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        total += loss.detach()
        if norm > max_norm:
            clipped += 1
    return {"loss": (total / len(batches)).item(), "clipped": clipped}
""",
        "copies that nobody waits for": """
def train_epoch(model, batches, optimizer, device, max_norm):
    total, clipped = torch.zeros((), device=device), torch.zeros((), device=device)
    for x, y in batches:
        optimizer.zero_grad()
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        total += loss.detach()
        clipped += norm > max_norm
    total, clipped = torch.stack((total / len(batches), clipped)).tolist()
    return {"loss": total, "clipped": int(clipped)}
""",
        "a sum instead of the mean": """
def train_epoch(model, batches, optimizer, device, max_norm):
    total, clipped = torch.zeros((), device=device), torch.zeros((), device=device)
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        total += loss.detach()
        clipped += norm > max_norm
    total, clipped = torch.stack((total, clipped)).tolist()
    return {"loss": total, "clipped": int(clipped)}
""",
        "clipped after the step": """
def train_epoch(model, batches, optimizer, device, max_norm):
    total, clipped = torch.zeros((), device=device), torch.zeros((), device=device)
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        total += loss.detach()
        clipped += norm > max_norm
    total, clipped = torch.stack((total / len(batches), clipped)).tolist()
    return {"loss": total, "clipped": int(clipped)}
""",
        "a float for the count": """
def train_epoch(model, batches, optimizer, device, max_norm):
    total, clipped = torch.zeros((), device=device), torch.zeros((), device=device)
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        total += loss.detach()
        clipped += norm > max_norm
    total, clipped = torch.stack((total / len(batches), clipped)).tolist()
    return {"loss": total, "clipped": clipped}
""",
        "gradients pile up": """
def train_epoch(model, batches, optimizer, device, max_norm):
    total, clipped = torch.zeros((), device=device), torch.zeros((), device=device)
    optimizer.zero_grad()
    for x, y in batches:
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        total += loss.detach()
        clipped += norm > max_norm
    total, clipped = torch.stack((total / len(batches), clipped)).tolist()
    return {"loss": total, "clipped": int(clipped)}
""",
    },
}
