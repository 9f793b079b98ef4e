#!/usr/bin/python3
"""The other side of the fuzz target `cpython`: what CPython's own unpickler makes of a stream, compared with what libupk says.

Requests come on standard input, answers go to standard output; cpython.c has the layout.  An empty answer: nothing to complain
of.

A stream is loaded in two ways, and neither looks up a name that the stream chooses freely:

inert   find_class hands out a class made for this name, which records what is done with it.  Every stream is loaded like
        this, whatever libupk says: it tests the machine alone.
real    only streams that libupk accepted under a policy, and only names of SAFE: it tests what old protocols spell, and
        what is printed.
"""
import _compat_pickle
import base64
import collections
import datetime
import decimal
import fractions
import importlib
import io
import json
import pickle
import re
import resource
import signal
import struct
import sys
import uuid

MEMORY = 1 << 30
SECONDS = 2  # of processors, for one answer
DEEPEST = 20000

# Refusals of libupk that CPython does not share, each with where docs/runtime.md or docs/refusals.md says so.
STRICT = {
    104: "PROTO 0 and 1 are written by no pickler", 105: "rule 5: PROTO first and once", 106: "rule 5: no newer opcode",
    107: "rule 5: frames exact", 108: "rule 5: frames exact", 109: "rule 5: plain decimal digits",
    121: "rule 5: one value at STOP", 124: "rule 5: a memo key set once", 125: "budget memo", 126: "rule 3: only fresh things change",
    128: "rule 4: a value is never callable", 131: "STACK_GLOBAL of Python 2 str", 132: "rule 5: nothing after STOP",
    202: "empty or overlong name", 203: "opcode family ext", 207: "rule 3: one BUILD an object", 301: "budgets",
}

SAFE = {
    "_codecs": "encode", "copyreg": "_reconstructor __newobj__",
    "builtins": "complex bytearray bytes set frozenset range slice Ellipsis NotImplemented bool dict float int list object str tuple",
    "collections": "Counter OrderedDict deque defaultdict ChainMap UserDict UserList UserString",
    "datetime": "date time datetime timedelta timezone",
    "decimal": "Decimal Context Clamped DivisionByZero FloatOperation Inexact InvalidOperation Overflow Rounded Subnormal Underflow",
    "fractions": "Fraction", "ipaddress": "IPv4Address IPv6Address IPv4Network IPv4Interface IPv6Network IPv6Interface",
    "pathlib": "PosixPath PurePosixPath WindowsPath PureWindowsPath", "time": "struct_time", "types": "SimpleNamespace",
    "uuid": "UUID SafeUUID", "zoneinfo": "ZoneInfo",
}


class Unjudged(Exception):
    """This stream is beyond what can be compared."""


# ---- inert ---------------------------------------------------------------------------------------------------------------------

class Record:
    """What was done with one stand-in."""

    def __init__(self, head, *parts):
        self.head, self.parts, self.state, self.items, self.pairs, self.adds = head, parts, None, [], [], []


class Meta(type):
    """Stand-ins are classes, because NEWOBJ takes nothing else; what streams do to them is recorded, also to results of calls."""

    def __call__(cls, *args):
        return stand_in("reduce", cls, args)

    def __setstate__(cls, state):
        cls.record.state = (state,)

    def extend(cls, values):
        cls.record.items.extend(values)

    def add(cls, value):
        hash(value)  # rule 8 of docs/runtime.md is about objects, too: as a set, or a dict, has it
        cls.record.adds.append(value)

    def __setitem__(cls, key, value):
        hash(key)
        cls.record.pairs.append((key, value))


def made_new(cls, *args, **kw):
    return stand_in("newobj_ex", cls, args, kw) if kw else stand_in("newobj", cls, args)


def stand_in(head, *parts):
    made = type.__new__(Meta, "StandIn", (), {"__new__": made_new})
    made.record = Record(head, *parts)
    return made


class Persistent:
    __hash__ = None

    def __init__(self, pid):
        self.pid = pid


class Buffer(bytearray):
    index = 0


def buffers():
    index = 0
    while True:
        buffer = Buffer(b"buffer")
        buffer.index = index
        index += 1
        yield buffer


class Inert(pickle.Unpickler):
    def __init__(self, data):
        super().__init__(io.BytesIO(data), encoding="latin1", buffers=buffers())
        self.old = not (data[:1] == b"\x80" and data[1:2] > b"\x02")
        self.names = {}

    def find_class(self, module, name):
        if self.old and (module, name) in _compat_pickle.NAME_MAPPING:
            module, name = _compat_pickle.NAME_MAPPING[module, name]
        elif self.old:
            module = _compat_pickle.IMPORT_MAPPING.get(module, module)
        if (module, name) not in self.names:
            self.names[module, name] = stand_in("global", module, name)
        return self.names[module, name]

    def persistent_load(self, pid):
        return Persistent(pid)


