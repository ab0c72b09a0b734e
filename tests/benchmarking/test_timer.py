"""Timing: the device is waited for, warm-up does not count, and no number is called MPS's that MPS did not make."""

import functools
import itertools
import threading
import time

import pytest
import torch

from course_utils.benchmarking import stopwatch, timer
from course_utils.benchmarking.compare import compare_devices
from course_utils.benchmarking.timer import benchmark
from course_utils.benchmarking.toy_device import ToyDevice
from course_utils.devices import probe as devices
from course_utils.emulation import emulated_mps

WORK_S, LAUNCH_S = 0.005, 0.000_01


@pytest.fixture
def no_mps(monkeypatch):
    """Describe a machine without MPS."""
    monkeypatch.setattr(devices, "probe_mps", lambda: devices.Probe("mps", "absent", "no Metal here"))


def on_toy(toy, shape=(8,), **options):
    """Measure work on a toy device."""
    return benchmark(
        lambda: toy.launch(WORK_S, shape),
        device="cpu",
        synchronize=toy.synchronize,
        clock=toy.clock,
        **({"repetitions": 9} | options),
    )


def test_loop_without_waiting_reads_near_zero():
    """On a device that works later, a loop that does not wait reads the queueing and our timer reads the work."""
    naive = ToyDevice(launch_s=LAUNCH_S)
    start = naive.clock()
    for _ in range(100):
        naive.launch(WORK_S)
    unsynchronised_s = (naive.clock() - start) / 100

    assert unsynchronised_s == pytest.approx(LAUNCH_S)
    assert on_toy(ToyDevice(launch_s=LAUNCH_S)).median_s == pytest.approx(WORK_S + LAUNCH_S)


def test_device_is_waited_for_before_every_reading():
    """Every reading of the clock comes right after waiting."""
    toy = ToyDevice(launch_s=LAUNCH_S)
    happened = []

    def synchronize():
        happened.append("wait")
        toy.synchronize()

    def clock():
        happened.append("clock")
        return toy.clock()

    benchmark(lambda: toy.launch(WORK_S), device="cpu", synchronize=synchronize, clock=clock, repetitions=5)

    assert happened == ["wait", "clock"] * (len(happened) // 2)


def test_pending_work_is_not_counted():
    """Work that was in the queue before is waited for, not measured."""
    toy = ToyDevice(launch_s=LAUNCH_S)
    toy.launch(60.0)

    assert on_toy(toy).first_call_s == pytest.approx(WORK_S + LAUNCH_S)


def test_slow_first_call_does_not_shift_the_median():
    """A first call of 200 ms is reported apart, changes no statistic, and is nothing to warn of."""
    result = on_toy(ToyDevice(launch_s=LAUNCH_S, compile_s=0.2))

    assert result.first_call_s == pytest.approx(0.2 + WORK_S + LAUNCH_S)
    assert result.median_s == pytest.approx(WORK_S + LAUNCH_S)
    assert max(result.times_s) == pytest.approx(WORK_S + LAUNCH_S)
    assert result.warnings == ()


def test_every_shape_is_warmed_up():
    """Each benchmark warms up its own shape: a second shape on the same device pays its compiling outside."""
    toy = ToyDevice(launch_s=LAUNCH_S, compile_s=0.2)
    first, second = on_toy(toy, shape=(8,)), on_toy(toy, shape=(16,))

    assert second.first_call_s == pytest.approx(first.first_call_s)
    assert second.median_s == pytest.approx(first.median_s)


def test_short_calls_are_measured_in_blocks():
    """Calls much shorter than the cost of waiting are measured many at a time."""
    toy = ToyDevice(launch_s=1e-6)
    result = benchmark(
        lambda: toy.launch(1e-6), device="cpu", synchronize=toy.synchronize, clock=toy.clock, repetitions=9
    )

    assert result.calls_per_reading >= stopwatch.READING_S / 3e-6
    # queued back to back, launching hides behind the work
    assert result.median_s == pytest.approx(1e-6, rel=0.01)


def test_readings_go_on_until_enough_time():
    """Without a number of repetitions, readings fill min_time_s and are at least nine."""
    toy = ToyDevice(launch_s=LAUNCH_S)
    result = on_toy(toy, repetitions=None, min_time_s=0.2, max_time_s=1.0)

    assert sum(result.times_s) * result.calls_per_reading >= 0.2
    assert len(result.times_s) >= timer.MIN_READINGS


def test_unsteady_readings_stop_at_max_time():
    """Readings that never agree stop at max_time_s, with a warning."""
    toy = ToyDevice(launch_s=LAUNCH_S)
    durations = [0.01, 0.03, 0.05, 0.09]
    calls = []

    def unsteady():
        calls.append(1)
        toy.launch(durations[len(calls) % len(durations)])

    result = benchmark(
        unsteady, device="cpu", synchronize=toy.synchronize, clock=toy.clock, min_time_s=0.1, max_time_s=2.0
    )

    assert 2.0 <= sum(result.times_s) < 2.2
    assert any("very wide spread" in warning for warning in result.warnings)


def test_exact_number_of_repetitions():
    """Asked for 4 readings, there are 4, and the result says they are too few."""
    result = on_toy(ToyDevice(launch_s=LAUNCH_S), repetitions=4)

    assert len(result.times_s) == 4
    assert any("too few" in warning for warning in result.warnings)


def test_errors_of_the_callable_come_back_unchanged():
    """What fn raises is what the caller gets, the very object."""
    error = KeyError("mine")

    def broken():
        raise error

    with pytest.raises(KeyError) as caught:
        benchmark(broken, device="cpu")
    assert caught.value is error


def test_not_callable():
    """Passing a result instead of a function says so with the value."""
    with pytest.raises(TypeError, match=r"something to call, got int 42"):
        benchmark(42, device="cpu")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"repetitions": 0}, "repetitions is 0"),
        ({"repetitions": -1}, "repetitions is -1"),
        ({"warmup": 0}, "warmup is 0"),
        ({"min_time_s": 0}, "min_time_s=0"),
        ({"min_time_s": 3, "max_time_s": 1}, "max_time_s=1"),
        ({"device": "bogus"}, "'bogus'"),
    ],
)
def test_senseless_options_name_the_value(options, word):
    """An option that makes no sense is refused before anything runs, and the sentence holds the value."""
    with pytest.raises(ValueError, match=word):
        benchmark(pytest.fail, **({"device": "cpu"} | options))


