#!/usr/bin/python3
"""Pickles from files: exactly one is read, from whatever reads like a file, and decided as loads decides the same bytes; Unpickler
and its subclasses; and what else reads pickles from where they come piece by piece.

usage: test_python_files.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the modules are built into BUILD/python; --alone leaves that out.
"""
import contextlib
import datetime
import decimal
import gc
import glob
import gzip
import io
import multiprocessing
import multiprocessing.connection
import os
import pickle
import shelve
import socket
import sys
import tempfile
import threading
import weakref

from alike import difference
from guards import folder, guard, run_by_others
from tally import Tally

tally = Tally()
check = tally.check

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
VALUE = {"id": 7, "at": datetime.date(2024, 2, 29), "list": [None, True, 1.5, 10 ** 30, ("x" * 300, b"y" * 5000)], "zwei": "ß€"}
LARGE = [b"b" * 100000, "s" * 20000, list(range(3000))]
SYSTEM = pickle.dumps(os.system)
GUARDS = {"values_guard": "policies/values.policy", "corpus_guard": "tests/policy/corpus.policy",
          "api_guard": "tests/policy/python/api.policy", "channels_guard": "tests/policy/ok/channels.policy"}


@contextlib.contextmanager
def raises(kind, text=""):
    """Yields a list that holds the error afterwards."""
    got = []
    try:
        yield got
    except kind as error:
        got.append(error)
        check(text in str(error), "%r does not say %r" % (error, text))
    except BaseException as error:
        check(False, "%r was raised, not %s" % (error, kind))
        got.append(error)
    else:
        check(False, "%s was not raised" % (kind,))


# ---- files


class Methods:
    """What pickle asks of a file, and no more."""

    def __init__(self, data):
        self.data, self.at, self.reads = data, 0, 0

    def read(self, n):
        self.reads += 1
        self.at += n
        return self.data[self.at - n:self.at]

    def readline(self):
        raise AssertionError("readline")

    def tell(self):
        return min(self.at, len(self.data))


class Drops(Methods):
    """Gives less than it could, as pipes do."""

    def read(self, n):
        return super().read(min(n, 3))


class Peeks(Methods):
    """Shows one byte more each time."""
    shown = 0

    def peek(self, n):
        self.shown += 1
        return self.data[self.at:self.at + self.shown]


class NoPeek(Methods):
    def peek(self, n):
        raise NotImplementedError


class SubIO(io.BytesIO):
    pass


@contextlib.contextmanager
def on_disk(data, **how):
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        with open(file.name, "rb", **how) as opened:
            yield opened


@contextlib.contextmanager
def gzipped(data):
    yield gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(data, 1)))


def in_process(kind):
    return contextlib.contextmanager(lambda data: iter([kind(data)]))


FILES = {"BytesIO": in_process(io.BytesIO), "subclass of BytesIO": in_process(SubIO), "file": on_disk,
         "unbuffered file": lambda data: on_disk(data, buffering=0), "file of 16 bytes": lambda data: on_disk(data, buffering=16),
         "gzip": gzipped, "methods": in_process(Methods), "drops": in_process(Drops),
         "peek": in_process(Peeks), "no peek": in_process(NoPeek)}


def one_pickle_is_read(build):
    loads = guard(build, "values_guard").loads
    for name, make in FILES.items():
        for protocol in PROTOCOLS:
            values = [VALUE, [], LARGE, VALUE] if protocol > 2 and name not in ("drops", "peek") else [VALUE, [], VALUE]
            pickles = [pickle.dumps(value, protocol) for value in values]
            for method in (False, True):
                module = guard(build, "values_guard")
                with make(b"".join(pickles) + b"junk") as file:
                    load = module.Unpickler(file).load if method else lambda: module.load(file)
                    end = 0
                    for value, data in zip(values, pickles):
                        end += len(data)
                        got, text = load(), "%s, protocol %d, method %s" % (name, protocol, method)
                        check(difference(got, loads(data)) is None, text + ": another value")
                        check(file.tell() == end, "%s: %d, and not %d" % (text, file.tell(), end))
                    with raises(module.RefusedError):
                        load()


