#!/usr/bin/python3
"""`policyc diff`: what it says of pairs of policies, and that what it calls the same or narrower is so.

usage: test_diff.py BUILD       (from the top folder, after `make`)

PAIRS have their verdicts and findings written by hand.  Then random pairs of policies decide random pickles: none that the
old one refuses is accepted by the new one where that is called the same or narrower.
"""
import os
import sys
import tempfile

from assemble import assemble
from diff_lines import LINES
from policy_pairs import Maker, policy_text
from policyc import Policyc, read, tally, write

HEAD = "policy p 1;\n"
K = HEAD + "module m { class K %s; }\nroot m::K;\n"
ROOT = HEAD + "%s\nroot %s;\n"
BOOL_OR_K = HEAD + "module m { class K call(x: int) ; %s }\nroot %s;\n"


def k(maker):
    return K % maker


def root(of, more=""):
    return ROOT % (more, of)


def rows(text, of="any"):
    return HEAD + "module m { %s }\nroot %s;\n" % (text, of)


def state(of):
    return k("new() state " + of)


DATACLASS = rows("dataclass K { a: int, b?: str };", "m::K")
BY_HAND = rows("""class K new() state { a: int, b?: str } runs __setstate__, __setattr__, __hash__, __eq__
    | new() state tuple<none, { a: int, b?: str }> runs __setstate__, __setattr__, __hash__, __eq__
    | new() state list<int, str?> runs __setstate__, __setattr__, __hash__, __eq__;""", "m::K")
JSON = "type %s = none | int | list<%s> | dict<str, %s>;"
CHANNELS = HEAD + "module m { class K call(x: int); }\nchannel %s { use p; root m::K; }\nchannel b { use p; root m::K | int; }\n"
CHILD = "policy p 1;\nroot any;\nenvironment e { inherit PATH%s; home workspace; }\nconfinement { linux %s; macos require; budget wall %d; %s}\n"
SAME, NARROWED, WIDENED, CHANGED = "same", "narrowed", "widened", "widened and narrowed"

