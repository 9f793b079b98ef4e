#!/usr/bin/python3
"""policies/agentix.policy as a guard: what a host that takes results of sandboxes asks of it.  docs/systems.md names these tests.

The modules of agentix that the policy names are made here, and so are classes of an application.

usage: test_agentix.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.
"""
import collections
import contextlib
import copyreg
import dataclasses
import datetime
import decimal
import enum
import fractions
import http.client
import http.server
import importlib.util
import io
import json
import os
import pathlib
import pickle
import queue
import subprocess
import sys
import threading
import types
import uuid

from alike import difference
from assemble import assemble, call, new, raw, ref
from guards import guard, run_by_others
from tally import Tally

tally = Tally()
check = tally.check

GUARDS = {"agentix_guard": "policies/agentix.policy"}
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
RAN = []  # by attacks


def run(*args):
    RAN.append(args)


class Attack:
    """Pickled, it is a call of a function of the host."""

    def __init__(self, function=run):
        self.function = function

    def __reduce__(self):
        return self.function, ("marker",)


def refusal(loads, data, *codes):
    """The RefusedError; with codes it has one of them."""
    del RAN[:]
    try:
        made = loads(data)
    except pickle.UnpicklingError as error:
        check(type(error).__name__ in ("RefusedError", "EmptyInputError"), repr(error))
        check(not codes or error.code in codes, "%s, not %s: %s" % (error.code, codes, error))
        check(not RAN, "%s ran" % RAN)
        return error
    check(False, "%.100r was loaded, not refused: %.100r" % (data, made))
    return None


def comes_back(loads, value, protocols=PROTOCOLS):
    for protocol in protocols:
        data = pickle.dumps(value, protocol)
        try:
            found = difference(loads(data), pickle.loads(data))
        except pickle.UnpicklingError as error:
            found = error
        check(found is None, "%.200r, protocol %d: %s" % (value, protocol, found))


