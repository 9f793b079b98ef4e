#!/usr/bin/python3
"""`policyc list`: what it prints, that the emitted C says the same, and that what it prints is the language.

usage: test_list.py BUILD       (from the top folder, after `make`)

Every policy of tests/policy, tests/policy/ok, tests/golden and policies is listed.  A program that is linked with its C prints the same listing.
Its lines, put together as a policy again, compile to tables with the same listing.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

from policyc import Policyc, link, tally

STRING = r'"(?:[^"\\]|\\.)*"'
NAME = r'(?:%s|[\w.]+)' % STRING
GRANT = re.compile(r'^(%s)::(%s) (ref|const|call|new|func|spelled)\b(.*)$' % (NAME, NAME))
TAIL = re.compile(r'^(.*?)( import)?( budget calls [\d_]+)?( because %s)?$' % STRING)

# Prints a form feed, which no listing has, before each policy.
PROGRAM = """#include <stdio.h>
%(includes)s
#include "compiler/list.h"
int main(void) {
    const struct upk_policy *const all[] = {%(symbols)s};
    struct mem m;
    struct output o;
    mem_init(&m, (size_t)1 << 28);
    output_init(&o, &m);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        output_bytes(&o, "\\f", 1);
        if (!list_policy(all[i], true, &o)) return 1;
    }
    return fwrite(o.bytes, 1, o.len, stdout) != o.len;
}
"""


class Lister(Policyc):
    def __init__(self, build, folder):
        super().__init__(build)
        self.build, self.folder = os.path.abspath(build), folder

    def run(self, *arguments, **options):
        shipped = [] if "--help" in arguments else ["--policy-dir", os.path.abspath("policies")]
        return super().run(*arguments, *shipped, **options)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def list(self, what, *options):
        status, out, err = self.run("list", what, *options)
        tally.check(status == 0 and not err and out.endswith("\n"), "list %s: %d %s" % (what, status, err))
        return out

    def list_text(self, text, *options):
        return self.list(self.write("text.policy", text), *options)


def policies():
    folders = ("tests/policy", "tests/policy/ok", "tests/golden", "policies")
    for path in sorted(path for folder in folders for path in glob.glob(folder + "/*.policy")):
        with open(path, encoding="utf-8") as file:
            if re.search(r"^policy ", file.read(), re.M):
                yield path


def without_comment(line):
    return re.sub(r'^((?:[^"#]|%s)*?)  #.*$' % STRING, r"\1", line)


def bare(listing):
    """What a policy says of itself: less comments, and less the channel's name."""
    lines = [without_comment(line) for line in listing.splitlines()]
    return [line for line in lines if not line.startswith("channel ")]


def grants(listing):
    return [line for line in listing.splitlines() if GRANT.match(line)]


def channels_of(listing):
    """Less the blocks about a child, which stand behind all channels (tests/test_environment.py)."""
    return re.split(r"(?<=\n)\n(?=(?:environment|confinement)\b)", listing)[0]


# ---- one listing


def renamed(text):
    """With rows of `subclasses of` under the names that they have in the tables."""
    return re.sub(r'(?m)^subclasses of (%s)::([\w.]+) ' % NAME, r'\1::"subclasses of \2" ', text)


def check_lines(path, listing):
    for block in renamed(listing).split("\n\n"):
        lines = block.splitlines()
        words = [line.split(" ")[0] for line in lines]
        heads = [word for word in words if word in ("policy", "channel", "opcodes", "protocol", "budget", "root", "type")]
        tally.check(words[:len(heads)] == heads and heads[0] == "policy", "%s: settings come first: %s" % (path, heads))
        tally.check(heads.count("budget") == 16 and heads.count("root") == 1, "%s: every budget and the root: %s" % (path, heads))
        types = [line.split(" ")[1] for line in lines if line.startswith("type ")]
        tally.check(types == sorted(set(types)), "%s: types are sorted, none twice: %s" % (path, types))
        rest = lines[len(heads):]
        denied = [line.split("  # ")[0] for line in rest if line.startswith(("never ", "deny ", "fail_open "))]
        tally.check([line.split("  # ")[0] for line in rest[:len(denied)]] == denied, "%s: what is denied stands before grants" % path)
        rest = rest[len(denied):]
        tally.check(all(GRANT.match(line) for line in rest), "%s: %s" % (path, [line for line in rest if not GRANT.match(line)]))
        names = [GRANT.match(line).group(1, 2) for line in rest]
        names = [tuple(part.strip('"').encode() for part in name) for name in names]
        tally.check(names == sorted(names), "%s: grants are sorted" % path)
        tally.check(not any(line != line.strip() or "\t" in line for line in lines), "%s: no indentation" % path)


