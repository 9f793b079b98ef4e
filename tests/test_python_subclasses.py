#!/usr/bin/python3
"""Rows of `subclasses of` in CPython, decode_exception with them; and names without a row under threads, in sub-interpreters, where memory
ends, and what calls leave behind.

usage: test_python_subclasses.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.
"""
import builtins
import gc
import os
import subprocess
import sys
import threading

import open_samples as samples
import tblib_samples
from assemble import assemble, call, new, ref
from guards import guard, run_by_others, sanitized
from open_samples import RAN
from test_python_open import GUARDS, check, dumps, node, refusal, tally


def subclasses(g):
    policy = g.exception
    for error in (samples.Acts("x", [1]), samples.Outer.Inner("kept", 2), OSError(2, "no", "file"), KeyError("k"), ImportError("x"),
                  ValueError("v"), samples.Remote(2, "no", "file"), BlockingIOError(11, "later"),
                  UnicodeEncodeError("ascii", "\xe9", 0, 1, "r"), SyntaxError("m", ("f", 1, 2, "text")), StopIteration(3)):
        data = dumps(error)
        del RAN[:]
        made = policy.loads(data)
        check(not RAN, "%s ran" % RAN)
        check(type(made) is type(error) and made.args == error.args and str(made) == str(error), "%r: %r" % (error, made))
        for name in ("errno", "strerror", "filename", "value", "lineno", "start", "reason", "text"):
            check(getattr(made, name, None) == getattr(error, name, None), "%r: %s" % (error, name))
    error = samples.TwoArguments(7, "x")
    made = policy.loads(dumps(error))
    check(type(made) is samples.TwoArguments and made.args == ("7: x",) and made.code == 7 and str(made) == "7: x", "%r" % made)
    made = policy.loads(assemble(call("open_samples::Codec", "only words", state=[{"note": [1]}]), 4))
    check(type(made) is samples.Codec and made.args == ("only words",) and made.note == [1] and isinstance(str(made), str), "%r" % made)
    group = getattr(builtins, "ExceptionGroup", None)
    if group:
        made = policy.loads(dumps(group("g", [samples.Acts(1), group("h", [KeyError(2)])])))
        check(type(made) is group and type(made.exceptions[0]) is samples.Acts and made.exceptions[1].exceptions[0].args == (2,), "%r" % made)
    for name, code in (("builtins::SystemExit", "R219"), ("open_samples::Interrupt", "R219"), ("open_samples::Bare", "R219"),
                       ("open_samples::Mode", "R219"), ("open_samples::Mode.FAST", "R218"), ("open_samples::Secret", "R224"),
                       ("open_samples::Told", "R224"), ("subprocess::Popen", "R201"), ("open_samples::Missing", "R217")):
        refusal(policy, assemble(call(name), 4), codes=(code,))
    refusal(policy, assemble(call("open_samples::Hooked", 1), 4), "recipe", ("R222",))
    refusal(policy, assemble(call("open_samples::Acts", 1, state=[{"__cause__": 1}]), 4), "native", ("R223",))
    made = policy.loads(assemble(new("open_samples::Deep.Inner", state=[{"x": 1}]), 4))
    check(type(made) is samples.Deep.Inner and made.x == 1, "a nested subclass")
    refusal(policy, assemble(new("open_samples::Held", state=[{"x": 1}]), 4), "recipe", ("R222",))
    made = policy.loads(assemble(call("open_samples::Bench", 1, items=[2, 3]), 4))
    check(type(made) is samples.Bench and made == [2, 3] and made.args == (1,), "a call of what is no exception")
    # The nearest base's row holds: `new` with a state of Job, `call` of Part.
    check(type(policy.loads(assemble(new("open_samples::JobPart", state=[{}]), 4))) is samples.JobPart, "nearest: Job")
    check(policy.loads(assemble(call("open_samples::PartJob", 5), 4)).args == (5,), "nearest: Part")
    refusal(policy, assemble(call("open_samples::JobPart", 5), 4), "recipe", ("R205",))
    refusal(policy, assemble(new("open_samples::PartJob", state=[{}]), 4), "recipe", ("R205",))


def base_that_is_object(g):
    """A base's name that stands for `object`, or for nothing, admits nothing."""
    own = samples.Job
    for other in (object, type, 7, samples.shutil, None):
        samples.Job = other
        try:
            refusal(g.exception, assemble(new("open_samples::Bare", state=[{}]), 4), codes=("R219",))
        finally:
            samples.Job = own
    del samples.Job
    try:
        refusal(g.exception, assemble(new("open_samples::Deep", state=[{}]), 4), codes=("R219",))
    finally:
        samples.Job = own