def files_are_read_in_large_pieces(build):
    load = guard(build, "values_guard").load
    data = pickle.dumps([b"b" * 3000000] + LARGE, 4)
    file = Methods(data)
    load(file)
    check(file.reads < 60, "%d reads of %d bytes" % (file.reads, len(data)))
    framed = Methods(pickle.dumps(list(range(30000)), 4))
    load(framed)
    check(framed.reads < 20, "%d reads of a framed pickle" % framed.reads)


def what_comes_byte_by_byte(build):
    """The reader waits for nothing behind STOP: the next pickle is written when the first was loaded."""
    load = guard(build, "values_guard").load
    for buffering in (0, -1):
        for protocol in PROTOCOLS:
            r, w = os.pipe()
            with os.fdopen(r, "rb", buffering=buffering) as file:
                def write(data):
                    for i in range(len(data)):
                        os.write(w, data[i:i + 1])
                for value in (VALUE, [1, "x"]):
                    writer = threading.Thread(target=write, args=(pickle.dumps(value, protocol),))
                    writer.start()
                    check(load(file) == value, "pipe, protocol %d" % protocol)
                    writer.join()
                os.write(w, b"N.rest")
                check(load(file) is None and file.read(4) == b"rest", "pipe: what follows the pickle")
                os.close(w)
    left, right = socket.socketpair()
    with left, right, right.makefile("rb") as buffered, right.makefile("rb", buffering=0) as raw:
        for file in (buffered, raw):
            for protocol in PROTOCOLS:
                writer = threading.Thread(target=left.sendall, args=(pickle.dumps(LARGE, protocol),))
                writer.start()
                check(load(file) == LARGE, "socket, protocol %d" % protocol)
                writer.join()


def verdict(module, read, data):
    try:
        return "accepted", read(data)
    except module.RefusedError as e:
        return "refused", (e.code, e.offset, e.opcode)


def corpus_is_decided_as_by_loads(build):
    module = guard(build, "corpus_guard").main
    paths = sorted(glob.glob(build + "/corpus/good/**/*.pkl", recursive=True) + glob.glob(build + "/corpus/hostile/**/*.pkl", recursive=True))
    accepted = refused = 0
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        said, what = verdict(module, module.loads, data)
        if said == "refused" and what[0] == "R132":
            continue  # bytes behind STOP are another's
        for name, wrap in (("BytesIO", io.BytesIO), ("methods", Methods)):
            said_of_file, what_of_file = verdict(module, lambda data: module.load(wrap(data)), data)
            same = said == said_of_file and (difference(what, what_of_file) is None if said == "accepted" else
                                             what == what_of_file or what[0] == "R125")
            check(same, "%s as %s: %s %.80r, loads: %s %.80r" % (path, name, said_of_file, what_of_file, said, what))
        accepted += said == "accepted"
        refused += said == "refused"
    check(accepted > 300 and refused > 100, "%d accepted, %d refused" % (accepted, refused))


# ---- what is no pickle, and what is no file


def only_an_empty_rest_is_an_end(build):
    module = guard(build, "values_guard")
    for empty in (lambda: module.loads(b""), lambda: module.load(io.BytesIO()), lambda: module.Unpickler(Methods(b"")).load()):
        with raises(EOFError) as got:
            empty()
        check(isinstance(got[0], module.RefusedError) and type(got[0]) is module.EmptyInputError and got[0].code == "R101", repr(got))
    data, seen = pickle.dumps([1]), []
    file = io.BytesIO(data * 3)
    with contextlib.suppress(EOFError):
        while True:
            seen.append(module.load(file))
    check(seen == [[1]] * 3, "a loop over a file saw %r" % seen)
    for cut in range(1, len(data)):
        with raises(module.RefusedError) as got:
            module.load(io.BytesIO(data[:cut]))
        check(not isinstance(got[0], EOFError) and got[0].cls == "truncated", "cut at %d: %r" % (cut, got))


