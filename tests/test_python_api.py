#!/usr/bin/python3
"""Policies as modules of CPython: what they offer, what they say of themselves, how they refuse, and that they leave nothing behind.

usage: test_python_api.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the modules are built into BUILD/python; --alone leaves that out.
"""
import ast
import copy
import ctypes
import decimal
import gc
import glob
import importlib
import inspect
import os
import pickle
import pydoc
import subprocess
import sys
import threading
import tracemalloc
import weakref

from guards import folder, guard, run_by_others, sanitized
from scratch import environment
from tally import Tally

tally = Tally()
check = tally.check

FUNCTIONS = {"loads", "load", "check", "inspect", "scan", "with_types", "Unpickler", "environment", "run"}
METHODS = FUNCTIONS | {"allow_fail_open"}  # of a Policy
ERRORS = {"RefusedError", "EmptyInputError", "UnpicklingError", "PickleError"}
GUARDS = {"values_guard": "policies/values.policy", "plain_guard": "policies/plain.policy",
          "exceptions_guard": "policies/exceptions.policy", "corpus_guard": "tests/policy/corpus.policy",
          "channels_guard": "tests/policy/ok/channels.policy", "api_guard": "tests/policy/python/api.policy"}
SYSTEM = pickle.dumps(os.system)
NOBODY = b"\x80\x04\x8c\x06nobody\x8c\x05Thing\x93)R}\x8c\x01aK\x01sb."  # nobody.Thing() with a state


class Raised:
    """`with Raised(Error) as got:` and then got.error."""

    def __init__(self, kind):
        self.kind, self.error = kind, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.error = error
        check(kind is not None and isinstance(error, self.kind), "%s was raised, not %s" % (kind, self.kind))
        return isinstance(error, Exception)


# ---- names and documents


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def names_are_as_promised(build):
    for name in ("values_guard", "plain_guard", "exceptions_guard", "api_guard"):
        check(public(guard(build, name)) == FUNCTIONS | ERRORS | {"Policy"}, "%s has %s" % (name, public(guard(build, name))))
    module = guard(build, "channels_guard")
    channels = {"own", "other", "both", "values"}
    check(public(module) == channels | ERRORS | {"Policy", "run"}, "channels_guard has %s" % public(module))
    for name in channels:
        channel = getattr(module, name)
        check(type(channel) is module.Policy and public(channel) == METHODS | ERRORS, "%s has %s" % (name, public(channel)))
        check("channel " + name in repr(channel) and channel.__name__ == name, repr(channel))
        check(all(getattr(channel, error) is getattr(module, error) for error in ERRORS), name + " has errors of its own")
    values = guard(build, "values_guard")
    check(values.UnpicklingError is pickle.UnpicklingError and values.PickleError is pickle.PickleError, "other errors than pickle's")
    check(issubclass(values.RefusedError, pickle.UnpicklingError), "RefusedError is no UnpicklingError")
    check(values.loads.__self__ is values.check.__self__ and type(values.loads.__self__) is values.Policy, "functions of two policies")


def a_policy_is_made_by_nobody_else(build):
    values = guard(build, "values_guard")
    policy = values.loads.__self__
    for make in (values.Policy, lambda: values.Policy.__new__(values.Policy), lambda: object.__new__(values.Policy),
                 lambda: copy.copy(policy), lambda: pickle.dumps(policy), lambda: type("Sub", (values.Policy,), {})):
        with Raised(TypeError):
            make()
    for change in (lambda: setattr(policy, "loads", None), lambda: delattr(policy, "Unpickler")):
        with Raised(AttributeError):
            change()


