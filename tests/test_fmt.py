#!/usr/bin/python3
"""`policyc fmt`: what the canonical layout is, that words, their order and comments stay whatever stood between them, that it is
a fixed point, and the program: files in place, --check, exit statuses.

usage: test_fmt.py BUILD       (from the top folder)
"""
import glob
import html
import json
import os
import random
import re
import stat
import subprocess
import sys
import tempfile

from policyc import Policyc, check, read, tally, write

# Each as it is written, and the canonical form; None: it has that already.
LAYOUTS = [
    ("blanks", "policy  p\t1 ;type A=int [ 0 .. 9 ]|none;root  A ;",
     "policy p 1;\ntype A = int[0..9] | none;\nroot A;\n"),
    ("empty lines", "\n\npolicy p 1;\n\n\n\nroot\n\nany\n;\n\n\nmodule m {\n\n\nclass A ref;\n\n\nclass B ref;\n\n\n}\n\n",
     "policy p 1;\n\nroot any;\n\nmodule m {\n    class A ref;\n\n    class B ref;\n}\n"),
    ("columns", "policy p 1;\nopcodes  core;   # one\nprotocol 0..5;   # two\n",
     "policy p 1;\nopcodes core;  # one\nprotocol 0..5;  # two\n"),
    ("a row a line", "fragment f; module m import { class A ref; class B call(a: int); }\nmodule n {}\nmodule o {\n\n}\n",
     "fragment f;\nmodule m import {\n    class A ref;\n    class B call(a: int);\n}\nmodule n {}\nmodule o {}\n"),
    ("channels", "policy p 1; channel a { use f , g . h; root int; } channel b{}",
     "policy p 1;\nchannel a {\n    use f, g.h;\n    root int;\n}\nchannel b {}\n"),
    ("records", "fragment f; type A={a:int,b?:str[..5],*:any}; type B={ }; type C=tuple<{}>; type D={\"a b\":int};",
     "fragment f;\ntype A = { a: int, b?: str[..5], *: any };\ntype B = {};\ntype C = tuple<{}>;\ntype D = { \"a b\": int };\n"),
    ("marks", "fragment f;type A=tuple<int?,str ...>[ 2 ]|list<( int|str )>[ 1 .. ];type B=ref m . n :: { X , Y . Z };",
     "fragment f;\ntype A = tuple<int?, str...>[2] | list<(int | str)>[1..];\ntype B = ref m.n::{X, Y.Z};\n"),
    ("steps", "fragment f;module m{class A call ( ) state ? ( none|{} ) items any pairs(int|str):any adds int;class B new(a?:int)kw{b:int};}",
     "fragment f;\nmodule m {\n    class A call() state? (none | {}) items any pairs (int | str): any adds int;\n"
     "    class B new(a?: int) kw { b: int };\n}\n"),
    ("scopes", "fragment f;never a.b :: c,module d,module e . *,g::*,opcodes EXT1;",
     "fragment f;\nnever a.b::c, module d, module e.*, g::*, opcodes EXT1;\n"),
    ("subclasses", 'fragment f;module m{subclasses   of A.B call(a:int)state?{b:str}because "x"|new();subclasses of"a-b".C # why\n call()because "y";}',
     'fragment f;\nmodule m {\n    subclasses of A.B\n        call(a: int) state? { b: str } because "x"\n      | new();\n'
     '    subclasses of "a-b".C  # why\n        call() because "y";\n}\n'),
    ("a deny list", 'policy p 1;fail_open   until"2027-06-30"because "x"{deny a::b,module c . *;  # one\n\n# two\n\n\n  deny "a-b"::d;\n\n}# three',
     'policy p 1;\nfail_open until "2027-06-30" because "x" {\n    deny a::b, module c.*;  # one\n\n    # two\n\n    deny "a-b"::d;\n}  # three\n'),
    ("a deny list in a channel", 'policy p 1; channel a { root any; fail_open until "2027-06-30" because "%s" { deny %s; } fail_open until "2028-01-01" because "" { } }'
     % ("y" * 80, ", ".join("module module_name_%d" % i for i in range(6))),
     'policy p 1;\nchannel a {\n    root any;\n    fail_open until "2027-06-30"\n        because "%s" {\n        deny %s,\n            %s;\n    }\n'
     '    fail_open until "2028-01-01" because "" {}\n}\n'
     % ("y" * 80, ", ".join("module module_name_%d" % i for i in range(4)), ", ".join("module module_name_%d" % i for i in range(4, 6)))),
    ("words of the language as names", "fragment f;module state{class state call(state:state::state,call?:int)state state::state;const items,\"because\",call;}",
     "fragment f;\nmodule state {\n    class state call(state: state::state, call?: int) state state::state;\n    const items, \"because\", call;\n}\n"),
    ("several ways stand on a line each", 'fragment f;module m{class{A,B}ref|call()|new()state any because "x";func f(a:int)->m::A because "y"|(b:str)->m::B because "z";}',
     'fragment f;\nmodule m {\n    class { A, B }\n        ref\n      | call()\n      | new() state any because "x";\n'
     '    func f\n        (a: int) -> m::A because "y"\n      | (b: str) -> m::B because "z";\n}\n'),
    ("a row that has no room", 'fragment f;\nmodule m {\n    class Name new(one: str, two: str) state { three: int } runs __setattr__ because "%s";\n}\n' % ("x" * 50),
     'fragment f;\nmodule m {\n    class Name new(one: str, two: str)\n        state { three: int }\n        runs __setattr__\n        because "%s";\n}\n' % ("x" * 50)),
    ("one that has just room", 'fragment f;\nmodule m {\n    class N ref because "%s";\n}\n' % ("x" * 93), None),
    ("and one that has just not", 'fragment f;\nmodule m {\n    class N ref because "%s";\n}\n' % ("x" * 94),
     'fragment f;\nmodule m {\n    class N ref\n        because "%s";\n}\n' % ("x" * 94)),
    ("characters are counted, not bytes", 'fragment f;\nmodule m {\n    class N ref because "%s";\n}\n' % ("\u00e9" * 93), None),
    ("arguments that have no room", "fragment f;\nmodule m {\n    class N call(%s) state any;\n}\n" % ", ".join("argument%d: int" % i for i in range(8)),
     "fragment f;\nmodule m {\n    class N call(\n%s\n    )\n        state any;\n}\n" % ",\n".join("        argument%d: int" % i for i in range(8))),
    ("fields that have no room", "fragment f;\ntype R = { %s, };\n" % ", ".join("field_number_%d: tuple<int, str>" % i for i in range(5)),
     "fragment f;\ntype R = {\n%s,\n};\n" % ",\n".join("    field_number_%d: tuple<int, str>" % i for i in range(5))),
    ("words fill lines", "fragment f;\ntype T = %s;\nnever %s;\n" % (" | ".join('"word%02d"' % i for i in range(12)), ", ".join("module_name::name%02d" % i for i in range(7))),
     "fragment f;\ntype T = %s\n    | \"word10\" | \"word11\";\nnever %s,\n    module_name::name05, module_name::name06;\n"
     % (" | ".join('"word%02d"' % i for i in range(10)), ", ".join("module_name::name%02d" % i for i in range(5)))),
    ("names of a row fill lines", "fragment f;\nmodule m {\n    class { %s } ref;\n}\n" % ", ".join("ClassName%02d" % i for i in range(12)),
     "fragment f;\nmodule m {\n    class {\n        %s,\n        ClassName08, ClassName09, ClassName10, ClassName11\n    } ref;\n}\n"
     % ", ".join("ClassName%02d" % i for i in range(8))),
    ("members of a union have a line each", "fragment f;\ntype T = dict<str, int> | %s;\n" % " | ".join("tuple<int, str, A%d>" % i for i in range(6)),
     "fragment f;\ntype T =\n    dict<str, int>\n%s;\n" % "\n".join("  | tuple<int, str, A%d>" % i for i in range(6))),
    ("one element does not nest twice", "fragment f;\ntype T = list<tuple<%s>[1..]>;\n" % ", ".join("list<Element%d>" % i for i in range(8)),
     "fragment f;\ntype T = list<tuple<\n%s\n>[1..]>;\n" % ",\n".join("    list<Element%d>" % i for i in range(8))),
    ("a comma behind the last means a line each", "fragment f; type A = list<{a: int,}>; module m { class C new(a: int) state { x: {}, }; enum E { A = 1, }; }",
     "fragment f;\ntype A = list<{\n    a: int,\n}>;\nmodule m {\n    class C new(a: int)\n        state {\n            x: {},\n        };\n"
     "    enum E {\n        A = 1,\n    };\n}\n"),
    ("enums and templates", 'fragment f;module m{enum E{A=1,B="b"};dataclass D{a:int}because "x";namedtuple N(a:int);exception X(a:int){b?:int};}',
     'fragment f;\nmodule m {\n    enum E { A = 1, B = "b" };\n    dataclass D { a: int } because "x";\n    namedtuple N(a: int);\n'
     '    exception X(a: int) { b?: int };\n}\n'),
    ("a row goes on behind its braces", "fragment f;\nmodule m {\nflag F { A = 1 }\nbudget calls 5;\n}\n",
     "fragment f;\nmodule m {\n    flag F { A = 1 } budget calls 5;\n}\n"),
    ("what only the grammar knows", 'policy p 1;environment e{inherit A,base B where value chars "x" max 3;never *_TOKEN,KEY*,*A*;set X="y";home d;}'
     'confinement{linux require;budget memory 1;network because "x";}',
     'policy p 1;\nenvironment e {\n    inherit A, base B where value chars "x" max 3;\n    never *_TOKEN, KEY*, *A*;\n    set X = "y";\n    home d;\n}\n'
     'confinement {\n    linux require;\n    budget memory 1;\n    network because "x";\n}\n'),
    ("fail_open and subclasses", 'policy p 1;channel c{fail_open until"2030-01-01"because"x"{deny module a.*,b::c;}}module m{subclasses of B call(a:any...)because"x";}',
     'policy p 1;\nchannel c {\n    fail_open until "2030-01-01" because "x" {\n        deny module a.*, b::c;\n    }\n}\nmodule m {\n'
     '    subclasses of B call(a: any...) because "x";\n}\n'),
    ("numbers and strings stay as written", 'fragment f;\ntype A = 1_000 | -5 | "\\x41\\u{42}" | b"\\x00";\ntype B = bytes[..1KiB];\n', None),
    ("comments", "# a\n\n\n# b\npolicy p 1; # c  \n#d\nmodule m { # e\n# f\n\nclass A # g\nref; # h\n\n# i\n} # j\n# k",
     "# a\n\n# b\npolicy p 1;  # c\n#d\nmodule m {  # e\n    # f\n\n    class A  # g\n        ref;  # h\n\n    # i\n}  # j\n# k\n"),
    ("comments in lists", "fragment f;\ntype A = { # a\na: int, # b\n# c\n\n# d\nb: int # e\n};\nmodule m {\n    const A, # f\nB;\n}\nmodule e { # only\n}\n",
     "fragment f;\ntype A = {  # a\n    a: int,  # b\n    # c\n\n    # d\n    b: int  # e\n};\nmodule m {\n    const A,  # f\n        B;\n}\nmodule e {  # only\n}\n"),
    ("comments before `,` and `;` and behind `|`", "fragment f;\ntype A = {\n  a: int # a\n  , b: int # b\n  # c\n  ,\n}\n# d\n;\ntype B = int | # e\nstr |\n# f\nnone;\n",
     "fragment f;\ntype A = {\n    a: int,  # a\n    b: int,  # b\n    # c\n};\n# d\ntype B = int  # e\n    | str\n      # f\n    | none;\n"),
    ("comments that go on below", "fragment f;\ntype A = int;      # one\n                   # two\n                   # three\n      # four\n",
     "fragment f;\ntype A = int;  # one\n               # two\n               # three\n# four\n"),
    ("a comment may be longer than a line", "fragment f;\ntype A = { a: int };  # %s\n" % ("x " * 80).strip(), None),
    ("comments in empty brackets", "fragment f;\ntype A = { # a\n};\ntype B = tuple<\n# b\n>;\nmodule m {\n    class A call( # c\n    );\n}\n",
     "fragment f;\ntype A = {  # a\n};\ntype B = tuple<\n    # b\n>;\nmodule m {\n    class A call(  # c\n    );\n}\n"),
    ("line ends of Windows", "policy p 1;\r\n# a\r\nroot any; # b\r\n", "policy p 1;\n# a\nroot any;  # b\n"),
    ("tabs", "policy p 1;\nmodule m {\n\tclass A ref;\t# a\tb\t\n}\n", "policy p 1;\nmodule m {\n    class A ref;  # a\tb\n}\n"),
    ("no line end at the end", "policy p 1; # a", "policy p 1;  # a\n"),
]

