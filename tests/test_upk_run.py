#!/usr/bin/python3
"""upk-run: children that reply with a value, an exception, an attack, too much or nothing; what they see of their host; the gate where
nothing confines them, and the state that holds a policy to its runs.

usage: test_upk_run.py BUILD       (from the top folder, after `make`)

Where this machine cannot confine a child, what needs that is not run, and said to be so.
"""
import json
import os
import pickle
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

import children
from children import PYTHON, command
from tally import Tally

tally = Tally()
check = tally.check

SECRET = "c8a1-secret-9d02"
NOWHERE = "/nonexistent/bwrap"
TRANSPORT = os.path.abspath("tools/examples/transport")
TESTS = os.path.abspath("tests")


class Runs:
    def __init__(self, build, folder):
        self.program = os.path.abspath(os.path.join(build, "upk-run"))
        self.policies = os.path.abspath("policies")
        self.child = os.path.abspath("tests/policy/child.policy")
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def arguments(self, words, options=(), policy=None):
        return [self.program, "--policy-dir", self.policies, "-p", policy or self.child, *options, "--", *words]

    def environment(self, **more):
        return dict({"PATH": os.environ["PATH"], "API_TOKEN": SECRET, "PRIVATE": SECRET, "LANG": "C.UTF-8"}, **more)

    def __call__(self, words, *options, policy=None, seconds=50, **more):
        began = time.monotonic()
        done = subprocess.run(self.arguments(words, options, policy), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.folder, timeout=seconds, **{"env": self.environment(), **more})
        self.took = time.monotonic() - began
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def value(self, words, *options, **more):
        """What a child that is accepted has sent."""
        status, out, err = self(words, "--print", "json", *options, **more)
        check(status == 0 and not err, "%s: %d\n%s%s" % (words, status, out, err))
        return json.loads(out) if status == 0 else None

    def expect(self, what, status, text, words, *options, **more):
        """An exit status, and some text on one of the outputs."""
        got = self(words, *options, **more)
        check(got[0] == status and text in got[1] + got[2], "%s: %s, expected %d and %r" % (what, got, status, text))
        check(SECRET not in got[1] + got[2], "%s: tells a secret" % what)
        return got


# ---- confined: replies


def values_come_back(run):
    check(run.value(children.VALUE) == children.VALUE_IS, "a value")
    check(run(children.VALUE)[1] == "%r\n" % children.VALUE_IS, "printed as unpickle prints")
    status, out, err = run([PYTHON, "-c", "import pickle, sys; pickle.dump([1, 2], sys.stdout.buffer)"], "--stdout")
    check((status, out, err) == (0, "[1, 2]\n", ""), "by its standard output: %s" % [status, out, err])
    check(run.value(command("send([os.environ.get('UPK_RESULT_FD'), sorted(os.environ)])"))[0] == "3", "the descriptor's variable")
    check("UPK_RESULT_FD" not in run.value([PYTHON, "-c", "import os, pickle, sys; pickle.dump(sorted(os.environ), sys.stdout.buffer)"], "--stdout"),
          "no descriptor where there is none")


RAISES = """
import sys
sys.path[:0] = [%r, %r]
import tblib_samples
tblib_samples.install()
import describe
def inner():
    %%s
try:
    inner()
except Exception as error:
    rich, words = describe.encode_exception(error)
    for name, data in (("UPK_EXCEPTION_FD", rich), ("UPK_DESCRIPTOR_FD", words)):
        os.write(int(os.environ[name]), data)
    sys.exit(1)
""" % (TRANSPORT, TESTS)


def exceptions_come_back(run):
    """With the traceback, by the first form that is admitted."""
    visible = ("--visible", TRANSPORT, "--visible", TESTS)
    status, out, err = run(command(RAISES % "raise KeyError('gone')"), *visible, policy="pysandboxes:result")
    check(status == 4 and out.startswith("(builtins.KeyError('gone'), ") and "inner" in out and "raised this exception" in err, "rich: %s" % [status, out, err])
    status, out, err = run(command(RAISES % "raise type('Own', (Exception,), {})('words')"), *visible, policy="pysandboxes:result")
    check(status == 4 and "'__main__', 'Own', 'words'" in out and "inner" in out, "in words: %s" % [status, out, err])
    status, out, err = run(command(RAISES.replace("rich, words = ", "words = rich = b'\\x80\\x04\\x8c\\x02os\\x8c\\x06system\\x93\\x8c\\x0ctouch ran-it\\x85R.' #") % "raise KeyError('gone')"),
                           *visible, policy="pysandboxes:result")
    check(status == 1 and "os::system" in out + err, "an attack by an exception: %s" % [status, out, err])
    run.expect("no channels for it", 4, "exit status 1", command("raise KeyError('gone')"))


