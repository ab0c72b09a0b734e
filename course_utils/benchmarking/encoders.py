"""A transformer encoder of a given shape with a classification head: the shape of BERT, none of its weights."""

from __future__ import annotations

import torch
from torch import nn


class EncoderClassifier(nn.Module):
    """Token and position embeddings, a stack of encoder layers, and a linear head on the first token.

    Args:
        layers: number of encoder layers.
        width: embedding width D.
        heads: attention heads in each layer.
        feed_forward: width of the feed-forward part.
        vocabulary: number of tokens known.
        tokens: longest sequence T.
        classes: number of outputs C.
    """

    def __init__(
        self, *, layers: int, width: int, heads: int, feed_forward: int, vocabulary: int, tokens: int, classes: int
    ) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary, width)
        self.position_embedding = nn.Embedding(tokens, width)
        layer = nn.TransformerEncoderLayer(width, heads, feed_forward, dropout=0.0, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Classify sequences.

        Args:
            tokens: token numbers, int64, (B, T).

        Returns:
            Logits, (B, C).
        """
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        hidden = self.token_embedding(tokens) + self.position_embedding(positions)  # (B, T, D)
        logits: torch.Tensor = self.head(self.encoder(hidden)[:, 0])
        return logits
