#!/usr/bin/python3
"""run: a child's value or exception as a call of Python; the gate, the state, signals, threads.  What the child sees tests/test_upk_run.py
looks at.

usage: test_python_run.py BUILD [--alone]       (from the top folder, after `make test`)

Then the same by every other CPython that is found, for which the modules are built into BUILD/python; --alone leaves that out.  Where this
machine cannot confine a child, what needs that is not run, and said to be so.
"""
import gc
import io
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import types
import uuid
import warnings

import children
import tblib_samples
from children import command
from guards import guard, run_by_others, sanitized
from tally import Tally
from test_upk_run import NOWHERE, RAISES, SECRET, TESTS, TRANSPORT

tally = Tally()
check = tally.check
GUARDS = {"run_guard": "tests/policy/child.policy", "pysandboxes_guard": "policies/pysandboxes.policy", "environment_guard": "policies/environment.policy",
          "child_guard": "tests/policy/ok/environment.policy"}
ROUNDS = 20
SHOWN = [TRANSPORT, TESTS]


class Own:
    pass


def refused(code, function, *arguments, **options):
    """The refusal, which has this code and tells no secret."""
    try:
        made = function(*arguments, **options)
    except Exception as error:
        kind = type(error).__name__
        check(kind in ("RefusedError", "EmptyInputError") and error.code == code and SECRET not in str(error),
              "%s, expected %s: %s: %s" % (arguments, code, kind, error))
        return error
    check(False, "%s: %r instead of %s" % (arguments, made, code))


# ---- confined


def values_come_back(child, sandboxes):
    check(child.run(children.VALUE) == children.VALUE_IS, "a value")
    check(child.run(children.VALUE, home="/home/somebody", manifest={"MODE": "x"}) == children.VALUE_IS, "with a home")
    got = child.run(command("send([os.environ.get(name) for name in ('MODE', 'HOME', 'API_TOKEN', 'PATH')])"), manifest={"MODE": "fast"},
                    home="/home/somebody", host={"API_TOKEN": SECRET, "PATH": "/usr/bin:/bin"})
    check(got == ["fast", "/home/somebody", None, "/usr/bin:/bin"], "its environment: %s" % got)
    check(child.run([children.PYTHON, "-c", "import pickle, sys; pickle.dump(1, sys.stdout.buffer)"], stdout=True) == 1, "by standard output")
    check(child.run(tuple(map(os.fsencode, command("send(2)")))) == 2, "words of bytes")
    check(sandboxes.result.run(command("send({1, 2})"), rules=child) == {1, 2}, "by the rules of another policy")
    check(sandboxes.run(command("send({1, 2})"), rules=child.loads.__self__, channel="result") == {1, 2}, "by a channel's name")
    check(child.with_types(Own).run(command("send(3)")) == 3, "under a policy of with_types")


def raised(sandboxes, text, **options):
    try:
        made = sandboxes.result.run(command(RAISES % text), rules=options.pop("rules"), visible=SHOWN, **options)
    except Exception as error:
        return error
    check(False, "%s: %r" % (text, made))


def exceptions_come_back(child, sandboxes):
    """As decode_exception has them: of their own class, with their text and traceback, or in words."""
    error = raised(sandboxes, "raise KeyError('gone')", rules=child)
    check(type(error) is KeyError and str(error) == "'gone'" and error.__remote_refusal__ is None, repr(error))
    lines = error.__remote_traceback__.lines()
    check([name for _, name, _ in lines] == ["<module>", "inner"] and all(file == "<string>" for file, _, _ in lines), "traceback: %s" % lines)
    error = raised(sandboxes, "open('/nonexistent')", rules=child)
    check(type(error) is FileNotFoundError and (error.errno, error.filename) == (2, "/nonexistent"), repr(error))
    error = raised(sandboxes, "raise type('Own', (Exception,), {})('words')", rules=child)
    check(type(error) is sandboxes.RemoteError and str(error) == "__main__.Own: words", repr(error))
    traceback.format_exception(type(error), error, error.__traceback__)
    refused("R924", child.run, command("raise KeyError('gone')"), stderr=io.BytesIO())
    refused("R924", sandboxes.result.run, command("raise KeyError('gone')"), rules=child, stderr=io.BytesIO())


