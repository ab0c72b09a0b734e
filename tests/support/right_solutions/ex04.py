"""Right solutions of exercise 04 in other people's styles, by the grade id of the cell that they stand in."""

RIGHT = {
    "ex04-task1": {
        "NumPy": """
import numpy as np
def summarise(times_s):
    if len(times_s) == 0:
        raise ValueError("no readings")
    low, middle, high = np.percentile(times_s, [25, 50, 75])
    return {"median_s": middle, "iqr_s": high - low}
""",
        "torch in float64": """
def summarise(times_s):
    if not times_s:
        raise ValueError("nothing was measured")
    times = torch.tensor(times_s, dtype=torch.float64)
    q = torch.quantile(times, torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64))
    return {"median_s": q[1].item(), "iqr_s": (q[2] - q[0]).item()}
""",
        "by hand": """
def summarise(times_s):
    n = len(times_s)
    if n < 1:
        raise ValueError(f"{n} readings")
    ordered = sorted(times_s)
    def quantile(share):
        place = share * (n - 1)
        low, part = int(place), place % 1
        if low + 1 == n:
            return ordered[low]
        return ordered[low] * (1 - part) + ordered[low + 1] * part
    return {"median_s": quantile(0.5), "iqr_s": quantile(0.75) - quantile(0.25)}
""",
        "statistics raises by itself": """
def summarise(times_s):
    median = statistics.median(times_s)
    spread = 0.0
    if len(times_s) > 1:
        quartiles = statistics.quantiles(sorted(times_s), n=4, method="inclusive")
        spread = quartiles[2] - quartiles[0]
    return dict(median_s=median, iqr_s=spread)
""",
        "a doubled reading": """
from collections import OrderedDict
def summarise(times_s):
    match list(times_s):
        case []:
            raise ValueError("empty")
        case [only]:
            return OrderedDict(iqr_s=0, median_s=only)
        case readings:
            first, _, third = statistics.quantiles(readings, n=4, method="inclusive")
            return OrderedDict(iqr_s=third - first, median_s=statistics.median(readings))
""",
        "NumPy's quantile and an assert that is none": """
import numpy as np
class NoReadings(ValueError):
    pass
def summarise(times_s):
    values = np.asarray(times_s, dtype=float)
    if values.size == 0:
        raise NoReadings("no readings")
    return {"median_s": np.median(values), "iqr_s": float(np.subtract(*np.quantile(values, [0.75, 0.25])))}
""",
    },
    "ex04-task2": {
        "doubling until it is enough": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")
    fn()
    synchronize()

    def reading(calls):
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    for power in range(11):
        calls = 2**power
        if reading(calls) >= at_least_s:
            break
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "everything in one loop": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if not repetitions >= 1:
        raise ValueError(repetitions)
    fn()
    calls, found, times_s = 1, False, []
    while len(times_s) < repetitions:
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        took_s = clock() - start
        if found:
            times_s.append(took_s / calls)
        elif took_s >= at_least_s or calls == 1024:
            found = True
        else:
            calls = calls * 2
    return dict(times_s=times_s, calls=calls)
""",
        "a generator of trials": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    def now():
        synchronize()
        return clock()

    def reading(n):
        before = now()
        any(fn() for _ in range(n))
        return now() - before

    if repetitions <= 0:
        raise ValueError("too few repetitions")
    fn()
    trials = (1 << k for k in range(11))
    n = next(n for n in trials if reading(n) >= at_least_s or n == 1024)
    return {"calls": n, "times_s": [reading(n) / n for _ in range(repetitions)]}
""",
        "recursion": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError(f"{repetitions} repetitions")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    def enough(calls):
        if reading(calls) >= at_least_s or calls >= 1024:
            return calls
        return enough(2 * calls)

    fn()
    calls = enough(1)
    times_s = []
    for _ in range(repetitions):
        times_s.append(reading(calls) / calls)
    return {"calls": calls, "times_s": times_s}
""",
        "the end is the next beginning": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least one reading")
    fn()
    synchronize()
    mark, calls = clock(), 1
    while True:
        for _ in range(calls):
            fn()
        synchronize()
        mark, took = clock(), clock() - mark
        if took >= at_least_s or calls >= 1024:
            break
        calls += calls
    marks = [mark]
    for _ in range(repetitions):
        for _ in range(calls):
            fn()
        synchronize()
        marks.append(clock())
    return {"calls": calls, "times_s": [(b - a) / calls for a, b in zip(marks, marks[1:])]}
""",
    },
    "ex04-task3": {
        "with summarise": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    summary = summarise(times_s)
    if summary["iqr_s"] > 0.25 * summary["median_s"]:
        return "wide spread"
    return "fine"
""",
        "all rates": """
def find_flaw(times_s, flop, peak_flops):
    if all(flop / t > peak_flops for t in times_s):
        return "implausible"
    first, *others = times_s
    if others and first / statistics.median(others) > 3:
        return "first call counted"
    if len(others) < 4:
        return "too few"
    q1, q2, q3 = statistics.quantiles(times_s, method="inclusive")
    return "fine" if 4 * (q3 - q1) <= q2 else "wide spread"
""",
        "NumPy": """
import numpy as np
def find_flaw(times_s, flop, peak_flops):
    t = np.array(times_s)
    if (flop / t).min() > peak_flops:
        return "implausible"
    if t.size >= 2 and t[0] > 3 * np.median(t[1:]):
        return "first call counted"
    if t.size < 5:
        return "too few"
    q = np.percentile(t, [25, 50, 75])
    return "wide spread" if q[2] - q[0] > q[1] / 4 else "fine"
""",
        "a list of rules": """
def find_flaw(times_s, flop, peak_flops):
    def first_call():
        return len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:])
    def wide():
        q = statistics.quantiles(times_s, n=4, method="inclusive")
        return q[2] - q[0] > statistics.median(times_s) / 4
    rules = {
        "implausible": lambda: flop > peak_flops * max(times_s),
        "first call counted": first_call,
        "too few": lambda: len(times_s) < 5,
        "wide spread": wide,
    }
    for word, rule in rules.items():
        if rule():
            return word
    return "fine"
