"""Pickles arrays of objects with every pickler and protocol of the Python that runs this.

usage: numpy_objects.py FOLDER         writes FOLDER/NAME.WAY.pN.pkl and prints a line `OUTCOME FILE` for each

OUTCOME is what tests/policy/objects.policy must say: accept or a class of refusal.
"""
import datetime
import decimal
import sys

import numpy as np

from values import write


def objects(*members):
    array = np.empty(len(members), dtype=object)
    array[:] = members
    return array


def values():
    yield "mixed", objects(1, None, "x", 2.5, b"y"), "accept"
    yield "containers", objects([1], {"a": (2,)}, {3}), "accept"
    yield "grid", np.full((2, 3), "x", dtype=object), "accept"
    yield "grid_fortran", np.asfortranarray(np.full((2, 3), "x", dtype=object)), "accept"
    yield "zero_dimensions", np.array(datetime.date(2024, 1, 1), dtype=object), "accept"
    yield "empty", np.zeros((0, 2), dtype=object), "accept"
    yield "arrays", objects(np.arange(3), np.zeros(2, "U1"), np.float32(1)), "accept"
    yield "masked", np.ma.masked_array(objects(1, "x"), mask=[0, 1]), "accept"
    yield "numbers", np.arange(3), "accept"
    yield "beside_a_cycle", ring(np.arange(3), objects(1)), "accept"
    yield "foreign", objects(decimal.Decimal(1)), "global"
    yield "callable", objects(len), "global"
    yield "record", np.zeros(1, [("a", object)]), "recipe"


def ring(*members):
    made = list(members)
    made.append(made)
    return made


if __name__ == "__main__":
    write(sys.argv[1], values())
