"""The first release with an MPS kernel, for each overload, over the published releases."""

import pytest
from support.found import found

from course_utils.data.versions import installed_torch, line_of, order
from course_utils.operators import first_native, history
from course_utils.operators.history import ABSENT, SPARSE, read_history
from course_utils.operators.rules import RULES

RELEASES = ["2.0.1", "2.1.2", "2.2.2", "2.3.1"]


def small_history(rows, **changes):
    data = {"format": 1, "releases": RELEASES, "letters": rows, "sparse": {}, "delegates": {}, "unread": {}}
    return read_history(data | changes)


def test_every_line_from_2_0_on_was_read():
    """The history has one release of each line up to 2.15, oldest first, with nothing unread."""
    assert [line_of(release) for release in history().releases] == [f"2.{minor}" for minor in range(16)]
    assert list(history().releases) == sorted(history().releases, key=order)
    assert dict(history().unread) == {}
    assert history().newest == "2.15"


def test_every_letter_has_a_meaning():
    """Rows hold one known letter for each release, and no row is empty."""
    for row in found(history().letters.values()):
        assert set(row) <= RULES.keys() | {ABSENT}
        assert set(row) != {ABSENT}
    for row in found(history().sparse.values()):
        assert set(row) <= SPARSE.keys()


def test_every_verdict_that_needs_a_delegate_has_one():
    """Where a verdict comes from an out= overload, the history names that overload and has it in the same release."""
    for release in found(history().releases):
        verdicts = history().verdicts(release)
        needing = {name for name, letter in verdicts.letters.items() if RULES[letter].from_delegate}
        assert needing == set(verdicts.delegates)
        assert set(verdicts.delegates.values()) <= set(verdicts.letters)


@pytest.mark.parametrize(
    ("overload", "first"),
    [
        ("roll", "2.1"),
        ("aten::_fft_r2c", "2.3"),
        ("isin.Tensor_Tensor", "2.4"),
        ("upsample_bicubic2d", "2.6"),
        ("im2col", "2.6"),
        ("linalg_qr", "2.12"),
        ("_cdist_backward", "2.13"),
        ("native_group_norm", "2.13"),
        ("_linalg_svd", "2.14"),
        ("_linalg_eigh", "2.14"),
        ("_ctc_loss", "2.14"),
        ("_ctc_loss_backward", "2.14"),
        ("take", "2.15"),
        ("add.Tensor", "2.0"),
        ("linalg_eig", None),
        ("no_such_operator", None),
    ],
)
def test_first_release_with_a_kernel(overload, first):
    """The first line in which an overload is native, as published wheels have it."""
    assert first_native(overload) == first


@pytest.mark.parametrize(
    ("overload", "have", "sentence"),
    [
        ("aten::roll", "2.0.1", "native since 2.1, you have 2.0"),
        ("roll", "2.1.0", "native since 2.1"),
        ("_ctc_loss", "2.9.1", "native since 2.14, you have 2.9"),
        ("add.Tensor", "2.14.1", "native since 2.0 or older"),
        ("linalg_eig", "2.14.1", "native in no release up to 2.15"),
        ("embedding_renorm_", "2.14.1", "native in no release up to 2.15"),
        ("linalg_svd", "2.13", "made of other operators since 2.14, you have 2.13"),
        ("upsample_nearest3d.vec", "2.9", "made of other operators since 2.8"),
        ("linalg_lu_factor", "2.9", "native from 2.5 to 2.9, made of other operators since 2.10"),
        ("cholesky", "2.13", "native from 2.7 to 2.13, not in torch since 2.14"),
        ("brand_new", "2.16", "not known to the history, which ends with 2.15"),
    ],
)
def test_the_sentence_for_a_reader(overload, have, sentence):
    """One sentence says since when there is a kernel, and what the reader has where that is older."""
    assert history().sentence(overload, have) == sentence


@pytest.mark.parametrize(
    ("overload", "have", "newer"),
    [
        ("roll", "2.1.0", None),
        ("_ctc_loss", "2.9.1", "2.14"),
        ("_ctc_loss", "2.14.0", None),
        ("linalg_svd", "2.13", "2.14"),
        ("linalg_eig", "2.14.1", None),
        ("linalg_lu_factor", "2.4", None),
        ("brand_new", "2.16", None),
    ],
)
def test_the_release_that_would_help(overload, have, newer):
    """A newer release is named where one runs it on MPS for good, and none where the reader has it or none does."""
    assert history().newer_release(overload, have) == newer


def test_a_kernel_that_was_lost_is_told():
    """The line that lost a kernel for good is named, and a kernel that came back is not lost."""
    found = small_history({"gone": "nnmm", "back": "nmnn", "never": "mmmm", "new": "--mn", "cpu": "ncnc"})
    assert found.lost_native("gone") == "2.2"
    assert found.sentence("gone", "2.3") == "native from 2.0 to 2.1, missing since 2.2"
    assert found.sentence("cpu", "2.3") == "native from 2.0 to 2.2, always on the CPU since 2.3"
    assert found.lost_native("back") is None
    assert found.first_native("back") == "2.0"
    assert found.sentence("back", "2.1") == "native since 2.2, you have 2.1"
    assert found.lost_native("never") is None
    assert found.first_native("new") == "2.3"


def test_a_release_that_was_not_read_says_why():
    """Nothing is claimed about an unread release, and the reason is passed on."""
    found = small_history({"f": "mmmn"}, unread={"2.4.1": "no wheel"})
    with pytest.raises(LookupError, match=r"torch 2\.4 are not in the history \(no wheel\); it has 2\.0\.1"):
        found.verdicts("2.4")


def test_a_release_answers_for_its_line():
    """2.1 and 2.1.0 get the release of that line which was read."""
    found = small_history({"f": "mnnn"})
    assert found.find_release("2.1") == found.find_release("2.1.0") == "2.1.2"
    assert found.verdicts("2.1").letters == {"f": "n"}
    assert found.verdicts("2.0").letters == {"f": "m"}


def test_an_overload_that_a_release_lacks_has_no_verdict_there():
    """A dash is not a verdict."""
    assert small_history({"f": "--nn", "g": "mmmm"}).verdicts("2.0.1").letters == {"g": "m"}


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"format": 2}, "has format 2, this version reads 1"),
        ({"letters": {"f": "nn"}}, "f has 2 letters in the operator history, not 4"),
        ({"sparse": {"f": "sssss"}}, "f has 5 letters in the operator history, not 4"),
    ],
)
def test_a_damaged_history_is_refused(changes, part):
    """Another format or a row of the wrong length is an error, not a wrong verdict."""
    with pytest.raises(ValueError, match=part):
        small_history({"f": "nnnn"}, **changes)


def test_releases_sort_as_numbers():
    """2.10 comes after 2.9, and local parts are ignored."""
    assert sorted(["2.10.0", "2.9.1", "2.9"], key=order) == ["2.9", "2.9.1", "2.10.0"]
    assert order("2.14.1+cu130") == (2, 14, 1)
    assert line_of("2.15.0.dev20260901") == "2.15"
    with pytest.raises(ValueError, match="is not a torch release"):
        order("two")


def test_the_installed_torch_is_named():
    """The version comes from the installed package's metadata."""
    assert order(installed_torch()) >= (2, 9, 0)
