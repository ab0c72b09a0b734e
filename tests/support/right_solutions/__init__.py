"""Right solutions of the exercises in the styles of different people; each passes every check."""
