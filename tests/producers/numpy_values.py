"""Pickles arrays, scalars and dtypes of numpy with every pickler and protocol of the Python that runs this.

usage: numpy_values.py FOLDER         writes FOLDER/NAME.WAY.pN.pkl and prints a line `OUTCOME FILE` for each

OUTCOME is what policies/numpy.policy must say: accept or a class of refusal.
"""
import datetime
import decimal
import sys
import warnings

import numpy as np

from values import write

warnings.simplefilter("ignore")  # np.matrix

DTYPES = {
    "bool": "?", "i1": "i1", "u1": "u1", "i2": "<i2", "u2": ">u2", "i4": "<i4", "i4_big": ">i4", "u4": "u4", "i8": "i8", "u8": "u8",
    "f2": "f2", "f4": "f4", "f8": "f8", "f8_big": ">f8", "longdouble": "g", "c8": "c8", "c16": "<c16", "clongdouble": "G",
    "bytes": "S5", "str": "<U3", "str_big": ">U3", "void": "V7", "date_s": "M8[s]", "date_ns_big": ">M8[ns]", "date_day": "M8[D]",
    "date_generic": "M8", "span": "m8[25us]", "span_year": "m8[Y]",
    "record": [("a", "i4"), ("b", "U2")],
    "record_text": [("a", "S3"), ("u", ">U4")],
    "record_aligned": np.dtype([("a", "i1"), ("b", "f8")], align=True),
    "record_aligned_text": np.dtype([("a", "i1"), ("b", "U1")], align=True),
    "record_titles": [(("title", "n"), "i4"), (("other", "m"), "U1")],
    "record_offsets": np.dtype({"names": ["x"], "formats": ["i4"], "offsets": [4], "itemsize": 16}),
    "record_overlap": np.dtype({"names": ["x", "y"], "formats": ["i4", "u2"], "offsets": [0, 2]}),
    "record_dates": [("d", "M8[ns]"), ("s", "m8[D]")],
    "record_class": np.dtype((np.record, [("a", "i4"), ("s", "S3")])),
    "subarray": [("a", "f4", (2,)), ("b", "U2", (2, 2))],
    "nested": [("n", [("m", "S3"), ("u", "U4")]), ("k", "i1")],
    "nested_subarray": [("s", [("u", "U2"), ("f", "f8")], (2, 2))],
    "nested_aligned": np.dtype([("i", np.dtype([("x", "i1"), ("y", "f8")], align=True), (2,)), ("z", "i1")], align=True),
    "aligned_wide": np.dtype([("x", "f4", (2,)), ("y", "c16"), ("z", "g")], align=True),
}


def filled(dtype, shape):
    """An array with something in it."""
    dtype = np.dtype(dtype)
    array = np.zeros(shape, dtype)
    if dtype.kind in "iufcbSU":
        array.reshape(-1)[-1] = {"S": b"xyz", "U": "x\U0001f600"}.get(dtype.kind, 1)
    return array


def values():
    for name, dtype in DTYPES.items():
        dtype = np.dtype(dtype)
        yield "dtype_" + name, dtype, "accept"
        yield "array_" + name, filled(dtype, (2, 3)), "accept"
        yield "fortran_" + name, np.asfortranarray(filled(dtype, (2, 3))), "accept"
        yield "scalar_" + name, filled(dtype, (1,))[0], "accept"
        yield "masked_" + name, np.ma.masked_array(filled(dtype, (3,))), "accept"
    yield "zero_dimensions", np.array(3.5), "accept"
    yield "empty", np.zeros((0, 4)), "accept"
    yield "empty_text", np.zeros((4, 0), "U2"), "accept"
    yield "empty_dates", np.array([], dtype="M8[s]"), "accept"
    yield "dimensions", np.zeros((1,) * 32), "accept"
    yield "large", np.arange(100000).reshape(100, 1000), "accept"
    yield "views", [np.arange(10)[::2], np.arange(10)[::-1], np.arange(6).reshape(2, 3).T, np.broadcast_to(1, (2, 2))], "accept"
    yield "shared", [np.arange(3)] * 3, "accept"
    yield "same_dtype", [np.zeros(2, DTYPES["nested"]), np.zeros(3, DTYPES["nested"])], "accept"
    yield "matrix", np.matrix([[1, 2]]), "accept"
    yield "recarray", np.rec.array([(1, 2.0, "x")], dtype=[("a", "i4"), ("b", "f8"), ("c", "U1")]), "accept"
    yield "chararray", np.char.array([b"ab", b"c"]), "accept"
    yield "chararray_text", np.char.array(["ab", "c"]), "accept"
    yield "text", np.array(["a", "b\U0001f600c", ""]), "accept"
    yield "masked_some", np.ma.masked_array([1.5, 2.5, 3.5], mask=[0, 1, 0], fill_value=-1), "accept"
    yield "masked_text", np.ma.masked_array(["a", "bc"], mask=[1, 0], fill_value="N/A"), "accept"
    yield "masked_grid", np.ma.masked_array(np.zeros((2, 2), order="F"), mask=[[0, 1], [1, 0]]), "accept"
    yield "beside_values", {"a": np.float32(1), "d": datetime.date(2024, 1, 1), "n": decimal.Decimal("1.5"), "k": [np.arange(2)]}, "accept"
    yield "classes", [np.float32, np.int64, np.str_, np.void, np.datetime64, np.longdouble, np.bool_, np.longlong], "accept"
    yield "dtype_objects", np.dtype("O"), "accept"
    yield "keys", {np.int64(1): "a", np.str_("b"): 2}, "accept"
    # what this policy does not grant
    yield "objects", np.array([1, None], dtype=object), "recipe"
    yield "objects_masked", np.ma.masked_array(np.array([1, "x"], dtype=object)), "recipe"
    yield "record_of_objects", np.zeros(1, [("a", object)]), "recipe"
    yield "metadata", np.dtype("f8", metadata={"k": 1}), "recipe"
    yield "ufunc", np.add, "global"
    yield "function", np.linspace, "global"
    yield "generator", np.random.default_rng(1), "global"
    yield "random_state", np.random.RandomState(1), "global"
    yield "polynomial", np.polynomial.Polynomial([1, 2]), "global"
    yield "masked_constant", np.ma.masked, "global"


if __name__ == "__main__":
    write(sys.argv[1], values())
