#!/usr/bin/python3
"""The fragments of numpy row by row: numpy.dtypes and numpy.arrays under policies/numpy.policy, numpy.objects under
tests/policy/objects.policy.

usage: test_numpy_grants.py BUILD      (from the top folder)
"""
import sys

from assemble import call, new, raw, ref, str8
from grants import PROTOCOLS, cases_of_rows, check_cases, check_rows
from tally import Tally

# numpy's names in version 1; those of version 2 are among the general cases.
RECONSTRUCT, SCALAR = "numpy.core.multiarray::_reconstruct", "numpy.core.multiarray::scalar"
FROMBUFFER, MASKED = "numpy.core.numeric::_frombuffer", "numpy.ma.core::_mareconstruct"
NDARRAY = ref("numpy::ndarray")


def dtype(code, order="|", itemsize=-1, align=-1, flags=0, sub=None, names=None, fields=None, args=(False, True), more=()):
    return call("numpy::dtype", code, *args,
                state=[(4 if more else 3, order, sub, names, fields, itemsize, align, flags, *more)])


def number(code="f8", order="<", **after):
    return dtype(code, order, **after)


def sized(code, itemsize, align=1, flags=0, order="|", **after):
    return dtype(code, order, itemsize, align, flags, **after)


def text(n, order="<"):
    return sized("U%d" % n, 4 * n, 4, 8, order)


def moment(code="M8", unit=b"ns", count=1, den=1, event=1, order="<", **after):
    return dtype(code, order, more=(({}, (unit, count, den, event)),), **after)


def record(code, itemsize, fields, flags=16, align=1, names=None, **after):
    return sized(code, itemsize, align, flags, names=tuple(fields) if names is None else names, fields=fields, **after)


OBJECTS = dtype("O8", flags=63)
POINT = record("V16", 16, {"x": (number(), 0), "y": (number(), 8)})
PAIRS = sized("V16", 16, 8, sub=(number(), (2,)))
# One dtype under a name and its title: they are the same object.
TITLED = record("V4", 4, {"n": (raw(b"cnumpy\ndtype\n(Vi4\nI00\nI01\ntR(I3\nV<\nNNNI-1\nI-1\nI0\ntbp1\n"), 0, "title"),
                          "title": (raw(b"g1\n"), 0, "title")}, names=("n",))
KEPT = {"x": (number(), 0)}

DTYPES = [number(), number("f8", ">"), number("b1", "|"), number("i1", "|"), number("c32"), number(args=(0, 1)), text(3), text(0),
          sized("S5", 5), sized("S0", 0), sized("V7", 7), sized("V900000000", 900000000), OBJECTS, moment(), moment("m8", b"s", 25),
          moment(unit=b"generic"), POINT, TITLED, record(ref("numpy::record"), 16, {"x": (number(), 0), "y": (number(), 8)}),
          record(ref("numpy.rec::record"), 8, KEPT), record("V8", 8, KEPT, 144, 8), record("V8", 8, KEPT, -112, 8),
          record("V24", 24, {"p": (PAIRS, 0), "u": (text(2), 16)}, 24)]
