"""Right solutions of exercise 11 in other people's styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex11-task1": {
        "by hand, with two ranges": """
def attend(q, k, v, cache):
    if "k" in cache:
        k, v = torch.cat((cache["k"], k), 2), torch.cat((cache["v"], v), 2)
    cache.update(k=k, v=v)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    keys = torch.arange(k.shape[2], device=q.device)
    queries = keys[k.shape[2] - q.shape[2]:]
    scores = scores.masked_fill(keys[None, :] > queries[:, None], float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
""",
        "three cases": """
def attend(q, k, v, cache):
    first = not cache
    if first:
        cache["k"], cache["v"] = k, v
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    cache["k"] = torch.cat([cache["k"], k], dim=-2)
    cache["v"] = torch.cat([cache["v"], v], dim=-2)
    new = q.shape[-2]
    if new == 1:
        return F.scaled_dot_product_attention(q, cache["k"], cache["v"])
    before = cache["k"].shape[-2] - new
    mask = torch.cat([
        torch.ones(new, before, dtype=torch.bool, device=q.device),
        torch.ones(new, new, dtype=torch.bool, device=q.device).tril(),
    ], dim=1)
    return F.scaled_dot_product_attention(q, cache["k"], cache["v"], attn_mask=mask)
""",
        "a mask of numbers, added": """
def attend(q, k, v, cache):
    old_k, old_v = cache.get("k"), cache.get("v")
    cache["k"] = k if old_k is None else torch.cat([old_k, k], dim=2)
    cache["v"] = v if old_v is None else torch.cat([old_v, v], dim=2)
    n, total = q.size(2), cache["k"].size(2)
    bias = torch.full((n, total), -torch.inf, dtype=q.dtype, device=q.device).triu(total - n + 1)
    return F.scaled_dot_product_attention(q, cache["k"], cache["v"], attn_mask=bias)
""",
        "einsum": """
def attend(q, k, v, cache):
    cache["k"] = torch.cat([*([cache["k"]] if "k" in cache else []), k], dim=2)
    cache["v"] = torch.cat([*([cache["v"]] if "v" in cache else []), v], dim=2)
    total, new = cache["k"].shape[2], q.shape[2]
    scores = torch.einsum("bhqd,bhkd->bhqk", q, cache["k"]) * q.shape[3] ** -0.5
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(total - new + 1)
    weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
    return torch.einsum("bhqk,bhkd->bhqd", weights, cache["v"])
""",
        "one query after the other": """
def attend(q, k, v, cache):
    before = cache["k"].shape[2] if cache else 0
    if cache:
        k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
    cache["k"], cache["v"] = k, v
    rows = []
    for i in range(q.shape[2]):
        end = before + i + 1
        rows.append(F.scaled_dot_product_attention(q[:, :, i:i + 1], k[:, :, :end], v[:, :, :end]))
    return torch.cat(rows, 2)
""",
        "the rows of a square mask": """
def attend(q, k, v, cache):
    if cache:
        k = torch.cat([cache["k"], k], dim=2)
        v = torch.cat([cache["v"], v], dim=2)
    cache["k"], cache["v"] = k, v
    total = k.shape[2]
    square = torch.tril(torch.ones(total, total, device=q.device)).bool()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=square[total - q.shape[2]:])
""",
        "places compared": """
def attend(q, k, v, cache):
    if cache:
        k = torch.cat([cache["k"], k], dim=2)
        v = torch.cat([cache["v"], v], dim=2)
    cache["k"] = k
    cache["v"] = v
    place = torch.arange(k.shape[2], device=q.device)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=place <= place[-q.shape[2]:, None])
""",
    },
    "ex11-task2": {
        "with or": """
def predict_bytes(card, texts, tokens, dtype):
    heads = card["num_attention_heads"]
    kv = card.get("num_key_value_heads") or heads
    dim = card.get("head_dim") or card["hidden_size"] // heads
    per_text = card["num_hidden_layers"] * heads * tokens * tokens
    size = torch.finfo(dtype).bits // 8
    return {"weights": 4 * texts * per_text, "cache": 2 * texts * card["num_hidden_layers"] * kv * dim * tokens * size}
""",
        "with in": """
