"""Classes of tests/policy/hosts.policy: what a host might have under names that a policy grants, honest and not."""
import argparse
import enum
import functools
import os
import subprocess
import types

ran = []  # names of the Python code that ran


class Plain:
    """Attributes of any kind, and nothing else."""


class Other(Plain):
    pass


# ---- states


class Keeps:
    """Takes its state for its own __dict__."""

    def __setstate__(self, state):
        self.__dict__ = state


class KeepsParts:
    """Keeps what its state is made of."""

    def __setstate__(self, state):
        self.parts = state


class Slots:
    __slots__ = ("a", "b")


class SlotsAndDict(Slots):
    pass


class Property:
    """A state key of that name may be an attribute, but never a call."""
    __slots__ = ("a", "__dict__")

    @property
    def b(self):
        return ran.append("b.get")

    @b.setter
    def b(self, value):
        ran.append("b.set")


class OwnDict:
    @property
    def __dict__(self):
        return ran.append("__dict__")


class Frozen:
    """Setting an attribute is refused; BUILD does not ask."""

    def __setattr__(self, name, value):
        raise AttributeError(name)


class Attributes:
    """What pickle asks an instance for is not asked here."""

    def __getattr__(self, name):
        ran.append("__getattr__ " + name)
        raise AttributeError(name)


class Failure(Exception):
    """An exception with an attribute of its own, and a property."""

    @property
    def secret(self):
        return ran.append("secret.get")

    @secret.setter
    def secret(self, value):
        ran.append("secret.set")


# ---- objects of the host


class Singleton:
    """There is one."""
    one = None

    def __new__(cls):
        if Singleton.one is None:
            Singleton.one = object.__new__(cls)
        return Singleton.one


class SingletonList(list):
    one = None

    def __new__(cls):
        if SingletonList.one is None:
            SingletonList.one = list.__new__(cls)
        return SingletonList.one


class Foreign:
    """Makes instances of something else."""

    def __new__(cls):
        return Plain()


class Narrowed:
    """Makes instances of a subclass, which has code of its own."""

    def __new__(cls):
        return object.__new__(Quiet)


class Quiet(Narrowed):
    def __eq__(self, other):
        return ran.append("__eq__") is None

    __hash__ = None


# ---- hooks


class New:
    def __new__(cls):
        ran.append("__new__")
        return object.__new__(cls)


class Del:
    def __del__(self):
        ran.append("__del__")


class Setstate:
    def __setstate__(self, state):
        ran.append("__setstate__")


class Setattr:
    def __setattr__(self, name, value):
        ran.append("__setattr__")


class Hash:
    def __hash__(self):
        ran.append("__hash__")
        return 1


class Eq:
    def __eq__(self, other):
        ran.append("__eq__")
        return True

    __hash__ = object.__hash__


class Inherits(Eq):
    pass


class Callable:
    """A hook that is no function but is called as one."""

    def __call__(self, *args):
        ran.append("callable")
        return 1


class Odd:
    __hash__ = Callable()


class Wrapped:
    __setstate__ = functools.partialmethod(lambda self, state: ran.append("__setstate__"))


class Later:
    """Gets a hook when it is known already."""


class Appends(list):
    def append(self, item):
        ran.append("append")


class Extends(list):
    def extend(self, items):
        ran.append("extend")


class Items(dict):
    def __setitem__(self, key, value):
        ran.append("__setitem__")


class Pool(set):
    pass


class Adds(set):
    def add(self, member):
        ran.append("add")


# ---- names


class Members(tuple):
    pass


class BareMembers(tuple):
    __slots__ = ()
    _fields = ("a", "b")


class NewMembers(tuple):
    def __new__(cls, members=()):
        return super().__new__(cls, members)


class Outer:
    class Inner:
        pass

    @staticmethod
    def static():
        return Plain()

    @classmethod
    def made(cls):
        return Plain()

    @property
    def computed(self):
        return ran.append("computed")

    def method(self):
        return Plain()


class Lazy(type):
    def __getattr__(cls, name):
        ran.append("metaclass " + name)
        return Plain


class Dynamic(metaclass=Lazy):
    """Its attributes are made up by its metaclass."""


class Descriptor:
    def __get__(self, instance, owner):
        ran.append("__get__")
        return Plain


class Computed:
    Inner = Descriptor()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    ran.append("module " + name)
    return Plain


def returns(what):
    return RETURNED[what]


RETURNED = {"plain": Plain(), "int": 5, "class": Plain, "other": Other()}


def function():
    return Plain()


def instead():
    return Plain()


NotAFunction = Plain  # a row says func
not_a_class = function  # a row says class
Renamed = Other  # the policy grants both names
Unlisted = argparse.Namespace  # the policy does not grant what it is
execute = os.system
Process = subprocess.Popen
run = functools.partial(os.system)
environment = os.environ
plain_value = types.MappingProxyType({"a": 1})
submodule = os


class Rebound:
    pass


# ---- failures


def fail(how):
    raise {"value": ValueError("bad value"), "exit": SystemExit(1), "interrupt": KeyboardInterrupt(), "long": ValueError("x" * 100000),
           "escape": ValueError("\x1b[31m\u202e\ud800"), "mute": Mute(), "memory": MemoryError(), "recursion": RecursionError()}[how]


class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")


class Fails:
    def __init__(self, how):
        fail(how)


class FailsState:
    def __setstate__(self, state):
        fail(state)


class Watcher:
    """Looks at all that the garbage collector knows while it is made."""
    seen = []

    def __init__(self, *args):
        import gc
        for found in gc.get_objects():
            if type(found) in (tuple, list, dict):
                repr(found) if len(found) < 8 and not Watcher.seen else len(found)
                Watcher.seen.append(len(found))
        del Watcher.seen[:-1]


class Level(enum.Enum):
    LOW = 1
    HIGH = 2
