"""A printed text without its line breaks, for tests of what it says."""


def unwrapped(result):
    """Return a result's text with single spaces in place of line breaks and indents."""
    return " ".join(str(result).split())
