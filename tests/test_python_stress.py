#!/usr/bin/python3
"""Guards where things go wrong: memory that ends at any allocation, signals, threads, code of the host's classes that loads again, changes
its class, or looks at all objects; and what calls of every kind leave behind.

usage: test_python_stress.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by the debug build of CPython, where the machine has it: it counts all references, and checks itself; and by the oldest
and the newest of the other CPythons. --alone leaves that out.
"""
import _imp
import contextlib
import ctypes
import dataclasses
import datetime
import decimal
import gc
import glob
import importlib.util
import io
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time

from alike import difference
from guards import guard, interpreters, run_by, sanitized
from scratch import environment
from tally import Tally

tally = Tally()
check = tally.check

GUARDS = {"values_guard": "policies/values.policy", "api_guard": "tests/policy/python/api.policy",
          "corpus_guard": "tests/policy/corpus.policy"}
DEBUG = "/usr/bin/python3-dbg"
DEBUG_BUILD = hasattr(sys, "gettotalrefcount")
# Other versions leave some memory behind for each type that a module makes (_queue and _zoneinfo lose theirs as well), and 3.13 does not
# survive that an allocation fails while it makes one.
TYPES_ARE_FREED = (3, 9) <= sys.version_info < (3, 12)
TYPES_MAY_FAIL = sys.version_info < (3, 13)


# ---- classes that a host might name


@dataclasses.dataclass
class Job:
    name: str
    parts: list


class Hooked:
    """What `does` it, when its state is set."""
    does = None

    def __init__(self, *parts):
        self.parts = parts

    def __setstate__(self, state):
        self.__dict__.update(state)
        if Hooked.does:
            Hooked.does(self)

    def __eq__(self, other):
        return isinstance(other, Hooked) and self.parts == other.parts


class Key:
    does = None

    def __init__(self, n):
        self.n = n

    def __hash__(self):
        if Key.does:
            Key.does(self)
        return hash(self.n)

    def __eq__(self, other):
        return isinstance(other, Key) and self.n == other.n


CLASSES = (Job, Hooked, Key)


@contextlib.contextmanager
def doing(cls, does):
    cls.does = does
    try:
        yield
    finally:
        cls.does = None


def outcome(call):
    """(value, None), or (None, refusal)."""
    try:
        return call(), None
    except pickle.UnpicklingError as error:
        return None, error


def same(one, other):
    return difference(one, other) is None or (type(one) is list and isinstance(one[0], Job) and one == other)


# ---- calls of every kind