def quote(text):
    """A string as the form `tree` writes it."""
    out = []
    for c in text:
        code = ord(c)
        if c in '"\\':
            out.append("\\" + c)
        elif 0x20 <= code <= 0x7e:
            out.append(c)
        elif code < 0x10000:
            out.append("\\u%04x" % code)
        else:
            code -= 0x10000
            out.append("\\u%04x\\u%04x" % (0xd800 + (code >> 10), 0xdc00 + (code & 0x3ff)))
    return '"' + "".join(out) + '"'


class Tree:
    """The text of a value in the form `tree`, as docs/printed-forms.md describes it."""

    def __init__(self, most):
        self.left, self.path = most, []

    def text(self, value):
        self.left -= 1
        if self.left < 0:
            raise Unjudged("too large")
        leaf = self.leaf(value)
        if leaf is not None:
            return leaf
        for up, outer in enumerate(reversed(self.path), 1):
            if outer is value and value != ():
                return "(up %d)" % up
        self.path.append(value)
        done = self.compound(value)
        self.path.pop()
        return done

    def leaf(self, value):
        kind = type(value)
        if value is None:
            return "none"
        if kind is bool:
            return "true" if value else "false"
        if kind is int:
            return str(value)
        if kind is float:
            return "(f64 %016x)" % struct.unpack("<Q", struct.pack("<d", value))
        if kind is str:
            return quote(value)
        if kind in (bytes, bytearray):
            return self.group(kind.__name__, [value.hex()] if value else [])
        if kind is Buffer:
            return "(buffer %d)" % value.index
        if kind is memoryview:
            if type(value.obj) is Buffer:
                return "(buffer %d ro)" % value.obj.index
            return self.leaf(value.obj)
        if kind is Meta and value.record.head == "global":
            return "(global %s %s)" % tuple(map(quote, value.record.parts))
        return None

    def compound(self, value):
        kind = type(value)
        if kind in (list, tuple):
            return self.group(kind.__name__, map(self.text, value))
        if kind is dict:
            return self.group("dict", self.pairs(value.items()))
        if kind in (set, frozenset):
            return self.group(kind.__name__, sorted(map(self.text, value)))
        if kind is Persistent:
            return "(persid %s)" % self.text(value.pid)
        record = value.record
        parts = [self.text(part) for part in record.parts]
        if record.state:
            parts.append("(state %s)" % self.text(*record.state))
        if record.items:
            parts.append(self.group("items", map(self.text, record.items)))
        if record.pairs:
            parts.append(self.group("pairs", self.pairs(record.pairs)))
        if record.adds:
            parts.append(self.group("adds", map(self.text, record.adds)))
        return self.group(record.head, parts)

    def pairs(self, pairs):
        return ["(%s %s)" % (self.text(key), self.text(value)) for key, value in pairs]

    @staticmethod
    def group(head, parts):
        return "(" + " ".join([head, *parts]) + ")"


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[()]|[^ ()"]+')


def parse(text):
    """A tree as nested lists of atoms."""
    stack = [[]]
    for token in TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0]


class Plainer:
    """A tree without what CPython's result cannot tell: which opcode made an instance, Python 2's str from str, and equal keys."""

    doubtful = False

    def plain(self, node):
        if isinstance(node, str):
            return node
        head = node[0] if node and isinstance(node[0], str) else None
        if head == "str8":
            return quote(bytes.fromhex("".join(node[1:])).decode("latin1"))
        node = [self.plain(part) for part in node]
        if head in ("inst", "obj"):
            node[0] = "newobj" if node[2] == ["tuple"] else "reduce"
        elif head == "newobj_ex" and node[3] == ["dict"]:
            node[0] = "newobj"
            del node[3]
        elif head == "dict":
            merged = {}
            for key, value in node[1:]:
                merged.setdefault(self.key(key), [key, None])[1] = value
            node[1:] = merged.values()
        elif head in ("set", "frozenset"):
            members = {}
            for member in node[1:]:
                kept = members.setdefault(self.key(member), member)
                self.doubtful |= kept != member  # CPython keeps the first one, and here they are sorted
            node[1:] = sorted(members.values(), key=self.written)
        return node

    def key(self, node):
        """Equal for members that are equal in Python."""
        if isinstance(node, str):
            return node if node[0] == '"' or node == "none" else float_or_int({"true": "1", "false": "0"}.get(node, node))
        if node[0] == "f64":
            value = struct.unpack(">d", bytes.fromhex(node[1]))[0]
            self.doubtful |= value != value
            return value
        if node[0] == "tuple":
            return ("tuple", *map(self.key, node[1:]))
        if node[0] == "frozenset":
            return frozenset(map(self.key, node[1:]))
        if node[0] not in ("bytes", "global"):
            self.doubtful = True  # the same object or another one?
        return self.written(node)

    def written(self, node):
        return node if isinstance(node, str) else "(" + " ".join(map(self.written, node)) + ")"


