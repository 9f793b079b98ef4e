"""What a program might have loaded whose policy is open to names without rows: values, exceptions, and classes that notice."""
import collections
import dataclasses
import datetime
import decimal
import enum
import functools
import io
import pathlib
import shutil
import typing
import uuid

RAN = []  # what ran that should not have


# ---- values


class Mode(enum.Enum):
    FAST = "fast"
    SLOW = 2


class Bits(enum.IntFlag):
    A = 1
    B = 2


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Item:
    price: decimal.Decimal
    at: datetime.datetime
    took: datetime.timedelta


@dataclasses.dataclass
class Node:
    """One of everything."""
    mode: Mode
    path: pathlib.Path
    key: uuid.UUID
    items: list
    named: dict
    seen: frozenset
    open: set
    pair: Pair
    data: bytes
    room: bytearray
    point: complex
    large: int
    queue: collections.deque
    counts: dict
    order: collections.OrderedDict
    bits: Bits
    children: list


class Slotted:
    __slots__ = ("a", "__hidden")

    def __init__(self, a, hidden):
        self.a = a
        self.__hidden = hidden

    def parts(self):
        return self.a, self.__hidden


class Mixed(Slotted):
    """Slots and a dict."""


class Bare:
    """No __eq__, and it may hold itself."""


class Stack(list):
    """Takes its items by code of its own."""

    def append(self, item):
        list.append(self, (item, "taken"))

    def extend(self, items):
        for item in items:
            self.append(item)


class Bag(dict):
    def __setitem__(self, key, value):
        dict.__setitem__(self, key, (value, "taken"))


class Loose:
    """Its state has attributes that are no slots where slots stand."""

    def __reduce_ex__(self, protocol):
        return Loose, (), (None, {"x": 1})


class Kept:
    """There is only one, and everybody holds it."""
    one = None
    note = "ours"

    def __new__(cls, *args):
        if Kept.one is None:
            Kept.one = object.__new__(cls)
        return Kept.one


class Turns:
    """Does not make its own kind."""

    def __new__(cls, what="type"):
        return {"type": Bare, "module": shutil, "function": shutil.rmtree, "int": 1}[what]


class Front:
    """Returns an instance of a class below it, which no stream named; they are in BEHIND."""

    def __new__(cls, name="Back"):
        return object.__new__(BEHIND[name])


class Back(Front):
    pass


BEHIND = {
    "Back": Back,
    "module": type("Behind", (Front,), {"__module__": "subprocess"}),
    "name": type("memoryview", (Front,), {"__module__": "builtins"}),
    "listed": type("Thread", (Front,), {"__module__": "_thread"}),
    "ancestor": type("Heir", (type("Popen", (Front,), {"__module__": "subprocess"}),), {"__module__": __name__}),
    "row": type("Fraction", (Front,), {"__module__": "fractions"}),
    "unsaid": type("Unsaid", (Front,), {"__module__": 7}),
    "ends": type("Ends", (Front,), {"__module__": __name__, "__del__": lambda self: RAN.append("__del__ of Ends")}),
}


# ---- rows of subclasses


class Job:
    def __init__(self, *args):
        RAN.append("__init__ of Job")


class Deep(Job):
    class Inner(Job):
        pass


class Held(Job, io.BytesIO):
    """Its __setstate__ is of C, and none that the base has."""


class Part:
    def __init__(self, *args):
        self.args = args


class Bench(list, Part):
    def __init__(self, *args):
        list.__init__(self)
        Part.__init__(self, *args)


class JobPart(Job, Part):
    pass


class PartJob(Part, Job):
    pass


class Acts(Exception):
    """An exception whose making does something."""

    def __init__(self, *args):
        RAN.append("__init__ of Acts")
        super().__init__(*args)


class TwoArguments(Exception):
    """Could not be made by a call with its own args."""

    def __init__(self, code, text):
        super().__init__("%s: %s" % (code, text))
        self.code = code


class Outer:
    class Inner(Exception):
        pass


class Remote(OSError):
    def __init__(self, *args):
        RAN.append("__init__ of Remote")
        super().__init__(*args)


class Codec(UnicodeDecodeError):
    def __init__(self, words):
        RAN.append("__init__ of Codec")
        super().__init__("utf-8", b"abc", 0, 1, words)


class Hooked(Exception):
    def __new__(cls, *args):
        RAN.append("__new__ of Hooked")
        return Exception.__new__(cls, *args)


class Secret(Exception):
    pass


class Told(Secret):
    """Inherits from what is forbidden."""


class Forbidden(Exception):
    """Everywhere."""


class Interrupt(BaseException):
    """No Exception."""


# ---- what notices


class Notices(type):
    """A metaclass whose code would be seen."""

    @property
    def __module__(cls):
        RAN.append("__module__")
        return "json"

    @property
    def __name__(cls):
        RAN.append("__name__")
        return "Harmless"

    def __getattribute__(cls, name):
        RAN.append("__getattribute__ " + name)
        return type.__getattribute__(cls, name)

    def __getattr__(cls, name):
        RAN.append("__getattr__ " + name)
        raise AttributeError(name)

    def __subclasscheck__(cls, other):
        RAN.append("__subclasscheck__")
        return True

    def __instancecheck__(cls, other):
        RAN.append("__instancecheck__")
        return True

    def __eq__(cls, other):
        RAN.append("__eq__")
        return True

    def __hash__(cls):
        RAN.append("__hash__")
        return 1


class Described:
    """A descriptor."""

    def __get__(self, instance, owner):
        RAN.append("__get__")
        return Outer.Inner


class Noticed(metaclass=Notices):
    trap = Described()

    @property
    def asked(self):
        RAN.append("property")


class NoticedError(Exception, metaclass=Notices):
    pass


del RAN[:]  # the statements above are no one's doing


class Unnamed:
    """Does not say what it is."""


Unnamed.__module__ = 7
Lying = type("Lying", (), {"__module__": "json", "__qualname__": "JSONDecoder"})
Denied = type("Denied", (), {"__module__": "subprocess", "__qualname__": "Popen"})

# Attributes of this module that are others' objects.
tidy = shutil.rmtree
part = functools.partial
copier = shutil
Any = typing.Any
