#!/usr/bin/python3
"""Exceptions of rows of subclasses, and by decode_exception, are harmless: each built-in class with hostile arguments and attributes is
refused, or raised and printed within the time and memory of what was sent.

usage: test_python_printed.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.
"""
import builtins
import collections
import fractions
import pickle
import resource
import sys
import time
import traceback

import tblib_samples
from assemble import assemble, call, new, ref
from guards import guard, run_by_others, sanitized
from tally import Tally

tally = Tally()
check = tally.check

GUARDS = {"open_guard": "tests/policy/python/open.policy", "pysandboxes_guard": "policies/pysandboxes.policy"}
MEMORY = 3 << 30  # of the process
SECONDS = 3.0
LONGEST = 1 << 19  # 100,000 carets below a line that is indented as far, and a traceback
ENDLESS = call("builtins::range", 10**12)
NUMBERS = [0, -1, -2, 1, 100_000, 100_001, 10**9, 2**31, 2**63 - 1, 2**63, -(2**63), 10**300]
VALUES = NUMBERS + [1.5, float("inf"), None, True, "", "x", "line\n" * 50, b"", b"x", [], (), {}, [1, "x"], ("a", 1), ENDLESS,
                    call("builtins::ValueError", 1), call("builtins::slice", 0, 10**12, 1), ref("builtins::ValueError")]
if sanitized():  # which is slow
    del VALUES[::2]
EXCEPTIONS = sorted((cls for cls in vars(builtins).values() if isinstance(cls, type) and issubclass(cls, Exception)), key=lambda cls: cls.__name__)
OWN = {"args", "name", "name_from", "obj", "path", "__notes__", "exceptions", "characters_written", "lineno", "offset", "end_lineno", "end_offset", "text",
       "filename", "msg", "print_file_and_line", "start", "end", "object", "reason", "encoding", "errno", "strerror", "value"}
INTERNAL = ("__cause__", "__context__", "__traceback__", "__suppress_context__", "__class__", "__dict__")


def printed(error):
    try:
        raise error
    except Exception as raised:
        return "".join(traceback.format_exception(type(raised), raised, raised.__traceback__)) + repr(raised)


def loaded(g, policy, data, what):
    """What it was loaded as, or None; either way soon."""
    began = time.process_time()
    try:
        made = policy.loads(data)
    except g.RefusedError:
        made = None
    took = time.process_time() - began
    check(took < SECONDS, "%s: loaded in %.1f seconds" % (what, took))
    return made


def harmless(g, policy, value, what):
    """Is it accepted?  Then it has been printed."""
    data = value if isinstance(value, bytes) else assemble(value, 4)
    made = loaded(g, policy, data, what)
    if not isinstance(made, Exception):
        return made is not None
    began = time.process_time()
    try:
        length = len(printed(made))
    except Exception as error:
        check(False, "%s: printing it raises %r" % (what, error))
        return True
    took = time.process_time() - began
    check(length <= LONGEST + 20 * len(data) and took < SECONDS, "%s: %d characters in %.1f seconds" % (what, length, took))
    return True


def policies(g):
    return (g.exception, g.objects.allow_fail_open())


def arguments_of_all(g):
    accepted = 0
    for policy in policies(g):
        for cls in EXCEPTIONS:
            name = "builtins::" + cls.__name__
            for value in VALUES:
                for make in (call, new):
                    for args in ((value,), (value, value), ("x", value), (1, "x", value), ("x", value, 1, "x", value), ("utf-8", b"abc", value, 2, "r"),
                                 ("utf-8", b"abc", 1, value, "r"), ("utf-8", "abc", value, value, "r"), ("abc", value, 2, "r"), ("abc", 0, value, "r")):
                        accepted += harmless(g, policy, make(name, *args), "%s of %.100r" % (name, args))
    check(accepted > 20 * len(EXCEPTIONS), "%d accepted" % accepted)


def attributes_of_all(g):
    """Also those that only the class of some other exception has."""
    accepted = 0
    for policy in policies(g):
        for cls in EXCEPTIONS:
            args = {"UnicodeDecodeError": ("utf-8", b"abc", 0, 1, "r"), "UnicodeEncodeError": ("utf-8", "abc", 0, 1, "r"), "UnicodeTranslateError": ("abc", 0, 1, "r"),
                    "ExceptionGroup": ("g", [call("builtins::ValueError", 1)]), "BlockingIOError": (11, "later", 5)}.get(cls.__name__, ("m",))
            for name in OWN:
                for value in VALUES:
                    sent = call("builtins::" + cls.__name__, *args, state=[{name: value}])
                    accepted += harmless(g, policy, sent, "%s with %s %.100r" % (cls.__name__, name, value))
            for name in INTERNAL:
                for value in (None, 1, call("builtins::ValueError", 1)):
                    sent = call("builtins::" + cls.__name__, *args, state=[{name: value}])
                    check(loaded(g, policy, assemble(sent, 4), name) is None, "%s with %s" % (cls.__name__, name))
    check(accepted > 20 * len(EXCEPTIONS), "%d accepted" % accepted)


