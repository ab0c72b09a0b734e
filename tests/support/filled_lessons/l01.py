"""What fills lesson 01."""

FILLED = {
    "l01-predict1": 'predict("memory of x and y together", 8, "MB")',
    "l01-predict2": 'predict("bandwidth of this machine\'s memory", 20, "GB/s")',
    "l01-predict3": 'predict("multiply 67 MB in place", 134e6 / rate * 1000, "ms")',
    "l01-turn1": """
def squash(hidden):
    return hidden.nan_to_num(0.0).clamp(0, 1)
""",
    "l01-turn2": """
def predicted_s(elements, itemsize, read, written, bandwidth):
    return elements * itemsize * (read + written) / bandwidth
""",
    "l01-turn3": "my_side = 2 ** math.ceil(math.log2(6 * ridge))",
}
WRONG = {
    "l01-turn1": [
        "def squash(hidden):\n    return hidden.clamp(0, 1)",
        "def squash(hidden):\n    return hidden.cpu().nan_to_num(0.0).clamp(0, 1)",
        "def squash(hidden):\n    return hidden.cpu().nan_to_num(0.0).to(hidden.device).clamp(0, 1)",
        "def squash(hidden):\n    return hidden.nan_to_num(0.0).clamp(0, 1).cpu().to(hidden.device)",
        "def squash(hidden):\n    hidden.nan_to_num(0.0).clamp(0, 1)",
        "def squash(hidden):\n    return hidden.minimum(1)",
    ],
    "l01-turn2": [
        "def predicted_s(elements, itemsize, read, written, bandwidth):\n    return elements * itemsize / bandwidth",
        "def predicted_s(elements, itemsize, read, written, bandwidth):\n"
        "    return elements * 4 * (read + written) / bandwidth",
        "def predicted_s(elements, itemsize, read, written, bandwidth):\n"
        "    return elements * itemsize * max(read, written) / bandwidth",
        "def predicted_s(elements, itemsize, read, written, bandwidth):\n"
        "    return 1000 * elements * itemsize * (read + written) / bandwidth",
    ],
    "l01-turn3": [
        "my_side = 2 ** math.ceil(math.log2(6 * ridge)) * 2",
        "my_side = 2 ** math.ceil(math.log2(6 * ridge)) // 2",
        "my_side = 6 * ridge + 0.01",
        "my_side = '64'",
    ],
}
