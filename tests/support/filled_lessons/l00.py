"""What fills lesson 00."""

FILLED = {
    "l00-predict1": """
from course_utils import compare_prediction, predict

predict("product with side 1024 on the CPU", 30, "ms")
""",
    "l00-turn1": """
def double(x):
    return 2 * x
""",
    "l00-turn2": "my_side = 2048",
}
WRONG = {
    "l00-turn1": [
        "def double(x):\n    return x + x if x > 0 else -x",
        "def double(x):\n    return x**2",
        "def double(x):\n    print(x + x)",
    ],
    "l00-turn2": ["my_side = 256", "my_side = 128"],
}