TOKEN = re.compile(r'#[^\n]*|b?"(?:[^"\\\n]|\\[^\n])*"|-?[0-9]\w*|[A-Za-z_]\w*|::|\.\.\.|\.\.|->|\S')


def split(text):
    """Tokens, and comments without the blanks behind them."""
    found = TOKEN.findall(text.replace("\r\n", "\n"))
    return [t for t in found if t[0] != "#"], [t.rstrip(" \t") for t in found if t[0] == "#"]


class Formatter:
    """Formats many texts in one run of the program."""
    def __init__(self, policyc, folder):
        self.policyc, self.folder, self.runs = policyc, folder, 0

    def all(self, texts):
        """Of each its canonical form, or None where it has errors of syntax."""
        self.runs += 1
        paths = [os.path.join(self.folder, str(self.runs), "%d.policy" % i) for i in range(len(texts))]
        results = []
        for path, text in zip(paths, texts):
            write(path, text)
        for i in range(0, len(paths), 500):
            _, _, messages = self.policyc.run("fmt", "--diagnostics=json", *paths[i:i + 500])
            bad = {json.loads(line)["file"] for line in messages.splitlines() if '"severity":"error"' in line}
            results += [None if path in bad else read(path).decode() for path in paths[i:i + 500]]
        return results


