"""Wrong solutions of exercise 04, by the grade id of the cell that they stand in."""

WRONG = {
    "ex04-task1": {
        "mean instead of median": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, _, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": statistics.mean(times_s), "iqr_s": third - first}
""",
        "exclusive quartiles": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, _, third = statistics.quantiles(times_s, n=4)
    return {"median_s": statistics.median(times_s), "iqr_s": third - first}
""",
        "range instead of interquartile range": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    return {"median_s": statistics.median(times_s), "iqr_s": max(times_s) - min(times_s)}
""",
        "middle of the unsorted list": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    ordered = sorted(times_s)
    n = len(ordered)
    return {"median_s": ordered[n // 2], "iqr_s": ordered[3 * n // 4] - ordered[n // 4]}
""",
        "one reading not handled": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if len(times_s) < 2:
        first = third = times_s[1]
    return {"median_s": median, "iqr_s": third - first if len(times_s) > 2 else 0.0}
""",
        "sorts the caller's list": """
def summarise(times_s):
    times_s.sort()
    if not times_s:
        raise ValueError("empty")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": median, "iqr_s": third - first}
""",
        "no readings give None": """
def summarise(times_s):
    if not times_s:
        return None
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": median, "iqr_s": third - first}
""",
        "an IndexError for none": """
def summarise(times_s):
    if len(times_s) == 1 or times_s[0] is None:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": median, "iqr_s": third - first}
""",
        "a TypeError for none": """
def summarise(times_s):
    if not times_s:
        raise TypeError("empty")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": median, "iqr_s": third - first}
""",
        "one reading is its own spread": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": times_s[0]}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": median, "iqr_s": third - first}
""",
        "one reading has no number": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": None}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": median, "iqr_s": third - first}
""",
        "standard deviation": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": median, "iqr_s": statistics.stdev(times_s)}
""",
        "half the range": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": median, "iqr_s": (third - first) / 2}
""",
        "milliseconds": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return {"median_s": 1e3 * median, "iqr_s": 1e3 * (third - first)}
""",
        "a pair": """
def summarise(times_s):
    if not times_s:
        raise ValueError("empty")
    if len(times_s) == 1:
        return {"median_s": times_s[0], "iqr_s": 0.0}
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return (median, third - first)
""",
        "not sorted": """
def summarise(times_s):
    if len(times_s) == 0:
        raise ValueError
    def at(share):
        place = share * (len(times_s) - 1)
        low = int(place)
        high = min(low + 1, len(times_s) - 1)
        return times_s[low] + (place - low) * (times_s[high] - times_s[low])
    return {"median_s": at(0.5), "iqr_s": at(0.75) - at(0.25)}
""",
    },
    "ex04-task2": {
        "the first call is part of the first trial": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "never waits": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        start = clock()
        for _ in range(calls):
            fn()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "waits only at the end": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "waits only at the beginning": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "the clock before the wait": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        start = clock()
        synchronize()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "each call is waited for": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
            synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "not divided": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) for _ in range(repetitions)]}
""",
        "milliseconds": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [1000 * reading(calls) / calls for _ in range(repetitions)]}
""",
        "no limit but a large one": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 10**6:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "stops one trial early": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 512:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "one call for each reading": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(1) for _ in range(repetitions)]}
""",
        "one more call each time": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls += 1
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "ten times as many": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 10
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "doubles once too often": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "at least in each call": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) / calls < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "zero repetitions are an empty list": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "zero alone is refused": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions == 0:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
        "all readings at once": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls * repetitions) / calls / repetitions] * repetitions}
""",
        "the trials are readings too": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls, times_s = 1, [reading(1)]
    while times_s[-1] * calls < at_least_s and calls < 1024:
        calls *= 2
        times_s.append(reading(calls) / calls)
    times_s += [reading(calls) / calls for _ in range(repetitions)]
    return {"calls": calls, "times_s": times_s}
""",
        "the last trial is the first reading": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while (took := reading(calls)) < at_least_s and calls < 1024:
        calls *= 2
    times_s = [took / calls] + [reading(calls) / calls for _ in range(repetitions - 1)]
    return {"calls": calls, "times_s": times_s}
""",
        "the median": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    times_s = [reading(calls) / calls for _ in range(repetitions)]
    return {"calls": calls, "times_s": [statistics.median(times_s)]}
""",
        "three first calls": """
def time_short_calls(fn, synchronize, clock, at_least_s, repetitions):
    if repetitions < 1:
        raise ValueError("at least 1")

    def reading(calls):
        synchronize()
        start = clock()
        for _ in range(calls):
            fn()
        synchronize()
        return clock() - start

    for _ in range(3):
        fn()
    calls = 1
    while reading(calls) < at_least_s and calls < 1024:
        calls *= 2
    return {"calls": calls, "times_s": [reading(calls) / calls for _ in range(repetitions)]}
""",
    },
    "ex04-task3": {
        "judges by the fastest reading": """
