#!/usr/bin/python3
"""policies/values.policy row by row: each grant with values that it accepts and values that it must refuse.

The fragments for text and small records have their cases in test_values_records.py.

usage: test_values_grants.py BUILD      (from the top folder)
"""

import sys

from assemble import call, new, raw, ref, str8
from grants import PROTOCOLS, cases_of_rows, check_cases, check_rows
from tally import Tally

FRAGMENTS = ("plain", "numbers", "decimal-context", "datetime", "ids", "collections")
TD = call("datetime::timedelta", 0, 3600, 0)
TZ = call("datetime::timezone", TD)
PARIS = call("zoneinfo::ZoneInfo._unpickle", "Europe/Paris", 1)
FIELDS = (2024, 2, 29, 12, 0, 0, 3, 60, 0)


def context(prec=28, rounding="ROUND_HALF_EVEN", emin=-999999, emax=999999, capitals=1, clamp=0, flags=(), traps=()):
    return call("decimal::Context", prec, rounding, emin, emax, capitals, clamp, list(flags), list(traps))


def uuid(**state):
    return new("uuid::UUID", state=[state])


def path(name, *parts):
    return call("pathlib::" + name, *parts)


def array(code, items):
    return call("array::array", code, items)


def packed(code, form, items, cls=ref("array::array")):
    return call("array::_array_reconstructor", cls, code, form, items)


