#!/usr/bin/python3
"""Policy texts: what compiles and what does not, with which error at which place.

usage: run_policy_tests.py BUILD       (from the top folder)

tests/policy/ok/*.policy compile without a message, twice to the same bytes.
tests/policy/bad/*.policy begin with lines that say all errors of the file, in the order of the messages:
    #= error P0017 at 3:13
    #= error P0030 in parts/x.policy at 2:1
    #= error P0081
docs/errors.md: under the heading of a code, its first ```policy block gives that error, the others compile.
docs/language.md, docs/checks.md, docs/policies.md: every ```policy block compiles.  A block without a header is taken as part of a
policy.  Each native check of the runtime has its section in docs/checks.md, and a block that uses it.
compiler/codes.h: every code has a page in docs/errors.md and a test here or in test_policyc.py.
"""
import glob
import os
import re
import sys
import tempfile

from policyc import ELSEWHERE, ERROR, Policyc, check, errors_of, read, seen_codes, tally, write

UNTESTED = ELSEWHERE | {"P0003"}  # tests/unit/test_compile.c has it
# Not to be had from a short policy of plain text.
# Of the last three the mend is a word on the command line, or depends on the day: tests/test_fail_open.py.
NO_EXAMPLE = UNTESTED | {"P0002", "P0015", "P0083", "P0084", "P0085"}


