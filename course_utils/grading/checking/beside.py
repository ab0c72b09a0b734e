"""Calls a marked helper beside the student's code, so that the code cannot reach what measures it.

The text of this module is sent with each such call and runs in the student's process, in names of its own: it is not
there for student code to change before. It imports nothing of the course, and stands on modules written in C alone.

- The helper runs with names of its own: given names as they were given, `len` and the like as Python has them.
- What it calls of the student runs on a fresh thread: above it stands one frame, which holds the call and nothing else.
- Before and after each of these calls a known number of copies and reads is made on the device, which has to be in
  its count; they are taken out again. What was counted before has to be there after.
- A second witness, a function mode, counts the reads that the student's code asks for, beside the device's own count.
- What measures, and what this module stands on, is compared before and after each call, instances and classes: a
  change that takes itself back later is seen, too. The course's device is compared in calls that run under it.
- A tensor that comes back has to be a plain one.

What is found goes at once into the pipe that the checks hold. It costs no points by itself: a person looks.
"""

from __future__ import annotations

import _contextvars
import _operator
import _signal  # type: ignore[import-not-found]  # the C module of `signal`
import _thread
import builtins
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

# what carries a call and its answer
CARRIERS = ("builtins", "_contextvars", "_operator", "_signal", "_thread", "sys")
DEVICE = ("course_utils.emulation", "torch.mps", "torch.overrides", "torch.utils._python_dispatch")
# what torch's users ask a tensor's values by; each is at least one read of the device
READS = frozenset(
    {"item", "tolist", "cpu", "numpy", "nonzero", "__bool__", "__float__", "__int__", "__index__", "__complex__"}
)
# where threads that are kept for later wait
_IDLE = ("/concurrent/futures/thread.py", "/tqdm/_monitor.py")
CANARY_WAITS, CANARY_COPIES = 2, 1
MOST_NESTED = 8


def measure(
    helper: Callable[..., Any],
    arguments: list[Any],
    named: dict[str, Any],
    *,
    given: Mapping[str, Any],
    names: Mapping[str, Any],
    report: Callable[[str], None],
    tell_reads: Callable[[int, int], None],
) -> Any:
    """Call a helper, and return what it returns.

    Args:
        helper: the marked function.
        arguments: its arguments.
        named: its named arguments.
        given: what the exercise's given cells bound.
        names: all names of the notebook.
        report: takes one sentence for each thing that a person should look at.
        tell_reads: takes the reads that the device counted in a call, and those that the second witness saw.
    """
    if sys.getprofile() is not None or sys.gettrace() is not None:
        sys.setprofile(None)
        sys.settrace(None)
        report("a profiler or tracer was active while code was measured")
    report_handlers(report)
    private = dict(given)
    private["__builtins__"] = dict(vars(builtins))
    private["__name__"] = names.get("__name__", "__main__")
    watch = _Watch(given, report, tell_reads)
    for name, thing in names.items():
        # the helper's `len` is Python's own
        if name not in private and not name.startswith("_") and not hasattr(builtins, name):
            private[name] = apart(thing, watch) if _is_function(thing) else thing
    for name, thing in given.items():
        if type(thing) is types.FunctionType and thing.__globals__ is names:
            private[name] = _with_names(thing, private)
    if type(helper) is types.FunctionType and helper.__globals__ is names:
        helper = _with_names(helper, private)
    students = {id(thing): private[name] for name, thing in names.items() if name in private and name not in given}
    arguments = [students.get(id(each), each) for each in arguments]
    return helper(*arguments, **{name: students.get(id(each), each) for name, each in named.items()})


def report_handlers(report: Callable[[str], None]) -> None:
    """Report handlers of signals: Python calls them on the main thread, with the frame of what measures there."""
    for number in range(1, _signal.NSIG):
        handler = _signal.getsignal(number)
        if callable(handler) and handler is not _signal.default_int_handler:
            report(f"a handler of signal {number} was there while code was measured")


def _is_function(thing: Any) -> bool:
    torch = sys.modules.get("torch")
    # a helper may want more of a class, or of a network, than a call
    is_more = isinstance(thing, type) or (torch is not None and isinstance(thing, torch.nn.Module))
    return callable(thing) and not is_more