# name of the row: (accepted values, refused values with the class of refusal, recipe where none is given)
CASES = {
    "builtins::range": ([call("builtins::range", 0, 3, 1), call("builtins::range", 3, -2**70, -1)],
                        [call("builtins::range", 3), call("builtins::range", 0, 3, 0),
                         call("builtins::range", 0, 3.0, 1), call("builtins::range", 0, 3, True),
                         new("builtins::range", 0, 3, 1)]),
    "builtins::slice": ([call("builtins::slice", 1, None, [2])],
                        [call("builtins::slice", 1), call("builtins::slice", 1, 2, ref("builtins::int")),
                         call("builtins::slice", 1, 2, 3, state=[{}])]),
    "builtins::Ellipsis": ([ref("builtins::Ellipsis"), [ref("builtins::Ellipsis")]],
                           [call("builtins::Ellipsis"), new("builtins::Ellipsis")]),
    "builtins::NotImplemented": ([ref("builtins::NotImplemented")], [call("builtins::NotImplemented")]),
    "builtins::complex": ([call("builtins::complex", 1.5, -2.0), call("builtins::complex", float("inf"), float("nan"))],
                          [call("builtins::complex", 1, 2), call("builtins::complex", "1+2j"),
                           call("builtins::complex", 1.0), call("builtins::complex", 1.0, 2),
                           call("builtins::complex", 1, 2.0)]),
    "decimal::Decimal": ([call("decimal::Decimal", t) for t in ("0", "-12.340", "1E+30", "1e+30", "sNaN123", "-Infinity",
                                                                "1E+4299", "1E-4299")]
                         + [call("decimal::Decimal", "1" * 512)],
                         [call("decimal::Decimal", ""), call("decimal::Decimal", "1" * 513),
                          call("decimal::Decimal", 1), call("decimal::Decimal", 0.5), new("decimal::Decimal")]
                         + [(call("decimal::Decimal", t), "native") for t in (
                             "1_0", " 1", "\u0661", "1E", "nan", "1E+4300", "1E-4300", "0E+4300", "1E+999999999")]),
    "decimal::Context": ([context(), context(prec=9999, flags=[ref("decimal::Inexact")],
                                             traps=[ref("decimal::Overflow")])],
                         [context(prec=10000), context(prec=0), context(rounding="ROUND"), context(emin=1),
                          context(emax=-1), context(capitals=2), context(flags=["Inexact"]),
                          context(traps=[ref("builtins::int")]), call("decimal::Context")]),
    "fractions::Fraction": ([call("fractions::Fraction", -3, 7), call("fractions::Fraction", "3/7"),
                             call("fractions::Fraction", "-3")],
                            [call("fractions::Fraction", 3, 0), call("fractions::Fraction", 3, -7),
                             call("fractions::Fraction", "1e30000000"), call("fractions::Fraction", "1" * 513),
                             call("fractions::Fraction", 0.5), call("fractions::Fraction", "3", "7")]),
    "datetime::date": ([call("datetime::date", b"\x07\xe8\x02\x1d")],
                       [(call("datetime::date", b"\x07\xe7\x02\x1d"), "native"),
                        (call("datetime::date", bytes(4)), "native"),
                        call("datetime::date", b"\x07\xe8\x02"), call("datetime::date", 2024, 2, 29),
                        call("datetime::date", "\x07\xe8\x02\x1d"), call("datetime::date", b"\x07\xe8\x02\x1d", None)]),
    "datetime::time": ([call("datetime::time", bytes(6)), call("datetime::time", bytes(6), TZ),
                        call("datetime::time", bytes(6), PARIS)],
                       [(call("datetime::time", b"\x18" + bytes(5)), "native"),
                        (call("datetime::time", bytes(3) + b"\x0f\x42\x40"), "native"),
                        call("datetime::time", bytes(7)), call("datetime::time", bytes(6), None),
                        call("datetime::time", bytes(6), "UTC"), call("datetime::time", 1, 2)]),
    "datetime::datetime": ([call("datetime::datetime", b"\x07\xe8\x82\x1d" + bytes(6)),
                            call("datetime::datetime", b"\x07\xe8\x02\x1d" + bytes(6), TZ)],
                           [(call("datetime::datetime", b"\x07\xe8\x02\x1e" + bytes(6)), "native"),
                            (call("datetime::datetime", b"\x07\xe8\x02\x1d\x80" + bytes(5), TZ), "native"),
                            call("datetime::datetime", b"\x07\xe8\x02\x1d" + bytes(5)),
                            call("datetime::datetime", 2024, 2, 29),
                            call("datetime::datetime", bytes(10), TD),
                            call("datetime::datetime", bytes(10), TZ, 1),
                            call("datetime::datetime", bytes(10), state=[{}])]),
    "datetime::timedelta": ([call("datetime::timedelta", -999999999, 86399, 999999), TD],
                            [call("datetime::timedelta", 10**9, 0, 0), call("datetime::timedelta", 0, 86400, 0),
                             call("datetime::timedelta", 0, 0, -1), call("datetime::timedelta", 0, 0),
                             call("datetime::timedelta", 0.5, 0, 0)]),
    "datetime::timezone": ([TZ, call("datetime::timezone", TD, "CET")],
                           [call("datetime::timezone", 3600), call("datetime::timezone", TD, "x" * 65),
                            call("datetime::timezone", TD, None), call("datetime::timezone")]),
    "zoneinfo::ZoneInfo._unpickle": ([PARIS, call("zoneinfo::ZoneInfo._unpickle", "Etc/GMT+12", False),
                                      call("zoneinfo::ZoneInfo._unpickle", "UTC", 0)],
                                     [(call("zoneinfo::ZoneInfo._unpickle", "../../etc/passwd", 1), "native"),
                                      (call("zoneinfo::ZoneInfo._unpickle", "/UTC", 1), "native"),
                                      (call("zoneinfo::ZoneInfo._unpickle", "Europe//Paris", 1), "native"),
                                      call("zoneinfo::ZoneInfo._unpickle", "", 1),
                                      call("zoneinfo::ZoneInfo._unpickle", "UTC", 2),
                                      call("zoneinfo::ZoneInfo._unpickle", "UTC"),
                                      call("zoneinfo::ZoneInfo._unpickle", "UTC", 1, state=[{}])]),
    "time::struct_time": ([call("time::struct_time", FIELDS, {"tm_zone": "GMT", "tm_gmtoff": 0}),
                           call("time::struct_time", FIELDS, {"tm_zone": None, "tm_gmtoff": None}),
                           call("time::struct_time", FIELDS, {})],
                          [call("time::struct_time", FIELDS), call("time::struct_time", FIELDS[:8], {}),
                           call("time::struct_time", FIELDS[:8] + (2**31,), {}),
                           call("time::struct_time", FIELDS, {"tm_zone": 1}),
                           call("time::struct_time", FIELDS, {"tm_year": 1})]),
    "uuid::UUID": ([uuid(int=0), uuid(int=2**128 - 1, is_safe=-1), uuid(int=5, is_safe=0)],
                   [uuid(int=-1), uuid(int=2**128), uuid(int="5"), uuid(int=5, is_safe=1), uuid(is_safe=0),
                    uuid(int=5, hex="x"), new("uuid::UUID"), new("uuid::UUID", state=[(None, {"int": 5})]),
                    call("uuid::UUID", "12345678123456781234567812345678")]),
    "ipaddress::IPv4Address": ([call("ipaddress::IPv4Address", 2**32 - 1)],
                               [call("ipaddress::IPv4Address", 2**32), call("ipaddress::IPv4Address", -1),
                                call("ipaddress::IPv4Address", "192.0.2.1"),
                                call("ipaddress::IPv4Address", bytes(4))]),
    "ipaddress::IPv6Address": ([call("ipaddress::IPv6Address", a) for a in (2**128 - 1, "fe80::1%eth0")],
                               [call("ipaddress::IPv6Address", a) for a in (2**128, "::1 ", "::1\n", bytes(16))]),
    "ipaddress::IPv4Network": ([call("ipaddress::IPv4Network", "192.0.2.0/24")],
                               [call("ipaddress::IPv4Network", 0), call("ipaddress::IPv4Network", "host.example/24"),
                                call("ipaddress::IPv4Network", "192.0.2.0/24", False)]),
    "ipaddress::IPv4Interface": ([call("ipaddress::IPv4Interface", "192.0.2.1/24")],
                                 [call("ipaddress::IPv4Interface", "192.0.2.1 24"),
                                  call("ipaddress::IPv4Interface", ("192.0.2.1", 24))]),
    "ipaddress::IPv6Network": ([call("ipaddress::IPv6Network", "2001:db8::/32")],
                               [call("ipaddress::IPv6Network", "2001:db8::/32" + "0" * 90),
                                call("ipaddress::IPv6Network", 1)]),
    "ipaddress::IPv6Interface": ([call("ipaddress::IPv6Interface", "fe80::1%eth0.100/64")],
                                 [call("ipaddress::IPv6Interface", "fe80::1\u0000/64"),
                                  call("ipaddress::IPv6Interface", "")]),
    "collections::Counter": ([call("collections::Counter", {"a": 1}), call("collections::Counter", {})],
                             [call("collections::Counter", "abc"), call("collections::Counter", [1]),
                              call("collections::Counter"), call("collections::Counter", {}, pairs=[("a", 1)]),
                              (ref("collections::Counter"), "root")]),
    "collections::OrderedDict": ([call("collections::OrderedDict"),
                                  call("collections::OrderedDict", pairs=[("a", 1), ("b", [2])]),
                                  call("collections::OrderedDict", [["a", 1], ["b", 2]])],
                                 [call("collections::OrderedDict", {"a": 1}),
                                  call("collections::OrderedDict", [["a", 1, 2]]),
                                  call("collections::OrderedDict", [["a", 1]], pairs=[("b", 1)]),
                                  call("collections::OrderedDict", state=[{"x": 1}]),
                                  call("collections::OrderedDict", items=[1])]),
    "collections::deque": ([call("collections::deque"), call("collections::deque", items=[1, 2]),
                            call("collections::deque", (), 5, items=[1]), call("collections::deque", [1], 5),
                            call("collections::deque", [1])],
                           [call("collections::deque", (), 10**6 + 1), call("collections::deque", (1,), 5),
                            call("collections::deque", [1], None), call("collections::deque", "abc"),
                            call("collections::deque", (), -1), call("collections::deque", [1], items=[2]),
                            call("collections::deque", pairs=[(0, 1)])]),
    "collections::defaultdict": ([call("collections::defaultdict", pairs=[("a", 1)]),
                                  call("collections::defaultdict", None)]
                                 + [call("collections::defaultdict", ref(f)) for f in (
                                     "builtins::bool", "builtins::bytes", "builtins::dict", "builtins::float",
                                     "builtins::frozenset", "builtins::int", "builtins::list", "builtins::set",
                                     "builtins::str", "builtins::tuple", "collections::Counter",
                                     "collections::OrderedDict", "collections::deque")],
                                 [call("collections::defaultdict", 1),
                                  call("collections::defaultdict", ref("builtins::bytearray")),
                                  call("collections::defaultdict", ref("builtins::object")),
                                  call("collections::defaultdict", ref("builtins::Ellipsis")),
                                  call("collections::defaultdict", ref("collections::defaultdict")),
                                  call("collections::defaultdict", ref("builtins::list"), {"a": 1}),
                                  (call("collections::defaultdict", ref("builtins::len")), "global")]),
    "collections::ChainMap": ([new("collections::ChainMap", state=[{"maps": maps}]) for maps in (
                                  [{"a": 1}], [call("collections::Counter", {})], [call("collections::OrderedDict")],
                                  [call("collections::defaultdict")],
                                  [new("collections::UserDict", state=[{"data": {}}])],
                                  [new("collections::ChainMap", state=[{"maps": [{}]}]), {}])],
                              [new("collections::ChainMap", state=[{"maps": []}]),
                               new("collections::ChainMap", state=[{"maps": [1]}]),
                               new("collections::ChainMap", state=[{"maps": ({},)}]),
                               new("collections::ChainMap", state=[{"maps": [{}], "__class__": 1}]),
                               new("collections::ChainMap", state=[{}]), new("collections::ChainMap")]),
    "collections::UserDict": ([new("collections::UserDict", state=[{"data": {"a": 1}}])],
                              [new("collections::UserDict", state=[{"data": [1]}]), call("collections::UserDict"),
                               new("collections::UserDict", state=[{"data": {}, "x": 1}]),
                               new("collections::UserDict", state=[{}]), new("collections::UserDict")]),
    "collections::UserList": ([new("collections::UserList", state=[{"data": [1]}])],
                              [new("collections::UserList", state=[{"data": "abc"}]),
                               new("collections::UserList", items=[1], state=[{"data": []}]),
                               new("collections::UserList", state=[{}]), new("collections::UserList")]),
    "collections::UserString": ([new("collections::UserString", state=[{"data": "s"}]),
                                 new("collections::UserString", "s", state=[{"data": "s"}])],
                                [new("collections::UserString", state=[{"data": 1}]),
                                 new("collections::UserString", "s"),
                                 new("collections::UserString", 1, state=[{"data": "s"}]),
                                 new("collections::UserString", state=[{}]),
                                 call("collections::UserString", "s")]),
    "array::array": ([array("B", []), array("B", [0, 255]), array("q", [-2**63, 2**63 - 1]), array("Q", [2**64 - 1]),
                      array("d", [0.5, 2**1023 - 1]), array("u", ["\0", "\U0010ffff"]),
                      packed("B", 0, b"")],
                     [(array("B", [256]), "native"), (array("B", [-1]), "native"), (array("Q", [2**64]), "native"),
                      (array("B", [0.5]), "native"), (array("d", [2**1024]), "native"), (array("u", [1]), "native"),
                      (array("c", ["a"]), "native"), array("u", ["ab"]), array("bb", []), array("b", [None]),
                      array("B", b"\1"), call("array::array", "B"), call("array::array", "B", [], 1),
                      new("array::array", "B", []), (ref("array::array"), "root")]),
    "array::_array_reconstructor": ([packed("h", 4, bytes(2)), packed("l", 8, bytes(4)), packed("l", 13, bytes(8)),
                                     packed("u", 20, b"\xff\xff\x10\0")],
                                    [(packed("h", 4, bytes(3)), "native"), (packed("i", 16, bytes(8)), "native"),
                                     (packed("c", 1, b"a"), "native"), (packed("u", 20, b"\0\0\x11\0"), "native"),
                                     packed("b", 22, b""), packed("b", -1, b""), packed("b", 1, [1]),
                                     packed("b", 1, b"", ref("builtins::list")), (ref("array::_array_reconstructor"), "root")]),
    "types::SimpleNamespace": ([call("types::SimpleNamespace", state=[{}]),
                                call("types::SimpleNamespace", state=[{"a": [1]}]), new("types::SimpleNamespace"),
                                new("types::SimpleNamespace", state=[{"a": 1}])],
                               [call("types::SimpleNamespace"), call("types::SimpleNamespace", {"a": 1}),
                                call("types::SimpleNamespace", state=[{1: 2}]), new("types::SimpleNamespace", state=[{1: 2}]),
                                new("types::SimpleNamespace", 1),
                                call("types::SimpleNamespace", state=[(None, {"a": 1})]),
                                call("types::SimpleNamespace", state=[{"a": ref("builtins::int")}])]),
}
CASES["uuid::SafeUUID"] = ([call("uuid::SafeUUID", value) for value in (0, -1, None)] + [ref("uuid::SafeUUID.safe")],
                           [call("uuid::SafeUUID", value) for value in (1, False, "safe")]
                           + [call("uuid::SafeUUID"), (ref("uuid::SafeUUID"), "root"), new("uuid::SafeUUID", 0)])
