"""Classes that a host admits by with_types, of every kind that it takes."""
import collections
import dataclasses
import enum
import sys
import typing

ran = []  # names of the Python code that ran


# ---- named fields


@dataclasses.dataclass
class Point:
    x: int
    y: object = 2
    COUNT: typing.ClassVar[int] = 7
    scale: dataclasses.InitVar[int] = 1
    late: object = dataclasses.field(init=False, repr=False, default=None)
    made: list = dataclasses.field(init=False, default_factory=list)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: str = "b"


@dataclasses.dataclass
class Derived(Point):
    z: object = None


@dataclasses.dataclass
class Node:
    next: object = None


@dataclasses.dataclass
class Numbers(list):
    unit: str = "m"


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a=1):
        self.a = a


Pair = collections.namedtuple("Pair", "left right")


class Marked(Pair):
    pass  # and may have attributes


class Typed(typing.NamedTuple):
    x: int
    y: str = "y"


One = collections.namedtuple("One", "only")

if sys.version_info >= (3, 10):

    @dataclasses.dataclass(slots=True)
    class Slotted:
        a: int
        b: int = 2

    @dataclasses.dataclass(slots=True, frozen=True)
    class FrozenSlots:
        a: int
        b: int = 2

    @dataclasses.dataclass(slots=True)
    class Both(Node):
        slot: int = 3


# ---- members


class Mode(enum.Enum):
    FAST = "fast"
    QUICK = "fast"
    SLOW = 2
    NOTHING = None
    RAW = b"raw"


class Planet(enum.Enum):
    EARTH = (5.9, 6.3)
    MARS = (6.4, 3.3)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2 ** 70


class Word(str, enum.Enum):
    A = "a"


class Perm(enum.Flag):
    R = 4
    W = 2
    X = 1


class Bits(enum.IntFlag):
    A = 1
    B = 2


# ---- any attributes


class Plain:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class List(list):
    pass


class Dict(dict):
    pass


class Set(set):
    pass


class FrozenSet(frozenset):
    pass


class Int(int):
    pass


class Str(str):
    pass


class Bytes(bytes):
    pass


class Float(float):
    pass


class Complex(complex):
    pass


class Failure(ValueError):
    def __init__(self, *args):
        super().__init__(*args)
        self.note = "made here"


class Outer:
    class Inner(Plain):
        pass


class Newly:
    """Made by arguments of its own."""

    def __new__(cls, a, b):
        ran.append("Newly.__new__")
        self = super().__new__(cls)
        self.sum = a + b
        return self

    def __getnewargs__(self):
        return (self.sum, 0)


class Hooked:
    def __setstate__(self, state):
        ran.append("Hooked.__setstate__")
        self.__dict__.update(given=state)

    def __getstate__(self):
        return self.given

    def __setattr__(self, name, value):
        ran.append("Hooked.__setattr__")
        super().__setattr__(name, value)

    def __eq__(self, other):
        ran.append("Hooked.__eq__")
        return type(other) is Hooked and self.given == other.given

    def __hash__(self):
        ran.append("Hooked.__hash__")
        return hash(self.given)

    def __del__(self):
        pass


def hooked(state):
    made = Hooked.__new__(Hooked)
    made.__dict__["given"] = state
    return made


# ---- not to be admitted


class Reduces:
    def __reduce__(self):
        return (Reduces, ())


class ReducesEx:
    def __reduce_ex__(self, protocol):
        return (ReducesEx, ())


class Keywords:
    def __getnewargs_ex__(self):
        return (), {"a": 1}


class Tuple(tuple):
    pass


class Fields(tuple):
    _fields = ("a", "b")  # and is no namedtuple


class Splits(tuple):
    def __getnewargs__(self):
        return (tuple(self), 1)


class ByteArray(bytearray):
    pass


class Counter(collections.Counter):
    pass


class Undecodable(UnicodeDecodeError):
    pass


class NoImport(ImportError):
    pass


class Interrupt(KeyboardInterrupt):
    pass


class ByName(enum.Enum):
    A = 1

    def __reduce_ex__(self, protocol):
        return "A"


class Empty(enum.Enum):
    pass


@dataclasses.dataclass
class Odd:
    __odd__: object = None


class System:
    pass


System.__module__ = "os"


class Built:
    pass


Built.__module__ = "builtins"


class Nameless:
    pass


Nameless.__module__ = 7


class Hidden:
    class __Private:
        pass

    private = __Private


# ---- honest values


def values():
    point = Point(1, [2])
    noted = Failure(1, "two")
    noted.extra = {"k": (1,)}
    named = List([1, 2])
    named.name = "n"
    slots = Slots()
    full = Slots()
    full.b = {"deep": slots}
    made = [point, Point(None), Derived(1, z=point), Frozen(3), Frozen(3, None), Node(), Node(Node(3)), slots, full, Pair(1, [2]), One((1,)),
            One(()), Typed(1), Mode.FAST, Mode.QUICK, Mode.SLOW, Mode.NOTHING, Mode.RAW, Planet.EARTH, Level.LOW, Level.HIGH, Word.A,
            Perm.R, Perm.R | Perm.W, Perm(0), Perm(7), Bits.A | Bits.B, Bits(3), Plain(), Plain(a=1, b=[Plain()]), List(), List([1, [2]]), named, Dict(),
            Dict(a=1, b=Dict()), Set({1, 2}), FrozenSet({"x"}), Int(5), Int(2 ** 80), Str("s\u00e9"), Bytes(b"\x00\xff"), Float(1.5), Complex(1, -2),
            Failure(), noted, Outer.Inner(a=1), Newly(1, 2), hooked("any"), hooked(("state", 1))]
    numbers = Numbers("cm")
    numbers += [1, 2]
    made.append(numbers)
    if sys.version_info >= (3, 10):
        made += [Slotted(1), FrozenSlots(1, 5), Both(None, 4), Both(Slotted(2))]
    made.append([made[0], made[0], {"twice": made[3], "again": made[3]}])
    return made


REFUSED = [Reduces, ReducesEx, Keywords, Tuple, Fields, Splits, ByteArray, Counter, Undecodable, NoImport, Interrupt, ByName, Empty, Odd, System, Built,
           Nameless, Hidden.private]
