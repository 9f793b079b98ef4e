#!/usr/bin/python3
"""CPython's own tests of unpickling, Lib/test/pickletester.py, with a guard in the place of pickle's loads, load and Unpickler.

The guard is of tests/policy/pickletester.policy, and pickle writes.  A test that docs/python-differences.md does not list passes in
each of its variants; one that is listed fails by what its row says, and by nothing else.

usage: test_python_cpython.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.
"""
import io
import os
import pickle
import re
import sys
import tempfile
import unittest
from unittest import mock

from test import pickletester

from guards import guard, run_by_others
from tally import Tally

tally = Tally()
check = tally.check

DOCUMENT = "docs/python-differences.md"
GUARDS = {"pickletester_guard": "tests/policy/pickletester.policy"}
STACK_ERRORS = dict.fromkeys(("bad_stack_errors", "truncated_errors"), (pickle.UnpicklingError,))  # as of C


# ---- variants


def variants(module):
    """The tests in the classes that Lib/test/test_pickle.py makes of them, as far as these load pickles."""
    class Fresh:
        """A guard that has bound no rows yet: some tests make their classes anew."""

        def setUp(self):
            class Unknown:
                pass
            super().setUp()
            self.guard = module.with_types(Unknown)
            self.unpickler = self.guard.Unpickler

    class ByLoads(Fresh):
        def dumps(self, value, protocol=None, **options):
            return pickle.dumps(value, protocol, **options)

        def loads(self, data, **options):
            return self.guard.loads(data, **options)

    class ByUnpickler(Fresh):
        pickler = pickle.Pickler

        def dumps(self, value, protocol=None, **options):
            file = io.BytesIO()
            self.pickler(file, protocol, **options).dump(value)
            return file.getvalue()

        def loads(self, data, **options):
            return self.unpickler(io.BytesIO(data), **options).load()

    class ByPythonPickler(ByUnpickler):
        pickler = pickle._Pickler

    class ByPersistent(Fresh):
        """Persistent ids come from a method of the test, and go to one."""
        pickler = pickle.Pickler

        def dumps(self, value, protocol=None):
            class Pickler(self.pickler):
                def persistent_id(_, value):
                    return self.persistent_id(value)
            file = io.BytesIO()
            Pickler(file, protocol).dump(value)
            return file.getvalue()

        def loads(self, data, **options):
            class Unpickler(self.unpickler):
                def persistent_load(_, known):
                    return self.persistent_load(known)
            return Unpickler(io.BytesIO(data), **options).load()

    class ByPersistentArgument(ByPersistent):
        def loads(self, data, **options):
            return self.guard.loads(data, persistent_load=self.persistent_load, **options)

    class Functions:
        dump, dumps, Pickler = pickle.dump, pickle.dumps, pickle.Pickler
        load, loads, Unpickler = module.load, module.loads, module.Unpickler

    class Objects:
        pickler_class, unpickler_class = pickle.Pickler, module.Unpickler

    class ByPatch:
        """These tests name pickle.loads itself."""
        pickler_class = pickle.Pickler

        def setUp(self):
            patch = mock.patch.object(pickle, "loads", module.loads)
            patch.start()
            self.addCleanup(patch.stop)

        def get_dispatch_table(self):
            return pickle.dispatch_table.copy()

    class Hooks(ByPatch):
        class pickler_class(pickle.Pickler, pickletester.AbstractCustomPicklerClass):
            pass

    unpickling = pickletester.AbstractUnpickleTests
    return [(ByLoads, unpickling), (ByUnpickler, unpickling), (ByLoads, pickletester.AbstractPickleTests),
            (ByUnpickler, pickletester.AbstractPickleTests), (ByPythonPickler, pickletester.AbstractPickleTests),
            (ByPersistent, pickletester.AbstractPersistentPicklerTests), (ByPersistent, pickletester.AbstractIdentityPersistentPicklerTests),
            (ByPersistentArgument, pickletester.AbstractPersistentPicklerTests),
            (ByPersistentArgument, pickletester.AbstractIdentityPersistentPicklerTests),
            (Functions, pickletester.AbstractPickleModuleTests), (Objects, pickletester.AbstractPicklerUnpicklerObjectTests),
            (ByPatch, pickletester.AbstractDispatchTableTests), (Hooks, pickletester.AbstractHookTests)]


LEFT_OUT = ("test_unpickle_module_race",                      # of imports, which a guard does not make
            "test_framed_write_sizes_with_delayed_writer")    # of picklers


class Result(unittest.TestResult):
    """By what each test failed, and the last exception of each kind: {name: {reason: exception}}."""

    def __init__(self):
        super().__init__()
        self.ran, self.failed = set(), {}

    def stopTest(self, test):
        self.ran.add(name_of(test))
        super().stopTest(test)

    def addError(self, test, error):
        self.failed.setdefault(name_of(test), {})[getattr(error[1], "code", None) or error[0].__name__] = error[1]

    addFailure = addError

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addError(test, error)


def name_of(test):
    return test.id().rpartition(".")[2]


def differences():
    """What the table says of this version: {test: {reason}}."""
    rows = []
    with open(DOCUMENT, encoding="utf-8") as file:
        for test, reasons, versions in re.findall(r"^\| `(\w+)` \| ([\w, ]+) \| ?([\w. ]*) \|", file.read(), re.M):
            found = re.fullmatch(r"(\d+)\.(\d+)( and later)?", versions)
            first = tuple(map(int, found.group(1, 2))) if found else (3, 0)
            here = sys.version_info[:2]
            if here == first or here > first and (not found or found.group(3)):
                rows.append((test, set(reasons.split(", "))))
    return {test: set().union(*[reasons for other, reasons in rows if other == test]) for test, _ in rows}


def main():
    build = os.path.abspath(sys.argv[1])
    module, listed = guard(build, "pickletester_guard"), differences()
    check(len(listed) > 30, "%s has %d rows for this version" % (DOCUMENT, len(listed)))
    seen, top = {}, os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # some tests write files
        for mixin, tests in variants(module):
            case = type(mixin.__name__, (mixin, tests, unittest.TestCase), dict(dict.fromkeys(LEFT_OUT), **STACK_ERRORS))
            result = Result()
            unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
            check(result.ran, "%s, %s: no test has run" % (mixin.__name__, tests.__name__))
            for test in sorted(result.ran):
                failed = result.failed.get(test, {})
                more = set(failed) - listed.get(test, set())
                check(not more, "%s, %s: %s" % (test, mixin.__name__, "; ".join("%s: %s" % (kind, failed[kind]) for kind in sorted(more))))
                seen.setdefault(test, set()).update(failed)
        os.chdir(top)
    for test, reasons in sorted(listed.items()):
        check(seen.get(test) == reasons, "%s: `%s' fails by %s, not by %s" % (DOCUMENT, test, sorted(seen.get(test, ())), sorted(reasons)))
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