def policies_in(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".policy"))


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
    ("module m { enum Mode { FAST, SAFE }; }", "P0012", "a member has a name and a value"),
    ("module m { enum Mode { FAST: 1 }; }", "P0012", "a member has a name and a value"),
    ("module m { flag Perm(R = 1); }", "P0012", "members stand in braces"),
    ("module m { dataclass P(x: int); }", "P0012", "fields stand in braces"),
    ("module m { dataclass P { x = int }; }", "P0012", "a type stands behind `:'"),
    ("module m { dataclass P { x: int = 3 }; }", "P0012", "nothing of defaults"),
    ("module m { namedtuple P { x: int }; }", "P0012", "in parentheses: (name: T"),
    ("module m { exception E { x: int }; }", "P0012", "arguments come first"),
    ("module m { enum M { A = 1 }; } root m::M.A;", "P0031", "a member is of the type of its class: `m::M'"),
    ("module m { flag F { A = -1 }; }", "P0065", "make an `enum'"),
    ("module m { flag F { A = 1 }; class A new(); } module operator { func or_(a: int) -> m::A because \"x\"; }", "P0040",
     "a flag writes the row of `operator::or_' itself"),
    ("module m { enum M { A = 1 }; const M.A; }", "P0040", "a template writes all rows of its class"),
    # other languages
    ("root Optional[int];", "P0012", "`T | none'"),
    ("root List[int];", "P0012", "`list<T>'"),
    ("root dict[str, int];", "P0012", "between `<' and `>'"),
    ("root int|None;", "P0030", "`none'"),
    ("root unicode;", "P0030", "`str'"),
    ("root list<float64>;", "P0030", "`float'"),
    ("root int64;", "P0030", "int[-9_223_372_036_854_775_808.."),
    ("root object;", "P0030", "`any'"),
    ("root int?;", "P0012", "`name?: T'"),
    ("root list<any?>;", "P0012", "`T | none'"),
    ("root int or str;", "P0012", "`A | B'"),
    ("root int, str;", "P0012", "`A | B'"),
    ("root ['a'];", "P0012", "list<T>"),
    ("root 'a';", "P0010", "double quotes"),
    ("root any; // all", "P0010", "begins with `#'"),
    ("root any; -- all", "P0010", "begins with `#'"),
    ("import datetime;", "P0012", "use NAME"),
    ("from datetime import date;", "P0012", "include \"FILE\""),
    ("allow os::system;", "P0012", "`module NAME"),
    ("class A new();", "P0012", "block of their module"),
    ("policy q 1;", "P0012", "one header"),
    ("depth 10;", "P0012", "budget WORD NUMBER"),
    # types
    ("root str(..80);", "P0012", "in brackets"),
    ("root float[0..1];", "P0012", "no range"),
    ("root str[1,5];", "P0012", "[lo..hi]"),
    ("root int[1-5];", "P0012", "[lo..hi]"),
    ("root dict<str>;", "P0012", "dict<K, V>"),
    ("root tuple<int..>;", "P0012", "T..."),
    ("root list;", "P0012", "list<int>"),
    ("type A = | int | str; root A;", "P0012", "before the first"),
    ("type A = int | str |; root A;", "P0012", "behind the last"),
    ("root tuple<int,>;", "P0012", "behind the last"),
    ("root 1.5;", "P0012", "whole"),
    ("root Strin;", "P0030", "`str'"),
    ("module m { class Res new(); } root Res;", "P0030", "`m::Res'"),
    ("type Word = str; root Wrod;", "P0030", "`Word'"),
    # rows
    ("module m { class A call(int, str); }", "P0012", "`name: T'"),
    ("module m { class A call(*args: int); }", "P0012", "`name: T...'"),
    ("module m { class A call(x: int = 5); }", "P0012", "`name?: T'"),
    ("module m { class A call(x = int); }", "P0012", "behind `:'"),
    ("module m { class A call(x: int y: str); }", "P0012", "`,' is missing before `y'"),
    ("module m { class A new() state int | str; }", "P0012", "(A | B)"),
    ("module m { class A call() pairs str, int; }", "P0012", "K: V"),
    ("module m { class A new() runs __hash__ __eq__; }", "P0012", "`,' is missing before `__eq__'"),
    ("module m { class A new() runs __setstat__; }", "P0036", "`__setstate__'"),
    ("module m { class A call(x: bytes) check datetime_byte; }", "P0035", "`datetime_bytes'"),
    ("module m { class * new(); }", "P0012", "only `never' takes `*'"),
    ("module os.* { class A ref; }", "P0012", "only `never' takes `*'"),
    ("root m::*;", "P0012", "only `never' takes `*'"),
    ("module m { class A new(); }; root any;", "P0012", "without `;'"),
    ("module m { use p; }", "P0012", "holds its rows"),
    ("channel a { type T = int; }", "P0012", "a channel holds"),
    ("module m { class A ref; } root m::A;", "P0031", "`new(...)'"),
    ("module m { func f() => m::A because \"x\"; }", "P0012", None),
    # settings
    ("opcodes reduce;", "P0033", "`REDUCE'"),
    ("opcodes Core;", "P0033", "`core'"),
    ("protocol 2-4;", "P0012", "2..4"),
    ("protocol 2, 4;", "P0012", "2..4"),
    ("budget bytes 16MB;", "P0011", "MiB"),
    ("budget bytes 1k;", "P0011", "KiB"),
    ("budget stack 10;", "P0034", "budgets are bytes, opcodes,"),
    ("budget depth 10,\nroot any;", "P0012", "`,' before `root'"),
    ("budget depth 10 marks 5;", "P0012", "`,' is missing before `marks'"),
    ("opcodes core except LONG1, LONG4; budget long 10;", "P0079", "such as LONG4 or LONG1"),
    # names in scope
    ("root decimal::Decimal;", "P0031", 'include "std/numbers.policy"; use std.numbers;'),
    ("root socket::gaierror;", "P0031", "use std.exceptions;"),
    ("root builtins::SystemExit;", "P0031", 'include "std/control-flow.policy"; use std.control_flow;'),
    ("use datetme;", "P0032", "use std.datetime;"),
    ('include "std/datetme.policy"; root any;', "P0020", '"std/datetime.policy"'),
    ('include "std.datetime"; root any;', "P0020", '"std/datetime.policy"'),
    ('use "std/datetime.policy";', "P0032", "use std.datetime;"),
    ('include "std/datetime.policy"; root datetime::date;', "P0031", "add: use std.datetime;"),
    ('include "std/datetime.policy"; use std.datetime; root datetime::dat;', "P0031", "`datetime::date'"),
    ('include "std/datetime.policy"; use std.datetime; root datetme::date;', "P0031", "`datetime::date'"),
    ('module m { class A new(); } channel a { root m::A; }', "P0031", "add to channel `a': use p;"),
    ("root numpy::generic;", "P0031", 'include "numpy/dtypes.policy"; use numpy.dtypes;'),
    ("root zoneinfo::ZoneInfo;", "P0031", 'include "std/datetime.policy"; use std.datetime;'),
    ("root pathlib::Path;", "P0031", "`pathlib::PosixPath': include \"std/ids.policy\""),
    ("root UUID;", "P0030", "`uuid::UUID'; a shipped fragment: include \"std/ids.policy\"; use std.ids;"),
    ("module shop.stock { class Res new(); } root shop::Res;", "P0031", "`shop.stock::Res'"),
    ("root exception | none;", "P0012", "`exception' is a word of the language"),
    # classes as Python writes them
    ("module m { class Job { id: int }; }", "P0012", "dataclass Job { name: T }"),
    ("module m { class A { class B new(); } }", "P0012", "`A.B'"),
    ("module m { dataclass A { class B { x: int } }; }", "P0012", "`A.B'"),
    ("module m { dataclass D(Base) { x: int }; }", "P0012", "no bases"),
    ("module m { enum E(str) { A = 1 }; }", "P0012", "no bases"),
    ("module m { class O.I new(); dataclass D { i: O.I }; }", "P0012", "`m::O.I'"),
    ("root PIL.Image.Image;", "P0012", "`PIL.Image::Image'?"),
    ("module m { class A call(any); }", "P0012", "`name: T'"),
    ("module m { class A ref, B ref; }", "P0012", "class { A, B } ref;"),
    ("module m { flag F { R = 1, W = 2 | 4 }; }", "P0012", "2 | 4 is 6"),
    ("module m {{ class A new(); }}", "P0012", "one `{' opens a block"),
    ("module m { class A ref; } root ref m.{A};", "P0012", "ref module::{A, B}"),
    ("module m { class A ref; } root ref {m::A};", "P0012", "ref module::{A, B}"),
    ("module m { class A ref; } root ref m::(A | A);", "P0012", "ref module::{A, B}"),
    ("module m { class A new(); } root m::{A, A};", "P0012", "in full: m::A | m::B"),
    ("module m-x { class A new(); }", "P0010", "in quotes"),
    # numbers and types
    ("root tuple<int, ...>;", "P0012", "T..."),
    ("type Box<T> = list<T>; root any;", "P0012", "no parameters"),
    ("root int[0..2**32];", "P0012", "written out"),
    ("root int[0..1<<32];", "P0012", "written out"),
    ("root int mask 0x7f;", "P0011", "write 127"),
    ("root int mask 0b101;", "P0011", "write 5"),
    ("root int[-0o17..];", "P0011", "write -15"),
    ("root int[..1e6];", "P0011", "written out"),
    ("root str[..1MB];", "P0011", "write the number out"),
    ("root list<bytes>[..1k];", "P0011", "write the number out"),
    ("root bytearray[..1MB];", "P0011", "write MiB"),
    ("budget items 5M;", "P0011", "write the number out"),
    ("budget string 5M;", "P0011", "write MiB"),
]


