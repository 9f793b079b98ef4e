#!/usr/bin/python3
"""Exceptions from every Python found on this machine under policies/exceptions.policy.

usage: test_exceptions_producers.py BUILD       (from the top folder)
"""
import sys

from tally import Tally
from test_values_producers import decide_all

if __name__ == "__main__":
    sys.exit(decide_all(sys.argv[1], "policies/exceptions.policy", "tests/producers/exceptions.py", Tally()))