def check_forms(name, formatter, texts, wanted=None):
    """Formats each text: the same words and comments, no blanks left behind, and a fixed point."""
    made = formatter.all(texts)
    again = formatter.all([form or "" for form in made])
    for i, (text, form, twice) in enumerate(zip(texts, made, again)):
        where = "%s, text %d" % (name, i)
        if form is None:
            check(where + " is refused", False, text)
            continue
        check(where + ": words and comments", split(form) == split(text), text + "----\n" + form)
        check(where + ": a fixed point", form == twice, "%s----\n%s----\n%s" % (text, form, twice))
        check(where + ": blanks", not re.search(r"[ \t\r]$|\n\n\n|^[^#\n]*\{\n\n|\A\n|\n\n\Z|[^\n]\Z|^ *\t", form, re.M), form)
        if wanted is not None:
            check(where + ": as without the change", form == wanted[i], "%s----\n%s----\n%s" % (text, form, wanted[i]))
    return made


def policies():
    """Every policy that is a file here, and each example of the documents: (name, text)."""
    for path in sorted(glob.glob("policies/**/*.policy", recursive=True) + glob.glob("tests/**/*.policy", recursive=True)
                       + glob.glob("tools/**/*.policy", recursive=True)):
        try:
            with open(path, encoding="utf-8", newline="") as file:
                yield path, file.read()
        except UnicodeDecodeError:
            pass  # is there to be refused
    for path in ["README.md", *sorted(glob.glob("docs/*.md"))]:
        with open(path, encoding="utf-8") as file:
            for i, block in enumerate(re.findall(r"^```policy\n(.*?)^```", file.read(), re.M | re.S)):
                text = html.unescape(block)
                yield "%s, example %d" % (path, i), text if re.search(r"^(policy|fragment)\b", text, re.M) else "policy example 1;\n" + text