MESSAGES = [
    # the policy behind its header; the code; what stands in error and notes
    ("module m { class A new(); } channel a { use p; } channel b { root m::A; }", "P0031", "no row in use in channel `b' makes"),
    ("module m { class A new(); } root m::B;", "P0031", "no row makes a `m::B'"),
    ("module m { class A new(); } channel a { opcodes STOP, NONE; use p; }", "P0074", "no opcode allowed in channel `a' spells"),
    ("opcodes STOP, NONE; module m { class A new(); }", "P0074", "no opcode allowed here spells"),
    ('include "std/ids.policy"; module uuid { class UUID new(); } channel a { use p, std.ids; }', "P0040",
     "`uuid::UUID' has two rows in channel `a'"),
    ('include "std/ids.policy"; module pathlib._local { class PosixPath ref; } use std.ids;', "P0078", ".policy:2:57: error"),
    ('include "std/ids.policy"; module pathlib._local { class PosixPath ref; } use std.ids;', "P0078", "std/ids.policy:"),
]


def test_messages(policyc, scratch):
    path = os.path.join(scratch, "message.policy")
    for body, code, text in MESSAGES:
        write(path, "policy p 1;\n" + body + "\n")
        status, _, messages = policyc.run(path, "--policy-dir", "policies")
        check("message of " + body, status == 2 and re.findall(r"error: .* \[(P\d{4})\]$", messages, re.M) == [code]
              and text in messages, messages)