NO_DTYPES = [  # of a shape that no row has
    number("f3"), number(args=(True, True)), number(args=(False, False)), number(args=()), number(itemsize=8), number(align=0),
    number(flags=63), number(more=({"k": call("datetime::date", b"\x07\xe8\x02\x1d")},)), dtype("O8", flags=0),
    dtype("O8", flags=63, itemsize=8), call("numpy::dtype", "f8", False, True), new("numpy::dtype", "f8", False, True),
    sized("S5", -1), sized("S5", 5, -1), sized("S5", 5, 0), sized("S5", 5, 1, 63), number("object"), number(ref("numpy::object_")),
    sized("a5", 5), moment(count=0), moment(den=2), moment(event=2), moment(unit="ns"), moment(flags=8),
    record(ref("numpy::void"), 8, KEPT), record("V8", 8, KEPT, 0), record("V8", 8, KEPT, 63), record("V8", 8, KEPT, align=0),
    record("V8", 0, KEPT), record("V8", 8, {"x": number()}), record("V8", 8, {"x": (number(), -1)}), record("S8", 8, KEPT),
    record("V8", 8, KEPT, more=({"k": 1},)), record("V8", 8, {b"x": (number(), 0)}, names=("x",)),
    sized("V8", 8, 8, sub=(number(), 1)), sized("V8", 8, 8, sub=number()), (ref("numpy::dtype"), "root"),
]
NO_LAYOUTS = [  # whose parts do not belong together
    number("f8", "|"), number("i1", "<"), sized("S5", 6), sized("S5", 5, 4), sized("S5", 5, 1, 8), sized("U3", 3, 4, 8, "<"),
    sized("U3", 12, 4, 0, "<"), sized("U3", 12, 4, 8, "|"), sized("S05", 5), sized("SS", 5), sized("V8", 2**40),
    moment(unit=b"fort"), moment(unit=b"B"),
    record("V8", 8, {"x": (number(), 1)}), record("V8", 8, {"x": (number(), 2**20)}), record("V8", 8, {"x": (number(), 2**63 - 1)}),
    record("V8", 8, {"x": (OBJECTS, 0)}), record("V8", 8, {"x": (sized("S0", 0), 0)}), record("V9", 8, KEPT), record("V8", 8, KEPT, 24),
    record("V8", 8, KEPT, 16, 8), record("V8", 8, KEPT, 144, 1), record("V16", 16, {"x": (number(), 4)}, 144, 8),
    record("V12", 12, KEPT, 144, 8), record("V8", 8, KEPT, names=("x", "x")), record("V8", 8, KEPT, names=("y",)),
    record("V8", 8, KEPT, names=("x", "y")), record("V8", 8, KEPT, names=()), record("V8", 8, {"x": (text(2), 0)}),
    record("V8", 8, {"x": (number(), 0), "z": (OBJECTS, 0)}, names=("x",)),
    record("V8", 8, {"x": (number(), 0, "t")}), record("V8", 8, {"x": (number(), 0, "x")}),
    record("V4", 4, {"n": (raw(b"cnumpy\ndtype\n(Vi4\nI00\nI01\ntR(I3\nV<\nNNNI-1\nI-1\nI0\ntbp1\n"), 0, "t"),
                     "m": (raw(b"g1\n"), 0, "t"), "t": (raw(b"g1\n"), 0, "t"), "x": (OBJECTS, 0)}, names=("n", "m")),
    sized("V16", 16, 8, sub=(number(), (3,))), sized("V16", 16, 1, sub=(number(), (2,))), sized("V16", 16, 8, 8, sub=(number(), (2,))),
    sized("V8", 8, 8, sub=(number(), ())), sized("V8", 8, 8, sub=(number(), (2**61, 8))), sized("V8", 8, 8, sub=(number(), (2**62, 4, 1))),
    sized("V8", 8, 8, sub=(OBJECTS, (1,))),
]


def nested(levels):
    made = number()
    for _ in range(levels - 1):
        made = record("V8", 8, {"x": (made, 0)})
    return made


def natives(values):
    return [(value, "native") for value in values]


def array(shape=(2,), kind=None, data=b"\0" * 16, cls=NDARRAY, args=((0,), b"b"), fortran=False, version=1, more=(),
          name=RECONSTRUCT):
    return call(name, cls, *args, state=[(version, shape, kind or number(), fortran, data, *more)])


def masked(mask=b"\0\1", fill=None, cls=ref("numpy.ma.core::MaskedArray"), base=NDARRAY, args=((0,), "b"), **state):
    return array(cls=cls, args=(base, *args), more=(mask, fill), name=MASKED, **state)


def scalar(kind=None, data=b"\0" * 8):
    return call(SCALAR, kind or number(), data)


def view(data=b"\0" * 16, kind=None, shape=(2,), order="C"):
    return call(FROMBUFFER, data, kind or number(), shape, order)


HIGH = b"\0\0\x11\0"  # 0x110000, little-endian
DATA_OF_TEXT = [
    array((1,), text(1), HIGH), array((1,), text(1, ">"), HIGH[::-1]), array((2,), text(2), b"\0" * 12 + HIGH),
    array((1,), record("V8", 8, {"u": (text(1), 4)}, 24), b"\0" * 4 + HIGH),
    array((1,), record("V8", 8, {"u": (sized("V8", 8, 4, 8, sub=(text(1), (2,))), 0)}, 24), b"\0" * 4 + HIGH),
    array((1,), record("V8", 8, {"r": (record("V8", 8, {"u": (text(1, ">"), 4)}, 24), 0)}, 24), b"\0" * 4 + HIGH[::-1]),
]
ARRAYS = [array(), array(fortran=True), array((), data=b"\0" * 8), array((0, 5), data=b""), array((2, 1, 1)), array((1,), POINT),
          array((2,), text(2)), array((2,), moment()), array((1,), text(1), b"\xff\xff\x10\0"), array((1,), text(1), b"\0\xdc\0\0"),
          array((1,), record("V16", 16, {"p": (PAIRS, 0)})), array((1,) * 32, data=b"\0" * 8)]
NO_ARRAYS = [array([2]), array((-1,)), array((2.0,)), array(data="text"), array(data=call("builtins::bytearray", b"\0" * 16)), array(version=2),
             array(args=((1,), b"b")), array(args=((10**12,), b"b")), array(args=((0,), b"d")), array(args=((0,),)),
             array(fortran=2), array(kind="f8"), array(more=(b"", None)), array(cls=ref("numpy::record")),
             array(cls=ref("numpy::float64")), array(cls="ndarray"), (array(cls=ref("builtins::bytearray")), "recipe"),
             array((1,) * 65, data=b"\0" * 8), call(RECONSTRUCT, NDARRAY, (0,), b"b")]