# name: (old, new, verdict, findings as "grade how place").  Findings are all there are.
PAIRS = {
    "nothing changes": (k("call(x: int)"), k("call(x: int)"), SAME, []),
    "a comment, a revision, a reason": (
        rows('func f(x: int) -> m::K because "a";'), "# other\npolicy p 2;\n" + rows('func f(x: int) -> m::K because "b";')[len(HEAD):], SAME, []),
    "a type has another name": (root("A", "type A = { x: int };"), root("Other", "type Other = { x: int };"), SAME, []),
    "a type is written out": (root("list<A>", "type A = { x: int };"), root("list<{ x: int }>"), SAME, []),
    "alternatives in another order": (root("int | str[..4] | none | list<int | none>"), root("list<none | int> | none | str[..4] | int"), SAME, []),
    "rows in another order, a module in two blocks": (
        rows("class A call(); class B call(); const C;"), HEAD + "module m { const C; class B call(); }\nmodule m { class A call(); }\nroot any;\n", SAME, []),
    "fields in another order": (state("{ a: int, b?: str }"), state("{ b?: str, a: int }"), SAME, []),
    "a recursive type unrolled once": (
        root("J", JSON % (("J",) * 3)), root("J", "type I = none | int | list<J> | dict<str, J>; type J = none | int | list<I> | dict<str, I>;"), SAME, []),
    "a recursive type of two names": (
        root("J", JSON % (("J",) * 3)), root("J | list<J>", JSON % (("J",) * 3)), SAME, []),
    "a recursive type that holds more": (
        root("J", JSON % (("J",) * 3)), root("J", "type J = none | int | bytes | list<J> | dict<str, J>;"), WIDENED,
        ["medium widened root"]),
    "a template for the rows that it stands for": (BY_HAND, DATACLASS, SAME, []),
    "the rows of a template by hand": (DATACLASS, BY_HAND, SAME, []),
    "rows of a template less a hook": (
        DATACLASS, rows(BY_HAND[BY_HAND.index("class K"):BY_HAND.index(" }\nroot")].replace("__eq__", "__hash__").replace("__hash__, __hash__", "__hash__"), "m::K"), NARROWED,
        ["low narrowed m::K new runs"]),
    "an exception by hand": (
        rows("exception E(message: str, code: int);", "m::E"), rows("class E call(message: str, code: int);", "m::E"), SAME, []),
    "lists of lists of others": (root("none | list<list<int>>"), root("none | list<list<str>>"), CHANGED, ["medium changed root[][]"]),
    "lists of lists within alternatives": (
        root("list<none | list<list<int>> | dict<str, int>>"), root("list<none | list<list<int | bytes>> | dict<str, int>>"), WIDENED,
        ["medium widened root[][][]"]),
    "a range in the place of two": (root("int[0..4] | int[5..9]"), root("int[0..9]"), SAME, []),
    "literals in the place of a range": (root("int[1..3]"), root("3 | 1 | 2"), SAME, []),
    "ranges that meet at zero": (root("int[-5..3]"), root("int[-5..-1] | int[0..3]"), SAME, []),
    "ranges that do not meet": (root("int[-5..3]"), root("int[-5..-2] | int[0..3]"), NARROWED, ["low narrowed root"]),
    "words that meet": (root("int[0..18446744073709551616]"), root("int[0..18446744073709551615] | 18446744073709551616"), SAME, []),
    "the largest int of all": (root("int[0..]"), root("int[0..%d]" % (2**128 - 1)), NARROWED, ["low narrowed root"]),
    "no end": (root("int[0..%d]" % (2**128 - 1)), root("int[0..]"), WIDENED, ["low widened root"]),
    "halves without ends": (root("int"), root("int[..-1] | int[0..]"), SAME, []),
    "halves of the least": (root("int[-%d..]" % (2**128 - 1)), root("int[-%d..-1] | int[0..]" % (2**128 - 1)), SAME, []),
    "a full mask": (root("int mask %d" % (2**128 - 1)), root("int[0..%d]" % (2**128 - 1)), SAME, []),
    "a mask beside a range": (root("int[0..3] | 8"), root("int mask 11"), WIDENED, ["low widened root"]),
    "a masked range": (root("int[2..9] mask 7"), root("int[2..7]"), SAME, []),
    "the empty text alone": (root('str[..4] chars "a"'), root('str[1..4] chars "a" | ""'), SAME, []),
    "empty or of other characters": (root('str[0] chars "a" | bytes[0]'), root('str[0] chars "b" | b""'), SAME, []),
    "all but surrogates and NUL": (root("text"), root('str chars "\\x01-\\u{D7FF}\\u{E000}-\\u{10FFFF}"'), SAME, []),
    "a literal of characters": (root('"ab\\u{E9}"'), root('str[3] chars "ab\\u{E9}"'), WIDENED, ["low widened root"]),
    "a key of characters": (root("{ ab: int }"), root('dict<str chars "ab", int>[1]'), WIDENED, ["medium widened root"]),
    "no values at all": (root("tuple<int>[..1]"), root("tuple<int>"), SAME, []),
    "a literal more than a range": (root("int[1..3]"), root("1 | 2 | 3 | 4"), WIDENED, ["low widened root"]),
    "a mask in the place of a range": (root("int[0..7]"), root("int mask 7"), SAME, []),
    "another bit": (root("int mask 5"), root("int mask 7"), WIDENED, ["low widened root"]),
    "a bit less": (root("int mask 7"), root("int mask 5"), NARROWED, ["low narrowed root"]),
    "both truths": (root("bool"), root("true | false"), SAME, []),
    "one truth": (root("bool"), root("true"), NARROWED, ["low narrowed root"]),
    "any str where one stood": (root('"a" | "b"'), root("str"), WIDENED, ["low widened root"]),
    "one str where any stood": (root("str"), root('"a" | "b"'), NARROWED, ["low narrowed root"]),
    "a text is a str": (root("text"), root("str"), WIDENED, ["low widened root"]),
    "characters that are all": (root("str"), root('str chars "\\x00-\\u{10FFFF}"'), SAME, []),
    "other characters": (root('str chars "a-f"'), root('str chars "b-g"'), CHANGED, ["low changed root"]),
    "lengths in two pieces": (root("bytes[..8]"), root("bytes[..3] | bytes[4..8]"), SAME, []),
    "a longer list": (root("list<int>[..5]"), root("list<int>[..6]"), WIDENED, ["low widened root"]),
    "a shorter list of more": (root("list<int>[..5]"), root("list<int | str>[..4]"), CHANGED, ["low narrowed root", "medium widened root[]"]),
    "places that are all alike": (root("list<int, int>"), root("list<int>[2]"), SAME, []),
    "an element that may be left out": (root("tuple<int, str>"), root("tuple<int, str?>"), WIDENED, ["low widened root"]),
    "an element more": (root("tuple<int, str?>"), root("tuple<int, str?, any?>"), WIDENED, ["high widened root"]),
    "a record in the place of a dict": (root("dict<str, int>"), root("{ *: int }"), SAME, []),
    "a field among keys of any name": (root("{ *: int | str }"), root("{ a?: int, *: int | str }"), NARROWED, ["low narrowed root.a"]),
    "a field is no longer told apart": (root("{ a?: int, *: int | str }"), root("{ *: int | str }"), WIDENED, ["medium widened root.a"]),
    "a field of another type among keys of any name": (root("{ *: int }"), root("{ a?: str, *: int }"), CHANGED, ["medium changed root.a"]),
    "a record with a key": (root("dict<str, int>"), root("{ a: int, *: int }"), NARROWED, ["low narrowed root"]),
    "no NaN any more": (root("float"), root("finite"), NARROWED, ["low narrowed root"]),
    "any in the place of data": (root("none | int | list<int>"), root("any"), WIDENED, ["high widened root"]),
    "data in the place of any": (root("any"), root("none | int | list<int>"), NARROWED, ["low narrowed root"]),
    "cyclic": (root("list<any>"), root("list<any> cyclic"), WIDENED, ["medium widened root"]),
    "a key becomes mandatory": (state("{ a: int, b?: str }"), state("{ a: int, b: str }"), NARROWED, ["low narrowed m::K new state.b"]),
    "a key becomes optional": (state("{ a: int, b: str }"), state("{ a: int, b?: str }"), WIDENED, ["medium widened m::K new state.b"]),
    "a key more": (state("{ a: int }"), state("{ a: int, b?: str }"), WIDENED, ["medium widened m::K new state.b"]),
    "a mandatory key more": (state("{ a: int }"), state("{ a: int, b: str }"), CHANGED, ["medium changed m::K new state.b"]),
    "a key less": (state("{ a: int, b?: str }"), state("{ a: int }"), NARROWED, ["low narrowed m::K new state.b"]),
    "keys of any name": (state("{ a: int }"), state("{ a: int, *: str }"), WIDENED, ["medium widened m::K new state.*"]),
    "a wider range within a state": (
        state("{ exit_code: int[0..9] }"), state("{ exit_code: int[0..10] }"), WIDENED, ["low widened m::K new state.exit_code"]),
    "any within a state": (
        state("{ exit_code: int[0..9] }"), state('{ exit_code: any } because "x"'), WIDENED, ["high widened m::K new state.exit_code"]),
    "deep within a state": (
        state("{ a: list<dict<str, tuple<int, str[..3]>>> }"), state("{ a: list<dict<str, tuple<int, str[..4]>>> }"), WIDENED,
        ["low widened m::K new state.a[]{}[1]"]),
    "a state that was not there": (k("new()"), k("new() state? { a: int }"), WIDENED, ["medium widened m::K new state"]),
    "a state that may be left out": (state("{ a: int }"), k("new() state? { a: int }"), WIDENED, ["medium widened m::K new state"]),
    "an argument": (k("call(x: int)"), k("call(x: int, y?: str)"), WIDENED, ["medium widened m::K call args"]),
    "an argument's type": (k("call(x: int[0..3])"), k("call(x: int[0..4])"), WIDENED, ["low widened m::K call args.x"]),
    "an argument has another name": (k("call(x: int)"), k("call(y: int)"), SAME, []),
    "keywords": (k("new(x: int)"), k("new(x: int) kw { a?: int }"), WIDENED, ["medium widened m::K new kw"]),
    "members": (k("call()"), k("call() items int"), WIDENED, ["medium widened m::K call items[]"]),
    "pairs": (k("call() pairs str: int"), k("call() pairs str[..3]: (int | str)"), CHANGED,
              ["low narrowed m::K call pairs{key}", "medium widened m::K call pairs{}"]),
    "another way to make it": (k("new(x: int)"), k("new(x: int) | call(x: int)"), WIDENED, ["high widened m::K call"]),
    "another alternative of a verb": (
        k("call(x: int[0..3])"), k("call(x: int[0..3]) | call(x: str, y: str)"), WIDENED, ["medium widened m::K call"]),
    "alternatives in another order, of one row": (k("call(x: int) | new()"), k("new() | call(x: int)"), SAME, []),
    "two alternatives in one": (k("call(x: int) | call(x: str)"), k("call(x: int | str)"), WIDENED, ["medium widened m::K call"]),
    "a mention": (k("call(x: int)"), k("call(x: int) | ref"), WIDENED, ["medium widened m::K ref"]),
    "a hook": (k("call(x: int)"), k("call(x: int) runs __setstate__"), WIDENED, ["high widened m::K call runs"]),
    "a hook less": (k("call(x: int) runs __setstate__"), k("call(x: int)"), NARROWED, ["low narrowed m::K call runs"]),
    "compared by what it holds": (
        k("new() state { a: int }"), k("new() state { a: int } runs __eq__"), CHANGED, ["high widened m::K new runs", "low narrowed m::K as a key"]),
    "calls": (k("call(x: int) budget calls 5"), k("call(x: int) budget calls 6"), WIDENED, ["low widened m::K budget calls"]),
    "any number of calls": (k("call(x: int)"), k("call(x: int) budget calls 6"), NARROWED, ["low narrowed m::K budget calls"]),
    "a class": (rows("class A call();"), rows("class A call(); class B call();"), WIDENED, ["medium widened m::B"]),
    "a class of anything": (rows("class A call();"), rows('class A call(); class B call(x: any) because "x";'), WIDENED, ["high widened m::B"]),
    "a function": (rows("class A call();"), rows('class A call(); func f() -> m::A because "x";'), WIDENED, ["high widened m::f"]),
    "a dangerous name": (
        root("int"), HEAD + 'module posix { func system(x: int) -> m::A because "x"; }\nroot int;\n', WIDENED, ["high widened posix::system"]),
    "an import": (HEAD + "module m { class A call(); }\nroot any;\n", HEAD + "module m import { class A call(); }\nroot any;\n", WIDENED,
                  ["high widened m::A import"]),
    "a class less": (rows("class A call(); class B call();"), rows("class A call();"), NARROWED, ["low narrowed m::B"]),
    "a class has another name": (rows("class A call();"), rows("class B call();"), CHANGED, ["medium widened m::B", "low narrowed m::A"]),
    "another result": (
        rows('func f() -> m::A because "x";'), rows('func f() -> m::B because "x";'), CHANGED, ["medium changed m::f func result"]),
    "a member of an enum": (
        rows("enum E { A = 1, B = 2 };"), rows("enum E { A = 1, B = 2, C = 3 };"), WIDENED, ["medium widened m::E.C", "low widened m::E call args.value"]),
    "a member has another value": (
        rows('enum E { A = "a" };'), rows('enum E { A = "b" };'), CHANGED, ["low changed m::E call args.value", "low changed m::E.A const value"]),
    "an enum by hand is no enum": (
        rows("enum E { A = 1 };", "m::E"), rows("class E call(value: 1) runs __new__, __hash__; const E.A;", "m::E"), CHANGED,
        ["medium changed m::E.A const result", "low widened m::E.A const value"]),
    "an object of another class": (
        rows("class A call(); class B call();", "m::A"), rows("class A call(); class B call();", "m::B"), CHANGED, ["medium changed root"]),
    "one class of several": (
        rows("class A call(); class B call();", "m::A | m::B"), rows("class A call(); class B call();", "m::B | m::A"), SAME, []),
    "an object with more items": (
        rows("class A call() items int;", "m::A[..3]"), rows("class A call() items int;", "m::A[..4]"), WIDENED, ["low widened root"]),
    "a budget": (root("int", "budget bytes 1MiB;"), root("int", "budget bytes 2MiB;"), WIDENED, ["low widened budget bytes"]),
    "two budgets": (root("int", "budget bytes 1MiB, depth 9;"), root("int", "budget bytes 2MiB, depth 8;"), CHANGED,
                    ["low narrowed budget depth", "low widened budget bytes"]),
    "a budget that is the default": (root("int"), root("int", "budget depth 200;"), SAME, []),
    "persistent ids": (root("int"), root("int", "opcodes core, persid;"), WIDENED, ["high widened opcodes"]),
    "buffers": (root("int"), root("int", "opcodes core, buffer;"), WIDENED, ["medium widened opcodes"]),
    "strings of Python 2": (root("int"), root("int", "opcodes core, python2;"), WIDENED, ["low widened opcodes"]),
    "opcodes by family and one by one": (
        root("int", "opcodes core, python2;"), root("int", "opcodes core, STRING, BINSTRING, SHORT_BINSTRING;"), SAME, []),
    "opcodes less": (root("int"), root("int", "opcodes core except REDUCE;"), NARROWED, ["low narrowed opcodes"]),
    "an opcode of a protocol that is not read": (
        root("int", "protocol 0..4;"), root("int", "protocol 0..4; opcodes core except BYTEARRAY8;"), SAME, []),
    "an opcode that makes objects": (root("int", "opcodes core except REDUCE;"), root("int"), WIDENED, ["high widened opcodes"]),
    "protocols": (root("int", "protocol 2..4;"), root("int", "protocol 2..5;"), WIDENED, ["low widened opcodes", "low widened protocol"]),
    "protocols less": (root("int", "protocol 2..5;"), root("int", "protocol 3..5;"), NARROWED, ["low narrowed protocol"]),
    "an alias": (
        rows("class K call();"), HEAD + "alias old -> m;\nmodule m { class K call(); }\nroot any;\n", WIDENED, ["low widened m::K"]),
    "another alias": (
        HEAD + "alias older -> m;\nmodule m { class K call(); }\nroot any;\n", HEAD + "alias old -> m;\nmodule m { class K call(); }\nroot any;\n", CHANGED,
        ["low narrowed m::K", "low widened m::K"]),
    "an alias of nothing": (rows("class K call();"), HEAD + "alias old -> elsewhere;\nmodule m { class K call(); }\nroot any;\n", SAME, []),
    "a module moves, and an alias leads there": (
        HEAD + "module old { class K call(); }\nroot any;\n", HEAD + "alias old -> m;\nmodule m { class K call(); }\nroot any;\n", CHANGED,
        ["low narrowed old::K", "medium widened m::K"]),
    "a channel": (CHANNELS % "a", CHANNELS % "a", [SAME, SAME], []),
    "a channel has another name": (CHANNELS % "a", CHANNELS % "c", [WIDENED, SAME, NARROWED], ["high widened channel", "low narrowed channel"]),
    "channels in another order": (
        HEAD + "channel a { root int; }\nchannel b { root str; }\n", HEAD + "channel b { root str; }\nchannel a { root int; }\n", [SAME, SAME], []),
    "one channel of two": (
        HEAD + "channel a { root int; }\nchannel b { root str; }\n", HEAD + "channel a { root int; }\nchannel b { root str | none; }\n", [SAME, WIDENED],
        ["medium widened root"]),
    "a child gets more": (
        CHILD % ("", "require", 5, ""), CHILD % (", TZ", "opt_in", 9, 'network because "r"; '), [SAME, WIDENED],
        ["high widened confinement linux", "high widened confinement network", "medium widened environment TZ", "low widened confinement budget wall"]),
    "a child gets less": (
        CHILD % (", TZ", "opt_in", 9, 'network because "r"; '), CHILD % ("", "require", 5, ""), [SAME, NARROWED],
        ["low narrowed confinement linux", "low narrowed confinement network", "low narrowed environment TZ", "low narrowed confinement budget wall"]),
    "a child is as it was": (CHILD % ("", "require", 60, ""), "policy p 1;\nroot any;\nenvironment e { inherit PATH; home workspace; }\n", [SAME, SAME], []),
    "a policy gets a child": (root("any"), root("any") + "environment e { inherit PATH; }\n", [SAME, WIDENED],
        ["medium widened environment", "medium widened environment PATH"]),
    "channels where there were none": (root("int"), HEAD + "channel a { root int; }\n", [WIDENED, NARROWED], ["high widened channel", "low narrowed channel"]),
}


