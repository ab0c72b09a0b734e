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
    },
    "ex04-task2": {
        "never waits": """
def time_calls(fn, synchronize, clock, warmup, repetitions):
    if repetitions < 1:
        raise ValueError
    for _ in range(warmup):
        fn()
    times_s = []
    for _ in range(repetitions):
        start = clock()
        fn()
        times_s.append(clock() - start)
    return times_s
""",
        "waits only at the end of each reading": """
def time_calls(fn, synchronize, clock, warmup, repetitions):
    if repetitions < 1:
        raise ValueError
    for _ in range(warmup):
        fn()
    times_s = []
    for _ in range(repetitions):
        start = clock()
        fn()
        synchronize()
        times_s.append(clock() - start)
    return times_s
""",
        "counts the warm-up": """
def time_calls(fn, synchronize, clock, warmup, repetitions):
    if repetitions < 1:
        raise ValueError
    times_s = []
    for _ in range(warmup + repetitions):
        synchronize()
        start = clock()
        fn()
        synchronize()
        times_s.append(clock() - start)
    return times_s
""",
        "no warm-up": """
def time_calls(fn, synchronize, clock, warmup, repetitions):
    if repetitions < 1:
        raise ValueError
    times_s = []
    for _ in range(repetitions):
        synchronize()
        start = clock()
        fn()
        synchronize()
        times_s.append(clock() - start)
    return times_s
""",
        "accepts zero repetitions": """
def time_calls(fn, synchronize, clock, warmup, repetitions):
    for _ in range(warmup):
        fn()
    times_s = []
    for _ in range(repetitions):
        synchronize()
        start = clock()
        fn()
        synchronize()
        times_s.append(clock() - start)
    return times_s
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
    },
    "ex04-task4": {
        "first win": """
def crossing(sizes, cpu_s, gpu_s):
    for size, cpu, gpu in zip(sizes, cpu_s, gpu_s):
        if gpu < cpu:
            return size
    return None
""",
        "equal counts as faster": """
def crossing(sizes, cpu_s, gpu_s):
    start = None
    for size, cpu, gpu in reversed(list(zip(sizes, cpu_s, gpu_s))):
        if gpu > cpu:
            break
        start = size
    return start
""",
        "last size at which the CPU wins": """
def crossing(sizes, cpu_s, gpu_s):
    lost = [size for size, cpu, gpu in zip(sizes, cpu_s, gpu_s) if gpu >= cpu]
    return lost[-1] if lost else sizes[0]
""",
        "largest size instead of None": """
def crossing(sizes, cpu_s, gpu_s):
    start = sizes[-1]
    for size, cpu, gpu in reversed(list(zip(sizes, cpu_s, gpu_s))):
        if gpu >= cpu:
            break
        start = size
    return start
""",
    },
}
