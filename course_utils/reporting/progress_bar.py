"""How a progress bar looks: what is worked on, a bar, how much is done, and how long the rest will take."""

# without the time that passed and rates, which leave no place for the bar in a narrow terminal
BAR = "{desc}|{bar}| {n_fmt} of {total_fmt}, {remaining} left"
