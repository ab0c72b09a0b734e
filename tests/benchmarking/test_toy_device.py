"""The toy device: a queue whose arithmetic can be checked by hand."""

from course_utils.benchmarking.toy_device import ToyDevice


def test_host_runs_ahead_of_the_device():
    """Three launches of 1 ms return after 3 ms; the device is done after 1 + 3 * 5 ms."""
    toy = ToyDevice(launch_s=0.001)
    for _ in range(3):
        toy.launch(0.005)

    assert round(toy.clock(), 6) == 0.003
    toy.synchronize()
    assert round(toy.clock(), 6) == 0.016


def test_only_new_shapes_compile():
    """Compiling is paid once for each shape."""
    toy = ToyDevice(launch_s=0.0, compile_s=1.0)
    for shape in ((1,), (1,), (2,), (1,)):
        toy.launch(0.0, shape)

    assert toy.clock() == 2.0


def test_waiting_for_an_empty_queue_costs_nothing():
    """Synchronising twice moves the clock once."""
    toy = ToyDevice()
    toy.launch(1.0)
    toy.synchronize()
    now = toy.clock()
    toy.synchronize()

    assert toy.clock() == now
    assert [span.what for span in toy.spans].count("wait") == 1
