"""Plausible wrong solutions of exercise 11, by the grade id of the cell that they stand in.

Each is a mistake that a student makes in good faith. A wrong solution defines what its cell defines, and nothing more.
"""

ATTEND = """
def attend(q, k, v, cache):
    if cache:
        k = torch.cat([cache["k"], k], dim=2)
        v = torch.cat([cache["v"], v], dim=2)
    cache["k"], cache["v"] = k, v
    new, total = q.shape[2], k.shape[2]
    allowed = torch.ones(new, total, dtype=torch.bool, device=q.device).tril(total - new)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
"""
PREDICT = """
def predict_bytes(card, texts, tokens, dtype):
    layers, heads = card["num_hidden_layers"], card["num_attention_heads"]
    shared = card.get("num_key_value_heads", heads)
    head_dim = card.get("head_dim", card["hidden_size"] // heads)
    return {
        "weights": texts * layers * heads * tokens**2 * 4,
        "cache": texts * layers * 2 * shared * tokens * head_dim * dtype.itemsize,
    }
"""
QUANTISE = """
def quantise(weight, most_error, group):
    groups = weight.view(len(weight), -1, group)
    for bits in range(2, 9):
        most = 2 ** (bits - 1) - 1
        scale = (groups.abs().amax(dim=2, keepdim=True) / most).half()
        divisor = torch.where(scale > 0, scale.float(), 1.0)
        whole = (groups / divisor).round().clamp(-most, most)
        error = (whole * scale.float() - groups).norm() / weight.norm()
        if error <= most_error:
            return {
                "bits": bits,
                "whole": whole.to(torch.int8).view(weight.shape),
                "scale": scale[..., 0],
                "bytes": weight.numel() * bits / 8 + 2 * scale.numel(),
            }
    raise ValueError("8 bits are not enough")
"""
LONGEST = """
def longest_text(card, room, bits, release):
    weights = card["parameters"] * bits / 8
    numbers = card["num_hidden_layers"] * card["num_key_value_heads"] * card["head_dim"]
    version = tuple(int(part) for part in release.split(".")[:2])
    fast = version >= (2, 13) and card["head_dim"] in (32, 64, 72, 80, 96, 128, 256)
    fits, too_many = 0, card["max_position_embeddings"] + 1
    while too_many - fits > 1:
        n = (fits + too_many) // 2
        scores = 0 if fast else 2 * card["num_attention_heads"] * n**2 * 2
        if weights + 2 * numbers * 2 * n + scores <= room:
            fits = n
        else:
            too_many = n
    return fits
"""
CONTINUE = """
def continue_text(model, numbers, count, stop, every):
    found, block, new, cache = [], [], numbers, model.new_cache()
    with torch.no_grad():
        for given in range(1, count + 1):
            new = model(new, cache)[:, -1].argmax(-1, keepdim=True)
            block.append(new)
            if given % every == 0 or given == count:
                found += torch.cat(block, dim=1)[0].tolist()
                block = []
                if stop in found:
                    return found[: found.index(stop)]
    return found
"""


def changed(source: str, *pairs: tuple[str, str]) -> str:
    """Return a right source with something replaced, each of which has to be there."""
    for before, after in pairs:
        assert before in source, before
        source = source.replace(before, after)
    return source


SDPA = "F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)"

