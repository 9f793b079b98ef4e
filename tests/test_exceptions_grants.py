#!/usr/bin/python3
"""std/exceptions row by row under policies/exceptions.policy, and std/control-flow under tests/policy/extra.policy.

usage: test_exceptions_grants.py BUILD      (from the top folder)
"""
import sys

from assemble import call, new, raw, ref, str8
from grants import PROTOCOLS, cases_of_rows, check_cases, check_rows, granted_names
from tally import Tally
from test_values_grants import context

NOTES = [{"__notes__": ["a note", "another"]}]
VALUE_ERROR = call("builtins::ValueError", "v")
# States that no exception takes: each would be set as an attribute.
HOSTILE_STATES = [{"__class__": 1}, {"__cause__": VALUE_ERROR}, {"__context__": VALUE_ERROR}, {"__traceback__": None},
                  {"__dict__": {}}, {"__suppress_context__": True}, {"extra": 1}, {"__notes__": "text"},
                  {"__notes__": [1]}, (None, {"extra": 1}), None, [1]]

OS_ERRORS = """OSError BlockingIOError BrokenPipeError ChildProcessError ConnectionAbortedError ConnectionError
    ConnectionRefusedError ConnectionResetError FileExistsError FileNotFoundError InterruptedError IsADirectoryError
    NotADirectoryError PermissionError ProcessLookupError TimeoutError""".split()
SYNTAX_ERRORS = "SyntaxError IndentationError TabError _IncompleteInputError".split()
CONTROL_FLOW = """BaseException GeneratorExit KeyboardInterrupt StopAsyncIteration StopIteration SystemExit""".split()
# Those of builtins that have a shape of their own; what else builtins has takes any arguments.
SHAPED = OS_ERRORS + SYNTAX_ERRORS + """AttributeError ImportError ModuleNotFoundError ExceptionGroup UnicodeDecodeError
    UnicodeEncodeError UnicodeTranslateError""".split()


def of_any_arguments(name, *more):
    """Cases of an exception that keeps whatever it is given."""
    accepted = [call(name), call(name, "m"), call(name, "a", 1, None), call(name, ("a", {"b": [1]})),
                call(name, call("datetime::date", b"\x07\xe8\x02\x1d")), call(name, VALUE_ERROR),
                call(name, "m", state=NOTES)]
    return accepted, [call(name, ref("builtins::int")), (call(name, ref("builtins::len")), "global"),
                      new(name), *hostile_states(name, "m"), (ref(name), "root"), *more]


def of_text(name, *more):
    """Cases of an exception that has a message or none."""
    return [call(name), call(name, "m"), call(name, "m", state=NOTES)], [
        call(name, 1), call(name, "m", 2), new(name), *hostile_states(name, "m"), *more]


def hostile_states(name, *args, **also):
    return [call(name, *args, state=[dict(also, **state) if isinstance(state, dict) else state])
            for state in HOSTILE_STATES]


def of_os(name):
    made = [call(name, *args) for args in (
        (), ("m",), (None,), (2, "text"), (2, "text", "/a"), (2, "text", b"/a"), (2, "text", 7),
        (2, "text", "/a", None, "/b"), (2, "text", b"/a", None, b"/b"), ("socket error", VALUE_ERROR))]
    return made + [call(name, 2, "text", "/a", state=NOTES)], [
        call(name, 2, "text", ["/a"]), call(name, 2, "text", "/a", 5, "/b"), call(name, 2, "text", "/a", None, "/b", 6),
        call(name, 2, "text", None), call(name, [2], "text"), call(name, ref("builtins::int")), new(name),
        call(name, 2, "text", "/a", state=[{"filename": "/b"}]), call(name, 2, "text", "/a", state=[{"errno": 1}]),
        *hostile_states(name, 2, "text")]


def syntax_details(line=1, column=5, text="x = (\n", *end, file="f"):
    return (file, line, column, text, *end)


