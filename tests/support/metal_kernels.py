"""Honest Metal kernels, each with a call and what torch computes on the CPU: one source, so that it compiles once."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

SOURCE = (Path(__file__).parent / "metal" / "right.metal").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Case:
    """One call: `run(library)` returns what the kernel computed and what torch computes on the CPU."""

    name: str
    run: object
    tolerance: float = 1e-5


def _random(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def _integers(low, high, *shape, dtype=torch.int32, seed=0):
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def _on(*tensors):
    return [tensor.to("mps") for tensor in tensors]


def _axpy(lib):
    y, x = _random(1000), _random(1000, seed=1)
    on_y, on_x = _on(y, x)
    lib.axpy(on_y, on_x, 0.5)
    return on_y, y + 0.5 * x


def _bias_silu(lib):
    x, b = _random(7, 33), _random(33, seed=1)
    on_x, on_b = _on(x, b)
    out = torch.empty_like(on_x)
    lib.bias_silu(out, on_x, on_b, 33, arg_casts="int32")
    return out, nn.functional.silu(x + b)


def _pointwise(name, reference):
    def run(lib):
        x = _random(500)
        (on_x,) = _on(x)
        out = torch.empty_like(on_x)
        getattr(lib, name)(out, on_x)
        return out, reference(x)

    return run


def _transpose(lib):
    x = _random(50, 35)
    (on_x,) = _on(x)
    out = torch.empty(35, 50, device="mps")
    lib.transpose(out, on_x, 50, 35, threads=(48, 64), group_size=(16, 16))
    return out, x.t()


def _sums(name, n, size):
    def run(lib):
        x = _random(n)
        (on_x,) = _on(x)
        groups = -(-n // size)
        out = torch.empty(groups, device="mps")
        extra = (n,) if name == "sum_tree" else ()
        getattr(lib, name)(out, on_x, *extra, threads=groups * size if extra else n, group_size=size)
        padded = torch.cat([x, torch.zeros(groups * size - n)])
        return out, padded.view(groups, size).sum(1)

    return run


def _rows(name, reference, width, **launch):
    def run(lib):
        x = _random(9, width)
        (on_x,) = _on(x)
        out = torch.empty_like(on_x)
        getattr(lib, name)(out, on_x, width, **launch)
        return out, reference(x)

    return run


def _layer_norm(lib):
    x, w, b = _random(5, 77), _random(77, seed=1), _random(77, seed=2)
    on = _on(x, w, b)
    out = torch.empty_like(on[0])
    lib.layer_norm(out, *on, 77, 1e-5, threads=5 * 64, group_size=64)
    return out, nn.functional.layer_norm(x, (77,), w, b, 1e-5)


def _rms_norm(kind, dtype):
    def run(lib):
        x = _random(6, 40, dtype=dtype)
        (on_x,) = _on(x)
        out = torch.empty_like(on_x)
        getattr(lib, f"rms_norm_{kind}")(out, on_x, 40, threads=6)
        return out, nn.functional.rms_norm(x.float(), (40,), eps=1e-6).to(dtype)

    return run


def _matmul(name):
    def run(lib):
        a, b = _random(30, 21), _random(21, 45, seed=1)
        on_a, on_b = _on(a, b)
        out = torch.empty(30, 45, device="mps")
        if name == "matmul":
            lib.matmul(out, on_a, on_b, [30, 21, 45], threads=(45, 30), group_size=(8, 4), arg_casts="int32")
        else:
            lib.matmul_tiled(out, on_a, on_b, [30, 21, 45], threads=(48, 32), group_size=(8, 8), arg_casts={3: "int32"})
        return out, a @ b

    return run


def _matmul_batched(lib):
    a, b = _random(3, 6, 5), _random(3, 5, 7, seed=1)
    on_a, on_b = _on(a, b)
    out = torch.empty(3, 6, 7, device="mps")
    lib.matmul_batched(out, on_a, on_b, [5], threads=[7, 6, 3], group_size=[4, 2, 2], arg_casts="int32")
    return out, a @ b


def _in_place(name, x, reference, **launch):
    def run(lib):
        (on_x,) = _on(x)
        getattr(lib, name)(on_x, **launch)
        return on_x, reference(x)

    return run


def _histogram(lib):
    x = _integers(0, 256, 3000, dtype=torch.uint8)
    (on_x,) = _on(x)
    bins = torch.zeros(16, dtype=torch.int32, device="mps")
    lib.histogram(bins, on_x, 3000, threads=3072, group_size=256)
    return bins, torch.bincount(x.long() % 16, minlength=16).int()


def _largest(lib):
    x = _random(777)
    (on_x,) = _on(x)
    out = torch.full((1,), float("-inf"), device="mps")
    lib.largest(out, on_x, threads=777, group_size=64)
    return out, x.max().view(1)


def _scatter_add(lib):
    index, x = _integers(0, 10, 300, dtype=torch.int64), _random(300)
    on_index, on_x = _on(index, x)
    out = torch.zeros(10, device="mps")
    lib.scatter_add(out, on_index, on_x, threads=300)
    return out, torch.zeros(10).scatter_add(0, index, x)


def _embedding(lib):
    table, ids = _random(20, 12, dtype=torch.float16), _integers(0, 20, 7, dtype=torch.int64)
    on_table, on_ids = _on(table, ids)
    out = torch.empty(7, 12, dtype=torch.float16, device="mps")
    lib.embedding(out, on_table, on_ids, 12, threads=(12, 7))
    return out, table[ids]


def _rotate_colours(lib):
    x = _random(50, 4)
    (on_x,) = _on(x)
    lib.rotate_colours(on_x, threads=50)
    rgb = x[:, [1, 2, 0]] * 2
    a = rgb[:, :1] - rgb[:, 1:2]
    return on_x, torch.cat([rgb.flip(1) + a, a], 1)


def _windowed(lib):
    x = _random(60)
    (on_x,) = _on(x)
    out = torch.empty_like(on_x)
    window = torch.tensor([12, 5], dtype=torch.int32)
    packed = torch.cat([window, torch.tensor([0.5]).view(torch.int32)]).to("mps")
    lib.windowed(out, on_x, packed)
    return out, 0.5 * x * (torch.arange(60) // 12) / 5


def _smooth(x):
    padded = nn.functional.pad(x.view(1, 1, -1), (2, 2), mode="replicate")
    return nn.functional.conv1d(padded, torch.tensor([[[0.0625, 0.25, 0.375, 0.25, 0.0625]]])).view(-1)


def _max_pool(lib):
    x = _random(10, 14)
    (on_x,) = _on(x)
    out = torch.empty(5, 7, device="mps")
    lib.max_pool(out, on_x, 14, threads=(7, 5), group_size=(4, 4))
    return out, nn.functional.max_pool2d(x[None], 2)[0]


def _argmax(lib):
    x = _random(6, 75)
    (on_x,) = _on(x)
    out = torch.empty(6, dtype=torch.int64, device="mps")
    lib.argmax(out, on_x, 75, threads=6 * 32, group_size=32)
    return out, x.argmax(1)


def _cross_entropy(lib):
    x, target = 3 * _random(8, 45), _integers(0, 45, 8)
    on_x, on_target = _on(x, target)
    out = torch.empty(8, device="mps")
    lib.cross_entropy(out, on_x, on_target, 45, threads=8 * 32, group_size=32)
    return out, nn.functional.cross_entropy(x, target.long(), reduction="none")


def _rotary(lib):
    x, angle = _random(40, 2, dtype=torch.float16), _random(40)
    on_x, on_angle = _on(x, angle)
    lib.rotary(on_x, on_angle, threads=40)
    turned = torch.view_as_complex(x.float()) * torch.polar(torch.ones(40), angle)
    return on_x, torch.view_as_real(turned).half()


def _dequantised(lib):
    w, s, x = _integers(-127, 128, 11, 30, dtype=torch.int8), _random(11, dtype=torch.float16), _random(30)
    on = _on(w, s, x)
    out = torch.empty(11, device="mps")
    lib.dequantised_matvec(out, *on, 30)
    return out, (w.float() @ x) * s.float()


def _unpack(lib):
    values = _integers(0, 16, 64)
    packed = torch.zeros(8, dtype=torch.int64)
    for k in range(8):
        packed |= values.view(8, 8)[:, k].long() << (4 * k)
    packed = torch.where(packed >= 2**31, packed - 2**32, packed).int()
    (on_packed,) = _on(packed)
    out = torch.empty(64, device="mps")
    lib.unpack_int4(out, on_packed)
    return out, values.float() - 8


def _escape_steps(lib):
    out = torch.empty(12, 16, dtype=torch.int32, device="mps")
    lib.escape_steps(out, [-2.0, -1.0], 0.25, threads=(16, 12), group_size=(8, 8))
    x, y = torch.arange(16) * 0.25 - 2, torch.arange(12) * 0.25 - 1
    c = torch.complex(x.repeat(12, 1), y.view(-1, 1).repeat(1, 16))
    z, n, inside = torch.zeros_like(c), torch.zeros(12, 16, dtype=torch.int32), torch.ones(12, 16, dtype=torch.bool)
    for _ in range(50):
        z = torch.where(inside, z * z + c, z)
        inside &= z.abs().square() <= 4
        n += inside
    return out, n


def _keep_positive(lib):
    x = _random(320)
    (on_x,) = _on(x)
    out, n = torch.zeros(320, device="mps"), torch.zeros(1, dtype=torch.int32, device="mps")
    lib.keep_positive(out, n, on_x, threads=320, group_size=64)
    kept = x[x > 0]
    return out.sort(descending=True).values, torch.cat(
        [kept.sort(descending=True).values, torch.zeros(320 - len(kept))]
    )


def _add_bfloat(lib):
    a, b = _random(100, dtype=torch.bfloat16), _random(100, seed=1, dtype=torch.bfloat16)
    on_a, on_b = _on(a, b)
    out = torch.empty_like(on_a)
    lib.add_bfloat(out, on_a, on_b)
    return out, a + b


def _any_negative(lib):
    x = _random(200)
    (on_x,) = _on(x)
    found = torch.zeros(1, dtype=torch.int32, device="mps")
    lib.any_negative(found, on_x, threads=200, group_size=32)
    return found, (x < 0).any().int().view(1)


def _reversed(lib):
    x = _random(64)
    (on_x,) = _on(x)
    lib.reversed_in_place(on_x, 64, threads=32)
    return on_x, x.flip(0)


def _read_strided(lib):
    x = _random(6, 9)
    (on_x,) = _on(x)
    out = torch.empty(9, 6, device="mps")
    view = on_x.t()
    lib.read_strided(out, view, list(view.stride()), threads=(6, 9))
    return out, x.t()


CASES = (
    Case("axpy", _axpy),
    Case("bias_silu", _bias_silu),
    Case("gelu", _pointwise("gelu", lambda x: nn.functional.gelu(x, approximate="tanh"))),
    Case("transpose", _transpose),
    *(Case(f"sum_tree of {n} by {size}", _sums("sum_tree", n, size)) for n, size in ((1000, 256), (1000, 100), (5, 7))),
    *(Case(f"sum_simd of {n} by {size}", _sums("sum_simd", n, size)) for n, size in ((1024, 128), (960, 320))),
    Case("softmax", _rows("softmax", lambda x: x.softmax(1), 100, threads=9 * 32, group_size=32)),
    Case("softmax_online", _rows("softmax_online", lambda x: x.softmax(1), 50, threads=9)),
    Case("layer_norm", _layer_norm),
    Case("rms_norm_float", _rms_norm("float", torch.float32)),
    Case("rms_norm_half", _rms_norm("half", torch.float16), 2e-3),
    Case("rms_norm_bfloat", _rms_norm("bfloat", torch.bfloat16), 2e-2),
    Case("matmul", _matmul("matmul")),
    Case("matmul_tiled", _matmul("matmul_tiled")),
    Case("matmul_batched", _matmul_batched),
    Case(
        "prefix_sum",
        _in_place("prefix_sum", _integers(-9, 9, 300), lambda x: x.cumsum(0).int(), threads=300, group_size=300),
    ),
    Case(
        "prefix_sum_simd",
        _in_place("prefix_sum_simd", _integers(-9, 9, 256), lambda x: x.cumsum(0).int(), group_size=256),
    ),
    Case("histogram", _histogram),
    Case("largest", _largest),
    Case("scatter_add", _scatter_add),
    Case("embedding", _embedding),
    Case("rotate_colours", _rotate_colours),
    Case("windowed", _windowed),
    Case("smooth", _pointwise("smooth", _smooth)),
    Case("max_pool", _max_pool),
    Case("argmax", _argmax),
    Case("cross_entropy", _cross_entropy),
    Case("rotary", _rotary, 2e-3),
    Case("dequantised_matvec", _dequantised, 1e-4),
    Case("unpack_int4", _unpack),
    Case("sort_group", _in_place("sort_group", _integers(-99, 99, 256), lambda x: x.sort().values, group_size=256)),
    Case("escape_steps", _escape_steps),
    Case("keep_positive", _keep_positive),
    Case("add_bfloat", _add_bfloat),
    Case("any_negative", _any_negative),
    Case("reversed_in_place", _reversed),
    Case("read_strided", _read_strided),
)
