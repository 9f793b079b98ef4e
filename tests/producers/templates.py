"""Pickles instances of such classes as templates.policy declares, with every pickler and protocol of the Python that runs
this (2.7, and 3.6 and later; attrs and pydantic where they are there).

usage: templates.py FOLDER         writes FOLDER/NAME.WAY.pN.pkl and prints a line `OUTCOME FILE` for each

OUTCOME is what the policy must say: accept or a class of refusal.
"""
from __future__ import print_function

import collections
import os
import pickle
import sys
import types

PY = sys.version_info[:2]
app = types.ModuleType("app")
sys.modules["app"] = app

# What every Python has.
SOURCE = """
import collections

class Plain(object):
    def __init__(self, x, y):
        self.x, self.y = x, y

class Slots(object):
    __slots__ = ("x", "y")
    def __init__(self, x, y):
        self.x, self.y = x, y

class Optional(object):
    pass

class Nothing(object):
    pass

class Node(object):
    def __init__(self, value, next):
        self.value, self.next = value, next

class Classic:
    def __init__(self, x, y):
        self.x, self.y = x, y

Point = collections.namedtuple("Point", "x y")

class Child(Point):
    pass

class Bare(Exception):
    pass

class Fault(Exception):
    pass

class Noted(Exception):
    pass

class Limit(Exception):
    def __init__(self, message, most):
        Exception.__init__(self, message, most)
        self.most = most
"""

# Python 3.6
ENUMS = """
import enum, typing

class Typed(typing.NamedTuple):
    x: int
    name: str

class Job:
    def __init__(self, mode, perm, place):
        self.mode, self.perm, self.place = mode, perm, place

class Mode(enum.Enum):
    FAST, SAFE, QUICK = "fast", "safe", "fast"

class Level(enum.IntEnum):
    LOW, HIGH = 1, 2

class Choice(str, enum.Enum):
    YES, NO = "yes", "no"

class Odd(enum.Enum):
    NONE, PAIR, HALF, TRUTH, RAW, BELOW = None, (1, "x"), 0.5, True, b"\\x00\\xff", -5

class Outer:
    class Mode(enum.Enum):
        ON, OFF = 1, 0

class Perm(enum.Flag):
    R, W, X = 4, 2, 1

class Bits(enum.IntFlag):
    NONE, A, B, AB, C, TOP = 0, 1, 2, 3, 4, 2**70

class Wrong:
    class Mode(enum.Enum):
        FAST, SLOW = "fast", "slow"
    class Perm(enum.Flag):
        R, TOO_MUCH = 4, 8
    class Bits(enum.IntFlag):
        A, OTHER = 1, 8

for cls in Wrong.Mode, Wrong.Perm, Wrong.Bits:
    cls.__qualname__ = cls.__name__
"""

# Python 3.7
DATACLASSES = """
import dataclasses

@dataclasses.dataclass
class Plain:
    x: int
    y: str

@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int
    y: str
"""

# Python 3.10
SLOTTED = """
@dataclasses.dataclass(slots=True)
class Slots:
    x: int
    y: str

@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlots:
    x: int
    y: str

@dataclasses.dataclass(frozen=True, slots=True)
class Nothing:
    pass
"""

ATTRS = """
import attr

@attr.s(%s)
class Attrs:
    x = attr.ib()
    y = attr.ib()
"""

PYDANTIC = """
class Model(BaseModel):
    x: int
    y: str = ""

class Hollow(BaseModel):
    pass
"""


def define(source, **names):
    app.__dict__.update(names)
    exec(source, app.__dict__)


