#!/usr/bin/python3
"""policyc learn: what it writes admits exactly what it was learned from, over the corpus, random data and odd streams; merging into
files that people write in; what is refused.

usage: test_learn.py BUILD     (from the top folder; the corpus stands unpacked in BUILD/corpus)
"""
import os
import pickle
import random
import re
import shutil
import stat
import sys
import tempfile
import types

from assemble import call, new, raw, ref
from learning import Learn
from policyc import check, read, tally, write
from run_corpus import Corpus, run

BUFFERS = {"picklebuffer_oob_ro": b"abc", "picklebuffer_oob_rw": b"abc", "np_array_c_oob": bytes(48), "np_array_f_oob": bytes(48)}

# Of the good corpus, what is not learned: names that reach the system, or code.
DANGEROUS = {"attrgetter", "class_none", "cloudpickle_lambda", "dill_lambda", "exc_futures_process", "exc_mp_pool", "itemgetter",
             "method_bound", "method_unbound", "methodcaller_kw", "partial", "typing_optional", "union_type"}
# Refused by the row of a shipped fragment, whose limits hold: attributes of exceptions, a state of OrderedDict, metadata of dtypes.
BEYOND_SHIPPED = {"exc_with_attr", "torch_save_state_dict", "np_dtype_metadata"}
# Malformed: opcodes newer than their protocol.
MALFORMED = {"obj_reduce6"}
# Admitted where patterns were seen, by the row of std/regex.policy and as much by one that says what was seen: `(a+)+$` is a str of
# few characters, like `a+b`.  What a pattern costs to match is in no type; the fragment says so in its first lines.
LIKE_WHAT_WAS_SEEN = {"native_regex": "std/regex.policy"}


# ---- the corpus


def learn_family(l, name, files, hostile, *options):
    """Learns from the files: (path, name of its entry).  What is refused is what is listed, the rest is admitted again."""
    paths = [path for path, _ in files]
    policy = l.path("family.policy")
    if os.path.exists(policy):
        os.remove(policy)
    with open(l.path("learn.list"), "w", encoding="utf-8") as names:
        names.write("".join(path + "\n" for path in paths))
    status, out, err = l.learn("--into", policy, "--files-from", names.name, *options)
    refused = set(re.findall(r"^(\S+): not learned: ", err, re.M))
    wanted = {path for path, entry in files if entry in DANGEROUS | BEYOND_SHIPPED}
    odd = {path for path, entry in files if entry in MALFORMED}
    check(name + ": refused", wanted <= refused <= wanted | odd, "%s\n%s" % (refused ^ wanted, err))
    check(name + ": status", status == (1 if refused else 0) and out == "", "%d %s" % (status, out))
    learned = set(paths) - refused
    check(name + ": written", os.path.exists(policy) == bool(learned))
    if not learned:
        return
    check(name + ": admits what it was learned from", l.admitted(policy, paths, *options) == learned)
    l.canonical(name, policy)
    accepted = {os.path.basename(path).partition(".")[0] for path in l.admitted(policy, hostile)}
    text = read(policy).decode()
    high = re.search(r"^protocol .*[45];", text, re.M)  # as those streams are
    alike = {stream for stream, fragment in LIKE_WHAT_WAS_SEEN.items() if high and 'include "%s"' % fragment in text}
    check(name + ": hostile streams", accepted == alike, sorted(accepted))
    check(name + ": nothing is open", not re.search(r"^[^#]*(\bany\b|fail_open|\*:)", text, re.M), text)
    status, _, _ = l.learn("--into", policy, "--files-from", names.name, *options)
    check(name + ": again", read(policy).decode() == text and not os.path.exists(policy + ".old"))


def corpus(l):
    c = Corpus(l.build + "/corpus")
    families = {}
    hostile = [path for path, _ in c.hostile()]
    for path, entry, _, _ in c.good():
        if entry["name"] not in BUFFERS:
            families.setdefault(entry["family"], []).append((path, entry["name"]))
    for family, files in sorted(families.items()):
        learn_family(l, family, files, hostile)
    learn_family(l, "all", [file for files in families.values() for file in files], hostile)
    for name, data in BUFFERS.items():
        write(l.path("buffer"), data)
        files = [(path, name) for path, entry, _, _ in c.good() if entry["name"] == name]
        learn_family(l, name, files, hostile, "--buffer", l.path("buffer"))