def pieces(text):
    """Tokens and comments, each with what stands before it: [(gap, token)], and the gap at the end."""
    found, at = [], 0
    for match in TOKEN.finditer(text):
        found.append((text[at:match.start()], match.group()))
        at = match.end()
    return found, text[at:]


def other_blanks(rng, text):
    """The text with other blanks and line ends between its tokens, but for what says where comments and empty lines are."""
    found, end = pieces(text)
    out, before = "", "#"
    for gap, token in found:
        if before[0] != "#" and token[0] != "#":
            lines = "" if gap.count("\n") > 1 else "\n"
            more = ["\n\n", " \n\t\n "] if before not in "{};" and token != "}" else []
            joined = [""] if re.match(r"[^\w\"]", token) and re.match(r"[^\w\"]", before) or token in ",;:" else []
            fresh = rng.choice([" ", "  ", "\t", "\n", " \n ", "\r\n", *joined, *more])
            gap = fresh if lines else gap + rng.choice(["", " ", "\t"])
        elif before[0] == "#":
            gap += rng.choice(["", " ", "\t\t"]) if not token.startswith("#") else ""
        elif "\n" not in gap:
            gap = rng.choice(["", " ", "\t"])
        out += gap + token
        before = token
    return out + rng.choice(["", " ", "\n", end])