def basic_values():
    yield "plain", app.Plain(1, u"a"), "accept"
    yield "plain", app.Plain(1, 2), "recipe"
    yield "plain", app.Plain(1.0, u"a"), "recipe"
    more = app.Plain(1, u"a")
    more.z = 1
    yield "plain", more, "recipe"
    less = app.Plain(1, u"a")
    del less.x
    yield "plain", less, "recipe"
    yield "slots", app.Slots(1, u"a"), "accept"
    yield "slots", app.Slots(u"a", u"a"), "recipe"
    some = app.Slots(1, u"a")
    del some.y
    yield "slots", some, "recipe"
    yield "optional", app.Optional(), "accept"
    some = app.Optional()
    some.y = u"a"
    yield "optional", some, "accept"
    some.y = 1
    yield "optional", some, "recipe"
    yield "node", app.Node(1, app.Node(2, None)), "accept"
    yield "node", app.Node(1, app.Plain(1, u"a")), "recipe"
    ring = app.Node(1, None)
    ring.next = ring
    yield "node", ring, "root"
    yield "classic", app.Classic(1, u"a"), "accept"
    yield "classic", app.Classic(1, 1), "recipe"
    yield "nothing", app.Nothing(), "accept"
    yield "point", app.Point(1, 2.5), "accept"
    yield "point", app.Point(1, u"2"), "recipe"
    yield "child", app.Child(1, 2), "accept"
    yield "child", app.Child(1, 2.5), "recipe"
    yield "point", app.Child(1, 2), "root"


def exceptions():
    yield "bare", app.Bare(), "accept"
    yield "bare", app.Bare(u"m"), "recipe"
    yield "fault", app.Fault(), "accept"
    yield "fault", app.Fault(u"m"), "accept"
    yield "fault", app.Fault(u"m", 3), "accept"
    yield "fault", app.Fault(3), "recipe"
    extra = app.Fault(u"m")
    extra.extra = 1
    yield "fault", extra, "recipe"
    yield "limit", app.Limit(u"m", 3), "accept"
    more = app.Limit(u"m", 3)
    more.extra = u"x"
    yield "limit", more, "accept"
    wrong = app.Limit(u"m", 3)
    wrong.most = u"3"
    yield "limit", wrong, "recipe"
    yield "limit", app.Limit(u"m", u"3"), "recipe"
    empty = app.Limit(u"m", 3)
    del empty.most
    yield "limit", empty, "recipe"
    noted = app.Noted(u"m")
    yield "noted", noted, "accept"
    if PY >= (3, 11):
        noted = app.Noted("m")
        noted.add_note("a note")
        noted.add_note("another")
        yield "noted", noted, "accept"
        wrong = app.Noted("m")
        wrong.__notes__ = [1]
        yield "noted", wrong, "recipe"


def enums():
    yield "typed", app.Typed(1, "a"), "accept"
    yield "typed", app.Typed("a", "a"), "recipe"
    for mode in app.Mode:
        yield "mode", mode, "accept"
    yield "mode", app.Mode.QUICK, "accept"
    yield "mode", app.Level.LOW, "root"
    yield "mode", "fast", "root"
    for member in app.Level:
        yield "level", member, "accept"
    yield "choice", app.Choice.YES, "accept"
    for member in app.Odd:
        yield "odd", member, "accept"
    for member in app.Outer.Mode:
        yield "nested", member, "accept"
    yield "nested", app.Mode.FAST, "root"
    for value in range(8):
        yield "perm", app.Perm(value), "accept"
    yield "perm", app.Bits.A, "root"
    yield "perm", app.Bits.A | app.Bits.C, "root"
    for value in (0, 1, 2, 3, 4, 5, 6, 7, 2**70, 2**70 + 5, 2**70 + 7):
        yield "bits", app.Bits(value), "accept"
    yield "bits", app.Perm.R | app.Perm.W, "root"
    yield "bits", app.Bits(8), "recipe"
    yield "bits", app.Bits(9), "recipe"
    yield "bits", app.Bits(-1) if PY < (3, 11) else app.Bits(16), "recipe"
    yield "job", app.Job(app.Mode.SAFE, app.Perm.R | app.Perm.W | app.Perm.X, app.Point(1, 2)), "accept"
    yield "job", app.Job(app.Perm.R, app.Mode.SAFE, app.Point(1, 2)), "recipe"
    yield "modes", {app.Mode.FAST: {app.Perm.R, app.Perm.W | app.Perm.X}, app.Mode.SAFE: set()}, "accept"
    yield "modes", {app.Mode.FAST: {app.Mode.SAFE}}, "root"


