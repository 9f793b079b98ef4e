#!/usr/bin/python3
"""upk-run: what of its host a child could get hold of besides its variables: bubblewrap itself, before it has made a namespace, the
keys of the kernel, other processes and sockets, the nodes of devices; and that it does not outlive its host.

usage: test_run_host.py BUILD       (from the top folder, after `make`)

Where this machine cannot confine a child, or has no keys, what needs that is not run, and said to be so.
"""
import hashlib
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
import uuid

import children
from children import PYTHON, command
from test_upk_run import NOWHERE, SECRET, Runs, begin, check, tally, wait_for, with_network

UNCONFINED = ("--bubblewrap", NOWHERE, "--allow-unconfined")


# ---- bubblewrap


def only_an_absolute_bubblewrap_is_started(run):
    """Not one that the working folder has, whatever the caller allows."""
    with open(run.path("bwrap"), "w") as file:
        file.write("#!/bin/sh\ntouch '%s'\n" % run.path("ran-it"))
    os.chmod(run.path("bwrap"), 0o755)
    for name in ("bwrap", "./bwrap", ""):
        for more in ((), ("--allow-unconfined",)):
            run.expect("%r %s" % (name, more), 3, "R922", children.VALUE, "--bubblewrap", name, *more)
    check(not os.path.exists(run.path("ran-it")), "it ran")


# Says what it was started with, and is bubblewrap then.
WRAPPER = """#!%s
import os, sys
with open(%%r, "wb") as to:
    for name in ("environ", "cmdline"):
        with open("/proc/self/" + name, "rb") as file:
            to.write(file.read() + b"\\n")
os.execve("/usr/bin/bwrap", ["bwrap"] + sys.argv[1:], {})
""" % PYTHON


def bubblewrap_is_told_no_variable(run):
    """Neither by its environment, which its loader would follow, nor by its command line, which anybody reads."""
    with open(run.path("wrapper"), "w") as file:
        file.write(WRAPPER % run.path("told"))
    os.chmod(run.path("wrapper"), 0o755)
    words = command("send([os.environ['MODE'], os.environ['LANG'], open('/proc/1/environ').read()])")
    value = run.value(words, "--set", "MODE=fast-mode")
    check(value == ["fast-mode", "C.UTF-8", ""], "what the child has: %s" % value)
    check(run.value(words, "--set", "MODE=fast-mode", "--bubblewrap", run.path("wrapper")) == value, "by way of another program")
    with open(run.path("told"), "rb") as file:
        told = file.read()
    check(told.startswith(b"\n"), "its environment: %s" % told)
    check(b"fast-mode" not in told and b"C.UTF-8" not in told and SECRET.encode() not in told, "it is told: %s" % told)


def many_variables_arrive(run):
    """Long ones too, and empty ones."""
    policy = run.path("many.policy")
    names = ["V%d" % i for i in range(300)]
    with open(run.child) as file, open(policy, "w") as to:
        to.write(file.read().replace("manifest MODE", "manifest %s where value text" % ", ".join(names)))
    wanted = {name: name * (i % 7 * 150) for i, name in enumerate(names)}
    digest = "hashlib.sha256(repr(sorted((n, v) for n, v in %s.items() if n[0] == 'V')).encode()).hexdigest()"
    value = run.value(command("import hashlib; send(%s)" % digest % "os.environ"),
                      *[word for name in names for word in ("--set", "%s=%s" % (name, wanted[name]))], policy=policy)
    check(value == eval(digest % "wanted"), "other variables")
    with open(policy, "w") as to:
        to.write("policy tests.none 1; root any; environment tests.none { }")
    check(run.value(["/bin/sh", "-c", "printf 'K\\001.'"], "--stdout", policy=policy) == 1, "no variables")


LIBRARY = """
#include <fcntl.h>
__attribute__((constructor)) static void begin(void) { (void)open("%s", O_CREAT | O_WRONLY, 0600); }
"""

LOADER = """policy tests.loader 1;
root any;
environment tests.loader {
    inherit PATH;
    set %s = "%s" because "a library of the task's own";
    home workspace;
}
"""


