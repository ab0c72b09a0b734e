"""The student's side: runs inside the sandbox, holds the student's code and the exercise's given cells, nothing else.

It answers questions that come over its socket, until that closes:

    {"run": source}                      run a cell; which of the `names` are there afterwards?
    {"call": what, "arguments": ...}     call a function; its value back, or what was raised
    {"call": ..., "beside": code}        call a marked helper in the way that this code of the checks says
    {"get": what, "name": name}          an attribute of an object that an earlier answer left here
    {"set": what, "name": name, ...}     set one
    {"value": name}                      what is this name's value?
    {"compute": code, "argument": ...}   run a measuring of the checks' side, in names of its own

Whatever the student's code does to this process, it can only change the answers, and those are compared elsewhere. What
carries the answers is called by names of this module, so that a library's function that code replaces carries none.
"""

from __future__ import annotations

import builtins
import socket
import sys
from _socket import socket as plain_socket
from collections.abc import Callable
from marshal import loads as read_code
from os import _exit, getpid
from typing import Any

from course_utils.exercises.cell_line import cell_line, error_text
from course_utils.sandbox.described import DescribedReader, KeepingWriter
from course_utils.sandbox.frames import Frame, FrameReader
from course_utils.sandbox.values import ValueNotPlainError, Writer
from course_utils.sandbox.witness import Witness

# arguments come from the checks, which know what they send
MOST_ARGUMENT_BYTES = 2**30
CHUNK_BYTES = 2**20


class Student:
    """Answers the questions of the checks.

    Args:
        channel: the socket to the checks.
        shell: the shell that runs cells.
        witness: reports code that looks into what measures it.
        depth: how deep a returned value may be nested.
    """

    def __init__(self, channel: socket.socket, shell: Any, witness: Witness, *, depth: int) -> None:
        self.channel = channel
        self.shell = shell
        self.witness = witness
        self.depth = depth
        self.asked = ""
        self.process = getpid()
        self.frames = FrameReader(MOST_ARGUMENT_BYTES)
        self.transformers = (
            list(shell.input_transformers_cleanup),
            list(shell.input_transformers_post),
            list(shell.ast_transformers),
        )
        # objects that are not plain stay here; the checks have their numbers
        self.kept: list[Any] = []
        # what the given cells bound, whatever the student's code binds later
        self.given: dict[str, Any] = {}

    def serve(self) -> None:
        """Answer until the socket closes."""
        while (frame := self.receive()) is not None:
            self.asked = frame.content["ask"]
            content, blobs = self.answer(frame)
            self.send(content | {"ask": self.asked}, blobs)

    def receive(self) -> Frame | None:
        """Wait for a frame; None when the other side is gone."""
        frame = self.frames.feed(b"")
        while frame is None:
            data = plain_socket.recv(self.channel, CHUNK_BYTES)
            if not data:
                return None
            frame = self.frames.feed(data)
        return frame

    def send(self, content: dict[str, Any], blobs: list[bytes]) -> None:
        """Send a frame; a process that the student's code forked has nothing to answer, and ends."""
        if getpid() != self.process:
            _exit(0)
        plain_socket.sendall(self.channel, Frame(content, blobs).to_bytes())

    def answer(self, frame: Frame) -> tuple[dict[str, Any], list[bytes]]:
        """Return the answer to a question."""
        question = frame.content
        if "run" in question:
            return self.run_cell(question), []
        content, blobs = self.attempt(lambda: self.work(frame))
        reads = self.witness.take_reads()
        return content | ({"reads": reads} if reads else {}), blobs

    def work(self, frame: Frame) -> Any:
        """Do what a question asks for and return the value."""
        question = frame.content
        names = self.shell.user_ns
        if "value" in question:
            return names[question["value"]]
        read = self.reader(frame).read
        if "get" in question:
            return getattr(read(question["get"]), question["name"])
        if "set" in question:
            return setattr(read(question["set"]), question["name"], read(question["argument"]))
        if "compute" in question:
            own: dict[str, Any] = {}
            exec(read_code(read(question["compute"])), own)
            return own["compute"](read(question["argument"]))
        names.update(self.given)
        function = read(question["call"])
        arguments, named = read(question["arguments"]), read(question["named"])
        if not hasattr(function, "__in_student_process__"):
            return function(*arguments, **named)
        file, code = read(question["beside"])
        beside: dict[str, Any] = {"__name__": "measuring"}
        with self.witness.watching(own_code=file):
            exec(read_code(code), beside)
            measure = beside["measure"]
            told = {"report": self.witness.report, "tell_reads": self.witness.tell_reads}
            return measure(function, arguments, named, given=self.given, names=names, **told)

    def run_cell(self, question: dict[str, Any]) -> dict[str, Any]:
        """Run a cell as a notebook does; an error in it is part of the answer."""
        # a cell that changes how cells are read changes that for itself alone
        self.shell.input_transformers_cleanup[:] = self.transformers[0]
        self.shell.input_transformers_post[:] = self.transformers[1]
        self.shell.ast_transformers[:] = self.transformers[2]
        with self.witness.given_code(question["given"]):
            outcome = self.shell.run_cell(question["run"], store_history=False)
        error = outcome.error_before_exec or outcome.error_in_exec
        names = self.shell.user_ns
        if question["given"]:
            self.given |= {name: names[name] for name in question["names"] if name in names}
        kinds = {name: "callable" if callable(names[name]) else "value" for name in question["names"] if name in names}
        return {"names": kinds, "error": None if error is None else _describe(error)}

    def attempt(self, work: Callable[[], Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Do some work; return its value, or what it raised, as an answer."""
        writer = KeepingWriter(self.depth, self.kept)
        try:
            return {"result": writer.write(work())}, writer.blobs
        except ValueNotPlainError as error:
            return {"too_deep": str(error)}, []
        except BaseException as error:  # SystemExit and KeyboardInterrupt are answers too
            return {"raised": _describe(error)}, []

    def call_back(self, place: int, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call a function of the checks and wait for its value."""
        writer = Writer(self.depth)
        content = {"callback": place, "arguments": writer.write(list(arguments)), "named": writer.write(named)}
        self.send(content | {"ask": self.asked}, writer.blobs)
        frame = self.receive()
        if frame is None:
            raise SystemExit("the checks are gone")
        self.asked = frame.content["ask"]
        if "raised" in frame.content:
            kind, text = frame.content["raised"]
            raise getattr(builtins, kind)(text)
        return self.reader(frame).read(frame.content["result"])

    def reader(self, frame: Frame) -> DescribedReader:
        """Make a reader of what came with a frame."""
        names = self.shell.user_ns
        return DescribedReader(frame.blobs, 10**6, namespace=names, kept=self.kept, call_back=self.call_back)


def _describe(error: BaseException) -> dict[str, Any]:
    """Name an exception's classes, the nearest first, its text, and the line of a cell that it came from."""
    try:
        text = error_text(error)[:2000]
    except Exception:  # the text is somebody else's code
        text = ""
    classes = [kind.__name__ for kind in type(error).__mro__]
    described: dict[str, Any] = {"classes": classes, "text": text, "line": cell_line(error)}
    number = error.errno if isinstance(error, OSError) else None
    return described | ({"errno": number} if type(number) is int else {})


def serve_socket(channel: socket.socket, shell: Any, report_fd: int, *, depth: int) -> None:
    """Report that the process is ready, then answer requests until the socket closes."""
    student = Student(channel, shell, Witness(report_fd), depth=depth)
    student.send({"ready": sys.version_info[:2]}, [])
    student.serve()
