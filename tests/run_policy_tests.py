#!/usr/bin/python3
"""Policy texts: what compiles and what does not, with which error at which place.

usage: run_policy_tests.py BUILD       (from the top folder)

tests/policy/ok/*.policy compile without a message, twice to the same bytes.
tests/policy/bad/*.policy begin with lines that say all errors of the file, in the order of the messages:
    #= error P0017 at 3:13
    #= error P0030 in parts/x.policy at 2:1
    #= error P0081
docs/errors.md: under the heading of a code, its first ```policy block gives that error, the others compile.
docs/language.md: every ```policy block compiles.  A block without a header is taken as part of a policy.
compiler/codes.h: every code has a page in docs/errors.md and a test here.
Then the command line: exit statuses, output files, dependency files, includes that leave their folder, and names
that C keeps.
"""
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from tally import Tally

ERROR = re.compile(r"^(?:policyc|(.+?):(\d+):(\d+)): error: .* \[(P\d{4})\]$", re.M)
# Not to be had from a policy text: no memory, and gperf failing.
UNTESTED = {"P0003", "P0090"}
# Not to be had from a short policy of plain text.
NO_EXAMPLE = UNTESTED | {"P0001", "P0002", "P0004", "P0005", "P0006", "P0007", "P0015"}

tally = Tally()
seen_codes = set()


def check(name, good, detail=""):
    tally.check(good, "%s\n%s" % (name, detail))


class Policyc:
    def __init__(self, build):
        self.program = os.path.abspath(os.path.join(build, "policyc"))

    def run(self, *arguments, **options):
        done = subprocess.run([self.program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, **options)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def policies_in(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".policy"))


def errors_of(text, folder, main):
    """Errors as the expectation lines write them."""
    lines = []
    for path, line, column, code in ERROR.findall(text):
        seen_codes.add(code)
        where = ""
        if path and os.path.abspath(path) != os.path.abspath(main):
            where = " in " + os.path.relpath(path, folder)
        lines.append("error %s%s%s" % (code, where, " at %s:%s" % (line, column) if path else ""))
    return lines


def test_ok(policyc, scratch):
    for path in policies_in("tests/policy/ok"):
        out = os.path.join(scratch, "ok.c")
        status, _, messages = policyc.run(path, "-o", out)
        check(path, status == 0 and not messages, messages)
        if status == 0:
            first = read(out), read(out[:-1] + "h")
            policyc.run(path, "-o", out)
            check(path + " again", first == (read(out), read(out[:-1] + "h")))


def test_bad(policyc, scratch):
    folder = "tests/policy/bad"
    for path in policies_in(folder):
        expected = re.findall(rb"^#= (.*?)\r?$", read(path), re.M)
        expected = [line.decode() for line in expected]
        out = os.path.join(scratch, "bad.c")
        status, _, messages = policyc.run(path, "-o", out)
        got = errors_of(messages, folder, path)
        check(path, status == 2 and expected and got == expected,
              "expected %s\ngot      %s\n%s" % (expected, got, messages))
        check(path + " writes nothing", not os.path.exists(out))


def blocks_of(page):
    """(code of the nearest heading, number of the block under it, text)"""
    code, count, blocks = None, 0, []
    for heading, block in re.findall(r"^(#+ [^\n]*)$|^```policy\n(.*?)^```$", page, re.M | re.S):
        if heading:
            found = re.search(r"P\d{4}", heading)
            code, count = found and found.group(), 0
        else:
            blocks.append((code, count, block))
            count += 1
    return blocks


def compile_block(policyc, scratch, block):
    words = re.sub(r"#.*", "", block).split()
    if words and words[0] == "fragment":
        write(os.path.join(scratch, "block_part.policy"), block)
        name = words[1].rstrip(";")
        block = 'policy example 1;\ninclude "block_part.policy";\nuse %s;\n' % name
    elif not words or words[0] != "policy":
        block = "policy example 1;\n" + block
    path = os.path.join(scratch, "block.policy")
    write(path, block)
    return policyc.run(path, "-o", os.path.join(scratch, "block.c"), "-I", "tests/policy/bad",
                       "-I", "tests/policy/ok", "--policy-dir", "policies")


