"""One reader for the package's data files, and each file is one that it can read."""

from importlib import resources

import pytest

from course_utils.data.read import read_json


def test_every_data_file_says_what_it_is():
    """Each JSON file of the package is read, and begins with what it is about or with its sources."""
    names = [file.name for file in resources.files("course_utils.data").iterdir() if file.name.endswith(".json")]

    assert len(names) >= 7
    for name in names:
        assert "about" in read_json(name), name


def test_a_file_that_is_not_there():
    """A name that the package lacks is an error of the file system, not an empty table."""
    with pytest.raises(FileNotFoundError):
        read_json("no-such-file.json")