NO_DATA = natives([
    array((1000,)), array((3,)), array((1,)), array((2**31, 2**31)), array((2**62, 4), data=b""), array((2**60,), data=b""),
    array((2**40,), sized("S0", 0), b""), array((1,), OBJECTS, b"\0" * 8), array((2**62, 4, 0), data=b""),
    array((1,), PAIRS), array((1,), nested(17), b"\0" * 8), *DATA_OF_TEXT])
LISTS = [array((3,), OBJECTS, [1, None, "x"]), array((), OBJECTS, [{"a": [1]}]), array((2, 0), OBJECTS, []),
         array((1,), OBJECTS, [array()]), array((1,), OBJECTS, [call("datetime::date", b"\x07\xe8\x02\x1d")]), array()]
NO_LISTS = natives([array((2,), OBJECTS, [1]), array((2,), OBJECTS, [1, 2, 3]), array((2,), data=[1.0, 2.0]),
                    array((1,), OBJECTS, b"\0" * 8), array((2**62,), OBJECTS, [])]) + [
    array((1,), OBJECTS, (1,)), array((1,), OBJECTS, [ref("builtins::int")]), (array((1,), OBJECTS, [ref("builtins::len")]), "global")]
MASKS = [masked(), masked(fill=array((), data=b"\0" * 8)), masked(kind=POINT, shape=(1,)),
         masked(shape=(1,), kind=record("V16", 16, {"p": (PAIRS, 0)}))]
NO_MASKS = natives([masked(b"\0"), masked(b"\0" * 3), masked(kind=POINT, shape=(1,), mask=b"\0"), masked(shape=(3,))]) + [
    masked(fill=1.0), masked(fill=[1]), masked("\0\1"), masked(cls=NDARRAY), masked(base=ref("numpy::matrix")),
    masked(args=((0,), b"d")), masked(args=((1,), "b")), call(MASKED, NDARRAY), (ref("numpy.ma.core::MaskedArray"), "root")]


def of_class(name, made):
    """A class that is only ever named."""
    return made, [(ref(name), "root"), call(name), call(name, (2,), "f8"), new(name)]


def of_name(name):
    return [ref(name), [ref(name)], {"dtype": ref(name)}], [call(name), call(name, 1), new(name)]


CLASSES = {name: of_class(name, [array(cls=ref(name))]) for name in (
    "numpy::ndarray", "numpy::matrix", "numpy::recarray", "numpy::chararray", "numpy.rec::recarray", "numpy.char::chararray")}
RECORDS = {name: of_class(name, [record(ref(name), 8, KEPT)]) for name in ("numpy::record", "numpy.rec::record")}
NAMES = {"numpy::" + name: of_name("numpy::" + name) for name in """bool_ int8 int16 int32 int64 longlong uint8 uint16 uint32 uint64
    ulonglong float16 float32 float64 float128 complex64 complex128 complex256 str_ bytes_ void object_ datetime64 timedelta64 bool
    longdouble clongdouble""".split()}
MASKED_CLASS = {name: of_class(name, [masked(cls=ref(name))]) for name in ("numpy.ma.core::MaskedArray", "numpy.ma::MaskedArray")}
ROWS = {
    "numpy::dtype": (DTYPES + [nested(16)], NO_DTYPES + natives(NO_LAYOUTS + [nested(17)])),
    "numpy._core.multiarray::scalar": (
        [scalar(), scalar(number(order=">")), scalar(text(0), b""), scalar(text(1), b"a\0\0\0"), scalar(moment()), scalar(POINT, b"\0" * 16)],
        natives([scalar(data=b"\0" * 7), scalar(sized("V900000000", 900000000), b""), scalar(OBJECTS), scalar(text(1), HIGH),
                 scalar(PAIRS, b"\0" * 16)]) + [
            scalar(data="text"), scalar(data=[1]), scalar("f8"), call(SCALAR, number()), call(SCALAR, OBJECTS, [1], 2)]),
    "numpy._core.numeric::_frombuffer": (
        [view(), view(order="F"), view(call("builtins::bytearray", b"\0" * 16)), view(b"", shape=(0, 4))],
        natives([view(b"\0" * 15), view(kind=OBJECTS), view(HIGH, text(1), (1,)), view(shape=(2**61,)), view(b"", sized("S0", 0), (2**40,))]) + [
            view(order="K"), view("text"), view([1]), view(shape=[2]), view(kind="f8"), call(FROMBUFFER, b"", number(), (0,))]),
    "numpy._core.multiarray::_reconstruct": (ARRAYS, NO_ARRAYS + NO_DATA),
    "numpy.ma.core::_mareconstruct": (MASKS, NO_MASKS),
    **CLASSES, **RECORDS, **NAMES, **MASKED_CLASS,
}
OBJECT_ROWS = {
    "numpy._core.multiarray::_reconstruct": (
        ARRAYS + LISTS, [value for value in NO_ARRAYS if value is not NO_ARRAYS[4]] + NO_DATA + NO_LISTS),
    "numpy.ma.core::_mareconstruct": (
        MASKS + [masked(shape=(2,), kind=OBJECTS, data=[1, "x"])],
        NO_MASKS + natives([masked(shape=(2,), kind=OBJECTS, data=[1]), masked(shape=(2,), kind=OBJECTS, data=[1, 2], mask=b"\0")])),
    **CLASSES, **MASKED_CLASS,
}

