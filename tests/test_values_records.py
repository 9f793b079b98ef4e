#!/usr/bin/python3
"""The fragments std/text and std/misc row by row under policies/values.policy, and those that no shipped policy uses
(std/regex, std/iterators, std/random) under tests/policy/extra.policy.

usage: test_values_records.py BUILD     (from the top folder)
"""
import sys

from assemble import call, new, ref, str8
from grants import cases_of_rows, check_cases, check_rows
from tally import Tally

STAT = tuple(range(10))
BIG = 2**27  # the last position of a buffer


def stat(fields=STAT, **rest):
    return call("os::stat_result", fields, rest)


def buffer(kind, *state):
    return new("io::" + kind, state=[state])


def completed(**changes):
    state = {"args": ["ls", "-l"], "returncode": 0, "stdout": b"", "stderr": None}
    state.update(changes)
    return new("subprocess::CompletedProcess", state=[state])


def log_record(without=None, **changes):
    state = {"name": "app", "msg": "%s", "args": (1,), "levelname": "INFO", "levelno": 20, "pathname": "/a.py",
             "filename": "a.py", "module": "a", "exc_info": None, "exc_text": None, "stack_info": None, "lineno": 3,
             "funcName": "f", "created": 0.5, "msecs": 1.5, "relativeCreated": 2.5, "thread": 1,
             "threadName": "MainThread", "processName": "MainProcess", "process": 7}
    state.update(changes)
    state.pop(without, None)
    return new("logging::LogRecord", state=[state])


EMPTY, KIND = ref("inspect::_empty"), call("inspect::_ParameterKind", 1)


def parameter(name="x", kind=KIND, default=EMPTY, annotation=EMPTY):
    return call("inspect::Parameter", name, kind, state=[{"_default": default, "_annotation": annotation}])


TEXT = {
    "io::BytesIO": ([buffer("BytesIO", b"abc", 0, None), buffer("BytesIO", b"", BIG, {})],
                    [buffer("BytesIO", b"abc", -1, None), buffer("BytesIO", b"abc", BIG + 1, None),
                     buffer("BytesIO", "abc", 0, None), buffer("BytesIO", b"abc", 0, {"name": 1}),
                     buffer("BytesIO", b"abc", 0), call("io::BytesIO", b"abc"), new("io::BytesIO"),
                     new("io::BytesIO", b"abc", state=[(b"", 0, None)])]),
    "io::StringIO": ([buffer("StringIO", "abc", newline, 1, None) for newline in (None, "", "\n", "\r", "\r\n")]
                     + [buffer("StringIO", "", "\n", BIG, {})],
                     [buffer("StringIO", "abc", "\t", 0, None), buffer("StringIO", "abc", "\n", -1, None),
                      buffer("StringIO", "abc", "\n", BIG + 1, None), buffer("StringIO", b"abc", "\n", 0, None),
                      buffer("StringIO", "abc", "\n", 0, {"a": 1}), new("io::StringIO"),
                      call("io::StringIO", "abc")]),
}

