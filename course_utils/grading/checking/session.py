"""One submission's life: which process it has, what ran in it, and which names the checks see of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from course_utils.grading.assignment import Assignment, Kind, Part, bound_names
from course_utils.grading.checking.answer_clock import AnswerClock
from course_utils.grading.checking.student_client import BrokenFunction, MarkedHelper, StudentClient, StudentFunction
from course_utils.grading.checking.tampering import (
    DIGEST,
    HELD,
    IMPORT,
    LOADED,
    WATCHED,
    Change,
    Findings,
    Untouched,
    changed_places,
    explained,
    witness_text,
)
from course_utils.sandbox.connection import Connection, StudentGone
from course_utils.sandbox.limits import Limits
from course_utils.sandbox.reason import Ending
from course_utils.sandbox.witness import TOUCHED


class Session:
    """Runs the cells of one submission in a student's process, replaced whenever it ends.

    Args:
        assignment: the exercise.
        code: the student's cells, grade id -> source.
        limits: what the submission may take.
        start: starts a process.
        forked: whether processes are forks of one template, so that identities can be compared.
        untouched: the measuring functions of a process without student code; None when nothing measures there.
        own: grade id of a part -> pairs of label and code of the student's own that run before it.
    """

    def __init__(
        self,
        assignment: Assignment,
        code: Mapping[str, str],
        limits: Limits,
        start: Callable[[Limits], Connection],
        *,
        forked: bool,
        untouched: Untouched | None,
        own: Mapping[str, Sequence[Sequence[str]]],
    ) -> None:
        self.assignment = assignment
        self.code = code
        self.limits = limits
        self.start = start
        self.forked = forked
        self.untouched = untouched
        self.own = own
        self.deadline = time.monotonic() + limits.submission_s
        self.names: dict[str, Any] = {"__name__": "exercise", "__builtins__": __builtins__}
        self.measured_inside = False
        self.measured_inside_now = False
        self.errors: dict[str, Exception] = {}
        self._given_names: dict[str, Any] = {}
        self._identities: dict[str, Any] = {}
        self._connection: Connection | None = None
        self._client: StudentClient | None = None
        # what was found of the measuring in this task: oddities, and changes in the order in which they were found
        self._odd: list[str] = []
        self._changes: dict[Change, None] = {}
        # whether the process may hold functions with other parts, and the modules that it had loaded
        self._touched = False
        self._loaded: list[str] = []
        # the student's cell in which the last process ended, when it was not in a check
        self.ended_in: str | None = None
        self._left_out: set[str] = set()
        # whether the process was given values of hidden checks
        self.saw_hidden = False
        # runs while a large answer is read and compared
        self.clock = AnswerClock()
        # whether the last task ended its process
        self.ended = False

    def client(self) -> StudentClient:
        """Return the client of the student's process.

        Raises:
            StudentGone: when there is none any more.
        """
        if self._client is None:
            raise StudentGone(Ending.CRASHED, "the process of your code had ended before")
        return self._client

    def begin_task(self, check: Part) -> None:
        """Have a process in which everything above a check cell has run, with the task's time ahead.

        Raises:
            StudentGone: when a cell ends the process or takes too long.
        """
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            raise StudentGone(Ending.TIMEOUT, f"all tasks together took more than {self.limits.submission_s:g} s")
        above = self.assignment.parts[: self.assignment.parts.index(check)]
        ran = self._connection is not None
        if self._connection is None:
            self._connection = self.start(self.limits)
            self._client = StudentClient(self._connection, self.limits, self._given_names, self.clock)
        self._connection.start_clock(min(self.limits.task_s, left_s))
        self.measured_inside = self.ended = False
        self.ended_in = None
        self._odd.clear()
        self._changes.clear()
        earlier = [place for place, part in enumerate(above) if part.kind is Kind.CHECK]
        # a new process runs everything again; one that lives goes on below the last check
        first = earlier[-1] + 1 if ran and earlier else 0
        for part in above[first:]:
            self._run_own(part)
            if part.kind in (Kind.STUDENT, Kind.TOOLS):
                self._run(part, given=part.kind is Kind.TOOLS)
        self._run_own(check)

    def printed(self) -> str:
        """Return the end of what the student's code printed in this task."""
        return self._connection.take_printed() if self._connection is not None else ""

    def show_output(self, show: bool) -> None:
        """Show what is printed from now on, or hide it: functions print what hidden checks hand to them."""
        if self._connection is not None:
            self._connection.keep_output(show)

    def examine_measuring(self) -> Findings:
        """Return what was changed of the functions that measure, and what is odd, where a marked helper was used."""
        if not self.measured_inside or self._connection is None:
            return Findings()
        self._compare_measuring()
        witness = witness_text(self.client().take_reads())
        odd, changes = self._odd, tuple(self._changes)
        if self.untouched is not None and any(change.place not in self._identities for change in changes):
            changes = self._leave_out_imports(changes, self.untouched)
        odd += [str(change) for change in changes if not change.proves]
        return Findings(tuple(change for change in changes if change.proves), tuple(odd), witness)

    def _compare_measuring(self) -> None:
        """Compare what measures with that of an untouched process; add what is found to the findings of this task."""
        if self._connection is None:
            return
        told = self._connection.take_reports()
        # whatever was told, the parts of functions may be others, too
        self._touched = self._touched or bool(told)
        self._odd += [each for each in told if each != TOUCHED]
        if self.untouched is None:
            return
        try:
            for change in self._find_changes(self.untouched):
                self._changes[change] = None
        except Exception as error:  # the student's process answered something else
            self._odd.append(f"the functions that measure could not be compared ({type(error).__name__})")

    def _find_changes(self, untouched: Untouched) -> list[Change]:
        """Compare the process with an untouched one; return the changes."""
        parts = [self._touched] if untouched.held else []
        held, identities = self.client().compute(HELD, [list(untouched.modules), parts, list(self._identities)])
        places: tuple[str, ...] = ()
        if not untouched.held or held != [untouched.held[self._touched]]:
            rows, _ = self.client().compute(DIGEST, [self.forked, list(WATCHED), []])
            places = changed_places(untouched.digest().rows, rows)
        again = [name for name, who in self._identities.items() if identities.get(name) != who]
        changes = [Change(name, "what the exercise gave", "bound to something else") for name in again]
        if places:
            _, texts = self.client().compute(DIGEST, [self.forked, list(WATCHED), list(places)])
            before = untouched.digest().texts
            changes += [Change(place, before.get(place, ""), str(texts.get(place, ""))) for place in places]
            self._loaded = [str(name) for name in self.client().compute(LOADED, None)]
        return changes

    def _leave_out_imports(self, changes: tuple[Change, ...], untouched: Untouched) -> tuple[Change, ...]:
        """Return the changes that importing the same modules does not make in a process without student code."""
        self.drop_process()  # a starter has one process at a time
        places = [change.place for change in changes]
        connection = self.start(self.limits)
        try:
            connection.start_clock(self.limits.task_s)
            client = StudentClient(connection, self.limits, {})
            client.compute(IMPORT, self._loaded)
            rows, texts = client.compute(DIGEST, [self.forked, list(WATCHED), places])
        except StudentGone:
            return changes
        finally:
            connection.close()
        imported = set(changed_places(untouched.digest().rows, rows))
        return tuple(change for change in changes if not explained(change, imported, texts))

    def leave_out(self, grade_ids: set[str]) -> None:
        """Run without these cells of the student from now on, in a new process."""
        self.drop_process()
        self._left_out |= grade_ids

    def drop_process(self) -> None:
        """End the student's process; the next task gets a new one."""
        self.clock.stop()
        if self._connection is not None:
            self._connection.close()
        self._connection = self._client = None
        self.saw_hidden = self._touched = False
        self._identities.clear()

    def _run(self, part: Part, *, given: bool) -> None:
        """Run a cell in the student's process, and what is given on this side, too."""
        source = part.source if given else self.code.get(part.grade_id)
        wanted = sorted(bound_names(part.source))
        if source is None or part.grade_id in self._left_out:
            self._hold_broken(wanted, NameError(f"the cell {part.grade_id} is not there"))
            return
        try:
            answer = self.client().run(source, wanted, given=given)
        except StudentGone:
            self.ended_in = part.grade_id
            raise
        if given:
            self._run_here(part, wanted)
            if wanted and self.untouched is not None:
                self._identities |= self._read_identities(wanted)
        else:
            self._hold(part.grade_id, wanted, answer)

    def _run_own(self, part: Part) -> None:
        """Run the code of the student's own above a part; what it raises shows where its names are used."""
        for label, source in self.own.get(part.grade_id, ()):
            if label in self._left_out:
                continue
            try:
                self.client().run(source, [], given=False)
            except StudentGone:
                self.ended_in = label
                raise

    def _run_here(self, part: Part, wanted: list[str]) -> None:
        """Run a given cell on this side; its marked helpers become stand-ins."""
        try:
            exec(compile(part.source, f"<{part.grade_id}>", "exec"), self.names)
        except Exception as error:  # it may call the student's functions
            self.errors[part.grade_id] = error
        for name in wanted:
            thing = self.names.get(name)
            if hasattr(thing, "__in_student_process__"):
                self.names[name] = MarkedHelper(name, self._client_inside)
            elif thing is not None:
                self._given_names[name] = thing

    def _read_identities(self, names: list[str]) -> dict[str, Any]:
        """Ask which objects the names of a given cell are, just after it ran."""
        with suppress(Exception):
            _, held = self.client().compute(HELD, [[], [], names])
            return held if type(held) is dict else {}
        return {}

    def _client_inside(self) -> StudentClient:
        if not self.measured_inside:
            # before the first answer, too: what changes it may be gone after it
            self._compare_measuring()
        self.measured_inside = self.measured_inside_now = True
        return self.client()

    def _hold(self, grade_id: str, wanted: list[str], answer: dict[str, Any]) -> None:
        """Keep stand-ins for what the student's cell should define."""
        self.errors.pop(grade_id, None)
        if answer["error"] is not None:
            self.errors[grade_id] = answer["error"]
        for name in wanted:
            kind = answer["names"].get(name)
            if kind == "callable":
                self.names[name] = StudentFunction(name, self.client)
            elif kind == "value":
                self._hold_value(name)
            else:
                error = answer["error"] or NameError(f"name '{name}' is not defined by your cell")
                self._hold_broken([name], error)

    def _hold_value(self, name: str) -> None:
        try:
            self.names[name] = self.client().value(name)
        except Exception as error:  # whatever a student's value does when it is read
            self._hold_broken([name], error)

    def _hold_broken(self, names: list[str], error: Exception) -> None:
        for name in names:
            self.names[name] = BrokenFunction(name, self.client, error)