def emit(policyc, path, number):
    """Writes the policy's C as NUMBER.c and returns its symbols, one for each channel."""
    status, _, messages = policyc.run(path, "-o", "%s/%d.c" % (policyc.folder, number))
    tally.check(status == 0, path + ": " + messages)
    with open("%s/%d.h" % (policyc.folder, number), encoding="ascii") as file:
        return re.findall(r"^extern const struct upk_policy (\w+);$", file.read(), re.M)


def programs(emitted):
    """Sets of policies that can be linked together: no two of one name."""
    sets = []
    for entry in emitted:
        for together in sets:
            if not any(set(entry[-1]) & set(other[-1]) for other in together):
                together.append(entry)
                break
        else:
            sets.append([entry])
    return sets


def check_emitted(policyc, listings):
    """(a) The C says the same; listings: [(path, listing)]."""
    folder, build = policyc.folder, policyc.build
    emitted = [(path, listing, number, emit(policyc, path, number)) for number, (path, listing) in enumerate(listings)]
    for together in programs(emitted):
        symbols = ["&" + symbol for entry in together for symbol in entry[-1]]
        includes = ['#include "%d.h"' % number for _, _, number, _ in together]
        policyc.write("main.c", PROGRAM % {"includes": "\n".join(includes), "symbols": ", ".join(symbols)})
        sources = ["%s/%d.c" % (folder, number) for _, _, number, _ in together]
        good, messages = link(build, folder + "/main", "-O0", "-I.", "-Iruntime", "-I" + folder, folder + "/main.c", *sources)
        tally.check(good, "the C of %d policies: %s" % (len(together), messages))
        if not good:
            continue
        printed = subprocess.run([folder + "/main"], stdout=subprocess.PIPE).stdout.decode().split("\f")[1:]
        for path, listing, _, own in together:
            first, printed = "\n".join(printed[:len(own)]), printed[len(own):]
            tally.check(first == listing, "%s: the emitted C is listed otherwise\n%s\n---\n%s" % (path, listing, first))


# ---- listings as policies


def as_policy(listing):
    """The text of a policy that grants what the listing says."""
    settings, types, rows = [], [], {}
    for line in renamed(listing).splitlines():
        if line.startswith("budget ") and line.endswith("# default"):
            continue
        if line.endswith(", by another path"):
            continue
        # Names are denied by their paths, which do not tell where the module ends.
        line = re.sub(r'^(never|deny) (?!module )"?([^"]*)\.([^".]+)"?$', r'\1 \2::"\3"', without_comment(line))
        grant = GRANT.match(line)
        if line.startswith("channel "):
            continue
        if line.startswith("type "):
            types.append(line + ";")
        elif not grant:
            settings.append(line + ";")
        else:
            module, name, verb, rest = grant.groups()
            body, imports, calls, because = TAIL.match(rest).groups("")
            rows.setdefault((module, bool(imports), name), []).append((verb, body, calls, because))
    for (module, imports, name), forms in rows.items():
        kind = {"const": "const", "func": "func"}.get(forms[0][0], "class")
        base = re.fullmatch('"subclasses of (.*)"', name)
        word, name = ("subclasses of", base[1]) if base else (kind, name)
        ways = []
        for i, (verb, body, calls, because) in enumerate(forms):
            verb = verb if kind == "class" else ""
            ways.append(" ".join((verb + body + (calls if i == 0 else "") + because).split(" ")))
        settings.append("module %s%s { %s %s%s; }" % (module, " import" if imports else "", word, name + " " * (kind != "func"),
                                                      " | ".join(ways)))
    return "\n".join(settings[:1] + types + settings[1:]) + "\n"


