"""How a progress bar looks: what is worked on, a bar, and how much is done."""

# without times and rates, which leave no place for the bar in a narrow terminal
BAR = "{desc}|{bar}| {n_fmt} of {total_fmt}"
