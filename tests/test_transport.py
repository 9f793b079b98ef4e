#!/usr/bin/python3
"""tools/examples/transport: replies of a child to its parent in lines, against real readers of asyncio and a real child.

usage: test_transport.py BUILD [--alone | --child]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the module is built into BUILD/python; --alone leaves that out.  With --child it
is the child.
"""
import asyncio
import base64
import builtins
import json
import os
import pathlib
import pickle
import re
import sys
import tempfile

import tblib_samples
from guards import guard, run_by_others
from policyc import Policyc
from tally import Tally

tblib_samples.install()
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "tools", "examples", "transport")
sys.path.insert(0, EXAMPLE)
import child  # noqa: E402
import describe  # noqa: E402
import learning  # noqa: E402
import parent  # noqa: E402
import settings  # noqa: E402
import wire  # noqa: E402

tally = Tally()
check = tally.check

GUARDS = {"pysandboxes_guard": "policies/pysandboxes.policy"}
BASE = "policies/pysandboxes.policy:result"
GROUP = getattr(builtins, "ExceptionGroup", None)


# ---- what the child runs


class NoEq:
    def __init__(self, name):
        self.name, self.peer = name, self


class Stateful(Exception):
    def __init__(self, message, path):
        super().__init__(message)
        self.path = path


class OwnTransportError(wire.TransportError):
    """An application's, which derives from the transport's."""


class Gadget:
    def __reduce__(self):
        return os.system, ("touch gadget-ran",)


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def give(value):
    return value


def fail(error):
    raise error


def fail_by(name, *args):
    raise getattr(builtins, name)(*args)


def fail_with_state():
    raise Stateful("message", pathlib.Path("a"))


def fail_after_denials():
    try:
        raise PermissionError("open: /etc/shadow")
    except PermissionError:
        try:
            raise KeyError("second")
        except KeyError as error:
            raise ValueError("third") from error


def fail_as_group():
    raise GROUP("several", [ValueError("one"), OSError(2, "gone", "a.txt"), GROUP("inner", [KeyError("k")])])


def fail_as_large_group():
    member = ValueError("x" * 60_000)
    for _ in range(12):
        member = GROUP("level", [member] * 12)
    raise member


def fail_deep(depth):
    return fail_deep(depth - 1) if depth else fail(RuntimeError("deep"))


def fail_at_length(characters):
    raise ValueError("\u20ac" * characters, Gadget())


def fail_with_bytes(count):
    raise ValueError(bytes(count))


def fail_unspeakably():
    raise Unspeakable(1)


def say(characters, text="x"):
    print(text * characters, end="")
    return characters


def make_gadget():
    return Gadget()


def make_no_eq():
    return NoEq("n")


def lambda_of():
    return lambda: None


# ---- readers


async def with_reader(data, read):
    """What `read` makes of an open connection that sends this, in pieces, and then ends."""
    sent = asyncio.Event()

    async def serve(reader, writer):
        try:
            for at in range(0, len(data), 50_000):
                writer.write(data[at:at + 50_000])
                await writer.drain()
        except ConnectionError:
            pass  # who has read enough hangs up
        finally:
            writer.close()
            sent.set()

    with tempfile.TemporaryDirectory() as folder:
        server = await asyncio.start_unix_server(serve, folder + "/socket")
        reader, writer = await asyncio.open_unix_connection(folder + "/socket", limit=wire.LINE)
        try:
            return await read(reader)
        finally:
            writer.close()
            await sent.wait()
            server.close()


def received(g, data, profile=None, objects=None, lessons=None, session="s"):
    """The reply that these bytes are to a parent."""
    home = parent.Parent(g, profile or settings.Profile(), objects, lessons)
    return asyncio.run(with_reader(data, lambda reader: home.reply(reader, session)))


def error_of(make, *kinds):
    try:
        made = make()
    except kinds as error:
        return error
    except Exception as error:
        check(False, "%r, none of %s" % (error, kinds))
        return None
    check(False, "%.200r, no error" % (made,))
    return None


# ---- lines