def example():
    spec = importlib.util.spec_from_file_location("results", "tools/examples/agentix/results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- names


@contextlib.contextmanager
def module_named(name, **members):
    """A module of the host while it lasts."""
    parts = name.split(".")
    before = dict(sys.modules)
    for above in (".".join(parts[:n]) for n in range(1, len(parts))):
        sys.modules.setdefault(above, types.ModuleType(above))
    made = sys.modules[name] = types.ModuleType(name)
    for member, value in members.items():
        setattr(made, member, value)
    try:
        yield made
    finally:
        for other in set(sys.modules) - set(before):
            del sys.modules[other]
        sys.modules.update(before)


def bare_names_of_the_system(g):
    for name in ("subprocess::check_output", "subprocess::Popen", "builtins::eval", "os::system"):
        data = assemble(ref(name), 0)
        check(callable(pickle.loads(data)), name)
        error = refusal(g.loads, data, "R201")
        check(error.grant is None and "no policy should grant it" in str(error), str(error))


def names_of_the_guards_own_modules(g):
    """Neither its functions nor those that another guard of the host widens its list by."""
    for name in ("agentix_guard::loads", "agentix_guard::with_types", "agentix_guard::Policy", "agentix_guard::Unpickler.find_class"):
        refusal(g.loads, assemble(ref(name), 4), "R201")
    with module_named("agentix.runtime.shared.safepickle", allow_module=run, allow_callable=run, allow_type=run, _trust_enabled=run):
        for name in ("allow_module", "allow_callable", "allow_type", "_trust_enabled"):
            refusal(g.loads, assemble(ref("agentix.runtime.shared.safepickle::" + name), 0), "R201")
            refusal(g.loads, assemble(call("agentix.runtime.shared.safepickle::" + name, ref("subprocess::Popen")), 4), "R201")


def a_stream_does_not_widen_its_policy(g):
    """It names a function that widens, calls it, drops the result, and then calls what would have been admitted."""
    with module_named("agentix.runtime.shared.safepickle", allow_callable=run):
        widen = b"cagentix.runtime.shared.safepickle\nallow_callable\n(V%s\nVrun\ntR0" % __name__.encode()
        refusal(g.loads, widen + b"c%s\nrun\n(Vmarker\ntR." % __name__.encode(), "R201")
        refusal(g.loads, b"cagentix_guard\nwith_types\n(csubprocess\nPopen\ntR0csubprocess\nPopen\n(Vtrue\ntR.", "R201")
    refusal(g.loads, pickle.dumps(Attack(subprocess.Popen)), "R201")


def nothing_is_imported(g):
    __import__("xml.dom.minidom")
    kept = sys.modules.pop("xml.dom.minidom")
    try:
        refusal(g.loads, b"cxml.dom.minidom\nDocument\n.", "R201")
        check("xml.dom.minidom" not in sys.modules, "the module was imported")
        sys.modules.pop("agentix.bash", None)
        refusal(g.loads, assemble(bash_result(), 4), "R221")
        check("agentix.bash" not in sys.modules, "a module that the policy names was imported")
    finally:
        sys.modules["xml.dom.minidom"] = kept


def getters_are_refused(g):
    for name in ("operator::attrgetter", "_operator::attrgetter", "_operator::itemgetter", "_operator::methodcaller", "builtins::getattr"):
        refusal(g.loads, assemble(ref(name), 0), "R201", "R206")
        refusal(g.loads, assemble(call(name, "x"), 4), "R201", "R206")


def warm_extension_codes(g):
    """A code that was loaded before is resolved by `pickle` without asking for its class."""
    for code, opcode in ((0xFF, b"\x82\xff"), (0xFFFF, b"\x83\xff\xff"), (0x7FFFFFFF, b"\x84\xff\xff\xff\x7f")):
        data = b"\x80\x02" + opcode + b"X\x06\0\0\0marker\x85R."
        copyreg.add_extension(__name__, "run", code)
        try:
            pickle.loads(data)
            check(RAN == [("marker",)], "not warm: %s" % RAN)
            error = refusal(g.loads, data, "R203")
            check("EXT" in str(error), str(error))
            refusal(lambda d: g.Unpickler(io.BytesIO(d)).load(), data, "R203")
            refusal(lambda d: type("Own", (g.Unpickler,), {})(io.BytesIO(d)).load(), data, "R203")
        finally:
            copyreg.remove_extension(__name__, "run", code)


# ---- values

UTC = datetime.timezone.utc
PLAIN = [
    42, "hi", 3.5, True, None, b"raw", bytearray(b"ab"), 1 + 2j, range(0, 10, 2), slice(1, 9, 2), [1, 2], {"a": 1}, (1, 2), {1, 2},
    frozenset({1, 2}), {"a": [1, (2, {"b": None})]}, datetime.datetime(2024, 2, 29, 12, 30), datetime.date(2024, 2, 29),
    datetime.timedelta(days=1, seconds=2), datetime.datetime(2024, 2, 29, tzinfo=UTC), decimal.Decimal("1.25"), fractions.Fraction(1, 3),
    uuid.UUID(int=5), collections.OrderedDict(a=1), collections.Counter("aab"), collections.deque([1, 2], 5),
    collections.defaultdict(int, a=1), pathlib.PurePosixPath("/a/b"),
]


def plain_values_come_back(g):
    check(len(PLAIN) == 28, "%d values" % len(PLAIN))
    for value in PLAIN:
        comes_back(g.loads, value)
    comes_back(g.loads, [PLAIN, PLAIN])
    check(g.loads(pickle.dumps(None)) is None, "None")
    for protocol in PROTOCOLS:
        own = g.loads(pickle.dumps(own_tuple(), protocol))
        check(own[0][0] is own, "a tuple that holds itself, protocol %d" % protocol)


def own_tuple():
    inner = []
    made = (inner,)
    inner.append(made)
    return made


def all_paths_come_back(g):
    comes_back(g.loads, [pathlib.PurePosixPath("a"), pathlib.PureWindowsPath("c:/a"), pathlib.Path("/a")])
    own = type(pathlib.Path())
    for module in ("pathlib", "pathlib._local"):
        check(type(g.loads(assemble(call(module + "::Path", "a"), 4))) is own, module)
        check(type(g.loads(assemble(call(module + "::PurePath", "a"), 4))) is type(pathlib.PurePath()), module)
        check(g.loads(assemble(call(module + "::PosixPath", "a"), 4)) == pathlib.PosixPath("a"), module)
    refusal(g.loads, assemble(call("pathlib::WindowsPath", "a"), 4), "R223")


def classes_of_values_come_back(g):
    names = (bool, bytearray, bytes, complex, dict, float, frozenset, int, list, range, set, slice, str, tuple)
    check(len(names) == 14, "classes")
    comes_back(g.loads, [list(names), {"dtype": int}, (str, [float])])
    for other in (type, object, memoryview, super, property, map, len, staticmethod):
        refusal(g.loads, pickle.dumps(other), "R201", "R206")  # `object` spells other things in old protocols
        refusal(g.loads, pickle.dumps({"a": [other]}), "R201", "R212")


def exceptions_come_back(g):
    for error in (ValueError("boom"), KeyError("k"), RuntimeError("r"), OSError(2, "gone", "file"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
                  json.JSONDecodeError("bad", "{", 1), subprocess.CalledProcessError(1, ["true"])):
        for protocol in PROTOCOLS[3:]:
            made = g.loads(pickle.dumps(error, protocol))
            check(type(made) is type(error) and made.args == error.args and str(made) == str(error), repr(made))


def ends_of_the_program_are_no_values(g):
    for error in (SystemExit(0), KeyboardInterrupt(), GeneratorExit(), StopIteration(1)):
        refusal(g.loads, pickle.dumps([error]), "R201")
    refusal(g.loads, assemble(call("builtins::ValueError", "x", state=[{"__cause__": None}]), 4), "R205")


def arrays_come_back(g):
    """Shaped, strided, Fortran, of objects; scalars, dtypes; at each protocol."""
    numpy = sys.modules.get("numpy")
    if not numpy:
        print("no numpy: its arrays are not tried by this Python")
        return
    whole = numpy.arange(6).reshape(2, 3)
    for protocol in PROTOCOLS[2:]:
        for array in (whole, whole.T, whole[:, ::2], numpy.asfortranarray(whole), numpy.zeros((0, 3)), numpy.array(5.0),
                      *(numpy.zeros(3, kind) for kind in ("<f8", "<i4", "?", "i1", "S5", "<U4", ">u2", "c16")),
                      numpy.array([None, "x", {"a": decimal.Decimal(1)}], dtype=object), numpy.array([(1, 2.0)], dtype="i4,f8"),
                      numpy.array(["2024-02-29"], dtype="M8[D]")):
            made, wanted = (loads(pickle.dumps(array, protocol)) for loads in (g.loads, pickle.loads))
            check(type(made) is numpy.ndarray and made.shape == array.shape and made.tolist() == array.tolist(), repr(made))
            check(made.dtype == wanted.dtype and made.strides == wanted.strides, "%r: %s, %s" % (made, made.dtype, made.strides))
        for scalar in (numpy.float64(1.5), numpy.int8(-1), numpy.bool_(True), numpy.str_("a"), numpy.datetime64("2024-02-29")):
            made = g.loads(pickle.dumps(scalar, protocol))
            check(type(made) is type(scalar) and made == scalar, repr(made))
        comes_back(g.loads, [numpy.dtype("<f8"), numpy.float32], (protocol,))


def arrays_of_attacks_are_refused(g):
    numpy = sys.modules.get("numpy")
    if numpy:
        for protocol in PROTOCOLS[2:]:
            data = pickle.dumps(numpy.array([Attack()], dtype=object), protocol)
            refusal(g.loads, data, "R201")
            check(pickle.loads(data).shape == (1,) and RAN, "the attack is none")


def dtype(code, order="<", itemsize=-1, flags=0, sub=None):
    return call("numpy::dtype", code, False, True, state=[(3, order, sub, None, None, itemsize, -1 if itemsize < 0 else 1, flags)])


def array(shape=(2,), kind=None, data=b"\0" * 16):
    return call("numpy.core.multiarray::_reconstruct", ref("numpy::ndarray"), (0,), b"b",
                state=[(1, shape, kind or dtype("f8"), False, data)])


def arrays_that_do_not_add_up_are_refused(g):
    check(g.check(assemble(array(), 4)) is None, "the one that does")
    items = {
        "a dtype that is none": array(kind=dtype("q9")), "a text for a dtype": array(kind="f8"), "objects as bytes": array((1,), dtype("O8", "|", flags=63), b"\0" * 8),
        "items of no size": array((2**40,), dtype("S0", "|", 0), b""), "a dtype's size is another": array((2,), dtype("S5", "|", 6)),
        "a shape of text": array(("2",)), "a negative shape": array((-2,)), "a float in a shape": array((2.0,)), "too few bytes": array((3,)),
        "too many bytes": array((1,)), "too many dimensions": array((1,) * 65, data=b"\0" * 8),
        "a sub-array as the whole": array((1,), dtype("V16", "|", 16, sub=(dtype("f8"), (2,)))), "a product that overflows": array((2**32, 2**32)),
        "void in a text": array(kind=dtype("V0x", "|", 16)), "text that is no bytes": array(data="\0" * 16),
        "a list for bytes": array(data=[1.0, 2.0]), "a list that is too short": array((2,), dtype("O8", "|", flags=63), [1]),
    }
    for what, value in items.items():
        error = refusal(g.loads, assemble(value, 4))
        check(error and error.cls in ("recipe", "native"), "%s: %s" % (what, error))
    deep = []
    for _ in range(1100):
        deep = [deep]
    refusal(g.loads, assemble(raw(b"(l" * 1100 + b"a" * 1099), 0), "R301")
    for cut in (b"", b"\x80", b"\x80\x04", b"\x80\x04]", b"\x80\x09N."):
        refusal(g.loads, cut)


# ---- the classes of agentix

FIRST_PARTY = {
    "agentix.bash::BashResult": {"exit_code": 1, "stdout": "out", "stderr": ""},
    "agentix.files::UploadResult": {"path": "/tmp/a", "size": 7},
    "agentix.bridge.proxy::TunnelHandle": {"url": "http://127.0.0.1:8", "port": 8},
    "agentix.agents.claude_code.agent::ClaudeCodeResult": {"returncode": 0, "stdout": b"o\xff", "stderr": b""},
    "agentix.agents.qwen_code::Result": {"exit_code": -9, "stdout": "", "stderr": "e"},
    "agentix.plugins.datasets.swe.env::PrepareEnvResult": {"ok": True, "head": "abc", "log": "l"},
}


def bash_result(**fields):
    return new("agentix.bash::BashResult", state=[dict(FIRST_PARTY["agentix.bash::BashResult"], **fields)])


def class_of(name, fields, **options):
    module, qualname = name.split("::")
    made = dataclasses.make_dataclass(qualname, [(field, object) for field in fields], **options)
    made.__module__ = module
    return made


def slotted(name, fields):
    """As `slots=True` makes them from Python 3.10 on."""
    module, qualname = name.split("::")
    made = type(qualname, (), {"__slots__": tuple(fields), "__module__": module})
    return made


@contextlib.contextmanager
def loaded(classes):
    with contextlib.ExitStack() as stack:
        for name, made in classes.items():
            stack.enter_context(module_named(name.split("::")[0], **{made.__name__: made}))
        yield


def fresh(g):
    """A policy none of whose rows is bound to a class yet."""
    return g.with_types(type("Unknown", (), {"__module__": __name__}))


def first_party_results_come_back(g):
    kinds = [class_of, slotted]
    if sys.version_info >= (3, 10):
        kinds += [lambda n, f: class_of(n, f, slots=True), lambda n, f: class_of(n, f, slots=True, frozen=True)]
    for kind in kinds:
        classes = {name: kind(name, fields) for name, fields in FIRST_PARTY.items()}
        with loaded(classes):
            policy = fresh(g)
            for name, fields in FIRST_PARTY.items():
                value = object.__new__(classes[name])
                for field, part in fields.items():
                    object.__setattr__(value, field, part)
                for protocol in PROTOCOLS[2:]:
                    made = policy.loads(pickle.dumps([value], protocol))[0]
                    check(type(made) is classes[name] and {f: getattr(made, f) for f in fields} == fields, "%s: %r" % (name, made))


def their_fields_are_exact(g):
    """A missing field, one more, one of another type: refused, also as slots and as the list of frozen ones."""
    for name, fields in FIRST_PARTY.items():
        values = list(fields.values())
        check(g.check(assemble(new(name, state=[fields]), 4)) is None, name)
        check(g.check(assemble(new(name, state=[(None, fields)]), 4)) is None, name)
        check(g.check(assemble(new(name, state=[values]), 4)) is None, name)
        for field in fields:
            less = {f: v for f, v in fields.items() if f != field}
            for state in (less, dict(fields, **{field: [1]}), dict(fields, **{field: ref("builtins::int")}), dict(fields, more=1)):
                for form in (state, (None, state), (state, None), list(state.values())):
                    refusal(g.loads, assemble(new(name, state=[form]), 4), "R205")
        for odd in (new(name), call(name, *values), new(name, *values), new(name, state=[tuple(values)]), new(name, state=[dict(fields, __class__=1)])):
            refusal(g.loads, assemble(odd, 4), "R205")
    for exit_code in (True, 2.0, 2**32, -2**31 - 1, None):
        refusal(g.loads, assemble(bash_result(exit_code=exit_code), 4), "R205")
    refusal(g.loads, assemble(new("agentix.bash::Other", state=[{}]), 4), "R201")
    refusal(g.loads, assemble(new("agentix.bash::BashResult.run"), 4), "R201")


# ---- classes of an application


@dataclasses.dataclass
class Report:
    title: str
    score: float = 0.5


@dataclasses.dataclass
class Sibling:
    title: str


class Mode(enum.Enum):
    FAST = "fast"


class Perm(enum.Flag):
    R = 4
    W = 2


Point = collections.namedtuple("Point", "x y")


class Model:
    """Its state is that of a pydantic model, version 2."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __getstate__(self):
        return {"__dict__": vars(self), "__pydantic_extra__": None, "__pydantic_fields_set__": set(vars(self)), "__pydantic_private__": None}

    def __setstate__(self, state):
        self.__dict__.update(state["__dict__"])


def models():
    """Of pydantic itself, too, where there is one."""
    yield Model(title="a", score=1.0)
    try:
        pydantic = __import__("pydantic")
    except ImportError:
        return
    made = pydantic.create_model("Sent", title=(str, ...), score=(float, 0.5), __module__=__name__)
    globals()["Sent"] = made
    yield made(title="a")


def classes_are_refused_until_they_are_named(g):
    for value, others in ((Report("a"), Sibling("a")), (Mode.FAST, Perm.R), (Point(1, 2), Report("a")), (Perm.R | Perm.W, Mode.FAST)):
        refusal(g.loads, pickle.dumps(value), "R201")
        mine = g.with_types(type(value))
        comes_back(mine.loads, [value, {"a": value}])
        refusal(mine.loads, pickle.dumps(others), "R201")
        refusal(g.loads, pickle.dumps(value), "R201")
    check(g.with_types(Mode).loads(pickle.dumps(Mode.FAST)) is Mode.FAST, "another member")


def models_are_refused_until_they_are_named(g):
    for value in models():
        for protocol in PROTOCOLS[2:]:
            data = pickle.dumps(value, protocol)
            refusal(g.loads, data, "R201")
            made = g.with_types(type(value)).loads(data)
            check(type(made) is type(value) and made == value, repr(made))


def a_name_that_is_bound_again(g):
    """What is under a name when the guard is made, or when it is first met, counts; a function is never taken for a class."""
    kept, datetime.date = datetime.date, run
    try:
        check(g.loads(assemble(call("datetime::date", b"\x07\xe8\x02\x1d"), 4)) == kept(2024, 2, 29), "another date")
        check(not RAN, "the function ran")
    finally:
        datetime.date = kept
    with module_named("agentix.bash", BashResult=run):
        error = refusal(fresh(g).loads, assemble(bash_result(), 4), "R222")
        check("agentix.bash::BashResult" in str(error), str(error))


def a_named_class_wins_over_its_module(g):
    mine, data = g.with_types(Report), pickle.dumps(Report("a"))
    kept, globals()["Report"] = Report, object
    try:
        made = mine.loads(data)
        check(type(made) is kept and made == kept("a"), repr(made))
    finally:
        globals()["Report"] = kept


def what_is_no_class_is_not_named(g):
    for what in (object(), run, len, "m.C", sys):
        try:
            g.with_types(what)
            check(False, "with_types takes %r" % what)
        except TypeError as error:
            check("class" in str(error), str(error))
    for what in (subprocess.Popen, type, object, int, types.FunctionType, KeyboardInterrupt, pickle.Unpickler):
        try:
            g.with_types(what)
            check(False, "with_types takes %r" % what)
        except ValueError as error:
            check(what.__name__ in str(error), str(error))
    for name in ("allow_module", "allow_callable", "allow_type"):
        check(not hasattr(g, name) and not hasattr(fresh(g), name), name)


def a_refusal_says_how_to_opt_in(g):
    data = assemble(new("app.reports::Report", state=[{"title": "a"}]), 4)
    text = ("refused: global app.reports::Report is not granted [R201]\n"
            "    at byte 23, STACK_GLOBAL, at $, policy agentix 1\n"
            "    grant: module app.reports { class Report new() state any because \"TODO\"; }\n"
            "    in Python: if app.reports.Report is a class of yours, with_types(app.reports.Report) gives a Policy that admits it, or says why not")
    error = refusal(g.loads, data, "R201")
    check(str(error) == text, "%s\n%s" % (error, text))
    check(isinstance(error, pickle.UnpicklingError) and error.module == "app.reports" and error.name == "Report", repr(error))
    for hidden in ("app\u202e::Report", "app::a\nb"):
        check("in Python" not in str(refusal(g.loads, assemble(ref(hidden), 4), "R201")), hidden)


# ---- transports


def trust_is_another_object(g):
    results = example()
    data = pickle.dumps(Attack())
    for word in ("", "0", "on", "enabled"):
        try:
            results.Trusted({"AGENTIX_PICKLE_TRUST": word})
            check(False, "%r is trust" % word)
        except ValueError:
            check(True, word)
    kept = dict(os.environ)
    os.environ["AGENTIX_PICKLE_TRUST"] = " Yes "
    try:
        refusal(g.loads, data, "R201")
        trusted = results.Trusted()
        os.environ["AGENTIX_PICKLE_TRUST"] = "0"
        check(trusted.loads(pickle.dumps(Jsoned())) == "[1, 2, 3]", "the trusted one runs what it is told")
    finally:
        os.environ.clear()
        os.environ.update(kept)
    refusal(g.loads, pickle.dumps(Jsoned()), "R201")


class Jsoned:
    def __reduce__(self):
        return json.dumps, ([1, 2, 3],)


@contextlib.contextmanager
def server_of(body):
    """The port of a server of the host itself, which answers each request with `body`."""

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def reply_by_http(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/call", body=b"{}")
    answer = connection.getresponse()
    value = answer.read()
    connection.close()
    return {"ok": answer.status == 200, "value": value}


def replies_by_http(g):
    result_of = example().result_of
    with server_of(pickle.dumps(Attack())) as port:
        refusal(lambda reply: result_of(reply, g.loads), reply_by_http(port), "R201")
    with server_of(pickle.dumps({"a": PLAIN})) as port:
        check(difference(result_of(reply_by_http(port), g.loads), {"a": PLAIN}) is None, "an honest reply")
    for value in models():
        with server_of(pickle.dumps(value)) as port:
            check(result_of(reply_by_http(port), g.with_types(type(value)).loads) == value, "a model")


def replies_by_a_queue(g):
    result_of, sent = example().result_of, queue.Queue()

    def remote(loads):
        return result_of(sent.get(timeout=60), loads)

    for value in (pickle.dumps(Attack()), pickle.dumps([1])):
        threading.Thread(target=sent.put, args=({"call_id": 1, "ok": True, "value": value},)).start()
        if b"run" in value:
            refusal(lambda _: remote(g.loads), value, "R201")
        else:
            check(remote(g.loads) == [1], "an honest reply")
    sent.put({"ok": True})
    check(remote(g.loads) is None, "no value")


def errors_of_the_sandbox_are_typed(g):
    results = example()
    for reply, kind, text in (
            ({"ok": False, "error": {"type": "ValueError", "message": "m", "traceback": "t"}}, results.RemoteError, "ValueError: m"),
            ({"ok": False, "error": {"type": "X", "cancelled": True}}, results.CallCancelled, "X: "),
            ({"ok": False, "error": {"type": 7, "message": []}}, results.RemoteError, "Unknown: "),
            ({"ok": False}, results.RemoteError, "MalformedError"), ({}, results.RemoteError, "MalformedError"),
            ({"ok": False, "error": "text"}, results.RemoteError, "MalformedError"), ([], results.RemoteError, "MalformedReply")):
        try:
            results.result_of(reply, g.loads)
            check(False, "%r is a result" % (reply,))
        except results.RemoteError as error:
            check(type(error) is kind and text in str(error), repr(error))


def load_modules():
    for name in ("numpy", "asyncio", "json.decoder", "sqlite3"):
        with contextlib.suppress(ImportError):
            __import__(name)


def main():
    build = sys.argv[1]
    load_modules()
    g = guard(build, "agentix_guard")
    tally.run((bare_names_of_the_system, names_of_the_guards_own_modules, a_stream_does_not_widen_its_policy, nothing_is_imported,
               getters_are_refused, warm_extension_codes, plain_values_come_back, all_paths_come_back, classes_of_values_come_back,
               exceptions_come_back, ends_of_the_program_are_no_values, arrays_come_back, arrays_of_attacks_are_refused,
               arrays_that_do_not_add_up_are_refused, first_party_results_come_back, their_fields_are_exact,
               classes_are_refused_until_they_are_named, models_are_refused_until_they_are_named, a_name_that_is_bound_again,
               a_named_class_wins_over_its_module, what_is_no_class_is_not_named, a_refusal_says_how_to_opt_in, trust_is_another_object,
               replies_by_http, replies_by_a_queue, errors_of_the_sandbox_are_typed), g)
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