def what_the_loader_runs_is_confined(run):
    """Libraries of the working folder, where the policy grants them, run in the child alone."""
    library, source, policy = run.path("libcap.so.2"), run.path("library.c"), run.path("loader.policy")
    with open(source, "w") as file:
        file.write(LIBRARY % run.path("ran-it"))
    subprocess.run([*os.environ.get("CC", "gcc").split(), "-shared", "-fPIC", "-o", library, source], check=True)
    for name, value in (("LD_LIBRARY_PATH", run.folder), ("LD_PRELOAD", library)):
        with open(policy, "w") as file:
            file.write(LOADER % (name, value))
        check(run.value(command("send(os.environ[%r])" % name), policy=policy) == value, "it has %s" % name)
        check(not os.path.exists(run.path("ran-it")), "%s: it ran unconfined" % name)


# ---- keys

CALLS = {"x86_64": (248, 250), "aarch64": (217, 219)}  # add_key, keyctl

KEYS = """
import ctypes
system = ctypes.CDLL(None, use_errno=True).syscall
def search(name):
    return system(%d, 10, -3, b"user", name, 0)
def add(name):
    return system(%d, b"user", name, b"value", 5, -3)
def join():
    return system(%d, 1, None)
"""


def has_keys():
    """The calls, after a keyring of this test's own and a key in it were made; None: this machine has no keys."""
    if platform.machine() not in CALLS:
        return None
    add, keyctl = CALLS[platform.machine()]
    calls = {}
    exec(KEYS % (keyctl, add, keyctl), calls)
    return calls if calls["join"]() > 0 and calls["add"](b"upk-host") > 0 else None


def keys_stay_with_the_host(run, keys):
    """An unconfined child's keyring is its own: nothing of the host's is in it, and nothing gets from it into the host's.  A confined one
    has no keys."""
    add, keyctl = CALLS[platform.machine()]
    for options in ((), UNCONFINED):
        if not options and children.confinement():
            continue
        has = bool(options)
        status, out, err = run(command(KEYS % (keyctl, add, keyctl) + "send([search(b'upk-host'), add(b'upk-child') > 0, search(b'upk-child') > 0])"),
                               *options)
        check((status, out) == (0, "[-1, %s, %s]\n" % (has, has)), "%s: %s" % (options, [status, out, err]))
        check(keys["search"](b"upk-host") > 0 and keys["search"](b"upk-child") == -1, "%s: the host's keys" % (options,))


def keyrings_of_the_user_are_not_reached(run, keys):
    """Not by their numbers either, which can be known."""
    add, keyctl = CALLS[platform.machine()]
    ring, key = keys["system"](keyctl, 0, -4, 1), keys["system"](add, b"user", b"upk-user", b"value", 5, -4)
    check(ring > 0 and key > 0, "a key of the user")
    value = run.value(command(KEYS % (keyctl, add, keyctl) + "send([system(%d, 8, %d, -3), search(b'upk-user'), system(%d, 11, %d, None, 0)])"
                              % (keyctl, ring, keyctl, key)))
    check(value == [-1, -1, -1], "linked, found, read: %s" % value)
    keys["system"](keyctl, 9, key, -4)


# ---- processes and sockets

PROCESSES = {"x86_64": (101, 310, 311), "aarch64": (117, 270, 271)}  # ptrace, process_vm_readv, process_vm_writev

ATTEMPTS = """
import ctypes, errno
system = ctypes.CDLL(None, use_errno=True).syscall
def attempt(*numbers):
    ctypes.set_errno(0)
    return errno.errorcode.get(ctypes.get_errno(), "") if system(*numbers) == -1 else "done"
def make(family, kind=socket.SOCK_STREAM, function=socket.socket):
    try:
        function(family, kind)
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
"""


def other_processes_are_not_reached(run):
    """Not even the first one of its namespace, which is the same user's and not the child's."""
    numbers = PROCESSES.get(platform.machine())
    if not numbers:
        return
    ptrace, *others = numbers
    tries = [(ptrace, 16, 1, 0, 0), (ptrace, 0x4206, 1, 0, 0), (ptrace, 0, 0, 0, 0), *[(number, 1, 0, 0, 0, 0, 0) for number in others], (438, 3, 0, 0)]
    got = run.value(command(ATTEMPTS + "send([attempt(*each) for each in %r])" % tries))
    check(got == ["ENOSYS"] * len(tries), "calls: %s" % got)


