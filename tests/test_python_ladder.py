#!/usr/bin/python3
"""decode_exception: an exception of another process by the first of two forms that can be had.  policies/pysandboxes.policy has the channels.

usage: test_python_ladder.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.
"""
import builtins
import datetime
import gc
import json
import pathlib
import pickle
import subprocess
import sys
import traceback
import types

import tblib_samples
from assemble import short
from guards import guard, run_by_others
from tally import Tally

tally = Tally()
check = tally.check

GUARDS = {"pysandboxes_guard": "policies/pysandboxes.policy", "values_guard": "policies/values.policy"}
RAN = []
GROUPS = getattr(builtins, "ExceptionGroup", ())


def caught():
    try:
        raise KeyError("inner")
    except KeyError as error:
        return tblib_samples.Traceback(error.__traceback__)


def dumps(value):
    return pickle.dumps(value, min(5, pickle.HIGHEST_PROTOCOL))


def rich(error, trace=None):
    return dumps((error, trace or caught()))


def words(module, qualname, message, denials=(), *more):
    return dumps(((module, qualname, message, list(denials), *more), caught()))


def words_of(error, *denials, scalars=None, members=None):
    """What a sender says of an exception of its own."""
    more = [scalars] if members is None else [scalars, members]
    return words(type(error).__module__, type(error).__qualname__, str(error), denials, *more)


def refused(g, *args, **options):
    try:
        made = g.decode_exception(*args, **options)
    except g.RefusedError as error:
        return error
    check(False, "not refused: %r" % made)
    return None


class Stateful(Exception):
    def __init__(self, message, path):
        RAN.append("__init__")
        super().__init__(message)
        self.path = path


class Picky(Exception):
    tried = 0

    def __new__(cls, *must):
        cls.tried += 1
        if not must:
            raise TypeError("something is missing")
        return super().__new__(cls)


class Own(Exception):
    """Its text is made of what it holds."""

    def __init__(self, name):
        RAN.append("__init__")
        self.name = name

    def __str__(self):
        return "own " + self.name


class Single(Exception):
    one = None

    def __new__(cls):
        cls.one = cls.one or super().__new__(cls)
        return cls.one


class Slotted(Exception):
    __slots__ = ()


class Closed(Exception):
    def __setattr__(self, name, value):
        RAN.append("__setattr__")
        raise AttributeError(name)

    args = property(lambda self: RAN.append("args"))


class Lies(Exception):
    def __new__(cls):
        return "text"


class Outer:
    class Inner(Exception):
        pass


def the_first_form_is_taken(g):
    for error in (ValueError("plain"), KeyError("k"), OSError(2, "gone", "file"), json.JSONDecodeError("bad", "{", 1)):
        made = g.decode_exception(rich(error), words("builtins", "TypeError", "other", ["KeyError: 1"]))
        check(type(made) is type(error) and made.args == error.args and str(made) == str(error), repr(made))
        check(made.__remote_denials__ == ("KeyError: 1",) and made.__remote_refusal__ is None, str(vars(made)))
        check(made.__remote_traceback__.lines()[0][1] == "caught", str(made.__remote_traceback__.lines()))
        check(made.__cause__ is None and made.__context__ is None and made.__traceback__ is None, "it has a past")
    made = g.decode_exception(rich(ValueError("v")))
    check(made.__remote_denials__ == (), "no descriptor, no denials")
    made = g.decode_exception(rich(ValueError("v")), b"no pickle")
    check(str(made) == "v" and made.__remote_denials__ == (), "a descriptor that is broken")


def the_second_form_stands_in_for_any_failure(g):
    stateful = Stateful("message", Outer())
    deep = Stateful("deep", None)
    for _ in range(20):
        deep = Stateful("deep", [deep])
    deep.path.append(Outer())
    # no pickle; not granted; an argument that is no data; a constructor that raises; another root; no traceback
    broken = [b"no pickle", dumps([1]), dumps((1, caught())), dumps((ValueError("v"), "not a traceback")), dumps((ValueError("v"),)), dumps(ValueError("v")),
              dumps((Outer, caught())), rich(SystemExit(3)), b"\x80\x05(\x8c\x08builtins\x8c\x0aValueError\x93N\x85R."]
    for form in broken + [pickle.dumps((stateful, caught()), 4), pickle.dumps((deep, caught()), 4)]:
        del RAN[:]
        made = g.decode_exception(form, words(__name__, "Stateful", "message", ["PermissionError: no", "x"], None))
        check(type(made) is Stateful and str(made) == "message" and made.args == ("message",), repr(made))
        check(made.__remote_denials__ == ("PermissionError: no", "x") and not hasattr(made, "path"), str(vars(made)))
        check(isinstance(made.__remote_refusal__, g.RefusedError) and not RAN, "%r %s" % (made.__remote_refusal__, RAN))
        refused(g, form)
        refused(g, form, b"")