def the_example_replies(child, sandboxes):
    """tools/examples/child: a value, an exception in both forms, and one where there are no channels for it."""
    examples = os.path.dirname(TRANSPORT)
    words = command("""
sys.path[:0] = [%r, %r]
import tblib_samples
tblib_samples.install()
import reply
def work(divisor):
    return {"quotient": 6 / divisor}
reply.send(work, int(sys.argv[1]))
""" % (os.path.join(examples, "child"), TESTS))
    shown = [examples, TESTS]
    check(child.run([*words, "4"], visible=shown) == {"quotient": 1.5}, "a value")
    check(sandboxes.result.run([*words, "4"], visible=shown, rules=child) == {"quotient": 1.5}, "a value by a channel")
    try:
        sandboxes.result.run([*words, "0"], visible=shown, rules=child)
    except ZeroDivisionError as error:
        check([name for _, name, _ in error.__remote_traceback__.lines()] == ["work"], "its traceback: %s" % error.__remote_traceback__.lines())
    said = io.BytesIO()
    refused("R924", child.run, [*words, "0"], visible=shown, stderr=said)
    check(b"ZeroDivisionError" in said.getvalue(), "%r" % said.getvalue())


def attacks_are_refused(child, sandboxes):
    error = refused("R201", child.run, children.ATTACK)
    check((error.module, error.name) == ("os", "system"), repr(error))
    refused("R132", child.run, children.GOES_ON)
    attack = b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x0ctouch ran-it\x85R."
    for name, code in (("UPK_EXCEPTION_FD", "R224"), ("UPK_DESCRIPTOR_FD", "R201")):
        refused(code, sandboxes.result.run, command("send(1); os.write(int(os.environ[%r]), %r)" % (name, attack)), rules=child)
    check(not os.path.exists("ran-it"), "it ran")


def too_much_and_nothing_are_refused(child, sandboxes):
    began = time.monotonic()
    refused("R301", child.run, children.ENDLESS)
    refused("R301", child.run, command("send(b'x' * 70_000)"))
    check(time.monotonic() - began < 6, "it took %.1f s" % (time.monotonic() - began))
    refused("R925", child.run, children.NOTHING)
    refused("R924", child.run, children.FAILS)
    error = refused("R923", child.run, children.HANGS)
    check(error.cls == "child" and error.change is None and "3 seconds" in str(error), repr(error))


def states_hold(child, sandboxes):
    state = os.path.abspath("state")
    for _ in range(2):
        check(child.run(children.VALUE, state=state) == children.VALUE_IS, "held")
    refused("R921", sandboxes.result.run, children.VALUE, rules=child, state=state)
    with open(state, "a") as file:
        file.write("allow_unconfined 1\n")
    refused("R921", child.run, children.VALUE, state=state)
    os.unlink(state)

    try:
        child.with_types(Own).run(children.VALUE, state=state)
    except ValueError as error:
        check("with_types" in str(error), str(error))
    else:
        check(False, "a policy that was widened keeps a state")


def what_it_says_is_heard(child, sandboxes):
    words = command("sys.stderr.write('\\x1b[31m red \\u202e'); sys.stderr.flush(); print('out'); sys.stdout.flush(); send(1)")
    raw, before = io.BytesIO(), sys.stderr
    check(child.run(words, stderr=raw) == 1 and raw.getvalue() == b"\x1b[31m red \xe2\x80\xaeout\n", "raw: %r" % raw.getvalue())
    sys.stderr = io.StringIO()
    try:
        child.run(words)
        shown = sys.stderr.getvalue()
    finally:
        sys.stderr = before
    check(shown == "\\x1b[31m red \\xe2\\x80\\xaeout\n", "shown: %r" % shown)

    sys.stderr = io.StringIO()
    try:
        check(child.run(command("os.write(2, b'y' * 3_000_000); send(1)")) == 1, "endless words")
        shown = sys.stderr.getvalue()
    finally:
        sys.stderr = before
    check(shown == "y" * (1 << 20) + "\n... more is not shown\n", "of endless words: %d, %r" % (len(shown), shown[-40:]))

    class Broken:
        def write(self, data):
            raise ZeroDivisionError("no room")
    try:
        child.run(command("sys.stderr.write('x'); sys.stderr.flush(); time.sleep(60)"), stderr=Broken())
    except ZeroDivisionError:
        check(True, "")
    else:
        check(False, "what fails to listen is not heard")


