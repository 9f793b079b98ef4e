#!/usr/bin/python3
"""Exceptions that say what to do, and not what went wrong, are given to no host: all those of the standard library, which is walked.

usage: test_python_signals.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the modules are built into BUILD/python; --alone leaves that out.
"""
import importlib
import io
import os
import pickle
import pkgutil
import re
import sys
import types
import warnings

import tblib_samples
from assemble import assemble, call
from guards import guard, run_by_others
from tally import Tally

tally = Tally()
check = tally.check

GUARDS = {"open_guard": "tests/policy/python/open.policy", "pysandboxes_guard": "policies/pysandboxes.policy"}
SIGNALS = """builtins::StopIteration builtins::StopAsyncIteration asyncore::ExitNow bdb::BdbQuit concurrent.futures._base::CancelledError
    inspect::ClassFoundException inspect::EndOfBlock lib2to3.pgen2.tokenize::StopTokenizing lib2to3.refactor::_EveryNode pdb::Restart pickle::_Stop
    shutil::_GiveupOnFastCopy socket::_GiveupOnSendfile sre_parse::Verbose tokenize::StopTokenizing turtle::Terminator unittest.case::SkipTest unittest.case::_ShouldStop
    unittest.case::_UnexpectedSuccess xml.dom.expatbuilder::ParseEscape""".split()
# What such a name says, it says of an error.  Of each other name somebody has looked at what raises it, and what for.
SAYS_ERROR = re.compile(r"(error|exception|warning|err|defect|fault|failure|refused|disconnected)$", re.I)
ERRORS = """Empty Full timeout ShutDown QueueEmpty QueueFull QueueShutDown Incomplete ExceptionGroup BrokenExecutor BrokenProcessPool BrokenThreadPool
    _RemoteTraceback RemoteTraceback ConversionSyntax Clamped DivisionByZero DivisionImpossible DivisionUndefined FloatOperation Inexact InvalidContext
    InvalidOperation Overflow Rounded Subnormal Underflow HeaderMissingRequiredValue error_perm error_proto error_reply error_temp BadGzipFile BadStatusLine
    CannotSendHeader CannotSendRequest ImproperConnectionState IncompleteRead InvalidURL LineTooLong NotConnected ResponseNotReady UnimplementedFileMode
    UnknownProtocol UnknownTransferEncoding abort readonly UnsupportedOperation MultiprocessingUnsupported UnsafeMailcapInput BufferTooShort
    ErrorDuringImport TimeoutExpired NannyNag BadZipFile LargeZipFile SAXReaderNotAvailable InvalidTerminal""".split()
# They act when they are imported, are others' code, or need what sanitizers hide (crypt).
LEFT_OUT = re.compile(r"(antigravity|this|crypt|_crypt|idlelib|turtledemo|test|tests|ensurepip|venv|site-packages|dist-packages|_vendor|__main__|pip|setuptools)$")


def stdlib():
    """All modules of the standard library that can be imported here."""
    folder = os.path.dirname(os.__file__)
    for info in pkgutil.iter_modules([folder, os.path.join(folder, "lib-dynload")]):
        yield info.name
    yield from sys.builtin_module_names


def load(name):
    if any(LEFT_OUT.match(part) for part in name.split(".")):
        return
    try:
        module = importlib.import_module(name)
    except BaseException:
        return
    for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
        load(name + "." + info.name)


def load_all():
    printed, errors = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(set(stdlib())):
            load(name)
    sys.stdout, sys.stderr = printed, errors


def below(cls, seen):
    for sub in type.__subclasses__(cls):
        if sub not in seen:
            seen.add(sub)
            below(sub, seen)
    return seen


def all_classes():
    found, ours = {}, set(stdlib())
    for cls in below(BaseException, {BaseException}):
        name = "%s::%s" % (cls.__module__, cls.__qualname__)
        at = sys.modules.get(cls.__module__)
        for part in cls.__qualname__.split("."):
            at = getattr(at, part, None)
        if at is cls and cls.__module__.split(".")[0] in ours and "test" not in cls.__module__:
            found[name] = cls
    return found