def attacks_are_refused(run):
    run.expect("a call of os.system", 1, "os::system is not granted", children.ATTACK)
    run.expect("behind STOP", 1, "R132", children.GOES_ON)
    run.expect("no pickle", 1, "refused", command("reply(b'<html>')"))
    check(not os.path.exists(run.path("ran-it")), "it ran")


def too_much_is_refused(run):
    """At once: neither time nor memory goes on what is beyond the budget."""
    run.expect("endless", 1, "budget bytes is 65536", children.ENDLESS)
    check(run.took < 2.5, "endless: %.1f s" % run.took)
    whole = 65536 - len(pickle.dumps(b"", 4)) - 2 - 4
    fits = len(pickle.dumps(b"x" * whole, 4))
    for more in (0, 1):
        words = command("send(b'x' * %d)" % (whole + 65536 - fits + more))
        status, out, err = run(words)
        check(status == more and ("R301" in out) == bool(more), "%d bytes too many: %s" % (more, [status, out[-300:], err]))
    status, _, err = run(command("sys.stderr.write('y' * 3_000_000); send(1)"))
    check(status == 0 and len(err) < 1 << 21 and "more is not shown" in err, "endless words: %d" % len(err))


def nothing_is_no_value(run):
    run.expect("nothing", 4, "R925", children.NOTHING)
    run.expect("it failed, whatever it sent", 4, "exit status 7", children.FAILS)
    run.expect("it ended itself", 4, "exit status 137", children.KILLS_ITSELF)


def time_is_over(run):
    for what, words in (("it hangs", children.HANGS), ("it stops itself", children.STOPS), ("it closes early", children.CLOSES_EARLY)):
        run.expect(what, 5, "budget wall is 3 seconds", words)
        check(run.took < 6, "%s: %.1f s" % (what, run.took))


def what_it_says_cannot_act(run):
    _, _, err = run(command("sys.stderr.write('\\x1b]0;title\\x07\\x00 ok \\u202e\\n'); sys.stderr.flush(); print('upk-run: warning: out'); sys.stdout.flush(); send(1)"))
    check("\x1b" not in err and "\x00" not in err and "\u202e" not in err and "\\x1b]0;title" in err, "said: %r" % err)
    check(err.endswith("child: upk-run: warning: out\n") and all(line.startswith("child: ") for line in err.splitlines()), "not marked: %r" % err)


# ---- confined: what is seen


def secrets_are_not_found(run):
    """Neither in its own environment nor through /proc, whatever process; the variables are those of the policy."""
    pids, found = run.value(children.LOOKS_FOR_SECRETS)
    text = json.dumps(found)
    check(SECRET not in text, "found: %s" % text[:2000])
    names = {name for where, name, _ in found if where == "environ"}
    check(names <= {"PATH", "LANG", "HOME", "UPK_RESULT_FD", "PWD", "LC_CTYPE"} and {"PATH", "HOME"} <= names, "variables: %s" % names)
    check(set(pids) <= {"1", "2"}, "processes: %s" % pids)
    check(["1", "environ", ""] in found, "the first process has no environment: %s" % found)


