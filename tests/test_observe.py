#!/usr/bin/python3
"""One refusal is enough: the grant line of each name, pasted once, makes the stream pass, at every protocol.

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
import subprocess
import sys
import tempfile

from tally import Tally


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


def main():
    build, tally = sys.argv[1], Tally()
    with tempfile.TemporaryDirectory(dir=build) as folder:
        policy, stream = os.path.join(folder, "p.policy"), os.path.join(folder, "v.pkl")
        for value, names in VALUES:
            for protocol in range(6):
                if isinstance(value, Slots) and protocol < 2:
                    continue  # CPython itself cannot
                with open(stream, "wb") as file:
                    file.write(pickle.dumps(value, protocol))
                text = "policy p 1;\n"
                for turn in range(names + 1):
                    with open(policy, "w", encoding="ascii") as file:
                        file.write(text)
                    done = subprocess.run([os.path.join(build, "policyc"), "try", policy, stream], capture_output=True, text=True)
                    if done.returncode == 0:
                        break
                    grant = re.search("^    grant: (.*)$", done.stdout, re.M)
                    text += (grant.group(1) if grant else "") + "\n"
                tally.check(done.returncode == 0 and turn == names,
                            "%r at protocol %d:\n%s%s%s" % (value, protocol, text, done.stdout, done.stderr))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