def find_flaw(times_s, flop, peak_flops):
    if flop / min(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return "wide spread" if third - first > median / 4 else "fine"
""",
        "wrong order of rules": """
def find_flaw(times_s, flop, peak_flops):
    if len(times_s) < 5:
        return "too few"
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return "wide spread" if third - first > median / 4 else "fine"
""",
        "no look at the spread": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    return "too few" if len(times_s) < 5 else "fine"
""",
        "always fine": """
def find_flaw(times_s, flop, peak_flops):
    return "fine"
""",
        "fails on a single reading": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return "wide spread" if third - first > median / 4 else "fine"
""",
        "a quarter of the mean": """
import statistics


def find_flaw(t, flop, peak):
    if flop / max(t) > peak:
        return "implausible"
    if len(t) > 1 and t[0] > 3 * statistics.median(t[1:]):
        return "first call counted"
    if len(t) < 5:
        return "too few"
    q = statistics.quantiles(t, n=4, method="inclusive")
    return "wide spread" if q[2] - q[0] > statistics.mean(t) / 4 else "fine"
""",
        "compared with the fastest of the others": """
import statistics


def find_flaw(t, flop, peak):
    if flop / max(t) > peak:
        return "implausible"
    if len(t) > 1 and t[0] > 3 * min(t[1:]):
        return "first call counted"
    if len(t) < 5:
        return "too few"
    q = statistics.quantiles(t, n=4, method="inclusive")
    return "wide spread" if q[2] - q[0] > q[1] / 4 else "fine"
""",
        "the median reading has to be plausible": """
def find_flaw(times_s, flop, peak_flops):
    if flop / statistics.median(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if third - first > median / 4:
        return "wide spread"
    return "fine"
""",
        "the first compared with all": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if third - first > median / 4:
        return "wide spread"
    return "fine"
""",
        "compared with the mean of the others": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.mean(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if third - first > median / 4:
        return "wide spread"
    return "fine"
""",
        "3 times is enough": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] >= 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if third - first > median / 4:
        return "wide spread"
    return "fine"
""",
        "5 are too few": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) <= 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if third - first > median / 4:
        return "wide spread"
    return "fine"
""",
        "a quarter is enough": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if third - first >= median / 4:
        return "wide spread"
    return "fine"
""",
        "the peak itself is implausible": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) >= peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if third - first > median / 4:
        return "wide spread"
    return "fine"
""",
        "the range": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if max(times_s) - min(times_s) > median / 4:
        return "wide spread"
    return "fine"
""",
        "half of the median": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if third - first > median / 2:
        return "wide spread"
    return "fine"
""",
        "twice the median": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 2 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    if third - first > median / 4:
        return "wide spread"
    return "fine"
""",
        "few before the first call": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) < 5:
        return "too few"
    if times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
    return "wide spread" if third - first > median / 4 else "fine"
""",
        "spread before number": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) > 1:
        first, median, third = statistics.quantiles(times_s, n=4, method="inclusive")
        if third - first > median / 4:
            return "wide spread"
    return "too few" if len(times_s) < 5 else "fine"
""",
        "exclusive quartiles": """
def find_flaw(times_s, flop, peak_flops):
    if flop / max(times_s) > peak_flops:
        return "implausible"
    if len(times_s) > 1 and times_s[0] > 3 * statistics.median(times_s[1:]):
        return "first call counted"
    if len(times_s) < 5:
        return "too few"
    first, median, third = statistics.quantiles(times_s, n=4)
    if third - first > median / 4:
        return "wide spread"
    return "fine"
""",
    },
    "ex04-task4": {
        "made on the CPU and copied": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n).to(device), torch.rand(n, n).to(device)
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
        "new matrices for each product": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a @ b
        times_s = []
        for _ in range(repetitions):
            synchronize()
            start = clock()
            a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
            a @ b
            synchronize()
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "new matrices for each reading": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a @ b
        times_s = []
        for _ in range(repetitions):
            a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
            synchronize()
            start = clock()
            a @ b
            synchronize()
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "the mean": """
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
        median_s = statistics.mean(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "the fastest": """
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
        median_s = min(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "the lower of two in the middle": """
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
        median_s = statistics.median_low(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "no warm-up": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
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
        "does not wait": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a @ b
        times_s = []
        for _ in range(repetitions):
            start = clock()
            a @ b
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "waits at the end alone": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a @ b
        times_s = []
        for _ in range(repetitions):
            start = clock()
            a @ b
            synchronize()
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "waits by reading": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a @ b
        times_s = []
        for _ in range(repetitions):
            synchronize()
            start = clock()
            (a @ b).sum().item()
            synchronize()
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "n cubed": """
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
        results[n] = {"median_s": median_s, "flop_per_s": n**3 / median_s}
    return results
""",
        "n squared": """
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
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**2 / median_s}
    return results
""",
        "GFLOP/s": """
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
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s / 1e9}
    return results
""",
        "one matrix": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a @ a
        times_s = []
        for _ in range(repetitions):
            synchronize()
            start = clock()
            a @ a
            synchronize()
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "elementwise": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a * b
        times_s = []
        for _ in range(repetitions):
            synchronize()
            start = clock()
            a * b
            synchronize()
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "half precision": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = (
            torch.rand(n, n, device=device, dtype=torch.float16),
            torch.rand(n, n, device=device, dtype=torch.float16),
        )
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
        "sorted sizes": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sorted(sizes):
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
        "a list of results": """
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
    return list(results.values())
""",
        "one reading more": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a @ b
        times_s = []
        for _ in range(repetitions + 1):
            synchronize()
            start = clock()
            a @ b
            synchronize()
            times_s.append(clock() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "all at once, divided": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a @ b
        synchronize()
        start = clock()
        for _ in range(repetitions):
            a @ b
        synchronize()
        median_s = (clock() - start) / repetitions
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "its own clock": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
        a @ b
        times_s = []
        for _ in range(repetitions):
            synchronize()
            start = time.perf_counter()
            a @ b
            synchronize()
            times_s.append(time.perf_counter() - start)
        median_s = statistics.median(times_s)
        results[n] = {"median_s": median_s, "flop_per_s": 2 * n**3 / median_s}
    return results
""",
        "the CPU always": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    for n in sizes:
        a, b = torch.rand(n, n, device="cpu"), torch.rand(n, n, device="cpu")
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
        "one pair of matrices for all sizes": """
def measure_products(sizes, device, repetitions, synchronize, clock):
    results = {}
    n = max(sizes)
    a, b = torch.rand(n, n, device=device), torch.rand(n, n, device=device)
    for n in sizes:
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
    },
}
