"""A gradebook's address is read, and no password of it is ever shown."""

import pytest

from course_utils.grading.books.database_url import GradebookError, explain, read_address, shown


@pytest.mark.parametrize("start", ["postgresql", "postgres", "postgresql+psycopg"])
def test_postgresql_is_reached_with_psycopg(start):
    """Whatever SQLAlchemy's default is, the driver is the one that the course installs."""
    address = read_address(f"{start}://ada:secret@localhost/grades")

    assert address.drivername == "postgresql+psycopg"
    assert address.password == "secret"


def test_another_driver_can_be_asked_for():
    """Who names a driver gets it."""
    assert read_address("postgresql+psycopg2://localhost/grades").drivername == "postgresql+psycopg2"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:s3cr3t@localhost/grades",
        "postgresql://ada:s3cr3t@/grades?host=/run/postgresql",
        "postgresql://localhost/grades?user=ada&password=s3cr3t",
        "postgresql://localhost/grades?sslpassword=s3cr3t",
    ],
)
def test_passwords_are_not_shown(url):
    """Neither the address nor an error that quotes it has the password."""
    address = read_address(url)
    quoting = explain(RuntimeError(f'invalid option in "{url}"'), address)

    assert "s3cr3t" not in shown(address)
    assert "s3cr3t" not in str(quoting)
    assert "/grades" in shown(address)


def test_quoted_password_is_not_shown():
    """A password that the address has percent-encoded is hidden in both forms."""
    address = read_address("postgresql://ada:p%40ss%2Fword@localhost/grades")

    told = str(explain(RuntimeError("p@ss/word or p%40ss%2Fword"), address))

    assert "ss/word" not in told
    assert "p%40ss" not in told


@pytest.mark.parametrize("url", ["", "gradebook.db", "s3cr3t", "postgresql://ada:s3cr3t@host:port/grades", "://s3cr3t"])
def test_what_is_no_address_is_refused_without_repeating_it(url):
    """A wrong address gets the right form as an answer, and is not printed."""
    with pytest.raises(GradebookError, match=r"has to look like sqlite:////folder/gradebook\.db") as caught:
        read_address(url)

    assert "s3cr3t" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_other_databases_are_refused():
    """A database that the course does not test is named."""
    with pytest.raises(GradebookError, match="begins with 'mysql'; this course writes to sqlite and postgresql"):
        read_address("mysql://localhost/grades")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("database is locked", "close formgrader"),
        ("unable to open database file", "its folder has to exist"),
        ("attempt to write a readonly database", "make the file and its folder writable"),
        ("database disk image is malformed", "put a copy of it back"),
        ('FATAL:  password authentication failed for user "ada"', "check both in the address"),
        ('FATAL:  database "grades" does not exist', "create the database"),
        ("connection failed: Connection refused", "start the database server"),
        ("No module named 'psycopg'", "pip install"),
        ("something new\nwith details", "(something new)"),
    ],
)
def test_errors_say_what_to_do(text, said):
    """Each known error of a driver becomes a sentence with the address and what to do; others are quoted."""
    told = str(explain(RuntimeError(text), read_address("sqlite:////course/gradebook.db")))

    assert said in told
    assert "sqlite:////course/gradebook.db" in told
    assert "\n" not in told