def test_one_tensor_as_inputs():
    """A bare tensor as inputs would be unpacked row by row; it is refused with the right way."""
    with pytest.raises(TypeError, match=r"inputs=\(x,\)"):
        benchmark(torch.relu, device="cpu", inputs=torch.ones(3))


def test_inputs_in_containers_arrive():
    """Tensors in nested containers are moved, other values stay as they are."""
    seen = []
    benchmark(
        lambda batch, scale: seen.append((batch["x"].device.type, scale)),
        device="cpu",
        inputs=({"x": torch.ones(2), "y": [torch.zeros(1)]}, 3),
        repetitions=1,
    )

    assert seen[0] == ("cpu", 3)


def test_module_on_another_device_is_named():
    """A module that is not on the device is refused with the parameter's name."""
    with pytest.raises(ValueError, match=r"'weight' is on meta.*asked for cpu"):
        benchmark(torch.nn.Linear(2, 2, device="meta"), device="cpu", inputs=(torch.ones(1, 2),))


def test_absent_mps_gets_no_time(no_mps):
    """Where MPS is absent, benchmark refuses it and compare_devices lists it with its reason."""
    with pytest.raises(ValueError, match=r"absent.*no Metal here"):
        benchmark(torch.relu, device="mps", inputs=(torch.ones(2),))

    comparison = compare_devices(torch.relu, inputs=(torch.ones(2),), repetitions=3)

    assert comparison.on("mps") is None
    assert ("mps", "absent: no Metal here") in comparison.missing


def test_lying_mps_gets_no_time(monkeypatch):
    """Where is_available lies (virtual Macs), compare_devices still gives MPS no time."""
    if torch.backends.mps.is_built():
        pytest.skip("needs a torch without MPS, so that work on it fails")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    comparison = compare_devices(torch.relu, inputs=(torch.ones(2),), repetitions=3)

    assert comparison.on("mps") is None
    assert comparison.missing[0][1].startswith("present but unusable")


def test_emulated_mps_gets_no_time():
    """Inside the emulated device code for a Mac runs, but nothing is timed as MPS."""
    if torch.backends.mps.is_built():
        pytest.skip("emulation refuses to start where torch has MPS")
    x = torch.ones(2)
    with emulated_mps():
        with pytest.raises(ValueError, match=r"'mps(:0)?' is emulated"):
            benchmark(torch.relu, device="mps", inputs=(x,))
        comparison = compare_devices(torch.relu, inputs=(x,), repetitions=3)

    assert comparison.on("mps") is None
    assert "has no time of its own" in dict(comparison.missing)["mps"]


def test_modules_are_copied_to_each_device():
    """compare_devices leaves the caller's module where and as it is."""
    module = torch.nn.Linear(2, 2)
    before = module.weight.clone()
    comparison = compare_devices(module, inputs=(torch.ones(1, 2),), devices_to_try=["cpu"], repetitions=3)

    assert comparison.label == "Linear"
    assert torch.equal(module.weight, before)


