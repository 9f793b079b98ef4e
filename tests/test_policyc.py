#!/usr/bin/python3
"""policyc as a program: exit statuses, outputs and what a killed run leaves of them, dependency files, includes that leave
their folder, limits, other programs in gperf's place, colour, and names that the C library keeps.

usage: test_policyc.py BUILD       (from the top folder)
"""
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from policyc import ELSEWHERE, Policyc, check, errors_of, link, read, seen_codes, tally, write


def expecting(policyc, scratch):
    """A function that runs a command and checks its exit status and what it prints."""
    def expect(name, arguments, status, pattern="", **more):
        got, out, messages = policyc.run(*arguments, **more)
        errors_of(messages, scratch, "")
        check("command: " + name, got == status and re.search(pattern, out + messages, re.S), out + messages)
    return expect


def test_commands(policyc, scratch):
    expect, folder = expecting(policyc, scratch), os.path.join(scratch, "commands")
    good, bad = os.path.join(folder, "good.policy"), os.path.join(folder, "bad.policy")
    write(good, 'policy good 1;\ninclude "part.policy";\nuse part;\n')
    write(os.path.join(folder, "inc/part.policy"), "fragment part;\n")
    write(bad, "policy bad 1;\nroot Nothing;\n")
    inc = os.path.join(folder, "inc")
    expect("--help", ["--help"], 0, r"^usage: policyc")
    expect("-h", ["-h"], 0, r"^usage: policyc")
    expect("an output that is no .c", [good, "-I", inc, "-o", os.path.join(folder, "out")], 2,
           r"does not end in \.c \[P0007\]")
    check("and nothing is written", not any(name.startswith("out") for name in os.listdir(folder)))
    expect("--version", ["--version"], 0, r"^policyc \d+\.\d+\.\d+\n$")
    expect("no argument", [], 2, r"no policy is named")
    expect("unknown option", ["--nothing", good], 2, r"there is no option --nothing")
    expect("two policies", [good, bad], 2, r"one policy at a time")
    expect("option without value", [good, "-o"], 2, r"a value is missing")
    expect("-MD without -o", [good, "-MD"], 2, r"-MD needs -o")
    expect("missing main file", [os.path.join(folder, "none.policy")], 3, r"\[P0001\]")
    expect("folder as main file", [folder], 3, r"not a regular file \[P0001\]")
    expect("errors", [bad], 2, r"\[P0030\]")
    expect("a channel that is not there", ["list", bad.replace("bad", "good") + ":b", "-I", inc], 2, r"no channel `b' \[P0008\]")
    expect("check alone", [good, "-I", inc], 0)
    expect("joined -I", [good, "-I" + inc], 0)
    expect("without -I", [good], 2, r"\[P0020\]")
    expect("policy folder", [good, "-I", inc, "--policy-dir=" + folder], 0)
    expect("unwritable output", [good, "-I", inc, "-o", os.path.join(folder, "none/x.c")], 3, r"\[P0005\]")
    kept = read(good)
    for name in ("good.policy", "new.policy", "."):
        expect("an output named " + name, [good, "-I", inc, "-o", os.path.join(folder, name)], 2, r"\[P0007\]")
    check("the source is as it was", read(good) == kept and not os.path.exists(os.path.join(folder, "new.policy")))
    expect("no colour into a pipe", [bad], 2, r"\A[^\x1b]*\Z")

    write(os.path.join(folder, "std/plain.policy"), "no policy at all\n")
    write(os.path.join(folder, "shipped.policy"), 'policy shipped 1;\ninclude "std/plain.policy";\nuse std.plain;\n')
    expect("shipped policies come from their folder alone", [os.path.join(folder, "shipped.policy"), "-I", folder], 0)
    expect("-MD", ["good.policy", "-I", "inc", "-o", "out.c", "-MD"], 0, cwd=folder)
    dependencies = read(os.path.join(folder, "out.d")).decode()
    check("dependency file", dependencies.startswith("out.c out.h: inc/part.policy good.policy\n"),
          dependencies)
    shutil.copy(good, os.path.join(folder, "a b.policy"))
    expect("name that make cannot read", ["a b.policy", "-I", "inc", "-o", "out.c", "-MD"], 2, r"\[P0006\]",
           cwd=folder)