def predict_bytes(card, texts, tokens, dtype):
    if "num_key_value_heads" in card:
        shared = card["num_key_value_heads"]
    else:
        shared = card["num_attention_heads"]
    if "head_dim" in card:
        dim = card["head_dim"]
    else:
        dim = card["hidden_size"] / card["num_attention_heads"]
    weights = cache = 0
    for _ in range(card["num_hidden_layers"]):
        weights += texts * card["num_attention_heads"] * tokens ** 2 * torch.float32.itemsize
        cache += 2 * texts * shared * tokens * dim * torch.empty(0, dtype=dtype).element_size()
    return {"cache": int(cache), "weights": weights}
""",
        "tensors without memory": """
def predict_bytes(card, texts, tokens, dtype):
    heads, layers = card["num_attention_heads"], card["num_hidden_layers"]
    kv = card.get("num_key_value_heads", heads)
    dim = card.get("head_dim", card["hidden_size"] // heads)
    square = torch.empty(layers, texts, heads, tokens, tokens, device="meta")
    kept = torch.empty(2, layers, texts, kv, tokens, dim, dtype=dtype, device="meta")
    return {"weights": square.nbytes, "cache": kept.nbytes}
""",
        "math.prod": """
def predict_bytes(card, texts, tokens, dtype):
    c = {"num_key_value_heads": card["num_attention_heads"],
         "head_dim": card["hidden_size"] // card["num_attention_heads"], **card}
    n = texts * tokens * c["num_hidden_layers"]
    return dict(
        weights=math.prod((n, c["num_attention_heads"], tokens, 4)),
        cache=math.prod((n, c["num_key_value_heads"], c["head_dim"], 2, dtype.itemsize)),
    )
""",
        "floats": """
def predict_bytes(card, texts, tokens, dtype):
    heads = card["num_attention_heads"]
    kv_heads = card["num_key_value_heads"] if "num_key_value_heads" in card else heads
    dim = card["head_dim"] if "head_dim" in card else card["hidden_size"] / heads
    bytes_each = 4.0 if dtype == torch.float32 else 2.0
    layers = card["num_hidden_layers"]
    return {
        "weights": 4.0 * layers * texts * heads * tokens * tokens,
        "cache": 2.0 * layers * texts * kv_heads * dim * tokens * bytes_each,
    }
""",
    },
    "ex11-task3": {
        "a function for each number of bits": """
def one_way(weight, bits, group):
    rows, columns = weight.shape
    m = 2 ** (bits - 1) - 1
    parts = weight.reshape(rows, columns // group, group)
    scale = (parts.abs().max(-1).values / m).to(torch.float16)
    wide = scale.float().repeat_interleave(group, dim=1)
    whole = torch.where(wide > 0, weight / wide, torch.zeros_like(weight)).round().clamp(-m, m)
    return whole.to(torch.int8), scale, ((whole * wide - weight).norm() / weight.norm()).item()

def quantise(weight, most_error, group):
    for bits in (2, 3, 4, 5, 6, 7, 8):
        whole, scale, error = one_way(weight, bits, group)
        if error <= most_error:
            size = weight.numel() * bits // 8 + scale.numel() * 2
            return {"bits": bits, "whole": whole, "scale": scale, "bytes": size}
    raise ValueError("no number of bits is enough")
""",
        "nan_to_num": """
def quantise(weight, most_error, group):
    found = None
    for bits in range(8, 1, -1):
        m = (1 << bits - 1) - 1
        g = weight.detach().unflatten(1, (-1, group))
        s = (g.abs().amax(-1, keepdim=True) / m).half()
        w = torch.nan_to_num(g / s.float()).round().clamp(-m, m)
        if ((w * s.float()).flatten(1) - weight).norm() > most_error * weight.norm():
            break
        found = {"bits": bits, "whole": w.flatten(1).to(torch.int8), "scale": s.squeeze(-1),
                 "bytes": (weight.numel() * bits + 16 * s.numel()) / 8}
    if found is None:
        raise ValueError(most_error)
    return found
""",
        "rounded with the float32 scale": """
def quantise(weight, most_error, group):
    rows = weight.size(0)
    for bits in range(2, 9):
        m = 2 ** (bits - 1) - 1
        groups = weight.clone().view(rows, -1, group)
        scale = groups.abs().amax(2, keepdim=True) / m
        whole = torch.round(groups / scale.clamp_min(1e-30)).clamp(-m, m)
        stored = scale.half()
        error = torch.linalg.vector_norm(whole * stored.float() - groups) / torch.linalg.vector_norm(groups)
        if error.item() <= most_error:
            return {
                "bits": bits,
                "whole": whole.reshape_as(weight).char(),
                "scale": stored.reshape(rows, -1),
                "bytes": weight.numel() * bits / 8 + stored.nbytes,
            }
    raise ValueError("too small an error")
""",
        "float64 inside": """
def quantise(weight, most_error, group):
    exact = weight.double()
    for bits in range(2, 9):
        most = 2 ** (bits - 1) - 1
        scale = exact.view(len(exact), -1, group).abs().amax(-1).div(most).half()
        each = scale.double().repeat_interleave(group, 1)
        whole = (exact / each.masked_fill(each == 0, 1)).round().clamp(-most, most)
        if (whole * each - exact).norm() <= most_error * exact.norm():
            break
    else:
        raise ValueError(f"more than 8 bits would be needed for {most_error}")
    n_bytes = exact.numel() * bits / 8 + 2 * scale.numel()
    return dict(scale=scale, whole=whole.to(torch.int8), bits=bits, bytes=n_bytes)
""",
        "row by row": """
def quantise(weight, most_error, group):
    for bits in range(2, 9):
        m = 2 ** (bits - 1) - 1
        whole, scale = torch.zeros_like(weight, dtype=torch.int8), []
        for r, row in enumerate(weight):
            scale.append([])
            for c in range(0, len(row), group):
                piece = row[c:c + group]
                s = (piece.abs().max() / m).half()
                scale[-1].append(s)
                if s > 0:
                    whole[r, c:c + group] = (piece / s.float()).round().clamp(-m, m).to(torch.int8)
        scale = torch.stack([torch.stack(row) for row in scale])
        restored = whole.float() * scale.float().repeat_interleave(group, 1)
        if (restored - weight).norm() / weight.norm() <= most_error:
            return {"bits": bits, "whole": whole, "scale": scale,
                    "bytes": whole.numel() * bits / 8 + scale.numel() * 2}
    raise ValueError("not with 8 bits")
""",
    },
    "ex11-task4": {
        "counting up": """
def longest_text(card, room, bits, release):
    major, minor = map(int, release.split(".")[:2])
    slow = (major, minor) < (2, 13) or card["head_dim"] not in {32, 64, 72, 80, 96, 128, 256}
    left = room - card["parameters"] * bits / 8
    per_token = 4 * card["num_hidden_layers"] * card["num_key_value_heads"] * card["head_dim"]
    n = 0
    while n < card["max_position_embeddings"]:
        n += 1
        if per_token * n + (4 * card["num_attention_heads"] * n * n if slow else 0) > left:
            return n - 1
    return n
""",
        "bisect": """
import bisect
def longest_text(card, room, bits, release):
    numbers = [int(x) for x in release.split(".")[:2]]
    builds = numbers < [2, 13] or card["head_dim"] not in [32, 64, 72, 80, 96, 128, 256]
    def bytes_of(n):
        return (card["parameters"] * bits / 8
                + n * 2 * 2 * card["num_hidden_layers"] * card["num_key_value_heads"] * card["head_dim"]
                + builds * 2 * 2 * n * n * card["num_attention_heads"])
    return bisect.bisect_right(range(1, card["max_position_embeddings"] + 1), room, key=bytes_of)
""",
        "the formula, corrected": """
def longest_text(card, room, bits, release):
    a = 4 * card["num_attention_heads"]
    b = 4 * card["num_hidden_layers"] * card["num_key_value_heads"] * card["head_dim"]
    left = room - card["parameters"] * bits / 8
    if left < 0:
        return 0
    if int(release.split(".")[1]) >= 13 and card["head_dim"] in (32, 64, 72, 80, 96, 128, 256):
        a = 0
    n = int(left / b) if a == 0 else int((-b + math.sqrt(b * b + 4 * a * left)) / (2 * a))
    while a * (n + 1) ** 2 + b * (n + 1) <= left:
        n += 1
    while n and a * n * n + b * n > left:
        n -= 1
    return min(n, card["max_position_embeddings"])
""",
        "packaging": """
from packaging.version import Version
def longest_text(card, room, bits, release):
    fast = Version(release) >= Version("2.13") and card["head_dim"] in (32, 64, 72, 80, 96, 128, 256)
    left = room - card["parameters"] * bits // 8
    cache = card["num_hidden_layers"] * 2 * card["num_key_value_heads"] * card["head_dim"] * 2
    low, high = 0, card["max_position_embeddings"]
    while low < high:
        middle = (low + high + 1) // 2
        scores = 0 if fast else 2 * card["num_attention_heads"] * middle * middle * 2
        if middle * cache + scores <= left:
            low = middle
        else:
            high = middle - 1
    return low
""",
        "counting down by powers of two": """
def longest_text(card, room, bits, release):
    version = [int(part) for part in release.split(".")][:2]
    kernels = version >= [2, 13] and card["head_dim"] in (32, 64, 72, 80, 96, 128, 256)
    weights = card["parameters"] * bits / 8
    answer, step = 0, 1 << 20
    while step:
        n = answer + step
        total = weights + 4 * n * card["num_hidden_layers"] * card["num_key_value_heads"] * card["head_dim"]
        if not kernels:
            total += 4 * card["num_attention_heads"] * n ** 2
        if n <= card["max_position_embeddings"] and total <= room:
            answer = n
        step //= 2
    return answer
""",
    },
    "ex11-task5": {
        "a decorator, and a list of numbers": """
@torch.no_grad()
def continue_text(model, numbers, count, stop, every):
    cache, waiting, found = model.new_cache(), [], []
    for i in range(count):
        numbers = model(numbers, cache)[:, -1:].argmax(-1)
        waiting.append(numbers.flatten())
        if len(waiting) == every or i == count - 1:
            for number in torch.cat(waiting).tolist():
                if number == stop:
                    return found
                found.append(number)
            waiting = []
    return found
""",
        "places that are filled, a flag": """
def continue_text(model, numbers, count, stop, every):
    with torch.no_grad():
        cache = model.new_cache()
        places = torch.full((count,), -1, device=numbers.device)
        n = 0
        while n < count:
            numbers = model(numbers, cache)[:, -1].argmax(-1, keepdim=True)
            places[n] = numbers[0, 0]
            n += 1
            if n % every == 0 and n < count and (places[n - every:n] == stop).any():
                break
        found = places[:n].tolist()
    return found[:found.index(stop)] if stop in found else found
""",
        "blocks of rounds": """
def continue_text(model, numbers, count, stop, every):
    found, cache = [], model.new_cache()
    with torch.no_grad():
        while len(found) < count and stop not in found:
            block = []
            for _ in range(min(every, count - len(found))):
                numbers = torch.argmax(model(numbers, cache)[:, -1], dim=-1).view(1, 1)
                block.append(numbers)
            found.extend(torch.stack(block).view(-1).tolist())
    if stop in found:
        del found[found.index(stop):]
    return found
""",
        "inference_mode, topk": """
def continue_text(model, numbers, count, stop, every):
    result = []
    with torch.inference_mode():
        cache = model.new_cache()
        tail = numbers[:, :0]
        for step in range(1, count + 1):
            numbers = model(numbers, cache)[:, -1].topk(1).indices
            tail = torch.cat([tail, numbers], dim=1)
            if step % every and step < count:
                continue
            result += tail[0].tolist()
            tail = tail[:, :0]
            if stop in result:
                break
    return result[: result.index(stop)] if stop in result else result
""",
        "a generator inside": """
def continue_text(model, numbers, count, stop, every):
    @torch.no_grad()
    def tokens():
        cache, new = model.new_cache(), numbers
        for _ in range(count):
            new = model(new, cache)[:, -1].argmax(-1)[:, None]
            yield new

    found, block = [], []
    for token in tokens():
        block.append(token)
        if len(block) == every:
            found += torch.cat(block, 1).squeeze(0).tolist()
            block.clear()
            if stop in found:
                break
    if block:
        found += torch.cat(block, 1).squeeze(0).tolist()
    return found[: found.index(stop)] if stop in found else found
""",
    },
}
