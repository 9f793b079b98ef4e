"""Classes of a host with code in every place that Python looks into: whatever of it runs says so in RAN."""
import functools

RAN = []


def noted(name, does=None):
    """A method that says that it ran."""
    def hook(*args, **kw):
        RAN.append(name)
        return does(*args, **kw) if does else None
    return hook


class Noticing:
    """A descriptor, also of what is set and of the class that has it."""

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner):
        RAN.append("__get__ of " + self.name)
        return None

    def __set__(self, instance, value):
        RAN.append("__set__ of " + self.name)

    def __set_name__(self, owner, name):
        RAN.append("__set_name__ of " + name)


class Meta(type):
    """A metaclass whose every method says that it ran."""

    def __call__(cls, *args, **kw):
        RAN.append("metaclass __call__")
        return super().__call__(*args, **kw)

    def __new__(mcs, *args, **kw):
        RAN.append("metaclass __new__")
        return super().__new__(mcs, *args, **kw)

    def __init__(cls, *args, **kw):
        RAN.append("metaclass __init__")

    def __getattribute__(cls, name):
        RAN.append("metaclass __getattribute__ " + name)
        return super().__getattribute__(name)

    def __setattr__(cls, name, value):
        RAN.append("metaclass __setattr__")

    def __instancecheck__(cls, other):
        RAN.append("metaclass __instancecheck__")
        return True

    def __subclasscheck__(cls, other):
        RAN.append("metaclass __subclasscheck__")
        return True

    def mro(cls):
        RAN.append("metaclass mro")
        return super().mro()

    def __hash__(cls):
        RAN.append("metaclass __hash__")
        return 1

    def __eq__(cls, other):
        RAN.append("metaclass __eq__")
        return cls is other


# What stands under such a name is a method; under the others it is computed.
METHODS = ("__new__", "__init__", "__del__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__setstate__", "__reduce__", "__reduce_ex__",
           "__getnewargs__", "__str__", "__repr__", "__format__", "__hash__", "__eq__", "__ne__", "__lt__", "__bool__", "__len__", "__iter__", "__next__",
           "__contains__", "__getitem__", "__setitem__", "__index__", "__int__", "__float__", "__call__", "__enter__", "__exit__", "__get__", "__dir__",
           "__instancecheck__", "__init_subclass__", "__class_getitem__", "__subclasshook__", "__fspath__", "__length_hint__", "__buffer__", "append",
           "extend", "add", "update", "derive", "split", "with_traceback", "add_note")
COMPUTED = ("args", "__traceback__", "__cause__", "__context__", "__suppress_context__", "__notes__", "__dict__", "__class__", "__doc__", "__module__",
            "__slots__x", "errno", "strerror", "filename", "filename2", "characters_written", "start", "end", "object", "reason", "encoding", "lineno",
            "offset", "text", "end_lineno", "end_offset", "msg", "print_file_and_line", "name", "name_from", "path", "obj", "value", "exceptions", "message",
            "__remote_denials__", "__remote_traceback__", "__remote_refusal__", "__remote_message__")


def _does(name, base):
    """What a hook of that name has to do, for its class to be of use."""
    if name == "__new__":
        return lambda cls, *args, **kw: base.__new__(cls, *args)
    if name == "__getattribute__":
        return lambda self, name: base.__getattribute__(self, name)
    if name == "__getattr__":
        def missing(self, name):
            raise AttributeError(name)
        return missing
    return {"__str__": lambda self: "own text", "__repr__": lambda self: "own text", "__format__": lambda self, form: "own text",
            "__hash__": lambda self: 1, "__eq__": lambda self, other: self is other, "__bool__": lambda self: True, "__len__": lambda self: 1,
            "__setattr__": lambda self, name, value: base.__setattr__(self, name, value), "__index__": lambda self: 1, "__int__": lambda self: 1,
            "__iter__": lambda self: iter(()), "__dir__": lambda self: [], "__buffer__": lambda self, flags: memoryview(b"x")}.get(name)


def _make(kind, base, names, meta=type, **members):
    members.update({"__module__": __name__, "__qualname__": kind})
    for name in names:
        if name in METHODS:
            members[name] = noted(name, _does(name, base))
        else:
            members[name.rstrip("x") if name.startswith("__slots__") else name] = Noticing(name)
    made = globals()[kind] = type.__new__(meta, kind, (base,), members)
    return made


def one_for_each(prefix, base):
    """Classes that have one piece of code each: {name of the class: the piece}."""
    made = {}
    for number, name in enumerate(METHODS + COMPUTED):
        if name == "__slots__x" or (name in ("__dict__", "__class__") and base is not Exception):
            continue
        _make(prefix + str(number), base, [name])
        made[prefix + str(number)] = name
    _make(prefix + "Meta", base, [], Meta)
    made[prefix + "Meta"] = "metaclass"
    if base is Exception:
        _make(prefix + "All", base, [name for name in METHODS + COMPUTED if name != "__slots__x"], Meta)
        made[prefix + "All"] = "everything"
    return made


class Slotted(Exception):
    __slots__ = ("slot",)


class Partial(Exception):
    __new__ = functools.partial(noted("__new__ of Partial"), 1)


def forget():
    del RAN[:]