def check_again(policyc, name, listing, exact=True):
    """(b) The listing is the language, and says all of the table; without `exact`, from the second reading on."""
    for block in listing.split("\n\n"):
        # Members of enums and flags, which only a template writes, stay out.
        block = "".join(line + "\n" for line in block.splitlines() if not re.search(r"^\S+ const (->|=) ", line))
        if "\nchannel descriptor\n" in block and "\nsubclasses of " not in block:  # asks for names because of what it is called
            block = re.sub(r"(?m)^never .*\n", "", block)
        again = policyc.list_text(as_policy(block))
        tally.check(not exact or bare(again) == bare(block), "%s: read back\n%s\n--- of\n%s" % (name, again, block))
        once_more = policyc.list_text(as_policy(again)) if again else ""
        tally.check(bare(once_more) == bare(again), "%s: read back twice" % name)


# ---- single facts


def check_shared(policyc):
    """What is shared is written once, however often and deep it is used."""
    shapes = {"tuple": "tuple<%s, %s>", "union": "list<%s> | set<tuple<%s>>", "dict": "dict<str, %s | { a: %s }>", "record": "{ a: %s, b?: %s }"}
    for shape, form in shapes.items():
        types = ["type A0 = list<int>;"] + ["type A%d = %s;" % (i + 1, form % (("A%d" % i,) * 2)) for i in range(40)]
        text = "policy deep 1;\n%s\nroot A40;\nmodule m { class C new() state A40 | call(a: A39) items A38; }\n" % "\n".join(types)
        listing = policyc.list_text(text)
        tally.check(0 < len(listing) < 12000, "%s of depth 40: %d bytes" % (shape, len(listing)))
        check_again(policyc, shape, listing)
    types = ["type B0 = list<int>;"] + ["type B%d = list<B%d>;" % (i + 1, i) for i in range(3000)]
    listing = policyc.list_text("policy deep 1;\n%s\nroot B3000;\n" % "\n".join(types))
    deepest = max(line.count("<") for line in listing.splitlines())
    tally.check(listing.count("list<") == 3001 and deepest <= 9, "3,000 lists deep: %d, %d" % (listing.count("list<"), deepest))
    check_again(policyc, "3,000 lists", listing)


LINES = [
    # a policy behind its header; a line that its listing holds
    ("root list<int>[..3];", "root list<int>[..3]"),
    ("root any cyclic;", "root any cyclic"),
    ("type Json = none | bool | int | list<Json> | dict<str, Json>; root Json;", "root Json"),
    ("type Json = none | bool | int | list<Json> | dict<str, Json>; root Json;",
     "type Json = none | bool | int | list<Json> | dict<str, Json>"),
    ("type Json = none | list<Json>; root tuple<list<Json>, Json>;", "root tuple<list<Json>, Json>"),
    ("type Json = none | int | list<Json>; root str | Json | dict<str, str | Json>;", "root str | Json | dict<str, str | Json>"),
    ("type A = none | list<A>; type B = none | list<A> | set<B>; root tuple<int | B, A | str, none | list<A>>;",
     "root tuple<int | B, A | str, A>"),
    ("type L = list<L>; type M = { a: M | none }; root L | M;", "root L | M"),
    ("type T1 = list<T1>; module m { class C new(a: %s, b: %s); } root T1;" % ((" | ".join(map(str, range(100, 120))),) * 2),
     "m::C new(a: T2, b: T2)"),
    ("opcodes core, python2, inst except POP, OBJ;", "opcodes core, python2, INST except POP"),
    ("opcodes core, INST, BINPERSID;", "opcodes core, INST, BINPERSID"),
    ("opcodes STOP, NONE;", "opcodes NONE, STOP"),
    ("protocol 4;", "protocol 4..4"),
    ("budget bytes 384KiB;", "budget bytes 384KiB"),
    ("budget bytes 1000, depth 123;", "budget bytes 1_000"),
    ("budget depth 12_345;", "budget depth 12_345"),
    ("", "budget depth 200  # default"),
    ('root str chars "./0-9A-Za-z-" | str chars " -~";', 'root str chars "./0-9A-Za-z-" | str chars " -~"'),
    (r'root "\u{202E}\x7f\u{E000}é\"\\\n";', r'root "\u{202E}\x7F\u{E000}\u{E9}\"\\\n"'),
    ('root "\u00e9\u00a0" | "e\u0301\u2800";', r'root "\u{E9}\u{A0}" | "e\u{301}\u{2800}"'),
    ('root { "\u0430": int } | str chars "\u0430-\u044f";', r'root { "\u{430}": int } | str chars "\u{430}-\u{44F}"'),
    ('module m { func f() -> m::X because "f\u00fcr e\u0301\u00a0\u05d0 \u044f"; }',
     'm::f func() -> m::X because "f\u00fcr e\\u{301}\\u{A0}\\u{5D0} \u044f"'),
    (r'root b"\x00a\"\xff";', r'root b"\x00a\"\xFF"'),
    ("root int[-340_282_366_920_938_463_463_374_607_431_768_211_455..];",
     "root int[-340_282_366_920_938_463_463_374_607_431_768_211_455..]"),
    ("root bytes[1024..2MiB] | bytes[1000] | str[1024];", "root bytes[1KiB..2MiB] | bytes[1_000] | str[1_024]"),
    ('module "odd\\u{200B}" { class A new(); }', '"odd\\u{200B}"::A new()'),
    ('module m { class "a.ref.b" new(); }', 'm::"a.ref.b" new()'),
    ("module m { class A call() | new() kw { a: int } | ref; class B new(); } root m::A | instance of p;", "root m::A | m::B"),
    ("module m { class A new() state (none | int); }", "m::A new() state (none | int)"),
    ("module m { func f(a: int, b?: str, c: int...) -> m::X because \"why \\\"so\\\"\"; }",
     'm::f func(a: int, b?: str, c: int...) -> m::X because "why \\"so\\""'),
    ("module m import { class A new() runs __hash__ budget calls 5_000; }", "m::A new() runs __hash__ import budget calls 5_000"),
    ("module builtins { const Ellipsis; }", "builtins::Ellipsis const"),
]


