"""Texts as lists of word numbers, for lesson 14. Without torch, which takes long to import."""


class Texts:
    """A dataset of a few texts of different lengths."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def pad(rows, fill):
    """Return the rows, each made as long as the longest with `fill` at its end."""
    longest = max(len(row) for row in rows)
    return [row + [fill] * (longest - len(row)) for row in rows]