HINTS = [
    # the policy behind its header; the code; the hint
    ("root m.A;", "P0012", "a class is written module::Name: `m::A'"),
    ("root list<a.b.C>;", "P0012", "`a.b::C'"),
    ("module A::B { class C new(); }", "P0012", "joined by dots"),
    ("root integer;", "P0030", "`int'"),
    ("root string;", "P0030", "`str'"),
    ("root boolean;", "P0030", "`bool'"),
    ("root null;", "P0030", "`none'"),
    ("root None;", "P0030", "`none'"),
    ("root List;", "P0030", "`list'"),
    ("root Dict<str, int>;", "P0012", "`dict<K, V>'"),
    ("root Optional[int];", "P0012", "`T | none'"),
    ("root list[int];", "P0012", "between `<' and `>'"),
    ("root Nothing;", "P0030", "module::Name"),
    ("root datetime::datetime;", "P0031", 'include "std/datetime.policy"; use std.datetime;'),
    ("use datetime;", "P0032", 'include "std/datetime.policy"; use std.datetime;'),
    ('include "std/datetime.policy"; use datetime;', "P0032", "did you mean `std.datetime'"),
    ("module m { class A new() state { x: int } class B new(); }", "P0013", None),
    ("module posix { const environ; }", "P0064", "add: because"),
]


def test_hints(policyc, scratch):
    path = os.path.join(scratch, "hint.policy")
    for header, body, code, hint in [("policy p 1;\n", *line) for line in HINTS] + [
            ("policy p;\n", "root any;", "P0012", "the revision is missing"),
            ("\ufeffpolicy p 1;\n", "root any;", "P0002", "without it")]:
        write(path, header + body + "\n")
        status, _, messages = policyc.run(path, "--policy-dir", "policies")
        codes = re.findall(r"error: .* \[(P\d{4})\]$", messages, re.M)
        hints = re.findall(r"= hint: (.*)$", messages, re.M)
        check("hint of " + body, status == 2 and codes == [code] and (hint is None or hint in " ".join(hints)), messages)
    # What shipped fragments grant is what the hints say.
    for name in sorted(os.listdir("policies/std")):
        stem = name[:-len(".policy")]
        for module in re.findall(r"^module (\S+) \{", read("policies/std/" + name).decode(), re.M):
            if module != "builtins":
                write(path, "policy p 1;\nroot %s::Nosuch;\n" % module)
                messages = policyc.run(path, "--policy-dir", "policies")[2]
                check("shipped module " + module, "use std.%s;" % stem in messages, messages)
        write(path, "policy p 1;\nuse %s;\n" % stem)
        check("shipped fragment " + stem, "use std.%s;" % stem in policyc.run(path, "--policy-dir", "policies")[2])


def test_docs(policyc, scratch):
    with open("docs/language.md", encoding="utf-8") as file:
        blocks = blocks_of(file.read())
    check("docs/language.md has examples", len(blocks) >= 11)
    for _, _, block in blocks:
        status, _, messages = compile_block(policyc, scratch, block)
        check("docs/language.md: " + block.split("\n")[0], status == 0 and not messages, block + messages)
    with open("docs/errors.md", encoding="utf-8") as file:
        page = file.read()
    examples = set()
    for code, number, block in blocks_of(page):
        status, _, messages = compile_block(policyc, scratch, block)
        codes = [error[3] for error in ERROR.findall(messages)]
        expected = [code] if number == 0 else []
        check("docs/errors.md: %s, block %d" % (code, number), codes == expected, block + messages)
        examples.add(code)
    return page, examples


def test_codes(page, examples):
    numbers = re.findall(r"^    X\((\d+), ", read("compiler/codes.h").decode(), re.M)
    codes = ["P%04d" % int(number) for number in numbers]
    check("codes are sorted, none twice", codes == sorted(set(codes)))
    for code in codes:
        check(code + " has a page in docs/errors.md", re.search(r"^## %s " % code, page, re.M))
        check(code + " has an example", code in examples or code in NO_EXAMPLE)
        check(code + " has a test", code in seen_codes or code in UNTESTED)


def test_commands(policyc, scratch):
    def expect(name, arguments, status, pattern="", **more):
        got, out, messages = policyc.run(*arguments, **more)
        errors_of(messages, scratch, "")
        check("command: " + name, got == status and re.search(pattern, out + messages, re.S), out + messages)

    folder = os.path.join(scratch, "commands")
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
        errors_of(messages, scratch, "")
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
    for name in ("upper", "classes", "unix.pipe", "NULLS", "module", "name", "keys", "a.upk", "row", "t"):
        write(path, 'policy %s 1;\nmodule m { class C new(); }\n' % name)
        status, _, messages = policyc.run(path, "-o", out)
        done = subprocess.run([*compiler, "-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-Iruntime", "-c", out,
                               "-o", os.path.join(scratch, "name.o")], stderr=subprocess.PIPE)
        check("compiles: " + name, status == 0 and done.returncode == 0, messages + done.stderr.decode())


def main():
    policyc = Policyc(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        test_ok(policyc, scratch)
        test_bad(policyc, scratch)
        test_hints(policyc, scratch)
        page, examples = test_docs(policyc, scratch)
        test_commands(policyc, scratch)
        test_outputs(policyc, scratch)
        test_names(policyc, scratch)
    test_codes(page, examples)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