def merged_corpus(l):
    """One family after the other into one file: what was admitted stays admitted."""
    c = Corpus(l.build + "/corpus")
    policy, so_far = l.path("merged.policy"), set()
    families = {}
    for path, entry, _, _ in c.good():
        # Arrays of objects take the place of those without, and that stays.
        family = "objects" if entry["name"] == "np_array_object" else entry["family"]
        if entry["name"] not in BUFFERS:
            families.setdefault(family, set()).add(path)
    for family in ("plain", "datetime", "user", "objects", "enum", "numpy", "torch", "container", "py2"):
        files = families[family]
        with open(l.path("learn.list"), "w", encoding="utf-8") as names:
            names.write("".join(sorted(path + "\n" for path in files)))
        _, _, err = l.learn("--into", policy, "--files-from", names.name)
        so_far |= files - set(re.findall(r"^(\S+): not learned: ", err, re.M))
        check("merged " + family, l.admitted(policy, sorted(so_far)) == so_far, err)
        l.canonical("merged " + family, policy)
    check("merged: revision", b"\npolicy learned.merged 9;\n" in read(policy), read(policy).decode()[:400])
    kept = sorted(name for name in os.listdir(l.folder) if name.startswith("merged.policy"))
    check("merged: kept", kept == ["merged.policy", "merged.policy.old"] + ["merged.policy.old_%d" % i for i in range(1, 8)], kept)


def hostile_alone(l):
    """Nothing breaks on a hostile stream, and where it is learned from it is admitted then."""
    for path, entry in Corpus(l.build + "/corpus").hostile():
        status, out, err = l.learn(path)
        check("hostile " + entry["name"], status in (0, 1) and (status == 1) == (out == ""), "%d %s %s" % (status, out, err))
        if out:
            write(l.path("one.policy"), out)
            check("hostile %s: admitted" % entry["name"], l.admitted(l.path("one.policy"), [path]) == {path}, out)


def refused_pickles_grant_nothing(l):
    good, bad = l.put("good", {"a": 1}), l.put_stream("bad", b"(cos\nsystem\n(S'true'\ntRccollections\nOrderedDict\n(tRcapp\nOwn\n(tRt.")
    status, out, err = l.learn(good, bad)
    check("beside a refused one", status == 1 and "1 of 2 pickles learned" in err and "os::system" in out, err)
    check("nothing of it", "collections" not in out and "app" not in out and out.count("include") == 1, out)


# ---- what is written


REPORT = """\
# <learned>
# Learned DATE from 2 pickles.
policy learned.data 1;

include "std/dangerous.policy";
include "std/datetime.policy";  # datetime::date

opcodes core except GLOBAL, NEWOBJ_EX;
protocol 4;
budget bytes 4KiB, depth 20, expanded 1_000;

module app {
    # 1 seen
    const Mode.FAST;
    # 2 seen
    class Report
        new()
            state {
                code: int[-255..255],
                day?: datetime::date,
                kind?: ref app::Report,
                mode?: app::Mode.FAST,
                out: none | str[..64],
                tags: list<str[..16]>[..100]
            }
      | ref;
}

use std.datetime;
root app::Report;
# </learned DIGEST>
"""


def written(l):
    one = new("app::Report", state=[{"code": -100, "out": "x" * 40, "tags": ["a"] * 11, "day": call("datetime::date", b"\x07\xe8\x02\x1d")}])
    two = new("app::Report", state=[{"code": 7, "out": None, "tags": [], "mode": ref("app::Mode.FAST"), "kind": ref("app::Report")}])
    status, out, err = l.learn(l.put("one.pkl", one), l.put("two.pkl", two))
    got = re.sub(r"</learned [0-9a-f]{16}>", "</learned DIGEST>", re.sub(r"\d{4}-\d\d-\d\d", "DATE", out))
    check("written", status == 0 and got == REPORT, got + err)


