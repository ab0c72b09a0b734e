"""What leaves the machine holds no home folder, no user name and no credentials."""

import pytest

from course_utils.doctor.privacy import scrub


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/Users/ada/course/.venv/bin/python", "~/course/.venv/bin/python"),
        ("/Users/ada", "~"),
        ("/Users/adalbert/x", "/Users/*/x"),
        ("no file '/Users/bob/lib.dylib'", "no file '/Users/*/lib.dylib'"),
        ("/home/eve/.venv", "/home/*/.venv"),
        ("C:\\Users\\eve\\x", "C:\\Users\\*\\x"),
        ("/Users/Shared/tools", "/Users/Shared/tools"),
        ("/opt/envs/ada/bin/python", "/opt/envs/*/bin/python"),
        ("index-url=https://ada:secret@example.org/simple?token=1", "index-url=https://example.org/simple"),
        ("https://token@example.org/simple#x", "https://example.org/simple"),
        ("/opt/adapter/lib", "/opt/adapter/lib"),
    ],
)
def test_scrub(text, expected):
    """Homes become ~ or *, the user's name becomes *, credentials and queries of addresses are cut out."""
    assert scrub(text, home="/Users/ada", user="ada") == expected


def test_common_account_names_stay():
    """An account such as root is nobody's name, and paths stay readable."""
    assert scrub("/opt/root", home="/root", user="root") == "/opt/root"


def test_without_home_or_user():
    """Where home and user are unknown, other people's homes are still hidden."""
    assert scrub("/Users/ada/x", home=None, user=None) == "/Users/*/x"
