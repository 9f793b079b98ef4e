"""Pickles regular expressions, iterators and random generators with every pickler and protocol of the Python that runs this
(2.7, and 3.6 and later).

usage: extra.py FOLDER         writes FOLDER/NAME.WAY.pN.pkl and prints a line `OUTCOME FILE` for each

OUTCOME is what channel `data` of tests/policy/extra.policy must say: accept or a class of refusal.
"""
import itertools
import random
import re
import sys

from values import PY2, write


def advanced(iterator, steps):
    for _ in range(steps):
        next(iterator)
    return iterator


def extras():
    """(name, value, outcome)"""
    yield "regex", [re.compile(u"a+b", re.I | re.M | re.S | re.X | re.U), re.compile(b"[\xff]")], "accept"
    yield "regex_long", re.compile(u"a" * 1001), "recipe"
    yield "random", [random.Random(1), with_deviate(random.Random(2))], "accept"
    yield "random_system", random.SystemRandom, "global"
    if PY2:
        return  # no iterator of Python 2 can be pickled
    iterators = [iter([1, 2]), iter((1, 2)), iter("ab"), iter(b"ab"), iter(range(5)), iter({1: 2}), iter({1}), reversed([1, 2]),
                 reversed((1, 2)), reversed(range(3)), enumerate([1, 2]), enumerate("ab", 5)]
    yield "iterators", iterators, "accept"
    yield "advanced", [advanced(iterator, 1) for iterator in iterators], "accept"
    yield "used_up", [advanced(iterator, 1) for iterator in (iter([1]), iter((1,)), reversed([1]), enumerate([1]))], "accept"
    yield "iterator_of_iterator", iter([iter([1])]), "accept"
    yield "map", map(len, [[]]), "global"
    yield "iterator_that_calls", iter([].pop, 1), "recipe"
    if sys.version_info < (3, 14):
        yield "chain", itertools.chain([1]), "global"


def with_deviate(generator):
    generator.gauss(0, 1)
    return generator


if __name__ == "__main__":
    write(sys.argv[1], extras())
