"""Pickles arrays whose data travel out of band (protocol 5).

usage: numpy_buffers.py FOLDER         prints a line `FILE BUFFER...` for each; the buffers are files
"""
import os
import pickle
import sys

import numpy as np


def values():
    yield "c", np.arange(6.0).reshape(2, 3)
    yield "fortran", np.asfortranarray(np.arange(6.0).reshape(2, 3))
    yield "text", np.array(["a", "bc"])
    yield "record", np.zeros(3, [("a", "i4"), ("u", "U2")])
    yield "two", [np.arange(3), np.arange(4, dtype="u1")]


def main(folder):
    for name, value in values():
        buffers = []
        with open(os.path.join(folder, name + ".pkl"), "wb") as out:
            out.write(pickle.dumps(value, 5, buffer_callback=buffers.append))
        names = [out.name]
        for number, buffer in enumerate(buffers):
            with open(os.path.join(folder, "%s.%d" % (name, number)), "wb") as out:
                out.write(buffer.raw())
            names.append(out.name)
        print(" ".join(names))


if __name__ == "__main__":
    main(sys.argv[1])