def test_python(policyc, scratch):
    """What --python writes, and when it does not."""
    expect, folder = expecting(policyc, scratch), os.path.join(scratch, "python")
    write(os.path.join(folder, "m.policy"), 'policy m 1;\nmodule a { class "Hi*/zqk" call(x: "\\n*/ ??/") because "b */"; }\nroot any;\n')
    write(os.path.join(folder, "c.policy"), "policy c 1;\nchannel one { root int; }\nchannel two { root str; }\n")
    for name in ("none", "folder"):
        os.mkdir(os.path.join(folder, name))
    expect("--python without -o", ["m.policy", "--python", "m"], 2, r"--python needs -o", cwd=folder)
    for name in ("1m", "a.b", "a-b", "class", "None", "async", "m/n", "\u00e9", "x" * 101):
        expect("a module named " + name, ["m.policy", "--python", name, "-o", "none"], 2, r"--python takes a Python identifier", cwd=folder)
    check("and nothing is written", os.listdir(os.path.join(folder, "none")) == [])
    expect("a folder that is not there", ["m.policy", "--python", "m", "-o", "nowhere"], 3, r"\[P0005\]", cwd=folder)
    expect("--python", ["m.policy", "--python=m_guard", "-o", "folder", "-MD"], 0, r"\A\Z", cwd=folder)
    names = ["m_guard.c", "m_guard.d", "m_guard.h", "m_guard.pyi", "m_guardmodule.c"]
    texts = {name: read(os.path.join(folder, "folder", name)) for name in os.listdir(os.path.join(folder, "folder"))}
    check("--python: what is written", sorted(texts) == names, str(sorted(texts)))
    check("--python: dependencies", texts["m_guard.d"].startswith(
        b"folder/m_guard.c folder/m_guard.h folder/m_guardmodule.c folder/m_guard.pyi: m.policy\n"), texts["m_guard.d"].decode())
    check("--python: text of the policy is in octal alone", not any(b"zqk" in text or b"?/" in text for name, text in texts.items() if name != "m_guard.d"))
    expect("--python again", ["m.policy", "--python", "m_guard", "-o", "folder", "-MD"], 0, r"\A\Z", cwd=folder)
    check("--python: the same each time", all(read(os.path.join(folder, "folder", name)) == text for name, text in texts.items()))
    policyc.run("m.policy", "-o", "m_guard.c", cwd=folder)
    check("--python: the same tables", read(os.path.join(folder, "m_guard.c")) == texts["m_guard.c"])
    expect("channels", ["c.policy", "--python", "c", "-o", "folder"], 0, r"\A\Z", cwd=folder)
    stubs = read(os.path.join(folder, "folder/c.pyi"))
    check("--python: channels in the stubs", b"\none: Policy\ntwo: Policy\n" in stubs and b"\ndef loads" not in stubs, stubs.decode())
    for name in ("None", "class", "Policy", "RefusedError", "__all__"):
        write(os.path.join(folder, "n.policy"), "policy n 1;\nchannel %s { root int; }\n" % name)
        expect("a channel named " + name, ["n.policy", "--python", "n", "-o", "none"], 2, r"n\.policy:2:9: error: .*\[P00(82|81)\]", cwd=folder)
    check("and nothing of them is written", os.listdir(os.path.join(folder, "none")) == [])


