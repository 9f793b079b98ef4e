#!/usr/bin/python3
"""upk-run: what happens before the command runs: the program that is meant, a home, and a bubblewrap that does not end its set-up.

usage: test_run_start.py BUILD       (from the top folder, after `make`)

Where this machine cannot confine a child, what needs that is not run, and said to be so.
"""
import os
import shutil
import sys
import tempfile

import children
from children import PYTHON, command
from test_upk_run import NOWHERE, check, main

# ---- the program


def write(path, text, mode=0o755):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


# A confined child, and one that nothing confines.
WAYS = ((), ("--bubblewrap", NOWHERE, "--allow-unconfined"))


def programs_of_another_kind(run):
    """What is there, but cannot be run: each is said by the name that was given, and is no failure of a child."""
    write(run.path("plain"), "not to be run\n", 0o644)
    os.makedirs(run.path("sub"), exist_ok=True)
    for more in WAYS:
        for what, name, text in (
                ("no program at all", "nosuch-program", "there is no program nosuch-program on the child's PATH ["),
                ("nor by a path", "./nosuch", "there is no program ./nosuch ["),
                ("nor by an absolute one", "/nonexistent/x", "there is no program /nonexistent/x ["),
                ("nor below a file", "./plain/x", "there is no program ./plain/x ["),
                ("a folder", "/tmp", "/tmp is a folder ["),
                ("the working one", "./", "./ is a folder ["),
                ("another one", "sub/../sub", "sub/../sub is a folder ["),
                ("no file to be run", "/dev/null", "/dev/null may not be executed ["),
                ("its mode", "./plain", "./plain may not be executed [")):
            run.expect(what, 3, "refused: the child cannot be started: " + text, [name], *more)


def interpreters(run):
    """The kernel says of a script whose interpreter is missing that the script is."""
    for name, line, text in (("script", "#!/nonexistent/interpreter\n", "there is no program /nonexistent/interpreter ["),
                             ("spaces", "#! \t/nonexistent/x -a b\n", "there is no program /nonexistent/x ["),
                             ("returns", "#!/bin/sh\r\n", "there is no program /bin/sh? ["),
                             ("no-end", "#!/nonexistent/x", "there is no program /nonexistent/x ["),
                             ("folder", "#!/usr\n", "/usr is a folder ["),
                             ("mode", "#!/etc/passwd\n", "/etc/passwd may not be executed ["),
                             ("here", "#!./nosuch\n", "there is no program ./nosuch [")):
        write(run.path(name), line)
        for more in WAYS:
            run.expect(name, 3, "refused: the child cannot be started: the interpreter of ./%s: %s" % (name, text), ["./" + name], *more)
    write(run.path("sh-here"), "#!/bin/sh\nexec %s \"$@\"\n" % PYTHON)
    for name, line in (("good", "#!/bin/sh\n"), ("by-env", "#!/usr/bin/env sh\n"), ("relative", "#!./sh-here -cpass\n")):
        write(run.path(name), line)
        for more in WAYS:
            run.expect(name, 4, "R925", ["./" + name], *more)


def hidden_interpreters(run):
    """Of a script that the child sees, also by its PATH."""
    own = tempfile.mkdtemp(dir="/var/tmp")
    try:
        os.chmod(own, 0o755)
        shutil.copy("/bin/true", own + "/own-true")
        os.symlink(own + "/own-true", run.path("to-own"))
        write(run.path("hidden"), "#!%s/own-true\n" % own)
        write(run.path("by-link"), "#!%s\n" % run.path("to-own"))
        said = "the interpreter of ./hidden: the confined child does not see %s/own-true [" % own
        _, _, err = run.expect("hidden", 3, said, ["./hidden"])
        check("--visible" in err, err)
        run.expect("by a link", 3, "/to-own, which is %s/own-true" % own, ["./by-link"])
        run.expect("on the PATH", 3, "own-true", ["hidden"], env=run.environment(PATH=run.folder))
        run.expect("visible", 4, "R925", ["./hidden"], "--visible", own)
    finally:
        shutil.rmtree(own)


def words_of_bubblewrap_are_said_once(run):
    """Those with which it does not begin the command are the error's.  A command that begins with such a word is heard nevertheless."""
    write(run.path("no-loader"), "#!%s\n" % run.path("deeper"))
    write(run.path("deeper"), "#!/nonexistent/interpreter\n")
    _, _, err = run.expect("late", 3, "cannot be started: bwrap: execvp %s/no-loader: No such file" % run.folder, ["./no-loader"])
    check(err.count("bwrap:") == 1 and "child:" not in err, "said twice: %s" % err)
    for said in ("bwrap: a\n", "bwrap: a", "bwra", "bwrap: a\nb\n", "bwrap: " + 300 * "x" + "\n", "bwrap: a\n\0"):
        for ending in ("send(1)", "sys.exit(7)") + (("time.sleep(60)",) if said == "bwra" else ()):
            _, _, err = run(command("os.write(2, %r); time.sleep(0.1); %s" % (said.encode(), ending)))
            check(err.count("child: bwra") == 1 and err.count("bwra") == 1, "%r, %s: %r" % (said, ending, err))