def places_of_syntax_errors(g):
    """Each place alone, and all together, as arguments and as attributes."""
    honest = ["f.py", 1, 2, "text", 1, 3]
    names = ["filename", "lineno", "offset", "text", "end_lineno", "end_offset"]
    for cls in ("SyntaxError", "IndentationError", "TabError"):
        for place in range(6):
            for value in VALUES:
                details = list(honest)
                details[place] = value
                for policy in policies(g):
                    for sent in (call("builtins::" + cls, "m", tuple(details)), call("builtins::" + cls, "m", tuple(honest), state=[{names[place]: value}]),
                                 call("builtins::" + cls, "m", state=[dict(zip(names, details))])):
                        harmless(g, policy, sent, "%s with %s %.60r" % (cls, names[place], value))
        far = (10**9 if sys.maxsize > 2**32 else 10**8)
        for policy in policies(g):
            for sent in (call("builtins::" + cls, "m", ("f.py", 1, far, "x")), call("builtins::" + cls, "m", ("f.py", 1, 1, "x"), state=[{"end_offset": far}]),
                         call("builtins::" + cls, "m", state=[{"text": "x", "lineno": 1, "offset": far}])):
                check(loaded(g, policy, assemble(sent, 4), cls) is None, "carets up to column %d" % far)
            made = policy.loads(assemble(call("builtins::" + cls, "m", tuple(honest) if sys.version_info >= (3, 10) else tuple(honest[:4])), 4))
            check(made.lineno == 1 and made.text == "text" and "text" in printed(made), "an honest one")


class Hides(SyntaxError):
    """A class's own value is before the member of its base, and an instance's before that."""
    offset = end_offset = lineno = text = filename = None


class Computes(SyntaxError):
    text = property(lambda self: "x")


def places_that_are_hidden(g):
    sys.modules["printed_samples"] = sys.modules[__name__]
    for cls in (Hides, Computes):
        cls.__module__ = "printed_samples"
        for name in ("offset", "end_offset", "lineno", "text", "filename"):
            for value in VALUES:
                for policy in policies(g):
                    harmless(g, policy, call("printed_samples::" + cls.__name__, "m", ("f", 1, 1, "x"), state=[{name: value}]), "%s: %s %.60r" % (cls, name, value))


def groups(g):
    if sys.version_info < (3, 11):
        return
    wide = ExceptionGroup("g", [ValueError(n) for n in range(1000)])
    deep = ValueError("inner")
    for _ in range(10):
        deep = ExceptionGroup("g", [deep])
    shared = [ValueError("x" * 100)]
    for _ in range(40):
        shared.append(ExceptionGroup("g", [shared[-1]] * 2))
    broad = ExceptionGroup("g", [ValueError(1)] * 15)
    for _ in range(5):
        broad = ExceptionGroup("g", [broad] * 15)
    for policy in policies(g):
        for honest in (wide, deep, ExceptionGroup("g", [wide, deep]), shared[9]):
            check(harmless(g, policy, pickle.dumps(honest, 4), "an honest group"), "%.60r is refused" % honest)
        for bad in (shared[12], shared[-1], broad, ExceptionGroup("g", [wide] * 5), ExceptionGroup("g", [ValueError(1)] * 4097)):
            check(loaded(g, policy, pickle.dumps(bad, 4), "a group") is None, "a group of very many is accepted")
        deeper = deep
        for _ in range(10):
            deeper = ExceptionGroup("g", [deeper])
        check(loaded(g, policy, pickle.dumps(deeper, 4), "a group") is None, "a group of 20 levels is accepted")


def shares(opcodes, text, count):
    """What begins with these opcodes and holds one text so many times."""
    return opcodes + b"(X" + len(text).to_bytes(4, "little") + text + b"\x94" + b"h\x00" * (count - 1) + b"e"


