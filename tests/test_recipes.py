#!/usr/bin/python3
"""The recipes of docs/language.md take what CPython writes for such classes, at every protocol, and nothing else of them.

usage: test_recipes.py BUILD       (from the top folder, after `make`)
"""
import collections
import dataclasses
import enum
import os
import pickle
import re
import subprocess
import sys
import tempfile
import types

from tally import Tally


@dataclasses.dataclass
class Point:
    x: float
    y: float


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, **slots):
        for name, value in slots.items():
            setattr(self, name, value)


Pair = collections.namedtuple("Pair", "x y")


class Color(enum.Enum):
    RED, GREEN, BLUE = 1, 2, 3

    def __reduce_ex__(self, protocol):  # by value, as CPython does but some releases of 3.11
        return Color, (self.value,)


class Named:
    """An enum member by name."""

    def __reduce_ex__(self, protocol):
        return getattr, (Color, "RED")


class Fault(Exception):
    pass


class Limit(Exception):
    def __init__(self, message, most):
        super().__init__(message, most)
        self.most = most


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: int

    def __getstate__(self):  # as slots=True, which Python 3.11 brings
        return [self.a, self.b]


def into_app(cls):
    cls.__module__ = "app"
    setattr(sys.modules["app"], cls.__name__, cls)


GOOD = [Point(1.0, 2.0), Slots(a=1), Slots(a=1, b="x"), Pair(1, 2), Color.BLUE, Named(), Fault("m"), Limit("m", 3), Frozen(1, 2)]
BAD = [Point(1, 2.0), Slots(b="x"), Pair("x", 2), Fault(), Limit("m", "3"), Frozen(1, "2")]


def main():
    sys.modules["app"] = types.ModuleType("app")
    for cls in (Point, Slots, Pair, Color, Fault, Limit, Frozen):
        into_app(cls)
    with open("docs/language.md", encoding="utf-8") as file:
        recipes = re.search(r"^## Recipes$.*?^```policy\n(.*?)^```$", file.read(), re.M | re.S).group(1)
    policyc = os.path.abspath(os.path.join(sys.argv[1], "policyc"))
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recipes.policy")
        with open(path, "w") as file:
            file.write("policy recipes 1;\n" + recipes)
        for wanted, values in ((0, GOOD), (1, BAD)):
            for value in values:
                for protocol in range(2 if isinstance(value, Slots) else 0, 6):
                    stream = os.path.join(folder, "value.pkl")
                    with open(stream, "wb") as file:
                        file.write(pickle.dumps([value], protocol))
                    done = subprocess.run([policyc, "try", path, stream], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    tally.check(done.returncode == wanted, "%r at protocol %d: %s" % (value, protocol, done.stdout.decode()))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