def of_syntax(name):
    def made(*args, **file):
        return call(name, "m", syntax_details(*args, **file))
    accepted = [call(name), call(name, "m"), call(name, None), made(), made(1, 5, "x", 1, 0), made(-1, -1, None, -1, -1),
                made(100_000, 100_000, "x", 100_000, 100_000), made(None, None, None, None, None, file=None),
                call(name, "m", syntax_details(), state=NOTES)]
    far = 100_001
    return accepted, [
        made(far), made(1, far), made(1, 1, "x", far, 1), made(1, 1, "x", 1, far), made(-2), made(1, 1, "x", 1, -2),
        made(2**31), made(1, 1, b"x"), made(1, 1, "x", 1), made(1, 1, "x", 1, 2, 3), made(1.0), made(file=b"f"),
        call(name, "m", list(syntax_details())), call(name, "m", "f"), call(name, 1), call(name, "m", syntax_details(), 3),
        call(name, "m", state=[{"lineno": 1}]), call(name, "m", state=[{"text": "x"}]),
        call(name, "m", state=[{"end_offset": 2**40}]), *hostile_states(name, "m")]


def of_import(name):
    def made(**state):
        return call(name, "m", state=[state])
    accepted, refused = of_any_arguments(name)
    return accepted + [made(name="os", path="/a.py"), made(name="os", path=None, name_from="nosuch"), made(name=None),
                       made(name_from=None), made(name="n", __notes__=["x"])], refused + [
        made(name=1), made(path=["/a"]), made(name_from=["x"]), made(msg="x"), made(name="n", path="p", obj=1)]


def of_unicode(name, text, other):
    """text: an object of four places, or nothing for UnicodeTranslateError, which has no encoding."""
    head = () if name.endswith("TranslateError") else ("utf-8",)

    def made(start, end, what=text, reason="bad", **after):
        return call(name, *head, what, start, end, reason, **after)
    return [made(0, 1), made(0, 0), made(4, 4), made(0, 4), made(0, 0, text[:0]), made(0, 1, state=NOTES)], [
        *((made(*place), "native") for place in ((3, 5), (5, 5), (2, 1), (0, 5), (0, 2**31 - 1))),
        made(-1, 1), made(0, -1), made(0, 2**31), made(0, 1, other), made(0, 1, text, b"bad"), made(0, 1, text, 1),
        made(True, 1), call(name), call(name, *head, text, 0, 1), call(name, *head, text, 0, 1, "bad", "more"),
        *hostile_states(name, *head, text, 0, 1, "bad")]


def group(name, members, message="m", **after):
    return call(name, message, members, **after)


def of_group(name, members, foreign):
    most = group(name, [VALUE_ERROR])
    for _ in range(20):
        most = group(name, [most, VALUE_ERROR])
    return [group(name, [m]) for m in members] + [
        group(name, [VALUE_ERROR] * 100), group(name, (VALUE_ERROR,)), most, group(name, [VALUE_ERROR], state=NOTES)], [
        group(name, []), group(name, ()), group(name, ["text"]), group(name, VALUE_ERROR), group(name, [VALUE_ERROR, None]),
        group(name, [call("datetime::date", b"\x07\xe8\x02\x1d")]), group(name, [VALUE_ERROR], 1), call(name, "m"),
        group(name, [ref("builtins::ValueError")]), call(name, "m", [VALUE_ERROR], 1), *foreign,
        *hostile_states(name, "m", [VALUE_ERROR])]


def program(name, *args, **changes):
    """A failed program: the state repeats what the arguments say."""
    state = {"cmd": ["ls"], "output": None, "stderr": None, **changes}
    return call("subprocess::" + name, *args, state=[{key: value for key, value in state.items() if value != "absent"}])


def failed(*args, **changes):
    return program("CalledProcessError", *(args or (1, ["ls"])), **{"returncode": 1, **changes})


def late(*args, **changes):
    return program("TimeoutExpired", *(args or (["ls"], 1.5)), **{"timeout": 1.5, **changes})


def of_program(made, name, args, field):
    return [made(), made(output=b"o", stderr="e"), made(cmd="ls -l"), made(__notes__=["n"]), made(*args, b"o", b"e")], [
        made(output=["o"]), made(stderr=1), made(**{field: "x"}), made(**{field: "absent"}), made(cmd="absent"),
        made(stdout=b"o"), made(cmd=ref("builtins::int")), made(*args, b"o", b"e", 5), made(*args[:1]),
        call("subprocess::" + name, *args), *hostile_states("subprocess::" + name, *args, cmd="ls", output=None,
                                                            stderr=None, **{field: 1})]


SIGNALS = "Clamped DivisionByZero FloatOperation Inexact InvalidOperation Overflow Rounded Subnormal Underflow".split()
CONDITIONS = "ConversionSyntax DivisionImpossible DivisionUndefined InvalidContext".split()


