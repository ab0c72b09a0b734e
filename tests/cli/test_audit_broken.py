"""`course audit` on thirty broken or odd model files: one sentence and exit code 2, or a table; never a traceback."""

import pytest

from course_utils.cli import main as cli

HEAD = "import sys, os\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def _module(forward="return x", init="pass", name="Net", extra=""):
    return (
        f"{HEAD}class {name}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {init}\n"
        f"    def forward(self, x):\n        {forward}\n    {extra}\ndef make():\n    return {name}()\n"
    )


# name -> (file, exit code)
FILES = {
    "empty file": ("", 2),
    "syntax error": ("def make(:\n", 2),
    "tabs and spaces": ("def make():\n\treturn 1\n        return 2\n", 2),
    "not UTF-8": ("# caf\udce9\ndef make(): pass\n", 2),
    "null byte": ("def make(): pass\n\0", 2),
    "imports what is not there": ("import transformers_that_is_not_there\n", 2),
    "exits while it loads": ("import sys\nsys.exit(3)\n", 2),
    "raises while it loads": ("raise KeyError('x')\n", 2),
    "make needs an argument": (f"{HEAD}def make(size):\n    return nn.Linear(size, 1)\n", 2),
    "make returns a class": (f"{HEAD}def make():\n    return nn.Linear\n", 2),
    "make returns a tensor": (f"{HEAD}def make():\n    return torch.ones(2)\n", 2),
    "make exits": (f"{HEAD}def make():\n    sys.exit(1)\n", 2),
    "make raises without a text": (f"{HEAD}def make():\n    raise ValueError\n", 2),
    "make is a number": ("make = 3\n", 2),
    "super().__init__ forgotten": (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self):\n        self.a = nn.Linear(4, 4)\n"
        "def make():\n    return Net()\n",
        2,
    ),
    "no forward": (f"{HEAD}class Net(nn.Module):\n    pass\ndef make():\n    return Net()\n", 2),
    "wrong shape": (_module("return self.a(x)", "self.a = nn.Linear(5, 4)"), 2),
    "wrong dtype": (_module("return self.a(x)", "self.a = nn.Embedding(5, 4)"), 2),
    "two inputs wanted": (_module("return x", extra="def forward(self, x, y): return x"), 2),
    "returns None": (_module("return None"), 2),
    "returns integers": (_module("return x.long()"), 2),
    "unknown attribute": (_module("return self.gone(x)"), 2),
    "endless recursion": (_module("return self(x)"), 2),
    "forward exits": (_module("sys.exit(1)"), 2),
    "forward raises an odd error": (_module("raise type('Odd', (Exception,), {})()"), 2),
    "cannot be copied": (_module(extra="def __deepcopy__(self, memo): raise ZeroDivisionError('no copies')"), 2),
    "holds a generator": (_module(init="self.g = (i for i in range(3))"), 2),
    "holds an open file": (_module(init="self.f = open(os.devnull)"), 2),
    "refuses to be moved": (
        _module(extra="def to(self, *a, **k): raise RuntimeError('stays here')", init="self.a = nn.Linear(4, 4)"),
        2,
    ),
    "in-place on a leaf": (
        _module("self.a.add_(1)\n        return x * self.a", "self.a = nn.Parameter(torch.ones(4))"),
        2,
    ),
    "graph freed": (
        _module(
            "y = (self.a * x).exp()\n        y.sum().backward()\n        return y",
            "self.a = nn.Parameter(torch.ones(4))",
        ),
        2,
    ),
    "no parameters": (_module("return x + 1"), 0),
    "lazy layer": (_module("return self.a(x)", "self.a = nn.LazyLinear(3)"), 0),
    "numpy in forward": (_module("return x + torch.from_numpy(x.detach().numpy())"), 1),
    "sparse buffer": (_module("return x + 1", "self.register_buffer('s', torch.eye(4).to_sparse())"), 1),
    "double weights": (_module("return self.a(x.double())", "self.a = nn.Linear(4, 4).double()"), 1),
    "quantized": (_module("return self.a(x)", "self.a = torch.ao.nn.quantized.dynamic.Linear(4, 4)"), 1),
}


def test_there_are_enough_broken_files():
    """Thirty files that cannot be audited."""
    assert sum(code == 2 for _, code in FILES.values()) >= 30


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FILES)
def test_a_sentence_or_a_table(name, tmp_path, capsys):
    """1 means findings and nothing else; whatever is wrong with a file is 2 and one sentence."""
    text, code = FILES[name]
    path = tmp_path / "model.py"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))

    assert cli.main(["audit", f"{path}:make", "--input", "2x4"]) == code
    out, err = capsys.readouterr()
    if code == 2:
        assert len(err.strip().splitlines()) == 1, err
        assert out == ""
    else:
        assert "audit of" in out