def test_includes(policyc, scratch):
    """Only regular files of the policy's own folder are included, and nothing of others is shown."""
    expect, folder = expecting(policyc, scratch), os.path.join(scratch, "includes")
    write(os.path.join(folder, "inc/part.policy"), "fragment part;\n")
    write(os.path.join(scratch, "outside.policy"), "fragment outside;\n")
    os.symlink("../outside.policy", os.path.join(folder, "link.policy"))
    os.symlink("inc/part.policy", os.path.join(folder, "inner.policy"))
    write(os.path.join(folder, "links.policy"),
          'policy links 1;\ninclude "inner.policy";\ninclude "link.policy";\n')
    expect("link that leaves its folder", ["links.policy"], 2, r"links.policy:3:9: error: .* \[P0021\]",
           cwd=folder)
    os.mkfifo(os.path.join(folder, "pipe.policy"))
    write(os.path.join(folder, "fifo.policy"), 'policy fifo 1;\ninclude "pipe.policy";\n')
    expect("a pipe is no file to include", ["fifo.policy"], 2, r"fifo.policy:2:9: error: .* \[P0001\]",
           cwd=folder)
    write(os.path.join(folder, "secret"), "password: hunter2\n")
    write(os.path.join(folder, "secret.policy"), 'policy secret 1;\ninclude "secret";\n')
    expect("nothing of other files is printed", ["secret.policy"], 2, r"\A(?!.*hunter2).*\[P0018\]",
           cwd=folder)


def test_limits(policyc, scratch):
    expect, folder = expecting(policyc, scratch), os.path.join(scratch, "limits")
    for depth, status in ((15, 0), (16, 2)):
        for i in range(depth):
            text = "fragment f%d;\n" % i + ('include "f%d.policy";\n' % (i + 1) if i + 1 < depth else "")
            write(os.path.join(folder, "deep/f%d.policy" % i), text)
        write(os.path.join(folder, "deep/main.policy"), 'policy deep 1;\ninclude "f0.policy";\n')
        expect("%d files deep" % depth, ["deep/main.policy"], status, r"\[P0004\]" if status else "",
               cwd=folder)
    for count, status in ((4096, 0), (4097, 2)):
        numbers = " | ".join(map(str, range(count)))
        write(os.path.join(folder, "wide.policy"), "policy wide 1;\nroot %s;\n" % numbers)
        expect("%d alternatives" % count, ["wide.policy"], status, r"\[P0004\]" if status else "", cwd=folder)
    write(os.path.join(folder, "many.policy"),
          "policy many 1;\n" + "root Nothing;\n" + "budget nothing 1;\n" * 25)
    expect("twenty errors and no more", ["many.policy"], 2, r"\A(?:[^\[]*\[P00\d\d\]){20}[^\[]*6 more errors",
           cwd=folder)
    aliases = "".join("alias z%d -> m;\n" % i for i in range(1001))
    write(os.path.join(folder, "aliases.policy"), "policy aliases 1;\n" + aliases)
    expect("an alias too many", ["aliases.policy"], 2, r"aliases.policy:1002:1: error: .* \[P0004\]", cwd=folder)
    aliases = "".join("alias z%d -> m;\n" % i for i in range(1000))
    classes = "".join("  class C%d new();\n" % i for i in range(1000))
    write(os.path.join(folder, "spellings.policy"), "policy spellings 1;\n" + aliases + "module m {\n" + classes + "}\n")
    started = os.times().children_user
    expect("aliases times names", ["spellings.policy"], 2, r"spellings.policy:\d+:1: error: .* `z\d+'.* \[P0004\]",
           cwd=folder)
    check("aliases times names: refused before they are made", os.times().children_user - started < 1)


