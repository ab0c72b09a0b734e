"""What a test looks at in a loop has to be there: over nothing, every assertion holds."""


def found(things):
    """Return the things as a list; fail when there are none."""
    things = list(things)
    assert things, "nothing was found to look at, so the test would prove nothing"
    return things
