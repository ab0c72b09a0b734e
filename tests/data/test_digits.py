"""The digits that come with the course: the right file, its licence beside it, the stated split."""

import gzip
import hashlib
from importlib import resources

import torch

from course_utils.data.digits import load_digits

DATA = resources.files("course_utils.data")


def test_shapes_dtypes_and_range():
    """Images are 8x8 bytes from 0 to 16, labels are int64 from 0 to 9."""
    digits = load_digits()

    assert (tuple(digits.train_images.shape), digits.train_images.dtype) == ((1437, 8, 8), torch.uint8)
    assert (tuple(digits.test_images.shape), digits.test_images.dtype) == ((360, 8, 8), torch.uint8)
    assert (tuple(digits.train_labels.shape), digits.train_labels.dtype) == ((1437,), torch.int64)
    assert (tuple(digits.test_labels.shape), digits.test_labels.dtype) == ((360,), torch.int64)
    for images in (digits.train_images, digits.test_images):
        assert (int(images.min()), int(images.max())) == (0, 16)


def test_the_data_are_the_published_ones():
    """The file's lines have not changed since they were taken over."""
    lines = gzip.decompress((DATA / "digits.csv.gz").read_bytes())

    assert hashlib.sha256(lines).hexdigest() == "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"


def test_the_split_keeps_the_order_of_the_file():
    """The first image of the file is the first to train with, the last one the last to test with."""
    lines = gzip.decompress((DATA / "digits.csv.gz").read_bytes()).splitlines()
    digits = load_digits()

    first = [int(value) for value in lines[0].split(b",")]
    last = [int(value) for value in lines[-1].split(b",")]
    assert [*digits.train_images[0].flatten().tolist(), int(digits.train_labels[0])] == first
    assert [*digits.test_images[-1].flatten().tolist(), int(digits.test_labels[-1])] == last


def test_the_counts_are_those_that_the_repository_states():
    """Each digit occurs as often as UCI's description of the test part says."""
    digits = load_digits()
    labels = torch.cat([digits.train_labels, digits.test_labels])

    assert torch.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_each_digit_is_in_both_parts():
    """Both parts have every digit, none with fewer than a fifteenth of the images."""
    digits = load_digits()

    for labels in (digits.train_labels, digits.test_labels):
        counts = torch.bincount(labels, minlength=10)
        assert len(counts) == 10
        assert int(counts.min()) > len(labels) / 15


def test_what_one_reader_changes_the_next_does_not_see():
    """Each call gives tensors of its own."""
    load_digits().train_images.zero_()

    assert int(load_digits().train_images.max()) == 16


def test_licence_and_citation_are_beside_the_data():
    """The text beside the file names authors, licence and DOI, and the printed line names the licence."""
    text = (DATA / "digits_licence.txt").read_text(encoding="utf-8")

    for needed in ("Alpaydin", "Kaynak", "CC BY 4.0", "10.24432/C50P49"):
        assert needed in text
    assert "CC BY 4.0" in str(load_digits())
    assert len((DATA / "digits.csv.gz").read_bytes()) < 100_000