def check_files(policyc):
    """Two files of one name are told apart where a listing says which one grants something."""
    part = "fragment %s; module m { class %s ref; }\n"
    for name, letter in (("x.policy", "A"), ("sub/x.policy", "B"), ("inc/x.policy", "C"), ("inc/sub/x.policy", "D")):
        policyc.write("files/" + name, part % (letter.lower(), letter))
    policyc.write("files/inc/all.policy", 'fragment all; include "x.policy"; include "sub/x.policy";\n')
    main = policyc.write("files/main.policy", 'policy p 1; include "x.policy"; include "sub/x.policy"; include "all.policy"; use a, b, c, d;\n')
    inc = os.path.join(os.path.dirname(main), "inc")
    places = re.findall(r"^m::(\w) ref  # (.*):1$", policyc.list(main, "-I", inc), re.M)
    tally.check(places == [("A", "x.policy"), ("B", "sub/x.policy"), ("C", '"x.policy (2)"'), ("D", '"sub/x.policy (2)"')], str(places))
    other = policyc.write("files/deep/main.policy", 'policy p 1; include "x.policy"; include "sub/x.policy"; use b, d;\n')
    policyc.write("files/deep/x.policy", part % ("b", "B") + 'include "sub/x.policy";\n')
    places = re.findall(r"^m::(\w) ref  # (.*):1$", policyc.list(other, "-I", inc), re.M)
    tally.check(places == [("B", "x.policy"), ("D", "sub/x.policy")], str(places))


def check_single_lines(policyc):
    for text, line in LINES:
        listing = policyc.list_text("policy p 1;\n" + text + "\n")
        tally.check(line in [each if "# default" in each and "default" in line else without_comment(each) for each in listing.splitlines()],
                    "%s\nnot in the listing: %s\n%s" % (text, line, listing))
        check_again(policyc, text, listing)
    places = policyc.list_text("policy p 1;\n\nmodule m { class A\nnew() | ref; }\n")
    tally.check("m::A new()  # text.policy:4" in places and "m::A ref  # text.policy:4" in places, places)
    odd = policyc.list(policyc.write('od"d\n.policy', "policy p 1; module m { class A ref; }"))
    tally.check(odd.endswith('m::A ref  # "od\\"d\\n.policy":1\n'), odd)
    for name, shown in ((b"b\xe9.policy", 'b"b\\xE9.policy"'), ("b\u00e9.policy".encode(), '"b\\u{E9}.policy"')):
        odd = policyc.list(policyc.write(os.fsdecode(name), "policy p 1; module m { class A ref; }"))
        tally.check(odd.endswith("m::A ref  # %s:1\n" % shown), odd)
    check_files(policyc)
    shuffled = ["module m { class A new() | ref | call(x: int); class B ref; }", "module m { class B ref; class A call(x: int) | new() | ref; }"]
    first, second = (policyc.list_text("policy p 1;\n" + text) for text in shuffled)
    tally.check(first == second, "the order of rows and alternatives is none:\n" + first + second)


