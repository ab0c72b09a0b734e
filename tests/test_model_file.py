"""How commands name a model and its inputs: shapes, dtypes, files, functions; everything wrong is one sentence."""

import sys

import pytest
import torch

from course_utils.model_file import load_function, make_inputs, parse_shape


@pytest.fixture
def model(tmp_path):
    """Write a model file with another file beside it."""
    (tmp_path / "beside_the_model.py").write_text("VALUE = 7")
    path = tmp_path / "net.py"
    path.write_text("from beside_the_model import VALUE\nnumber = 3\ndef make_model():\n    return VALUE\n")
    yield path
    sys.modules.pop("beside_the_model", None)


@pytest.mark.parametrize(("text", "shape"), [("8x3x224x224", (8, 3, 224, 224)), ("5", (5,))])
def test_shapes(text, shape):
    """Sizes with x between them are a shape."""
    assert parse_shape(text) == shape


@pytest.mark.parametrize("text", ["", "8x", "x3", "8,3", "8x-3", "8 x 3", "axb", "8X3", "1.5x2"])
def test_no_shape(text):
    """Anything else is refused with the text and an example."""
    with pytest.raises(ValueError, match="is no shape; write sizes") as caught:
        parse_shape(text)
    assert repr(text) in str(caught.value)


def test_inputs_hold_no_numbers():
    """Inputs are made on meta, each with its dtype, float32 where none is given."""
    image, tokens = make_inputs(["100000x100000", "2x5"], ["float16", "int64"])

    assert (image.device.type, image.dtype, tokens.dtype) == ("meta", torch.float16, torch.int64)
    assert make_inputs(["3"])[0].dtype == torch.float32


def test_function_is_loaded(model):
    """The function is found, its file may import what lies beside it, and the path is put back."""
    assert load_function(f"{model}:make_model")() == 7
    assert str(model.parent) not in sys.path


@pytest.mark.parametrize("text", ["net.py", "net.py:", ":make", "net.py:2x", ""])
def test_no_function_named(text):
    """Without a file and a name, the form is shown."""
    with pytest.raises(ValueError, match=r"names no function in a file; write FILE.py:make_model"):
        load_function(text)


@pytest.mark.parametrize(
    ("name", "words"), [("make_modle", "the nearest: make_model"), ("number", "number in .* is a int")]
)
def test_wrong_names(model, name, words):
    """A misspelt name gets the nearest; a name of something else says what it is."""
    with pytest.raises(ValueError, match=words):
        load_function(f"{model}:{name}")


@pytest.mark.parametrize(
    ("content", "words"),
    [("x = (", "SyntaxError"), ("import no_such_module", "no_such_module"), ("raise SystemExit(3)", "SystemExit: 3")],
)
def test_file_that_does_not_run(tmp_path, content, words):
    """A file that does not run says why in one line, also one that ends the program."""
    path = tmp_path / "net.py"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"does not run: .*{words}") as caught:
        load_function(f"{path}:make_model")
    assert "\n" not in str(caught.value)
