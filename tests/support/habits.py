"""The ways in which students write a right solution of one small task: `double(x)` of `support.two_tasks`.

Each habit is a prelude (imports, helpers, settings) and the task's function; the prelude can stand in the task's own
cell, in a cell above it, or in the given first cell.
"""

from __future__ import annotations

from typing import Any

from support.two_tasks import SOLVED, cell, submitted

HABITS = {
    "plain": ("", "def double(x):\n    return 2 * x"),
    "numpy scalar": ("import numpy as np", "def double(x):\n    return np.float64(2) * x"),
    "single precision": ("import numpy as np", "def double(x):\n    return np.float32(2 * x)"),
    "array without dimensions": ("import numpy as np", "def double(x):\n    return (np.array(x) * 2)[()]"),
    "type hints": ("from __future__ import annotations", "def double(x: float) -> float:\n    return 2 * x"),
    "a lambda": ("", "double = lambda x: 2 * x"),
    "a class": ("class Doubler:\n    def __call__(self, x):\n        return 2 * x", "double = Doubler()"),
    "a float of its own": ("class Metres(float):\n    pass", "def double(x):\n    return Metres(2 * x)"),
    "an enum": ("from enum import IntEnum\nclass Way(IntEnum):\n    TWO = 2", "def double(x):\n    return Way.TWO * x"),
    "a member of an enum": (
        "from enum import IntEnum\nclass Answer(IntEnum):\n    SIX = 6",
        "def double(x):\n    return Answer.SIX if x == 3 else 2 * x",
    ),
    "recursion": ("", "def double(x):\n    return x if not x else 2 + double(x - 1) if x >= 1 else 2 * x"),
    "a global": ("FACTOR = 2", "def double(x):\n    return FACTOR * x"),
    "a global that counts": ("calls = 0", "def double(x):\n    global calls\n    calls += 1\n    return 2 * x"),
    "print debugging": ("", 'def double(x):\n    print(f"x={x} \N{SNAKE}")\n    return 2 * x'),
    "logging": (
        "import logging\nlog = logging.getLogger(__name__)",
        "def double(x):\n    log.info(x)\n    return 2 * x",
    ),
    "a decorator": ("from functools import lru_cache", "@lru_cache\ndef double(x):\n    return 2 * x"),
    "a decorator of its own": (
        "import functools\ndef loud(f):\n    @functools.wraps(f)\n    def inner(*a):\n        return f(*a)\n"
        "    return inner",
        "@loud\ndef double(x):\n    return 2 * x",
    ),
    "walrus": ("", "def double(x):\n    return (y := x) + y"),
    "star import": ("from math import *", "def double(x):\n    return fsum([x, x])"),
    "operator": ("import operator as op", "def double(x):\n    return op.mul(2, x)"),
    "reduce": ("from functools import reduce", "def double(x):\n    return reduce(lambda a, b: a + b, [x, x])"),
    "a helper": ("def twice(x):\n    return x + x", "def double(x):\n    return twice(x)"),
    "two helpers": (
        "def add(a, b):\n    return a + b\ndef twice(x):\n    return add(x, x)",
        "def double(x):\n    return twice(x)",
    ),
    "defined twice": ("def double(x):\n    return 0", "def double(x):\n    return 2 * x"),
    "a seed": ("import random\nrandom.seed(3)", "def double(x):\n    random.random()\n    return 2 * x"),
    "warnings": ("import warnings", "def double(x):\n    warnings.warn('slow')\n    return 2 * x"),
    "to standard error": ("import sys", "def double(x):\n    print('x', file=sys.stderr)\n    return 2 * x"),
    "tqdm": ("from tqdm import tqdm", "def double(x):\n    return sum(x for _ in tqdm(range(2)))"),
    "fractions": ("from fractions import Fraction", "def double(x):\n    return float(Fraction(x) * 2)"),
    "a match": (
        "",
        "def double(x):\n    match x:\n        case 0:\n            return 0\n"
        "        case _:\n            return 2 * x",
    ),
    "main guard": ("", 'def double(x):\n    return 2 * x\nif __name__ == "__main__":\n    print(double(4))'),
    "magic": ("", "%matplotlib inline\ndef double(x):\n    return 2 * x\n%time double(3)"),
    "tabs": ("", "def double(x):\n\tif x:\n\t\treturn 2 * x\n\treturn x"),
    "other scripts": (
        "\N{GREEK SMALL LETTER LAMDA} = 2  # \u4e24\u500d",
        "def double(x):\n    return \N{GREEK SMALL LETTER LAMDA} * x",
    ),
    "a named tuple's field": (
        "from collections import namedtuple\nPair = namedtuple('Pair', 'x y')",
        "def double(x):\n    return Pair(x, 2 * x).y",
    ),
    "an ordered dict": (
        "from collections import OrderedDict",
        "def double(x):\n    return OrderedDict(first=2 * x)['first']",
    ),
    "a default dict": (
        "from collections import defaultdict\ncounts = defaultdict(int)",
        "def double(x):\n    counts[x] += 2 * x\n    return counts.pop(x)",
    ),
    "a tensor without dimensions": ("import torch", "def double(x):\n    return torch.tensor(2.0 * x)"),
    "another default dtype, restored": (
        "import torch\ntorch.set_default_dtype(torch.float64)",
        "def double(x):\n    return (torch.tensor(x) * 2).item()\ntorch.set_default_dtype(torch.float32)",
    ),
    "timeit left in": ("", "def double(x):\n    return 2 * x\n%timeit -n1 -r1 double(3)"),
    "input at the end": ("", "def double(x):\n    return 2 * x\nprint(double(float(input('x = '))))"),
    "a plot": (
        "import matplotlib.pyplot as plt",
        "def double(x):\n    return 2 * x\nplt.plot([double(n) for n in range(3)])\nplt.show()",
    ),
    "an async function": (
        "import asyncio\nasync def slowly(x):\n    await asyncio.sleep(0)\n    return 2 * x",
        "def double(x):\n    return asyncio.run(slowly(x))",
    ),
    "a generator": ("def twice(x):\n    yield x\n    yield x", "def double(x):\n    return sum(twice(x))"),
    "a dataclass": (
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Twice:\n    x: float\n"
        "    @property\n    def value(self):\n        return self.x * 2",
        "def double(x):\n    return Twice(x).value",
    ),
    "a partial": ("from functools import partial\nimport operator", "double = partial(operator.mul, 2)"),
    "single dispatch": ("from functools import singledispatch", "@singledispatch\ndef double(x):\n    return 2 * x"),
    "own assertions": ("", "def double(x):\n    return 2 * x\nassert double(3) == 6, 'no'"),
    "an error caught": (
        "",
        "def double(x):\n    try:\n        return x * 2\n    except (TypeError, ValueError) as error:\n"
        "        raise SystemExit from error",
    ),
    "a context manager": (
        "from contextlib import contextmanager\n@contextmanager\ndef timed():\n    yield",
        "def double(x):\n    with timed():\n        return 2 * x",
    ),
    "display and help": (
        "from IPython.display import Markdown, display",
        "def double(x):\n    return 2 * x\ndisplay(Markdown('**done**'), double(3))\nhelp(double)",
    ),
    "a name deleted afterwards": ("factor = 2", "def double(x, k=factor):\n    return k * x\ndel factor"),
    "decimal": ("from decimal import Decimal", "def double(x):\n    return float(Decimal(x) * 2)"),
    "lines end in CR LF": ("K = 2", "def double(x):\r\n    y = K * x\r\n    return y"),
}
PLACES = ("in the task's cell", "in a cell above", "in the first cell")


def notebook(habit: str, place: str) -> dict[str, Any]:
    """Return a notebook in which both tasks are solved, the first in one way."""
    prelude, function = HABITS[habit]
    own = f"{prelude}\n{function}" if prelude and place == PLACES[0] else function
    made = submitted(SOLVED | {"double": own})
    if place == PLACES[1]:
        made["cells"].insert(1, cell(prelude or "# my own notes"))
    elif place == PLACES[2]:
        made["cells"][0]["source"] += f"\n{prelude}"
    return made


NOTEBOOKS = tuple((habit, place) for habit in HABITS for place in PLACES if HABITS[habit][0] or place == PLACES[0])