def check_spellings(policyc):
    text = "policy p 1;\nalias fresh -> stale;\nprotocol %s;\nmodule %s\n"
    def spellings(protocol, rows):
        return [line for line in policyc.list_text(text % (protocol, rows), "--spellings").splitlines() if " spelled " in line]
    xrange = "builtins { class range call(a: int); }"
    for protocol, old in ("0..5", "0..2"), ("2..5", "2..2"), ("3..5", None), ("0..1", "0..1"):
        expected = ["builtins::range spelled __builtin__::%s protocol %s" % (name, old) for name in ("range", "xrange") if old]
        tally.check(spellings(protocol, xrange) == expected, "range in protocol " + protocol)
    found = spellings("0..5", "stale.m { class A new(); class B ref; }")
    tally.check(found == ["stale.m::A spelled fresh.m::A protocol 0..5", "stale.m::B spelled fresh.m::B protocol 0..5"], str(found))
    found = spellings("0..5", "collections { class OrderedDict call() pairs any: any; }")
    tally.check("collections::OrderedDict spelled _collections::OrderedDict protocol 0..5" in found, str(found))
    plain, more = policyc.list("policies/values.policy"), policyc.list("policies/values.policy", "--spellings")
    left = [line for line in more.splitlines() if " spelled " not in line]
    tally.check(plain.splitlines() == left and len(more) > len(plain), "--spellings only adds lines")


def check_commands(policyc):
    channels = policyc.write("channels.policy", "policy c 1;\nchannel a { root int; }\nchannel b { root str; }\n")
    both, one = policyc.list(channels), policyc.list(channels + ":b")
    tally.check(both.split("\n\n")[1] == one and one.startswith("policy c 1\nchannel b\n"), both)
    broken = policyc.write("broken.policy", "policy p 1;\nroot Nothing;\n")
    for arguments, expected, pattern in (
            ([broken], 2, r"\[P0030\]"), ([channels + ":x"], 2, "no channel `x'"), ([policyc.folder + "/none.policy"], 3, r"\[P0001\]"),
            ([], 2, "no policy is named"), ([channels, "-o", "x.c"], 2, "there is no option -o"), ([channels, "-MD"], 2, "no option"),
            ([channels, channels], 2, "one policy"), (["--nothing", channels], 2, "no option"),
            ([channels, "--diagnostics=xml"], 2, "text or json"),
            ([policyc.write("clash.policy", "policy p 1;\nchannel a { }\nchannel a_find_class { }\n") + ":a"], 2, r"\[P0080\]")):
        status, out, err = policyc.run("list", *arguments)
        tally.check(status == expected and not out and re.search(pattern, err), "list %s: %d %s" % (arguments, status, out + err))
    status, out, err = policyc.run("list", "--help")
    tally.check(status == 0 and out.startswith("usage: policyc list") and not err, out + err)
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([policyc.program, "list", channels], stdout=full, stderr=subprocess.PIPE)
    tally.check(done.returncode == 3 and done.stderr, "a full disk: %r" % done)


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        policyc, listings = Lister(build, folder), []
        for path in policies():
            listing = channels_of(policyc.list(path))
            if not listing:
                continue
            check_lines(path, listing)
            listings.append((path, channels_of(policyc.list(path, "--spellings"))))
            with open(path, encoding="utf-8") as file:
                # Two side by side are read back as one set of classes, which other unions may share.
                exact = not re.search(r"instance of \S+ \| instance of", file.read())
            check_again(policyc, path, listing, exact)
        check_emitted(policyc, listings)
        check_single_lines(policyc)
        check_shared(policyc)
        check_spellings(policyc)
        check_commands(policyc)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
