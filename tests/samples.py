"""Classes of the corpus's pickles, of every common kind, as their authors might have them (tests/policy/corpus/samples.policy)."""
import collections
import dataclasses
import datetime
import enum
import typing

Point = collections.namedtuple("Point", "x y")


class TypedPoint(typing.NamedTuple):
    x: object
    y: object


class Colour(enum.Enum):
    RED = 1
    GREEN = "g"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class StrChoice(str, enum.Enum):
    YES = "yes"


class Perm(enum.Flag):
    R = 4
    W = 2
    X = 1


class Bits(enum.IntFlag):
    A = 1
    B = 2


class Outer:
    class Mode(enum.Enum):
        ON = 1

    class Inner:
        pass


@dataclasses.dataclass
class DataPlain:
    x: int
    y: str


@dataclasses.dataclass(frozen=True)
class DataFrozen:
    x: int
    y: str


@dataclasses.dataclass(slots=True)
class DataSlots:
    x: int
    y: str


@dataclasses.dataclass(frozen=True, slots=True)
class DataFrozenSlots:
    x: int
    y: str


class AttrPlain:
    pass


class AttrFrozen:
    def __setattr__(self, name, value):
        raise AttributeError(name)


class Slotted:
    """attrs gives its classes with slots the methods for that."""
    __slots__ = ()

    def __getstate__(self):
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state):
        values = state if isinstance(state, dict) else dict(zip(self.__slots__, state))
        for name, value in values.items():
            object.__setattr__(self, name, value)


class AttrSlots(Slotted):
    __slots__ = ("x", "y")


class AttrFrozenSlots(Slotted):
    __slots__ = ("x", "y")


class AttrCacheHash(AttrPlain):
    pass


class AppError(Exception):
    def __init__(self, message, code):
        super().__init__(message, code)
        self.code = code


class KwError(Exception):
    def __init__(self, message, *, code=0):
        super().__init__(message)
        self.code = code


class Plain:
    pass


class Slots:
    __slots__ = ("a", "b")


class SlotsAndDict(Slots):
    pass


class GetState:
    def __getstate__(self):
        return self.number, self.text

    def __setstate__(self, state):
        self.number, self.text = state


class NewArgs:
    def __new__(cls, n=0):
        made = super().__new__(cls)
        made.n = n
        return made

    def __getnewargs__(self):
        return self.n,


class NewArgsEx:
    def __new__(cls, *, key=0):
        made = super().__new__(cls)
        made.key = key
        return made

    def __getnewargs_ex__(self):
        return (), {"key": self.key}


class Reduce4:
    """It takes items and pairs, by Python code."""

    def __init__(self):
        self.items, self.pairs = [], {}

    def append(self, item):
        self.items.append(item)

    def __setitem__(self, key, value):
        self.pairs[key] = value


class MyInt(int):
    pass


class MyStr(str):
    pass


class MyFloat(float):
    pass


class MyBytes(bytes):
    pass


class MyTuple(tuple):
    pass


class MyList(list):
    pass


class MyDict(dict):
    pass


class MySet(set):
    pass


class MyDatetime(datetime.datetime):
    pass


class MyTz(datetime.tzinfo):
    def utcoffset(self, _):
        return datetime.timedelta(hours=1)

    def __reduce__(self):
        return MyTz, ()