# An array of objects whose list holds the array; a dtype whose field is the dtype.  The memo knows them before they are whole.
OBJECT_DTYPE = b"cnumpy\ndtype\n(VO8\nI00\nI01\ntR(I3\nV|\nNNNI-1\nI-1\nI63\ntb"
OWN_LIST = raw(b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\nt" b"c_codecs\nencode\n(Vb\nVlatin1\ntRtRp1\n(I1\n(I1\nt"
               + OBJECT_DTYPE + b"I00\n(lg1\natb")
OWN_FIELD = raw(b"cnumpy\ndtype\n(VV8\nI00\nI01\ntRp1\n(I3\nV|\nN(Vx\nt(dVx\n(g1\nI0\ntsI8\nI1\nI16\ntb")

OLD = {"order": str8(b"<")}  # a str of Python 2
PY2_DTYPE = call("numpy::dtype", str8(b"i4"), 0, 1, state=[(3, OLD["order"], None, None, None, -1, -1, 0)])
GENERAL = [
    (call("numpy.core.multiarray::_reconstruct", NDARRAY, (0,), str8(b"b"),
          state=[(1, (1,), PY2_DTYPE, False, str8(b"\xff\0\0\0"))]), "accept", (2,)),
    (call("numpy.core.multiarray::scalar", PY2_DTYPE, str8(b"\xff\0\0\0")), "accept", (2,)),
    (call("numpy::dtype", str8(b"V4"), 0, 1, state=[(3, str8(b"|"), None, (str8(b"a"), "a"),
                                                      {"a": (PY2_DTYPE, 0), "x": (OBJECTS, 0)}, 4, 1, 16)]), "native", (2,)),
    # the names of version 2
    (array(name="numpy._core.multiarray::_reconstruct"), "accept", PROTOCOLS),
    (call("numpy._core.multiarray::scalar", number(), b"\0" * 8), "accept", PROTOCOLS),
    (call("numpy._core.numeric::_frombuffer", b"\0" * 16, number(), (2,), "C"), "accept", PROTOCOLS),
    (array(name="numpy._core.multiarray::_reconstruct", cls=ref("numpy.rec::recarray"),
           kind=record(ref("numpy.rec::record"), 8, KEPT)), "accept", PROTOCOLS),
    (array(name="numpy._core.multiarray::_reconstruct", cls=ref("numpy.char::chararray"), kind=sized("S8", 8)), "accept", PROTOCOLS),
    (array((1,), OBJECTS, [1]), "recipe", PROTOCOLS),
    (OWN_FIELD, "root", PROTOCOLS),
    (array(cls=ref("collections::OrderedDict")), "recipe", PROTOCOLS),
    (array(cls=ref("builtins::list")), "recipe", PROTOCOLS),
] + [(call(name), "global", PROTOCOLS) for name in """numpy::memmap numpy::load numpy::vectorize numpy::frombuffer numpy::generic
    numpy.testing._private.utils::runstring numpy._core._multiarray_umath::add numpy.random._pickle::__randomstate_ctor
    numpy.random._pickle::__generator_ctor numpy.dtypes::Float64DType numpy._core.records::fromarrays""".split()]


def main():
    build = sys.argv[1]
    tally = Tally()
    check_rows(tally, ROWS, ["numpy/dtypes", "numpy/arrays"])
    check_cases(tally, build, "policies/numpy.policy", cases_of_rows(ROWS))
    check_cases(tally, build, "policies/numpy.policy", (("general", *case) for case in GENERAL))
    check_rows(tally, OBJECT_ROWS, ["numpy/objects"])
    policy = "tests/policy/objects.policy"
    check_cases(tally, build, policy, cases_of_rows(OBJECT_ROWS))
    check_cases(tally, build, policy, [("holds itself", value, "native", PROTOCOLS) for value in (OWN_LIST, OWN_FIELD)])
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