SHAPES = {
    # name: values, what the root or row must say
    "ints": ([0, 9], "root int[0..9];"),
    "signs": ([-1, 3], "root int[-9..9];"),
    "negative": ([-300], "root int[-999..999];"),
    "bytes of a word": ([256, 65535], "root int[0..65_535];"),
    "words": ([2**31 - 1, -2**31], "root int[-2_147_483_648..2_147_483_647];"),
    "double words": ([2**64 - 1], "root int[0..18_446_744_073_709_551_615];"),
    "128 bits": ([2**128 - 1], "root int[0..340_282_366_920_938_463_463_374_607_431_768_211_455];"),
    "beyond": ([2**128, -1], "root int;"),
    "far below": ([-2**128], "root int;"),
    "bools are no ints": ([True, 1], "root bool | int[0..9];"),
    "scalars": ([None, 1.5, "a", b"a"], "root none | float | str[..16] | bytes[..16];"),
    "characters": (["ä" * 16], "root str[..16];"),
    "long text": (["x" * 70000], "root str[..1_000_000];"),
    "long bytes": ([b"x" * 5000], "root bytes[..64KiB];"),
    "nothing in it": ([[], {}, ()], "root tuple<> | list<none>[0] | {};"),
    "tuples": ([(1, "a"), (2,)], "root tuple<int[0..9], str[..16]?>;"),
    "long tuple": ([tuple(range(17))], "root tuple<int[0..99]...>;"),
    "map": ([{"alice": 1, "bob": 2}], "root dict<str[..16], int[0..9]>[..10];"),
    "record": ([{"name": "x", "age": 2}], "root { age: int[0..9], name: str[..16] };"),
    "records": ([{"a": 1, "b": 2}, {"a": 3}], "root { a: int[0..9], b?: int[0..9] };"),
    "no words": ([{"a b": 1, "c": "d"}], "root dict<str[..16], int[0..9] | str[..16]>[..10];"),
    "keys": ([{1: "a", (2, 3): "b"}], "root dict<int[0..9] | tuple<int[0..9], int[0..9]>, str[..16]>[..10];"),
    "many fields": ([{"k%d" % i: i if i % 2 else str(i) for i in range(70)}], "root dict<str[..16], int[0..99] | str[..16]>[..100];"),
    "sets": ([{1, 2}], "root set<int[0..9]>[..10];"),
    "strange keys": ([new("app::C", state=[{"a.b": 1, "because": 2, "\u00e4": 3}])],
                     r'class C new() state { "a.b": int[0..9], "because": int[0..9], "\u{E4}": int[0..9] };'),
    "strange names": ([new("odd-module::C.<locals>.D")], 'class "C.<locals>.D" new();'),
    "function": ([call("app::make", 1, "a")], 'func make(a: int[0..9], b: str[..16]) -> builtins::object because "TODO";'),
    "function in it": ([[call("app::make"), call("app::made")]], "root list<builtins::object>[..10];"),
    "class": ([call("app::Make", 1)], "class Make call(a: int[0..9]);"),
    "named too": ([(call("app::make"), ref("app::make"))], "class make call() | ref;"),
    "consts": ([[ref("app::RED"), ref("app::Mode.fast"), ref("app::Mode.SLOW")]], "const Mode.SLOW;"),
    "keywords": ([new("app::C", kw={"a": 1}), new("app::C", kw={"b": 2})], "class C new() kw { a?: int[0..9], b?: int[0..9] };"),
    "steps": ([call("app::C", items=[1], pairs=[("a", b"")])], "class C call() items int[0..9] pairs str[..16]: bytes[..16];"),
    "some have a state": ([new("app::C"), new("app::C", state=[{"a": 1}])], "class C new() state? { a: int[0..9] };"),
    "slots": ([new("app::C", state=[(None, {"a": 1})])], "class C new() state tuple<none, { a: int[0..9] }>;"),
    "two forms": ([new("app::C"), call("app::C", 1)], "class C call(a: int[0..9]) | new();"),
    "objects in objects": ([new("app::N", state=[{"next": new("app::N", state=[{"next": None}])}])], "class N new() state { next: none | app::N };"),
    "types as values": ([ref("builtins::list")], "class list ref;"),
    "members by value": ([[call("app::Mode", 6), call("app::Mode", 0), ref("app::Mode.FAST")]], "class Mode call(a: int mask 6);"),
    "members by large values": ([[call("app::Mode", 2**127), ref("app::Mode.FAST")]],
                                "class Mode call(a: int mask 170_141_183_460_469_231_731_687_303_715_884_105_728);"),
    "values below 0": ([[call("app::Mode", 6), call("app::Mode", -1), ref("app::Mode.FAST")]], "class Mode call(a: int[-9..9]);"),
    "values beyond": ([[call("app::Mode", 2**128), ref("app::Mode.FAST")]], "class Mode call(a: int[0..]);"),
    "no members": ([[call("app::Mode", 6), ref("app::Mode.Inner"), ref("app::Modern.FAST")]], "class Mode call(a: int[0..9]);"),
    "more than a value": ([[call("app::Mode", 6, 1), ref("app::Mode.FAST")]], "class Mode call(a: int[0..9], b: int[0..9]);"),
}


def shapes(l):
    for name, (values, wanted) in SHAPES.items():
        paths = [l.put("shape%d.pkl" % i, value) for i, value in enumerate(values)]
        status, out, err = l.learn(*paths)
        flat = re.sub(r"\s+", " ", out)
        check("shape " + name, status == 0 and wanted in flat, "wanted %s\n%s%s" % (wanted, out, err))
        write(l.path("shape.policy"), out)
        check("shape %s: admitted" % name, l.admitted(l.path("shape.policy"), paths) == set(paths))