def signals_are_met(child, sandboxes):
    """A handler runs while a child does, and what it raises ends the child."""
    met, mark = [], str(uuid.uuid4())
    before = signal.signal(signal.SIGALRM, lambda *_: met.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        check(child.run(command("time.sleep(1); send(1)")) == 1 and met, "a handler that goes on")

        def stop(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        began = time.monotonic()
        try:
            child.run(command("time.sleep(60)  # " + mark))
        except KeyboardInterrupt:
            check(time.monotonic() - began < 2.5, "it took %.1f s" % (time.monotonic() - began))
        else:
            check(False, "nothing was raised")
        check(not children.processes_with(mark), "it is left")
    finally:
        signal.signal(signal.SIGALRM, before)


def threads_go_on(child, sandboxes):
    """Others run while one waits, and each gets its own."""
    counts, results = [0], {}
    threads = [threading.Thread(target=lambda i=i: results.update({i: child.run(command("time.sleep(0.7); send(%d)" % i))})) for i in range(4)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        counts[0] += 1
        time.sleep(0.001)
    check(results == {i: i for i in range(4)} and counts[0] > 50, "%s, %d rounds" % (results, counts[0]))
    check(time.monotonic() - began < 15, "one after the other")


def descriptors():
    return sorted(os.listdir("/proc/self/fd"))


def nothing_leaks(child, sandboxes):
    """Descriptors, processes that nobody waited for, objects."""
    errors = io.BytesIO()

    def once():
        child.run(children.VALUE, manifest={"MODE": "x"}, visible=["/opt"] if os.path.isdir("/opt") else None)
        for words in (children.ATTACK, children.NOTHING, ["nosuch"]):
            try:
                child.run(words, stderr=errors)
            except child.RefusedError:
                pass
    once()
    gc.collect()
    before, blocks = descriptors(), sys.getallocatedblocks()
    for _ in range(ROUNDS):
        once()
    gc.collect()
    check(descriptors() == before, "descriptors: %s, before %s" % (descriptors(), before))
    check(sanitized() or sys.getallocatedblocks() - blocks < 200, "blocks: %d more" % (sys.getallocatedblocks() - blocks))
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        check(True, "")
    else:
        check(False, "somebody is not reaped")


# ---- also where nothing confines


def arguments_are_judged(child, sandboxes):
    for words, options, kind in (("true", {}, TypeError), (b"true", {}, TypeError), (1, {}, TypeError), ([1], {}, TypeError), (["a\0b"], {}, ValueError),
                                 (["true"], {"manifest": "MODE=x"}, TypeError), (["true"], {"manifest": {"MODE": 1}}, TypeError),
                                 (["true"], {"host": {1: "x"}}, TypeError), (["true"], {"host": {"A": "\0"}}, ValueError),
                                 (["true"], {"visible": "/opt"}, TypeError), (["true"], {"rules": object()}, (AttributeError, TypeError)),
                                 (["true"], {"folder": 1}, TypeError), (["true"], {"channel": "result"}, TypeError), (["true"], {"nosuch": 1}, TypeError)):
        try:
            child.run(words, **options)
        except kind:
            check(True, "")
        else:
            check(False, "%s %s" % (words, options))
    for options, kind in (({}, TypeError), ({"channel": "nosuch"}, AttributeError), ({"channel": "loads"}, AttributeError), ({"channel": "RefusedError"}, ValueError)):
        try:
            sandboxes.run(["true"], **options)
        except kind:
            check(True, "")
        else:
            check(False, "%s" % options)
    refused("R901", child.run, [])
    refused("R922", child.run, ["true"], folder="/nonexistent")
    refused("R922", child.run, ["true"], folder="/")
    refused("R922", child.run, ["true"], bubblewrap="bwrap", allow_unconfined=True)
    error = refused("R910", sandboxes.result.run, ["true"])
    check("rules=" in str(error), "what to do is not told: %s" % error)


def manifests_are_judged(child, sandboxes):
    """Names that are none, and what is not in the list; no value is told."""
    for code, manifest in (("R911", {"": SECRET}), ("R911", {"A=B": SECRET}), ("R911", {"A\0": SECRET}), ("R912", {"OTHER": SECRET}), ("R912", {"PATH": "/x"})):
        refused(code, child.run, ["true"], manifest=manifest)
    refused("R915", child.run, ["true"], manifest={"MODE": SECRET}, from_host={"MODE": "API_TOKEN"})
    refused("R916", child.run, ["true"], from_host={"MODE": "API_TOKEN"}, host={"API_TOKEN": SECRET})


def nothing_runs_unconfined_by_itself(child, sandboxes):
    """The call gives an error, and all else goes on; the host's word counts for one call, with a warning each."""
    touch = command("open('ran-it', 'w').close(); send(1)")
    error = refused("R920", child.run, touch, bubblewrap=NOWHERE, host={"PATH": os.environ["PATH"], "API_TOKEN": SECRET})
    check(error.cls == "child" and "allow_unconfined=True" in error.change and "bubblewrap" in error.change, repr(error))
    check(child.loads(b"N.") is None, "other things go on")
    for name in ("UPK_RUN_ALLOW_UNCONFINED", "ALLOW_UNCONFINED"):
        os.environ[name] = "1"
        refused("R920", child.run, touch, bubblewrap=NOWHERE)
        del os.environ[name]
    check(not os.path.exists("ran-it"), "it ran")
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        check(child.run(touch, bubblewrap=NOWHERE, allow_unconfined=True) == 1, "allowed")
    check(len(met) == 1 and met[0].category is RuntimeWarning and "not confining" in str(met[0].message), "%s" % met)
    os.unlink("ran-it")
    refused("R920", child.run, touch, bubblewrap=NOWHERE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            child.run(touch, bubblewrap=NOWHERE, allow_unconfined=True)
        except RuntimeWarning:
            check(not os.path.exists("ran-it"), "it ran before the warning was an error")
        else:
            check(False, "a warning that is an error")


def own_confinement_holds(child, sandboxes):
    """Also under the rules of another policy; and what requires to be confined is not asked away by it."""
    import child_guard
    import environment_guard
    words = command("import resource; send([resource.getrlimit(resource.RLIMIT_NOFILE)[0], 'MODE' in os.environ])")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"bubblewrap": NOWHERE, "allow_unconfined": True}
        check(child.run(words, manifest={"MODE": "x"}, **options) == [64, True], "of its own")
        check(child.run(words, rules=environment_guard, **options) == [64, False], "another's environment")
        check(environment_guard.run(words, rules=child, manifest={"MODE": "x"}, **options) == [256, True], "the other way")
        check(sandboxes.result.run(words, rules=child, **options) == [64, False], "it has none")
        for one, rules in ((child_guard, environment_guard), (environment_guard, child_guard)):
            error = refused("R920", one.run, command("open('ran-it', 'w'); send(1)"), rules=rules, manifest={}, **options)
            check(error and "requires" in error.change, repr(error))
    check(not os.path.exists("ran-it"), "it ran")


def tables_are_held(child, sandboxes):
    """A policy of with_types is there as long as its table may be asked for rules."""
    def policies():
        gc.collect()
        return sum(type(one).__name__ == "Policy" for one in gc.get_objects())
    before = policies()
    rules = types.SimpleNamespace(__table__=child.with_types(Own).__table__)
    check(policies() == before + 1, "the policy is gone, its table is not")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = sandboxes.result.run(command("send(1)"), rules=rules, bubblewrap=NOWHERE, allow_unconfined=True)
    check(got == 1, "by the table alone: %r" % got)
    del rules
    check(policies() == before, "the policy is left")


def states_hold_no_switch(child, sandboxes):
    state = os.path.abspath("state")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(child.run(children.VALUE, bubblewrap=NOWHERE, allow_unconfined=True, state=state) == children.VALUE_IS, "started")
        refused("R920", child.run, children.VALUE, bubblewrap=NOWHERE, state=state)
        check(child.run(children.VALUE, bubblewrap=NOWHERE, allow_unconfined=True, state=state) == children.VALUE_IS, "resumed")
    os.unlink(state)


ALWAYS = [arguments_are_judged, manifests_are_judged, nothing_runs_unconfined_by_itself, own_confinement_holds, tables_are_held, states_hold_no_switch]
CONFINED = [values_come_back, exceptions_come_back, the_example_replies, attacks_are_refused, too_much_and_nothing_are_refused, states_hold, what_it_says_is_heard,
            signals_are_met, threads_go_on, nothing_leaks]


def main():
    build = os.path.abspath(sys.argv[1])
    modules = [guard(build, name) for name in ("run_guard", "pysandboxes_guard")]
    tblib_samples.install()
    top = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tally.run(ALWAYS, *modules)
        children.run_confined(tally, CONFINED, *modules)
        os.chdir(top)
    run_by_others(check, build, __file__, GUARDS)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
