"""The share of RAM that Metal recommends: what was observed, and a rule that never promises more."""

from fractions import Fraction

import pytest
from support.found import found

from course_utils.data.read import read_json
from course_utils.memory.working_set import ram_for, recommended_bytes, recommended_share
from course_utils.reporting.units import GIB


def test_the_rule_promises_no_more_than_was_observed():
    """For every published working set, the rule gives as much or a little less."""
    for seen in found(read_json("working_set.json")["observed"]):
        ruled_gib = recommended_bytes(seen["ram_gb"]) / GIB
        assert 0.95 * seen["recommended_gib"] < ruled_gib <= seen["recommended_gib"] + 0.005, seen
        assert seen["source"]


def test_shares():
    """Two thirds up to 36 GB, three quarters above."""
    assert recommended_share(8) == recommended_share(36) == Fraction(2, 3)
    assert recommended_share(48) == recommended_share(512) == Fraction(3, 4)


@pytest.mark.parametrize("ram", [8, 16, 24, 32, 64, 128])
def test_the_ram_behind_a_working_set(ram):
    """The RAM is found again from the recommended working set; a size no Mac has gives none."""
    assert ram_for(recommended_bytes(ram)) == ram
    assert ram_for(1.3 * recommended_bytes(ram)) is None
