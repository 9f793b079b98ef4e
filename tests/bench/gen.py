#!/usr/bin/python3
"""Write the payloads of the benchmark: OUT/NAME.pN.pkl for protocols 2, 4 and 5.

usage: gen.py OUT [NAME...]

The payloads depend on nothing but this file and the pickle module: the same numbers come out on every run.  g_numpy is left
out where numpy is not installed.
"""
import datetime
import decimal
import json
import os
import pickle
import random
import sys
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from perf_types import Item

PROTOCOLS = (2, 4, 5)
WORDS = ("amber basin cedar delta ember fjord grove harbor inlet jetty knoll lagoon meadow notch orchard prairie "
         "quarry ridge summit tundra").split()


class Source:
    """Random choices of one payload; every payload has a seed of its own, so that they do not depend on each other."""

    def __init__(self, name):
        self.random = random.Random("upk bench " + name)

    def word(self):
        return self.random.choice(WORDS)

    def below(self, n):
        return self.random.randrange(n)

    def unit(self):
        return self.random.random()


def api_record(source, number):
    """One record of a web API's answer: twelve keys, nested containers, short text, some of it not ASCII."""
    name = "%s %s" % (source.word().capitalize(), source.word().capitalize())
    if number % 20 == 0:
        name += " \u00e9"
    return {
        "id": 100000 + number,
        "guid": "%032x" % source.random.getrandbits(128),
        "name": name,
        "email": "%s.%d@example.com" % (source.word(), source.below(10 ** 6)),
        "active": source.unit() < 0.7,
        "score": source.unit() * 100,
        "age": 18 + source.below(72),
        "balance": round(source.unit() * 100000, 2),
        "manager": source.below(10 ** 5) if source.unit() < 0.5 else None,
        "tags": [source.word() for _ in range(source.below(6))],
        "address": {
            "street": "%d %s street" % (source.below(999), source.word()),
            "city": source.word().capitalize(),
            "zip": "%05d" % source.below(10 ** 5),
            "geo": {"lat": source.unit() * 180 - 90, "lng": source.unit() * 360 - 180},
        },
        "created_at": "2024-%02d-%02dT%02d:%02d:00Z" % (1 + source.below(12), 1 + source.below(28), source.below(24),
                                                       source.below(60)),
    }


def api_document():
    source = Source("api")
    records = [api_record(source, i) for i in range(4050)]
    return {"status": "ok", "page": 1, "total": len(records), "items": records}


def a_api():
    """As after one json.loads: equal keys are one object, so the pickle writes each key once."""
    return json.loads(json.dumps(api_document()))


def a2_api_unshared():
    """The same document, each record from a json.loads of its own: keys are written again for every record."""
    document = api_document()
    document["items"] = [json.loads(json.dumps(record)) for record in document["items"]]
    return document


def b_ints():
    source = Source("ints")
    return [source.below(1000) for _ in range(10 ** 6)]


def c_strs():
    source = Source("strs")
    return ["u%x_%05d" % (source.random.getrandbits(source.random.choice((16, 24, 32, 48, 64))), i) for i in range(10 ** 5)]


def d_dict():
    source = Source("dict")
    return {"key_%06d" % i: source.unit() for i in range(10 ** 5)}


def e_objs():
    source = Source("objs")
    return [Item(i, source.unit(), "name%d" % source.below(10 ** 7), source.word()) for i in range(10 ** 5)]


def f_std():
    source = Source("std")
    start = datetime.datetime(2020, 1, 1)
    return [(start + datetime.timedelta(seconds=source.below(10 ** 8), microseconds=source.below(10 ** 6)),
             decimal.Decimal(source.below(10 ** 9)).scaleb(-2),
             uuid.UUID(int=source.random.getrandbits(128))) for _ in range(20000)]


def g_numpy():
    import numpy
    state = numpy.random.RandomState(7)
    return [state.rand(1024) for _ in range(50)]


def h_bytes():
    return Source("bytes").random.randbytes(64 << 20)


def i_deep():
    value = 1
    for level in range(500):
        value = [value] if level % 2 else {"k": value}
    return value


def j_tiny():
    return {"ok": True, "stdout": "hello from the worker: 42 rows processed in 0.01 s\n", "exit_code": 0}


PAYLOADS = (a_api, a2_api_unshared, b_ints, c_strs, d_dict, e_objs, f_std, g_numpy, h_bytes, i_deep, j_tiny)


def main():
    out, names = sys.argv[1], sys.argv[2:]
    os.makedirs(out, exist_ok=True)
    sys.setrecursionlimit(20000)
    for payload in PAYLOADS:
        if names and payload.__name__ not in names:
            continue
        try:
            value = payload()
        except ImportError:
            print("%s: left out, numpy is not installed" % payload.__name__)
            continue
        for protocol in PROTOCOLS:
            data = pickle.dumps(value, protocol)
            path = os.path.join(out, "%s.p%d.pkl" % (payload.__name__, protocol))
            with open(path + ".tmp", "wb") as file:
                file.write(data)
            os.replace(path + ".tmp", path)


if __name__ == "__main__":
    main()