def deep(l):
    """Depth and sharing cost no more than they should, and are told by a type that holds itself."""
    status, out, err = l.learn(l.put_stream("deep.pkl", b"\x80\x04" + b"]" * 5000 + b"a" * 4999 + b"."))
    check("deep", status == 0 and "type Nested = list<Nested>[..10];" in out and "depth 10_000" in out, out + err)
    # 2^24 values when written out.
    pairs = b"\x80\x04]\x94" + b"".join(b"h" + bytes([i]) + b"\x86\x94" for i in range(24)) + b"."
    status, out, err = l.learn(l.put_stream("shared.pkl", pairs))
    check("shared", status == 0 and "expanded 200_000_000" in out, out + err)
    wide = {"k%d" % i: {"k%d" % k: {"k%d" % n: [n] for n in range(20)} for k in range(20)} for i in range(20)}
    status, out, err = l.learn(l.put("wide.pkl", wide))
    check("wide", status == 0 and len(out) < 2000, out[:2000] + err)
    status, out, err = l.learn(l.put_stream("knot.pkl", b"\x80\x04]\x94h\x00a."))
    check("cyclic", status == 0 and out.count(" cyclic;\n") == 1, out + err)


# ---- random data


def random_value(r, depth=0):
    kinds = ["none", "bool", "int", "int", "float", "str", "str", "bytes", "ref", "new"]
    if depth < 5:
        kinds += ["list", "tuple", "dict", "record", "set", "new", "call"]
    kind = r.choice(kinds)
    some = range(r.choice([0, 1, 2, 3, 12]))
    if kind == "none":
        return None
    if kind == "bool":
        return r.random() < 0.5
    if kind == "int":
        return r.choice([1, -1]) * r.choice([0, 9, 10, 255, 256, 65535, 2**31, 2**63 - 1, 2**63, 2**64, 2**127, 2**128, r.getrandbits(40)])
    if kind == "float":
        return r.random()
    if kind == "str":
        return r.choice("aé☃") * r.choice([0, 1, 16, 17, 65, 300])
    if kind == "bytes":
        return b"x" * r.choice([0, 1, 16, 17, 65, 300])
    if kind == "ref":
        return ref(r.choice(["app::A", "app::B", "app::RED", "app::Mode.FAST", "builtins::dict"]))
    if kind == "set":
        return {r.randrange(100) for _ in some}
    if kind == "dict":
        return {r.choice([1, 300, "a", "b c", b"x", (1, "a")]): random_value(r, depth + 1) for _ in some}
    if kind == "record":
        return {key: random_value(r, depth + 1) for key in ("a", "b", "c")[:r.randrange(4)]}
    if kind == "new":
        state = {key: random_value(r, depth + 1) for key in ("x", "y", "z")[:r.randrange(4)]} if depth < 5 else None
        return new(r.choice(["app::A", "app::B"]), *([1] * r.randrange(2)), state=r.choice([None, [state]]))
    if kind == "call" and r.random() < 0.3:
        return call("app::Mode", r.choice([0, 1, 6, 2**70, r.choice([-1, 2**128])]))
    if kind == "call":
        return call(r.choice(["app::A", "app::make", "collections::OrderedDict"]), pairs=[("k", 1)] if r.random() < 0.3 else None)
    values = [random_value(r, depth + 1) for _ in some]
    return values if kind == "list" else tuple(values)