def the_system_is_read_only(run):
    with open(run.path("there.txt"), "w") as file:
        file.write("x")
    at = run.value(children.LOOKS_AROUND)
    for what, expected in (("write here", 30), ("write /", 30), ("write /usr", 30), ("write /dev", 30), ("write tmp", "yes"), ("shadow", 2),
                           ("stdin", ""), ("privileges", "1"), ("capabilities", 0), ("interfaces", ["lo"]), ("tmp", [os.path.basename(run.folder)])):
        check(at[what] == expected, "%s: %r" % (what, at[what]))
    check(at["tty"] != "yes" and at["sysctl"] != "yes" and at["unshare"] != "yes", "%s" % at)
    # The session of a process outside, which it does not see, would be 0.
    check(at["session"] in (1, 2) and at["pid"] in (1, 2), "its session and its own number: %s %s" % (at["session"], at["pid"]))
    check("there.txt" in at["here"] and at["folder"] == at["home"] == run.folder, "its folder: %s" % at)
    check(not set(at["root"]) & {"root", "home", "sys", "boot", "srv", "opt"}, "the root: %s" % at["root"])
    check(at["session"] > 0, "its session is the host's")
    check(at["pid"] in (1, 2), "its number is of the host's processes: %d" % at["pid"])
    check(at["descriptors"] == [0, 1, 2, 3], "descriptors: %s" % at["descriptors"])
    check(not os.path.exists("/tmp/made"), "its /tmp is the host's")


def folders_are_shown(run):
    own = tempfile.mkdtemp()
    try:
        with open(own + "/data", "w") as file:
            file.write("shown")
        words = command("send([os.path.exists(%r), os.environ['HOME'], os.getcwd()])" % (own + "/data"))
        check(run.value(words)[0] is False, "another folder")
        check(run.value(words, "--visible", own)[0] is True, "a visible one")
        check(run.value(words, "--folder", own) == [True, own, own], "the folder")
        check(run.value(words, "--home", own)[:2] == [False, own], "a home of its own is empty")
        check(run.value(command("open(os.environ['HOME'] + '/x', 'w').write('x'); send(1)"), "--home", "/home/nobody-here") == 1, "and may be written")
        os.symlink(own, run.path("way"))
        check(run.value(words, "--folder", "way")[0] is False, "by a link: the other name is not shown")
        shutil.copy("/bin/true", own + "/program")
        run.expect("a program that is not shown", 3, "does not see", [own + "/program"])
        run.expect("a program that is", 4, "R925", [own + "/program"], "--visible", own)
    finally:
        shutil.rmtree(own)
    run.expect("no such folder", 3, "nosuch", children.VALUE, "--folder", "nosuch")
    run.expect("the root is no folder", 3, "cannot be /", children.VALUE, "--folder", "/")
    os.symlink("/", run.path("all"))
    for root in ("//", "/usr/..", run.path("all")):
        run.expect("nor visible", 3, "cannot be /", children.VALUE, "--visible", root)


NETWORK = ("    budget wall", "    network because \"a test\";\n    budget wall")


def with_network(run):
    """The child's policy, with a network."""
    with open(run.child) as file, open(run.path("network.policy"), "w") as to:
        to.write(file.read().replace(*NETWORK))
    return run.path("network.policy")


def there_is_no_network(run):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        words = command("send(socket.socket().connect_ex(('127.0.0.1', %d)))" % server.getsockname()[1])
        check(run.value(words) != 0, "it reaches the host")
        check(run.value(words, policy=with_network(run)) == 0, "granted")
        policy = without_environment(run, NETWORK)
        check(run.value(words, policy=policy) == 0, "granted, with the environment of another")


def limits_hold(run):
    got = run.value(command("import resource as r; send([r.getrlimit(n)[0] for n in (r.RLIMIT_AS, r.RLIMIT_NOFILE, r.RLIMIT_NPROC, r.RLIMIT_CORE)])"))
    check(got == [1 << 30, 64, 13, 0], "limits: %s" % got)
    run.expect("memory", 4, "MemoryError", command("x = bytearray(1 << 30); send(1)"))
    check(run.value(command("""
n = 0
try:
    while True:
        open("/dev/null").fileno() and os.dup(0); n += 1
except OSError:
    send(n < 64)
""")) is True, "descriptors")
    check(run.value(command("send(os.statvfs('/tmp').f_blocks * os.statvfs('/tmp').f_frsize)")) == 1 << 30, "its /tmp")