def float_or_int(text):
    return int(text)


def judge_inert(data, code, tree):
    """code 0: libupk accepts; `tree` is what it prints, None: more than can be compared."""
    try:
        value = Inert(data).load()
    except Exception as why:  # whatever CPython raises is a refusal
        if code == 0 and "keywords must be strings" not in str(why):
            return "accepted, and CPython says %s: %s" % (type(why).__name__, why)
        return ""
    if code:
        return "" if code in STRICT else "R%d, and CPython accepts" % code
    if tree is None:
        return ""
    try:
        text = Tree(1 << 16).text(value)
    except Unjudged:
        return ""
    if text == tree:
        return ""
    ours, theirs = Plainer(), Plainer()
    a, b = ours.plain(parse(tree)), theirs.plain(parse(text))
    if a == b or ours.doubtful or theirs.doubtful:
        return ""
    return "another value\n  libupk:  %s\n  CPython: %s" % (tree, text)


# ---- real ----------------------------------------------------------------------------------------------------------------------

def look_up(module, name):
    if name not in SAFE.get(module, "").split():
        raise Unjudged("%s.%s" % (module, name))
    return getattr(importlib.import_module(module), name)


def get_attribute(owner, name):
    """getattr as old protocols use it, for the one method that a policy grants."""
    if name != "_unpickle" or owner is not look_up("zoneinfo", "ZoneInfo"):
        raise Unjudged("getattr")
    return owner._unpickle


class Real(pickle.Unpickler):
    def __init__(self, data):
        super().__init__(io.BytesIO(data), encoding="latin1")
        self.old = not (data[:1] == b"\x80" and data[1:2] > b"\x02")

    def find_class(self, module, name):
        if self.old and (module, name) in _compat_pickle.NAME_MAPPING:
            module, name = _compat_pickle.NAME_MAPPING[module, name]
        elif self.old:
            module = _compat_pickle.IMPORT_MAPPING.get(module, module)
        if (module, name) == ("builtins", "getattr"):
            return get_attribute
        if (module, name) == ("zoneinfo", "ZoneInfo._unpickle"):
            return look_up("zoneinfo", "ZoneInfo")._unpickle
        return look_up(module, name)


class Build:
    """The value that the form `json` describes, made anew."""

    def value(self, node):
        if isinstance(node, list):
            return [self.value(part) for part in node]
        if not isinstance(node, dict):
            return node
        tag = next(iter(node), "")
        if not tag.startswith("$"):
            return {key: self.value(part) for key, part in node.items()}
        return getattr(self, "tag_" + tag[1:])(node[tag], node)

    def values(self, parts):
        return [self.value(part) for part in parts]

    def tag_tuple(self, parts, _):
        return tuple(self.values(parts))

    def tag_set(self, parts, _):
        return set(self.values(parts))

    def tag_frozenset(self, parts, _):
        return frozenset(self.values(parts))

    def tag_dict(self, pairs, _):
        return {self.value(key): self.value(value) for key, value in pairs}

    def tag_bytes(self, text, _):
        return base64.b64decode(text)

    def tag_bytearray(self, text, _):
        return bytearray(base64.b64decode(text))

    def tag_str8(self, text, _):
        return text

    def tag_utf8(self, text, _):
        return base64.b64decode(text).decode("utf-8", "surrogatepass")

    def tag_float(self, text, node):
        if "bits" in node:
            return struct.unpack(">d", bytes.fromhex(node["bits"]))[0]
        return struct.unpack(">d", bytes.fromhex("7ff8000000000000"))[0] if text == "nan" else float(text)

    def tag_global(self, name, _):
        return self.name(name)

    @staticmethod
    def name(name):
        module, qualname = name if isinstance(name, list) else name.split("::")
        if (module, qualname) == ("zoneinfo", "ZoneInfo._unpickle"):
            return look_up("zoneinfo", "ZoneInfo")._unpickle
        return look_up(module, qualname)

    def tag_object(self, name, node):
        cls = self.name(name)
        return self.steps(cls.__new__(cls, *self.values(node["args"]), **self.value(node.get("kwargs", {}))), node)

    def tag_call(self, name, node):
        if not isinstance(name, (str, list)):
            raise Unjudged("a call of a call")
        return self.steps(self.name(name)(*self.values(node["args"]), **self.value(node.get("kwargs", {}))), node)

    def steps(self, made, node):
        if "items" in node:
            made.extend(self.values(node["items"]))
        for key, value in node.get("pairs", ()):
            made[self.value(key)] = self.value(value)
        for value in node.get("adds", ()):
            made.add(self.value(value))
        if "state" in node:
            state = self.value(node["state"])
            if hasattr(made, "__setstate__"):
                made.__setstate__(state)
                return made
            state, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
            if state:
                made.__dict__.update(state)
            for key, value in (slots or {}).items():
                setattr(made, key, value)
        return made

    def moment(self, made, node):
        if "fold" in node:
            made = made.replace(fold=node["fold"])
        return made.replace(tzinfo=self.value(node["tz"])) if "tz" in node else made

    def tag_date(self, text, _):
        return datetime.date.fromisoformat(text)

    def tag_time(self, text, node):
        return self.moment(datetime.time.fromisoformat(text), node)

    def tag_datetime(self, text, node):
        return self.moment(datetime.datetime.fromisoformat(text), node)

    def tag_timedelta(self, parts, _):
        return datetime.timedelta(*parts)

    def tag_decimal(self, text, _):
        return decimal.Decimal(text)

    def tag_fraction(self, parts, _):
        return fractions.Fraction(*parts)

    def tag_complex(self, parts, _):
        return complex(*self.values(parts))

    def tag_uuid(self, text, _):
        return uuid.UUID(text)

    def tag_up(self, *_):
        raise Unjudged("cyclic")