def calls(build):
    """[(name, call, does it end well)]: what the tests below repeat, or let fail."""
    values, api = guard(build, "values_guard"), guard(build, "api_guard")
    own = values.with_types(*CLASSES)
    good = pickle.dumps([[1, 2.5, "text", "\xfc", b"x", {"a": (1 << 70, None)}, {1, 2}], decimal.Decimal("1.5"), "z" * 600,
                         datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc), {i: [i] for i in range(40)}], 4)
    named = pickle.dumps([Job("a", [Hooked(1)]), Hooked(Job("b", []), 2), {Key(1): 2}, {Key(3), Key(4)}], 4)
    cyclic = [1]
    cyclic += [cyclic, {"self": cyclic}]
    cyclic = pickle.dumps(cyclic, 4)
    parts = []
    banded = pickle.dumps([pickle.PickleBuffer(b"abc"), pickle.PickleBuffer(bytearray(b"d"))], 5, buffer_callback=parts.append)
    written = io.BytesIO()

    class Writes(pickle.Pickler):
        def persistent_id(self, value):
            return value.days if isinstance(value, datetime.timedelta) else None

    Writes(written, 4).dump([datetime.timedelta(3)])
    written = written.getvalue()

    class Finds(values.Unpickler):
        def find_class(self, module, name):
            return super().find_class(module, name)

    two = good + pickle.dumps([decimal.Decimal(1)], 4)

    def several():
        loader = Finds(io.BytesIO(two))
        return loader.load(), loader.load()

    spec = importlib.util.spec_from_file_location("values_guard", values.__file__)

    def again():  # without importlib's Python code
        fresh = _imp.create_dynamic(spec)
        _imp.exec_dynamic(fresh)
        return fresh.loads(b"N.")

    collide = pickle.dumps({i * sys.hash_info.modulus: i for i in range(1, 80)}, 4)
    return [("loads", lambda: values.loads(good), True), ("bytearray", lambda: values.loads(bytearray(good)), True),
            ("cycle", lambda: values.loads(cyclic), True), ("check", lambda: values.check(good), True),
            ("with_types", lambda: bool(values.with_types(*CLASSES)), True), ("types", lambda: own.loads(named), True),
            ("buffers", lambda: list(map(bytes, api.loads(banded, buffers=parts))), True),
            ("persistent ids", lambda: api.loads(written, persistent_load=datetime.timedelta), True),
            ("load", lambda: values.load(io.BytesIO(good)), True), ("Unpickler", several, True),
            ("inspect", lambda: [values.inspect(good, form=form) for form in ("repr", "tree", "json")], True),
            ("scan", lambda: values.scan(good), True), ("import", again, True),
            ("cut off", lambda: values.loads(good[:-3]), False), ("no ids", lambda: api.loads(written), False),
            ("no buffers", lambda: api.loads(banded), False), ("not granted", lambda: values.loads(named), False),
            ("dangerous", lambda: values.loads(b"cos\nsystem\n(S'x'\ntR."), False), ("collide", lambda: values.loads(collide), False),
            ("constructor", lambda: values.loads(b"\x80\x04\x8c\x07decimal\x8c\x07Decimal\x93\x8c\x03abc\x85R."), False),
            ("cut off file", lambda: values.load(io.BytesIO(good[:-3])), False)]


def calls_end_as_said(build):
    module = guard(build, "values_guard")
    for name, call, good in calls(build):
        with contextlib.suppress(pickle.UnpicklingError):
            call()
            check(good, name + ": accepted")
            continue
        check(not good, name + ": refused")
    check(module.loads(b"N.") is None, "afterwards")


# ---- what is left


def count():
    """Of references where Python counts them all, else of blocks of memory."""
    if sys.version_info < (3, 13):
        sys._clear_type_cache()
    gc.collect()
    return sys.gettotalrefcount() if DEBUG_BUILD else sys.getallocatedblocks()


def least_growth(call, times):
    """Of several rounds of so many calls.  Caches of Python's own grow at times; what leaks grows each time."""
    call()
    grown = []
    for _ in range(6):
        before = count()
        for _ in range(times):
            call()
        grown.append(count() - before)
    return min(grown)