def heads(out):
    """Verdicts of the summary lines, in order; and the findings, sorted, less what was and is."""
    verdicts = [line.split(": ", 1)[1].split(",")[0] for line in out.splitlines() if not line.startswith(" ")]
    return verdicts, sorted(line.strip().split(": was ")[0] for line in out.splitlines() if line.startswith(" "))


def pairs(policyc, folder):
    tally.check(set(LINES) <= set(PAIRS), "lines of no pair: %s" % sorted(set(LINES) - set(PAIRS)))
    for name, (old, new, verdict, findings) in PAIRS.items():
        paths = [os.path.join(folder, which + ".policy") for which in ("old", "new")]
        write(paths[0], old)
        write(paths[1], new)
        status, out, err = policyc.run("diff", *paths)
        verdicts = verdict if isinstance(verdict, list) else [verdict]
        wanted = int(any(WIDENED in v for v in verdicts))
        got, found = heads(out)
        tally.check(status == wanted and not err and got == verdicts and found == sorted(findings),
                    "%s: exit %d\n%s%s" % (name, status, out, err))
        lines = LINES.get(name)
        said = [line[2:] for line in out.splitlines() if line.startswith("  ")]
        tally.check(lines in (None, said), "%s: says\n%s" % (name, out))
        grades = [line.split()[0] for line in out.splitlines() if line.startswith(" ")]
        if len(got) == 1:
            tally.check(grades == sorted(grades, key=("high", "medium", "low").index), "%s: not by grade\n%s" % (name, out))


