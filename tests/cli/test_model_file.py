"""`FILE.py:make_model` and `8x3x224x224` are read, or refused in one sentence."""

import sys

import pytest
import torch

from course_utils.cli.model_file import load_function, make_inputs, parse_shape


@pytest.mark.parametrize(("text", "shape"), [("8x3x224x224", (8, 3, 224, 224)), ("7", (7,)), (" 2x1 ", (2, 1))])
def test_shapes(text, shape):
    """Sizes stand between x."""
    assert parse_shape(text) == shape


@pytest.mark.parametrize("text", ["", "8x", "x8", "8,3", "8x-3", "8x3.5", "8X3"])
def test_what_is_no_shape(text):
    """Anything else is refused with its text and an example."""
    with pytest.raises(ValueError, match="is not a shape; write sizes with x between them"):
        parse_shape(text)


def test_a_shape_without_elements():
    """A size of 0 is refused."""
    with pytest.raises(ValueError, match="holds no element"):
        parse_shape("8x0")


def test_inputs_hold_no_numbers():
    """Inputs are made on meta, float32 unless a dtype is given in turn."""
    tokens, mask = make_inputs(["4x16", "4x16"], ["int64"])

    assert (tokens.dtype, mask.dtype) == (torch.int64, torch.float32)
    assert tokens.device.type == mask.device.type == "meta"


@pytest.mark.parametrize(
    ("dtypes", "word"),
    [(["int46"], "the nearest: int64"), (["nn"], "no dtype 'nn'"), (["int64"] * 3, "3 input dtypes")],
)
def test_wrong_dtypes(dtypes, word):
    """An unknown dtype gets the nearest names; more dtypes than inputs are refused."""
    with pytest.raises(ValueError, match=word):
        make_inputs(["4x16", "4x16"], dtypes)


def test_a_function_in_a_file(tmp_path):
    """The function is loaded, the file's neighbours can be imported, and the import path is as before."""
    (tmp_path / "beside_it.py").write_text("WIDTH = 3\n")
    (tmp_path / "net.py").write_text("import beside_it\ndef make_model():\n    return beside_it.WIDTH\n")
    before = list(sys.path)

    assert load_function(f"{tmp_path / 'net.py'}:make_model")() == 3
    assert sys.path == before
    sys.modules.pop("beside_it")


@pytest.mark.parametrize(
    ("content", "name", "word"),
    [
        ("def make_model(): ...", "make_modle", "the nearest: make_model"),
        ("", "make_model", "there is none"),
        ("make_model = 3", "make_model", "is a int"),
        ("raise RuntimeError('broken')", "make_model", "does not run: RuntimeError: broken"),
        ("def make_model(:", "make_model", "does not run: SyntaxError"),
        ("import no_such_module_at_all", "make_model", "does not run: ModuleNotFoundError"),
    ],
)
def test_what_a_file_can_get_wrong(tmp_path, content, name, word):
    """A missing function gets the nearest names; a file that does not run, its error."""
    (tmp_path / "net.py").write_text(content)
    with pytest.raises(ValueError, match=word):
        load_function(f"{tmp_path / 'net.py'}:{name}")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("net.py", "names no function"),
        (":make_model", "names no function"),
        ("net.py:", "names no function"),
        ("gone.py:make_model", "no file gone.py"),
    ],
)
def test_what_names_no_function(text, word):
    """A text without a file or a function is refused with an example."""
    with pytest.raises(ValueError, match=word):
        load_function(text)


def test_what_is_no_python_file(tmp_path):
    """A file of another kind is refused."""
    (tmp_path / "net.txt").write_text("def make_model(): ...")
    with pytest.raises(ValueError, match="not a Python file"):
        load_function(f"{tmp_path / 'net.txt'}:make_model")