class Zone:
    """Data whose class refuses it when it is made."""

    def __reduce__(self):
        return datetime.timezone, (datetime.timedelta(days=100),)


def errors_of_constructors_are_failures_too(g):
    form = rich(ValueError(Zone()))
    check(g.exception.check(form) is None, "the form is admitted")
    check(refused(g, form).code == "R223", "a constructor's error")
    made = g.decode_exception(form, words("builtins", "ValueError", "text", ["d"]))
    check(type(made) is ValueError and str(made) == "text" and made.__remote_refusal__.code == "R223", repr(made))


class AppError(Exception):
    def __init__(self, message, code=0):
        super().__init__(message, code)
        self.code = code


def classes_of_the_host_come_whole(g):
    """Also of an application, and within another class: by the first form, with what they hold, and no __init__ runs."""
    named = g.exception.with_types(AppError, Outer.Inner)
    for error in (AppError("m", 7), Outer.Inner("a", 1), Stateful("s", pathlib.Path("a"))):
        error.extra = [1, KeyError("k")]
        del RAN[:]
        for options in ({}, {"exception": named}):
            made = g.decode_exception(rich(error), words_of(error, "d"), **options)
            check(type(made) is type(error) and made.args == error.args and made.__remote_refusal__ is None, repr(made))
            check(made.extra[0] == 1 and made.extra[1].args == ("k",) and not RAN, "%r %s" % (vars(made), RAN))
    check(made.path == pathlib.Path("a"), repr(vars(made)))
    error.extra = Outer()
    made = g.decode_exception(rich(error), words_of(error, "d", scalars=error.args))
    check(type(made) is Stateful and made.args == ("s",) and made.__remote_refusal__.code == "R219", repr(made))
    check(refused(g, rich(error)).code == "R219", "what it holds is no exception")
    for cls in (Outer, BaseException, SystemExit, GeneratorExit, type):
        check(refused(g, dumps((cls, caught()))).code[:2] == "R2", "%r is none" % cls)
    check(refused(g, dumps((1, caught()))).code == "R212", "a number for an exception")


def subclasses_of(cls, seen):
    for sub in cls.__subclasses__():
        if sub not in seen:
            seen.add(sub)
            subclasses_of(sub, seen)
    return seen


def every_loaded_class_can_be_described(g):
    """With arguments of all kinds: what results is an Exception that says what was sent, and nothing else happens."""
    for module in ("asyncio", "concurrent.futures", "email.errors", "http.client", "json", "sqlite3", "ssl", "tarfile", "urllib.error", "xml.sax", "zipfile"):
        __import__(module)
    kinds = [None, (), (1,), ("a",), (b"a",), (None, None), (2, "gone"), (2, "gone", "f", None, "g"), ("utf-8", b"ab", 0, 1, "r"), ("utf-8", "ab", 0, 1, "r"),
             ("ab", 0, 1, "r"), ("utf-8", b"ab", 0, 9, "r"), (True, 1.5), (2**63, -2**62), ("a",) * 16]
    classes = sorted(subclasses_of(Exception, set()), key=lambda cls: (cls.__module__, cls.__qualname__))
    own = 0
    for cls in classes:
        for number, scalars in enumerate(kinds):
            if "test_" in cls.__module__ or cls.__module__ == "__main__" or len(cls.__qualname__) > 200:
                continue
            made = g.decode_exception(None, words(cls.__module__, cls.__qualname__, "text %d" % number, ["d"], scalars))
            check(isinstance(made, Exception) and not isinstance(made, (StopIteration, StopAsyncIteration, g.RefusedError)), repr(made))
            check(str(made) == "text %d" % number or type(made) is g.RemoteError and str(made).endswith(": text %d" % number) or isinstance(made, GROUPS),
                  "%s by %r says %s" % (cls, scalars, made))
            check(made.__remote_denials__ == ("d",), repr(made))
            own += isinstance(made, cls)
            repr(made), traceback.format_exception_only(type(made), made)
    check(len(classes) > 100 and own > 10 * len(classes), "%d of %d classes" % (own, len(classes)))


def neither_form(g):
    for args in ((None,), (None, None), (b"", None), (b"", b"")):
        error = refused(g, *args)
        check("neither an exception nor a descriptor" in str(error), str(error))
    made = g.decode_exception(b"", words_of(Stateful("m", 1), "d"))
    check(type(made) is Stateful and made.__remote_denials__ == ("d",) and made.__remote_refusal__ is None, repr(made))


