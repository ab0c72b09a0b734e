"""Lesson 04, filled in as a reader would: what is right, and what plausible readers get wrong."""

_TYPICAL = """
def typical_ms(work, toy):
    for _ in range({warmup}):
        work()
    times_s = []
    for _ in range(9):
        {before}
        start = toy.clock()
        work()
        {after}
        times_s.append(toy.clock() - start)
    return 1000 * statistics.{average}(times_s)
"""
_WAIT = "toy.synchronize()"

_STEP = """
def make_step(batch, device):
    model = make_model().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = images[:batch].to(device), labels[:batch].to(device)

    def step():
        {body}
        return {result}

    return step
"""
_BODY = """loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()"""

FILLED = {
    "l04-predict1": "from course_utils import compare_prediction, predict\n\n"
    'predict("the product of two 2048 x 2048 matrices", 100, "ms")',
    "l04-predict2": 'predict("three pieces of toy work", 16, "toy ms")',
    "l04-predict3": 'predict("pictures in a second, 512 at a time over 8 at a time", 20, "times as many")',
    "l04-turn1": _TYPICAL.format(warmup=3, before=_WAIT, after=_WAIT, average="median"),
    "l04-turn2": 'times_the_peak = 17e15 / find_chip("M2 Ultra").peak_flops()',
    "l04-turn3": _STEP.format(body=_BODY, result="loss"),
}

WRONG = {
    "l04-turn1": [
        _TYPICAL.format(warmup=3, before=_WAIT, after="pass", average="median"),
        _TYPICAL.format(warmup=3, before=_WAIT, after=_WAIT, average="mean"),
        _TYPICAL.format(warmup=0, before=_WAIT, after=_WAIT, average="mean"),
        _TYPICAL.format(warmup=3, before="pass", after="pass", average="median"),
        "def typical_ms(work, toy):\n    return 6.0 if toy.compile_s == 0 else 506.0",
    ],
    "l04-turn2": [
        'times_the_peak = 17e12 / find_chip("M2 Ultra").peak_flops()',
        'times_the_peak = find_chip("M2 Ultra").peak_flops() / 17e15',
        'times_the_peak = 17e15 / find_chip("M2").peak_flops()',
        'times_the_peak = "600 times"',
    ],
    "l04-turn3": [
        _STEP.format(body=_BODY, result="loss.item()"),
        _STEP.format(
            body="x, y = images[:batch].to(device), labels[:batch].to(device)\n        " + _BODY, result="loss"
        ),
        _STEP.format(body=_BODY.replace("optimizer.step()", "pass"), result="loss"),
        _STEP.format(body=_BODY.replace("optimizer.zero_grad()", "pass"), result="loss"),
        _STEP.format(body=_BODY, result="float(loss)"),
        _STEP.format(body=_BODY, result="None"),
    ],
}
