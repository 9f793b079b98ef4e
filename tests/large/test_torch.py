#!/usr/bin/python3
"""torch.load by a guard of tests/policy/torch.policy: the state of a module, and files that attack.

usage: test_torch.py BUILD       (from the top folder, after `make check-full`, which has built the guard)

Where there is no torch, the last line is `0 passed, 0 failed, 1 not run`.
"""
import importlib.util
import os
import pickle
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from guards import guard  # noqa: E402
from tally import Tally  # noqa: E402
from test_pages import blocks  # noqa: E402

tally = Tally()
check = tally.check

RAN = []


def run(*args):
    RAN.append(args)


class Attack:
    def __reduce__(self):
        return run, (1,)


def documented(module):
    """The loader of docs/python.md, by `module`."""
    with open("docs/python.md", encoding="utf-8") as file:
        (lines,) = [lines for _, name, lines, _ in blocks(file.read()) if name == "load_state.py"]
    program = compile("\n".join(lines), "load_state.py", "exec")

    def load(path):
        before = os.getcwd()
        os.chdir(os.path.dirname(path))
        try:
            os.replace(path, "state.pt")
            names = {}
            with_module = sys.modules["torch_guard"]
            sys.modules["torch_guard"] = module
            try:
                exec(program, names)
            finally:
                sys.modules["torch_guard"] = with_module
            return names["state"]
        finally:
            os.chdir(before)
    return load


def forged(path, to, change):
    """The file with another data.pkl."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, change(data) if name.endswith("/data.pkl") else data)


def replaced(old, by):
    def change(data):
        check(data.count(old) >= 1, "there is no %r" % old)
        return data.replace(old, by, 1)
    return change


def refused(module, load, path, code, text):
    try:
        load(path)
        check(False, text + ": was loaded")
    except module.RefusedError as error:
        check(error.code == code, "%s: %r" % (text, error))
    check(not RAN, "%s: ran %r" % (text, RAN))


def states_are_loaded(torch, module, load, place):
    net = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.BatchNorm1d(30), torch.nn.Linear(30, 2))
    path = os.path.join(place, "honest.pt")
    for state in (net.state_dict(), net.double().state_dict(), net.half().state_dict(), torch.nn.Linear(1, 1).state_dict()):
        torch.save(state, path)
        got = load(path)
        check(type(got) is type(state) and list(got) == list(state), "keys: %s" % list(got))
        check(all(got[key].dtype == state[key].dtype and torch.equal(got[key], state[key]) for key in state), "tensors")
        check(got._metadata == state._metadata, "_metadata: %r" % got._metadata)
    torch.save(net.state_dict(), path)
    net.load_state_dict(load(path))
    tied = torch.nn.Linear(4, 4).state_dict()
    tied["again"] = tied["weight"].t()
    torch.save(tied, path)
    got = load(path)
    check(torch.equal(got["again"], tied["again"]) and got["again"].data_ptr() == got["weight"].data_ptr(), "views of one storage")


def attacks_are_refused(torch, module, load, place):
    path, to = os.path.join(place, "honest.pt"), os.path.join(place, "forged.pt")
    state = torch.nn.Linear(2, 3).state_dict()
    torch.save(state, path)
    for value in (Attack(), [Attack()], dict(state, more=Attack()), torch.nn.Linear(2, 3)):
        torch.save(value, to)
        refused(module, load, to, "R201", type(value).__name__)
    forged(path, to, lambda data: pickle.dumps(Attack(), 2))
    refused(module, load, to, "R201", "another pickle")
    forged(path, to, lambda data: data[:-1] + b"0" + pickle.dumps(Attack(), 2)[2:])
    refused(module, load, to, "R201", "an attack behind the state")
    for old, by, code, text in ((b"FloatStorage", b"UntypedStorage", "R201", "a storage that the policy does not name"),
                                (b"ctorch\nFloatStorage", b"ctorch\nload", "R201", "a function for a storage"),
                                (b"\x03\x00\x00\x00cpu", b"\x04\x00\x00\x00cuda", "R205", "another device"),
                                (b"\x01\x00\x00\x000", b"\x04\x00\x00\x00../0", "R205", "another record"),
                                (b"K\x03K\x02\x86", b"J\x00\x00\x00\x01K\x02\x86", "R223", "a view that leaves its storage")):
        forged(path, to, replaced(old, by))
        refused(module, load, to, code, text)


def main():
    if not importlib.util.find_spec("torch"):
        print("not run: there is no torch here")
        print("0 passed, 0 failed, 1 not run")
        return 0
    import torch

    module = guard(sys.argv[1], "torch_guard")
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "any.pt")
        torch.save(Attack(), path)
        torch.load(path)
        check(RAN == [(1,)], "an attack that does nothing")
        RAN.clear()
        for stands_in in (module, module.loads.__self__):  # the module, and an object of type Policy
            for test in (states_are_loaded, attacks_are_refused):
                try:
                    test(torch, module, documented(stands_in), place)
                except Exception as error:
                    check(False, "%s: %s: %s" % (test.__name__, type(error).__name__, error))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