def what_is_no_class_of_ours_is_a_remote_error(g):
    broken = sys.modules["broken_module"] = types.ModuleType("broken_module")
    broken.__getattr__ = lambda name: RAN.append(name)
    broken.NotLoaded = "text"
    cases = [("no_such_module", "NoSuchError"), ("builtins", "dict"), ("builtins", "SystemExit"), ("builtins", "KeyboardInterrupt"),
             ("builtins", "GeneratorExit"), ("builtins", "BaseException"), ("builtins", "StopIteration"), ("builtins", "StopAsyncIteration"),
             ("builtins", "ValueError.__class__"), ("builtins", ""), ("", ""), ("os", "system"), ("os", "error.mro"), ("broken_module", "Absent"),
             ("broken_module", "NotLoaded"), (__name__, "Lies"), (__name__, "Single"), (__name__, "os.error"), ("tblib", "sys"),
             ("pysandboxes_guard", "RefusedError"), ("pysandboxes_guard", "EmptyInputError")]
    keep = Single()
    del RAN[:]
    for module, qualname in cases:
        made = g.decode_exception(None, words(module, qualname, "why", ["d"]))
        check(type(made) is g.RemoteError and str(made) == "%s.%s: why" % (module, qualname), repr(made))
        check((made.module, made.qualname, made.message) == (module, qualname, "why") and made.__remote_denials__ == ("d",), str(vars(made)))
    check(not RAN and not vars(keep), "%s ran, %s" % (RAN, vars(keep)))
    check(issubclass(g.RemoteError, Exception) and g.RemoteError.__module__ == "pysandboxes_guard" and g.RemoteError("x").module is None, "RemoteError")
    del sys.modules["broken_module"]

    class Mine(Exception):
        pass

    made = g.decode_exception(None, words("no_such", "E", "why", ["d"]), stand_in=Mine)
    check(type(made) is Mine and str(made) == "no_such.E: why" and made.__remote_denials__ == ("d",), repr(made))


def what_is_not_loaded_stays_so(g):
    sys.modules.pop("xml.dom.minidom", None)
    made = g.decode_exception(None, words("xml.dom.minidom", "Document", "m"))
    check(type(made) is g.RemoteError and "xml.dom.minidom" not in sys.modules, repr(made))


def its_new_does_not_run(g):
    Picky.tried = 0
    made = g.decode_exception(None, words(__name__, "Picky", "why"))
    check(type(made) is g.RemoteError and Picky.tried == 0 and str(made).endswith("Picky: why"), "%r, %d" % (made, Picky.tried))


def texts_are_kept(g):
    """str() of what comes is str() of what was sent, with or without its arguments."""
    cases = [(ValueError("v"), ("v",)), (ValueError(1, "b"), (1, "b")), (KeyError("k"), ("k",)), (KeyError(("a", 1)), None),
             (UnicodeDecodeError("utf-8", b"a\xff", 1, 2, "bad"), ("utf-8", b"a\xff", 1, 2, "bad")),
             (UnicodeEncodeError("ascii", "a\xff", 1, 2, "bad"), ("ascii", "a\xff", 1, 2, "bad")),
             (UnicodeTranslateError("a\xff", 1, 2, "bad"), ("a\xff", 1, 2, "bad")), (SyntaxError("bad", ("f", 1, 2, "x")), None),
             (ImportError("no", name="n"), ("no",)), (subprocess.CalledProcessError(1, ["false"]), None), (Own("n"), None),
             (OSError(2, "No such file", "a.txt"), (2, "No such file", "a.txt")), (FileNotFoundError(2, "gone"), (2, "gone")),
             (json.JSONDecodeError("bad", "{", 1), None), (Outer.Inner("a", 1), ("a", 1)), (Slotted("s"), ("s",)), (Exception(), ()), (Exception(), None)]
    for error, scalars in cases:
        for sent in (None, scalars):
            del RAN[:]
            made = g.decode_exception(None, words_of(error, scalars=sent))
            check(isinstance(made, type(error)) and str(made) == str(error), "%r, not %r, by %r" % (made, error, sent))
            check(type(made).__qualname__ == type(error).__qualname__ and type(made).__module__ == type(error).__module__, repr(type(made)))
            check(sent is None or made.args == error.args or isinstance(error, OSError), "%r, not %r" % (made.args, error.args))
            check(not RAN, "%s ran" % RAN)
            check("".join(traceback.format_exception_only(type(made), made)).strip().endswith(str(error).strip()) or isinstance(error, SyntaxError), "printed")


