#!/usr/bin/python3
"""Write the pickles of this example: make_pickles.py OUT.

They are checked in; this file says how they were made.  Nothing here is ever loaded.
"""
import dataclasses
import enum
import os
import pickle
import sys
import types


class Mode(enum.Enum):
    FAST = "fast"
    FULL = "full"


@dataclasses.dataclass
class Step:
    name: str
    exit_code: int
    seconds: float
    warnings: list


@dataclasses.dataclass
class Report:
    job: str
    mode: Mode
    steps: list


class BuildError(Exception):
    pass


class Call:
    """Pickles as the call of a function."""

    def __init__(self, function, *arguments):
        self.step = function, arguments

    def __reduce__(self):
        return self.step


def values():
    """What the pickles hold, by their names."""
    module = sys.modules["farm"] = types.ModuleType("farm")
    for kind in (Mode, Step, Report, BuildError):
        kind.__module__ = "farm"
        setattr(module, kind.__name__, kind)
    steps = [Step("compile", 0, 12.5, ["unused variable: n", "comparison of different signs"]), Step("test", 1, 3.25, [])]
    return {
        "report": Report("nightly 1207", Mode.FULL, steps),
        "failure": BuildError("no space left on device", 1),
        "hostile": Report("nightly 1208", Mode.FAST, [Call(os.system, "true")]),
        "wrong": Report("nightly 1209", Mode.FAST, [Step("compile", "0", 1.5, [])]),
    }


def main():
    for name, value in values().items():
        with open(os.path.join(sys.argv[1], name + ".pkl"), "wb") as file:
            file.write(pickle.dumps(value, 4))


if __name__ == "__main__":
    main()