def grants_move(policyc, folder):
    """The same grants in files that lie elsewhere, by other ways of inclusion."""
    one, two, other = (os.path.join(folder, "moved", name) for name in ("one.policy", "two.policy", "more/x.policy"))
    write(one, 'policy p 1;\ninclude "parts/a.policy";\nmodule m { class K call(x: int); }\nuse a;\nroot m::K | n::L;\n')
    write(os.path.join(folder, "moved/parts/a.policy"), "fragment a;\nmodule n { class L call(); }\n")
    write(two, 'policy p 1;\ninclude "b.policy";\nuse everything;\nroot n::L | m::K;\n')
    write(os.path.join(folder, "moved/more/b.policy"), 'fragment everything;\nmodule n { class L call(); }\nmodule m { class K call(x: int); }\n')
    status, out, err = policyc.run("diff", "-I", os.path.dirname(other), one, two)
    tally.check((status, out, err) == (0, "policy p: same\n", ""), "moved grants: %d %s%s" % (status, out, err))


def texts(policyc, folder):
    """Whole lines: what was and what is, what is odd in names, and what is long."""
    old, new = (os.path.join(folder, name) for name in ("old.policy", "new.policy"))
    for before, after, line in (
            (state("{ a: int[0..9] }"), state("{ a: int[-1..9] }"),
             "  low widened m::K new state.a: was int[0..9], is int[-1..9]. Further values of the same kind are taken.\n"),
            (state('{ "a\\nb": int }'), state('{ "a\\nb": str }'), '  medium changed m::K new state."a\\nb": was int, is str. Values of another kind are taken. '
             'Some values that were taken are refused.\n'),
            (root("int", "budget bytes 1MiB;"), root("int", "budget bytes 3_000;"), "  low narrowed budget bytes: was 1MiB, is 3_000. Streams may cost less.\n"),
            (root("int"), root("int", "protocol 2..4;"), "  low narrowed protocol: was 0..5, is 2..4. Streams of some protocols are not read any more.\n"),
            (root("J", JSON % (("J",) * 3)), root("J | any", JSON % (("J",) * 3)), "  high widened root: was none | int | list<J> | dict<str, J>, is any. Any value is taken where a type stood.\n")):
        write(old, before)
        write(new, after)
        _, out, _ = policyc.run("diff", old, new)
        tally.check(line in out, "%r is not in\n%s" % (line, out))
    deep = lambda end: root("A0", "".join("type A%d = { a: A%d };" % (i, i + 1) for i in range(400)) + "type A400 = { a: %s };" % end)
    write(old, deep("int"))
    write(new, deep("str"))
    status, out, _ = policyc.run("diff", old, new)
    tally.check(status == 1 and "root ... .a.a" in out and len(out) < 1000, "a deep place: %d %s" % (status, out[:600]))
    ring = lambda n: root("A0", "".join("type A%d = none | list<A%d>;" % (i, (i + 1) % n) for i in range(n)))
    write(old, ring(700))
    write(new, ring(701))
    status, out, _ = policyc.run("diff", old, new)
    tally.check(status == 1 and out.count("\n") == 2 and out.endswith("there is too much to compare.\n"), "too much: %d %s" % (status, out[:600]))
    write(new, ring(700))
    status, out, _ = policyc.run("diff", old, new)
    tally.check((status, out) == (0, "policy p: same\n"), "a ring: %d %s" % (status, out[:600]))
    write(old, root("A0", "type A0 = none | list<A0>;"))
    write(new, ring(31))
    status, out, _ = policyc.run("diff", old, new)
    tally.check((status, out) == (0, "policy p: same\n"), "rings of two sizes: %d %s" % (status, out[:600]))
    many = lambda n: root(" | ".join('"%05d"' % i for i in range(n)))
    write(old, many(3000))
    write(new, many(3001))
    status, out, _ = policyc.run("diff", old, new)
    tally.check(status == 1 and out.endswith('..., is "03000". Further values of the same kind are taken.\n'), "literals: %s" % out[:600])


