"""Lesson 08 as a reader fills it in, and plausible mistakes that its checks have to refuse."""

FILLED = {
    "l08-predict1": """
from course_utils import compare_prediction, predict

predict("largest honest error, bfloat16", 0.3)
""",
    "l08-predict2": 'predict("faults of strides or offset among those of 2026", 50, "%")',
    "l08-predict3": 'predict("smallest whole number that float32 lacks", 2**24 + 1)',
    "l08-turn1": """
def largest_error(fn, x, dtype):
    given = x.to(dtype)
    return (fn(given).double() - fn(given.double())).abs().max().item()
""",
    "l08-turn2": """
odd = torch.arange(32769 * 4.0).reshape(1, 32769, 4).transpose(0, 1)
answer = odd.clone(memory_format=torch.contiguous_format)
""",
    "l08-turn3": """
def is_right(run):
    found = run(gradients, (images, labels))
    exact = gradients(images.double(), labels)
    return all(
        torch.allclose(one.double(), right, rtol=1e-4, atol=1e-6)
        for one, right in zip(found, exact, strict=True)
    )
""",
}

WRONG = {
    "l08-turn1": [
        # rounds the reference's result instead of its inputs
        """
def largest_error(fn, x, dtype):
    exact = fn(x).to(dtype).double()
    return (fn(x.to(dtype)).float() - fn(x.to(dtype)).double()).abs().max().item() + 0 * exact.sum().item()
""",
        # a reference in the format under test
        """
def largest_error(fn, x, dtype):
    given = x.to(dtype)
    return (fn(given) - fn(given)).abs().max().item()
""",
    ],
    "l08-turn2": [
        """
odd = torch.arange(32769 * 4.0).reshape(1, 32769, 4).transpose(0, 1)
answer = odd.clone()
""",
        # a view with other strides of the same memory
        """
odd = torch.arange(32769 * 4.0).reshape(1, 32769, 4).transpose(0, 1)
answer = odd.as_strided((32769, 1, 4), (4, 4, 1))
""",
    ],
    "l08-turn3": [
        # compares the sum only, within a per cent
        """
def is_right(run):
    found = run(gradients, (images, labels))
    exact = gradients(images.double(), labels)
    return abs(sum(one.abs().sum() for one in found) / sum(one.abs().sum() for one in exact) - 1) < 0.2
""",
        # a tolerance that overlooks ten per cent
        """
def is_right(run):
    found = run(gradients, (images, labels))
    exact = gradients(images.double(), labels)
    return all(torch.allclose(a.double(), b, atol=0.1) for a, b in zip(found, exact, strict=True))
""",
        # the device against itself
        """
def is_right(run):
    first, second = (run(gradients, (images, labels)) for _ in range(2))
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
""",
        # no tolerance
        """
def is_right(run):
    found = run(gradients, (images, labels))
    exact = gradients(images.double(), labels)
    return all(torch.equal(a.double(), b) for a, b in zip(found, exact, strict=True))
""",
    ],
}
