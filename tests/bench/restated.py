"""Two guards as Python has them: the rules of docs/systems.md, over CPython's own Unpickler in C.  For comparison of times alone.

  allowlist   a scan for extension opcodes, then names looked up in a set: what policies/agentix.policy takes the place of
  data_only   a scan of opcodes and budgets, names by identity, then a walk through the value: channel `result` of pysandboxes.policy
"""
import collections
import datetime
import decimal
import fractions
import io
import ipaddress
import pathlib
import pickle
import pickletools
import time
import uuid

EXTENSIONS = {"EXT1", "EXT2", "EXT4"}
LISTED = {(cls.__module__, cls.__qualname__) for cls in (
    datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone, decimal.Decimal, fractions.Fraction, uuid.UUID,
    collections.OrderedDict, collections.defaultdict, collections.Counter, collections.deque, pathlib.PurePath, pathlib.PurePosixPath,
    pathlib.PureWindowsPath, pathlib.Path, pathlib.PosixPath, pathlib.WindowsPath)}
BUILT_IN = (complex, range, slice, bytearray, frozenset, set, list, dict, tuple, bytes, str, int, float, bool)


class Allowlist(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) in LISTED:
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        elif module == "builtins":
            found = super().find_class(module, name)
            if isinstance(found, type) and (found in BUILT_IN or issubclass(found, BaseException)):
                return found
        raise pickle.UnpicklingError("%s.%s is not on the list" % (module, name))


def allowlist(data):
    for opcode, _, _ in pickletools.genops(data):
        if opcode.name in EXTENSIONS:
            raise pickle.UnpicklingError(opcode.name)
    return Allowlist(io.BytesIO(data)).load()


REFUSED = set("""INT LONG STRING BINSTRING SHORT_BINSTRING NEXT_BUFFER READONLY_BUFFER UNICODE FLOAT LIST DICT POP DUP POP_MARK GET PUT
    GLOBAL INST OBJ PERSID BINPERSID""".split()) | EXTENSIONS
OPENS, CLOSES = {"MARK"}, {"TUPLE", "SETITEMS", "APPENDS", "ADDITEMS", "FROZENSET"}
STORES = {"MEMOIZE", "BINPUT", "LONG_BINPUT"}
BYTES, OPCODES, MEMO, MARKS, DEPTH = 384 << 10, 5_000_000, 2_000_000, 256, 256

VALUES = {datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone, decimal.Decimal, complex, uuid.UUID, uuid.SafeUUID,
          fractions.Fraction, ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network, ipaddress.IPv4Interface,
          ipaddress.IPv6Interface, time.struct_time, range, collections.OrderedDict, collections.Counter, collections.deque, pathlib.PurePath,
          pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.Path, pathlib.PosixPath, pathlib.WindowsPath}
SCALARS = VALUES | {type(None), bool, int, float, str, bytes}
MAPPINGS = {dict, collections.OrderedDict, collections.Counter}
SEQUENCES = {list, tuple, set, frozenset, bytearray, collections.deque}


class DataOnly(pickle.Unpickler):
    def find_class(self, module, name):
        found = super().find_class(module, name)
        if found not in VALUES:
            raise pickle.UnpicklingError("%s.%s is refused" % (module, name))
        return found


def scan(data):
    if len(data) > BYTES:
        raise pickle.UnpicklingError("bytes")
    opcodes = stored = marks = 0
    for opcode, _, _ in pickletools.genops(data):
        name = opcode.name
        if name in REFUSED:
            raise pickle.UnpicklingError(name)
        opcodes += 1
        if name in OPENS:
            marks += 1
        elif name in CLOSES:
            marks = max(marks - 1, 0)
        elif name in STORES:
            stored += 1
        if opcodes > OPCODES or stored > MEMO or marks > MARKS:
            raise pickle.UnpicklingError("budget")


def walk(value, above, depth):
    kind = type(value)
    if kind in SCALARS and kind not in MAPPINGS and kind not in SEQUENCES:
        return
    if depth > DEPTH or id(value) in above:
        raise pickle.UnpicklingError("depth, or a cycle")
    above = above | {id(value)}
    if kind in MAPPINGS:
        for key, member in value.items():
            walk(key, above, depth + 1)
            walk(member, above, depth + 1)
    elif kind in SEQUENCES:
        for member in value if kind is not bytearray else ():
            walk(member, above, depth + 1)
    else:
        raise pickle.UnpicklingError("%s is no data" % kind)


def data_only(data):
    scan(data)
    value = DataOnly(io.BytesIO(data)).load()
    walk(value, frozenset(), 0)
    return value


def payloads():
    """What such results hold, each within the 384 KiB of one."""
    start = datetime.datetime(2024, 2, 29, 12)
    return {
        "list of ints": list(range(10 ** 9, 10 ** 9 + 70000)),
        "list of small dicts": [{"id": n, "name": "n%d" % n, "ok": True} for n in range(9000)],
        "list of str": ["text number %d" % n for n in range(15000)],
        "300 KB of bytes": b"x" * 300000,
        "datetimes": [start + datetime.timedelta(n) for n in range(4000)],
        "UUIDs": [uuid.UUID(int=n << 64 | n) for n in range(1000)],
        "paths": [pathlib.PurePosixPath("/srv/data/%d/part" % n) for n in range(3000)],
        "a small result": {"ok": True, "stdout": "42 rows\n", "exit_code": 0},
    }