def nothing_is_left(build):
    for name, call, _ in calls(build):
        if name == "import" and not TYPES_ARE_FREED:
            continue

        def once():
            with contextlib.suppress(pickle.UnpicklingError):
                call()

        times = 5 if name == "import" else 60
        once()
        grown = least_growth(once, times)
        check(grown <= times // 2, "%s: %d left of %d calls" % (name, grown, times))


def corpus_leaves_nothing(build):
    """All files, good and hostile, where references are counted."""
    if not DEBUG_BUILD:
        return
    __import__("samples")  # classes that files name
    policy = guard(build, "corpus_guard").main
    contents = []
    for path in sorted(glob.glob(build + "/corpus/**/*.pkl", recursive=True)):
        with open(path, "rb") as file:
            contents.append((path, file.read()))
    check(len(contents) > 1500, "%d files" % len(contents))

    def decide(data):
        with contextlib.suppress(pickle.UnpicklingError):
            policy.loads(data, buffers=[bytes(48)] * 8, persistent_load=repr)

    def some(part):
        for _, data in part:
            decide(data)

    nothing = least_growth(lambda: some([]), 1)
    for start in range(0, len(contents), 400):
        part = contents[start:start + 400]
        if least_growth(lambda: some(part), 1) <= nothing:
            check(True, "")
            continue
        for path, data in part:
            grown = least_growth(lambda: decide(data), 10)
            check(grown <= nothing + 5, "%s: %d references left of 10 calls" % (path, grown))


# ---- memory

FAILING = """
#include <stddef.h>

/* Which allocation of the process fails, counted down; 0: none.  `all`: so do those that follow. */
volatile long left, all;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static int fails(void) { return left && (left == 1 ? !all && (left = 0, 1) || all : (left--, 0)); }

void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return fails() ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return fails() ? NULL : __libc_realloc(p, n); }
"""


def each_allocation_fails(build, what, fail, end):
    total = 0
    for name, call, good in calls(build):
        if name == "import" and not TYPES_MAY_FAIL:
            continue
        wanted, _ = outcome(call)
        at = well = 0
        while well < 20 and at < 4000:
            at += 1
            made = error = None
            fail(at)
            try:
                made = call()
            except BaseException as e:
                error = e
            finally:
                end()
            if isinstance(error, MemoryError) or "MemoryError" in str(error) or "could not be imported" in str(error):
                well, total = 0, total + 1
            elif name == "import" and isinstance(error, (ImportError, SystemError, AttributeError)):
                well, total = 0, total + 1  # Python's own import
            elif good:
                check(error is None and same(made, wanted), "%s, %s %d: %r %.200r" % (name, what, at, error, made))
                well += 1
            else:
                check(isinstance(error, pickle.UnpicklingError), "%s, %s %d: %r %.200r" % (name, what, at, error, made))
                well += 1
            del made, error
        check(at < 4000, "%s, %s: fails without end" % (name, what))
        made, error = outcome(call)
        check((error is None) == good and same(made, wanted), "%s, after %s: %r" % (name, what, error))
    check(total > 50, "%s: only %d failed" % (what, total))
    return total


def pythons_memory_ends(build):
    try:
        import _testcapi
    except ImportError:
        print("no _testcapi: Python's own allocations do not fail")
        return
    each_allocation_fails(build, "Python's allocation", lambda at: _testcapi.set_nomemory(at, at + 1), _testcapi.remove_mem_hooks)


def memory_ends(build):
    """By a library that is loaded before all others, in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        source, library = os.path.join(place, "failing.c"), os.path.join(place, "failing.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(FAILING)
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-fno-builtin", "-o", library, source], check=True)
        done = subprocess.run([sys.executable, "-B", os.path.abspath(__file__), build, "--failing", library], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=environment(LD_PRELOAD=library))
    check(done.returncode == 0, "without memory: %d\n%s" % (done.returncode, done.stdout.decode("utf-8", "replace")[-3000:]))


def failing(build, library):
    shim = ctypes.CDLL(library)
    left = ctypes.c_long.in_dll(shim, "left")

    def fail(at):
        left.value = at

    def end():
        left.value = 0

    total = each_allocation_fails(build, "allocation", fail, end)
    print("%d allocations failed" % total)


# ---- signals and threads


def interrupts_leave_nothing(build):
    """KeyboardInterrupt within a long load rises as it is; the garbage collector is on again, and the value is gone."""
    module = guard(build, "values_guard")
    data = pickle.dumps([[i] for i in range(150000)], 4)
    rose, blocks = 0, []

    def stop(number, frame):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, stop)
    try:
        for i in range(1, 9):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.003 * i)
                module.loads(data)
            except KeyboardInterrupt:
                rose += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            check(gc.isenabled(), "the garbage collector stays off")
            gc.collect()
            blocks.append(sys.getallocatedblocks())
    finally:
        signal.signal(signal.SIGALRM, old)
    check(rose >= 2, "%d of 8 loads were stopped" % rose)
    check(max(blocks[2:]) - min(blocks[2:]) < 2000, "blocks: %s" % blocks)
    check(len(module.loads(data)) == 150000, "a load after those that were stopped")


def threads_share_all(build):
    """One guard, its additions, large and small values, refusals; and the collector."""
    module = guard(build, "values_guard")
    own = module.with_types(*CLASSES)
    small = pickle.dumps([Job("a", [1, Hooked(2)]), {Key(i): i for i in range(5)}], 4)
    large = pickle.dumps([["s%d" % i, (i, 1.5)] for i in range(8000)], 4)  # read without the GIL
    wanted = pickle.loads(large)
    bad = pickle.dumps([list(range(30000)), Attack()], 4)
    wrong, until = [], time.monotonic() + 2

    def work(seed):
        for i in range(10000):
            if time.monotonic() > until:
                break
            try:
                kind = (i + seed) % 5
                if kind == 0 and module.loads(large) != wanted:
                    wrong.append("large")
                elif kind == 1 and own.loads(small)[0].name != "a":
                    wrong.append("small")
                elif kind == 2:
                    if module.with_types(Job, Key, Hooked).load(io.BytesIO(small))[0] != Job("a", [1, Hooked(2)]):
                        wrong.append("added")
                elif kind == 3:
                    for policy in (module, own):
                        try:
                            policy.loads(bad)
                            wrong.append("loaded")
                        except module.RefusedError as error:
                            if error.code != "R201" or error.name != "Attack.run":
                                wrong.append(repr(error))
                elif kind == 4:
                    gc.collect(i % 2)
            except BaseException as error:
                wrong.append(repr(error))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not wrong, "%d: %s" % (len(wrong), wrong[:3]))


class Attack:
    @staticmethod
    def run():
        raise AssertionError("an attack has run")

    def __reduce__(self):
        return Attack.run, ()


# ---- code of the host's classes


def loads_again(build):
    """From wherever a call runs the host's code, and as deep as Python goes."""
    module = guard(build, "values_guard")
    own, api = module.with_types(*CLASSES), guard(build, "api_guard")
    inner = pickle.dumps([1, {"a": decimal.Decimal("1.5")}, "x" * 600], 4)
    wanted, seen = pickle.loads(inner), []

    def load(*_):
        seen.append(own.loads(inner) == wanted == module.load(io.BytesIO(inner)))
        return len(seen)

    outer = pickle.dumps([[Hooked(1)], {Key(1), Key(2)}, {Key(3): Hooked(2)}, ["x" * 600] * 2], 4)
    with doing(Hooked, load), doing(Key, load):
        made = own.loads(outer)
    check(len(seen) == 5 and all(seen) and made[2][Key(3)].parts == (2,) and made[3] == ["x" * 600] * 2, "within hooks: %s" % seen)

    del seen[:]
    check(api.loads(b"\x80\x04]K\x01Qa.", persistent_load=load) == [1] and seen == [True], "within persistent_load")

    class Finds(module.Unpickler):
        def find_class(self, *name):
            load()
            return super().find_class(*name)

    class File(io.BytesIO):
        def read(self, n=-1):
            load()
            return super().read(n)

    del seen[:]
    check(Finds(File(inner)).load() == wanted and len(seen) > 1 and all(seen), "within find_class and read: %s" % seen)

    def buffers():
        load()
        yield b"abc"

    del seen[:]
    check(bytes(api.loads(b"\x80\x05\x97.", buffers=buffers())) == b"abc" and all(seen), "within buffers")

    deep = pickle.dumps(Hooked(), 4)
    with doing(Hooked, lambda self: own.loads(deep)):
        try:
            own.loads(deep)
            check(False, "loads without end")
        except (module.RefusedError, RecursionError) as error:
            check("RecursionError" in repr(error) or "recursion" in str(error), "without end: %.300r" % error)
    check(type(own.loads(deep)) is Hooked, "after loads without end")


def classes_change_while_objects_are_made(build):
    module = guard(build, "values_guard")

    class Changes:
        def __setstate__(self, state):
            self.__dict__.update(state)
            Changes.after = getattr(Changes, "after", 0) + 1
            if Changes.after == 2:
                Changes.__eq__ = lambda self, other: True
                Changes.__hash__ = lambda self: 1
            if Changes.after == 3:
                del Changes.__setstate__
            if Changes.after == 5:
                self.__class__ = Other

    class Other:
        pass

    own = module.with_types(Changes)
    name = b"\x8c" + bytes([len(Changes.__module__)]) + Changes.__module__.encode() + b"\x8c" + bytes([len(Changes.__qualname__)]) \
        + Changes.__qualname__.encode() + b"\x93"
    one = name + b")\x81}\x8c\x01aK\x01sb"
    try:
        made = own.loads(b"\x80\x04(" + one * 8 + b"l.")
        check([x.a for x in made] == [1] * 8, "a class that changes: %r" % made)
    except module.RefusedError as error:
        check(error.code == "R222", repr(error))  # a hook that it did not have
    check(Changes.after >= 2, "it did not change")


def no_part_is_seen(build):
    """Whoever looks at all objects, at their members and at who has them, finds each list, tuple, dict and set empty or full."""
    own = guard(build, "values_guard").with_types(*CLASSES)
    full = {("mark", 1), ("mark", 2), ("mark", 3)}
    seen = []

    def look(self):
        for found in gc.get_objects():
            if type(found) in (tuple, list, dict, set, frozenset) and len(found) < 50:
                for part in list(found):
                    type(part)
                gc.get_referents(found)
                if type(found) is list and found and found[0] == "mark":
                    seen.append(len(found))
        gc.get_referrers(self)
        gc.collect()

    looks = [Hooked(i) for i in range(2)]
    value = ["mark", looks[0], ("mark", looks[1], ["mark", Hooked(), 1]), {"k": Hooked(), "l": [looks[0]]}, {Key(1), Key(2)},
             frozenset(full), looks[1]]
    cyclic = ["mark", Hooked()]
    cyclic[1].parts = (cyclic, ["mark", cyclic, Hooked()])
    cyclic.append(1)
    with doing(Hooked, look), doing(Key, look):
        made = own.loads(pickle.dumps(value, 4))
        again = own.loads(pickle.dumps(cyclic, 4))
    check(len(made) == 7 and made[2][2][2] == 1 and len(made[4]) == 2, "what was looked at: %r" % made)
    check(again[1].parts[0] is again and again[2] == 1, "a cycle that was looked at")
    check(set(seen) <= {2, 3, 7}, "lengths that were seen: %s" % sorted(set(seen)))


def failures_leave_nothing(build):
    """Code that raises at each of its turns: what was made goes, and the next load is whole."""
    module = guard(build, "values_guard")
    own = module.with_types(*CLASSES)
    shared = Job("s", [Hooked(1)])
    data = pickle.dumps([shared, {Key(i): [Hooked(i), shared] for i in range(6)}, {Key(9): shared}, Hooked(shared)], 4)
    turns = []

    def fail_at(turn, error):
        def does(self):
            turns.append(1)
            if len(turns) == turn:
                raise error
        return does

    def all_turns():
        for turn in range(1, 17):
            for error in (ValueError("no"), KeyboardInterrupt(), MemoryError()):
                del turns[:]
                does = fail_at(turn, error)
                with doing(Hooked, does), doing(Key, does), contextlib.suppress(module.RefusedError, KeyboardInterrupt, MemoryError):
                    own.loads(data)
                    check(len(turns) < turn, "turn %d was passed over" % turn)

    grown = least_growth(all_turns, 2)
    check(grown < 20, "%d left" % grown)
    check(len(own.loads(data)) == 4, "after failures")


# ---- other builds


def by_others(build):
    others = list(interpreters().items())
    pythons = {"CPython %d.%d.%d" % version: path for version, path in others[:1] + others[-1:]}
    if os.path.exists(DEBUG):
        pythons["debug build"] = DEBUG
    for name, path in pythons.items():
        run_by(check, build, path, name, __file__, GUARDS)


def main():
    build = sys.argv[1]
    if "--failing" in sys.argv:
        failing(build, sys.argv[-1])
        return tally.finish()
    tests = [calls_end_as_said, loads_again, classes_change_while_objects_are_made, no_part_is_seen, failures_leave_nothing,
             interrupts_leave_nothing, threads_share_all]
    if not sanitized():
        tests += [nothing_is_left, corpus_leaves_nothing]
    if not sanitized() and not DEBUG_BUILD:  # which takes some failures of its own for faults
        tests += [pythons_memory_ends, memory_ends]
    for test in tests:
        start = time.monotonic()
        tally.run((test,), build)
        if "--times" in sys.argv:
            print("%s %.1f" % (test.__name__, time.monotonic() - start), flush=True)
    if "--alone" not in sys.argv and not sanitized():
        by_others(build)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
