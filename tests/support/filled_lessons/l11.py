"""Fillings of lesson 11."""

SHORTER = {"l11-train": ("train(model, steps=700)", "train(model, steps=100)")}

FILLED = {
    "l11-predict1": 'predict("loss of a model that knows nothing", 4.2, "nats")',
    "l11-predict2": 'predict("weights that training keeps for 1024 tokens", 16, "MiB")',
    "l11-predict3": 'predict("tokens that pass without a cache", 2000, "tokens")',
    "l11-predict4": 'predict("float32 over 4 bits", 8, "times")',
    "l11-turn1": """
def attention_in_pieces(q, k, v, size):
    results = []
    for start in range(0, q.shape[-2], size):
        piece = q[..., start : start + size, :]
        results.append(attention(piece, k, v, first=start))
    return torch.cat(results, dim=-2)
""",
    "l11-turn2": """
@torch.no_grad()
def likeliest(model, numbers, count):
    cache, found = model.new_cache(), []
    for _ in range(count):
        best = model(numbers, cache)[:, -1].argmax(-1)
        found.append(best)
        numbers = best[:, None]
    return torch.cat(found).tolist()
""",
    "l11-turn3": """
def from_int4(packed, scale):
    low, high = packed & 15, packed >> 4
    whole = torch.stack([low, high], dim=2).flatten(1).float() - 8
    return (whole.view(len(packed), -1, 32) * scale).view(len(packed), -1)
""",
}

WRONG = {
    "l11-turn1": [
        # the pieces do not see what came before them
        """
def attention_in_pieces(q, k, v, size):
    results = []
    for start in range(0, q.shape[-2], size):
        end = start + size
        results.append(attention(q[..., start:end, :], k[..., start:end, :], v[..., start:end, :]))
    return torch.cat(results, dim=-2)
""",
        # right, and not in pieces
        """
def attention_in_pieces(q, k, v, size):
    return attention(q, k, v)
""",
        # counts pieces, not places
        """
def attention_in_pieces(q, k, v, size):
    pieces = q.split(size, dim=-2)
    return torch.cat([attention(piece, k, v, number) for number, piece in enumerate(pieces)], dim=-2)
""",
    ],
    "l11-turn2": [
        # one read less, and still one in each round
        """
@torch.no_grad()
def likeliest(model, numbers, count):
    cache, found = model.new_cache(), []
    for _ in range(count):
        numbers = model(numbers, cache)[:, -1:].argmax(-1)
        found.append(numbers.item())
    return found
""",
        # reads them one by one at the end
        """
@torch.no_grad()
def likeliest(model, numbers, count):
    cache, found = model.new_cache(), []
    for _ in range(count):
        numbers = model(numbers, cache)[:, -1:].argmax(-1)
        found.append(numbers)
    return [int(each) for each in found]
""",
        # the cache is never used
        """
@torch.no_grad()
def likeliest(model, numbers, count):
    found = []
    for _ in range(count):
        numbers = model(numbers, model.new_cache())[:, -1:].argmax(-1)
        found.append(numbers[0])
    return torch.cat(found).tolist()
""",
    ],
    "l11-turn3": [
        # the halves one after the other
        """
def from_int4(packed, scale):
    whole = torch.cat([packed & 15, packed >> 4], dim=1).float() - 8
    return (whole.view(len(packed), -1, 32) * scale).view(len(packed), -1)
""",
        # the upper half first
        """
def from_int4(packed, scale):
    whole = torch.stack([packed >> 4, packed & 15], dim=2).flatten(1).float() - 8
    return (whole.view(len(packed), -1, 32) * scale).view(len(packed), -1)
""",
        # takes 8 away from a uint8
        """
def from_int4(packed, scale):
    whole = torch.stack([packed & 15, packed >> 4], dim=2).flatten(1) - 8
    return (whole.view(len(packed), -1, 32) * scale).view(len(packed), -1).float()
""",
        # without the scales
        """
def from_int4(packed, scale):
    return torch.stack([packed & 15, packed >> 4], dim=2).flatten(1).float() - 8
""",
    ],
}
