#!/usr/bin/python3
"""Regular expressions, iterators and random generators from every Python found on this machine under
tests/policy/extra.policy.

usage: test_extra_producers.py BUILD       (from the top folder)
"""
import sys

from tally import Tally
from test_values_producers import decide_all

if __name__ == "__main__":
    sys.exit(decide_all(sys.argv[1], "tests/policy/extra.policy:data", "tests/producers/extra.py", Tally()))