def numbers_of_errors_are_kept(g):
    for error in (FileNotFoundError(2, "No such file", "a.txt"), OSError(5, "io", b"raw"), PermissionError(13, "no", "a", None, "b"), BlockingIOError(11, "later", 5)):
        scalars = error.args if len(error.args) > 2 else (error.errno, error.strerror, *((error.filename,) if error.filename else ()), *((None, error.filename2) if error.filename2 else ()))
        made = g.decode_exception(None, words_of(error, scalars=scalars))
        check(type(made) is type(error) and (made.errno, made.strerror, made.filename, made.filename2) == (
            error.errno, error.strerror, error.filename, error.filename2) and made.args == error.args, repr(made))
    check(g.decode_exception(None, words("builtins", "BlockingIOError", "[Errno 11] later", [], (11, "later", 5))).characters_written == 5, "written")
    made = g.decode_exception(None, words("builtins", "OSError", "[Errno 2] gone"))
    check(made.errno is None and str(made) == "[Errno 2] gone", repr(made))
    for scalars in ((1,), (None, None), ("x", "y"), (2, "gone", 7), (1, 2, 3, 4, 5, 6)):
        made = g.decode_exception(None, words("builtins", "OSError", "text", [], scalars))
        check(isinstance(made, OSError) and str(made) == "text", repr(made))


def places_of_unicode_errors_are_judged(g):
    """Where they lie outside, the text is all that is kept."""
    for kind, thing in (("UnicodeDecodeError", b"ab"), ("UnicodeEncodeError", "ab")):
        for start, end in ((-1, 1), (0, 3), (2, 1), (-2**31, 2**31), (2**63 - 1, 2**63 - 1), (2**64 - 1, 2**64 - 1), (0.0, 1), (True, None)):
            made = g.decode_exception(None, words("builtins", kind, "text", [], ("utf-8", thing, start, end, "why")))
            check(isinstance(made, getattr(builtins, kind)) and str(made) == "text", repr(type(made)))
        for other in (("utf-8", 1, 0, 1, "why"), (1, thing, 0, 1, "why"), ("utf-8", thing, 0, 1, 1), ("utf-8", thing, 0, 1), ()):
            made = g.decode_exception(None, words("builtins", kind, "text", [], other))
            check(isinstance(made, getattr(builtins, kind)) and str(made) == "text", repr(type(made)))


def groups_keep_their_members(g):
    one, two = ("builtins", "ValueError", "one", [], ("one",)), ("builtins", "OSError", "[Errno 2] gone", [], (2, "gone"))
    sent = ("builtins", "ExceptionGroup", "g (2 sub-exceptions)", ["d"], ("g",), [one, ("builtins", "ExceptionGroup", "h", [], None, [two])])
    made = g.decode_exception(None, dumps((sent, caught())))
    if sys.version_info < (3, 11):
        check(type(made) is g.RemoteError, repr(made))
        return
    check(type(made) is ExceptionGroup and str(made) == "g (2 sub-exceptions)" and made.__remote_denials__ == ("d",), repr(made))
    check(type(made.exceptions[0]) is ValueError and made.exceptions[1].exceptions[0].errno == 2, repr(made.exceptions))
    check(type(g.decode_exception(None, dumps((sent[:5], caught())))) is g.RemoteError, "a group of none")
    bad = sent[:5] + ([("builtins", "SystemExit", "s", [])],)
    made = g.decode_exception(None, dumps((bad, caught())))
    check(type(made) is ExceptionGroup and type(made.exceptions[0]) is g.RemoteError, repr(made))
    check(type(g.decode_exception(None, dumps((("builtins", "BaseExceptionGroup") + sent[2:], caught())))) is g.RemoteError, "no Exception")
    nested = one
    for _ in range(40):
        nested = ("builtins", "ExceptionGroup", "n", [], None, [nested])
    at, depth = g.decode_exception(None, dumps((nested, caught()))), 0
    while isinstance(at, ExceptionGroup):
        at, depth = at.exceptions[0], depth + 1
    check(type(at) is g.RemoteError and 10 < depth < 40, "%d groups, %r" % (depth, at))


def malformed_descriptors_are_refused(g):
    for parts in (("m", "n"), ("m", "n", "t", "d"), ("m", "n", 1, []), ("m", "n", "t", 1), ("m", "n", "t", [1]), (1, "n", "t", []), ("m", None, "t", []),
                  ("m", "n", "t", [], [1]), ("m", "n", "t", [], ([],)), ("m", "n", "t", [], None, [1]), ["m", "n", "t", []], "mntd", {"m": 1},
                  ("m", "n", "t", [], None, [], 1)):
        error = refused(g, None, dumps((parts, caught())))
        check(error.code in ("R212", "R205"), str(error))
    refused(g, None, dumps(("m", "n", "t", [])))
    refused(g, None, dumps((("m", "n", "t", []), "not a traceback")))
    refused(g, None, b"\x80\x05\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.")