WRONG = {
    "ex11-task1": {
        "is_causal for every piece": changed(ATTEND, (SDPA, "F.scaled_dot_product_attention(q, k, v, is_causal=True)")),
        "is_causal for more than one token, as in the lesson": changed(
            ATTEND, (SDPA, "F.scaled_dot_product_attention(q, k, v, is_causal=new > 1)")
        ),
        "no mask at all": changed(ATTEND, (SDPA, "F.scaled_dot_product_attention(q, k, v)")),
        "mask only for the first piece": changed(
            ATTEND, (SDPA, "F.scaled_dot_product_attention(q, k, v, is_causal=new == total)")
        ),
        "the mask's diagonal forgets what came before": changed(ATTEND, (".tril(total - new)", ".tril()")),
        "each token does not see itself": changed(ATTEND, (".tril(total - new)", ".tril(total - new - 1)")),
        "one later token is seen": changed(ATTEND, (".tril(total - new)", ".tril(total - new + 1)")),
        "the mask is on the CPU": changed(ATTEND, (", device=q.device", "")),
        "the mask is made on the CPU and moved": changed(
            ATTEND, (", device=q.device).tril(total - new)", ").tril(total - new).to(q.device)")
        ),
        "everything is computed on the CPU": changed(
            ATTEND,
            ("    new, total", "    device, q, k, v = q.device, q.cpu(), k.cpu(), v.cpu()\n    new, total"),
            (SDPA, SDPA + ".to(device)"),
        ),
        "the cache keeps the last piece only": changed(
            ATTEND,
            ("    if cache:\n", "    old_k, old_v = k, v\n    if cache:\n"),
            ('cache["k"], cache["v"] = k, v', 'cache["k"], cache["v"] = old_k, old_v'),
        ),
        "the cache is never filled": changed(ATTEND, ('    cache["k"], cache["v"] = k, v\n', "")),
        "new tokens before the old ones": changed(
            ATTEND, ('[cache["k"], k]', '[k, cache["k"]]'), ('[cache["v"], v]', '[v, cache["v"]]')
        ),
        "a new dictionary in place of the given one": changed(
            ATTEND, ('cache["k"], cache["v"] = k, v', 'cache = {"k": k, "v": v}')
        ),
        "queries are kept and all is computed again": """
def attend(q, k, v, cache):
    new = q.shape[2]
    if cache:
        q = torch.cat([cache["q"], q], dim=2)
        k = torch.cat([cache["k"], k], dim=2)
        v = torch.cat([cache["v"], v], dim=2)
    cache["q"], cache["k"], cache["v"] = q, k, v
    mask = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool, device=q.device).tril()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)[:, :, -new:]
""",
        "not divided by the root of the head dimension": """
def attend(q, k, v, cache):
    if cache:
        k = torch.cat([cache["k"], k], dim=2)
        v = torch.cat([cache["v"], v], dim=2)
    cache["k"], cache["v"] = k, v
    scores = q @ k.transpose(-2, -1)
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(k.shape[2] - q.shape[2] + 1)
    return scores.masked_fill(hidden, -math.inf).softmax(-1) @ v
""",
        "softmax over the queries": """
def attend(q, k, v, cache):
    if cache:
        k = torch.cat([cache["k"], k], dim=2)
        v = torch.cat([cache["v"], v], dim=2)
    cache["k"], cache["v"] = k, v
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(k.shape[2] - q.shape[2] + 1)
    return scores.masked_fill(hidden, -1e9).softmax(-2) @ v
""",
    },
    "ex11-task2": {
        "weights in the model's dtype": changed(PREDICT, ("tokens**2 * 4", "tokens**2 * dtype.itemsize")),
        "one matrix for each key-value head": changed(
            PREDICT, ("texts * layers * heads * tokens**2", "texts * layers * shared * tokens**2")
        ),
        "one layer only": changed(PREDICT, ("texts * layers * heads", "texts * heads")),
        "one text only": changed(PREDICT, ("texts * layers * heads", "layers * heads")),
        "tokens not squared": changed(PREDICT, ("tokens**2", "tokens")),
        "half of the square, for the mask": changed(PREDICT, ("tokens**2 * 4", "tokens * (tokens + 1) // 2 * 4")),
        "keys only": changed(PREDICT, ("layers * 2 * shared", "layers * shared")),
        "the cache has query heads": changed(PREDICT, ("2 * shared * tokens", "2 * heads * tokens")),
        "the cache in float32": changed(PREDICT, ("dtype.itemsize", "4")),
        "the cache in two bytes": changed(PREDICT, ("dtype.itemsize", "2")),
        "head_dim is not looked up": changed(
            PREDICT, ('card.get("head_dim", card["hidden_size"] // heads)', 'card["hidden_size"] // heads')
        ),
        "the hidden size divided by the key-value heads": changed(
            PREDICT, ('card["hidden_size"] // heads', 'card["hidden_size"] // shared')
        ),
        "key-value heads have to be there": changed(
            PREDICT, ('card.get("num_key_value_heads", heads)', 'card["num_key_value_heads"]')
        ),
        "the cache of one text": changed(PREDICT, ("texts * layers * 2", "layers * 2")),
    },
    "ex11-task3": {
        "cut instead of rounded": changed(QUANTISE, (".round()", ".trunc()")),
        "rounded down": changed(QUANTISE, (".round()", ".floor()")),
        "m is one too large": changed(QUANTISE, ("2 ** (bits - 1) - 1", "2 ** (bits - 1)")),
        "m of unsigned numbers": changed(QUANTISE, ("2 ** (bits - 1) - 1", "2 ** bits - 1")),
        "one scale for the whole weight": changed(
            QUANTISE, ("groups.abs().amax(dim=2, keepdim=True)", "groups.abs().amax().expand(*groups.shape[:2], 1)")
        ),
        "one scale for each row": changed(
            QUANTISE,
            ("amax(dim=2, keepdim=True)", "amax(dim=(1, 2), keepdim=True).expand(-1, groups.shape[1], 1)"),
        ),
        "the largest, not the largest absolute": changed(QUANTISE, ("groups.abs().amax", "groups.amax")),
        "NaN for a group of zeros": changed(QUANTISE, ("torch.where(scale > 0, scale.float(), 1.0)", "scale.float()")),
        "always four bits": changed(QUANTISE, ("range(2, 9)", "(4,)")),
        "the most bits first": changed(QUANTISE, ("range(2, 9)", "range(8, 1, -1)")),
        "seven bits at most": changed(QUANTISE, ("range(2, 9)", "range(2, 8)")),
        "from three bits on": changed(QUANTISE, ("range(2, 9)", "range(3, 9)")),
        "from one bit on": changed(QUANTISE, ("range(2, 9)", "range(1, 9)"), ("- 1) - 1", "- 1) - 1 or 1")),
        "8 bits without an error": changed(
            QUANTISE, ("if error <= most_error:", "if error <= most_error or bits == 8:")
        ),
        "the error in numbers, not relative": changed(QUANTISE, (" / weight.norm()", "")),
        "the largest error in place of the norm": changed(
            QUANTISE,
            (
                "(whole * scale.float() - groups).norm() / weight.norm()",
                "(whole * scale.float() - groups).abs().max() / weight.abs().max()",
            ),
        ),
        "scales counted in four bytes": changed(QUANTISE, ("2 * scale.numel()", "4 * scale.numel()")),
        "scales not counted": changed(QUANTISE, (" + 2 * scale.numel()", "")),
        "bytes of the int8 tensor": changed(QUANTISE, ("weight.numel() * bits / 8", "weight.numel()")),
        "scales in float32": changed(QUANTISE, ("/ most).half()", "/ most)")),
        "whole numbers as floats": changed(QUANTISE, ("whole.to(torch.int8)", "whole")),
        "divided in place": changed(QUANTISE, ("(groups / divisor).round()", "groups.div_(divisor).round()")),
        "groups from columns": changed(
            QUANTISE,
            ("weight.view(len(weight), -1, group)", "weight.t().reshape(len(weight), -1, group)"),
        ),
    },
    "ex11-task4": {
        "releases compared as texts": changed(LONGEST, ("version >= (2, 13)", 'release >= "2.13"')),
        "releases compared as floats": changed(
            LONGEST, ("version >= (2, 13)", 'float(".".join(release.split(".")[:2])) >= 2.13')
        ),
        "2.13 counts as old": changed(LONGEST, ("version >= (2, 13)", "version > (2, 13)")),
        "the head dimension is not looked at": changed(
            LONGEST, (' and card["head_dim"] in (32, 64, 72, 80, 96, 128, 256)', "")
        ),
        "up to 256, every head dimension": changed(
            LONGEST, ('card["head_dim"] in (32, 64, 72, 80, 96, 128, 256)', 'card["head_dim"] <= 256')
        ),
        "one matrix of scores": changed(LONGEST, ("2 * card", "card")),
        "scores for each layer": changed(LONGEST, ("n**2 * 2", 'n**2 * 2 * card["num_hidden_layers"]')),
        "scores for key-value heads": changed(
            LONGEST, ('2 * card["num_attention_heads"]', '2 * card["num_key_value_heads"]')
        ),
        "scores in float32": changed(LONGEST, ("n**2 * 2", "n**2 * 4")),
        "no scores": changed(LONGEST, ("scores = 0 if fast else", "scores = 0 *")),
        "the last byte stays free": changed(LONGEST, ("<= room", "< room")),
        "keys only": changed(LONGEST, ("2 * numbers * 2", "numbers * 2")),
        "the cache has query heads": changed(
            LONGEST,
            ('card["num_key_value_heads"] * card["head_dim"]', 'card["num_attention_heads"] * card["head_dim"]'),
        ),
        "bits taken for bytes": changed(LONGEST, ("bits / 8", "bits")),
        "weights forgotten": changed(LONGEST, ("weights + 2", "2")),
        "no limit of the model": changed(LONGEST, ('card["max_position_embeddings"] + 1', "2**24")),
        "one less than the model was trained for": changed(
            LONGEST, ('card["max_position_embeddings"] + 1', 'card["max_position_embeddings"]')
        ),
        "below 0 without room": """
def longest_text(card, room, bits, release):
    left = room - card["parameters"] * bits / 8
    b = 4 * card["num_hidden_layers"] * card["num_key_value_heads"] * card["head_dim"]
    version = tuple(int(part) for part in release.split(".")[:2])
    if version >= (2, 13) and card["head_dim"] in (32, 64, 72, 80, 96, 128, 256):
        return min(int(left // b), card["max_position_embeddings"])
    a = 4 * card["num_attention_heads"]
    n = int((-b + math.sqrt(max(b * b + 4 * a * left, 0))) / (2 * a))
    return min(n, card["max_position_embeddings"])
""",
    },
    "ex11-task5": {
        "item in each round": """
def continue_text(model, numbers, count, stop, every):
    found, new, cache = [], numbers, model.new_cache()
    with torch.no_grad():
        for _ in range(count):
            new = model(new, cache)[:, -1].argmax(-1, keepdim=True)
            if new.item() == stop:
                break
            found.append(new.item())
    return found
""",
        "an if in each round": changed(
            CONTINUE,
            (
                "            block.append(new)\n",
                "            if new == stop:\n                break\n            block.append(new)\n",
            ),
            ("    return found\n", "    return found + (torch.cat(block, dim=1)[0].tolist() if block else [])\n"),
        ),
        "everything again, with few waits": changed(
            CONTINUE,
            (
                "model(new, cache)[:, -1].argmax(-1, keepdim=True)",
                "model(numbers, model.new_cache())[:, -1].argmax(-1, keepdim=True)\n"
                "            numbers = torch.cat([numbers, new], dim=1)",
            ),
        ),
        "the whole text and a full cache": changed(
            CONTINUE,
            (
                "model(new, cache)[:, -1].argmax(-1, keepdim=True)",
                "model(numbers, cache)[:, -1].argmax(-1, keepdim=True)\n"
                "            numbers = torch.cat([numbers, new], dim=1)",
            ),
        ),
        "the text token by token": changed(
            CONTINUE,
            (
                "    with torch.no_grad():\n",
                "    with torch.no_grad():\n        for number in numbers[0, :-1]:\n"
                "            model(number.view(1, 1), cache)\n        new = numbers[:, -1:]\n",
            ),
        ),
        "the stop token is looked for at the end": changed(
            CONTINUE, ("given % every == 0 or given == count", "given == count")
        ),
        "the last block is forgotten": changed(CONTINUE, (" or given == count", "")),
        "the stop token is kept": changed(CONTINUE, ("found[: found.index(stop)]", "found[: found.index(stop) + 1]")),
        "what comes after the stop token is kept": changed(
            CONTINUE, ("return found[: found.index(stop)]", "return found")
        ),
        "the stop token is taken out, the rest stays": changed(
            CONTINUE, ("return found[: found.index(stop)]", "return [n for n in found if n != stop]")
        ),
        "the stop token is never looked for": changed(CONTINUE, ("if stop in found", "if False")),
        "one token too many": changed(
            CONTINUE, ("range(1, count + 1)", "range(1, count + 2)"), ("given == count", "given == count + 1")
        ),
        "one token too few": changed(
            CONTINUE, ("range(1, count + 1)", "range(1, count)"), ("given == count", "given == count - 1")
        ),
        "one more round than is asked about": changed(
            CONTINUE, ("    return found\n", "        model(new, cache)\n    return found\n")
        ),
        "a tensor in place of a list": changed(
            CONTINUE,
            ("    return found\n", "    return torch.tensor(found)\n"),
            ("return found[: found.index(stop)]", "return torch.tensor(found[: found.index(stop)])"),
        ),
        "tensors in the list": changed(
            CONTINUE, ("torch.cat(block, dim=1)[0].tolist()", "list(torch.cat(block, dim=1)[0].cpu())")
        ),
        "gradients are kept": changed(CONTINUE, ("with torch.no_grad():", "if True:")),
        "eval in place of no_grad": changed(CONTINUE, ("with torch.no_grad():", "if model.eval():")),
        "it is read, and sent back": changed(
            CONTINUE,
            (
                "            block.append(new)\n",
                "            new = torch.tensor(new.tolist(), device=numbers.device)\n            block.append(new)\n",
            ),
        ),
        "every is a number of reads": changed(CONTINUE, ("given % every == 0", "given % (count // every or 1) == 0")),
        "reads each number of a block": changed(
            CONTINUE, ("torch.cat(block, dim=1)[0].tolist()", "[int(one) for one in block]")
        ),
        "a block twice as long": changed(CONTINUE, ("given % every == 0", "given % (2 * every) == 0")),
        "a sample in place of the likeliest": changed(
            CONTINUE, ("[:, -1].argmax(-1, keepdim=True)", "[:, -1].softmax(-1).multinomial(1)")
        ),
    },
}