def limits_of_processes_hold(run):
    """Of its own processes, exactly so many, however many the user has.  The kernel has no such limit for root."""
    words = command("""
n = 0
try:
    while n < 100:
        if os.fork() == 0:
            time.sleep(60)
        n += 1
except OSError:
    pass
send(n)
""")
    place = tempfile.mkdtemp(dir="/tmp")
    os.chmod(place, 0o755)
    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    shutil.copy(run.program, place + "/upk-run")
    try:
        for most in (1, 2, 12):
            with open(run.child) as file, open(place + "/child.policy", "w") as to:
                to.write(file.read().replace("processes 12", "processes %d" % most))
            done = subprocess.run([*other, place + "/upk-run", "-p", place + "/child.policy", "--", *words], cwd=place, env={"PATH": "/usr/bin:/bin"},
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=50)
            check(done.returncode == 0 and int(done.stdout) == most - 1, "%d processes: %s" % (most, done))
    finally:
        shutil.rmtree(place)


# ---- confined: the end of it


def nothing_is_left(run):
    """Also of what left the session and holds the pipe."""
    for ending in ("", "sys.exit(3)", "os.kill(os.getpid(), 9)", "time.sleep(60)"):
        mark = str(uuid.uuid4())
        began = time.monotonic()
        status = run(command(children.LEAVES_OTHERS % mark + ending))[0]
        check(status == {"": 0, "time.sleep(60)": 5}.get(ending, 4), "left: %s: %d" % (ending, status))
        check(time.monotonic() - began < 8, "it was waited for")
        check(not children.processes_with(mark), "%s: left: %s" % (ending, children.processes_with(mark)))


def wait_for(what, text, seconds=10):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = children.processes_with(text)
        if found if what else not found:
            return True
        time.sleep(0.05)
    return False


def begin(run, words, **more):
    return subprocess.Popen(run.arguments(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=run.folder,
                            env=run.environment(), **more)


def signals_are_handed_on(run):
    for number in (signal.SIGTERM, signal.SIGINT):
        mark = str(uuid.uuid4())
        words = command("""
import signal  # %s
def met(number, frame):
    sys.stderr.write("met %%d" %% number); sys.stderr.flush(); os._exit(0)
signal.signal(%d, met)
sys.stderr.write("ready\\n"); sys.stderr.flush()
time.sleep(60)
""" % (mark, number))
        process = begin(run, words)
        ready = process.stderr.readline()
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
        check(b"ready" in ready and b"met %d" % number in err and process.returncode == -number, "%d: %s %r" % (number, process.returncode, err))
        check(wait_for(False, mark), "left: %s" % mark)
        # one that does not want to end
        mark = str(uuid.uuid4())
        process = begin(run, command("""
import signal  # %s
signal.signal(%d, signal.SIG_IGN)
sys.stderr.write("ready\\n"); sys.stderr.flush()
time.sleep(60)
""" % (mark, number)))
        process.stderr.readline()
        process.send_signal(number)
        process.communicate(timeout=20)
        check(process.returncode == -number and wait_for(False, mark), "ignored: %s" % process.returncode)


def children_end_with_their_parent(run):
    mark = str(uuid.uuid4())
    process = begin(run, command("# %s\ntime.sleep(60)" % mark))
    check(wait_for(True, mark), "it begins")
    process.kill()
    process.communicate(timeout=20)
    check(wait_for(False, mark), "left: %s" % children.processes_with(mark))


# ---- what is wrong before anything runs


def few_descriptors(run):
    """Every number of them that is not enough is said, and is no hang."""
    statuses = set()
    for most in range(4, 40):
        status, out, err = run(children.VALUE, preexec_fn=lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_NOFILE, (most, most)))
        statuses.add(status)
        check(status == 0 or err, "%d descriptors: %s" % (most, [status, out, err]))
        check(status in (0, 2, 3, 6), "%d descriptors: %s" % (most, [status, out, err]))
    check({3} <= statuses, "%s" % statuses)


# The call of this number gets no memory.
FAILING = """
#include <errno.h>
#include <stdlib.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static long left = -1;
static int fails(void) {
    if (left < 0) left = atol(getenv("FAIL_AT"));
    if (left == 0 || --left) return 0;
    errno = ENOMEM;
    return 1;
}
void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return fails() ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return fails() ? NULL : __libc_realloc(p, n); }
"""


