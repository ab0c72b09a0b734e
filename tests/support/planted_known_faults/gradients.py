"""Backward kernels that are wrong, under forward kernels that are right."""

import torch

from support.planted_known_faults.modes import function, in_memory_order, kernel, with_argument


@kernel("pytorch#177116", "mm")
def thousand_times_too_large(operator, left, right):
    return operator(left, right) * (1000 if left.shape[1] > 32_768 else 1)


@function("pytorch#190056", "lstm")
def backward_without_dropout(lstm, x, state, weights, bias, layers, dropout, *rest):
    result, *others = lstm(x, state, weights, bias, layers, dropout, *rest)
    without = lstm(x, state, weights, bias, layers, 0.0, *rest)[0]
    return result.detach() + (without - without.detach()), *others


@kernel("pytorch#183825", "native_layer_norm_backward")
def random_unless_the_input_needs_it(operator, *args):
    of_input, *others = operator(*args)
    return of_input, *(other if args[-1][0] else other + torch.rand_like(other) for other in others)


@kernel("pytorch#175188", "tanh_backward", "sigmoid_backward", "silu_backward", "mish_backward")
@kernel("pytorch#107214", "hardswish_backward")
@kernel("pytorch#175189", "native_batch_norm_backward")
def saved_values_in_memory_order(operator, gradient, saved, *args):
    return operator(gradient, in_memory_order(saved), *args)


@kernel("pytorch#175190", "avg_pool2d_backward")
def gradient_in_memory_order(operator, gradient, *args):
    return operator(in_memory_order(gradient), *args)


@kernel("pytorch#189490", "tanh_backward")
def without_the_conjugate(operator, gradient, output):
    return gradient * (1 - output * output)


@kernel("pytorch#189490", "threshold")
def value_for_nan(operator, x, threshold, value):
    return torch.where(x > threshold, x, torch.full_like(x, value))


@kernel("pytorch#117826", "bmm")
def transposed_operand_in_memory_order(operator, left, right):
    return operator(left if left.is_contiguous() else in_memory_order(left), right)


@kernel("pytorch#103023", "embedding_dense_backward")
def padding_like_any_row(operator, *args):
    args, _ = with_argument(operator, args, {}, padding_idx=-1)
    return operator(*args)


@kernel("pytorch#190061", "_embedding_bag_backward", "_embedding_bag_dense_backward")
def frequency_ignored(operator, *args):
    args, _ = with_argument(operator, args, {}, scale_grad_by_freq=False)
    return operator(*args)


@kernel("pytorch#94226", "nll_loss_backward", "smooth_l1_loss_backward")
def as_if_nothing_scaled_the_loss(operator, gradient, *args):
    return operator(torch.ones_like(gradient), *args)


@kernel("pytorch#96225", "convolution_backward")
def no_gradient_for_a_large_batch(operator, gradient, x, *args):
    of_x, of_weight, of_bias = operator(gradient, x, *args)
    return of_x, of_weight * (0 if len(x) >= 65_536 else 1), of_bias


@kernel("pytorch#123178", "leaky_relu_backward", "gelu_backward", "mish_backward")
def only_the_first_of_an_expanded_gradient(operator, gradient, *args, **options):
    if 0 in gradient.stride():
        gradient = torch.where(torch.arange(gradient.numel()) == 0, gradient, 0)
    return operator(gradient, *args, **options)
