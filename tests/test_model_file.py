"""What the command line says about a model: shapes, files, functions; everything wrong is one sentence."""

import sys

import pytest

from course_utils.model_file import load_maker, make_model, parse_shape, split_maker


@pytest.fixture
def model(tmp_path):
    """Write a model file with a helper beside it."""
    (tmp_path / "helper.py").write_text("VALUE = 7")
    path = tmp_path / "model.py"
    path.write_text(
        "from helper import VALUE\n"
        "number = 3\n"
        "def make_model():\n    return lambda x: x + VALUE\n"
        "def make_nothing():\n    return None\n"
        "def make_error():\n    raise RuntimeError('no weights')\n"
    )
    yield path
    sys.modules.pop("helper", None)


@pytest.mark.parametrize(("text", "shape"), [("8x3x224x224", (8, 3, 224, 224)), ("5", (5,)), ("0x4", (0, 4))])
def test_shapes(text, shape):
    """Sizes with x between them are a shape."""
    assert parse_shape(text) == shape


@pytest.mark.parametrize("text", ["", "8x", "x3", "8,3", "8x-3", "8 x 3", "axb", "8X3", "1.5x2"])
def test_no_shape(text):
    """Anything else is refused with the text and an example."""
    with pytest.raises(ValueError, match="is no shape; write sizes") as caught:
        parse_shape(text)
    assert repr(text) in str(caught.value)


def test_shape_beyond_every_machine():
    """A shape with more elements than any machine holds is refused before anything is drawn."""
    with pytest.raises(ValueError, match="has 1000000000000 elements"):
        parse_shape("1000000x1000000")


def test_model_is_made(model):
    """The function is called, and the file may import what lies beside it."""
    assert make_model(f"{model}:make_model")(1) == 8
    assert load_maker(f"{model}:make_model").__name__ == "make_model"
    assert str(model.parent) not in sys.path


@pytest.mark.parametrize("text", ["model.py", "model.py:", ":make", "model.py:2x", ""])
def test_no_function_named(text):
    """Without a file and a name, an example is shown."""
    with pytest.raises(ValueError, match="names no function in a file; write it as model.py:make_model"):
        split_maker(text)


def test_missing_file_with_the_nearest(model):
    """A misspelt file gets the nearest one beside it."""
    with pytest.raises(ValueError, match=r"there is no file .*; the nearest: model.py"):
        split_maker(f"{model.parent / 'modle.py'}:make_model")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("make_modle", "has no make_modle; the nearest: make_model"),
        ("number", "number in .* is a int; name a function"),
        ("make_nothing", "returned a NoneType"),
        ("make_error", "raised RuntimeError: no weights"),
    ],
)
def test_wrong_functions(model, name, words):
    """Names that are no functions, and functions that make no model, are one sentence each."""
    with pytest.raises(ValueError, match=words):
        make_model(f"{model}:{name}")


@pytest.mark.parametrize(
    ("content", "words"),
    [("x = (", "SyntaxError"), ("import no_such_module", "no_such_module"), ("raise SystemExit(3)", "SystemExit: 3")],
)
def test_file_that_does_not_load(tmp_path, content, words):
    """A file that does not load says why in one line."""
    path = tmp_path / "model.py"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"does not load: .*{words}") as caught:
        load_maker(f"{path}:make_model")
    assert "\n" not in str(caught.value)


def test_other_kind_of_file(tmp_path):
    """A file that is no Python is refused."""
    path = tmp_path / "model.txt"
    path.write_text("x = 1")
    with pytest.raises(ValueError, match=r"has to end in .py"):
        load_maker(f"{path}:make_model")