def test_hints(policyc, scratch):
    path = os.path.join(scratch, "hint.policy")
    for header, body, code, hint in [("policy p 1;\n", *line) for line in HINTS] + [
            ("policy p;\n", "root any;", "P0012", "the revision is missing"),
            ("policy my-app 1;\n", "root any;", "P0010", "joined by `.' or `_'"),
            ("\ufeffpolicy p 1;\n", "root any;", "P0002", "without it"),
            ("policy p 1.0;", "root any;", "P0012", "whole"),
            ("utf-16", "", "P0002", "UTF-16"), ("utf-16-be", "", "P0002", "UTF-16"), ("latin-1", "", "P0002", "as UTF-8")]:
        write(path, header + body + "\n" if body else "policy p 1;\n# caf\u00e9\n".encode(header))
        status, _, messages = policyc.run(path, "--policy-dir", "policies")
        codes = re.findall(r"error: .* \[(P\d{4})\]$", messages, re.M)
        hints = re.findall(r"= hint: (.*)$", messages, re.M)
        check("no bracket is blamed by " + (body or header), "is not closed" not in messages, messages)
        check("hint of " + (body or header), status == 2 and codes == [code]
              and (hint in hints[0] if hint and len(hints) == 1 else not hint and not hints), messages)


def listed_classes(policyc, path, file, fragment):
    """What `policyc list' says of a shipped fragment: {(module, class)} that its rows make, {(module, name)} of the rows, the files
    of fragments that must stand beside it."""
    used = {file: fragment}
    while True:
        write(path, "policy p 1;\nopcodes core, inst;\n" + "".join(
            'include "%s";\nuse %s;\n' % part for part in sorted(used.items())))
        status, out, messages = policyc.run("list", path, "--policy-dir", "policies")
        lacking = re.search(r'hint: .*?(?:include "(.*)"; )?use (.*);$', messages, re.M)  # it names what another one grants
        if not lacking or lacking.group(2) in used.values():
            break
        used[lacking.group(1) or lacking.group(2).replace(".", "/") + ".policy"] = lacking.group(2)
    check("list of " + fragment, status == 0, messages)
    classes = set()
    for name, verb, rest in re.findall(r"^(\S+::\S+) (call|new|func|const)\b(.*)  # %s:\d+" % re.escape(file), out, re.M):
        result = re.search(r"^\(.*\) -> (\S+::\S+)" if verb == "func" else r"^ -> (\S+::\S+)", rest)
        if result or verb in ("call", "new"):
            classes.add(tuple((result.group(1) if result and verb in ("func", "const") else name).split("::")))
    names = re.findall(r"^(\S+)::(\S+) (?:call|new|func|const|ref)\b.*  # %s:\d+" % re.escape(file), out, re.M)
    return classes, set(names), set(used) - {file}