def _with_names(function: types.FunctionType, private: dict[str, Any]) -> types.FunctionType:
    """Return a function with other global names."""
    made = types.FunctionType(
        function.__code__, private, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


def apart(function: Callable[..., Any], watch: _Watch) -> Callable[..., Any]:
    """Return a function that calls a function of the student on a thread of its own."""

    def call(*arguments: Any, **named: Any) -> Any:
        result = watch.over_one_call(lambda: function(*arguments, **named))
        refuse_subclasses(result)
        return result

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        if isinstance(found := getattr(function, name, None), str):
            setattr(call, name, found)
    call.__wrapped__ = function  # type: ignore[attr-defined]  # for its signature
    return call


def on_fresh_thread(work: Callable[[], Any], modes: list[Any]) -> Any:
    """Do some work where no frame of the caller is above it, under these modes of torch; return its value."""
    done: list[Any] = []
    torch = sys.modules.get("torch")
    settings = _thread_settings(torch) if torch is not None else ()
    context = _contextvars.copy_context()
    # without the objects that `threading` keeps of each thread, a start takes a third of the time
    ended = _thread.allocate_lock()
    ended.acquire()
    _thread.start_new_thread(context.run, (_run, work, done, ended, modes, settings))
    del work
    ended.acquire()
    kind, value = done[0]
    if kind == "raised":
        raise value
    return value


def _run(work: Any, done: Any, ended: Any, modes: Any, settings: Any) -> None:
    """Be the thread."""
    # the names in this frame are all that student code could find above its own
    into, tell, entered = done.append, ended.release, []
    del done, ended
    try:
        for enter in settings:
            entered.append(enter())
            entered[-1].__enter__()
        for mode in modes:
            mode.__enter__()
            entered.append(mode)
        del modes, settings
        into(("value", work()))
    except BaseException as error:  # SystemExit is an answer too
        into(("raised", error))
    finally:
        try:
            for each in reversed(entered):
                each.__exit__(None, None, None)
        finally:
            tell()


def _thread_settings(torch: Any) -> tuple[Callable[[], Any], ...]:
    """Return what makes a fresh thread's settings of torch those of this one."""
    gradients = torch.is_grad_enabled()
    found: list[Callable[[], Any]] = [lambda: torch.set_grad_enabled(gradients)]
    if torch.is_inference_mode_enabled():
        found.append(torch.inference_mode)
    for device in ("cpu", "mps"):
        if torch.is_autocast_enabled(device):
            dtype = torch.get_autocast_dtype(device)
            found.append(lambda device=device, dtype=dtype: torch.autocast(device, dtype=dtype))  # type: ignore[misc]
    return tuple(found)


def refuse_subclasses(value: Any, level: int = 0) -> None:
    """Refuse tensors that are of a class of the student's own, which could answer for a tensor's functions.

    Raises:
        TypeError: for such a tensor, also in lists, tuples and dicts.
    """
    torch = sys.modules.get("torch")
    if torch is None or level > MOST_NESTED:
        return
    if isinstance(value, torch.Tensor):
        if not str(type(value).__module__).startswith("torch"):
            raise TypeError(f"your code returned a {type(value).__name__}, not a plain tensor")
    elif isinstance(value, dict):
        for each in dict.values(value):
            refuse_subclasses(each, level + 1)
    elif isinstance(value, (list, tuple)):
        for each in value:
            refuse_subclasses(each, level + 1)
    elif isinstance(value, torch.nn.Module):
        for each in (*torch.nn.Module.parameters(value), *torch.nn.Module.buffers(value)):
            refuse_subclasses(each, level + 1)


class _Watch:
    """Compares what measures before and after each call of student code; its arguments are those of `measure`."""

    def __init__(
        self, given: Mapping[str, Any], report: Callable[[str], None], tell_reads: Callable[[int, int], None]
    ) -> None:
        self.report = report
        self.tell_reads = tell_reads
        self.given = [thing for thing in given.values() if isinstance(thing, type)]

    def over_one_call(self, work: Callable[[], Any]) -> Any:
        """Do some work of the student's on a fresh thread, and watch over it; return its value."""
        torch = sys.modules.get("torch")
        modes = _active_modes(torch) if torch is not None else []
        counter = next((found for mode in modes if (found := _counter_of(mode)) is not None), None)
        witnesses: list[Any] = []
        seen: list[int] = []
        threads = set(sys._current_frames())
        if counter is not None:
            counter.let_canaries_sing(self.report, "before")
            witness, seen = _reads_witness(torch)
            witnesses.append(witness)
        held = _Held.of_now(self.given, counter, under_modes=bool(modes))
        try:
            return on_fresh_thread(work, [*modes, *witnesses])
        finally:
            for what in held.changed():
                self.report(f"{what} was changed by code that was being measured")
            if counter is not None:
                self.tell_reads(counter.compare(len(seen), self.report), len(seen))
                counter.let_canaries_sing(self.report, "after")
            report_handlers(self.report)
            running = sys._current_frames()
            if not all(_is_idle(frame) for thread, frame in running.items() if thread not in threads):
                self.report("a thread of the measured code was still running when its result was counted")


class _Counter:
    """What a device of the course counts, and what it had counted before a call."""

    def __init__(self, recorder: Any, meter: Any) -> None:
        self.recorder = recorder
        self.meter = meter
        self.lists = (recorder.waits, recorder.copies, recorder.waits_noted)
        self.noted_before = 0
        self.before: tuple[list[Any], list[Any]] = ([], [])

    def let_canaries_sing(self, report: Callable[[str], None], when: str) -> None:
        """Copy to the device once and read once, which the count has to show; take both out of it again."""
        import torch

        waits, copies = self.recorder.waits, self.recorder.copies
        known, operators = (len(waits), len(copies)), dict(self.recorder.operators)
        peak_bytes = getattr(self.meter, "peak_bytes", None)
        try:
            torch.ones(2, dtype=torch.float32, device="cpu").to("mps").sum().item()
        except Exception as error:
            report(f"the device did not work {when} the measured call ({type(error).__name__})")
        found = (len(waits) - known[0], len(copies) - known[1])
        if found != (CANARY_WAITS, CANARY_COPIES):
            report(
                f"{when} the measured call the device counted {found[0]} waits and {found[1]} copies "
                f"for a known {CANARY_WAITS} and {CANARY_COPIES}"
            )
        del waits[known[0] :], copies[known[1] :]
        self.recorder.operators.clear()
        self.recorder.operators.update(operators)
        if peak_bytes is not None:
            self.meter.peak_bytes = peak_bytes
        self.before = (list(waits), list(copies))
        self.noted_before = next(self.recorder.waits_noted)

    def compare(self, reads: int, report: Callable[[str], None]) -> int:
        """Compare what was counted with what was there before, and with what the witness saw; return the reads."""
        now = (self.recorder.waits, self.recorder.copies, self.recorder.waits_noted)
        if any(mine is not held for mine, held in zip(now, self.lists, strict=True)):
            report("the list of what the device counts was replaced by code that was being measured")
        noted, listed = next(now[2]) - self.noted_before - 1, len(now[0]) - len(self.before[0])
        if noted != listed:
            report(f"the device noted {noted} waits and lists {listed}")
        for mine, before in zip(now[:2], self.before, strict=True):
            if len(mine) < len(before) or any(a is not b for a, b in zip(mine, before, strict=False)):
                report("what the device had counted before was removed by code that was being measured")
        counted = sum(wait.kind in ("read", "fallback") for wait in now[0][len(self.before[0]) :])
        if counted < reads:
            report(f"the device counted {counted} reads where a second witness saw {reads}")
        return counted


def _reads_witness(torch: Any) -> tuple[Any, list[int]]:
    """Make a function mode that counts the reads of the device that code asks for by name; return it and its list."""
    seen: list[int] = []

    class Reads(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            found = func(*args, **(kwargs or {}))
            if getattr(func, "__name__", "") in READS and args:  # and it did not raise
                with torch._C.DisableTorchFunction():
                    tensor = args[0]
                    if isinstance(tensor, torch.Tensor) and tensor.device.type == "mps" and tensor.numel():
                        seen.append(1)
            return found

    return Reads(), seen


class _Held:
    """The functions and classes that measure, as they are at one moment."""

    def __init__(self, rows: list[tuple[str, Any, dict[str, Any]]], instance: Any) -> None:
        self.rows = rows
        self.instance = instance
        self.instance_names = set(vars(instance)) if instance is not None else set()

    @classmethod
    def of_now(cls, given: list[type], counter: _Counter | None, *, under_modes: bool) -> _Held:
        """Take them down; those of the device where it can run."""
        owners: list[tuple[str, Any]] = [(one.__qualname__, one) for one in given]
        owners += [(name, sys.modules.get(name)) for name in CARRIERS]
        for module in _device_modules() if under_modes else ():
            name = module.__name__
            owners.append((name, module))
            owners += [
                (f"{name}.{key}", thing)
                for key, thing in list(vars(module).items())
                if isinstance(thing, type) and thing.__module__ == name
            ]
        torch = sys.modules.get("torch")
        if torch is not None:
            owners.append(("torch.Tensor", torch.Tensor))
        rows = [(name, owner, dict(vars(owner))) for name, owner in owners]
        return cls(rows, counter.recorder if counter is not None else None)

    def changed(self) -> Iterator[str]:
        """Name what is another one now."""
        for name, owner, held in self.rows:
            now = vars(owner)
            # nearly always nothing is another object; which kind of object it is, is asked only where one is
            if len(now) == len(held) and all(map(_operator.is_, now.values(), held.values())):
                continue
            for key, thing in held.items():
                if now.get(key) is not thing and _acts(thing) and not (name == "sys" and key.endswith("hook")):
                    yield f"{name}.{key}"
        if self.instance is not None:
            for key in set(vars(self.instance)) - self.instance_names:
                yield f"{key} of the {type(self.instance).__name__}"


def _device_modules() -> list[types.ModuleType]:
    """Return the modules of the device that are loaded, with the modules of packages among them.

    Python binds a submodule's name in its package, so that not all two thousand modules have to be asked.
    """
    found = [module for name in DEVICE if (module := sys.modules.get(name)) is not None]
    for package in list(found):
        below = f"{package.__name__}."
        found += [
            thing
            for thing in list(vars(package).values())
            if type(thing) is types.ModuleType and thing.__name__.startswith(below)
        ]
    return found


def _acts(thing: Any) -> bool:
    return callable(thing) or isinstance(thing, property | classmethod | staticmethod)


def _active_modes(torch: Any) -> list[Any]:
    """Return torch's modes of this thread, the lowest first: function modes, then dispatch modes."""
    functions = [torch._C._get_function_stack_at(place) for place in range(torch._C._len_torch_function_stack())]
    # a default device remembers the one before it, so the other thread gets one of its own
    functions = [torch.device(m.device) if type(m).__name__ == "DeviceContext" else m for m in functions]
    dispatch = [torch._C._get_dispatch_stack_at(place) for place in range(torch._C._len_torch_dispatch_stack())]
    return [*functions, *dispatch]


def _counter_of(mode: Any) -> _Counter | None:
    """Return what a mode of the course's device counts with; None where it counts nothing."""
    runtime = getattr(mode, "runtime", mode)
    recorder = getattr(runtime, "recorder", None)
    if recorder is None or not hasattr(recorder, "waits"):
        return None
    return _Counter(recorder, getattr(runtime, "meter", None))


def _is_idle(frame: types.FrameType | None) -> bool:
    """Return whether a thread waits in a pool, watches progress bars, or has told its value and is about to end."""
    if frame is not None and frame.f_code is _run.__code__:
        return True
    files = []
    while frame is not None:
        files.append(frame.f_code.co_filename.replace("\\", "/"))
        frame = frame.f_back
    kept = [file for file in files if not file.endswith("/threading.py")]
    return bool(kept) and all(file.endswith(_IDLE) for file in kept)