def refusals_have_a_place(build):
    """And the grant line of a name is whole, where the rest of the pickle is at hand."""
    module = guard(build, "values_guard")
    data = b"\x80\x04]\x8c\x06nobody\x8c\x05Thing\x93)R}\x8c\x01aK\x01sba."
    with raises(module.RefusedError) as whole:
        module.loads(data)
    with raises(module.RefusedError) as in_memory:
        module.load(io.BytesIO(data + b"junk"))
    with raises(module.RefusedError) as read:
        module.load(Methods(data))
    for got in in_memory + read:
        check((got.code, got.offset, got.name) == ("R201", 18, "Thing"), repr(got))
    check(in_memory[0].grant == whole[0].grant and in_memory[0].path == whole[0].path == "$[0]", repr(in_memory))
    check(read[0].path == "$" and "class Thing" in read[0].grant, repr(read))


class Trouble(Methods):
    def __init__(self, read):
        super().__init__(b"")
        self.read = read


def file_errors_are_the_hosts(build):
    module = guard(build, "values_guard")
    for error in (OSError("gone"), KeyboardInterrupt(), EOFError("mine"), ZeroDivisionError()):
        def fail(n, error=error):
            raise error
        with raises(type(error)) as got:
            module.load(Trouble(fail))
        check(got[0] is error, "another error than the file's")
    for answer in ("text", None, 7):
        with raises(TypeError, "non-bytes"):
            module.load(Trouble(lambda n: answer))
    with raises(ValueError, "more than"):
        module.load(Trouble(lambda n: b"N" * (n + 1)))
    for missing in ("read", "readline"):
        stub = type("Stub", (), {name: lambda self, *n: b"" for name in {"read", "readline"} - {missing}})()
        for take in (module.load, module.Unpickler):
            with raises(TypeError, "file must have 'read' and 'readline' attributes"):
                take(stub)
    closed = io.BytesIO(b"N.")
    closed.close()
    with raises(ValueError):
        module.load(closed)
    with raises(TypeError):
        module.load(io.StringIO("N."))


# ---- Unpickler


def subclasses_override(build):
    module = guard(build, "values_guard")
    asked = []

    class Own(decimal.Decimal):
        pass

    class Finds(module.Unpickler):
        def find_class(self, module, name):
            asked.append((module, name))
            return Own if name == "Decimal" else super().find_class(module, name)

    one, two = decimal.Decimal("1.5"), datetime.date(2024, 2, 29)
    for protocol in PROTOCOLS:
        del asked[:]
        got = Finds(io.BytesIO(pickle.dumps([one, one, decimal.Decimal(2), two], protocol))).load()
        check(got == [one, one, 2, two] and [type(v) for v in got] == [Own, Own, Own, datetime.date], "find_class: %r" % got)
        check(asked.count(("decimal", "Decimal")) == 1, "asked %r" % asked)
    del asked[:]
    for bad in (SYSTEM, pickle.dumps([one, os.system]), pickle.dumps(one)[:-1] + b"0"):
        with raises(module.RefusedError):
            Finds(io.BytesIO(bad)).load()
    check(asked == [], "find_class was asked for a refused pickle: %r" % asked)

    class Odd(module.Unpickler):
        def find_class(self, module, name):
            raise LookupError(name)

    with raises((LookupError, module.RefusedError)):
        Odd(io.BytesIO(pickle.dumps(one))).load()

    plain = module.Unpickler(io.BytesIO())
    check(plain.find_class("decimal", "Decimal") is decimal.Decimal, "find_class of a granted name")
    with raises(module.RefusedError) as got:
        plain.find_class("os", "system")
    check(got[0].code == "R201" and (got[0].module, got[0].name) == ("os", "system"), repr(got))
    for wrong in ((), ("decimal",), ("decimal", "Decimal", 1), (1, "Decimal"), ("decimal", b"Decimal")):
        with raises(TypeError):
            plain.find_class(*wrong)
    with raises((UnicodeError, module.RefusedError)):
        plain.find_class("decimal", "\ud800")
    with raises(module.RefusedError):
        plain.find_class("x" * 5000, "y" * 5000)


