"""Loads exceptions, raises and prints them as a host would, with the Python that runs this (2.7, and 3.6 and later).

usage: exceptions_print.py [keep]         names of pickles are read from standard input

Prints a line `NAME LENGTH` for each, the length of what traceback makes of it, or `NAME not loaded` where this Python lacks the class
or its constructor raises.  As a host has to, it leaves `name_from` out; with `keep` it does not.
"""
from __future__ import print_function

import pickle
import resource
import sys
import traceback

MEMORY = 1 << 30
SECONDS = 60


def load(name, keep):
    with open(name, "rb") as file:
        error = pickle.load(file)
    if not keep and getattr(error, "name_from", None) is not None:
        error.name_from = None
    return error


def printed(error):
    try:
        raise error
    except BaseException:
        return "".join(traceback.format_exception(*sys.exc_info())) + repr(error)


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    for name in sys.stdin.read().splitlines():
        try:
            error = load(name, "keep" in sys.argv[1:])
        except Exception:
            print(name, "not loaded")
            continue
        print(name, len(printed(error)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
