"""Fillings of lesson 13."""

FILLED = {
    "l13-predict1": 'predict("kernels that gate queues", 3, "kernels")',
    "l13-predict2": 'predict("bytes that gate moves, in sizes of x", 6, "times x")',
    "l13-predict3": 'predict("time of gate, over the time that its bytes need", 1.5, "times")',
    "l13-turn1": """
def most_it_can_gain(function, *inputs):
    with Traffic() as traffic:
        result = function(*inputs)
    return traffic.n_bytes / sum(each.nbytes for each in (*inputs, result))
""",
    "l13-turn2": 'line = "float v = max(x[i], 0.0); out[i] = v * v;"',
    "l13-turn3": '''
loop = f"""
  for (uint left = size; left > 1; left = (left + 1) / 2) {{
    if (l < left / 2) part[l] += part[l + (left + 1) / 2];
    {BARRIER}
  }}
"""
''',
}

WRONG = {
    "l13-turn1": [
        # counts the result of each operator only
        """
def most_it_can_gain(function, *inputs):
    result = function(*inputs)
    return sum(each.nbytes for each in (*inputs, result)) / result.nbytes
""",
        # the way around
        """
def most_it_can_gain(function, *inputs):
    with Traffic() as traffic:
        result = function(*inputs)
    return sum(each.nbytes for each in (*inputs, result)) / traffic.n_bytes
""",
        # forgets the result
        """
def most_it_can_gain(function, *inputs):
    with Traffic() as traffic:
        function(*inputs)
    return traffic.n_bytes / sum(each.nbytes for each in inputs)
""",
    ],
    "l13-turn2": [
        'line = "out[i] = x[i] * x[i];"',
        'line = "float v = max(x[i], 0); out[i] = v * v;"',
        'line = "out[i] = max(x[i], 0.0);"',
        'line = "float v = max(x[i + 1], 0.0); out[i] = v * v;"',
    ],
    "l13-turn3": [
        # no barrier
        '''
loop = f"""
  for (uint left = size; left > 1; left = (left + 1) / 2)
    if (l < left / 2) part[l] += part[l + (left + 1) / 2];
"""
''',
        # the barrier is not reached by every thread
        '''
loop = f"""
  for (uint left = size; left > 1; left = (left + 1) / 2) {{
    if (l < left / 2) {{ part[l] += part[l + (left + 1) / 2]; {BARRIER} }}
  }}
"""
''',
        # rounds up where the upper half is shorter
        '''
loop = f"""
  for (uint left = size; left > 1; left = (left + 1) / 2) {{
    if (l < (left + 1) / 2) part[l] += part[l + (left + 1) / 2];
    {BARRIER}
  }}
"""
''',
    ],
}
