"""The process that asks, with a fault planted into its CPU."""

from course_utils.numerics.known_faults import child
from support.planted_known_faults import planted

if __name__ == "__main__":
    with planted("pytorch#190052"):
        child.main()
