"""The `course` command, one module for each subcommand; each has SUMMARY, add_arguments(parser) and run(arguments)."""