def test_outputs(policyc, scratch):
    """What stands where outputs go is kept, but for regular files that are no sources."""
    def expect(name, status, code, output, *more, **options):
        got, out, messages = policyc.run("main.policy", "-I", ".", "-o", output, *more, cwd=folder, **options)
        errors_of(messages, folder, "")
        check("output: " + name, got == status and (not code or "[%s]" % code in messages) and "\x1b" not in messages,
              "%d %s" % (got, out + messages))

    def has(name, text):
        check("output: %s stands as it did" % name, read(os.path.join(folder, name)) == text.encode())

    folder = os.path.join(scratch, "outputs")
    texts = {"main.policy": 'policy outputs 1;\ninclude "part.h";\nuse part;\n', "part.h": "fragment part;\n",
             "old.h": "old header\n", "old.c": "old source\n", "other.policy": "policy other 1;\n"}
    for name, text in texts.items():
        write(os.path.join(folder, name), text)
    os.symlink("main.policy", os.path.join(folder, "link.c"))
    os.symlink("nowhere", os.path.join(folder, "dangling.c"))
    os.link(os.path.join(folder, "part.h"), os.path.join(folder, "hard.c"))
    os.mkdir(os.path.join(folder, "folder.c"))
    os.mkfifo(os.path.join(folder, "fifo.d"))
    expect("the source itself", 2, "P0007", "main.policy")
    expect("another policy", 2, "P0007", "other.policy")
    expect("a policy that is not there", 2, "P0007", "new.policy")
    expect("a link to the source", 2, "P0007", "link.c")
    expect("a link that leads nowhere", 2, "P0007", "dangling.c")
    expect("a hard link to an included file", 2, "P0007", "hard.c")
    expect("the header is an included file", 2, "P0007", "part.c")
    expect("a folder", 2, "P0007", "folder.c")
    expect("a device", 2, "P0007", "/dev/null")
    expect("a pipe in the place of the dependencies", 2, "P0007", "fifo.c", "-MD")
    expect("control characters in a name", 3, "P0005", "none\x1b/x.c")
    expect("a name that make cannot read", 2, "P0006", "a b.c", "-MD")

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    expect("a full disk", 3, "P0005", "old.c", preexec_fn=small_files)
    for name, text in texts.items():
        has(name, text)
    check("output: nothing new of all that", sorted(os.listdir(folder)) == sorted(
        [*texts, "link.c", "dangling.c", "hard.c", "folder.c", "fifo.d"]), os.listdir(folder))

    os.symlink("old.c", os.path.join(folder, "new.c"))
    os.chmod(os.path.join(folder, "old.c"), 0o640)
    expect("through a link", 0, "", "new.c", "-MD")
    check("output: the link is a link", os.path.islink(os.path.join(folder, "new.c")))
    check("output: written where it leads", b"Generated" in read(os.path.join(folder, "old.c")))
    check("output: the mode stays", os.stat(os.path.join(folder, "old.c")).st_mode & 0o777 == 0o640)
    check("output: header and dependencies", os.path.exists(os.path.join(folder, "new.h"))
          and os.path.exists(os.path.join(folder, "new.d")))
    check("output: nothing is left over", not [name for name in os.listdir(folder) if name.endswith(".tmp")])


def test_unfinished_outputs(policyc, scratch):
    """What a killed run leaves is taken over by the next; what is somebody else's is left alone."""
    folder = os.path.join(scratch, "unfinished")
    policy, out = os.path.join(folder, "main.policy"), os.path.join(folder, "x.c")
    write(policy, "policy unfinished 1;\n")
    kept = os.path.join(folder, "kept")
    for name in ("x.c.0.tmp", "x.h.0.tmp", "kept"):
        write(os.path.join(folder, name), "left " * 10_000)
    os.symlink("kept", os.path.join(folder, "x.c.1.tmp"))
    os.link(kept, os.path.join(folder, "x.h.1.tmp"))
    status, _, messages = policyc.run(policy, "-o", out)
    check("unfinished: written", status == 0 and read(out).startswith(b"/*") and b"left" not in read(out), messages)
    check("unfinished: nothing is left over", sorted(os.listdir(folder))
          == ["kept", "main.policy", "x.c", "x.c.1.tmp", "x.h", "x.h.1.tmp"], os.listdir(folder))
    os.rename(os.path.join(folder, "x.c.1.tmp"), os.path.join(folder, "x.c.0.tmp"))
    os.rename(os.path.join(folder, "x.h.1.tmp"), os.path.join(folder, "x.h.0.tmp"))
    status, _, messages = policyc.run(policy, "-o", out)
    check("unfinished: links are not followed", status == 0 and read(kept) == b"left " * 10_000, messages)

    first = read(out)
    runs = [subprocess.Popen([policyc.program, policy, "-o", out], stderr=subprocess.PIPE) for _ in range(20)]
    results = [(run.communicate()[1], run.returncode) for run in runs]
    check("unfinished: many runs at once", set(results) == {(b"", 0)} and read(out) == first, results)
    check("unfinished: and nothing is left over", not [n for n in os.listdir(folder)
                                                      if n.endswith(".tmp") and not n.endswith(".0.tmp")], os.listdir(folder))