def test_unknown_device_in_comparison():
    """A device torch does not know is an error of the caller, not a missing device."""
    with pytest.raises(ValueError, match="'warp'"):
        compare_devices(torch.relu, devices_to_try=["warp"])


def test_result_records_how_it_was_made():
    """A timing states the torch version, the threads and the warm-up."""
    result = on_toy(ToyDevice(launch_s=LAUNCH_S))

    assert result.torch_version == torch.__version__
    assert result.threads == torch.get_num_threads()
    assert result.warmup_calls >= 3


def test_a_callable_that_slows_down_ends_in_time():
    """However many calls a reading was planned with, the calls end with the time; one call may run beyond it."""
    calls, slow = [], []

    def slows_down():
        calls.append(1)
        if len(calls) > 3000:
            slow.append(1)
            time.sleep(0.05)

    benchmark(slows_down, device="cpu", min_time_s=0.1, max_time_s=0.2)

    assert 1 <= len(slow) <= 0.2 / 0.05 + 1


@pytest.mark.parametrize(("sleep_s", "most_calls"), [(0.3, 1), (0.15, 2), (0.09, 3)])
def test_slow_calls_end_in_time(sleep_s, most_calls):
    """Calls that fill the time are few, the first included; it is a reading only where there is no other."""
    calls = []
    result = benchmark(
        lambda: (calls.append(1), time.sleep(sleep_s)), device="cpu", min_time_s=0.1, max_time_s=0.2, label="sleep"
    )

    assert len(calls) <= most_calls
    assert result.warmup_calls + len(result.times_s) * result.calls_per_reading == len(calls)
    assert result.warnings
    if most_calls == 1:
        assert (result.warmup_calls, result.times_s) == (0, (result.first_call_s,))


def test_repetitions_end_in_time_too():
    """A number of repetitions is not a way around max_time_s."""
    calls = []
    benchmark(
        lambda: (calls.append(1), time.sleep(0.05)), device="cpu", repetitions=100, min_time_s=0.1, max_time_s=0.2
    )

    assert len(calls) <= 5


def test_no_thread_is_left():
    """The thread that watches the time ends with the measurement, also when the callable raises."""
    before = threading.active_count()
    benchmark(lambda: None, device="cpu", repetitions=1)
    with pytest.raises(ZeroDivisionError):
        benchmark(lambda: 1 / 0, device="cpu")
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(10)

    assert threading.active_count() == before


def test_an_infinite_time_is_allowed():
    """Who wants no limit may say so."""
    assert benchmark(lambda: None, device="cpu", repetitions=2, max_time_s=float("inf")).times_s


async def coroutine():
    return 1


async def async_generator():
    yield 1


def generator():
    yield 1


class Yields:
    """A callable object whose call is a generator."""

    def __call__(self):  # noqa: D102
        yield 1


class Streams(torch.nn.Module):
    """A module whose forward pass is a generator."""

    def forward(self):  # noqa: D102
        yield 1


@pytest.mark.parametrize(
    "fn",
    [
        coroutine,
        async_generator,
        generator,
        functools.partial(generator),
        functools.partial(coroutine),
        Yields(),
        Streams(),
        lambda: (generator(), generator())[0],
        lambda: (n for n in range(3)),
    ],
)
def test_calls_that_run_nothing_are_refused(fn):
    """A generator or coroutine is only made by the call; measuring that would measure nothing."""
    with pytest.raises(TypeError, match="runs nothing"):
        benchmark(fn, device="cpu")


@pytest.mark.parametrize("bad", [float("nan"), -1.0, float("inf")])
def test_a_broken_clock_ends_in_a_sentence(bad):
    """A clock that gives no number or goes back is an error at once, and never an endless loop."""
    ticks = itertools.chain([0.0, 0.01, 1.0], itertools.repeat(bad))

    with pytest.raises(ValueError, match="clock"):
        benchmark(lambda: None, device="cpu", clock=lambda: next(ticks))


def test_a_clock_that_stands_still_ends_in_a_warning():
    """A clock that never moves gives times of zero and a warning."""
    result = benchmark(lambda: None, device="cpu", clock=lambda: 7.0, repetitions=2)

    assert result.times_s == (0.0, 0.0)
    assert any("stood still" in warning for warning in result.warnings)


@pytest.mark.needs_mps
def test_mps_is_measured_on_mps():
    """On a Mac, a large matrix product has an MPS time below the CPU's queueing illusion and above its peak."""
    x = torch.rand(2048, 2048)
    comparison = compare_devices(torch.matmul, inputs=(x, x), flop=2 * 2048**3)
    mps = comparison.on("mps")

    assert mps is not None
    assert not any("implausibly" in warning for warning in mps.warnings)