def what_its_class_does_with_attributes(g):
    del RAN[:]
    made = g.decode_exception(None, words(__name__, "Closed", "text"))
    check(type(made) is Closed and not RAN, "%s ran" % RAN)
    check(BaseException.__dict__["args"].__get__(made) == ("text",) and made.__dict__["__remote_denials__"] == (), str(made.__dict__))


def packages_are_not_open(g):
    """Of tblib three classes, and nothing that its modules hold."""
    for name in ("sys", "__builtins__", "__dict__", "sys.modules", "Traceback.__init__", "Code.__class__"):
        module = short("tblib") + short(name) + b"\x93"
        for channel in (g.exception, g.descriptor):
            for tail in (b".", b"}\x8c\x04path]sb.", b"\x8c\x01x]s.", b")R.", b")\x81."):
                try:
                    channel.loads(b"\x80\x05" + module + tail)
                    check(False, "%s is open" % name)
                except g.RefusedError as error:
                    check(error.code in ("R201", "R217", "R218", "R224", "R129", "R128", "R131", "R130"), str(error))
    looping = tblib_samples.Traceback.__new__(tblib_samples.Traceback)
    looping.__dict__.update(vars(caught()), tb_next=looping)
    refused(g, rich(ValueError("v"), looping))
    long = caught()
    for _ in range(300):
        above = tblib_samples.Traceback.__new__(tblib_samples.Traceback)
        above.__dict__.update(vars(caught()), tb_next=long)
        long = above
    sys.setrecursionlimit(20000)
    made = g.decode_exception(rich(ValueError("v"), long))
    check(len(made.__remote_traceback__.lines()) == 301, "a long traceback")


def arguments_are_judged(g):
    for args, options in (((), {}), ((1,), {}), (("text",), {}), ((None, 1), {}), ((None, None, None), {}), ((None,), {"stand_in": int}),
                          ((None,), {"stand_in": SystemExit}), ((None,), {"stand_in": "x"}), ((None,), {"exception": pickle}), ((None,), {"other": 1})):
        try:
            g.decode_exception(*args, **options)
            check(False, "%r %r" % (args, options))
        except TypeError:
            check(True, "")
    made = g.decode_exception(bytearray(rich(ValueError("v"))), memoryview(words("a", "b", "c")))
    check(str(made) == "v", repr(made))
    mine = g.exception.with_types(Outer.Inner)
    check(str(g.decode_exception(rich(ValueError(Outer.Inner("a"))), None, exception=mine).args[0]) == "a", "another policy")


def nothing_is_left(g):
    forms = [(rich(ValueError("v")), words("a", "b", "c", ["d"])), (None, words(__name__, "Own", "own n")), (b"x", words(__name__, "Picky", "p")),
             (None, words("builtins", "OSError", "t", [], (2, "t")))]
    def count():
        for form in forms:
            g.decode_exception(*form)
            try:
                g.decode_exception(None, b"no pickle")
            except g.RefusedError:
                pass

    for _ in range(20):
        count()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(200):
        count()
    gc.collect()
    check(len(gc.get_objects()) - before < 50, "%d objects are left" % (len(gc.get_objects()) - before))


def only_modules_with_both_channels_have_it(g, build):
    for name in ("decode_exception", "RemoteError"):
        check(not hasattr(guard(build, "values_guard"), name), name)
    with open(build + "/guards/pysandboxes_guard.pyi") as file:
        stub = file.read()
    check("def decode_exception(" in stub and "class RemoteError(Exception)" in stub, "stubs")


def main():
    build = sys.argv[1]
    tblib_samples.install()
    g = guard(build, "pysandboxes_guard")
    tally.run((the_first_form_is_taken, the_second_form_stands_in_for_any_failure, errors_of_constructors_are_failures_too, classes_of_the_host_come_whole,
               every_loaded_class_can_be_described, neither_form,
               what_is_no_class_of_ours_is_a_remote_error, what_is_not_loaded_stays_so, its_new_does_not_run, texts_are_kept,
               numbers_of_errors_are_kept, places_of_unicode_errors_are_judged, groups_keep_their_members, malformed_descriptors_are_refused,
               what_its_class_does_with_attributes, packages_are_not_open, arguments_are_judged, nothing_is_left), g)
    tally.run((only_modules_with_both_channels_have_it,), g, build)
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