def words(name, trace=None):
    module, qualname = name.split("::")
    return pickle.dumps(((module, qualname, "said", []), trace), 4)


def given_to_nobody(g, name):
    """By either form, also of a class below it."""
    check(type(g.decode_exception(None, words(name))) is g.RemoteError, "%s is described" % name)
    data = assemble(call(name, "m"), 4)
    made = g.decode_exception(data, words("builtins::ValueError"))
    check(type(made) is ValueError and made.__remote_refusal__ is not None, "%s comes whole: %r" % (name, made))


def signals_are_no_errors(g, sandboxes):
    for name in SIGNALS:
        module, qualname = name.split("::")
        made = module not in sys.modules
        if made:
            sys.modules[module] = types.ModuleType(module)
        if not hasattr(sys.modules[module], qualname):
            setattr(sys.modules[module], qualname, type(qualname, (Exception,), {"__module__": module}))
        given_to_nobody(g, name)
        try:
            sandboxes.result.with_types(getattr(sys.modules[module], qualname))
            check(False, "%s is admitted by with_types" % name)
        except ValueError:
            check(True, "")
        sys.modules["signal_samples"] = at = types.ModuleType("signal_samples")
        at.Below = type("Below", (getattr(sys.modules[module], qualname),), {"__module__": "signal_samples"})
        given_to_nobody(g, "signal_samples::Below")
        for alias in (name, "signal_samples::Below"):
            try:
                sandboxes.exception.loads(assemble((call(alias, "m"), None), 4))
                check(False, "%s is a value" % alias)
            except sandboxes.RefusedError as error:
                check(error.code in ("R201", "R224"), "%s: %s" % (alias, error))
        if made:
            del sys.modules[module]


def policies_say_the_same(g, sandboxes):
    with open("policies/std/host-exceptions.policy", encoding="ascii") as file:
        never = re.search(r"^never ([^;]*);", file.read(), re.M)[1]
    check(sorted(never.replace(",", " ").split()) == sorted(SIGNALS), "the policy forbids other names")


def what_is_no_exception(g, sandboxes):
    """Whatever ends a program, a task or a generator."""
    classes = {name: cls for name, cls in all_classes().items() if not issubclass(cls, Exception)}
    check({"builtins::SystemExit", "builtins::KeyboardInterrupt", "builtins::GeneratorExit"} <= set(classes), "%s" % sorted(classes))
    check("asyncio.exceptions::CancelledError" in classes, "%s" % sorted(classes))
    for name in classes:
        given_to_nobody(g, name)
        for policy in (g.exception, sandboxes.exception):
            try:
                policy.loads(assemble(call(name, "m"), 4))
                check(False, "%s is a value" % name)
            except policy.RefusedError:
                check(True, "")


def all_others_are_errors(g, sandboxes):
    """A name that does not say so is of an error that somebody has looked at, or of a signal."""
    count = own = 0
    for name, cls in sorted(all_classes().items()):
        if not issubclass(cls, Exception):
            continue
        last = cls.__qualname__.split(".")[-1]
        signal = any("%s::%s" % (base.__module__, base.__qualname__) in SIGNALS for base in cls.__mro__)
        check(signal or SAYS_ERROR.search(last) or last in ERRORS, "%s: is it an error, or does it steer whoever catches it?" % name)
        count += 1
        if not signal:
            own += type(g.decode_exception(None, words(name))) is not g.RemoteError
    check(count > 250 and own > count * 3 // 5, "%d of %d" % (own, count))


def main():
    g = guard(sys.argv[1], "open_guard")
    tblib_samples.install()
    sandboxes = guard(sys.argv[1], "pysandboxes_guard")
    load_all()
    tally.run((policies_say_the_same, signals_are_no_errors, what_is_no_exception, all_others_are_errors), g, sandboxes)
    run_by_others(check, sys.argv[1], __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