def test_modes(policyc, scratch):
    """A new file has the mode of the umask, whatever a killed run left; one that is there keeps its own."""
    folder = os.path.join(scratch, "modes")
    policy, out = os.path.join(folder, "main.policy"), os.path.join(folder, "x.c")
    write(policy, "policy modes 1;\n")

    def mode(name):
        return os.stat(os.path.join(folder, name)).st_mode & 0o777

    def leave(name, bits):
        write(os.path.join(folder, name), "left")
        os.chmod(os.path.join(folder, name), bits)

    before = os.umask(0o027)
    try:
        leave("x.c.0.tmp", 0o600)
        leave("x.h.0.tmp", 0o666)
        policyc.run(policy, "-o", out)
        check("modes: of new files", (mode("x.c"), mode("x.h")) == (0o640, 0o640), "%o %o" % (mode("x.c"), mode("x.h")))
        os.chmod(out, 0o604)
        leave("x.c.0.tmp", 0o666)
        policyc.run(policy, "-o", out)
        check("modes: of a file that was there", mode("x.c") == 0o604, "%o" % mode("x.c"))
    finally:
        os.umask(before)
    check("modes: nothing is left over", sorted(os.listdir(folder)) == ["main.policy", "x.c", "x.h"], os.listdir(folder))


def test_names_of_files(policyc, scratch):
    """An included file is called as the including one is: beside it, and below it."""
    folder = os.path.join(scratch, "called")
    write(os.path.join(folder, "sub/part.policy"), "fragment part;\ntype A = Nothing;\n")
    write(os.path.join(folder, "main.policy"), 'policy main 1;\ninclude "sub/part.policy";\nuse part;\n')
    for given, called in (("main.policy", "sub/part.policy"), ("./main.policy", "./sub/part.policy"),
                          (os.path.join(folder, "main.policy"), os.path.join(folder, "sub/part.policy"))):
        _, _, messages = policyc.run(given, cwd=folder)
        check("called like " + given, messages.startswith(called + ":2:10: error:"), messages)
        _, _, messages = policyc.run(given, "--diagnostics=json", cwd=folder)
        check("called in JSON like " + given, '"file":"%s"' % called in messages, messages)