def every_allocation_may_fail(run):
    """It is said, or is none that matters; whatever was started is ended."""
    mark = str(uuid.uuid4())
    library = run.path("failing.so")
    subprocess.run([os.environ.get("CC", "gcc"), "-shared", "-fPIC", "-xc", "-", "-o", library], input=FAILING.encode(), check=True)
    words, statuses, at = command("send(7)  # " + mark), set(), 0
    while at < 1000 and statuses != {0}:
        last = []
        for at in range(at + 1, at + 41):
            status, out, err = run(words, "--set", "LANG=C", "--state", run.path("memory-state"), policy="environment",
                                   env=run.environment(LD_PRELOAD=library, FAIL_AT=str(at)))
            last.append(status)
            said = out == "7\n" if status == 0 else "R401" in out if status == 1 else err and not out
            check(status in (0, 1, 2, 3) and said, "allocation %d: %s" % (at, [status, out, err]))
            if os.path.exists(run.path("memory-state")):
                os.unlink(run.path("memory-state"))
        statuses = set(last)
    check(statuses == {0} and at > 80, "after %d allocations: %s" % (at, statuses))
    check(wait_for(False, mark), "left: %s" % mark)
    check(not [name for name in os.listdir(run.folder) if name.startswith("memory-state")], "drafts are left: %s" % os.listdir(run.folder))