MISC = {
    "subprocess::CompletedProcess": (
        [completed(), completed(args="ls", stdout="text", returncode=-9), completed(returncode=2**32 - 1),
         new("subprocess::CompletedProcess", state=[{"args": (b"ls",), "returncode": 1}])],
        [completed(returncode="0"), completed(returncode=2**32), completed(stdout=["a"]), completed(note=1),
         completed(args=ref("builtins::int")), new("subprocess::CompletedProcess", state=[{"args": "ls"}]),
         new("subprocess::CompletedProcess"), call("subprocess::CompletedProcess", "ls", 0)]),
    "urllib.parse::ParseResult": ([new("urllib.parse::ParseResult", "https", "h.example", "/p", "", "q=1", "")],
                                  [new("urllib.parse::ParseResult", "https", "h.example", "/p", "", "q=1"),
                                   new("urllib.parse::ParseResult", "https", "h.example", "/p", "", "q=1", None),
                                   call("urllib.parse::ParseResult", "", "", "", "", "", "")]),
    "urllib.parse::SplitResult": ([new("urllib.parse::SplitResult", "https", "h.example", "/p", "q=1", "")],
                                  [new("urllib.parse::SplitResult", "https", "h.example", "/p", "q=1", "", ""),
                                   new("urllib.parse::SplitResult", b"", b"", b"", b"", b"")]),
    "urllib.parse::DefragResult": ([new("urllib.parse::DefragResult", "https://h.example", "top")],
                                   [new("urllib.parse::DefragResult", "https://h.example"),
                                    new("urllib.parse::DefragResult", 1, "top")]),
    "string::Template": ([new("string::Template", state=[{"template": "$x"}])],
                         [new("string::Template", state=[{"template": "$x", "pattern": "."}]), new("string::Template"),
                          new("string::Template", state=[{"template": b"$x"}]), call("string::Template", "$x")]),
    "os::terminal_size": ([call("os::terminal_size", (80, 24), {})],
                          [call("os::terminal_size", (80,), {}), call("os::terminal_size", (80, 2**31), {}),
                           call("os::terminal_size", (80, 24), {"rows": 1}), call("os::terminal_size", (80, 24.0), {}),
                           call("os::terminal_size", (80, 24))]),
    "os::stat_result": (
        [stat(), stat(st_atime=0.5, st_atime_ns=5 * 10**8, st_blksize=None, st_rdev=0), stat((2**64 - 1,) * 10),
         stat(st_birthtime=1.5, st_flags=0, st_file_attributes=32), stat(nsec_atime=None), stat(st_fstype="zfs")],
        [stat(STAT[:9]), stat(STAT + (10,)), stat((2**64,) * 10), stat(("0",) * 10), stat(st_size=1),
         stat(st_atime="now"), stat(st_rdev=2**64), stat(st_fstype="x" * 65), call("os::stat_result", STAT)]),
    "logging::LogRecord": (
        [log_record(), log_record(taskName=None), log_record(request_id="extra"), log_record(without="stack_info"),
         log_record(name=None, levelno=None, msg={"a": 1}, args={"b": 2}, msecs=7, thread=None, exc_info=False)],
        [log_record(without=key) for key in ("name", "msg", "args", "levelname", "exc_info", "created")]
        + [log_record(exc_info=(1, 2, 3)), log_record(lineno="3"), log_record(levelname=1), log_record(created="0"),
           log_record(extra=ref("builtins::int")), log_record(args=(ref("builtins::int"),)),
           new("logging::LogRecord"), call("logging::LogRecord", "n", 10, "/p", 3, "m", (), None)]),
    "inspect::Parameter": ([parameter(), parameter(default=1), parameter(kind=call("inspect::_ParameterKind", 4)),
                            parameter(kind=ref("inspect::_ParameterKind.KEYWORD_ONLY"), annotation="int")],
                           [parameter(name=1), parameter(kind=1), parameter(annotation=ref("builtins::int")),
                            parameter(kind=EMPTY), call("inspect::Parameter", "x", KIND),
                            call("inspect::Parameter", "x", KIND, state=[{"_default": 1}]),
                            call("inspect::Parameter", "x", KIND,
                                 state=[{"_default": 1, "_annotation": 1, "_name": "y"}])]),
    "inspect::_ParameterKind": ([KIND, call("inspect::_ParameterKind", 0), call("inspect::_ParameterKind", 4),
                                 ref("inspect::_ParameterKind.VAR_KEYWORD")],
                                [call("inspect::_ParameterKind", 5), call("inspect::_ParameterKind", -1),
                                 call("inspect::_ParameterKind", "X", "a b"), call("inspect::_ParameterKind", "1"),
                                 (ref("inspect::_ParameterKind.OTHER"), "global"),
                                 call("inspect::_ParameterKind", 1, state=[{}])]),
    "inspect::_empty": ([parameter()], [(EMPTY, "root"), ([EMPTY], "root"), call("inspect::_empty")]),
}
def compiled(pattern, flags=0):
    return call("re::_compile", pattern, flags)


def generator(version=3, words=(0,) * 625, left=None):
    return call("random::Random", state=[(version, words, left)])


def over(name, *args, **after):
    return call("builtins::" + name, *args, **after)


RANGE = call("builtins::range", 0, 3, 1)
FUNCTION = (over("iter", ref("builtins::len"), 1), "global")
EXTRA = {
    "re::_compile": ([compiled("a+b", 34), compiled(b"a+\xff"), compiled("x" * 1000), compiled("", 382)],
                     [compiled("x" * 1001), compiled("a", 128), compiled("a", 1), compiled("a", 512),
                      compiled("a", -1), compiled(["a"]), call("re::_compile", "a"),
                      (ref("re::_compile"), "root"), (call("re::compile", "a"), "global")]),
    "random::Random": ([generator(), generator(words=(2**32 - 1,) * 625, left=0.5)],
                       [generator(version=2), generator(words=(0,) * 624), generator(words=(0,) * 626),
                        generator(words=(2**32,) * 625), generator(words=(-1,) * 625), generator(left=1),
                        call("random::Random"), call("random::Random", 1, state=[(3, (0,) * 625, None)])]),
    "builtins::iter": ([over("iter", [1, 2], state=[1]), over("iter", (1, 2)), over("iter", "ab"), over("iter", b"ab"),
                        over("iter", RANGE)],
                       [over("iter", {1: 2}), over("iter", [1], 1), over("iter", [1], state=[-1]),
                        over("iter", over("iter", [1])), over("iter"), FUNCTION]),
    "builtins::reversed": ([over("reversed", [1, 2], state=[1]), over("reversed", [], state=[-1]),
                            over("reversed", (1,)), over("reversed", ())],
                           [over("reversed", [1], state=[-2]), over("reversed", "ab"), over("reversed"),
                            over("reversed", RANGE)]),
    "builtins::enumerate": ([over("enumerate", over("iter", [1], state=[0]), 0), over("enumerate", [1, 2], 5),
                             over("enumerate", over("reversed", [1]), -1)],
                            [over("enumerate", [1]), over("enumerate", "ab", 0), over("enumerate", [1], 0.5),
                             over("enumerate", over("enumerate", [1], 0), 0)]),
}

# A str of Python 2 in the place of text, bytes and names of attributes.
PYTHON2 = [new("io::BytesIO", state=[(str8(b"\xff"), 0, None)]),
           new("string::Template", state=[{"template": str8(b"$x")}])]


def main():
    build = sys.argv[1]
    tally = Tally()
    values = {**TEXT, **MISC}
    check_rows(tally, values, ("text", "misc"))
    check_cases(tally, build, "policies/values.policy", cases_of_rows(values))
    check_cases(tally, build, "policies/values.policy", (("Python 2", value, "accept", (2,)) for value in PYTHON2))
    check_rows(tally, EXTRA, ("regex", "iterators", "random"))
    check_cases(tally, build, "tests/policy/extra.policy:data", cases_of_rows(EXTRA))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
