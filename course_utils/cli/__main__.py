"""Run `python -m course_utils.cli` as the `course` command."""

import sys

from course_utils.cli.main import main

sys.exit(main())