def test_shipped(policyc, scratch, build):
    """What hints know of shipped fragments (tools/shipped_names.awk) is what policyc makes of them."""
    path = os.path.join(scratch, "shipped.policy")
    table = read(os.path.join(build, "gen/shipped.inc")).decode()
    fragments = re.findall(r'FRAGMENT\("(.*)", "(.*)"\)', table)
    check("all shipped fragments are listed", sorted(file for file, _ in fragments)
          == sorted(path[len("policies/"):] for path in glob.glob("policies/*/*.policy")))
    for file, fragment in fragments:
        known = set(re.findall(r'CLASS\("(.*)", "(.*)", "%s"\)' % file, table))
        rows = set(re.findall(r'ROW\("(.*)", "(.*)", "%s"\)' % file, table))
        classes, names, needs = listed_classes(policyc, path, file, fragment)
        check("classes of " + file, known == classes, str(sorted(known ^ classes)))
        check("what %s needs" % file, needs == set(re.findall(r'NEED\("%s", "(.*)"\)' % file, table)), str(needs))
        written = {(module, name) for module, name in names - rows  # by templates: members of an enum, what joins flags
                   if (module, name.rpartition(".")[0]) not in rows and (module, name) != ("operator", "or_")}
        check("rows of " + file, rows <= names and not written, str(sorted(rows - names) + sorted(written)))
        for word in {file.split("/")[1][:-7], fragment, fragment.split(".")[1], file}:
            write(path, "policy p 1;\nuse %s;\n" % (word if "/" not in word and "-" not in word else '"%s"' % word))
            messages = policyc.run(path, "--policy-dir", "policies")[2]
            check("shipped fragment " + word, 'include "%s"; use %s;' % (file, fragment) in messages, messages)


def test_docs(policyc, scratch):
    for path, least in (("docs/language.md", 11), ("docs/checks.md", 9), ("docs/policies.md", 1)):
        with open(path, encoding="utf-8") as file:
            blocks = blocks_of(file.read())
        check(path + " has examples", len(blocks) >= least)
        for _, _, block in blocks:
            status, _, messages = compile_block(policyc, scratch, block)
            check(path + ": " + block.split("\n")[0], status == 0 and not messages, block + messages)
    words = re.findall(r"^    X\([A-Z_]+, (\w+)\)", read("runtime/upk_tables.h").decode().split("#define UPK_CHECKS(X)")[1]
                       .split("enum upk_check")[0], re.M)
    sections = re.split(r"^## ", read("docs/checks.md").decode(), flags=re.M)[1:]
    check("docs/checks.md has a section for each check", words and words == [text.split("\n")[0] for text in sections],
          str(words))
    for word, text in zip(words, sections):
        check("docs/checks.md: %s is used" % word, "check %s" % word in text)
    with open("docs/errors.md", encoding="utf-8") as file:
        page = file.read()
    examples = set()
    for code, number, block in blocks_of(page):
        status, _, messages = compile_block(policyc, scratch, block)
        codes = [error[3] for error in ERROR.findall(messages)]
        expected = [code] if number == 0 else []
        check("docs/errors.md: %s, block %d" % (code, number), codes == expected and (status == 0) == (number > 0),
              block + messages)
        examples.add((code, number))
    return page, examples


def test_codes(page, examples):
    numbers = re.findall(r"^    X\((\d+), ", read("compiler/codes.h").decode(), re.M)
    codes = ["P%04d" % int(number) for number in numbers]
    check("codes are sorted, none twice", codes == sorted(set(codes)))
    for code in codes:
        check(code + " has a page in docs/errors.md", re.search(r"^## %s " % code, page, re.M))
        check(code + " has an example and a mend", code in NO_EXAMPLE or {(code, 0), (code, 1)} <= examples)
        check(code + " has a test", code in seen_codes or code in UNTESTED)
    check("no page is without its code", set(re.findall(r"^## (P\d{4}) ", page, re.M)) <= set(codes))


def main():
    policyc = Policyc(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        test_ok(policyc, scratch)
        test_bad(policyc, scratch)
        test_hints(policyc, scratch)
        test_messages(policyc, scratch)
        test_shipped(policyc, scratch, sys.argv[1])
        page, examples = test_docs(policyc, scratch)
    test_codes(page, examples)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