def members(value):
    """What a value consists of, as a list whose first member tells values of different kinds apart."""
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes, bytearray) or isinstance(value, type) or callable(value):
        return [value]
    if kind is float:
        return [struct.pack("<d", value)]
    if kind is complex:
        return [struct.pack("<dd", value.real, value.imag)]
    if kind in (list, tuple):
        return [len(value), *value]
    if kind is dict:
        return [len(value), *value.keys(), *value.values()]
    if kind in (set, frozenset):
        return [len(value), *sorted(value, key=lambda member: (type(member).__name__, repr(member)))]
    if kind in (range, slice):
        return [value.start, value.stop, value.step]
    if value in (Ellipsis, NotImplemented):
        return [id(value)]
    parts = value.__reduce_ex__(4)
    if isinstance(parts, str):
        return [parts]
    return [len(parts)] + [list(part) if place in (3, 4) and part is not None else part for place, part in enumerate(parts)]


def same(a, b):
    todo, left = [(a, b)], 1 << 16
    while todo:
        a, b = todo.pop()
        left -= 1
        if left < 0:
            raise Unjudged("too large")
        if a is b:
            continue
        if type(a) is not type(b):
            return False
        one, other = members(a), members(b)
        if len(one) != len(other):
            return False
        if len(one) == 1:
            if one != other:
                return False
            continue
        todo.extend(zip(one, other))
    return True


def judge_real(data, text):
    try:
        value = Real(data).load()
    except (pickle.UnpicklingError, EOFError, RecursionError, MemoryError) as why:
        return "accepted under a policy, and CPython says %s: %s" % (type(why).__name__, why)
    except Exception:  # errors of constructors, and names that are not safe
        return ""
    try:
        again = Build().value(json.loads(text))
        equal = same(value, again)
    except Unjudged:
        return ""
    if equal:
        return ""
    return "another value\n  libupk:  %s\n  CPython: %r" % (text, value)


# ---- requests ------------------------------------------------------------------------------------------------------------------

def read(size):
    data = sys.stdin.buffer.read(size)
    if len(data) < size:
        sys.exit(0)
    return data


def confine():
    """Streams are data; still, this process can neither grow without end nor write, start or reach anything."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for module in SAFE:
        importlib.import_module(module)

    def hook(event, args):
        writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
        if writes or event.startswith(("os.", "subprocess.", "socket.", "shutil.", "ctypes.", "exec", "compile")):
            raise RuntimeError("not here: " + event)

    sys.addaudithook(hook)


def main():
    sys.setrecursionlimit(DEEPEST)
    sys.set_int_max_str_digits(0)
    confine()
    while True:
        code, size, tree_size, json_size = struct.unpack("<4i", read(16))
        data = read(size)
        tree = read(tree_size).decode("ascii") if tree_size >= 0 else None
        text = read(json_size).decode("ascii") if json_size >= 0 else None
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # nothing handles it: the process ends
        answer = judge_inert(data, code, tree)
        if not answer and text is not None:
            answer = judge_real(data, text)
        signal.setitimer(signal.ITIMER_PROF, 0)
        answer = answer.encode("ascii", "backslashreplace")[:1 << 16]
        sys.stdout.buffer.write(struct.pack("<i", len(answer)) + answer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