def stubs_name_what_there_is(build):
    for name in GUARDS:
        module = guard(build, name)
        with open(os.path.join(folder(build), name + ".pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        defined = {}
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                defined[node.name] = node
            elif isinstance(node, ast.Assign):
                defined[node.targets[0].id] = node
            elif isinstance(node, ast.AnnAssign):
                defined[node.target.id] = node
        wanted, named = public(module) | {"Unpickler"}, {n for n in defined if not n.startswith("_")}
        check(named == wanted, "%s.pyi: %s" % (name, named ^ wanted))
        members = {node.name if isinstance(node, ast.FunctionDef) else node.target.id for node in defined["Policy"].body}
        check(members == METHODS | ERRORS, "%s.pyi, Policy: %s" % (name, members))
        parts = {node.target.id for node in defined["RefusedError"].body}
        check(parts == public(module.RefusedError) - public(pickle.UnpicklingError), "%s.pyi, RefusedError: %s" % (name, parts))
        methods = {node.name: node for node in defined["Policy"].body if isinstance(node, ast.FunctionDef)}
        for function, node in methods.items():
            known = inspect.signature(getattr(module.Policy, function)).parameters.values()
            stub = [a.arg for a in node.args.posonlyargs + node.args.args] + [a.arg for a in node.args.kwonlyargs]
            stub += [node.args.vararg.arg] if node.args.vararg else []
            check([p.name for p in known] == stub, "%s.pyi, %s: %s" % (name, function, stub))


def help_says_what_is_admitted(build):
    text = pydoc.plain(pydoc.render_doc(guard(build, "values_guard")))
    for line in ("policy values 1", "root ", "budget depth 1_000", "datetime::datetime call(", "loads(", "buffers=None"):
        check(line in text, "help(values_guard) does not say `%s'" % line)
    module = guard(build, "channels_guard")
    check("channel own" in module.__doc__ and "m::A new()" in module.own.__doc__, "channels_guard: %s" % module.__doc__)
    check("m::A new()" not in module.values.__doc__ and "budget bytes 64KiB" in module.other.__doc__, "channels of one documentation")
    if sys.version_info >= (3, 9):  # before, help() of an object is that of its type
        check("m::A new()" in pydoc.plain(pydoc.render_doc(module.own)), "help(channels_guard.own)")
    check(len(guard(build, "exceptions_guard").__doc__) < 40000, "documentation without bound")
    for function in METHODS - {"Unpickler"}:
        check(getattr(module.own, function).__doc__, function + " has no documentation")


# ---- arguments


def arguments_are_judged(build):
    loads, values = guard(build, "values_guard").loads, guard(build, "values_guard")
    none = b"N."
    for arguments, options in (((), {}), ((none, none), {}), ((), {"data": none}), ((1,), {}), (("N.",), {}), ((None,), {}),
                               ((none,), {"nothing": 1}), ((none,), {"encoding": "latin1"}), ((none,), {"encoding": None}),
                               ((none,), {"errors": "ignore"}), ((none,), {"fix_imports": False}), ((none,), {"buffers": 1}),
                               ((none,), {"buffers": [1]}), ((none,), {"persistent_load": 1})):
        with Raised(TypeError) as got:
            loads(*arguments, **options)
        check("\n" not in str(got.error), str(got.error))
    with Raised(TypeError) as got:
        loads(none, encoding="bytes")
    check('encoding="ASCII"' in str(got.error), str(got.error))
    with Raised(BufferError):
        loads(memoryview(b"N.N.")[::2])
    check(loads(none, fix_imports=True, encoding="ASCII", errors="strict", buffers=None, persistent_load=None, cause=False) is None,
          "the defaults of pickle are refused")
    for function, options in ((values.check, {"cause": True}), (values.inspect, {"encoding": "ASCII"}), (values.scan, {"form": "repr"}),
                              (values.inspect, {"form": 1})):
        with Raised(TypeError):
            function(none, **options)
    with Raised(ValueError):
        values.inspect(none, form="yaml")


def all_buffers_are_read(build):
    values = guard(build, "values_guard")
    data = pickle.dumps([1, b"x" * 200000, "y"], 4)
    for given in (bytearray(data), memoryview(data), memoryview(bytearray(data)), type("Own", (bytes,), {})(data),
                  (ctypes.c_char * len(data)).from_buffer_copy(data)):
        check(values.loads(given) == pickle.loads(data), "%s: another value" % type(given))
    resized = bytearray(data)
    values.loads(resized)
    resized.append(0)  # nobody holds it any more
    over = bytearray(b"B" + (2 << 20).to_bytes(4, "little") + bytes(2 << 20) + b".")
    with Raised(guard(build, "api_guard").RefusedError) as got:
        guard(build, "api_guard").loads(over)
    check(got.error.code == "R301", str(got.error))
    over.append(0)


def buffers_are_out_of_band(build):
    api = guard(build, "api_guard")
    seen = []

    def many():
        while True:
            seen.append(1)
            yield b"abc"

    parts = []
    data = pickle.dumps([pickle.PickleBuffer(b"abc"), pickle.PickleBuffer(bytearray(b"def"))], 5, buffer_callback=parts.append)
    check([bytes(x) for x in api.loads(data, buffers=parts)] == [b"abc", b"def"], "buffers")
    check([bytes(x) for x in api.loads(data, buffers=many())] == [b"abc", b"abc"], "buffers of a generator")
    check(len(seen) <= len(data), "%d buffers taken for %d bytes" % (len(seen), len(data)))
    own = bytearray(b"def")
    made = api.loads(data, buffers=[b"abc", own])
    check(made[1] is own, "a buffer is copied")
    with Raised(api.RefusedError) as got:
        api.loads(data, buffers=[b"abc"])
    check(got.error.code == "R116", str(got.error))
    with Raised(api.RefusedError):
        api.loads(data)
    with Raised(ZeroDivisionError):
        api.loads(data, buffers=(1 // 0 for _ in "x"))
    with Raised(BufferError):
        api.loads(data, buffers=[memoryview(b"abcd")[::2], b""])
    check(api.check(data, buffers=parts) is None, "check with buffers")
    check("abc" in api.inspect(data, buffers=[b"abc", b"def"], form="json") or api.inspect(data, buffers=parts), "inspect with buffers")


# ---- refusals


def refusals_have_parts(build):
    values = guard(build, "values_guard")
    with Raised(values.RefusedError) as got:
        values.loads(pickle.dumps({"id": [1, os.system]}, 4))
    e = got.error
    check((e.code, e.cls, e.opcode, e.module, e.name, e.path) == ("R201", "global", "STACK_GLOBAL", "posix", "system", "$.id[1]"), str(vars(e)))
    check(e.rule is None and e.grant is None and e.change is None and isinstance(e.offset, int), str(vars(e)))
    with Raised(values.RefusedError) as got:
        values.loads(NOBODY)
    check(got.error.grant and "class Thing call()" in got.error.grant and "state" in got.error.grant, str(vars(got.error)))
    check("\n    grant: %s\n    in Python: " % got.error.grant in str(got.error), str(got.error))
    with Raised(values.RefusedError) as got:
        values.loads(b"\x80\x03cdatetime\ntimedelta\nX\x01\x00\x00\x00dK\x00K\x00\x87R.")
    check(got.error.code == "R205" and got.error.rule.startswith("std/datetime.policy:") and got.error.change, str(vars(got.error)))
    with Raised(values.RefusedError) as got:
        values.loads(b"")
    check((got.error.code, got.error.cls, got.error.offset, got.error.opcode) == ("R101", "truncated", 0, None), str(vars(got.error)))
    with Raised(values.RefusedError) as got:
        values.loads(b"\x80\x04\x8c\x04no\n\x1b\x8c\x01x\x93.")
    check("\x1b" not in str(got.error) and all(32 <= ord(c) < 127 for c in got.error.module), repr(got.error.module))


def refusals_are_what_the_tools_say(build):
    values, path = guard(build, "values_guard"), os.path.join(folder(build), "refused.%d.pkl" % os.getpid())
    policyc = os.path.join(build, "policyc")
    for data in (SYSTEM, NOBODY, b"", b"x", b"\x80\x04K\x01", pickle.dumps([1])[:-1], b"]" * 1001 + b"a" * 1000 + b"."):
        with open(path, "wb") as file:
            file.write(data)
        done = subprocess.run([policyc, "try", "policies/values.policy", "--policy-dir", "policies", path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=environment(LD_PRELOAD=""))
        with Raised(values.RefusedError) as got:
            values.loads(data)
        text, _, opt_in = str(got.error).partition("\n    in Python: ")
        check(text == done.stdout.decode().rstrip("\n"), "%r:\n%s\n%s" % (data[:40], got.error, done.stdout.decode()))
        check(("with_types(" in opt_in) == (got.error.grant is not None), "%r: %s" % (data[:40], opt_in))
    os.remove(path)


def refusals_are_pickled_and_copied(build):
    values = guard(build, "values_guard")
    with Raised(values.RefusedError) as got:
        values.loads(NOBODY)
    for protocol in range(6):
        other = pickle.loads(pickle.dumps(got.error, protocol))
        check(type(other) is values.RefusedError and vars(other) == vars(got.error) and str(other) == str(got.error), "protocol %d" % protocol)
    check(vars(copy.deepcopy(got.error)) == vars(got.error), "a deep copy")
    check(values.RefusedError("own").code is None, "a part without a refusal")


def failures_of_constructors_are_wrapped(build):
    values = guard(build, "api_guard")
    data = b"\x80\x03cdatetime\ntimezone\ncdatetime\ntimedelta\nK\x64K\x00K\x00\x87R\x85R."  # 100 days off UTC
    for options in ({}, {"cause": True}):
        with Raised(values.RefusedError) as got:
            values.loads(data, **options)
        e = got.error
        check((e.code, e.cls, e.name, e.path) == ("R223", "native", "timezone", "$"), str(vars(e)))
        check(e.__context__ is None and e.__suppress_context__ and isinstance(e.__cause__, ValueError) == bool(options), repr(e.__cause__))
        check("ValueError: offset must be" in str(e) and e.rule.startswith("std/datetime.policy:"), str(e))
    check(values.check(data) is None, "check builds")


def inert_looks(build):
    values = guard(build, "values_guard")
    check(values.check(pickle.dumps([1])) is None, "check")
    with Raised(values.RefusedError):
        values.check(SYSTEM)
    check(values.inspect(SYSTEM) == "posix.system" == values.inspect(SYSTEM, form="repr"), values.inspect(SYSTEM))
    check("posix" in values.inspect(SYSTEM, form="tree") and values.inspect(pickle.dumps(["\ud800"]), form="tree"), "tree")
    check('"$' in values.inspect(SYSTEM, form="json"), values.inspect(SYSTEM, form="json"))
    found = values.scan(SYSTEM)
    name = found["names"][0]
    check((name["module"], name["qualname"], name["uses"], name["dangerous"], name["opcode"]) == ("posix", "system", 1, True, "STACK_GLOBAL"),
          str(found))
    check(found["protocol"] == pickle.DEFAULT_PROTOCOL and found["opcodes"]["STOP"] == 1 and found["budgets"]["bytes"] == len(SYSTEM)
          and not found["cyclic"] and name["offset"] == SYSTEM.index(b"\x93"), str(found))
    for function in (values.scan, values.inspect):
        with Raised(values.RefusedError):
            function(b"\x80\x04K")
    large = pickle.dumps(list(range(50000)))
    check(values.scan(large)["budgets"]["items"] == 50000 and len(values.inspect(large)) > 50000, "large")


def persistent_ids(build):
    api = guard(build, "api_guard")
    data, asked = b"(lP7\naI3\nQa.", []
    for function in (api.loads, api.check):
        with Raised(api.RefusedError) as got:
            function(data)
        check(got.error.code == "R215" and got.error.path == "$[0]", str(got.error))
    check(api.loads(data, persistent_load=lambda pid: asked.append(pid) or [pid]) == [["7"], [3]] and asked == ["7", 3], str(asked))
    check(api.check(data, persistent_load=lambda pid: 1 // 0) is None, "check calls persistent_load")
    with Raised(api.RefusedError):
        api.loads(data[:-1] + b"(.", persistent_load=lambda pid: asked.append("late"))
    check("late" not in asked, "persistent_load is called for a stream that is refused")


# ---- processes


def several_guards_share_nothing(build):
    modules = [guard(build, name) for name in GUARDS]
    check(len({module.RefusedError for module in modules}) == len(modules), "one RefusedError for several modules")
    moment = pickle.dumps(decimal.Decimal("1.5"))
    check(guard(build, "values_guard").loads(moment) == decimal.Decimal("1.5"), "Decimal")
    with Raised(guard(build, "plain_guard").RefusedError) as got:
        guard(build, "plain_guard").loads(moment)
    check(not isinstance(got.error, guard(build, "values_guard").RefusedError), "the refusal of another module")
    own, other = guard(build, "channels_guard").own, guard(build, "channels_guard").values
    for policy, wanted in ((own, False), (other, True)):
        try:
            check(policy.loads(pickle.dumps([1])) == [1] and wanted, repr(policy))
        except policy.RefusedError:
            check(not wanted, repr(policy))


def a_module_goes_when_nobody_has_it(build):
    guard(build, "plain_guard")
    kept = sys.modules.pop("plain_guard")
    again = importlib.import_module("plain_guard")
    check(again is not kept and again.RefusedError is not kept.RefusedError and again.loads(b"N.") is None, "a second module")
    kept.self = kept.loads  # a cycle
    with Raised(again.RefusedError):
        again.loads(b"")
    traces = weakref.ref(kept), weakref.ref(kept.RefusedError), weakref.ref(kept.Policy)
    del kept
    for _ in range(3):
        gc.collect()
    check([trace() for trace in traces] == [None] * 3, "what is left of a module: %s" % [trace() for trace in traces])
    sys.modules["plain_guard"] = again
    loads = importlib.reload(again).loads
    check(loads(b"N.") is None, "reload")


def threads_do_not_meet(build):
    values = guard(build, "values_guard")
    large, small = pickle.dumps([list(range(30000)), "x" * 100000]), pickle.dumps({"a": [1, 2.5]})
    wanted, bad = pickle.loads(large), []

    def work(n):
        try:
            for i in range(30):
                if values.loads(small) != {"a": [1, 2.5]} or (i + n) % 10 == 0 and values.loads(large) != wanted:
                    bad.append(n)
                try:
                    values.loads(large[:-1] + b"0")
                    bad.append("accepted")
                except values.RefusedError:
                    pass
        except BaseException as e:
            bad.append(e)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    check(not bad, "threads: %s" % bad[:3])


def allocated():
    """Bytes that malloc has given out; 0 where it does not say."""
    libc = ctypes.CDLL(None)
    if sanitized() or not hasattr(libc, "mallinfo2"):
        return 0

    class Info(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

    libc.mallinfo2.restype = Info
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def calls_leave_nothing(build):
    values = guard(build, "values_guard")
    data = pickle.dumps({"a": [1, "text", 2.5, b"bytes"], "b": (None, True), "c": {1, 2}, "d": decimal.Decimal("1.25")})
    view, parts = bytearray(data), []
    api = guard(build, "api_guard")
    banded = pickle.dumps(pickle.PickleBuffer(b"abc"), 5, buffer_callback=parts.append)
    options = {"buffers": parts, "persistent_load": len}
    held = (data, view, banded, parts, len, SYSTEM, NOBODY, values.RefusedError)

    def once():
        values.loads(data)
        values.loads(view)
        values.check(data)
        api.loads(banded, **options)
        values.inspect(data, form="json")
        values.scan(SYSTEM)
        for bad in (SYSTEM, NOBODY, b"", data[:-1]):
            try:
                values.loads(bad, cause=True)
            except values.RefusedError:
                pass
        try:
            values.loads(data, encoding="utf-8")
        except TypeError:
            pass

    rounds = 200 if sanitized() else 5000
    for _ in range(rounds):  # tables of the interpreter grow, once
        once()
    gc.collect()
    counts, blocks, before = [sys.getrefcount(x) for x in held], sys.getallocatedblocks(), allocated()
    for _ in range(rounds):
        once()
    gc.collect()
    after = [sys.getrefcount(x) for x in held]
    # The interpreter's own caches move such numbers by a little; what each call leaves would move them by `rounds`.
    check(all(abs(a - b) < 20 for a, b in zip(counts, after)), "references: %s" % [b - a for a, b in zip(counts, after)])
    check(abs(sys.getallocatedblocks() - blocks) < rounds // 4, "blocks: %d more" % (sys.getallocatedblocks() - blocks))
    check(allocated() - before < 8 * rounds, "malloc: %d bytes more" % (allocated() - before))
    tracemalloc.start()
    once()
    start = tracemalloc.get_traced_memory()[0]
    for _ in range(100):
        once()
    gc.collect()
    check(tracemalloc.get_traced_memory()[0] - start < 20000, "traced: %d bytes more" % (tracemalloc.get_traced_memory()[0] - start))
    tracemalloc.stop()


def memory_is_kept_within_bounds(build):
    if sanitized():
        return
    values = guard(build, "values_guard")
    data = pickle.dumps([[i] for i in range(300000)])
    values.loads(b"N.")
    gc.collect()
    before = allocated()
    for _ in range(2):
        values.check(data)
    check(allocated() - before < 10 << 20, "%d bytes are kept" % (allocated() - before))


WITHOUT_MEMORY = """
import sys, _testcapi
sys.path[:0] = {path!r}
import values_guard as values, api_guard as api, pickle, decimal, datetime, io
parts = []
banded = pickle.dumps([pickle.PickleBuffer(b"abc")], 5, buffer_callback=parts.append)
good = [[1, 2.5, "text", "\xfc", b"x", {{"a": (1 << 70, None)}}, {{1, 2}}], decimal.Decimal("1.5"), datetime.date(2024, 2, 29)]
data = pickle.dumps(good)
file = io.BytesIO(data)
tries = (("loads", lambda: values.loads(data), good), ("bytearray", lambda: values.loads(bytearray(data)), good),
         ("buffers", lambda: api.loads(banded, buffers=parts) and 1, 1), ("json", lambda: values.inspect(data, form="json") and 1, 1),
         ("scan", lambda: values.scan(data)["protocol"] and 1, 1), ("load", lambda: file.seek(0) or values.load(file), good),
         ("refused", lambda: values.loads(data[:-1]), None), ("not granted", lambda: values.loads(b"cno\\nno\\n."), None))
for name, function, wanted in tries:
    n = went_well = 0
    while went_well < 3:
        n += 1
        assert n < 5000, name
        made = error = None
        _testcapi.set_nomemory(n, n + 1)
        try:
            made = function()
        except BaseException as e:
            error = e
        _testcapi.remove_mem_hooks()
        if isinstance(error, MemoryError) or "MemoryError" in str(error):
            continue
        assert made == wanted and (error is None) == (wanted is not None), (name, n, made, error)
        assert error is None or isinstance(error, values.RefusedError), (name, n, error)
        went_well += 1
"""


def memory_may_run_out(build):
    """Each allocation of Python's fails once."""
    try:
        importlib.import_module("_testcapi")
    except ImportError:
        print("no _testcapi: failing allocations are not tried by this Python")
        return
    done = subprocess.run([sys.executable, "-c", WITHOUT_MEMORY.format(path=[folder(build)])], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, "without memory: %d %s" % (done.returncode, done.stdout.decode()[-2000:]))


INTERPRETERS = """
import sys
sys.path[:0] = {path!r}
import values_guard, channels_guard, pickle, decimal
data = pickle.dumps([1, "x", decimal.Decimal("1.5")])
for _ in range(3):
    assert values_guard.loads(data) == [1, "x", decimal.Decimal("1.5")]
    assert channels_guard.values.loads(pickle.dumps([1])) == [1]
    try:
        values_guard.loads(b"cos\\nsystem\\n.")
    except values_guard.RefusedError as e:
        assert e.code == "R201"
    else:
        raise AssertionError
"""


def interpreters_have_their_own(build):
    code = INTERPRETERS.format(path=[folder(build)])
    script = ("import %s as api\n"
              "import sys\n"
              "sys.path[:0] = [%r]\n"
              "import values_guard\n"
              "code = %r\n"
              "exec(code)\n"
              "for _ in range(3):\n"
              "    made = api.create()\n"
              "    error = api.%s(made, code)\n"
              "    assert not error, error\n"
              "    api.destroy(made)\n"
              "    values_guard.loads(b'N.')\n"
              "exec(code)\n")
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    run = "exec" if sys.version_info >= (3, 13) else "run_string"
    done = subprocess.run([sys.executable, "-c", script % (name, folder(build), code, run)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, "sub-interpreters: %d %s" % (done.returncode, done.stdout.decode()[-2000:]))


def only_one_symbol_is_visible(build):
    for path in sorted(glob.glob(folder(build) + "/*_guard.*.so")):
        done = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, check=True, env=environment(LD_PRELOAD=""))
        shown = {line.split()[-1] for line in done.stdout.decode().splitlines()}
        name = os.path.basename(path).partition(".")[0]
        check(shown - {"__odr_asan_gen_" + s for s in shown} == {"PyInit_" + name}, "%s shows %s" % (path, sorted(shown)[:5]))


def main():
    build = sys.argv[1]
    tally.run((names_are_as_promised, a_policy_is_made_by_nobody_else, stubs_name_what_there_is, help_says_what_is_admitted,
               arguments_are_judged, all_buffers_are_read, buffers_are_out_of_band, refusals_have_parts, refusals_are_what_the_tools_say,
               refusals_are_pickled_and_copied, failures_of_constructors_are_wrapped, inert_looks, persistent_ids,
               several_guards_share_nothing, a_module_goes_when_nobody_has_it, threads_do_not_meet, calls_leave_nothing,
               memory_is_kept_within_bounds, memory_may_run_out, interpreters_have_their_own, only_one_symbol_is_visible), build)
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