IN_THE_MAKING = """
import sys
sys.path[:0] = %r
import open_guard, open_samples
from assemble import assemble, call

class Meta(type):
    def mro(cls):
        for policy in (open_guard.exception, open_guard.objects.allow_fail_open()):
            try:
                policy.with_types(cls)
            except ValueError as error:
                print("not made yet" in str(error))
            open_samples.Half = cls
            try:
                policy.loads(assemble(call("open_samples::Half"), 4))
            except open_guard.RefusedError as error:
                print(error.code)
        return type.mro(cls)

Meta("Half", (open_samples.Job,), {"__module__": "open_samples"})
open_samples.Job.__subclasses__()
print("made")
"""


def class_in_the_making(g):
    """While a metaclass's mro() runs, its class has no order of inheritance."""
    code = IN_THE_MAKING % [os.path.dirname(g.__file__), os.path.dirname(os.path.abspath(__file__))]
    done = subprocess.run([sys.executable, "-B", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode()
    check(done.returncode == 0 and said == "True\nR218\nTrue\nR218\nmade\n", "%d %s" % (done.returncode, said[-2000:]))


def ladder(g):
    try:
        raise KeyError(1)
    except KeyError as error:
        trace = tblib_samples.Traceback(error.__traceback__)
    words = dumps((("open_samples", "Acts", "said", ["d"]), None))
    for error in (samples.Acts("x"), samples.Outer.Inner(1), samples.TwoArguments(1, "y")):
        del RAN[:]
        made = g.decode_exception(dumps((error, trace)), words)
        check(type(made) is type(error) and made.args == error.args and made.__remote_denials__ == ("d",), "%r" % made)
        check(type(made.__remote_traceback__) is tblib_samples.Traceback and "__init__ of Acts" not in RAN, "%s" % RAN)
    for data in (dumps((samples.Secret("x"), trace)), dumps((SystemExit(1), trace)), dumps(samples.Bare)):
        made = g.decode_exception(data, words)
        check(type(made) is samples.Acts and str(made) == "said" and isinstance(made.__remote_refusal__, g.RefusedError), "%r" % made)
    made = g.decode_exception(dumps(samples.Acts("y")), words, exception=g.objects)
    check(made.__remote_refusal__.code == "R904", "without consent")
    made = g.decode_exception(dumps(samples.TwoArguments.__new__(samples.TwoArguments, 1, 2)), words, exception=g.objects.allow_fail_open())
    check(type(made) is samples.TwoArguments, "with consent: %r" % made)


# ---- threads, interpreters, memory


def large(n=6000):
    """More than a guard reads with the GIL held, with a name at its end."""
    return dumps([["text %d" % i, i] for i in range(n)] + [samples.Bare(), samples.Mode.FAST, samples.Pair(1, 2)], 4)


def threads(g):
    policy, data, wrong = g.objects.allow_fail_open(), large(), []
    check(len(data) > 64 << 10, "%d bytes" % len(data))
    bad = data[:-1] + b"0" + assemble(ref("open_samples::Missing"), 4)[2:]
    stop, own = threading.Event(), samples.Pair

    def loads():
        for i in range(15):
            made = policy.loads(data)
            if type(made[-3]) is not samples.Bare or made[-2] is not samples.Mode.FAST or made[-1] != (1, 2):
                wrong.append(repr(made[-3:]))
            try:
                policy.loads(bad)
                wrong.append("not refused")
            except g.RefusedError as error:
                if error.code != "R217":
                    wrong.append(str(error))

    def rebinds():
        while not stop.is_set():
            samples.Pair = type("Pair", (own,), {"__module__": "open_samples"})
            samples.Pair = own

    workers = [threading.Thread(target=loads) for _ in range(4)]
    other = threading.Thread(target=rebinds)
    for thread in workers + [other]:
        thread.start()
    for thread in workers:
        thread.join()
    stop.set()
    other.join()
    check(not wrong, "%s" % wrong[:3])


IN_ANOTHER = """
import enum, sys, types
sys.path[:0] = %r
import open_guard
inner = sys.modules["open_inner"] = types.ModuleType("open_inner")
inner.Bare = type("Bare", (), {"__module__": "open_inner"})
inner.Mode = enum.Enum("Mode", "FAST SLOW", module="open_inner")
policy = open_guard.objects.allow_fail_open()
for data in %r:
    made = policy.loads(data)
    assert type(made[-2]) is inner.Bare and made[-1] is inner.Mode.FAST, made
try:
    policy.loads(%r)
    raise SystemError("not refused")
except open_guard.RefusedError as error:
    assert error.code == "R224", error
"""


def interpreters(g):
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    named = [call("open_inner::Bare"), ref("open_inner::Mode.FAST")]
    data = [assemble(["text"] * n + named, 4) for n in (1, 16 << 10)]
    code = IN_ANOTHER % ([os.path.dirname(g.__file__)], data, assemble(ref("sys::exit"), 4))
    rounds = 1 if sys.version_info[:2] == (3, 12) else 3  # whose decimal does not survive a second one
    lines = ["import sys, %s as i" % name, "code = sys.stdin.read()", "for _ in range(%d):" % rounds, "    one = i.create()",
             "    failed = i.run_string(one, code)", "    assert not failed, failed", "    i.destroy(one)"]
    done = subprocess.run([sys.executable, "-B", "-c", "\n".join(lines)], input=code.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    check(done.returncode == 0, "sub-interpreters: %d %s" % (done.returncode, done.stdout.decode()[-2000:]))


def nothing_is_left(g):
    """References and memory after many calls of each kind."""
    policy, counts = g.objects.allow_fail_open(), []
    good = [dumps(node(2, 3)), dumps([samples.Acts, samples.Mode.FAST, samples.Stack((1, 2)), samples.Outer.Inner])]
    errors = [dumps(samples.Acts("x")), dumps(samples.TwoArguments(1, 2))]
    names = ("os::system", "json::nothing", "nothing::x", "open_samples::tidy", "open_samples::Told", "open_samples::Unnamed")
    bad = [assemble(ref(name), 4) for name in names]
    bad += [assemble([call("open_samples::Bare"), call("open_samples::Turns")], 4),
            assemble(call("builtins::UnicodeDecodeError", "u", b"", 1, 2, ""), 4)]
    watched = (samples.Bare, samples.Acts, samples.Mode, samples.Mode.FAST, samples.Node, samples.Stack, samples.tidy)

    def once():
        for data in good:
            policy.loads(data)
            policy.check(data)
        for data in errors:
            g.exception.loads(data)
        for data in bad:
            for of in (policy, g.exception):
                try:
                    of.loads(data)
                except g.RefusedError:
                    pass

    for _ in range(6):
        for _ in range(100):
            once()
        gc.collect()
        counts.append(([sys.getrefcount(o) for o in watched], sys.getallocatedblocks()))
    check(counts[-1][0] == counts[1][0], "references: %s" % counts)
    # Python's own caches grow at times, and in the end do not.
    check(min(late[1] - early[1] for early, late in zip(counts, counts[1:])) < 60, "blocks: %s" % [c[1] for c in counts])


def memory_ends(g):
    """MemoryError wherever an allocation of Python fails, and all is well after."""
    try:
        from _testcapi import set_nomemory, remove_mem_hooks
    except ImportError as error:
        print("not run: allocations that fail: %s" % error)
        return
    policy = g.objects.allow_fail_open()
    names = [("open_samples", "Acts"), ("builtins", "OSError")]
    if sys.version_info < (3, 13):  # which does not survive a class statement where memory ends
        names += [("subprocess", "CalledProcessError"), ("builtins", "KeyError")]
    words = [dumps(((*name, "said", [], None), None)) for name in names]
    cases = [(policy.loads, dumps([samples.Bare(), samples.Mode.FAST, samples.Pair(1, 2), samples.Stack((1,)), samples.Front()])),
             (g.exception.loads, dumps(samples.Acts("x"))), (g.exception.loads, dumps(OSError(2, "x"))),
             (policy.loads, assemble(ref("open_samples::tidy"), 4)), (policy.loads, assemble(ref("open_samples::Mode.FAST"), 4)),
             (g.decode_exception, dumps(SyntaxError("m", ("f", 1, 2, "x")))), (g.decode_exception, dumps(KeyError([1, {2: (3, {4})}]))),
             *((lambda data: g.decode_exception(None, data), data) for data in words)]
    for loads, data in cases:
        at = well = failed = 0
        while well < 20 and at < 2000:
            error, at = None, at + 1
            set_nomemory(at, at + 1)
            try:
                made = loads(data)
            except BaseException as raised:
                error = raised
            remove_mem_hooks()
            if isinstance(error, MemoryError) or "MemoryError" in str(error) or "cannot be printed" in str(error) or (
                    error is None and type(made) is g.RemoteError):
                failed, well = failed + 1, 0
            else:
                check(error is None or error.code == "R224", "allocation %d: %r" % (at, error))
                well += 1
            del error
        check(at < 2000 and failed > 5, "%d of %d failed" % (failed, at))


def main():
    g = guard(sys.argv[1], "open_guard")
    tblib_samples.install()
    tests = [subclasses, base_that_is_object, class_in_the_making, ladder, threads, interpreters]
    if not sanitized():
        tests += [nothing_is_left, memory_ends]
    tally.run(tests, g)
    run_by_others(check, sys.argv[1], __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
