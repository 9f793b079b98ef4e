#!/usr/bin/python3
"""One refusal is enough: the line of each name (a row, or the shipped fragment that has it), pasted once, makes the stream
pass, at every protocol.

usage: test_observe.py BUILD       (from the top folder)

Last line: N passed, N failed.
"""
import collections
import dataclasses
import datetime
import enum
import os
import pickle
import re
import sys
import tempfile

from policyc import Policyc, tally, write


@dataclasses.dataclass
class Record:
    a: int
    b: str


class Slots:
    __slots__ = ("x", "y")

    def __init__(self):
        self.x, self.y = 1, 2


class Sequence(list):
    pass


class Mapping(dict):
    pass


class Number(int):
    pass


class Outer:
    class Inner:
        pass


class Keywords:
    def __new__(cls, *, size):
        return super().__new__(cls)

    def __getnewargs_ex__(self):
        return (), {"size": 3}


class Colour(enum.Enum):
    RED = 1


Point = collections.namedtuple("Point", "x y")

# value, names that a policy must grant
VALUES = [(Record(1, "b"), 1), (Slots(), 1), (Sequence([1, 2]), 1), (Mapping(a=1), 1), (Number(7), 1), (Outer.Inner(), 1),
          (Keywords(size=3), 1), (Colour.RED, 1), (Point(1, 2), 1), (collections.OrderedDict(a=1), 1),
          (collections.deque([1], 3), 1), (ValueError("x", 2), 1), (datetime.timedelta(1), 1),
          ([Record(1, "b"), Point(1, 2), Record(2, "c")], 2)]


def pickles(folder):
    """{path: (value, names that a policy must grant, protocol)}"""
    cases = {}
    for number, (value, names) in enumerate(VALUES):
        for protocol in range(6):
            if isinstance(value, Slots) and protocol < 2:
                continue  # CPython itself cannot
            path = os.path.join(folder, "%d.p%d.pkl" % (number, protocol))
            write(path, pickle.dumps(value, protocol))
            cases[path] = value, names, protocol
    return cases


def main():
    policyc = Policyc(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        policy, cases = os.path.join(folder, "p.policy"), pickles(folder)
        waiting = {"policy p 1;\n": list(cases)}  # by the policy that they come under next
        for turn in range(max(names for _, names in VALUES) + 1):
            refused = {}
            for text, paths in waiting.items():
                write(policy, text)
                for path, said in policyc.try_all(policy, paths).items():
                    value, names, protocol = cases[path]
                    grant = re.search("^    (?:grant|shipped): (.*)$", said, re.M)
                    accepted = said.startswith(path + ": ") and ": refused: " not in said
                    good = accepted if turn == names else grant and not accepted
                    if turn == names or not good:
                        tally.check(good, "%r at protocol %d:\n%s%s" % (value, protocol, text, said))
                    else:
                        refused.setdefault(text + grant.group(1) + "\n", []).append(path)
            waiting = refused
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