def longest_line(session="s"):
    """What is printed beside the largest pickle, so that the line is as long as a line can be."""
    pickled = of_length(wire.PAYLOAD)
    empty = child.result_line(session, pickled)
    return pickled, wire.LINE - (len(empty) - 2)


def of_length(length):
    """A value whose pickle has this length."""
    value = bytes(length - 100)
    return value + bytes(length - len(pickle.dumps(value, 5)))


def the_largest_line_is_read(g):
    value, room = longest_line()
    check(len(pickle.dumps(value, 5)) == wire.PAYLOAD == 393_216, "the largest pickle")
    check(wire.ENVELOPE - 100 < room < wire.ENVELOPE, "%d characters are left" % room)
    line = child.result_line("s", value, "x" * room)
    check(len(line) == wire.LINE + 2 and line.endswith(b"\n\n") and wire.LINE == 524_288, "%d characters" % len(line))
    reply = received(g, line)
    check(reply.value() == value and reply.stdout == "x" * room, "the largest line")


def a_longer_line_is_not(g):
    value, room = longest_line()
    error = error_of(lambda: child.result_line("s", value, "x" * (room + 1)), wire.TooLongError)
    check("524289" in str(error) and "524288" in str(error), str(error))
    error = error_of(lambda: child.result_line("s", value + b"x"), wire.TooLongError)
    check("393217" in str(error) and "393216" in str(error), str(error))
    line = child.result_line("s", value, "x" * room).replace(b'"stderr":""', b'"stderr":"y"')
    check(len(line) == wire.LINE + 3, "%d characters" % len(line))
    error_of(lambda: received(g, line), wire.TooLongError)
    error_of(lambda: received(g, b"data: " + b"x" * 3_000_000), wire.TooLongError)
    with_first = received(g, b":" + b"c" * 1000 + b"\n\nevent: reply\n" + child.result_line("s", 1) + line)
    check(with_first.value() == 1, "other lines of an event stream")


def the_budget_of_bytes_is_that_of_the_line(g):
    """What the channel takes fits the line, and no more is decoded from base85."""
    for length in (wire.PAYLOAD, wire.PAYLOAD + 1):
        pickled = pickle.dumps(of_length(length), 5)
        if length == wire.PAYLOAD:
            check(len(g.result.loads(pickled)) > length - 100, "the budget itself")
            check(len(wire.to_text(pickled)) == 491_520 == wire.LINE - wire.ENVELOPE and wire.from_text(wire.to_text(pickled)) == pickled, "base85")
        else:
            check(error_of(lambda: g.result.loads(pickled), g.RefusedError).code == "R301", "one more")
            error_of(lambda: wire.to_text(pickled), wire.TooLongError)
            error_of(lambda: wire.from_text(base64.b85encode(pickled).decode()), wire.TooLongError)
    every = base64.b85encode(bytes(range(256)) * 64).decode()
    check(json.dumps(every) == '"%s"' % every, "base85 is escaped")