def more_comments(rng, text):
    """The text with comments of all kinds at random borders."""
    found, end = pieces(text)
    out = ""
    chance = rng.choice([0.02, 0.1, 0.5])
    for i, (gap, token) in enumerate(found):
        if rng.random() < chance:
            gap = rng.choice([" # on %d\n", "\n# below %d\n", "\n\n  # apart %d\n\n", "#\n", "\t#%d \t\r\n", "\n# one %d\n# two\n"]).replace("%d", str(i)) + gap
            if "#" in out.rpartition("\n")[2]:
                gap = "\n" + gap
        out += gap + token
    return out + rng.choice(["", " # at the end", "\n# at the end"]) + end


def test_layouts(formatter):
    made = formatter.all([text for _, text, _ in LAYOUTS])
    for (name, text, wanted), form in zip(LAYOUTS, made):
        check("layout: " + name, form == (text if wanted is None else wanted), "%s----\n%s----\n%s" % (text, form, wanted))
    check_forms("layouts", formatter, [text for _, text, _ in LAYOUTS])


def test_every_policy(formatter):
    every = list(policies())
    first = formatter.all([text for _, text in every])
    good = [text for (_, text), form in zip(every, first) if form is not None]
    check("policies were found", len(good) > 200 and len(good) < len(every), "%d of %d" % (len(good), len(every)))
    check_forms("every policy", formatter, good)
    # What has errors of another kind than syntax is formatted.
    for path in ("unknown_type", "include_not_found", "eight_mistakes_of_names"):
        check("formatted though it does not compile: " + path, first[[n for n, _ in every].index("tests/policy/bad/%s.policy" % path)] is not None)


def test_blanks_mean_nothing(formatter):
    rng = random.Random(20)
    texts = [text for (_, text), form in zip(policies(), formatter.all([t for _, t in policies()])) if form is not None]
    made = formatter.all(texts)
    for _ in range(2):
        check_forms("other blanks", formatter, [other_blanks(rng, text) for text in made], made)


def test_comments_stay(formatter):
    rng = random.Random(21)
    texts = [text for (_, text), form in zip(policies(), formatter.all([t for _, t in policies()])) if form is not None]
    for _ in range(2):
        check_forms("more comments", formatter, [more_comments(rng, text) for text in texts])


def test_shipped_policies_are_canonical(policyc):
    shipped = sorted(glob.glob("policies/**/*.policy", recursive=True) + glob.glob("tools/**/*.policy", recursive=True))
    status, out, messages = policyc.run("fmt", "--check", *shipped)
    check("shipped policies are canonical", status == 0 and not out and not messages and len(shipped) > 15, out + messages)
    long = [path for path in shipped if max(map(len, read(path).decode().splitlines())) > 120]
    check("and their lines have at most 120 characters", not long, str(long))


def test_deep_and_long(policyc, folder):
    """Nesting up to what the parser takes, and sizes: in little time, and the text does not grow without bound."""
    path = os.path.join(folder, "deep.policy")
    for opening, closing in (("list<", ">"), ("tuple<int, ", ">"), ("{ a: ", " }"), ("(int | ", ")"), ("dict<str, ", ">")):
        deepest = 0
        for depth in (10, 100, 150, 400, 2000):
            text = "fragment f;\ntype T = %sint%s;\n" % (opening * depth, closing * depth)
            write(path, text)
            status, _, messages = policyc.run("fmt", path)
            if status == 0:
                deepest = depth
                check("deep: size", len(read(path)) < 70 * len(text), "%s %d" % (opening, len(read(path))))
                check("deep: words", split(read(path).decode()) == split(text))
                check("deep: a fixed point", policyc.run("fmt", "--check", path)[0] == 0, opening)
            else:
                check("deep: too deep", status == 2 and "[P0015]" in messages and read(path).decode() == text, messages)
        check("deep: some depth is taken", 100 <= deepest < 2000, "%s %d" % (opening, deepest))
    text = "fragment f;\ntype T = %s;\n" % " | ".join("A%d" % i for i in range(200000))
    write(path, text)
    status, _, messages = policyc.run("fmt", path)
    check("long: a union", status == 0 and split(read(path).decode()) == split(text), messages)
    text = "fragment f;\ntype T = " + "{ a: " * 15 + "{ %s }" % ", ".join("b:int" for _ in range(260000)) + " }" * 15 + ";\n"
    write(path, text)
    status, _, messages = policyc.run("fmt", path)
    check("long: a canonical form that no policy may be", status == 2 and "[P0004]" in messages and read(path).decode() == text, messages)
    write(path, b"#" * (17 << 20))
    status, _, messages = policyc.run("fmt", path)
    check("long: a file that no policy may be", status == 2 and "[P0001]" in messages, messages)