""",
        "an exception for a single reading": """
def find_flaw(times_s, flop, peak_flops):
    slowest = sorted(times_s)[-1]
    flaw = "fine"
    if flop / slowest > peak_flops:
        return "implausible"
    try:
        if times_s[0] > statistics.median(times_s[1:]) * 3:
            return "first call counted"
    except statistics.StatisticsError:
        return "too few"
    if len(times_s) in (1, 2, 3, 4):
        flaw = "too few"
    else:
        low, mid, high = statistics.quantiles(times_s, n=4, method="inclusive")
        if (high - low) / mid > 0.25:
            flaw = "wide spread"
    return flaw
""",
    },
    "ex04-task4": {
        "the loop by hand": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a @ b
        times_s = []
        for _ in range(repetitions):
            synchronize()
            start = clock()
            a @ b
            synchronize()
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "summarise and the lesson's timer": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    def seconds_of(function):
        synchronize()
        start = clock()
        function()
        synchronize()
        return clock() - start
    def one(n):
        a, b = (torch.randn(n, n, device=device) for _ in range(2))
        torch.mm(a, b)
        times = [seconds_of(lambda: torch.mm(a, b)) for _ in range(repetitions)]
        median = summarise(times)["median_s"]
        return {"median_s": median, "flop_per_s": 2 * n * n * n / median}
    return {n: one(n) for n in sizes}
""",
        "a product into a tensor that is there": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        c = torch.empty(n, n, device=device)
        torch.matmul(a, b, out=c)
        times_s = []
        for _ in range(repetitions):
            synchronize()
            start = clock()
            torch.matmul(a, b, out=c)
            synchronize()
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "ones and full": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a = torch.ones((n, n), dtype=torch.float32, device=device)
        b = torch.full((n, n), 0.5, device=device)
        a @ b
        times_s = []
        for _ in range(repetitions):
            synchronize()
            start = clock()
            a @ b
            synchronize()
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "NumPy's median": """
import numpy as np
def measure_products(sizes, device, repetitions, synchronize, clock):
    table = {}
    for size in sizes:
        shape = (size, size)
        a = torch.empty(shape, device=device).uniform_()
        b = torch.empty(shape, device=device).normal_()
        _ = a.matmul(b)
        readings = np.zeros(repetitions)
        synchronize()
        for i in range(repetitions):
            begin = clock()
            _ = a.matmul(b)
            synchronize()
            readings[i] = clock() - begin
        table[size] = {"flop_per_s": 2 * size**3 / np.median(readings), "median_s": np.median(readings)}
    return table
""",
        "einsum in a class": """
class Product:
    def __init__(self, n, device):
        self.n, self.a, self.b = n, torch.rand(n, n, device=device), torch.rand(n, n, device=device)
    def __call__(self):
        return torch.einsum("ij,jk->ik", self.a, self.b)
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = dict.fromkeys(sizes)
    for product in [Product(n, device) for n in sizes]:
        product()
        times = []
        for _ in range(repetitions):
            synchronize()
            start = clock()
            product()
            synchronize()
            times += [clock() - start]
        seconds = sorted(times)[len(times) // 2]
        if len(times) % 2 == 0:
            seconds = (seconds + sorted(times)[len(times) // 2 - 1]) / 2
        results[product.n] = dict(median_s=seconds, flop_per_s=product.n**3 * 2.0 / seconds)
    return results
""",
    },
}