def statuses(policyc, folder):
    good, bad, channels = (os.path.join(folder, name) for name in ("good.policy", "bad.policy", "channels.policy"))
    write(good, root("int"))
    write(bad, root("nothing_such"))
    write(channels, HEAD + "channel a { root int; }\nchannel b { root str; }\n")
    missing = os.path.join(folder, "missing.policy")
    for arguments, wanted in (
            ((good, good), 0), ((good, bad), 2), ((bad, good), 2), ((bad, bad), 2), ((good, missing), 3), ((missing, good), 3), ((bad, missing), 3),
            ((good,), 2), ((), 2), ((good, good, good), 2), ((good, ""), 2), (("--spellings", good, good), 2), (("--help",), 0),
            ((channels, channels + ":a"), 0), ((channels + ":a", channels), 0), ((channels + ":a", channels + ":b"), 1), ((good, channels + ":a"), 0),
            ((channels + ":b", good), 1), ((channels + ":c", good), 2), ((good, channels + ":c"), 2), (("--diagnostics", "xml", good, good), 2)):
        status, out, err = policyc.run("diff", *arguments)
        tally.check(status == wanted and bool(err) == (wanted > 1) and bool(out) == (wanted < 2), "%s: %d\n%s%s" % (arguments, status, out, err))
    status, out, err = policyc.run("diff", "--diagnostics", "json", good, bad)
    tally.check(status == 2 and err.startswith("{") and not out, "json: %d %s%s" % (status, out, err))
    with open("/dev/full", "w") as full:
        status = os.spawnv(os.P_WAIT, "/bin/sh", ["sh", "-c", '"$@" >/dev/full 2>/dev/null', "sh", policyc.program, "diff", good, good])
        tally.check(status == 3 and full, "a full disk: %d" % status)