def of_signal(name):
    def made(*names):
        return call(name, [ref("decimal::" + other) for other in names])
    return [call(name), call(name, None), call(name, "x / 0"), made(*CONDITIONS), made(*SIGNALS, *CONDITIONS)], [
        made(), call(name, [VALUE_ERROR]), call(name, [ref("builtins::int")]), call(name, 1), (ref(name), "root"),
        made(*SIGNALS, *SIGNALS), call(name, "a", "b"), new(name), *hostile_states(name, "m")]


def of_condition(name):
    return [call("decimal::InvalidOperation", [ref(name)])], [
        (ref(name), "root"), call(name), call("builtins::ValueError", ref(name))]


def of_regex(name):
    def made(without=None, **changes):
        state = {"msg": "missing )", "pattern": "(", "pos": 0, "lineno": 1, "colno": 1, **changes}
        state.pop(without, None)
        return call(name, "missing ) at position 0", state=[state])
    return [made(), made(pattern=b"("), made(pattern=None, pos=None, lineno=None, colno=None), made(without="lineno"),
            made(__notes__=["n"])], [
        made(pattern=1), made(pos="0"), made(msg=None), made(without="msg"), made(without="pos"), call(name, "m"),
        call(name, 1, state=[{"msg": "m", "pattern": "(", "pos": 0}]),
        *hostile_states(name, "m", msg="m", pattern="(", pos=0)]


def of_network(name, state=None):
    made = [call(name), call(name, "timed out"), call(name, -2, "text"), call(name, -2, "text", state=NOTES)]
    refused = [call(name, 1), call(name, "a", "b"), call(name, 1, 2), call(name, 1, "text", "/a"), new(name)]
    if state:
        made.append(call(name, 1, "text", state=[state]))
        refused += [call(name, 1, "text", state=[{key: ["x"]}]) for key in state]
    return made, refused + hostile_states(name, 1, "text")


CERTIFICATE = {"reason": "CERTIFICATE_VERIFY_FAILED", "library": "SSL", "verify_code": 18, "verify_message": "self-signed"}
URL, JSON, XML = "urllib.error::URLError", "json.decoder::JSONDecodeError", "xml.etree.ElementTree::ParseError"
READ, REFUSED = "asyncio.exceptions::IncompleteReadError", call("builtins::ConnectionRefusedError", 111, "refused")


def url(reason, **after):
    return call(URL, reason, state=[{"reason": reason, **after}])


def xml(*args, **state):
    return call(XML, *args, state=[{"code": 5, "position": (1, 0), **state}])


ERRORS = {
    "builtins::AttributeError": of_any_arguments("builtins::AttributeError"),
    "builtins::ImportError": of_import("builtins::ImportError"),
    "builtins::ModuleNotFoundError": of_import("builtins::ModuleNotFoundError"),
    "builtins::ExceptionGroup": of_group(
        "builtins::ExceptionGroup", [VALUE_ERROR, REFUSED, url("x"), failed(), call("decimal::Overflow", "m")],
        [(group("builtins::ExceptionGroup", [call("builtins::KeyboardInterrupt")]), "global"),
         (group("builtins::ExceptionGroup", [call("samples::AppError", "m")]), "global")]),
    "builtins::UnicodeDecodeError": of_unicode("builtins::UnicodeDecodeError", b"\xff123", "text"),
    "builtins::UnicodeEncodeError": of_unicode("builtins::UnicodeEncodeError", "\U0001f600123", b"1234"),
    "builtins::UnicodeTranslateError": of_unicode("builtins::UnicodeTranslateError", "\xff123", b"1234"),
    URL: ([url("x"), url(REFUSED), url("x", __notes__=["n"]), call(URL, "x", state=[{"reason": REFUSED}])],
          [url(1), url(None), call(URL, "x"), call(URL, state=[{"reason": "x"}]), url("x", filename="/a"),
           (url(call("builtins::SystemExit", 1)), "global"), *hostile_states(URL, "x", reason="x")]),
    "subprocess::CalledProcessError": of_program(failed, "CalledProcessError", (1, ["ls"]), "returncode"),
    "subprocess::TimeoutExpired": of_program(late, "TimeoutExpired", (["ls"], 2), "timeout"),
    JSON: ([call(JSON, "m", "{x", 1), call(JSON, "m", "", 0, state=NOTES)],
           [call(JSON, "m", "{x", -1), call(JSON, "m", b"{x", 1), call(JSON, "m", "{x"), call(JSON, "m"),
            call(JSON, "m", "{x", 1.0), *hostile_states(JSON, "m", "{x", 1)]),
    XML: ([xml("unclosed token"), xml("m", __notes__=["n"])],
          [xml(), xml(1), xml("m", code="5"), xml("m", position=[1, 0]), xml("m", position=(1,)), call(XML, "m"),
           *hostile_states(XML, "m", code=5, position=(1, 0))]),
    READ: ([call(READ, b"x", 5), call(READ, b"", None)],
           [call(READ, b"x"), call(READ, "x", 5), call(READ, b"x", "5"), call(READ, b"x", 5, state=NOTES)]),
    "re::error": of_regex("re::error"),
    "re::PatternError": of_regex("re::PatternError"),
    "sre_constants::error": of_regex("sre_constants::error"),
}
ERRORS["builtins::AttributeError"][0].extend(
    call("builtins::AttributeError", "m", state=[state]) for state in (
        {"name": "x", "args": ("m",)}, {"name": None}, {"args": ()}, {"name": "x", "args": ("m",), "__notes__": ["n"]}))