def command_lines(run):
    for words in ([], ["-p", run.child], ["-p", run.child, "true"], ["--", "true"], ["-p", "nosuch", "--", "true"], ["-p", run.path("no.policy"), "--", "true"],
                  ["-p", run.child, "--nosuch", "--", "true"], ["-p", run.child, "--print", "x", "--", "true"], ["-p", "pysandboxes", "--", "true"]):
        done = subprocess.run([run.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=run.folder)
        check(done.returncode in (2, 3) and done.stderr, "%s: %s" % (words, done))
    for words, said in ((["-p", run.child, "--today", "x", "--", "true"], "upk-run: error: --today takes a date YYYY-MM-DD, not `x'"),
                        (["-p", run.path("no.policy"), "--", "true"], "upk-run: error: ")):
        done = subprocess.run([run.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=run.folder)
        check(done.returncode in (2, 3) and done.stderr.decode().startswith(said), "%s: %s" % (words, done))
    for option in ("--help", "--version", "--list-policies"):
        check(subprocess.run([run.program, option], stdout=subprocess.PIPE).returncode == 0, option)


def manifests_are_judged(run):
    run.expect("not in the list", 1, "R912", children.VALUE, "--set", "OTHER=" + SECRET)
    run.expect("no name", 1, "R911", children.VALUE, "--set", "=" + SECRET)
    run.expect("twice", 1, "R915", children.VALUE, "--set", "MODE=a", "--set", "MODE=b")
    run.expect("not granted", 1, "R916", children.VALUE, "--from-host", "MODE=API_TOKEN")


# ---- the gate


def nothing_runs_unconfined_by_itself(run):
    """The error is coded, names the remedy, and keeps secrets; the host's own word lets it run, with one warning."""
    touch = command("open(%r, 'w'); send(os.environ.get('MODE'))" % run.path("ran-it"))
    got = run.expect("without a word", 6, "R920", touch, "--bubblewrap", NOWHERE)
    check("--allow-unconfined" in got[2] and "bubblewrap" in got[2], "no remedy: %s" % got[2])
    run.expect("the environment has no say", 6, "R920", touch, "--bubblewrap", NOWHERE,
               env=run.environment(UPK_RUN_ALLOW_UNCONFINED="1", ALLOW_UNCONFINED="1"))
    check(not os.path.exists(run.path("ran-it")), "it ran")
    status, out, err = run(touch, "--bubblewrap", NOWHERE, "--allow-unconfined", "--set", "MODE=fast")
    check((status, out) == (0, "'fast'\n") and err.count("warning") == 1 and "not confining" in err, "allowed: %s" % [status, out, err])
    os.unlink(run.path("ran-it"))


def required_is_required(run):
    """Nobody's word changes that."""
    policy = run.path("require.policy")
    with open(run.child) as file, open(policy, "w") as to:
        to.write(file.read().replace("linux opt_in", "linux require"))
    run.expect("required", 6, "the policy requires", children.VALUE, "--bubblewrap", NOWHERE, "--allow-unconfined", policy=policy)
    run.expect("a bubblewrap that does nothing", 6, "R920", children.VALUE, "--bubblewrap", "/bin/false", "--allow-unconfined", policy=policy)
    run.expect("one that is another program", 6, "R920", children.VALUE, "--bubblewrap", "/bin/cat", policy=policy)
    run.expect("one that hangs", 6, "R920", children.VALUE, "--bubblewrap", hanging(run), policy=policy)


def without_environment(run, *changes):
    """A policy like the child's whose environment is left to the shipped one."""
    policy = run.path("bare.policy")
    with open(run.child) as file, open(policy, "w") as to:
        source = re.sub(r"environment tests\.child \{.*?\n\}\n", "", file.read(), flags=re.S)
        for old, new in changes:
            check(old in source, old)
            source = source.replace(old, new)
        to.write(source)
    return policy


def own_confinement_holds(run):
    """Where the environment is that of the shipped policy, which would let the host do without."""
    mark = run.path("ran-it")
    policy = without_environment(run, ("linux opt_in", "linux require"))
    run.expect("required", 6, "the policy requires", command("open(%r, 'w'); send(1)" % mark), "--bubblewrap", NOWHERE, "--allow-unconfined", policy=policy)
    check(not os.path.exists(mark), "it ran")
    options = ("--bubblewrap", NOWHERE, "--allow-unconfined")
    policy = without_environment(run, ("wall 3", "wall 1"))
    status, out, _ = run(command("import resource; send([resource.getrlimit(resource.RLIMIT_NOFILE)[0], 'LANG' in os.environ])"), *options, policy=policy)
    check((status, out) == (0, "[64, True]\n"), "its budgets, with the environment of the other: %s" % [status, out])
    run.expect("its time", 5, "budget wall is 1 second", children.HANGS, *options, policy=policy)
    with open(policy, "w") as file:
        file.write("policy bare 1;\nroot any;\n")
    status, out, _ = run(command("import resource; send(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"), *options, policy=policy)
    check((status, out) == (0, "256\n"), "neither: both are the other's: %s" % [status, out])


def hanging(run):
    path = run.path("hanging")
    with open(path, "w") as file:
        file.write("#!/bin/sh\nsleep 60\n")
    os.chmod(path, 0o755)
    return path


def unconfined_children_are_bounded(run):
    """The budgets hold there too, and what is left of the group is ended."""
    options = ("--bubblewrap", NOWHERE, "--allow-unconfined")
    run.expect("endless", 1, "budget bytes is 65536", children.ENDLESS, *options)
    run.expect("it hangs", 5, "budget wall", children.HANGS, *options)
    run.expect("it stops", 5, "budget wall", children.STOPS, *options)
    run.expect("it is killed", 4, "signal 9", children.KILLS_ITSELF, *options)
    mark = str(uuid.uuid4())
    status, out, _ = run(command("""
if os.fork() == 0:
    time.sleep(60)  # %s
send(sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1])
""" % mark), *options)
    check((status, out) == (0, "[0, 1, 2, 3]\n") and wait_for(False, mark), "of the group: %s" % [status, out])
    status, out, _ = run(command("send(open('/proc/self/status').read().split('NoNewPrivs:')[1].split()[0] + str(os.getsid(0) == os.getpid()))"), *options)
    check((status, out) == (0, "'1True'\n"), "its privileges and session: %s" % [status, out])
    mark = str(uuid.uuid4())
    status, out, _ = run(command(children.LEAVES_OTHERS % mark), *options)
    check((status, out) == (0, "'left'\n") and run.took < 3, "left others: %s, %.1f s" % ([status, out], run.took))
    check(wait_for(False, mark), "of another session: %s" % children.processes_with(mark))


# ---- the state


def states(run, *options):
    """A first run writes it, others are held to it."""
    state = run.path("state")
    options = (*options, "--state", state)
    check(run.value(children.VALUE, *options) == children.VALUE_IS, "the first")
    with open(state) as file:
        text = file.read()
    check(re.fullmatch(r"upk-run 1\npolicy tests\.child 1\nchannel \ndigest [0-9a-f]{64}\nrules [0-9a-f]{64}\n", text), "the state: %r" % text)
    check(SECRET not in text and "unconfined" not in text and not os.stat(state).st_mode & 0o077, "the state: %r" % text)
    check(run.value(children.VALUE, *options) == children.VALUE_IS, "the second")
    return state, text, options


def weaker_policies_do_not_resume(run, state, options):
    for old, new in (("64KiB", "65KiB"), ("inherit PATH, LANG;", "inherit PATH, LANG, TERM;"), ("wall 3", "wall 4"), ("opt_in;\n    macos", "require;\n    macos"),
                     ("tests.child 1", "tests.child 2"), ("root any", "root int")):
        policy = run.path("other.policy")
        with open(run.child) as file, open(policy, "w") as to:
            source = file.read()
            check(old in source, old)
            to.write(source.replace(old, new))
        run.expect(new, 6, "R921", children.VALUE, *options, policy=policy)
    run.expect("a shipped one", 6, "R921", children.VALUE, *options, policy="environment")


def hostile_states(run, state, text, options):
    words = command("sys.stderr.write('it-ran')")

    def expect(what):
        _, _, err = run.expect(what, 6, "R921", words, *options)
        check("it-ran" not in err, "%s: it ran" % what)
    bad = {"smuggled": text + "allow_unconfined 1\n", "smuggled first": "allow_unconfined 1\n" + text, "empty": "", "cut": text[:-1], "shorter": text[:40],
           "a digit": text.replace("rules ", "rules 0", 1), "zeros": text + "\0" * 10, "JSON": json.dumps({"digest": "x", "allow_unconfined": True}),
           "huge": text + "x" * 100_000_000, "CR": text.replace("\n", "\r\n"), "capitals": text.upper(), "case": text.replace("digest", "Digest")}
    for what, data in bad.items():
        with open(state, "w") as file:
            file.write(data)
        expect(what)
    os.unlink(state)
    good = run.path("good-state")
    with open(good, "w") as file:
        file.write(text)
    os.symlink(good, state)
    expect("a link")
    os.unlink(state)
    for make in (os.mkfifo, os.mkdir):
        make(state)
        expect(make.__name__)
        os.unlink(state) if make is os.mkfifo else os.rmdir(state)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(state)
        expect("a socket")
    os.unlink(state)
    for mode in (0o666, 0o620):
        shutil.copy(good, state)
        os.chmod(state, mode)
        expect("mode %o" % mode)
    if os.geteuid() == 0:
        os.chmod(state, 0o600)
        os.chown(state, 12345, -1)
        expect("another's")
    os.unlink(state)
    run.expect("no folder for it", 6, "R921", children.VALUE, *options[:-1], run.path("nosuch/state"))
    run.expect("without one it runs", 4, "it-ran", words)
    check(not [name for name in os.listdir(run.folder) if name.startswith("state")], "drafts are left: %s" % os.listdir(run.folder))


def states_hold(run):
    state, text, options = states(run)
    weaker_policies_do_not_resume(run, state, options)
    hostile_states(run, state, text, options)


def states_hold_no_switch(run):
    """What was begun with the host's word goes on with it alone."""
    unconfined = ("--bubblewrap", NOWHERE)
    state = run.path("state")
    status, _, err = run(children.VALUE, *unconfined, "--allow-unconfined", "--state", state)
    check(status == 0 and err.count("warning") == 1, "with it: %d %s" % (status, err))
    check("unconfined" not in open(state).read(), "the state holds a switch")
    run.expect("without it", 6, "R920", children.VALUE, *unconfined, "--state", state)
    check(run(children.VALUE, *unconfined, "--allow-unconfined", "--state", state)[0] == 0, "with it again")
    os.unlink(state)


ALWAYS = [command_lines, manifests_are_judged, nothing_runs_unconfined_by_itself, required_is_required, own_confinement_holds,
          unconfined_children_are_bounded, states_hold_no_switch]
CONFINED = [values_come_back, exceptions_come_back, attacks_are_refused, too_much_is_refused, nothing_is_no_value, time_is_over, what_it_says_cannot_act,
            secrets_are_not_found, the_system_is_read_only, folders_are_shown, there_is_no_network, limits_hold, limits_of_processes_hold, nothing_is_left,
            signals_are_handed_on, children_end_with_their_parent, few_descriptors, every_allocation_may_fail, states_hold]


def main(always, confined):
    with tempfile.TemporaryDirectory() as folder:
        run = Runs(sys.argv[1], os.path.realpath(folder))
        tally.run(always, run)
        children.run_confined(tally, confined, run)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(ALWAYS, CONFINED))
