"""Cells of a student's own above a task that needs what they leave: bound, changed, set, written into a file.

What -> the cells, and an expression with x that the task `double` returns.
"""

CELLS_BESIDE = {
    "a dict that the next cell fills": (["K = {}", "K['two'] = 2"], "K['two'] * x"),
    "a dict that is updated": (["K = {}", "K.update(two=2)"], "K['two'] * x"),
    "a dict that a loop fills": (["K = {}", "for name, n in [('two', 2)]:\n    K[name] = n"], "K['two'] * x"),
    "a list that is appended to": (["K = []", "K.append(2)"], "K[0] * x"),
    "an argument that is changed": (["import bisect\nK = []", "bisect.insort(K, 2)"], "K[0] * x"),
    "a function that changes something": (
        ["K = {}\ndef put(name, n):\n    K[name] = n", "put('two', 2)"],
        "K['two'] * x",
    ),
    "a function that binds a global": (["def configure():\n    global K\n    K = 2\nconfigure()"], "K * x"),
    "a class that gets a method": (["class K:\n    pass", "K.two = staticmethod(lambda: 2)"], "K.two() * x"),
    "setattr": (["class K:\n    pass", "setattr(K, 'two', 2)"], "K.two * x"),
    "a decorator that registers": (
        ["K = []\ndef kept(f):\n    K.append(f)\n    return f", "@kept\ndef twice(x):\n    return 2 * x"],
        "K[0](x)",
    ),
    "subclasses that register": (
        [
            "class Base:\n    kinds = []\n    def __init_subclass__(cls):\n        Base.kinds.append(cls)",
            "class Two(Base):\n    n = 2",
        ],
        "Base.kinds[0].n * x",
    ),
    "a fallback where an import fails": (
        ["try:\n    from nowhere import twice\nexcept ImportError:\n    def twice(x):\n        return 2 * x"],
        "twice(x)",
    ),
    "an import in a try": (["try:\n    import operator\nexcept ImportError:\n    pass"], "operator.mul(2, x)"),
    "an import in a with": (
        ["import warnings\nwith warnings.catch_warnings():\n    import operator"],
        "operator.mul(2, x)",
    ),
    "a match": (["match (1, 2):\n    case (_, K):\n        pass"], "K * x"),
    "globals()": (["globals()['K'] = 2"], "K * x"),
    "an await": (["import asyncio\nasync def two():\n    return 2\nK = await two()"], "K * x"),
    "what a command printed": (["files = !ls\nK = 2"], "K * x"),
    "what a magic answered": (["here = %pwd\nK = 2"], "K * x"),
    "a question mark": (["print?\n?print\nK = 2"], "K * x"),
    "a magic for the whole cell": (["%%time\nK = 2"], "K * x"),
    "a file that is run": (["%%writefile two.py\nK = 2\n", "%run two.py"], "K * x"),
    "a file that is imported": (["%%writefile my_two.py\nK = 2\n", "from my_two import K"], "K * x"),
    "a setting": (["import sys", "sys.setrecursionlimit(9_000)"], "2 * x if sys.getrecursionlimit() == 9_000 else 0"),
    "a setting of a library that no task names": (
        ["import decimal", "decimal.getcontext().prec = 5", "from decimal import Decimal as D"],
        "float(2 * D(x)) if len(str(D(1) / 3)) == 7 else 0",
    ),
    "a seed with a name": (
        ["import random", "SEED = 3\nrandom.seed(SEED)\nprint([n for n in range(3)])"],
        "2 * x if random.getrandbits(32) == random.Random(3).getrandbits(32) else 0",
    ),
    "the environment": (["import os", "os.environ['TWO'] = '2'"], "int(os.environ['TWO']) * x"),
    "a table of 12,000 characters": (["K = [" + ", ".join(["2"] * 4_000) + "]"], "K[7] * x"),
}