ERRORS["builtins::AttributeError"][1].extend(
    call("builtins::AttributeError", "m", state=[state]) for state in (
        {"name": 1}, {"args": ["m"]}, {"name": "x", "obj": 1}, {"name": "x", "args": (ref("builtins::int"),)}))
ERRORS.update(("builtins::" + name, of_os("builtins::" + name)) for name in OS_ERRORS)
ERRORS.update(("builtins::" + name, of_syntax("builtins::" + name)) for name in SYNTAX_ERRORS)
ERRORS.update(("socket::" + name, of_network("socket::" + name)) for name in ("gaierror", "herror", "timeout"))
ERRORS.update(("ssl::SSL" + name, of_network("ssl::SSL" + name, CERTIFICATE)) for name in (
    "Error", "CertVerificationError", "EOFError", "SyscallError", "WantReadError", "WantWriteError", "ZeroReturnError"))
ERRORS.update(("decimal::" + name, of_signal("decimal::" + name)) for name in SIGNALS)
ERRORS.update(("decimal::" + name, of_condition("decimal::" + name)) for name in CONDITIONS)
ERRORS.update((name, of_text(name)) for name in """zlib::error struct::error binascii::Error binascii::Incomplete
    _csv::Error _lzma::LZMAError zipfile::BadZipFile zipfile::LargeZipFile pickle::PickleError pickle::PicklingError
    pickle::UnpicklingError _pickle::PickleError _pickle::PicklingError _pickle::UnpicklingError
    concurrent.futures._base::TimeoutError concurrent.futures._base::InvalidStateError
    concurrent.futures._base::BrokenExecutor concurrent.futures.process::BrokenProcessPool
    concurrent.futures.thread::BrokenThreadPool asyncio.exceptions::TimeoutError
    asyncio.exceptions::InvalidStateError asyncio.exceptions::BrokenBarrierError""".split())
for name in """queue::Empty queue::Full _queue::Empty asyncio.queues::QueueEmpty asyncio.queues::QueueFull""".split():
    ERRORS[name] = ([call(name), call(name, state=NOTES)], [call(name, "m"), new(name), *hostile_states(name)])
SQLITE = {"sqlite_errorcode": 1, "sqlite_errorname": "SQLITE_ERROR"}
for name in """Warning Error InterfaceError DatabaseError DataError OperationalError IntegrityError InternalError
        ProgrammingError NotSupportedError""".split():
    name = "sqlite3::" + name
    text, refused = of_text(name, *(call(name, "m", state=[dict(SQLITE, **{key: [1]})]) for key in SQLITE))
    ERRORS[name] = (text + [call(name, "m", state=[SQLITE])], refused)
for name in sorted(granted_names(["exceptions"])):
    if name.startswith("builtins::") and name.split("::")[1] not in SHAPED:
        ERRORS[name] = of_any_arguments(name)