def listed_policies(policyc, folder):
    """A policy is the same as itself."""
    for path in ("policies/values.policy", "policies/numpy.policy", "policies/exceptions.policy", "tests/policy/ok/channels.policy"):
        status, out, err = policyc.run("diff", "--policy-dir", "policies", path, path)
        verdicts, found = heads(out)
        tally.check(status == 0 and not err and verdicts and set(verdicts) == {SAME} and not found, "%s: %d %s%s" % (path, status, out, err))


def decide(policyc, policy, files):
    _, out, err = policyc.run("try", policy, "--tsv", "--print", "none", *files)
    verdicts = [line.split("\t")[1] for line in out.splitlines()]
    tally.check(len(verdicts) == len(files), "%s: not all decided: %s" % (policy, err))
    return [verdict == "accept" for verdict in verdicts]


def random_pair(policyc, folder, seed, seen):
    maker = Maker(seed)
    old = maker.policy()
    new = maker.unchanged(old) if seed % 5 == 0 else maker.version(old)
    paths = [os.path.join(folder, name + ".policy") for name in ("old", "new")]
    write(paths[0], policy_text(old, "T"))
    write(paths[1], policy_text(new, "Other"))
    status, out, err = policyc.run("diff", *paths)
    if status == 2:  # two equal alternatives and the like
        seen["refused"] += 1
        return
    (verdict,), _ = heads(out)
    files = []
    for i in range(40):
        of = (old, new)[i % 2]
        value = maker.value(of, of["root"])
        for _ in range(maker.random.choice((0, 0, 1, 1, 2))):
            value = maker.near(value)
        files.append(os.path.join(folder, "%d.pkl" % i))
        write(files[-1], assemble(value, maker.random.choice((2, 4))))
    before, after = (decide(policyc, path, files) for path in paths)
    wider = any(new and not old for old, new in zip(before, after))
    narrower = any(old and not new for old, new in zip(before, after))
    what = "seed %d: %s, but some are %s\n" % (seed, verdict, "accepted" if wider else "refused")
    tally.check((not wider or WIDENED in verdict) and (not narrower or NARROWED in verdict), what + read(paths[0]).decode() + read(paths[1]).decode())
    tally.check(seed % 5 or verdict == SAME, "seed %d: in another order %s" % (seed, verdict))
    tally.check(status == int(WIDENED in verdict), "seed %d: exit %d" % (seed, status))
    seen["widened"] += WIDENED in verdict
    seen["shown"] += wider
    seen["same"] += verdict == SAME
    seen["accepted"] += sum(before) + sum(after)
    seen["decided"] += 2 * len(files)


def random_pairs(policyc, folder, count=120):
    seen = dict.fromkeys(("refused", "widened", "shown", "same", "accepted", "decided"), 0)
    for seed in range(count):
        random_pair(policyc, folder, seed, seen)
    # What is sampled must be able to tell: much is accepted, much is refused, and most of what is widened shows.
    good = seen["refused"] < count / 4 and seen["same"] > count / 10 and 2 * seen["shown"] > seen["widened"] > count / 10
    tally.check(good and seen["decided"] < 5 * seen["accepted"] < 4 * seen["decided"], "random pairs: %s" % seen)


def main():
    policyc = Policyc(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        tally.run((pairs, grants_move, texts, statuses, listed_policies, random_pairs), policyc, folder)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
