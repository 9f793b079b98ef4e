#!/usr/bin/python3
"""`--print repr` and `--print json` of plain values against CPython: repr(), and what json.loads() makes of the text.

usage: test_repr.py BUILD       (from the top folder, after `make`; the corpus stands unpacked in BUILD/corpus)

Values are those of the corpus that CPython can load without importing anything but itself, and some made here: floats of
random bits, texts of every code point, integers of many sizes.  Prints one line for each failure, and at the end
`N passed, N failed`.
"""
import datetime
import decimal
import fractions
import io
import json
import math
import os
import pickle
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata
import uuid

from tally import Tally

# Of print_unicode.c; another version calls other code points printable.
UNICODE = "14.0.0"

OPAQUE = (set, frozenset)  # their order is no matter of the value
CLASSES = {
    ("builtins", "complex"), ("builtins", "bytearray"), ("builtins", "set"), ("builtins", "frozenset"), ("_codecs", "encode"),
    ("builtins", "bytes"), ("datetime", "date"), ("datetime", "time"), ("datetime", "datetime"), ("datetime", "timedelta"),
    ("decimal", "Decimal"),
}
EXACT = (type(None), bool, int, float, str, bytes, bytearray, complex, list, tuple, dict, datetime.date, datetime.time,
         datetime.datetime, datetime.timedelta, decimal.Decimal) + OPAQUE


class Plain(pickle.Unpickler):
    """Loads what consists of plain values and a few classes of the standard library."""

    def find_class(self, module, name):
        if (module, name) in CLASSES:
            return super().find_class(module, name)
        raise pickle.UnpicklingError("not plain")


def is_comparable(value, around=()):
    """Exact types only; a set of at most one member."""
    if type(value) not in EXACT or (type(value) in OPAQUE and len(value) > 1):
        return False
    if any(value is outer for outer in around):
        return True
    around += (value,)
    if isinstance(value, dict):
        return all(is_comparable(part, around) for pair in value.items() for part in pair)
    if isinstance(value, (list, tuple) + OPAQUE):
        return all(is_comparable(part, around) for part in value)
    return True


def load(data):
    try:
        value = Plain(io.BytesIO(data)).load()
    except Exception:  # of many kinds; such files are no matter of this test
        return False, None
    return is_comparable(value), value


def is_json(value):
    """What JSON says as it is: no cycle, no special float, str keys that look like no tag."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list):
        return all(map(is_json, value))
    if isinstance(value, dict):
        return all(type(key) is str and not key.startswith("$") and is_json(part) for key, part in value.items())
    return value is None or type(value) in (bool, int, str)


def is_cyclic(value):
    try:
        json.dumps(value, default=str)
    except ValueError:
        return True
    except TypeError:
        return False
    return False


def made_values():
    dice = random.Random(20240229)
    yield [struct.unpack("<d", struct.pack("<Q", dice.getrandbits(64)))[0] for _ in range(20000)]
    yield [math.ldexp(sign, exponent) for exponent in range(-1074, 1024) for sign in (1.0, -1.0)]
    yield [float(dice.getrandbits(bits)) for bits in range(1, 200)] + [round(dice.random(), digits) for digits in range(17)]
    yield [dice.getrandbits(bits) - (1 << bits - 1) for bits in range(1, 3000, 7)]
    if unicodedata.unidata_version == UNICODE:
        yield "".join(map(chr, range(0xd800))) + "".join(map(chr, range(0xe000, 0x110000)))
        yield ["a" + chr(code) for code in range(0xd800, 0xe000)]
    yield [chr(code) for code in range(0x250)] + ["'", '"', "'\"", "\\'"]
    yield [bytes([byte]) for byte in range(256)] + [bytes(range(256)), b"'", b"'\""]
    yield [bytearray(b"'"), bytearray(b"'\""), bytearray(b'"\\'), bytearray(range(256))]
    large = [(-1) ** bits << bits for bits in range(500, 3000, 50)]
    yield [large, large, large[::-1]] * 3
    yield [complex(a, b) for a in (0.0, -0.0, 1.0, 1.5, math.inf, math.nan)
           for b in (0.0, -0.0, -2.0, 1e16, -math.inf, math.nan)]
    yield {1: {2: (3,), "4": [None, True]}, (): set(), b"": frozenset()}
    yield [datetime.timedelta(), datetime.timedelta(-1, 2, 3), datetime.timedelta(microseconds=5)]
    yield [datetime.datetime(2024, 2, 29, 1, 2), datetime.datetime(1, 1, 1, 0, 0, 0, 1), datetime.time(5, fold=1),
           datetime.datetime(9999, 12, 31, 23, 59, 59, 999999, fold=1), datetime.time(23, 59, 58)]
    yield [fractions.Fraction(-1, 3), uuid.UUID(int=0), uuid.UUID(int=2 ** 128 - 2), decimal.Decimal("-1E+9"),
           decimal.Decimal("NaN123"), decimal.Decimal("-Infinity")]


def write_files(corpus, folder):
    """(path, value) of everything that can be compared."""
    with open(os.path.join(corpus, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    for entry in manifest["good"]:
        if "py2" in entry["tags"] or "persid" in entry["tags"] or "oob" in entry["tags"]:
            continue
        for file in entry["files"]:
            path = os.path.join(corpus, file["file"])
            with open(path, "rb") as opened:
                comparable, value = load(opened.read())
            if comparable:
                yield path, value
    for number, value in enumerate(made_values()):
        for protocol in (0, 2, 4):
            path = os.path.join(folder, "%d.p%d.pkl" % (number, protocol))
            with open(path, "wb") as file:
                file.write(pickle.dumps(value, protocol))
            yield path, pickle.loads(pickle.dumps(value, protocol))


def printed(build, form, paths):
    text = "".join(path + "\n" for path in paths).encode()
    done = subprocess.run([build + "/unpickle", "-p", "values", "--print", form, "--tsv", "--files-from", "-"], input=text,
                          stdout=subprocess.PIPE, timeout=300)
    lines = done.stdout.split(b"\n")
    if lines.pop() or len(lines) != len(paths):
        sys.exit("unpickle: exit %d, %d lines for %d files" % (done.returncode, len(lines), len(paths)))
    return [line.split(b"\t", 2)[1:] for line in lines]


def is_repr(text, value):
    return text == repr(value).encode("utf-8")


def is_json_of(text, value):
    """One line of printable ASCII; json.dumps tells 1 from 1.0 and true, which == does not."""
    return text.isascii() and text.decode().isprintable() and json.dumps(json.loads(text)) == json.dumps(value)


def main():
    build = sys.argv[1]
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        cases = list(write_files(os.path.join(build, "corpus"), folder))
        chosen = [(path, value) for path, value in cases if not is_cyclic(value) and is_json(value)]
        for form, those, fits in (("repr", cases, is_repr), ("json", chosen, is_json_of)):
            for (path, value), fields in zip(those, printed(build, form, [path for path, _ in those])):
                tally.check(fields[0] == b"accept" and fits(fields[1], value),
                            "%s %s: %.300r gives %.300r" % (form, path, value, fields))
    tally.check(tally.passed >= 500, "only %d comparisons" % tally.passed)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
