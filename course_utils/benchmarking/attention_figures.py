"""Figures of attention: where tokens look, and what is kept in memory over the length of a text.

Each says below itself in a sentence what it shows, and returns its figure. The common look is in `figure`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from course_utils.benchmarking.figure import INK, SERIES, new_figure, over_lengths, say_below

if TYPE_CHECKING:
    import torch
    from matplotlib.figure import Figure

_MARKS = "os^D"
_MIB = 2**20


def plot_attention(weights: torch.Tensor, tokens: Sequence[str], *, title: str) -> Figure:
    """Draw the weights of one head as an image: a row for each token that looks, a column for each that is looked at.

    Args:
        weights: (length, length), each row adds up to 1.
        tokens: what stands at each place, as short texts.
        title: whose weights these are.

    Returns:
        The figure; its sentence says where the last token looks most, and what lies above the diagonal.

    Raises:
        ValueError: when the weights are not one row and one column for each token.
    """
    if tuple(weights.shape) != (len(tokens), len(tokens)):
        raise ValueError(f"{len(tokens)} tokens need weights of that many rows and columns, not {tuple(weights.shape)}")
    weights = weights.detach().float().cpu()
    figure, axes = new_figure(6.0, 5.2)
    image = axes.imshow(weights, cmap="Blues", vmin=0)
    shown = ["\u2423" if token == " " else "\u21b5" if token == "\n" else token for token in tokens]
    axes.set_xticks(range(len(tokens)), shown)
    axes.set_yticks(range(len(tokens)), shown)
    axes.grid(visible=False)
    axes.set_xlabel("is looked at")
    axes.set_ylabel("looks")
    axes.set_title(title, color=INK, fontsize=11)
    figure.colorbar(image, ax=axes, shrink=0.8, label="weight")
    last = len(tokens) - 1
    most = int(weights[last].argmax())
    future = float(weights.triu(1).sum())
    places = "place" if last - most == 1 else "places"
    where = "itself" if most == last else f"{shown[most]!r}, {last - most} {places} before"
    say_below(
        f"Each row is a token, and says how it shares its attention. The last one, {shown[last]!r}, gives "
        f"{weights[last, most]:.0%} to {where}. "
        + ("Above the diagonal, where the future is, all weights are 0." if future == 0 else "Some see the future.")
    )
    return figure


def plot_bytes_over_length(
    lengths: Sequence[int],
    measured: Mapping[str, Sequence[float]],
    predicted: Mapping[str, Sequence[float]],
    *,
    title: str,
) -> Figure:
    """Draw measured bytes over the length of a text as marks, and predicted ones as lines; both axes are logarithmic.

    Args:
        lengths: numbers of tokens, ascending.
        measured: a name for each series, and bytes at each length.
        predicted: a name for each series, and bytes at each length.
        title: what was measured.

    Returns:
        The figure; its sentence says how each measured series grew from the shortest to the longest text.
    """
    figure, axes = new_figure(7.5, 4.0)
    for (name, n_bytes), dashes in zip(predicted.items(), ("-", "--", ":"), strict=False):
        axes.plot(lengths, [each / _MIB for each in n_bytes], dashes, color=INK, linewidth=1.2, label=name)
    sentences = [f"From {lengths[0]:,} to {lengths[-1]:,} tokens, {lengths[-1] / lengths[0]:.0f} times as many:"]
    for (name, n_bytes), (colour, _), mark in zip(measured.items(), SERIES, _MARKS, strict=False):
        axes.plot(lengths, [each / _MIB for each in n_bytes], mark, color=colour, markersize=8, label=name)
        sentences.append(
            f"{name}: {n_bytes[0] / _MIB:.2f} to {n_bytes[-1] / _MIB:.2f} MiB, {n_bytes[-1] / n_bytes[0]:.0f} times."
        )
    over_lengths(axes, lengths, "tokens", "MiB")
    axes.set_title(title, color=INK, fontsize=11)
    axes.legend(frameon=False, fontsize=9)
    say_below("\n".join(sentences))
    return figure
