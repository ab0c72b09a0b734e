"""Kernels that lose NaN, overflow, or compute integers in another type."""

import torch

from support.planted_known_faults.modes import kernel

INF = float("inf")


@kernel("pytorch#187521", "baddbmm")
def beta_times_nan(operator, x, left, right, *, beta=1, alpha=1):
    return beta * x + alpha * torch.bmm(left, right)


@kernel("pytorch#143976", "maximum", "minimum")
def the_other_number(operator, x, y):
    return (torch.fmax if operator is torch.ops.aten.maximum.default else torch.fmin)(x, y)


@kernel("pytorch#196203", "index_reduce_")
def drops_nan(operator, x, dim, index, source, *args, **options):
    return operator(x, dim, index, source.nan_to_num(-INF), *args, **options)


@kernel("pytorch#190491", "native_layer_norm")
def variance_in_one_pass(operator, x, shape, weight, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    _, mean, rstd = operator(x, shape, weight, bias, eps)
    return centred / eps**0.5, mean, rstd


@kernel("pytorch#191976", "native_layer_norm")
def off_by_two(operator, *args):
    result, mean, rstd = operator(*args)
    return result + 1.8 * (torch.arange(len(result)) == 3)[:, None], mean, rstd


@kernel("pytorch#184620", "sort")
def index_outside(operator, x, *args, **options):
    values, indices = operator(x, *args, **options)
    indices[-1] = x.numel()
    return values, indices


@kernel("pytorch#192507", "hypot")
def root_of_squares(operator, x, y):
    return (x * x + y * y).sqrt()


@kernel("pytorch#189243", "floor_divide")
def floor_of_the_quotient(operator, x, y):
    return torch.floor(x / y)


@kernel("pytorch#120899", "clamp")
def the_bound_for_nan(operator, x, low=None, high=None):
    return operator(torch.nan_to_num(x, nan=low), low, high)


@kernel("pytorch#94043", "_log_softmax")
def logarithm_of_softmax(operator, x, dim, half_to_float):
    return torch.softmax(x, dim).log()


@kernel("pytorch#91198", "var", "std")
def divides_by_n(operator, x, *args, **options):
    variance = (x - x.mean()).square().mean()
    return variance.sqrt() if operator.overloadpacket is torch.ops.aten.std else variance


@kernel("pytorch#144245", "upsample_linear1d")
def divides_by_length_minus_one(operator, x, size, align_corners, *args):
    return operator(x, size, align_corners, *args) + (INF - INF if align_corners and x.shape[-1] == 1 else 0)


@kernel("pytorch#100005", "triu")
def times_a_mask(operator, x, diagonal=0):
    return x * operator(torch.ones_like(x), diagonal)


@kernel("pytorch#195076", "histogram")
def edges_with_slack(operator, x, edges, **options):
    inside = x.clamp(edges[0], edges[-1])
    return operator(torch.where((inside - x).abs() < 4e-6, inside, x), edges, **options)


@kernel("pytorch#130295", "argmax", "argmin")
def skips_nan(operator, x, *args):
    filler = -INF if operator.overloadpacket is torch.ops.aten.argmax else INF
    return operator(x.nan_to_num(filler), *args)


@kernel("pytorch#195595", "_unique2")
def keys_through_float32(operator, x, *args, **options):
    values, _, counts = operator(x, *args, **options)
    return values, operator(x.float(), *args, **options)[1], counts


@kernel("pytorch#190052", "abs")
def absolute_value_through_float32(operator, x):
    return operator(x.float()).to(x.dtype)


@kernel("pytorch#187976", "amin", "amax")
def filled_up_with_zeros(operator, x, *args):
    return operator(torch.cat([x, torch.zeros(-len(x) % 32, dtype=x.dtype)]), *args)


@kernel("pytorch#179415", "sum")
def stops_at_the_largest(operator, x, **options):
    return operator(x).clamp(max=255).to(torch.uint8)


@kernel("pytorch#154171", "remainder")
def remainder_through_float32(operator, x, y):
    return operator(x.float() + 2, y).long()


@kernel("pytorch#96614", "cumsum")
def counts_in_int8(operator, x, dim, **options):
    return operator(x.to(torch.int8), dim, dtype=torch.int8).long()


@kernel("pytorch#92311", "argmax")
def smallest_int64(operator, *args):
    return torch.full_like(operator(*args), torch.iinfo(torch.int64).min)


@kernel("pytorch#90635", "cumsum")
def input_unchanged(operator, x, dim, **options):
    return x.clone()