BASE_GROUP, INTERRUPT = "builtins::BaseExceptionGroup", call("builtins::KeyboardInterrupt")
FLOW = {"builtins::" + name: of_any_arguments("builtins::" + name) for name in CONTROL_FLOW}
FLOW[BASE_GROUP] = of_group(BASE_GROUP, [VALUE_ERROR, INTERRUPT, call("builtins::SystemExit", 3), group(BASE_GROUP, [INTERRUPT])],
                            [(group(BASE_GROUP, [call("samples::AppError", "m")]), "global")])
for name in ("asyncio.exceptions::CancelledError", "concurrent.futures._base::CancelledError"):
    FLOW[name] = ([call(name), call(name, "m"), call(name, None), call(name, state=NOTES)],
                  [call(name, "a", "b"), call(name, ref("builtins::int")), new(name), *hostile_states(name)])


def nested_groups(levels):
    """ExceptionGroup in ExceptionGroup: too deep for the recursion of an assembler."""
    head = b"cbuiltins\nExceptionGroup\n(Vm\n(l"
    return raw(head * levels + b"cbuiltins\nValueError\n(tR" + b"atR" * levels)


# What no single row decides.
GENERAL = [
    # a context of decimal, whose signals are exceptions
    (call("builtins::ValueError", context()), "accept", PROTOCOLS),
    (call("builtins::ValueError", context(traps=[ref("decimal::Inexact")])), "accept", PROTOCOLS),
    (call("builtins::ValueError", ref("decimal::Inexact")), "recipe", PROTOCOLS),
    (nested_groups(40), "accept", PROTOCOLS), (nested_groups(3000), "limit", PROTOCOLS),
    ([VALUE_ERROR], "root", PROTOCOLS), ("text", "root", PROTOCOLS), ((VALUE_ERROR, "text"), "root", PROTOCOLS),
    (call("datetime::date", b"\x07\xe8\x02\x1d"), "root", PROTOCOLS),
    # names of Python 2, and those that several names became one of
    (call("exceptions::ValueError", "m"), "accept", (0, 2)), (call("exceptions::IOError", 2, "text", "/a"), "accept", (0, 2)),
    (call("exceptions::EnvironmentError", 2, "text"), "accept", (0, 2)), (call("exceptions::StandardError"), "accept", (0, 2)),
    (call("socket::error", 111, "refused"), "accept", (0, 2)), (call("exceptions::ValueError", "m"), "global", (3, 4)),
    (call("exceptions::StopIteration"), "global", (0, 2)), (call("exceptions::SystemExit", 1), "global", (0, 2)),
    (call("exceptions::UnicodeDecodeError", str8(b"utf8"), str8(b"\xff"), 0, 1, str8(b"bad")), "accept", (2,)),
    (call("exceptions::UnicodeDecodeError", str8(b"utf8"), str8(b"\xff"), 0, 2, str8(b"bad")), "native", (2,)),
    (call("exceptions::IOError", 2, str8(b"text"), str8(b"/\xff")), "accept", (2,)),
    (call("exceptions::SyntaxError", str8(b"m"), (str8(b"f"), 1, 2, str8(b"x\n"))), "accept", (2,)),
] + [(call(name, VALUE_ERROR, "text"), "global", PROTOCOLS) for name in (
    "multiprocessing.pool::rebuild_exc", "concurrent.futures.process::_rebuild_exc")
] + [(call(name), "global", PROTOCOLS) for name in """samples::AppError tblib.pickling_support::unpickle_traceback
    types::TracebackType builtins::BaseException builtins::BaseExceptionGroup builtins::GeneratorExit
    builtins::KeyboardInterrupt builtins::SystemExit builtins::StopIteration builtins::StopAsyncIteration
    asyncio.exceptions::CancelledError concurrent.futures._base::CancelledError urllib.error::HTTPError
    decimal::DecimalException socket::socket subprocess::Popen _csv::reader""".split()
] + [(call("builtins::ValueError", call(name)), "global", PROTOCOLS) for name in (
    "builtins::SystemExit", "builtins::StopIteration")]


def main():
    build = sys.argv[1]
    tally = Tally()
    check_rows(tally, ERRORS, ["exceptions"])
    policy = "policies/exceptions.policy"
    check_cases(tally, build, policy, cases_of_rows(ERRORS))
    check_cases(tally, build, policy, (("general", *case) for case in GENERAL))
    check_rows(tally, FLOW, ["control-flow"])
    check_cases(tally, build, "tests/policy/extra.policy:errors", cases_of_rows(FLOW))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
