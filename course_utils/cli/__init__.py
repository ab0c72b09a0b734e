"""The `course` command, one module for each subcommand; each has add_arguments(parser) and run(arguments)."""