def wrong_enums():
    """Members that the policy does not have, under names that it has: by value they have another shape; by name another
    global."""
    by_name = sys.version_info[:3] == (3, 11, 2)
    yield "mode", app.Mode.FAST, "accept"
    yield "mode", app.Mode.SLOW, "global" if by_name else "recipe"
    yield "perm", app.Perm.R, "accept"
    yield "perm", app.Perm.TOO_MUCH, "global" if by_name else "recipe"
    yield "perm", app.Perm.R | app.Perm.TOO_MUCH, "global" if by_name else "recipe"
    yield "bits", app.Bits.A | app.Bits.OTHER, "global" if by_name else "recipe"


def str_enums():
    yield "word", app.Word.A, "accept"
    yield "word", app.Word.B, "accept"


def dataclasses_():
    yield "plain", app.Plain(1, "a"), "accept"
    yield "plain", app.Plain("1", "a"), "recipe"
    yield "frozen", app.Frozen(1, "a"), "accept"
    yield "frozen", app.Frozen(1, 1), "recipe"


def slotted():
    yield "slots", app.Slots(1, "a"), "accept"
    yield "slots", app.Slots("1", "a"), "recipe"
    yield "frozen_slots", app.FrozenSlots(1, "a"), "accept"
    yield "frozen_slots", app.FrozenSlots("a", 1), "recipe"
    yield "frozen_slots", app.FrozenSlots(1, 1), "recipe"
    yield "nothing", app.Nothing(), "accept"


def attrs_values():
    yield "attrs", app.Attrs(1, "a"), "accept"
    yield "attrs", app.Attrs("1", "a"), "recipe"


def models():
    yield "model", app.Model(x=1, y="a"), "accept"
    yield "model", app.Model(x=1), "accept"
    yield "hollow", app.Hollow(), "accept"
    wrong = app.Model(x=1)
    wrong.__dict__["x"] = "1"
    yield "model", wrong, "recipe"


def batches():
    """(name of the batch, values); each is pickled before the next one defines its classes."""
    define(SOURCE, __name__="app")
    yield "basic", basic_values()
    yield "exceptions", exceptions()
    if PY < (3, 6):
        return
    define(ENUMS)
    yield "enums", enums()
    if PY >= (3, 11):
        define("class Word(enum.StrEnum):\n    A, B = 'a', 'b'\n")
        yield "str_enums", str_enums()
    kept = app.Mode, app.Perm, app.Bits
    app.Mode, app.Perm, app.Bits = app.Wrong.Mode, app.Wrong.Perm, app.Wrong.Bits
    yield "wrong_enums", wrong_enums()
    app.Mode, app.Perm, app.Bits = kept
    if PY >= (3, 7):
        define(DATACLASSES)
        yield "dataclasses", dataclasses_()
    if PY >= (3, 10):
        define(SLOTTED)
        yield "slotted", slotted()
    try:
        import attr
    except ImportError:
        attr = None
    for options in ("", "frozen=True", "slots=True", "slots=True, frozen=True") if attr else ():
        define(ATTRS % options)
        yield "attrs_" + "".join(c for c in options if c.isalpha()), attrs_values()
    for number, name in enumerate(("pydantic", "pydantic.v1")):
        try:
            model = __import__(name, fromlist=["BaseModel"]).BaseModel
        except ImportError:
            continue
        define(PYDANTIC, BaseModel=model)
        yield "pydantic%d" % number, models()


def picklers():
    """(name, dumps)"""
    if PY >= (3, 0):
        yield "c", pickle.dumps
        yield "py", pickle._dumps
    else:
        import cPickle

        yield "c", cPickle.dumps
        yield "py", pickle.dumps


def writes(name, value, protocol):
    """Slots alone have no spelling below protocol 2."""
    return protocol >= 2 or not (name == "slots")


def main():
    folder = sys.argv[1]
    for batch, values in batches():
        for number, (name, value, outcome) in enumerate(values):
            for way, dumps in picklers():
                for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                    if not writes(name, value, protocol):
                        continue
                    path = os.path.join(folder, "%s%d.%s.%s.p%d.pkl" % (batch, number, name, way, protocol))
                    with open(path, "wb") as file:
                        file.write(dumps({name: value}, protocol))
                    print(outcome, path)


if __name__ == "__main__":
    main()