def whole_forms_are_short(g):
    """decode_exception asks for str() itself: not of what shares a text that often."""
    head, text = b"\x80\x04\x8c\x08builtins\x8c\x0aValueError\x93", b"x" * 150_000
    words = pickle.dumps((("builtins", "ValueError", "said", []), None), 4)
    long = shares(b"]", text, 50_000)
    pairs = b"}(K\x00X" + len(text).to_bytes(4, "little") + text + b"\x94" + b"".join(b"J" + n.to_bytes(4, "little") + b"h\x00" for n in range(1, 20_000)) + b"u"
    for made in (long + b"\x85R", pairs + b"\x85R", b"\x8c\x01m\x85R}\x8c\x09__notes__" + long + b"sb",
                 head[2:] + long + b"\x85R\x85R", head[2:] + b"\x8c\x01m\x85R}\x8c\x01a" + long + b"sb\x85R"):
        began = time.process_time()
        error = g.decode_exception(head + made + b".", words)
        check(type(error) is ValueError and str(error) == "said" and "too long" in str(error.__remote_refusal__), "%r" % error.__remote_refusal__)
        check(time.process_time() - began < SECONDS, "it takes long")
    name, text = lambda at: b"\x8c" + bytes([len(at)]) + at, b"x" * 20_000
    for cls, place in ((b"SyntaxError", b"msg"), (b"OSError", b"strerror"), (b"OSError", b"filename"), (b"OSError", b"filename2")):  # of C
        args = b"(K\x01" + name(b"x") + (b"" if place == b"strerror" else name(b"f") * 3) + b"t" if cls == b"OSError" else b")"
        state = shares(b"}(" + name(place) + b"]", text, 5000) + name(b"args") + b")ub."
        error = g.decode_exception(b"\x80\x04" + name(b"builtins") + name(cls) + b"\x93" + args + b"R" + state, words)
        check("too long" in str(error.__remote_refusal__), "%s of %s: %r" % (place, cls, error.__remote_refusal__))
    for text in ("x" * 1_000_000, ["x" * 1000] * 1000, {"a": ("x",) * 100_000}):
        error = g.decode_exception(pickle.dumps(ValueError(text), 4))
        check(error.args == (text,) and error.__remote_refusal__ is None, "an honest one")


def descriptors(g):
    """What a descriptor makes is printed, whatever its arguments are."""
    for cls in EXCEPTIONS:
        for value in VALUES:
            if not isinstance(value, (int, float, str, bytes, type(None))):
                continue
            for scalars in ((value,), (value, value), (1, "x", value, None, value), ("utf-8", b"abc", value, value, "r"), ("utf-8", b"abc", 1, value, "r"),
                            ("abc", value, value, "r"), ("m", value, value, "x", value, value)):
                data = pickle.dumps((("builtins", cls.__name__, "said", [], scalars), None), 4)
                began = time.process_time()
                length = len(printed(g.decode_exception(None, data)))
                check(length < LONGEST and time.process_time() - began < SECONDS, "%s of %r: %d characters" % (cls, scalars, length))


def with_traceback(form):
    """As the channels of pysandboxes have it."""
    try:
        raise ValueError
    except ValueError as raised:
        return pickle.dumps((form, tblib_samples.Traceback(raised.__traceback__)), 4)


def objects_are_counted(g):
    """By what they hold, in slots and places of C, too."""
    sandboxes, words = guard(sys.argv[1], "pysandboxes_guard"), with_traceback(("builtins", "ValueError", "said", []))
    for big in ([fractions.Fraction(10**400, 3)] * 60_000, [collections.deque(["x" * 20_000])] * 5000, [{"x" * 20_000}] * 5000):
        error = sandboxes.decode_exception(with_traceback(ValueError(big)), words)
        check("too long" in str(error.__remote_refusal__), "what %s holds: %s" % (type(big[0]), error.__remote_refusal__))
    few = [fractions.Fraction(10**40, 3), collections.deque(["x" * 20])] * 100
    check(sandboxes.decode_exception(with_traceback(ValueError(few))).args == (few,), "an honest one")


def members_of_descriptors(g):
    """A descriptor that shares its members is one of very many exceptions."""
    if sys.version_info < (3, 11):
        return
    at = ("builtins", "ValueError", "m", [])
    for _ in range(8):
        at = ("builtins", "ExceptionGroup", "g", [], None, [at] * 4)
    sandboxes, data = guard(sys.argv[1], "pysandboxes_guard"), with_traceback(at)
    began = time.process_time()
    error = sandboxes.decode_exception(None, data)
    check(type(error) is ExceptionGroup, repr(type(error)))
    length = len(printed(error))
    check(time.process_time() - began < SECONDS and length < LONGEST * 20, "%d characters in %.1f seconds" % (length, time.process_time() - began))


def main():
    g = guard(sys.argv[1], "open_guard")
    tblib_samples.install()
    tests = [arguments_of_all, attributes_of_all, places_of_syntax_errors, places_that_are_hidden, groups, whole_forms_are_short, descriptors,
             objects_are_counted, members_of_descriptors]
    before = resource.getrlimit(resource.RLIMIT_AS)
    if not sanitized():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    tally.run(tests, g)
    resource.setrlimit(resource.RLIMIT_AS, before)
    run_by_others(check, sys.argv[1], __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