GOOD, UGLY, FINE = "policy p 1;\nroot any;\n", "policy  p 1;root any;", "policy p 1;\nroot any;\n"
BROKEN = "policy p 1;\nroot [;\n"


def test_program(policyc, folder):
    def expect(name, arguments, status, out=None, pattern="", **options):
        got, text, messages = policyc.run("fmt", *arguments, cwd=folder, **options)
        check("program: " + name, got == status and (out is None or text == out) and re.search(pattern, messages, re.S), "%d\n%s\n%s" % (got, text, messages))

    def has(name, text):
        check("program: %s has its text" % name, read(os.path.join(folder, name)) == text.encode())

    for name, text in (("good.policy", GOOD), ("ugly.policy", UGLY), ("broken.policy", BROKEN), ("no.policy", "x\n"),
                       ("other.txt", UGLY), ("-dash.policy", UGLY)):
        write(os.path.join(folder, name), text)
    expect("help", ["--help"], 0, pattern=r"\A\Z")
    expect("short help", ["-h"], 0, pattern=r"\A\Z")
    expect("no file", [], 2, "", r"^policyc fmt: no policy is named; try --help\n$")
    expect("only --check", ["--check"], 2, "", "no policy is named")
    expect("unknown option", ["--nothing", "good.policy"], 2, "", "there is no option --nothing")
    expect("an empty name", [""], 2, "", "the name of a policy is empty")
    expect("a form that there is not", ["--diagnostics=xml", "good.policy"], 2, "", "--diagnostics takes text or json, not xml")
    expect("check of a good one", ["--check", "good.policy"], 0, "", r"\A\Z")
    expect("check of an ugly one", ["--check", "ugly.policy"], 1, "ugly.policy\n", r"\A\Z")
    has("ugly.policy", UGLY)
    expect("check of several", ["ugly.policy", "good.policy", "--check", "other.txt"], 1, "ugly.policy\nother.txt\n", r"\A\Z")
    expect("errors", ["broken.policy"], 2, "", r"\Abroken\.policy:2:6: error: [^\n]*\[P0012\]\n.*root \[;\n[^\n]*\^")
    expect("no policy", ["no.policy"], 2, "", r"\[P0018\]")
    expect("an empty file", ["/dev/null"], 3, "", r"not a regular file \[P0001\]")
    expect("missing", ["none.policy"], 3, "", r"none\.policy: No such file or directory \[P0001\]")
    expect("a folder", ["."], 3, "", r"\[P0001\]")
    expect("JSON", ["--diagnostics", "json", "broken.policy"], 2, "", r'\A\{"severity":"error","code":"P0012"')
    expect("JSON of the usage", ["--diagnostics=json", "--nothing"], 2, "", r'"code":"P0008"')
    expect("the worst counts, and the others are done", ["broken.policy", "none.policy", "ugly.policy", "good.policy"], 3, "", r"P0012.*P0001")
    has("ugly.policy", FINE)
    expect("check after that", ["--check", "ugly.policy"], 0, "")
    expect("a name with a dash", ["--", "-dash.policy"], 0, "")
    has("-dash.policy", FINE)
    expect("control characters in a name", ["--check", "a\x1b\n.policy"], 3, "", r"\A[^\x1b]*a\\x1B\\x0A\.policy")

    def pipe(name, arguments, data, status, out, pattern=""):
        done = subprocess.run([policyc.program, "fmt", *arguments], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
        check("pipe: " + name, done.returncode == status and done.stdout == out and re.search(pattern, done.stderr.decode(), re.S),
              "%d %r %r" % (done.returncode, done.stdout, done.stderr))
    pipe("ugly", ["-"], UGLY.encode(), 0, FINE.encode(), r"\A\Z")
    pipe("good", ["-"], GOOD.encode(), 0, GOOD.encode())
    pipe("check", ["--check", "-"], UGLY.encode(), 1, b"-\n")
    pipe("check of a good one", ["--check", "-"], GOOD.encode(), 0, b"")
    pipe("errors", ["-"], BROKEN.encode(), 2, b"", r"^standard input:2:6: error")
    pipe("nothing", ["-"], b"", 2, b"", r"\[P0018\]")
    pipe("bytes", ["-"], b"policy p 1;\n# \xff\n", 2, b"", r"\[P0002\]")
    pipe("too much", ["-"], b"#" * (17 << 20), 2, b"", r"larger than 16 MiB")
    with open("/dev/full", "wb") as full:
        for arguments in (["-"], ["--check", "-"]):
            done = subprocess.run([policyc.program, "fmt", *arguments], input=UGLY.encode(), stdout=full, stderr=subprocess.PIPE)
            check("pipe: a full disk", done.returncode == 3 and b"[P0005]" in done.stderr, done.stderr.decode())


def test_files_in_place(policyc, folder):
    """What is canonical is not touched; modes and links stay; what cannot be written stays whole."""
    path, link = os.path.join(folder, "a.policy"), os.path.join(folder, "link.policy")
    write(path, UGLY)
    os.chmod(path, 0o640)
    os.symlink("a.policy", link)
    status, out, messages = policyc.run("fmt", link)
    check("in place: through a link", status == 0 and os.path.islink(link) and read(path).decode() == FINE, out + messages)
    check("in place: the mode stays", stat.S_IMODE(os.stat(path).st_mode) == 0o640, oct(os.stat(path).st_mode))
    before = os.stat(path)
    status, _, _ = policyc.run("fmt", path, path)
    after = os.stat(path)
    check("in place: a canonical one is left alone", status == 0 and (before.st_ino, before.st_mtime_ns, before.st_ctime_ns)
          == (after.st_ino, after.st_mtime_ns, after.st_ctime_ns))
    os.symlink("nowhere", os.path.join(folder, "dangling.policy"))
    os.mkfifo(os.path.join(folder, "pipe.policy"))
    for name in ("dangling", "pipe"):
        status, _, messages = policyc.run("fmt", os.path.join(folder, name + ".policy"))
        check("in place: " + name, status == 3 and "[P0001]" in messages, messages)
    check("in place: nothing else is left", sorted(os.listdir(folder)) == ["a.policy", "dangling.policy", "link.policy", "pipe.policy"], str(os.listdir(folder)))
    if os.geteuid() != 0:
        print("not root: files of another user are not tried")
        return
    closed = os.path.join(folder, "closed")
    os.mkdir(closed)
    for top in (folder, closed):
        os.chmod(top, 0o755)
    for name, mode in (("unreadable", 0o600), ("unwritable", 0o644), ("writable", 0o666)):
        write(os.path.join(closed, name), UGLY)
        os.chmod(os.path.join(closed, name), mode)

    def other_user():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    for name, code in (("unreadable", "P0001"), ("unwritable", "P0005"), ("writable", "P0005")):
        status, _, messages = policyc.run("fmt", name, cwd=closed, preexec_fn=other_user)
        check("in place: another user's, " + name, status == 3 and "[%s]" % code in messages and read(os.path.join(closed, name)).decode() == UGLY, messages)
    status, out, _ = policyc.run("fmt", "--check", "unwritable", cwd=closed, preexec_fn=other_user)
    check("in place: --check needs to read only", status == 1 and out == "unwritable\n", out)
    check("in place: nothing is left of it", sorted(os.listdir(closed)) == ["unreadable", "unwritable", "writable"], str(os.listdir(closed)))


def main():
    build = sys.argv[1]
    policyc = Policyc(build)
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        formatter = Formatter(policyc, os.path.join(scratch, "texts"))
        tally.run([test_layouts, test_every_policy, test_blanks_mean_nothing, test_comments_stay], formatter)
        tally.run([test_shipped_policies_are_canonical], policyc)
        for test in (test_deep_and_long, test_program, test_files_in_place):
            folder = os.path.join(scratch, test.__name__)
            os.mkdir(folder)
            tally.run([test], policyc, folder)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
