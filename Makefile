# Two commands start everything, each on its own and from a fresh clone:
#     make lab     JupyterLab on the next unfinished lesson, at first 00
#     make test    all tests: units, lessons, exercises
# And the course as a web page, in build/site:
#     make site    runs every lesson once; SITE_EXECUTE=off make site does not
# `make instructor` installs what grading needs. Each installs what is missing into the same environment, once.
# Options: PYTHON=python3.12, VENV=folder, TORCH_INDEX=url (a pip index to take torch from),
#          LESSON=04, LAB_ARGS="--no-browser --port 8899"

VENV ?= .venv
PYTHON ?=
TORCH_INDEX ?=
LESSON ?=
LAB_ARGS ?=
PYTEST_ARGS ?=

# quoted, since the folder may have a space in its path
SET_UP = @sh scripts/setup_environment.sh $@ "$(VENV)" "$(PYTHON)" "$(TORCH_INDEX)"
# nbgrader calls alembic by name, so the environment's programs come first on the PATH
RUN = PATH="$$(cd "$(VENV)" && pwd)/bin:$$PATH"
IN_TEST_ENVIRONMENT = @sh scripts/setup_environment.sh test "$(VENV)" "$(PYTHON)" "$(TORCH_INDEX)"

.PHONY: lab instructor test site lint format release mac-report clean

lab:
	$(SET_UP)
	@$(RUN) course lab $(LESSON) $(LAB_ARGS)

instructor:
	$(SET_UP)

# one worker runs one notebook (loadscope): cells depend on the cells before them; each has one thread, since two
# workers with two threads each wait for one another on two cores
test:
	@test -d tests || { echo "This archive for students has no tests; clone the repository to run them." >&2; exit 2; }
	$(SET_UP)
	@$(RUN) OMP_NUM_THREADS=1 python -m pytest tests notebooks --nbval-lax --nbval-current-env -n 2 --dist loadscope --no-loadscope-reorder $(PYTEST_ARGS)

site:
	$(SET_UP)
	@$(RUN) python -m scripts.build_site
	@$(RUN) python scripts/check_links.py build/site

lint:
	$(IN_TEST_ENVIRONMENT)
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) mypy
	@$(RUN) lint-imports --no-cache
	@$(RUN) zizmor --offline --quiet .github/workflows
	@$(RUN) python scripts/format_notebooks.py --check
	@$(RUN) python -m scripts.draw_architecture --check
	@$(RUN) python -m scripts.repository_links --check

format:
	$(IN_TEST_ENVIRONMENT)
	@$(RUN) ruff check --fix --quiet .
	@$(RUN) ruff format --quiet .
	@$(RUN) python scripts/format_notebooks.py
	@$(RUN) python -m scripts.draw_architecture
	@$(RUN) python -m scripts.repository_links

# exercises/ is generated from solutions/, and from nothing else
release:
	$(IN_TEST_ENVIRONMENT)
	@$(RUN) course release

# everything that a Mac can tell, in one archive: docs/first_mac.md
mac-report:
	$(IN_TEST_ENVIRONMENT)
	@$(RUN) OMP_NUM_THREADS=1 python -m scripts.mac_report

clean:
	rm -rf .pytest_cache .ruff_cache .mypy_cache build ./*.egg-info