def test_costs(policyc, scratch):
    """What a policy's author may write in a few megabytes compiles in seconds: nothing is looked at for each pair of two lists,
    nor a line from its beginning for each place in it."""
    path = os.path.join(scratch, "cost.policy")
    many = range(20000)
    rows = "".join("class C%d new();" % i for i in many)
    costs = {
        "errors of one line": "policy p 1; module m { %s }" % "".join("class C%d new() state Foo;" % i for i in many),
        "rows of one line under an error": "policy p 1; root Foo; module m { %s }" % rows,
        "never": "policy p 1; root Foo; never %s; module m { %s }" % (", ".join("m::D%d" % i for i in many), rows),
        "channels": "policy p 1; module m { %s } %s" % (
            "".join("class C%d new();" % i for i in range(1000)), "".join("channel c%d { use p; root int; }" % i for i in range(64))),
    }
    for name, text in costs.items():
        write(path, text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        status, _, messages = policyc.run(path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime - before.ru_utime
        check("cost of " + name, seconds < 4 and status == (0 if name == "channels" else 2), "%f s, %d: %s" % (seconds, status, messages))


def test_recovery(policyc, scratch):
    """Recovery puts tokens in and gives them back: it always moves on, and reads a token again once at most."""
    path = os.path.join(scratch, "recovery.policy")
    write(path, 'policy p 1;\nmodule  P0063 at 3:30\npolicy 1p ;\nmodule "olicy p 1;\n'
          'root { "a": "int", "b": ["x", 1] };\nx"; }\nxxxxxxxx')
    done = policyc.run(path)
    check("a file of broken braces ends", done[0] == 2, str(done)[:300])


def test_gperf(scratch, build):
    """policyc with other programs in gperf's place."""
    parts = [path for path in sorted(glob.glob(build + "/release/tools/*.o")) if not path.endswith(("/unpickle.o", "/upk_run.o", "/shipped_policies.o"))]
    policy, out = os.path.join(scratch, "gperf.policy"), os.path.join(scratch, "gperf.c")
    write(policy, "policy g 1;\nmodule m { class A new(); }\n")
    scripts = {
        "missing": (None, "cannot run .*: No such file or directory", True),
        "fails": ("#!/bin/sh\nexit 1\n", "failed or printed a message", False),
        "complains": ("#!/bin/sh\necho oh >&2\nexec gperf \"$@\"\n", "failed or printed a message", False),
        "says nothing": ("#!/bin/sh\ncat >/dev/null\n", "no perfect hash was found for the names of this policy", False),
        "prints no end": ("#!/bin/sh\nyes\n", "failed or printed a message", False),
    }
    for name, (script, expected, hint) in scripts.items():
        gperf, program = os.path.join(scratch, "gperf." + name[:4]), os.path.join(scratch, "policyc." + name[:4])
        if script is not None:
            write(gperf, script)
            os.chmod(gperf, 0o755)
        good, printed = link(build, program, '-DGPERF_PATH="%s"' % gperf, "-Icompiler", "compiler/gperf.c", *parts)
        check("gperf that %s: links" % name, good, printed)
        if good:
            other = Policyc(build)
            other.program = program
            status, _, messages = other.run(policy, "-o", out)
            errors_of(messages, scratch, policy)
            check("gperf that " + name, status == 2 and re.search(r"error: .*%s \[P0090\]" % expected, messages)
                  and ("install the Debian package" in messages) == hint and not os.path.exists(out), messages)


def test_colour(policyc, scratch):
    """Colour is for terminals that have it, and for those who want it (no-color.org)."""
    path = os.path.join(scratch, "colour.policy")
    write(path, "policy colour 1;\nroot Nothing;\n")
    for name, variables, coloured in [("plain", {}, True), ("NO_COLOR", {"NO_COLOR": "1"}, False),
                                      ("NO_COLOR=0", {"NO_COLOR": "0"}, False), ("NO_COLOR empty", {"NO_COLOR": ""}, True),
                                      ("TERM=dumb", {"TERM": "dumb"}, False), ("TERM empty", {"TERM": ""}, False)]:
        ours, theirs = os.openpty()
        environment = {"TERM": "xterm", "PATH": os.environ["PATH"], **variables}
        subprocess.run([policyc.program, path], stdin=subprocess.DEVNULL, stderr=theirs, env=environment, timeout=60)
        os.close(theirs)
        text = b""
        try:
            while True:
                text += os.read(ours, 4096)
        except OSError:
            pass  # its other end is closed
        os.close(ours)
        check("colour on a terminal: " + name, (b"\x1b[" in text) == coloured and b"P0030" in text, text)


def test_printable(policyc, scratch):
    """Whatever files and policies are called, no message acts on the terminal."""
    odd = "a\x1b[31m\u202ez\nb\u2028"
    policy = os.path.join(scratch, odd + ".policy")
    write(policy, 'policy odd 1;\ninclude "none\\u{202E}\\x1B.policy";\nroot Nothing;\n')
    write(os.path.join(scratch, "named.policy"), 'policy "a\\x1Bb\\u{202E}" 1;\nmodule "m\\u{2028}" { class A ref; }\n'
          'module m { class "B\\u{E9}" ref; class "B\\u{E9}" ref; }\nroot "m\\u{E9}"::C;\nuse "\\x07";\n')
    named = os.path.join(scratch, "named.policy")
    for arguments, code in [([policy], "P0021"), ([odd], "P0001"), (["--" + odd], "option"), ([named], "P0017"), ([policy, odd], "one policy"),
                            ([named, "-o", odd], "P0017"), ([policy, "-I", odd], "P0021"), ([policy, "--policy-dir", odd], "P0021"),
                            (["try", policy], ""), (["try", odd], ""), (["try", "--" + odd], ""), (["try", named + ":" + odd, odd], ""),
                            (["list", policy], ""), (["list", odd], ""), (["list", named + ":" + odd], "")]:
        status, out, messages = policyc.run(*arguments)
        check("printable: %r" % arguments, status != 0 and code in messages
              and not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]", out + messages)
              and messages.count("\n") == len(messages.splitlines()), repr(messages))


def test_names(policyc, scratch):
    """What the headers of generated C define is no name for a policy; a name that is taken compiles as C."""
    compiler = os.environ.get("CC", "gcc").split()
    path, out = os.path.join(scratch, "name.policy"), os.path.join(scratch, "name.c")
    write(out, '#include "upk_tables.h"\n#include "upk.h"\n')
    found = set()
    for standard in ("c11", "gnu11"):
        done = subprocess.run([*compiler, "-std=" + standard, "-E", "-dM", "-Iruntime", out], stdout=subprocess.PIPE, check=True)
        found |= set(re.findall(r"^#define ([A-Za-z]\w*)", done.stdout.decode(), re.M))
    check("headers define something", {"NULL", "UPK_MAGIC", "SIZE_MAX"} <= found)
    own = {name for name in found if name.lower().startswith("upk")}
    words = """upk upk.x UPK Upkeep _x size_t uint8_t ptrdiff_t max_align_t memcmp strlen malloc printf sin time errno FILE
        stdin linux unix class new and not operator asm typeof template this namespace std wchar_t true alignas""".split()
    for name in sorted(found - own) + sorted(own)[:5] + words:
        write(path, "policy %s 1;\n" % name)
        status, _, messages = policyc.run(path)
        check("reserved: " + name, status == 2 and "[P0081]" in messages, messages)
    # What the C library exports, where the machine's tells.
    library = subprocess.run([*compiler, "-print-file-name=libc.so.6"], stdout=subprocess.PIPE).stdout.decode().strip()
    exported = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    exported = sorted(name for name in set(re.findall(r" [TWDBVi] ([a-z]\w*)", exported.stdout.decode()))
                      if not re.search(r"f(32|64|128)x?(_r)?$", name))
    for name in exported[::25] + "read write open close send environ stat poll main link error pthread.create".split():
        write(path, "policy %s 1;\n" % name)
        status, _, messages = policyc.run(path)
        check("reserved by the library: " + name, status == 2 and ":1:8: " in messages and "[P0081]" in messages, messages)
    for name in ("upper", "classes", "unix.pipe", "NULLS", "module", "name", "keys", "a.upk", "row", "t"):
        write(path, 'policy %s 1;\nmodule m { class C new(); }\n' % name)
        status, _, messages = policyc.run(path, "-o", out)
        done = subprocess.run([*compiler, "-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-Iruntime", "-c", out,
                               "-o", os.path.join(scratch, "name.o")], stderr=subprocess.PIPE)
        check("compiles: " + name, status == 0 and done.returncode == 0, messages + done.stderr.decode())


def main():
    policyc = Policyc(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        test_commands(policyc, scratch)
        test_python(policyc, scratch)
        test_includes(policyc, scratch)
        test_limits(policyc, scratch)
        test_outputs(policyc, scratch)
        test_unfinished_outputs(policyc, scratch)
        test_modes(policyc, scratch)
        test_names_of_files(policyc, scratch)
        test_costs(policyc, scratch)
        test_recovery(policyc, scratch)
        test_gperf(scratch, sys.argv[1])
        test_colour(policyc, scratch)
        test_printable(policyc, scratch)
        test_names(policyc, scratch)
    check("codes that only this script tests", ELSEWHERE <= seen_codes, ELSEWHERE - seen_codes)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
