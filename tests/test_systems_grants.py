#!/usr/bin/python3
"""The rows that policies/agentix.policy has of its own, and the fragment std.tblib, row by row.

usage: test_systems_grants.py BUILD      (from the top folder)
"""
import sys

from assemble import call, new, raw, ref
from grants import cases_of_rows, check_cases, check_rows
from tally import Tally

INT32, UINT32 = -2**31, 2**32 - 1


def result(of, good, *bad):
    """A class of agentix: accepted as dict, as slots and as the list of frozen ones."""
    values = list(good.values())
    forms = [good, (None, good), values]
    accepted = [new(of, state=[form]) for form in forms]
    refused = [new(of), call(of), call(of, *values), new(of, *values), (ref(of), "root"), new(of, state=[tuple(values)]), new(of, state=[(good, None)]),
               new(of, state=[dict(good, more=1)]), new(of, state=[values + [1]]), new(of, state=[values[:-1]]), new(of, state=[(None, values)]),
               new(of, state=[{**good, "__class__": 1}])]
    for field in good:
        refused.append(new(of, state=[{name: value for name, value in good.items() if name != field}]))
    for field, value in bad:
        changed = dict(good, **{field: value})
        refused += [new(of, state=[changed]), new(of, state=[(None, changed)]), new(of, state=[list(changed.values())])]
    return accepted, refused


def codes(field):
    return [(field, value) for value in (INT32 - 1, UINT32 + 1, True, 1.0, "1", None)]


AGENTIX = {
    "agentix.bash::BashResult": result("agentix.bash::BashResult", {"exit_code": UINT32, "stdout": "a", "stderr": ""}, *codes("exit_code"), ("stdout", b"a"), ("stderr", None)),
    "agentix.files::UploadResult": result("agentix.files::UploadResult", {"path": "/a", "size": 0}, ("path", b"/a"), ("path", "x" * 32_768), ("size", -1), ("size", "1")),
    "agentix.bridge.proxy::TunnelHandle": result("agentix.bridge.proxy::TunnelHandle", {"url": "http://a", "port": 65_535}, ("url", None), ("url", "x" * 65_536),
                                                 ("port", -1), ("port", 65_536), ("port", "1")),
    "agentix.agents.claude_code.agent::ClaudeCodeResult": result("agentix.agents.claude_code.agent::ClaudeCodeResult", {"returncode": INT32, "stdout": b"\xff", "stderr": b""},
                                                                 *codes("returncode"), ("stdout", None), ("stderr", "a")),
    "agentix.agents.qwen_code::Result": result("agentix.agents.qwen_code::Result", {"exit_code": -9, "stdout": "a", "stderr": ""}, *codes("exit_code"), ("stdout", 1), ("stderr", b"")),
    "agentix.plugins.datasets.swe.env::PrepareEnvResult": result("agentix.plugins.datasets.swe.env::PrepareEnvResult", {"ok": True, "head": None, "log": ""}, ("ok", 1),
                                                                 ("ok", None), ("head", 1), ("log", None)),
}
for name in "bool bytearray bytes complex dict float frozenset int list range set slice str tuple".split():
    AGENTIX["builtins::" + name] = ([ref("builtins::" + name), [ref("builtins::" + name)], {"dtype": (ref("builtins::" + name),)}],
                                    [new("builtins::" + name, 10**9), call("collections::deque", items=[ref("builtins::" + name)]),
                                     call("builtins::" + name, "12", state=[{}])])

AGENTIX.update({"pathlib::" + name: ([call("pathlib::" + name), call("pathlib::" + name, "/", "a"), call("pathlib._local::" + name, "x" * 32_767)],
                              [call("pathlib::" + name, b"a"), call("pathlib::" + name, "a\0"), call("pathlib::" + name, "x" * 32_768), new("pathlib::" + name),
                               call("pathlib::" + name, "a", state=[{"_str": "/b"}]), call("pathlib::" + name, call("pathlib::PosixPath", "a")),
                               (ref("pathlib::" + name), "root")]) for name in ("Path", "PurePath")})


def code(**more):
    return new("tblib::Code", state=[dict({"co_filename": "a.py", "co_name": "f"}, **more)])


def frame(of=None, **more):
    return new("tblib::Frame", state=[dict({"f_code": of or code(), "f_globals": {"__name__": "m", "__file__": "a.py"}}, **more)])


def trace(of=None, line=1, **more):
    return new("tblib::Traceback", state=[dict({"tb_frame": of or frame(), "tb_lineno": line}, **more)])


ZEROS = {"co_argcount": 0, "co_kwonlyargcount": 0, "co_posonlyargcount": 0, "co_nlocals": 0, "co_stacksize": 0, "co_flags": 64, "co_varnames": ()}
TBLIB = {
    "tblib::Code": ([trace(frame(code())), trace(frame(code(co_firstlineno=10_000_000, co_qualname="C.f", **ZEROS)))],
                    [(code(), "root")] + [trace(frame(code(**odd))) for odd in (
                        {"co_filename": 1}, {"co_name": None}, {"co_filename": "x" * 4_097}, {"co_firstlineno": 10_000_001}, {"co_firstlineno": -1}, {"co_code": b"d\0S\0"},
                        {"co_flags": 0}, {"co_varnames": ("a",)}, {"co_argcount": 1}, {"co_consts": ()})]
                    + [trace(frame(new("tblib::Code"))), trace(frame(call("tblib::Code"))), trace(frame(new("tblib::Code", state=[{"co_name": "f"}])))]),
    "tblib::Frame": ([trace(frame(f_lineno=7, f_locals={})), trace(frame(f_globals={})), trace(frame(f_globals={"__name__": None, "__file__": None}))],
                     [(frame(), "root")] + [trace(frame(**odd)) for odd in (
                         {"f_locals": {"secret": 1}}, {"f_globals": {"x": 1}}, {"f_globals": {"__name__": 1}}, {"f_globals": None}, {"f_lineno": -1}, {"f_lineno": None},
                         {"f_back": None}, {"f_code": None}, {"f_builtins": {}})] + [trace(new("tblib::Frame")), trace(frame(trace()))]),
    "tblib::Traceback": ([trace(), trace(tb_next=None), trace(tb_next=trace(tb_next=trace(line=10_000_000)))],
                         [trace(line=-1), trace(line=10_000_001), trace(line="1"), trace(tb_next=1), trace(tb_next=frame()), trace(tb_lasti=1), trace(of=code()),
                          new("tblib::Traceback"), call("tblib::Traceback", None), new("tblib::Traceback", state=[{"tb_lineno": 1}]), (ref("tblib::Traceback"), "root")]),
}
NAMES = ("sys", "__builtins__", "__dict__", "cpython", "pickling_support.unpickle_traceback", "Traceback.as_traceback", "decorators.Error")
OTHERS = [(ref("tblib::" + name), "global") for name in NAMES] + [(raw(b"ctblib.pickling_support\nunpickle_traceback\n"), "global")]


def main():
    build = sys.argv[1]
    tally = Tally()
    for rows, policy, files in ((AGENTIX, "policies/agentix.policy", ["../policies/agentix"]), (TBLIB, "tests/policy/extra.policy:traceback", ["tblib"])):
        check_rows(tally, rows, files)
        check_cases(tally, build, policy, cases_of_rows(rows))
    check_cases(tally, build, "tests/policy/extra.policy:traceback", (("general", value, cls, (0, 2, 3, 4)) for value, cls in OTHERS))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
