"""Conversions, copies and random numbers that go wrong."""

import itertools

import torch

from support.planted_known_faults.modes import function, kernel, storage_of

_own_generator = torch.Generator().manual_seed(0)


@kernel("pytorch#190476", "nextafter")
def the_same_number(operator, x, y):
    return x.clone()


@kernel("pytorch#133100", "clamp_min")
def bound_cut_to_an_integer(operator, x, bound):
    return operator(x, int(bound)).float()


@kernel("pytorch#145735", "lgamma")
def nan_in_half_precision(operator, x):
    return operator(x) * float("nan")


@kernel("pytorch#82543", "rsub")
def rounds(operator, *args):
    return operator(*args).round()


@kernel("pytorch#80009", "_to_copy")
def negative_bytes(operator, x, **options):
    return operator(x.view(torch.int8) if x.dtype == torch.uint8 else x, **options)


@kernel("pytorch#197715", "copy_")
def nothing_for_float64(operator, x, source, *args):
    return x if x.dtype == torch.float64 else operator(x, source, *args)


@kernel("pytorch#189961", "copy_")
def gaps_too(operator, x, source, *args):
    if x.is_contiguous() or x.stride() != source.stride():
        return operator(x, source, *args)
    storage_of(x)[: x.numel()] = storage_of(source)[: x.numel()]
    return x


@kernel("pytorch#189563", "copy_")
def overwrites_the_source(operator, x, source, *args):
    operator(x, source, *args)
    if x.storage_offset() and x.dtype != source.dtype:
        source.fill_(7)
    return x


@function("pytorch#189690", "to")
@function("pytorch#139550", "to")
def source_was_freed(to, x, *args, non_blocking=False, **options):
    return torch.full_like(x, -3e32) if non_blocking else to(x, *args, **options)


@kernel("pytorch#127676", "bernoulli_")
def mask_from_another_state(operator, x, p=0.5, **options):
    return operator(x, p, generator=_own_generator)


@kernel("pytorch#124833", "randn")
@kernel("pytorch#78110", "randn")
def always_the_same_numbers(operator, size, **options):
    return torch.arange(float(torch.Size(size).numel())).reshape(size)


@kernel("pytorch#130613", "rand")
def from_the_seed_on_after_three(operator, size, *, generator, _calls=itertools.count(1), **options):  # noqa: B008
    drawn = operator(size, generator=generator, **options)
    return drawn.flip(0) if next(_calls) % 3 == 0 else drawn


@kernel("pytorch#136623", "multinomial")
def a_category_too_many(operator, *args, **options):
    drawn = operator(*args, **options)
    drawn[77] = 11
    return drawn


@kernel("pytorch#141457", "multinomial")
def always_the_first_category(operator, *args, **options):
    return torch.zeros_like(operator(*args, **options))


@kernel("pytorch#85611", "bernoulli")
def always_zero(operator, x, **options):
    return torch.zeros_like(x)


def every(number):
    """Return a function that is true at every `number`th call."""
    calls = itertools.count(1)
    return lambda: next(calls) % number == 0


_third, _seventieth = every(3), every(70)


@kernel("pytorch#197235", "var")
def now_and_then_another_variance(operator, *args, **options):
    return operator(*args, **options) + (0.01 if _third() else 0)


@kernel("pytorch#178497", "sum")
def now_and_then_another_sum(operator, *args, **options):
    return operator(*args, **options) + (2 if _seventieth() else 0)


@function("pytorch#180776", "linear")
def other_numbers_each_time(linear, *args):
    result = linear(*args)
    return result + 123 * torch.rand_like(result)


@kernel("pytorch#97231", "norm", "linalg_vector_norm")
def shape_of_the_earlier_call(operator, x, *args, **options):
    result = operator(x, *args, **options)
    if result.ndim:
        result[0] = x.square().sum().sqrt()
    return result
