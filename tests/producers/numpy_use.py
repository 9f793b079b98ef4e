"""Loads pickles, whose names it reads from standard input, and uses what they hold in many ways.

Prints each name before its pickle is loaded: when the process crashes, the last one did it.  Exceptions are none of its concern.
"""
import copy
import faulthandler
import pickle
import resource
import sys
import warnings

import numpy as np

MEMORY = 4 << 30


def to_objects(array):
    # numpy 1.24 crashes there with honest masked arrays, too
    return None if isinstance(array, np.ma.MaskedArray) else array.astype(object)


USES = [
    repr, str, hash, copy.deepcopy, pickle.dumps, to_objects,
    lambda v: v.tolist(), lambda v: v.tobytes(), lambda v: v.astype(str), lambda v: v == v, lambda v: v.sum(),
    lambda v: np.sort(v, axis=None), lambda v: np.unique(v), lambda v: v.view(np.uint8), lambda v: v.byteswap(), lambda v: v.copy(),
    lambda v: np.array([v, v]), lambda v: v.ravel()[0], lambda v: [v[name] for name in v.dtype.fields],
    lambda v: [np.sort(v[name]) for name in v.dtype.fields], lambda v: np.empty(3, v), lambda v: np.zeros(3, v).tolist(),
    lambda v: [np.zeros(3, v)[name].tolist() for name in v.fields],
]


def use(value, levels=8):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for member in value if levels else ():  # a list may hold itself
            use(member, levels - 1)
        return
    for action in USES:
        try:
            action(value)
        except Exception:
            pass


def main():
    warnings.simplefilter("ignore")
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for name in sys.stdin.read().splitlines():
        print(name, flush=True)
        try:
            with open(name, "rb") as file:
                value = pickle.load(file)
        except Exception:
            continue
        use(value)


if __name__ == "__main__":
    main()
