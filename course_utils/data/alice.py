"""A text to train a language model on that comes with the course: a children's book of 1865, in the public domain.

"Alice's Adventures in Wonderland" by Lewis Carroll, who died in 1898. Where the text is from, its licence and what was
changed are in course_utils/data/alice_licence.txt.
"""

from __future__ import annotations

import gzip
from importlib import resources


def load_alice() -> str:
    """Return the book: 142,550 characters of 65 kinds, ASCII only, paragraphs with an empty line between them."""
    packed = (resources.files("course_utils.data") / "alice.txt.gz").read_bytes()
    return gzip.decompress(packed).decode("ascii")
