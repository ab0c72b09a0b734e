"""Write results into nbgrader's gradebook, so that formgrader and `nbgrader export` show them.

One process writes, and each submission is one transaction: it is in the book whole or not at all. What a person
entered (manual scores, extra credit, comments) is kept.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_utils.grading.assignment import Assignment
from course_utils.grading.books.book_structure import Structure, store_structure
from course_utils.grading.books.database_url import GradebookError, explain, read_address, shown
from course_utils.grading.books.manual_grades import ManualGrade, ManualGrades, read_manual_grades
from course_utils.grading.books.nbgrader_api import load_api, schema_versions
from course_utils.grading.books.nbgrader_cells import book_notebook
from course_utils.grading.result import SubmissionResult

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

# as in nbgrader_config.py; formgrader asks for the course by this name
COURSE_ID = "pytorch-apple-silicon"
# columns of the gradebook; PostgreSQL keeps to it, SQLite does not
_LONGEST_ID = 128
# how long to wait for somebody else's writing, seconds; formgrader holds the lock for a moment at a time
LOCK_S = 20.0


@dataclass(frozen=True)
class WrittenGrades:
    """What a person entered for a submission that was written.

    Args:
        manual: what counts, by grade_id.
        replaced: the manual points that were replaced by those of the checks.
        open_cells: the cells with manual points that were given before the submission or its automatic points changed.
    """

    manual: ManualGrades = field(default_factory=dict)
    replaced: ManualGrades = field(default_factory=dict)
    open_cells: tuple[str, ...] = ()


class GradebookWriter:
    """Writes results of one exercise into nbgrader's gradebook, which is made when it is not there.

    The exercise, its notebook and their cells are written too, new or changed, so `nbgrader generate_assignment` need
    not have run. A submission that could not be graded loses its automatic scores and is marked for a person to look
    at: an old score must not stand in for an unknown one.

    Args:
        url: the gradebook: "sqlite:///" and the path of nbgrader's gradebook.db, or "postgresql://...".
        assignment: the exercise, whose name is that of the assignment and of its notebook.
        handed_in: the text of a submission's timestamp.txt, by student. formgrader shows a submission as not yet
            graded while the gradebook has another time than that file.
        replace_manual: the students whose manual points are replaced by those of the checks.

    Raises:
        GradebookError: when the gradebook cannot be used.
        ValueError: when the instructor's notebook lacks what nbgrader needs.
    """

    def __init__(
        self,
        url: str,
        assignment: Assignment,
        handed_in: Mapping[str, str] | None = None,
        replace_manual: Collection[str] = (),
    ) -> None:
        notebook = book_notebook(assignment)
        self.name = assignment.name
        self.written = 0
        self._address = _patient(read_address(url))
        self._api = load_api()
        self._times = handed_in or {}
        self._replace_manual = replace_manual
        self._refused: list[str] = []
        self._gradebook = _open(self._api, self._address)
        try:
            with self._transaction():
                self._structure = store_structure(self._api, self._gradebook.db, notebook, self.name, COURSE_ID)
        except BaseException:
            self._gradebook.close()
            raise

    @property
    def address(self) -> str:
        """The gradebook's address, without its password."""
        return shown(self._address)

    def write(self, result: SubmissionResult, *, changed: bool = False) -> WrittenGrades:
        """Write one result, whole or not at all; one that does not fit is named when the writer is closed.

        Args:
            result: what the checks gave.
            changed: whether the submission is another one than at the delivery before; a person is then asked to look
                again at points that a person gave.

        Returns:
            What a person entered for this submission.

        Raises:
            GradebookError: when the database fails; the sentence says how many results were written before.
        """
        why = _why_it_does_not_fit(result, self.name, self._structure)
        if why:
            self._refused.append(f"{result.student[:60]!r} {why}")
            return WrittenGrades()
        with self._transaction():
            session, structure = self._gradebook.db, self._structure
            submitted_id = _write_submission(
                self._api, session, structure, result.student, self._times.get(result.student)
            )
            replace = result.student in self._replace_manual
            replaced, open_cells = _write_grades(
                self._api, session, structure, submitted_id, result, changed=changed, replace_manual=replace
            )
            session.flush()
            manual = read_manual_grades(session, self.name, result.student).get(result.student, {})
        self.written += 1
        return WrittenGrades(manual, replaced, open_cells)

    def close(self) -> None:
        """Close the gradebook.

        Raises:
            GradebookError: when results did not fit; the others are written.
        """
        self._gradebook.close()
        refused, self._refused = self._refused, []
        if refused:
            more = f", and {len(refused) - 3} more" if len(refused) > 3 else ""
            raise GradebookError(
                f"{len(refused)} of {len(refused) + self.written} results were not written to {shown(self._address)}: "
                f"{'; '.join(refused[:3])}{more}"
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        session = self._gradebook.db
        try:
            yield
            session.commit()
        except _database_errors() as error:
            session.rollback()
            told = explain(error, self._address)
            raise GradebookError(f"{told} (results written before: {self.written})") from None
        except BaseException:
            session.rollback()
            raise


def read_gradebook(url: str, name: str) -> dict[str, dict[str, ManualGrade]]:
    """Read what people entered for an exercise, by student and grade_id; nothing where there is no such gradebook yet.

    Raises:
        GradebookError: when the gradebook cannot be read.
    """
    from sqlalchemy import create_engine, inspect

    address = _patient(read_address(url))
    if address.get_backend_name() == "sqlite" and not Path(address.database or "").is_file():
        return {}
    engine = create_engine(address)
    try:
        with engine.connect() as connection:
            if "submitted_assignment" not in inspect(connection).get_table_names():
                return {}
            return read_manual_grades(connection, name)
    except _database_errors() as error:
        raise explain(error, address) from None
    finally:
        engine.dispose()


def write_results(
    url: str,
    assignment: Assignment,
    results: Sequence[SubmissionResult],
    *,
    handed_in: Mapping[str, str] | None = None,
) -> None:
    """Write results into a gradebook; see `GradebookWriter`."""
    writer = GradebookWriter(url, assignment, handed_in)
    try:
        for result in results:
            writer.write(result)
    finally:
        writer.close()


def _database_errors() -> tuple[type[Exception], ...]:
    from sqlalchemy.exc import SQLAlchemyError

    return (SQLAlchemyError, OSError)


def _patient(address: URL) -> URL:
    """Return an address with which SQLite waits for formgrader and others that write, `LOCK_S` unless it says else."""
    if address.get_backend_name() != "sqlite" or "timeout" in address.query:
        return address
    return address.update_query_dict({"timeout": f"{LOCK_S:g}"})


def _open(api: Any, address: URL) -> Any:
    """Open the gradebook once, after a look at the version of its tables; make it where there is none."""
    try:
        if not _check_schema(address):
            _create(api, address)
        return api.Gradebook(address.render_as_string(hide_password=False), COURSE_ID)
    except (*_database_errors(), ImportError, api.InvalidEntry) as error:
        raise explain(error, address) from None


def _create(api: Any, address: URL) -> None:
    """Make nbgrader's tables and stamp them, in one transaction; nbgrader itself starts a process for the stamp."""
    from sqlalchemy import create_engine, text

    current, _ = schema_versions()
    engine = create_engine(address)
    try:
        with engine.begin() as connection:
            api.Base.metadata.create_all(bind=connection)
            connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
            connection.execute(
                text("INSERT INTO alembic_version (version_num) VALUES (:current)"), {"current": current}
            )
    finally:
        engine.dispose()


def _check_schema(address: URL) -> bool:
    """Refuse a database whose tables this nbgrader does not write; return whether there are tables.

    Raises:
        GradebookError: when the tables are another version's, or not nbgrader's.
    """
    from sqlalchemy import create_engine, inspect, text

    engine = create_engine(address)
    try:
        with engine.connect() as connection:
            tables = set(inspect(connection).get_table_names())
            versions = "SELECT version_num FROM alembic_version"
            found = connection.scalar(text(versions)) if "alembic_version" in tables else None
    finally:
        engine.dispose()
    if not tables:
        return False
    if "submitted_assignment" not in tables:
        raise GradebookError(
            f"the database {shown(address)} holds tables that are not nbgrader's; give the gradebook one of its own"
        )
    current, known = schema_versions()
    if found is None or found == current:
        return True
    ours = importlib.metadata.version("nbgrader")
    if found in known:
        todo = "copy it, then run nbgrader db upgrade"
        raise GradebookError(f"the gradebook {shown(address)} was made by an nbgrader older than {ours}; {todo}")
    todo = "install that nbgrader, or name another gradebook"
    raise GradebookError(f"the gradebook {shown(address)} was made by an nbgrader newer than {ours}; {todo}")


def _why_it_does_not_fit(result: SubmissionResult, name: str, structure: Structure) -> str:
    """Return why a result cannot be written; empty when it can."""
    student = result.student
    if result.assignment != name:
        return f"is a result of exercise {result.assignment}, not of {name}"
    if not student.strip() or len(student) > _LONGEST_ID or not student.isprintable():
        return f"is no id that a gradebook can hold (1 to {_LONGEST_ID} printable characters)"
    unknown = [task.grade_id for task in result.tasks if task.grade_id not in structure.checked]
    if unknown:
        return f"has points for {unknown[0]!r}, which the instructor's notebook lacks; grade it with this notebook"
    return ""


def _write_submission(api: Any, session: Any, structure: Structure, student: str, handed_in: str | None) -> str:
    """Write the rows of one submission, without grades; return the id of its notebook's."""
    if session.get(api.Student, student) is None:
        session.add(api.Student(id=student))
        session.flush()
    found = session.query(api.SubmittedAssignment).filter_by(assignment_id=structure.assignment_id, student_id=student)
    submission = found.one_or_none()
    if submission is None:
        submission = api.SubmittedAssignment(assignment_id=structure.assignment_id, student_id=student)
        session.add(submission)
    if handed_in is not None:
        submission.timestamp = _parse_time(api, handed_in)
    session.flush()
    submitted = (
        session.query(api.SubmittedNotebook)
        .filter_by(assignment_id=submission.id, notebook_id=structure.notebook_id)
        .one_or_none()
    )
    if submitted is None:
        submitted = api.SubmittedNotebook(assignment_id=submission.id, notebook_id=structure.notebook_id)
        session.add(submitted)
        session.flush()
    return str(submitted.id)


def _write_grades(
    api: Any,
    session: Any,
    structure: Structure,
    submitted_id: str,
    result: SubmissionResult,
    *,
    changed: bool,
    replace_manual: bool,
) -> tuple[dict[str, ManualGrade], tuple[str, ...]]:
    """Write a score for each graded cell, and the empty comments that formgrader fills.

    Returns:
        The manual points that were replaced, by grade_id, and the cells with manual points at which a person has to
        look again.
    """
    replaced: dict[str, ManualGrade] = {}
    open_cells: list[str] = []
    points = {task.grade_id: float(task.points) for task in result.tasks} if result.graded else {}
    grades = {grade.cell_id: grade for grade in session.query(api.Grade).filter_by(notebook_id=submitted_id)}
    for name, cell_id in structure.graded.items():
        grade = grades.get(cell_id)
        if grade is None:
            grade = api.Grade(cell_id=cell_id, notebook_id=submitted_id)
            session.add(grade)
        before, grade.auto_score = grade.auto_score, points.get(name)
        if replace_manual and grade.manual_score is not None:
            replaced[name] = ManualGrade(grade.manual_score)
            grade.manual_score = None
        # as in nbgrader, a person looks where no automatic score is, and again where one changed below a manual one
        if grade.manual_score is None:
            grade.needs_manual_grade = grade.auto_score is None
        elif changed or before != grade.auto_score:
            grade.needs_manual_grade = True
        if grade.manual_score is not None and grade.needs_manual_grade:
            open_cells.append(name)
    comments = {cell_id for (cell_id,) in session.query(api.Comment.cell_id).filter_by(notebook_id=submitted_id)}
    for cell_id in structure.commented:
        if cell_id not in comments:
            session.add(api.Comment(cell_id=cell_id, notebook_id=submitted_id))
    return replaced, tuple(open_cells)


def _parse_time(api: Any, text: str) -> Any:
    """Read a timestamp.txt as nbgrader does; None where it is not a time."""
    try:
        return api.utils.parse_utc(text.strip())
    except (ValueError, OverflowError):
        return None