for name in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"):
    CASES["pathlib::" + name] = ([path(name), path(name, "/", "a", "b.txt"), path(name, "/a/..\udcff"),
                                  call("pathlib._local::" + name, "a")],
                                 [path(name, b"/a"), path(name, "a\0b"), path(name, ("a",)), path(name, "x" * 32768),
                                  path(name, path(name, "a")), call("pathlib::" + name, state=[{"_drv": ""}])])
for name in ("Clamped", "DivisionByZero", "FloatOperation", "Inexact", "InvalidOperation", "Overflow", "Rounded",
             "Subnormal", "Underflow"):
    signal = ref("decimal::" + name)
    CASES["decimal::" + name] = ([context(flags=[signal]), context(traps=[signal])],
                                 [(signal, "root"), ([signal], "root"), call("decimal::" + name),
                                  call("decimal::" + name, [signal]), new("decimal::" + name),
                                  call("collections::defaultdict", signal)])
for name in ("bool", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"):
    factory = ref("builtins::" + name)
    CASES["builtins::" + name] = ([call("collections::defaultdict", factory)],
                                  [(factory, "root"), ({"a": factory}, "root"), new("builtins::" + name, 10**9),
                                   call("builtins::" + name, "12"), call("collections::deque", [factory])])


def edges(name, make, low, high):
    """Both ends of a range are in, their neighbours are not; None: no end there."""
    accepted, refused = CASES[name]
    for end, beyond in ((low, -1), (high, 1)):
        if end is not None:
            accepted.append(make(end))
            refused.append(make(end + beyond))


def length_edges(name, make, low, high):
    accepted, refused = CASES[name]
    accepted += [make("1" * low), make("1" * high)]
    refused.append(make("1" * (high + 1)))
    if low:
        refused.append(make("1" * (low - 1)))


def struct_time(index, value):
    return call("time::struct_time", FIELDS[:index] + (value,) + FIELDS[index + 1:], {})


edges("datetime::timedelta", lambda n: call("datetime::timedelta", n, 0, 0), -999_999_999, 999_999_999)
edges("datetime::timedelta", lambda n: call("datetime::timedelta", 0, n, 0), 0, 86_399)
edges("datetime::timedelta", lambda n: call("datetime::timedelta", 0, 0, n), 0, 999_999)
length_edges("datetime::timezone", lambda t: call("datetime::timezone", TD, t), 0, 64)
length_edges("zoneinfo::ZoneInfo._unpickle", lambda t: call("zoneinfo::ZoneInfo._unpickle", t, 1), 1, 64)
edges("zoneinfo::ZoneInfo._unpickle", lambda n: call("zoneinfo::ZoneInfo._unpickle", "UTC", n), 0, 1)
for place in range(9):
    edges("time::struct_time", lambda n, place=place: struct_time(place, n), -2**31, 2**31 - 1)
edges("time::struct_time", lambda n: call("time::struct_time", FIELDS, {"tm_gmtoff": n}), -2**31, 2**31 - 1)
length_edges("time::struct_time", lambda t: call("time::struct_time", FIELDS, {"tm_zone": t}), 0, 64)
edges("uuid::UUID", lambda n: uuid(int=n), 0, 2**128 - 1)
edges("uuid::UUID", lambda n: uuid(int=5, is_safe=n), -1, 0)
edges("ipaddress::IPv4Address", lambda n: call("ipaddress::IPv4Address", n), 0, 2**32 - 1)
edges("ipaddress::IPv6Address", lambda n: call("ipaddress::IPv6Address", n), 0, 2**128 - 1)
length_edges("ipaddress::IPv6Address", lambda t: call("ipaddress::IPv6Address", t), 2, 96)
for kind in ("Network", "Interface"):
    length_edges("ipaddress::IPv4" + kind, lambda t, kind=kind: call("ipaddress::IPv4" + kind, t), 7, 31)
    length_edges("ipaddress::IPv6" + kind, lambda t, kind=kind: call("ipaddress::IPv6" + kind, t), 2, 96)
    for family in ("IPv4", "IPv6"):
        CASES["ipaddress::" + family + kind][1].append(call("ipaddress::" + family + kind))
for name in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"):
    length_edges("pathlib::" + name, lambda t, name=name: path(name, t), 0, 32_767)
length_edges("decimal::Decimal", lambda t: call("decimal::Decimal", t), 1, 512)
length_edges("fractions::Fraction", lambda t: call("fractions::Fraction", t), 1, 512)
edges("fractions::Fraction", lambda n: call("fractions::Fraction", -1, n), 1, None)
edges("decimal::Context", lambda n: context(prec=n), 1, 9_999)
edges("decimal::Context", lambda n: context(emin=n), -999_999_999_999_999_999, 0)
edges("decimal::Context", lambda n: context(emax=n), 0, 999_999_999_999_999_999)
edges("decimal::Context", lambda n: context(capitals=n), 0, 1)
edges("decimal::Context", lambda n: context(clamp=n), 0, 1)
edges("decimal::Context", lambda n: context(flags=[ref("decimal::Inexact")] * n), None, 9)
edges("decimal::Context", lambda n: context(traps=[ref("decimal::Inexact")] * n), None, 9)
for rounding in ("CEILING", "DOWN", "FLOOR", "HALF_DOWN", "HALF_EVEN", "HALF_UP", "UP", "05UP"):
    CASES["decimal::Context"][0].append(context(rounding="ROUND_" + rounding))
edges("collections::deque", lambda n: call("collections::deque", (), n), 0, 10**6)
edges("collections::deque", lambda n: call("collections::deque", [1], n), 0, 10**6)

# What no single row decides: names outside of the policy, other spellings, the root, the budgets.
OPEN = [ref(name) for name in """
    os::system builtins::eval builtins::type builtins::len builtins::iter builtins::map builtins::memoryview
    builtins::BaseException array::ArrayType re::_compile random::Random itertools::count itertools::chain
    io::TextIOWrapper datetime::tzinfo datetime::UTC datetime::datetime.now decimal::getcontext
    decimal::localcontext uuid::uuid4 uuid::UUID.__init__ uuid::os.system pathlib::Path pathlib::Path.home
    pathlib::os.system collections::namedtuple collections::abc.Mapping collections::OrderedDict.fromkeys
    ipaddress::ip_address types::FunctionType types::CodeType types::SimpleNamespace.__init__ time::sleep
    zoneinfo::ZoneInfo.from_file fractions::Fraction.from_float numpy::ndarray weakref::finalize
    functools::reduce operator::itemgetter __builtin__::eval commands::getoutput __main__::Decimal
    Datetime::date datetime::Date
""".split()] + [ref("datetime ::date")]


def nested(levels):
    return raw(b"(l" * levels + b"a" * (levels - 1))


ACCEPTED = [
    None, True, -1, 2**2000, 10**4299, 0.5, float("nan"), "text", "\udcff", "\0", b"", b"\xff", (), (1,), [],
    {}, {1: {2: [3]}}, set(), {1, 2},
    call("builtins::bytearray", b"ab"), call("builtins::frozenset", [1]), nested(1000),
    # a list, a deque and a dict that hold themselves
    raw(b"(lp0\ng0\na"), raw(b"ccollections\ndeque\n(tRp0\ng0\na"), raw(b"(dp0\nVself\ng0\ns"),
    raw(b"ccollections\nOrderedDict\n(tRp0\nI1\ng0\ns"),
]
ACCEPTED_BELOW_3 = [
    call("__builtin__::xrange", 0, 3, 1), call("collections::defaultdict", ref("__builtin__::long")),
    call("collections::defaultdict", ref("__builtin__::unicode")),
    new("UserDict::IterableUserDict", state=[{"data": {}}]), new("UserList::UserList", state=[{"data": []}]), new("UserString::UserString", state=[{"data": ""}]),
]
ACCEPTED_FROM_1 = [
    str8(b"\xff\xfe"), call("decimal::Decimal", str8(b"1.5")), call("datetime::datetime", str8(b"\x07\xe8\x02\x1d" + bytes(6))),
    call("fractions::Fraction", str8(b"1/3")), new("uuid::UUID", state=[raw(b"(dU\3intK\5s")]),
]
ACCEPTED_FROM_4 = [new("uuid::UUID", kw={}, state=[{"int": 5}])]
REFUSED = [(value, "global") for value in OPEN] + [
    (call("builtins::bytes", 10**12), "recipe"), (call("builtins::bytearray", 2**31), "recipe"),
    (call("builtins::set", call("builtins::range", 0, 10**9, 1)), "recipe"), (call("builtins::object"), "recipe"),
    (call("builtins::getattr", 1, "real"), "recipe"), (call("_codecs::encode", "x", "zip"), "recipe"),
    (call("functools::partial", ref("builtins::int")), "recipe"), (new("zoneinfo::ZoneInfo"), "recipe"),
    (call("zoneinfo::ZoneInfo", "UTC"), "recipe"), (ref("zoneinfo::ZoneInfo"), "recipe"),
    # longer than Python 3.11 and later turn into text
    (raw(b"L1" + b"0" * 4300 + b"L\n"), "limit"), (raw(b"I1" + b"0" * 4300 + b"\n"), "limit"),
    (nested(1001), "limit"), (raw(b"ccollections\nOrderedDict\n(db"), "kind"), (raw(b"I1\n(tR"), "kind"),
    (raw(b"cuuid\nUUID\n(dVint\nI1\nsb"), "kind"), (call("builtins::list", [1]), "recipe"),
    (call("copyreg::_reconstructor", ref("builtins::list"), ref("builtins::object"), None), "recipe"),
    (raw(b"Pid\n"), "opcode"), (raw(b"I1\n2tR"), "opcode"), (raw(b"(iuuid\nUUID\n"), "opcode"),
]
REFUSED_FROM_1 = [
    (call("decimal::Decimal", str8(b"1\xff")), "recipe"), (call("datetime::datetime", str8(bytes(9))), "recipe"),
    (call("datetime::timezone", TD, str8(b"\xff")), "recipe"), (raw(b"K\1Q"), "opcode"),
    (raw(b"(cuuid\nUUID\no"), "opcode"),
]
REFUSED_FROM_2 = [(raw(b"\x8b" + (1787).to_bytes(4, "little") + b"\1" * 1787), "limit"), (raw(b"\x82\x01"), "opcode"), (call("copyreg::__newobj__", ref("builtins::int")), "recipe")]
REFUSED_FROM_3 = [(call("__builtin__::xrange", 0, 3, 1), "global"), (call("UserList::UserList"), "global")]
REFUSED_FROM_4 = [(new("uuid::UUID", kw={"int": 5}, state=[{"int": 5}]), "recipe"),
                  (new("builtins::bytes", kw={"source": 10**12}), "recipe")]


def cases():
    """(label, value, expected outcome, protocols)."""
    yield from cases_of_rows(CASES)
    for accepted, first, last in ((ACCEPTED, 0, 4), (ACCEPTED_BELOW_3, 0, 2), (ACCEPTED_FROM_1, 1, 4),
                                  (ACCEPTED_FROM_4, 4, 4)):
        for value in accepted:
            yield "general", value, "accept", [p for p in PROTOCOLS if first <= p <= last]
    for refused, first in ((REFUSED, 0), (REFUSED_FROM_1, 1), (REFUSED_FROM_2, 2), (REFUSED_FROM_3, 3),
                           (REFUSED_FROM_4, 4)):
        for value, cls in refused:
            yield "general", value, cls, [p for p in PROTOCOLS if p >= first]


def main():
    build = sys.argv[1]
    tally = Tally()
    check_rows(tally, CASES, FRAGMENTS)
    check_cases(tally, build, "policies/values.policy", cases())
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