def sockets_of_a_folder_are_not_reached(run):
    """A daemon that listens in a folder which the child sees, unless it has the network; nor by io_uring, which asks no filter."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(run.path("daemon"))
        server.listen(1)
        words = command("send(socket.socket(socket.AF_UNIX).connect_ex('daemon'))")
        run.expect("a daemon", 4, "Address family not supported", words)
        check(run.value(words, policy=with_network(run)) == 0, "granted")
    os.unlink(run.path("daemon"))
    words = command(ATTEMPTS + """
a, b = socket.socketpair()
a.send(b"x")
send([make(socket.AF_UNIX), make(40), make(socket.AF_PACKET), make(socket.AF_INET), make(socket.AF_INET6), b.recv(1) == b"x", attempt(425, 0, 0),
      *[make(family, kind, socket.socketpair) for family in (socket.AF_UNIX, 17, 40, 44) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET)]])
""")
    got = run.value(words)
    check(got == ["EAFNOSUPPORT"] * 3 + ["done", "done", True, "ENOSYS", "done", "EAFNOSUPPORT", "done"] + ["EAFNOSUPPORT"] * 9, "without: %s" % got)
    got = run.value(words, policy=with_network(run))
    check(got[0] == got[3] == "done" and got[5] is True and got[6] != "ENOSYS" and got[7:10] == ["done"] * 3, "with: %s" % got)


# ---- its host ends

MOMENTS = 60


def children_end_with_a_killed_host(run):
    """Whenever that is: of SIGKILL the host hears nothing."""
    ran = []
    process = begin(run, command("sys.stderr.write('ready\\n'); sys.stderr.flush(); time.sleep(60)"))
    began = time.monotonic()
    process.stderr.readline()
    whole = (time.monotonic() - began) * 1.2
    process.kill()
    process.communicate()
    for i in range(MOMENTS):
        mark = str(uuid.uuid4())
        process = begin(run, command("# %s\ntime.sleep(60)" % mark))
        time.sleep(whole * i / MOMENTS)
        ran.append(bool(children.processes_with(mark)))
        process.kill()
        process.communicate(timeout=20)
        check(wait_for(False, mark), "after %d of %d moments: left: %s" % (i, MOMENTS, children.processes_with(mark)))
    check(True in ran, "none of them had begun")


# ---- devices

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")

CHANGES = command("""
import errno
def attempt(function, *arguments):
    try:
        return function(*arguments) or 0
    except OSError as error:
        return errno.errorcode[error.errno]
found = {}
for name in %r:
    path = "/dev/" + name
    found[name] = [attempt(os.chmod, path, 0o666), attempt(os.utime, path, (1, 1))]
with open("/dev/null", "w") as null, open("/dev/zero", "rb") as zero, open("/dev/urandom", "rb") as some:
    found["use"] = [null.write("x"), zero.read(3) == bytes(3), len(some.read(3))]
send(found)
""" % (DEVICES,))


def devices_cannot_be_changed(run):
    """Their nodes are those of the host, and root owns them; they are used as before."""
    found = run.value(CHANGES) or {}
    check(found.pop("use", None) == [1, True, 3], "they are used")
    changes = "EROFS" if os.geteuid() == 0 else "EPERM"
    check(all(each == [changes, changes] for each in found.values()) and len(found) == len(DEVICES), "%s" % found)
    check(not [name for name in DEVICES if os.stat("/dev/" + name).st_mtime == 1], "nodes of the host have changed")


CONFINED = [bubblewrap_is_told_no_variable, many_variables_arrive, what_the_loader_runs_is_confined, other_processes_are_not_reached,
            sockets_of_a_folder_are_not_reached, children_end_with_a_killed_host, devices_cannot_be_changed]


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = Runs(sys.argv[1], os.path.realpath(folder))
        tally.run([only_an_absolute_bubblewrap_is_started], run)
        keys = has_keys()
        if keys:
            tally.run([keys_stay_with_the_host, *([] if children.confinement() else [keyrings_of_the_user_are_not_reached])], run, keys)
        else:
            print("not run: a test of keys: this machine has none, or lets nobody have them")
        children.run_confined(tally, CONFINED, run)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