def persistent_ids_are_asked_for(build):
    module = guard(build, "api_guard")

    class Writes(pickle.Pickler):
        def persistent_id(self, value):
            return value.days if isinstance(value, datetime.timedelta) else None

    class Reads(module.Unpickler):
        def persistent_load(self, pid):
            return datetime.timedelta(int(pid))

    value = [datetime.timedelta(1), datetime.timedelta(2)]
    for protocol in range(1, pickle.HIGHEST_PROTOCOL + 1):
        file = io.BytesIO()
        Writes(file, protocol).dump(value)
        data = file.getvalue()
        check(Reads(io.BytesIO(data)).load() == value, "persistent_load of a subclass")
        check(module.load(io.BytesIO(data), persistent_load=datetime.timedelta) == value, "persistent_load of load")
        plain = module.Unpickler(io.BytesIO(data))
        plain.persistent_load = lambda pid: pid
        check(plain.load() == [1, 2], "persistent_load as an attribute")
        del plain.persistent_load
        with raises(pickle.UnpicklingError):
            plain.persistent_load(1)
        with raises(TypeError):
            plain.persistent_load = 7
        with raises(module.RefusedError) as got:
            module.Unpickler(io.BytesIO(data)).load()
        check(got[0].code == "R215", repr(got))


def buffers_go_to_their_pickles(build):
    module = guard(build, "api_guard")
    if pickle.HIGHEST_PROTOCOL < 5:
        return
    parts = [bytearray(b"one"), bytearray(b"two"), bytearray(b"three")]
    buffers = []
    data = b"".join(pickle.dumps(list(map(pickle.PickleBuffer, some)), 5, buffer_callback=buffers.append) for some in (parts[:2], [], parts[2:]))
    loader = module.Unpickler(io.BytesIO(data), buffers=iter(buffers))
    check([list(map(bytes, loader.load())) for _ in range(3)] == [[b"one", b"two"], [], [b"three"]], "buffers of several pickles")
    with raises(module.RefusedError):
        module.Unpickler(io.BytesIO(data)).load()


def an_unpickler_is_used_by_one_at_a_time(build):
    module = guard(build, "values_guard")

    class Again(Methods):
        unpickler, use = None, None

        def read(self, n):
            if self.unpickler and self.use:
                self.use(self.unpickler)
            return super().read(n)

    for use in (lambda u: u.load(), lambda u: u.__init__(io.BytesIO())):
        file = Again(b"N.")
        file.unpickler = module.Unpickler(file)
        file.use = use
        with raises(RuntimeError):
            file.unpickler.load()
        file.use = None
        file.at = 0
        check(file.unpickler.load() is None, "an Unpickler after its misuse")

    class Finds(module.Unpickler):
        def find_class(self, module, name):
            with raises(RuntimeError):
                self.load()
            return super().find_class(module, name)

    check(Finds(io.BytesIO(pickle.dumps(decimal.Decimal(1)))).load() == 1, "load within find_class")

    class Runs:
        """Its attributes run code."""
        readline = None

        @property
        def read(self):
            with raises(RuntimeError):
                loader.load()
            return lambda n: b""

    loader = module.Unpickler(io.BytesIO(b"N."))
    loader.__init__(Runs())
    with raises(module.EmptyInputError):
        loader.load()


def unpicklers_are_made_as_pickles_are(build):
    module = guard(build, "values_guard")
    check(module.Unpickler is module.Unpickler and module.Unpickler is module.load.__self__.Unpickler, "two classes Unpickler")
    check(module.Unpickler.__module__ == "values_guard" and module.Unpickler.__name__ == "Unpickler", repr(module.Unpickler))
    for wrong in ((), (io.BytesIO(), 1)):
        with raises(TypeError):
            module.Unpickler(*wrong)
    for wrong in ({"fix_imports": False}, {"encoding": "bytes"}, {"errors": "ignore"}, {"nonsense": 1}, {"file": io.BytesIO()},
                  {"persistent_load": 7}, {"buffers": 7}):
        with raises(TypeError):
            module.Unpickler(io.BytesIO(), **wrong)
    check(module.Unpickler(file=io.BytesIO(b"N."), fix_imports=True, encoding="ASCII", errors="strict", buffers=None).load() is None, "keywords")

    class Forgets(module.Unpickler):
        def __init__(self):
            pass

    with raises(pickle.UnpicklingError, "__init__() was not called"):
        Forgets().load()
    with raises(pickle.UnpicklingError):
        module.Unpickler.__new__(module.Unpickler).load()
    loader = module.Unpickler(io.BytesIO(b"K\x01."))
    loader.__init__(io.BytesIO(b"K\x02."))
    check(loader.load() == 2, "__init__ again")
    with raises(TypeError):
        loader.__init__(7)
    with raises(pickle.UnpicklingError):
        loader.load()
    with raises(TypeError):
        module.Unpickler.__new__(pickle.Unpickler)
    other = guard(build, "corpus_guard").main
    with raises(TypeError):
        type("Both", (module.Unpickler, other.Unpickler), {})

    channels = guard(build, "channels_guard")
    check(channels.values.Unpickler is not channels.own.Unpickler, "two channels have one Unpickler")
    check(channels.values.Unpickler(io.BytesIO(pickle.dumps([1]))).load() == [1], "Unpickler of a channel")


