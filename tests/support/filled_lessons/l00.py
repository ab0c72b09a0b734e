"""What fills lesson 00."""

FILLED = {
    "l00-predict1": """
from course_utils import compare_prediction, predict

predict("memory of a matrix with side 1024", 4, "MB")
""",
    "l00-predict2": 'predict("product with side 1024 on the CPU", 30, "ms")',
    "l00-predict3": 'predict("product of 512 x 2048 and 2048 x 512 on the CPU", 15, "ms")',
    "l00-turn1": """
def double(x):
    return 2 * x
""",
    "l00-turn2": "my_side = 2048",
    "l00-turn3": "my_rows, my_inner, my_columns = 512, 1024, 2048",
}
WRONG = {
    "l00-turn1": [
        "def double(x):\n    return x + x if x > 0 else -x",
        "def double(x):\n    return x**2",
        "def double(x):\n    print(x + x)",
    ],
    "l00-turn2": ["my_side = 256", "my_side = 128"],
    "l00-turn3": [
        "my_rows, my_inner, my_columns = 512, 2048, 512",
        "my_rows, my_inner, my_columns = 2048, 2048, 256.5",
        "my_rows, my_inner, my_columns = 1024, 512, 1024",
    ],
}
