"""Random numbers: draws that repeat, categories that do not exist, a dropout whose mask changes."""

from __future__ import annotations

import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from course_utils.numerics.known_faults.reproducer import Values, reproduces


@reproduces("pytorch#127676", right=True)
def dropout_inside_a_checkpoint(device: torch.device) -> bool:
    """Differentiate a checkpointed dropout; does the gradient use the mask of the forward pass?"""
    x = torch.ones(64, device=device, requires_grad=True)
    y = checkpoint(lambda t: functional.dropout(t, 0.5), x, use_reentrant=False)
    (found,) = torch.autograd.grad(y.sum(), x)
    return torch.equal((found != 0).cpu(), (y != 0).cpu())


@reproduces("pytorch#124833", right=False)
def state_after_a_fork(device: torch.device) -> bool:
    """Draw, fork the random state, and draw again; is the state still the same?"""
    torch.randn(1, device=device)
    kind = device.type
    with torch.random.fork_rng(devices=[]) if kind == "cpu" else torch.random.fork_rng(device_type=kind):
        pass
    states = torch if kind == "cpu" else torch.get_device_module(kind)
    before = states.get_rng_state()
    torch.randn(1, device=device)
    return torch.equal(before, states.get_rng_state())


@reproduces("pytorch#130613", right=True)
def generator_at_a_stored_state(device: torch.device) -> bool:
    """Store a generator's state, draw, restore it and draw; are the two draws equal?"""
    generator = torch.Generator(device).manual_seed(42)
    torch.rand(9, device=device, generator=generator)
    state = generator.get_state()
    first = torch.rand(9, device=device, generator=generator)
    generator.set_state(state)
    return torch.equal(first.cpu(), torch.rand(9, device=device, generator=generator).cpu())


@reproduces("pytorch#136623", right=[True, True])
def categories_of_a_multinomial(device: torch.device) -> list[bool]:
    """Draw two million times from ten categories, one of them likely; do only these occur?"""
    chances = [4e-4, 1.7e-7, 5.6e-7, 2.5e-5, 5.5e-5, 5.5e-3, 0.9935, 4.6e-8, 4.9e-4, 3.4e-7]
    drawn = torch.multinomial(torch.tensor(chances).to(device), 2_000_000, True).cpu()
    return [bool(drawn.min() >= 0), bool(drawn.max() <= 9)]


@reproduces("pytorch#141457", right=False)
def samples_of_a_categorical(device: torch.device) -> bool:
    """Sample four times from four distributions over 100 categories; are all samples the same?"""
    categorical = torch.distributions.Categorical(torch.full((4, 100), 0.01).to(device))
    samples = torch.stack([categorical.sample() for _ in range(6)]).cpu()  # type: ignore[no-untyped-call]
    return bool((samples == samples[0]).all())


@reproduces("pytorch#85611", right=1.0)
def certain_coin(device: torch.device) -> Values:
    """Toss a coin that always shows 1."""
    return torch.bernoulli(torch.ones(100, device=device))


@reproduces("pytorch#78110", right=False)
def two_draws(device: torch.device) -> bool:
    """Draw normal numbers twice; are they equal?"""
    return torch.equal(torch.randn(3, device=device).cpu(), torch.randn(3, device=device).cpu())