def unpicklers_leave_nothing(build):
    module = guard(build, "values_guard")

    class Own(module.Unpickler):
        def find_class(self, module, name):
            return super().find_class(module, name)

    loader = Own(io.BytesIO(b"N."))
    loader.itself = loader
    loader.persistent_load = loader.load
    gone = weakref.ref(loader)
    del loader
    gc.collect()
    check(gone() is None, "a cycle through an Unpickler stays")

    data = pickle.dumps(VALUE) + pickle.dumps([decimal.Decimal(1)])

    def work():
        loader = Own(io.BytesIO(data))
        loader.load()
        loader.load()
        with contextlib.suppress(module.RefusedError):
            loader.load()
        with contextlib.suppress(module.RefusedError):
            module.load(Methods(SYSTEM))

    def counts():
        gc.collect()
        return sys.getrefcount(Own), sys.getrefcount(module.Unpickler), sys.getrefcount(module.RefusedError), sys.getrefcount(decimal.Decimal)

    for _ in range(3):
        work()
    before, objects = counts(), len(gc.get_objects())
    for _ in range(200):
        work()
    after = counts()
    check(before == after, "references: %r, then %r" % (before, after))
    check(len(gc.get_objects()) <= objects + 5, "%d objects, then %d" % (objects, len(gc.get_objects())))


# ---- clients


def a_shelf_is_guarded(build):
    module = guard(build, "values_guard")
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "shelf")
        with shelve.open(path) as shelf:
            shelf["honest"] = VALUE
            shelf["attack"] = os.system
        plain, shelve.Unpickler = shelve.Unpickler, module.Unpickler
        try:
            with shelve.open(path) as shelf:
                check(shelf["honest"] == VALUE, "a shelf's value")
                with raises(module.RefusedError) as got:
                    shelf["attack"]
                check(got[0].code == "R201", repr(got))
        finally:
            shelve.Unpickler = plain


class Kinder:
    """What Connection.recv takes its loads from."""

    def __init__(self, loads):
        self.loads = loads


def a_connection_is_guarded(build):
    module = guard(build, "values_guard")
    left, right = multiprocessing.Pipe()
    plain, multiprocessing.connection._ForkingPickler = multiprocessing.connection._ForkingPickler, Kinder(module.loads)
    try:
        with left, right:
            for protocol in PROTOCOLS:
                left.send_bytes(pickle.dumps(VALUE, protocol))
                check(right.recv() == VALUE, "a connection's value, protocol %d" % protocol)
                left.send_bytes(pickle.dumps([os.system], protocol))
                with raises(module.RefusedError) as got:
                    right.recv()
                check(got[0].code == "R201", repr(got))
            left.close()
            with raises(EOFError):
                right.recv()
    finally:
        multiprocessing.connection._ForkingPickler = plain


def main():
    build = sys.argv[1]
    folder(build)
    tally.run((one_pickle_is_read, files_are_read_in_large_pieces, what_comes_byte_by_byte, corpus_is_decided_as_by_loads,
               only_an_empty_rest_is_an_end, refusals_have_a_place, file_errors_are_the_hosts, subclasses_override,
               persistent_ids_are_asked_for, buffers_go_to_their_pickles, an_unpickler_is_used_by_one_at_a_time,
               unpicklers_are_made_as_pickles_are, unpicklers_leave_nothing, a_shelf_is_guarded, a_connection_is_guarded), build)
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