def random_merges(l):
    """What was learned of some, and merged with what was learned of others, admits all; in whatever order; and again changes nothing."""
    for seed in range(40):
        r = random.Random(seed)
        paths = []
        for i in range(r.choice([2, 6, 12])):
            protocol = r.choice([2, 3, 4, 5]) if seed % 3 else 4
            try:
                paths.append(l.put("random%d.pkl" % i, random_value(r), protocol))
            except UnicodeEncodeError:
                continue
        policy = l.path("random%d.policy" % seed)
        at = r.randrange(1, len(paths))
        status, _, err = l.learn("--into", policy, *paths[:at])
        refused = set(re.findall(r"^(\S+): not learned: ", err, re.M))
        second, _, err2 = l.learn("--into", policy, *paths[at:])
        refused |= set(re.findall(r"^(\S+): not learned: ", err2, re.M))
        check("random %d: status" % seed, status <= 1 and second <= 1, err + err2)
        # A shipped row, and an object that is made in a way no row can say, may stand in the way.
        check("random %d: refused" % seed, len(refused) <= len(paths) // 2, err + err2)
        wanted = set(paths) - refused
        got = l.admitted(policy, paths) if os.path.exists(policy) else set()
        check("random %d: admitted" % seed, wanted <= got, "%s\n%s" % (wanted - got, err + err2))
        if os.path.exists(policy):
            before = read(policy)
            l.learn("--into", policy, *paths)
            check("random %d: again" % seed, read(policy) == before)
            l.canonical("random %d" % seed, policy)


# ---- merging with people's text


PEOPLE = """\
# ours; with  odd   layout
policy people 3;

include "std/datetime.policy";
module app { class R new() state { code: int[0..9] }; }      # by hand
use std.datetime;
root app::R | list<app::S> | app::S;
module app.more { class S ref; }
"""


def people(l):
    text = PEOPLE.replace("root app::R | list<app::S> | app::S;\n", "").replace("module app.more { class S ref; }\n", "")
    policy = l.path("people.policy")
    write(policy, text)
    os.chmod(policy, 0o640)
    new_class = l.put("s.pkl", [new("app::S", state=[{"a": 1}])])
    known = l.put("r.pkl", new("app::R", state=[{"code": 3}]), 0)
    status, _, err = l.learn("--into", policy, new_class, known)
    after = read(policy).decode()
    check("people: added", status == 0 and after.startswith(text + "\n# <learned>\n"), after + err)
    check("people: no setting", not re.search(r"^(protocol|opcodes|budget|root|policy)", after[len(text):], re.M), after)
    check("people: admitted", l.admitted(policy, [new_class, known]) == {new_class, known})
    check("people: mode", stat.S_IMODE(os.stat(policy).st_mode) == 0o640)
    check("people: kept", read(policy + ".old").decode() == text and stat.S_IMODE(os.stat(policy + ".old").st_mode) == 0o640)

    wider = l.put("wider.pkl", new("app::R", state=[{"code": 300, "more": new("app::T")}]))
    status, _, err = l.learn("--into", policy, wider)
    after = read(policy).decode()
    check("people: their row stands", status == 1 and after.startswith(text) and "people.policy:5" in err, after + err)
    check("people: proposed", "#   | module app { class R new() state { code: int[0..999], more?: app::T }; }" in after
          or "#   | module app { class R new() state { code: int[0..999], more: app::T }; }" in after, after)
    check("people: nothing for what is not admitted", "class T" not in after, after)
    check("people: still", l.admitted(policy, [new_class, known, wider]) == {new_class, known})
    l.learn("--into", policy, wider)
    check("people: proposed once", read(policy).decode() == after and not os.path.exists(policy + ".old_2"))

    # Some block of ours that people wrote in is theirs.
    edited = after.replace("# 1 seen", "# 1 seen, and that is fine")
    write(policy, edited)
    status, _, err = l.learn("--into", policy, l.put("t.pkl", [new("app::T")]))
    after = read(policy).decode()
    check("people: an edited block is theirs", status == 0 and after.startswith(edited) and after.count("# <learned>") == 2, after + err)

    # Behind a block, too.
    write(policy, after + "\nmodule app { class U new(); }\n")
    status, _, err = l.learn("--into", policy, l.put("t2.pkl", [new("app::T", 1)]))
    check("people: text behind", status == 0 and read(policy).decode().endswith(">\n\nmodule app { class U new(); }\n"), read(policy).decode() + err)


def include_lines(text):
    return re.findall(r"^include .*", text, re.M)


def fragments(l):
    """The comment behind an include says what was met, and stays; what a fragment grants is not written again."""
    policy = l.path("fragments.policy")
    good = l.build + "/corpus/good/"
    day, span = l.put("day.pkl", call("datetime::date", b"\x07\xe8\x02\x1d")), l.put("span.pkl", call("datetime::timedelta", 1, 2, 3))
    array, dtype = good + "np_array_c.p4.pkl", good + "np_dtype_f8.p4.pkl"
    steps = (([day], '  # datetime::date'), ([span, day], '  # datetime::date, datetime::timedelta'), ([array], '  # datetime::date, datetime::timedelta'))
    for paths, comment in steps:
        status, _, err = l.learn("--into", policy, *paths)
        text = read(policy).decode()
        check("fragments: comment %s" % comment, status == 0 and 'include "std/datetime.policy";' + comment in include_lines(text), text + err)
        l.canonical("fragments", policy)
    check("fragments: what they grant", "class ndarray" not in text and "use numpy.arrays, numpy.dtypes, std.datetime;" in text, text)
    times = [call("datetime::time", bytes(6)), call("datetime::datetime", b"\x07\xe8\x02\x1d" + bytes(6)), call("datetime::timezone", call("datetime::timedelta", 0, 0, 0))]
    l.learn("--into", policy, l.put("times.pkl", times))
    line = next(line for line in include_lines(read(policy).decode()) if "datetime" in line)
    check("fragments: many", re.search(r"# datetime::date, datetime::timedelta, datetime::\w+ and more$", line), line)
    names, before = sorted(os.listdir(l.folder)), read(policy)
    status, _, err = l.learn("--into", policy, day, span, array, l.path("times.pkl"))
    check("fragments: again", status == 0 and read(policy) == before and sorted(os.listdir(l.folder)) == names, err)

    # What people include is theirs, with its comment, and is not said again; nor what it grants.
    text = ('policy ours 4;\ninclude "numpy/arrays.policy";   # arrays, and   no objects\n'
            'include "numpy/dtypes.policy"; include "std/datetime.policy"; # days\nuse numpy.arrays, numpy.dtypes, std.datetime;\nroot any;\n')
    ours = l.path("ours.policy")
    write(ours, text)
    status, _, err = l.learn("--into", ours, array, dtype, day)
    check("fragments: nothing new", status == 0 and read(ours).decode() == text and not os.path.exists(ours + ".old"), read(ours).decode() + err)
    status, _, err = l.learn("--into", ours, array, l.put("with.pkl", [call("datetime::date", b"\x07\xe8\x02\x1d"), new("app::C")]))
    after = read(ours).decode()
    check("fragments: people's", status == 0 and after.startswith(text + "\n# <learned>\n") and "include" not in after[len(text):]
          and "ndarray" not in after[len(text):], after + err)


def roots(l):
    policy = l.path("root.policy")
    write(policy, "policy rooted 1;\nroot list<int>;")
    status, _, err = l.learn("--into", policy, l.put("text.pkl", "a"))
    text = read(policy).decode()
    check("root: stands", status == 1 and "\n#   | root str[..16];\n" in text and text.count("\nroot") == 1, text + err)
    write(policy, "policy rooted 1;\nopcodes core;\nroot any;\n")
    status, _, err = l.learn("--into", policy, l.put("persid.pkl", raw(b"K\x01Q")))
    check("opcodes: stand", status == 1 and "opcodes core, persid" not in read(policy).decode() and "R203" in err, err)
    write(policy, "policy rooted 1;\nroot any | persid<int>;\nopcodes core, persid;\nbudget bytes 1KiB;\n")
    status, _, err = l.learn("--into", policy, l.put("long.pkl", "a" * 5000))
    check("budget: stands", status == 1 and "R301" in err and "4KiB" not in read(policy).decode(), err)


def channels(l):
    policy = l.path("channels.policy")
    write(policy, 'policy two 1;\ninclude "std/datetime.policy";\nchannel one { use two; root list<app::C> | any; }\n'
                  "channel other { use std.datetime; root int | datetime::date; }\nmodule app { class C new(); }\n")
    status, _, err = l.learn("--into", policy + ":one", l.put("d.pkl", [new("app::D")]))
    check("channel", status == 0 and l.admitted(policy + ":one", [l.path("d.pkl")]), read(policy).decode() + err)
    status, _, err = l.learn("--into", policy + ":one", l.put("date.pkl", call("datetime::date", b"\x07\xe8\x02\x1d")))
    check("channel: use is people's", status == 1 and "#   | use std.datetime;" in read(policy).decode(), read(policy).decode() + err)
    status, _, err = l.learn("--into", policy, l.path("d.pkl"))
    check("channel: which", status == 2 and "P0008" in err, err)
    status, _, err = l.learn("--into", policy + ":none", l.path("d.pkl"))
    check("channel: none such", status == 2 and "P0008" in err, err)
    status, _, err = l.learn("--into", l.path("new.policy:one"), l.path("d.pkl"))
    check("channel: none yet", status == 2 and not os.path.exists(l.path("new.policy")), err)


def base(l):
    values = l.put("values.pkl", [1, call("datetime::date", b"\x07\xe8\x02\x1d")])
    other = l.put("other.pkl", new("app::C"))
    status, out, err = l.learn("-p", "policies/values.policy", values)
    check("base: admits all", status == 0 and out == "" and "1 admitted already" in err, out + err)
    status, out, err = l.learn("-p", "policies/values.policy", values, other)
    check("base: what it lacks", status == 0 and "class C new();" in out and "policy " not in out and "include" not in out, out + err)
    policy = l.path("beside.policy")
    status, out, err = l.learn("--into", policy, "-p", "policies/values.policy", values, other)
    text = read(policy).decode()
    check("base: into", status == 0 and "class C new();" in text and "datetime" not in text and "root app::C;" in text, text + err)
    text = read("policies/values.policy")
    check("base: is not written", b"<learned>" not in text)
    status, out, err = l.learn("-p", l.path("no.policy"), values)
    check("base: is there", status == 3 and out == "", out + err)


def opened(l):
    """What is open admits nothing here, so that rows are learned for it; what is denied gets none."""
    policy, text = l.path("opened.policy"), """policy opened 1;
never app::Never;
module app { subclasses of Error call(n: int) because "ours"; }
root any;
fail_open until "2028-06-30" because "a test" {
    deny app::Denied;
}
"""
    agreed = ("--allow-fail-open", "--today", "2028-06-30")
    error, other = l.put("error.pkl", call("app::Error", 4)), l.put("another.pkl", call("app::Other", 4))
    known = l.put("known.pkl", call("builtins::complex", 1.0, 2.0))
    denied = [l.put("denied.pkl", [call("app::First"), call("app::Denied", 4)]), l.put("never.pkl", call("app::Never", 4))]
    write(policy, text)
    for refused, code in ((l.learn("--into", policy, other), "P0083"), (l.learn("-p", policy, other), "P0083"),
                          (l.learn("--into", policy, other, "--allow-fail-open", "--today", "2028-07-01"), "P0085"),
                          (l.learn("--into", policy, other, "--allow-fail-open", "--today", "soon"), "P0008")):
        check("opened: " + code, refused[0] == 2 and code in refused[2] and read(policy).decode() == text, refused)
    status, _, err = l.learn("--into", policy, *agreed, error, other, known, *denied)
    after = read(policy).decode()
    check("opened: rows", status == 1 and after.startswith(text) and "class Error call(" in after and "class Other call(" in after, after + err)
    check("opened: nothing that is denied", "Denied" not in after[len(text):] and "Never" not in after[len(text):] and err.count("R224") == 2, after + err)
    check("opened: nothing more is open", "fail_open" not in after[len(text):] and "subclasses" not in after[len(text):], after)
    check("opened: nor what every table knows", "complex" not in after, after)
    check("opened: admitted", l.admitted(policy, [error, other, known, *denied], *agreed) == {error, other, known})
    status, _, err = l.learn("--into", policy, *agreed, error, other, known)
    check("opened: again", status == 0 and read(policy).decode() == after and "3 admitted already" in err, err)
    write(policy, 'policy opened 1;\nmodule app { subclasses of Error call(n: int) because "ours"; }\nroot any;\n')
    status, out, err = l.learn("-p", policy, error)
    check("opened: subclasses alone", status == 0 and "class Error call(" in out, out + err)


def files(l):
    good = l.put("good.pkl", new("app::C"))
    # Every way to be no policy to merge into.
    write(l.path("fragment.policy"), "fragment f;\n")
    write(l.path("broken.policy"), "policy p 1;\nroot ;\n")
    for name, wanted in (("fragment.policy", "P0023"), ("broken.policy", "P0012")):
        before = read(l.path(name))
        status, _, err = l.learn("--into", l.path(name), good)
        check("into " + name, status == 2 and wanted in err and read(l.path(name)) == before, err)
    status, _, err = l.learn("--into", l.folder, good)
    check("into a folder", status == 3 and "P0001" in err, err)
    status, _, err = l.learn("--into", l.path("no/such/folder.policy"), good)
    check("into no folder", status == 3 and "P0005" in err, err)
    # An empty file is a new one.
    write(l.path("empty.policy"), "")
    status, _, err = l.learn("--into", l.path("empty.policy"), good)
    check("into an empty file", status == 0 and l.admitted(l.path("empty.policy"), [good]) == {good}, err)
    # A link is followed; the former file is kept beside the real one.
    os.mkdir(l.path("real"))
    write(l.path("real/linked.policy"), "policy linked 1;\n")
    os.symlink("real/linked.policy", l.path("link.policy"))
    status, _, err = l.learn("--into", l.path("link.policy"), good)
    check("into a link", status == 0 and os.path.islink(l.path("link.policy")) and os.path.exists(l.path("real/linked.policy.old")), err)
    # Names of policies are made of letters.
    status, _, err = l.learn("--into", l.path("9 odd-näme.x.policy"), good)
    check("odd name", status == 0 and re.search(rb"\npolicy learned\.\w+ 1;\n", read(l.path("9 odd-näme.x.policy"))), err)
    if os.geteuid() != 0:
        os.mkdir(l.path("closed"))
        write(l.path("closed/p.policy"), "policy p 1;\n")
        os.chmod(l.path("closed"), 0o500)
        status, _, err = l.learn("--into", l.path("closed/p.policy"), good)
        check("into a closed folder", status == 3 and read(l.path("closed/p.policy")) == b"policy p 1;\n", err)
        os.chmod(l.path("closed"), 0o700)
    # No temporary file is left.
    check("nothing is left", not [name for _, _, names in os.walk(l.folder) for name in names if name.endswith(".tmp")])


def shipped_policies(l):
    """What learning stands on may be missing or broken: it says so, and where."""
    good = l.put("good.pkl", call("fractions::Fraction", "1/2"))
    status, out, err = l.learn("--policy-dir", l.path("nowhere"), good)
    check("no shipped policies", status == 2 and out == "" and "`std/dangerous.policy' [P0020]" in err and "do not stand in %s: --policy-dir" % l.path("nowhere") in err
          and "did you mean" not in err and "memory" not in err, err)
    shutil.copytree("policies", l.path("shipped"))
    number = l.path("shipped/std/numbers.policy")
    write(number, read(number).replace(b"class Fraction", b"broken Fraction"))
    for options in ((), ("--diagnostics=json",)):
        status, out, err = l.learn("--policy-dir", l.path("shipped"), *options, good)
        check("a broken one: %s" % [options], status == 2 and out == "" and number in err and "P0012" in err and "memory" not in err, err)
    beside = l.put("beside.pkl", new("app::C"))
    status, out, err = l.learn("--policy-dir", l.path("shipped"), beside)
    check("one that is not needed", status == 0 and "class C new();" in out, out + err)


def inputs(l):
    good = l.put("good.pkl", new("app::C"))
    dangerous = l.put("dangerous.pkl", [call("posix::system", "true"), new("app::Other")])
    status, out, err = l.learn(good, dangerous)
    check("dangerous", status == 1 and "\n#     posix::system: it reaches the system" in out and "Other" not in out and "R201" in err, out + err)
    write(l.path("d.policy"), out)
    check("dangerous: not admitted", l.admitted(l.path("d.policy"), [good, dangerous]) == {good})
    status, out, err = l.learn(dangerous)
    check("only dangerous", status == 1 and out == "" and "posix::system" in err, out + err)
    beyond = l.put("beyond.pkl", call("datetime::date", 2024, 2, 29))
    status, out, err = l.learn(beyond)
    check("beyond a shipped row", status == 1 and out == "" and "rule: std/datetime.policy:" in err and "change:" not in err and "observer" not in err, err)
    for name, data, code in (("text", b"\xffhello\n", "R103"), ("cut", b"\x80\x04]", "R101"), ("nothing", b"", "R101"),
                             ("ext", b"\x80\x02\x82\x01.", "R203"), ("late", b"\x80\x02]q\x00(h\x00tq\x01h\x00K\x01a0.", "R")):
        status, out, err = l.learn(l.put_stream(name + ".pkl", data))
        check("no pickle: " + name, status == 1 and out == "" and code in err and "0 of 1 pickles learned" in err, out + err)
    status, out, err = l.learn(l.path("absent.pkl"), good)
    check("absent", status == 3 and out == "" and "absent.pkl" in err, out + err)
    write(l.path("none.list"), "\n")
    status, out, err = l.learn("--files-from", l.path("none.list"))
    check("no pickles", status == 0 and out == "" and "0 of 0" in err, out + err)
    for arguments in ((), ("--into",), ("--into", ""), ("--tsv", good), ("--print", "json", good), ("--nonsense", good)):
        status, out, err = l.learn(*arguments)
        check("usage %s" % (arguments,), status == 2 and out == "" and "policyc learn" in err, out + err)
    status, out, _ = l.learn("--help")
    check("help", status == 0 and out.startswith("usage: policyc learn") and "--into" in out)


def protocols(l):
    """The same object by every protocol is one row."""
    module = types.ModuleType("app")
    sys.modules["app"] = module
    module.Point = type("Point", (), {"__module__": "app", "__qualname__": "Point"})
    module.Point.Inner = type("Inner", (), {"__module__": "app", "__qualname__": "Point.Inner"})
    paths = []
    for protocol in range(6):
        point = module.Point()
        point.x, point.data, point.kind, point.inner = 1, b"\xff", {1}, module.Point.Inner()
        paths.append(l.put_stream("p%d.pkl" % protocol, pickle.dumps(point, protocol)))
    status, out, err = l.learn(*paths)
    row = "class Point new() state { data: bytes[..16], inner: app::Point.Inner, kind: set<int[0..9]>[..10], x: int[0..9] };"
    check("protocols", status == 0 and row in re.sub(r"\s+", " ", out) and "_codecs" not in out and "protocol 0..5;" in out, out + err)
    del sys.modules["app"]


def names(l):
    """Nested names that old protocols put together come to light all at once; names that no policy has are said."""
    nested = [call("builtins::getattr", call("builtins::getattr", ref("app::Outer%d" % i), "Inner"), "Mode") for i in range(100)]
    status, out, err = l.learn(l.put("nested.pkl", nested, 2))
    check("nested names", status == 0 and out.count("class Outer") == 100 and "getattr" not in out, out + err)
    status, out, err = l.learn(l.put_stream("control.pkl", b"\x80\x04\x8c\x03a\x01b\x8c\x01n\x93)\x81."), l.put("good.pkl", new("app::C")))
    check("control characters", status == 1 and "R201" in err and "class C new();" in out, out + err)
    unicode_name = b"\x80\x04\x8c\x03app\x8c\x02\xc3\xa4\x93)\x81."
    status, out, err = l.learn(l.put_stream("umlaut.pkl", unicode_name))
    check("other letters", status == 0 and r'"\u{E4}" new();' in out, out + err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        l = Learn(sys.argv[1], folder)
        for part in (corpus, merged_corpus, hostile_alone, refused_pickles_grant_nothing, written, shapes, deep, random_merges, people, fragments, roots, channels, base, opened, files, shipped_policies,
                     inputs, protocols, names):
            part(l)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