def programs_are_passed_by_aloud(run):
    """The first one on the PATH is meant; where the child does not see it, a later one is taken, and that is said."""
    own = tempfile.mkdtemp(dir="/var/tmp")
    try:
        os.chmod(own, 0o755)
        write(own + "/true", "#!/bin/sh\nexit 9\n")
        write(own + "/own-program", "#!/bin/sh\nexit 9\n")
        path = "%s:/usr/bin:/bin" % own
        _, _, err = run.expect("a later one", 4, "R925", ["true"], env=run.environment(PATH=path))
        check("warning: the program is /usr/bin/true: %s/true comes first" % own in err, err)
        _, _, err = run.expect("the first one", 4, "exit status 9", ["true"], "--visible", own, env=run.environment(PATH=path))
        check("warning" not in err, err)
        run.expect("no later one", 3, "does not see %s/own-program" % own, ["own-program"], env=run.environment(PATH=path))
        _, out, err = run.expect("with advice", 3, "--visible", ["own-program"], env=run.environment(PATH=path))
    finally:
        shutil.rmtree(own)


def ends_are_told(run):
    """A status that a shell would have, too, is told as both."""
    run.expect("a signal", 4, "exit status 139, as of signal 11", command("os.kill(os.getpid(), 11)"))
    run.expect("a status", 4, "exit status 7", children.FAILS)
    run.expect("a high one", 4, "exit status 255 [R924]", command("sys.exit(255)"))


# ---- folders


def homes(run):
    """Anywhere but above all; below the folders that are its own anyway, too."""
    for home in ("/tmp/a/b", "/var/tmp/a/b", "/home/nobody-here", "/var/lib/job"):
        words = command("p = os.environ['HOME']; open(p + '/x', 'w').write('x'); send([p, os.listdir(p)])")
        check(run.value(words, "--home", home) == [home, ["x"]], home)
    for home in ("/.", "//..", "/tmp/..", "/tmp/../etc"):
        run.expect(home, 3, "R922", children.VALUE, "--home", home)
    own = tempfile.mkdtemp(dir="/var/tmp")
    try:
        os.chmod(own, 0o755)
        write(own + "/file", "x")
        check(run.value(command("send([os.getcwd(), os.listdir('.')])"), "--folder", own) == [own, ["file"]], "a folder of /var/tmp")
    finally:
        shutil.rmtree(own)


# ---- a bubblewrap that fails late

# It makes its namespaces, and then it says why not and ends, or does nothing more.
LATE = """#!%(python)s
import os, sys, time
words = sys.argv
if %(able)r and words[-1] == "/bin/true":
    os.execv("/usr/bin/bwrap", words)
pid = os.getpid()
if %(gone)r:
    pid = os.fork() or os._exit(0)
    os.waitpid(pid, 0)
os.write(int(words[words.index("--json-status-fd") + 1]), b'{ "child-pid": ' + str(pid).encode() + b' }\\n')
if %(endless)r:
    time.sleep(60)
sys.stderr.write("bwrap: setting up uid map: Permission denied\\n")
sys.exit(1)
"""


def late(run, name, able=False, endless=False, gone=False):
    """One that is able to run /bin/true, or nothing; `gone': whose first process has ended when the host hears of it."""
    return write(run.path(name), LATE % {"python": PYTHON, "able": able, "endless": endless, "gone": gone})


def late_failures_are_none_of_the_child(run):
    """Where it makes a process, but may not do the rest, nothing confines a child; where it can with other words, this one is not started.
    Either way nothing ran, and a state that was written stays: another call may hold to it by then."""
    state = run.path("late-state")
    never = late(run, "never")
    run.expect("never", 6, "R920", children.VALUE, "--bubblewrap", never, "--state", state)
    run.expect("it says why", 6, "setting up uid map: Permission denied", children.VALUE, "--bubblewrap", never)
    run.expect("gone by then", 6, "setting up uid map: Permission denied", children.VALUE, "--bubblewrap", late(run, "gone", gone=True))
    check(os.path.exists(state), "a state")
    status, out, err = run(children.VALUE, "--bubblewrap", never, "--allow-unconfined", "--state", state)
    check(status == 0 and "ratio" in out and err.count("warning") == 1, "unconfined: %s" % [status, out, err])
    check(run(children.VALUE, "--bubblewrap", never, "--allow-unconfined", "--state", state)[0] == 0, "held to it")
    run.expect("held to it, too", 6, "R920", children.VALUE, "--bubblewrap", never, "--state", state)
    check(os.path.exists(state), "the state of another call")


def late_failures_of_one_call(run):
    state = run.path("one-state")
    once = late(run, "once", able=True)
    for more in ((), ("--allow-unconfined",)):
        run.expect("once", 3, "setting up uid map: Permission denied [R922]", children.VALUE, "--bubblewrap", once, "--state", state, *more)
    gone = late(run, "once-gone", able=True, gone=True)
    run.expect("once, gone by then", 3, "setting up uid map: Permission denied [R922]", children.VALUE, "--bubblewrap", gone)
    check(run(children.VALUE, "--state", state)[0] == 0, "the state of this policy holds")


def endless_set_ups_end(run):
    state = run.path("endless-state")
    endless = late(run, "endless", endless=True)
    run.expect("endless", 6, "does not end its set-up", children.VALUE, "--bubblewrap", endless, "--state", state)
    check(run.took < 12, "%.1f s" % run.took)
    check(not children.processes_with(endless), "left: %s" % children.processes_with(endless))


ALWAYS = [late_failures_are_none_of_the_child, endless_set_ups_end]
CONFINED = [programs_of_another_kind, interpreters, hidden_interpreters, words_of_bubblewrap_are_said_once, programs_are_passed_by_aloud, ends_are_told, homes, late_failures_of_one_call]


if __name__ == "__main__":
    sys.exit(main(ALWAYS, CONFINED))