def lines_are_ascii(g):
    """Whatever is printed: a character of the text may be twelve of the line, and is counted so."""
    for text in ("\u20ac\U0001f600\ud800\udfff\0\n\r\u2028", "data: x\n\n", "", "\x1b[0m"):
        line = child.result_line("s", None, text, text)
        check(line.isascii() and line.count(b"\n") == 2, repr(line))
        reply = received(g, line)
        check(reply.stdout == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") and reply.value() is None, repr(reply.stdout))
    most = (wire.LINE - len(child.result_line("s", None)) + 2) // 12
    check(len(child.result_line("s", None, "\U0001f600" * most)) > wire.LINE - 12, "as many as fit")
    error_of(lambda: child.result_line("s", None, "\U0001f600" * (most + 1)), wire.TooLongError)


def what_is_no_reply_is_an_error_of_the_transport(g):
    good = wire.to_text(pickle.dumps(1, 5))
    cases = ["", "{}", "[]", "1", "null", "x", "{", "\u20ac", '"' + "x" * 100, "[" * 100_000, "9" * 500_000, '{"a":' * 50_000,
             json.dumps({"result": good}), json.dumps({"session_id": "s"}), json.dumps({"session_id": "other", "result": good}),
             json.dumps({"session_id": 1, "result": good}), json.dumps({"session_id": "s", "result": 1}), json.dumps({"session_id": "s", "result": None}),
             json.dumps({"session_id": "s", "result": [good]}), json.dumps({"session_id": "s", "result": good, "error": "e"}),
             json.dumps({"session_id": "s", "exception": "", "error": "e"}), json.dumps({"session_id": "s", "exception": good}),
             json.dumps({"session_id": "s", "exception_fallback": good}), json.dumps({"session_id": "s", "result": good, "exception_fallback": good}),
             json.dumps({"session_id": "s", "result": good, "more": 1}), json.dumps({"session_id": "s", "result": good, "more": "1"}),
             '{"session_id":"s","session_id":"s","result":"%s"}' % good, '{"session_id":"s","result":NaN}', json.dumps({"session_id": "s", "cancelled": 1}),
             json.dumps({"session_id": "s", "result": "\u20ac"}), json.dumps({"session_id": "s", "result": '"'}), json.dumps({"session_id": "s", "result": "~~~~~"}),
             json.dumps({"session_id": "s", "result": good, "stdout": 5})]
    for case in cases:
        error_of(lambda: received(g, b"data: " + case.encode() + b"\n\n"), wire.TransportError)
    for data in (b"", b"\n\n", b"data: {", child.result_line("s", 1)[:-2], b": only a comment\n"):
        error = error_of(lambda: received(g, data), wire.TransportError)
        check("ended" in str(error), str(error))
    error = error_of(lambda: received(g, child.error_line("s", "no such function")), wire.TransportError)
    check(str(error) == "the child says: no such function", str(error))
    error = error_of(lambda: received(g, wire.to_line({"session_id": "s", "cancelled": True})), wire.TransportError)
    check("cancelled" in str(error) and parent.denials(error) is None, str(error))


def what_a_child_forges_is_refused(g):
    """Whoever writes the line himself gets no further than the channels."""
    gadget, form = pickle.dumps(Gadget(), 5), pickle.dumps((("builtins", "ValueError", "v", []), tblib_samples.Traceback(caught().__traceback__)), 5)
    for data in (gadget, b"\x80\x05" + b"(" * 300 + b".", b"", b"cos\nsystem\n(S'true'\ntR.", pickle.dumps([1], 3)):
        error_of(received(g, wire.to_line({"session_id": "s", "result": wire.to_text(data)})).value, g.RefusedError)
        reply = wire.to_line({"session_id": "s", "exception": wire.to_text(data), "exception_fallback": wire.to_text(data)})
        error_of(received(g, reply).value, g.RefusedError)
        reply = wire.to_line({"session_id": "s", "exception": wire.to_text(data), "exception_fallback": wire.to_text(form)})
        error = error_of(received(g, reply).value, ValueError)
        check(str(error) == "v" and parent.denials(error) == (), repr(error))
    error = error_of(received(g, wire.to_line({"session_id": "s", "exception": "", "exception_fallback": ""})).value, g.RefusedError)
    check("neither" in str(error) and not os.path.exists("gadget-ran"), str(error))


def caught():
    return error_of(lambda: fail_by("KeyError", "inner"), KeyError)


# ---- a real child


class Home:
    """A parent with a child that runs."""

    def __init__(self, g, build, **options):
        self.parent, self.build, self.number = parent.Parent(g, options.pop("profile", settings.Profile()), **options), build, 0

    async def start(self):
        self.process = await asyncio.create_subprocess_exec(sys.executable, "-B", os.path.abspath(__file__), self.build, "--child", limit=wire.LINE,
                                                            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)

    async def call(self, function, *args):
        self.number += 1
        session = "call-%d" % self.number
        self.process.stdin.write(parent.call_line(session, function, args))
        await self.process.stdin.drain()
        return await asyncio.wait_for(self.parent.reply(self.process.stdout, session), 60)

    async def raised(self, function, *args):
        reply = await self.call(function, *args)
        return error_of(reply.value, Exception)

    async def end(self):
        self.process.stdin.close()
        check(await self.process.wait() == 0, "the child's status")


def with_child(test):
    def run(g, build):
        async def within():
            home = Home(g, build)
            await home.start()
            try:
                await test(g, home)
                await home.end()
            finally:
                if home.process.returncode is None:
                    home.process.kill()

        asyncio.run(within())
    run.__name__ = test.__name__
    return run


@with_child
async def calls_are_answered(g, home):
    for value in (1, "s", b"b", [1, {"a": (2.5, None)}], pathlib.PurePosixPath("a/b"), {1, 2}, 2**70):
        check((await home.call(give, value)).value() == value, repr(value))
    reply = await home.call(say, 3)
    check((reply.value(), reply.stdout, reply.stderr) == (3, "xxx", ""), repr(reply.stdout))
    reply = await home.call(give, of_length(wire.PAYLOAD))
    check(len(reply.value()) > wire.PAYLOAD - 100, "the largest result")


@with_child
async def what_is_too_long_is_said(g, home):
    """And the next call is answered."""
    for function, args in ((give, (bytes(wire.PAYLOAD),)), (say, (wire.LINE,)), (say, (100_000, "\U0001f600")), (lambda_of, ())):
        try:
            await home.call(function, *args)
            check(False, "%s was answered" % function)
        except wire.TransportError as error:
            check("the child says: " in str(error), str(error))
        check((await home.call(give, 1)).value() == 1, "the next call")


@with_child
async def exceptions_cross(g, home):
    for name, args in (("ValueError", ("v",)), ("KeyError", ("k",)), ("OSError", (2, "gone", "a.txt")), ("FileNotFoundError", (2, "gone", "a", None, "b")),
                       ("UnicodeDecodeError", ("utf-8", b"a\xff", 1, 2, "bad")), ("UnicodeEncodeError", ("ascii", "\xff", 0, 1, "bad")), ("ImportError", ("no",)),
                       ("ZeroDivisionError", ()), ("BlockingIOError", (11, "later", 5)), ("SyntaxError", ("bad", ("f", 1, 2, "x")))):
        sent = getattr(builtins, name)(*args)
        made = await home.raised(fail_by, name, *args)
        check(type(made) is type(sent) and str(made) == str(sent) and made.args == sent.args and made.__remote_refusal__ is None, repr(made))
        check(getattr(made, "filename", None) == getattr(sent, "filename", None), repr(made))
        lines = made.__remote_traceback__.lines()
        check([name for _, name, _ in lines] == ["fail_by"], str(lines))
    made = await home.raised(fail_with_state)
    check(type(made) is Stateful and str(made) == "message" and made.path is not None and made.__remote_refusal__ is None, repr(made))
    made = await home.raised(fail_unspeakably)
    check(isinstance(made, Unspeakable) and str(made) == "", repr(type(made)))
    made = await home.raised(fail_by, "TypeError", "it is the function's")
    check(type(made) is TypeError, repr(made))
    made = await home.raised(fail_by)
    check(type(made) is TypeError and "fail_by" in str(made), repr(made))


def both_forms_say_the_same(g):
    """By the words alone, too, numbers, files and texts are kept."""
    for name, args in (("KeyError", ("k",)), ("OSError", (2, "gone", "a.txt")), ("FileNotFoundError", (2, "gone", "a", None, "b")), ("ImportError", ("no",)),
                       ("UnicodeDecodeError", ("utf-8", b"a\xff", 1, 2, "bad")), ("BlockingIOError", (11, "later", 5)), ("SyntaxError", ("bad", ("f", 1, 2, "x")))):
        sent = error_of(lambda: fail_by(name, *args), Exception)
        rich, words = describe.encode_exception(sent)
        for made in (g.decode_exception(rich, words), g.decode_exception(b"", words)):
            check(isinstance(made, type(sent)) and str(made) == str(sent), repr(made))
            for field in ("errno", "strerror", "filename", "filename2") if isinstance(sent, OSError) else ():
                check(getattr(made, field) == getattr(sent, field), "%r: %s" % (made, field))


@with_child
async def denials_cross(g, home):
    made = await home.raised(fail_after_denials)
    check(type(made) is ValueError and parent.denials(made) == ("PermissionError: open: /etc/shadow",), "%r %s" % (made, parent.denials(made)))
    check(made.__cause__ is None and made.__context__ is None, "its past")
    made = await home.raised(fail, OwnTransportError("mine"))
    check(isinstance(made, OwnTransportError) and parent.denials(made) == () and str(made) == "mine", "raised by the function: %r" % made)


@with_child
async def ends_do_not_end(g, home):
    """SystemExit and its like end the call, in neither process more."""
    for name, args, text in (("SystemExit", (3,), "3"), ("SystemExit", (0,), "0"), ("SystemExit", (None,), "None"), ("SystemExit", ("bye",), "bye"),
                             ("KeyboardInterrupt", (), ""), ("GeneratorExit", (), ""), ("BaseException", ("b",), "b"), ("StopIteration", (1,), "1")):
        made = await home.raised(fail_by, name, *args)
        check(type(made) is g.RemoteError and (made.module, made.qualname, made.message) == ("builtins", name, text), repr(made))
        check((await home.call(give, name)).value() == name, "the next call")


@with_child
async def groups_cross(g, home):
    if not GROUP:
        return
    made = await home.raised(fail_as_group)
    check(type(made) is GROUP and str(made) == "several (3 sub-exceptions)", repr(made))
    check(made.exceptions[0].args == ("one",) and made.exceptions[1].filename == "a.txt" and made.exceptions[2].exceptions[0].args == ("k",), repr(made))
    sent = error_of(fail_as_group, GROUP)
    made = g.decode_exception(b"", describe.encode_exception(sent)[1])
    check(type(made) is GROUP and made.exceptions[1].filename == "a.txt" and made.exceptions[2].exceptions[0].args == ("k",), repr(made))
    made = await home.raised(fail_as_large_group)
    check(type(made) is GROUP and "level" in str(made) and 1 < members_in(made) <= describe.MOST_MEMBERS, str(made)[:200])


@with_child
async def large_exceptions_cross(g, home):
    """Whatever their text, state or depth: in words that fit."""
    for characters in (1_000, 65_536, 300_000):
        made = await home.raised(fail_at_length, characters)
        check(isinstance(made, ValueError) and (made.__remote_refusal__ or characters > 100_000), repr(type(made)))
        check("\u20ac" * 1_000 in str(made) or characters > 100_000 and "\u20ac" * 100 in str(made), str(made)[:100])
    made = await home.raised(fail_with_bytes, 380_000)  # each form fits, and not both
    check(type(made).__name__ == "ValueError" and made.__remote_refusal__ is None and len(str(made)) == describe.LONGEST_TEXTS[0], repr(type(made)))
    made = await home.raised(fail_deep, 900)
    names = [name for _, name, _ in made.__remote_traceback__.lines()]
    check(type(made) is RuntimeError and names[-1] == "fail" and len(names) == describe.MOST_FRAMES, str(len(names)))
    made = await home.raised(fail_deep, 100_000)
    check(type(made) is RecursionError, repr(made))


@with_child
async def gadgets_of_a_child_are_refused(g, home):
    reply = await home.call(make_gadget)
    error = error_of(reply.value, g.RefusedError)
    check(error.code == "R201" and not os.path.exists("gadget-ran"), str(error))
    error = error_of((await home.call(make_no_eq)).value, g.RefusedError)
    check("with_types" in str(error), str(error))


def every_exception_has_words(g):
    """Also those whose parts are odd."""
    class Odd(Exception):
        args = property(lambda self: 1 / 0)
        exceptions = ("no", "exceptions")
        __module__ = 5

    class Word(str):
        pass

    looped = ValueError("loop")
    looped.__context__ = KeyError("other")
    looped.__context__.__context__ = looped
    chain = PermissionError("innermost")
    for number in range(5_000):
        chain, chain.__context__ = PermissionError(str(number)), chain
    for sent in (Odd("o"), ValueError(Word("w")), ValueError(*range(40)), ValueError("\ud800"), OSError(9, "Bad", 3), OSError(2, "g", pathlib.Path("p")),
                 OSError(2, "g", ["f"]), OSError(Word("a"), Word("b")), ValueError(2**64), ValueError(-2**63), ValueError(float("nan")), ValueError(b"x" * 70_000),
                 type("N" * 3_000, (Exception,), {})("name"), looped, chain, Exception("x" * 10**6)):
        made = g.decode_exception(b"", describe.encode_exception(error_of(lambda: fail(sent), Exception))[1])
        check(isinstance(made, Exception) and made.__remote_refusal__ is None, repr(made))
        text = str(sent)
        check(text[:200] in str(made), "%.100s: %.100s" % (text, made))
        check(not isinstance(sent, PermissionError) or 50 < len(parent.denials(made)) <= describe.MOST_DENIALS, str(parent.denials(made))[:100])
    check(getattr(g.decode_exception(b"", describe.encode_exception(error_of(lambda: fail(OSError(2, "g", pathlib.Path("p"))), OSError))[1]), "filename") == "p", "a path")


def members_in(error):
    return sum(1 + members_in(one) for one in getattr(error, "exceptions", ()))


# ---- the profile


def write_profile(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
    return file.name


def keys_of_profiles(g):
    none = settings.Profile()
    check((none.guard, none.mode, none.learn) == (True, "data-only", None) and none.policy(g.result) is g.result, "before anything is read")
    with tempfile.TemporaryDirectory() as folder:
        def profile(text, *command_line):
            return settings.Profile(write_profile(folder, "main.profile", text), command_line)

        for value, wanted in (("", True), ("true", True), ("1", True), ("on", True), ("ON", True), ("false", False), ("none", False), ("0", False), ("off", False)):
            check(profile("remote-result-guard=%s\n" % value).guard is wanted, value)
        for value, wanted in (("data-only", "data-only"), ("data_only", "data-only"), ("objects", "objects"), ("default", "objects"), (" Objects ", "objects")):
            check(profile("remote-result-mode = %s # why\n" % value).mode == wanted, value)
        check(profile("learn=app.policy\n").learn == "app.policy" and profile("learn=false\n").learn is None, "learn")
        for text in ("remote-result-guard=maybe", "remote-result-mode=all", "remote-result-mode=", "learn=true", "learn=1", "learn=0", "learn=",
                     "remote-result-mode=objects\nremote-result-mode=data-only", "learn=a.policy\nlearn=b.policy", "learn=false\nlearn=a.policy",
                     "remote-result-guard=false\nremote-result-mode=objects", 'include "main.profile"', 'include "none.profile"'):
            error_of(lambda: profile(text + "\n"), settings.ProfileError)
        # Others of its keys, comments and what is commented out say nothing.
        other = profile("port=1\nenv=A=B\nnet=DENY|TCP|0.0.0.0/0|1-65535|OUT\n# remote-result-mode=objects\npickle-class=x\nremote-result-mode\n\n")
        check((other.guard, other.mode, other.learn) == (True, "data-only", None), "other keys")
        # An included file counts; the command line wins; a lock holds.
        write_profile(folder, "below.profile", "remote-result-mode=data-only\n")
        check(profile('include "below.profile"\nremote-result-mode=data_only\n').mode == "data-only", "the same twice")
        error_of(lambda: profile('include "below.profile"\nremote-result-mode=objects\n'), settings.ProfileError)
        check(profile('include "below.profile"\n', "remote-result-mode=objects").mode == "objects", "the command line")
        error_of(lambda: profile("learn=false\n", "learn=app.policy"), settings.ProfileError)
        error_of(lambda: profile("", "remote-result-mode=objects", "remote-result-mode=data-only"), settings.ProfileError)


def modes_are_channels(g):
    """Guard off changes nothing where data alone is taken; objects are what the host names."""
    line = child.result_line("s", Report("n", 1))
    for settled in (settings.Profile(), settings.Profile(None, ["remote-result-guard=false"])):
        error_of(received(g, line, settled).value, g.RefusedError)
    objects = settings.Profile(None, ["remote-result-mode=objects"])
    error_of(lambda: received(g, line, objects), settings.ProfileError)
    made = received(g, line, objects, g.result.with_types(Report)).value()
    check(type(made) is Report and made.title == "n", repr(made))
    error_of(received(g, child.result_line("s", Gadget()), objects, g.result.with_types(Report)).value, g.RefusedError)


def lessons_are_learned(g, build):
    """A refused result teaches rows for its names, once; data and gadgets teach nothing."""
    policyc = Policyc(build)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "app.policy")
        settled = settings.Profile(None, ["learn=" + path])
        lessons = learning.Lessons(BASE, (policyc.program,))
        home = parent.Parent(g, settled, None, lessons)

        def value_of(made):
            line = child.result_line("s", made)
            return asyncio.run(with_reader(line, lambda reader: home.reply(reader, "s"))).value()

        check(value_of([1, pathlib.PurePosixPath("a")])[0] == 1, "data")
        check(home.learn() == (True, "") and not os.path.exists(path), "data teaches nothing")
        for made in (Report("a", 1), Report("b", 200), Report("a", 1)):
            error_of(lambda: value_of(made), g.RefusedError)
        check(len(lessons.pickles) == 2, "equal ones are noted once")
        good, said = home.learn()
        check(good, said)
        text = pathlib.Path(path).read_text()
        check(re.search(r"class Report new\(\)\s+state \{\s+score: int\[0\.\.255\],\s+title: str\[\.\.16\]", text) and "fail_open" not in text, text)
        check(home.learn() == (True, "") and pathlib.Path(path).read_text() == text, "written once")
        accepted = os.path.join(folder, "report.pkl")
        pathlib.Path(accepted).write_bytes(pickle.dumps(Report("c", 9), 5))
        check(policyc.run("try", path, accepted)[0] == 0, "what was learned is admitted")
        error_of(lambda: value_of(NoEq("holds itself")), g.RefusedError)
        check(home.learn()[0] and pathlib.Path(path + ".old").read_text() == text, "a value that holds itself")
        pathlib.Path(accepted).write_bytes(pickle.dumps(NoEq("other"), 5))
        check(policyc.run("try", path, accepted)[0] == 0, "what holds itself is admitted")
        error_of(lambda: value_of(Report("a", 1)), g.RefusedError)  # not before it is compiled
        home.learn()
        error_of(lambda: value_of(Gadget()), g.RefusedError)
        good, said = home.learn()
        check(not good and "no policy should grant it" in said, said)
        check("system" not in re.sub(r"#.*", "", pathlib.Path(path).read_text()), "a gadget is learned")
        for number in range(learning.MOST_LESSONS + 10):
            lessons.note(b"%d" % number)
        check(len(lessons.pickles) == learning.MOST_LESSONS, "they are bounded")
        check(parent.Parent(g, settings.Profile(), None, lessons).learn() == (True, ""), "a profile that does not learn")


class Report:
    def __init__(self, title, score):
        self.title, self.score = title, score


def main():
    build = sys.argv[1]
    if "--child" in sys.argv:
        child.serve(sys.stdin.buffer, sys.stdout.buffer)
        return 0
    g = guard(build, "pysandboxes_guard")
    tally.run((the_largest_line_is_read, a_longer_line_is_not, the_budget_of_bytes_is_that_of_the_line, lines_are_ascii,
               what_is_no_reply_is_an_error_of_the_transport, what_a_child_forges_is_refused, both_forms_say_the_same, every_exception_has_words,
               keys_of_profiles, modes_are_channels), g)
    tally.run((calls_are_answered, what_is_too_long_is_said, exceptions_cross, denials_cross, ends_do_not_end, groups_cross,
               large_exceptions_cross, gadgets_of_a_child_are_refused, lessons_are_learned), g, build)
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
