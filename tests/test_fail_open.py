#!/usr/bin/python3
"""`fail_open` and `subclasses of`: who has to agree, until when, what denials come to, and what the listing tells.

usage: test_fail_open.py BUILD       (from the top folder, after `make`)
"""
import os
import re
import subprocess
import sys
import tempfile

from policyc import ERROR, Policyc, check, tally

BLOCK = 'fail_open until "%s" because "%s" { %s }\n'
AGREED = ("--allow-fail-open", "--today", "2028-06-30")


def policy(until="2028-06-30", because="a test", denies="deny module os.*;", before="", after=""):
    return "policy p 1;\n" + before + BLOCK % (until, because, denies) + after


def codes(policyc, path, text, *options, command=()):
    with open(path, "w") as file:
        file.write(text)
    status, out, err = policyc.run(*command, path, *options)
    return status, [found[3] for found in ERROR.findall(err)], out, err


def consents(policyc, path):
    pickle = os.path.join(os.path.dirname(path), "none.pkl")
    with open(pickle, "wb") as file:
        file.write(b"N.")
    for command, behind in (((), ()), (("list",), ()), (("try",), (pickle,))):
        status, found, _, err = codes(policyc, path, policy(), *behind, "--today", "2028-06-30", command=command)
        check("%s without consent" % (command,), status == 2 and found == ["P0083"] and "--allow-fail-open" in err, err)
        status, found, _, err = codes(policyc, path, policy(), *behind, *AGREED, command=command)
        check("%s with consent" % (command,), status == 0 and not found, err)
    status, found, _, err = codes(policyc, path, policy(), *AGREED, path, command=("diff",))
    check("diff with consent", status == 0 and not found, err)
    os.environ["UPK_ALLOW_FAIL_OPEN"] = "1"
    check("no environment variable agrees", codes(policyc, path, policy(), "--today", "2028-06-30")[1] == ["P0083"])
    del os.environ["UPK_ALLOW_FAIL_OPEN"]


def dates(policyc, path):
    for day, good in (("2028-06-29", True), ("2028-06-30", True), ("2028-07-01", False), ("2029-01-01", False)):
        status, found, _, err = codes(policyc, path, policy(), "--allow-fail-open", "--today", day)
        check("on " + day, found == ([] if good else ["P0085"]) and status == (0 if good else 2), err)
    check("after its day by the clock", codes(policyc, path, policy("2020-01-01"), "--allow-fail-open")[1] == ["P0085"])
    check("before its day by the clock", codes(policyc, path, policy("9999-12-31"), "--allow-fail-open")[1] == [])
    for date in ("", "2028-6-30", "2028-06-31", "2029-02-29", "2028-13-01", "2028-00-01", "2028-01-00", "0000-01-01", "2028/06/30",
                 "2028-06-30 ", "tomorrow", "20280630"):
        check("no date: " + date, codes(policyc, path, policy(date), *AGREED)[1] == ["P0084"])
    check("a leap day", codes(policyc, path, policy("2028-02-29"), "--allow-fail-open", "--today", "2028-02-29")[1] == [])
    for day in ("2028-02-30", "today", "", "2028"):
        status, _, err = policyc.run(path, "--allow-fail-open", "--today", day, "--diagnostics", "json")
        check("--today " + day, status == 2 and '"P0008"' in err, err)


def blocks(policyc, path):
    row = "module m { class K call(); }\n"
    cases = (
        ("a reason is not empty", policy(because=""), ["P0062"]),
        ("twice", policy(after=BLOCK % ("2028-06-30", "x", "")), ["P0043"]),
        ("beside channels", policy(after="channel a { root int; }\n"), ["P0026"]),
        ("in a channel", "policy p 1;\nchannel a { root any; %s }\n" % (BLOCK % ("2028-06-30", "x", "deny module os;")), []),
        ("nothing is denied", policy(denies=""), []),
        ("opcodes are no names", policy(denies="deny opcodes inst;"), ["P0026"]),
        ("a granted name", policy(before=row, denies="deny m::K;"), ["P0086"]),
        ("the module of a granted name", policy(before=row, denies="deny module m.*;"), []),
        ("by an alias", policy(before=row + "alias n -> m;\n", denies="deny n::K;"), ["P0086"]),
        ("never of a granted name", policy(before=row, after="never m::K;\n"), ["P0075"]),
        ("a base that is denied", policy(before='module m { subclasses of B call() because "x"; }\n', denies="deny m::B;"), ["P0086"]),
        ("its module is denied", policy(before='module m { subclasses of B call() because "x"; }\n', denies="deny module m;"), []),
        ("a ref of subclasses", 'policy p 1;\nmodule m { subclasses of B ref because "x"; }\n', ["P0061"]),
        ("a base twice", 'policy p 1;\nmodule m { subclasses of B call() because "x"; subclasses of B call() because "x"; }\n', ["P0040"]),
        ("a base that makes classes", 'policy p 1;\nmodule builtins { subclasses of type call() because "x"; }\n', ["P0064"]),
    )
    for name, text, expected in cases:
        status, found, _, err = codes(policyc, path, text, *AGREED)
        check(name, found == expected and status == (2 if expected else 0), "%s\n%s" % (found, err))
    with open(os.path.join(os.path.dirname(path), "f.policy"), "w") as file:
        file.write("fragment f;\n" + BLOCK % ("2028-06-30", "x", ""))
    check("in a fragment", codes(policyc, path, 'policy p 1;\ninclude "f.policy";\n', *AGREED)[1] == ["P0024"])


def listing(policyc, path):
    text = policy(before='never m::Secret;\nmodule m { subclasses of B call(n: int) because "ours"; }\n',
                  denies="deny module os.*, pickle::loads;")
    _, _, out, err = codes(policyc, path, text, *AGREED, command=("list",))
    for line in ('fail_open until "2028-06-30" because "a test"  # p.policy:4', "deny module os.*  # p.policy:4",
                 "deny module posix.*  # p.policy:4, by another path", "deny pickle.loads  # p.policy:4",
                 "deny _pickle.loads  # p.policy:4, by another path", "never m.Secret  # p.policy:2",
                 'subclasses of m::B call(n: int) because "ours"  # p.policy:3'):
        check("listed: " + line, line + "\n" in out, out + err)


def known_classes(policyc, path):
    """Classes that every table knows are neither asked for nor forgotten: complex and object are made, the others mentioned."""
    every = {"bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "object", "set", "str", "tuple"}
    makes = ["call", "const", "new"]
    row = re.compile(r"^builtins::(\w+) (\w+)", re.M)

    def granted(text):
        _, _, out, err = codes(policyc, path, text, *AGREED, command=("list",))
        found = {}
        for name, verb in row.findall(out):
            found.setdefault(name, []).append(verb)
        return found, out + err

    found, out = granted(policy())
    check("known classes", found == {name: makes if name in ("complex", "object") else ["const"] for name in every}, out)
    for what, less, text in (
            ("a name", {"int"}, policy(denies="deny builtins::int;")),
            ("a name of Python 2", {"int"}, policy(denies="deny __builtin__::long;")),
            ("all names", every, policy(denies="deny builtins::*;")),
            ("a module", every, policy(denies="deny module builtins;")),
            ("never", {"str", "set"}, policy(before="never builtins::str, builtins::set;\n")),
            ("an alias", every, policy(before="alias basics -> builtins;\n", denies="deny module basics;"))):
        found, out = granted(text)
        check("known classes less what is denied: " + what, set(found) == every - less, out)
    found, out = granted(policy(before="module builtins { class complex call(real: float); class list ref; }\n"))
    check("a row wins", found["complex"] == ["call"] and found["list"] == ["ref"] and set(found) == every, out)
    found, out = granted('policy p 1;\nchannel a { root any; %s }\nchannel b { root any; }\n' % (BLOCK % ("2028-06-30", "x", "")))
    check("of the channel alone", found["object"] == makes, out)
    status, found, _, err = codes(policyc, path, policy(before="root builtins::complex;\n"), *AGREED)
    check("no type of the channel is one of them", found == ["P0031"], err)


def nested(policyc, path):
    """Channels within others, where names are asked for: what a host may answer is not known here."""
    head = "policy p 1;\n"
    parts = {"rows": "class m::K call(n: int);", "heirs": "subclasses of builtins::ValueError call(n: int)", "jobs": "subclasses of m::B call(n: int)",
             "made": "subclasses of m::B new()", "states": "subclasses of m::B new() state { n: int }", "ends": "subclasses of m::B new() runs __del__",
             "hashed": "subclasses of m::B new() runs __hash__, __eq__", "noted": "subclasses of builtins::OSError call(n: int) state? { n: int }",
             "ended": "subclasses of builtins::ValueError call(n: int) runs __del__", "errors": "subclasses of m::Error call(n: int)"}
    for name, row in parts.items():
        module = re.search(r"(\w+)::", row)[1]
        with open(os.path.join(os.path.dirname(path), name + ".policy"), "w") as file:
            file.write("fragment %s;\nmodule %s { %s%s }\n" % (name, module, row.replace(module + "::", ""), "" if row.endswith(";") else ' because "x";'))
    rows = "".join('include "%s.policy";\n' % name for name in parts)
    inner = "channel inner { within outer; %s root %s; }\n"
    outer = "channel outer { %s root any cyclic; %s }\n"
    all_of, less = BLOCK % ("2028-06-30", "x", ""), BLOCK % ("2028-06-30", "x", "deny module os.*, m::Bad;")
    enums = BLOCK % ("2028-06-30", "x", "deny enum::Enum;")
    lost, error = ["P0087"], "builtins::ValueError"
    cases = (
        ("a row within fail_open", inner % ("use rows;", "any") + outer % ("", all_of), lost),
        ("a row within subclasses", inner % ("use rows;", "any") + outer % ("use heirs;", ""), lost),
        ("the same row", inner % ("use rows;", "m::K") + outer % ("use rows;", all_of), []),
        ("subclasses within all", inner % ("use heirs;", error) + outer % ("", all_of), []),
        ("with states", inner % ("use noted;", "builtins::OSError") + outer % ("", all_of), []),
        ("several", inner % ("use heirs, noted, hashed;", "any") + outer % ("", all_of), []),
        ("subclasses within themselves", inner % ("use heirs;", error) + outer % ("use heirs;", less), lost * 2),
        ("subclasses within less", inner % ("use heirs;", error) + outer % ("", less), lost * 2),
        ("subclasses that deny as much", "never module os.*, m::Bad;\n" + inner % ("use heirs;", error) + outer % ("", less), []),
        ("subclasses, and a name of the other", inner % ("use heirs;", error) + outer % ("use rows;", all_of), lost),
        ("subclasses, and names of both", inner % ("use heirs, rows;", error) + outer % ("use rows;", all_of), []),
        ("fail_open within rows", "channel inner { within outer; root any; %s }\n" % all_of + outer % ("use rows;", ""), None),
        ("fail_open within itself", "channel inner { within outer; root any; %s }\n" % less + outer % ("", less), []),
        ("fail_open within less", "channel inner { within outer; root any; %s }\n" % all_of + outer % ("", less), lost * 2),
        ("fail_open within a base", "channel inner { within outer; root any; %s }\n" % all_of + outer % ("use heirs;", all_of), lost),
        ("days do not matter", "channel inner { within outer; root any; %s }\n" % (BLOCK % ("2029-01-01", "x", "")) + outer % ("", all_of), []),
        # A host that fails open makes no object by an __init__ of Python, gives none a state of C's, and none a class with a __del__.
        ("classes that may have an __init__", inner % ("use jobs;", "m::B") + outer % ("", all_of), lost * 2),
        ("and are called like exceptions", inner % ("use errors;", "m::Error") + outer % ("", all_of), lost * 2),
        ("classes that are keys by what they are", inner % ("use made;", "m::B") + outer % ("", all_of), lost),
        ("or by what they hold", inner % ("use hashed;", "m::B") + outer % ("", all_of), []),
        ("classes with states", inner % ("use states;", "m::B") + outer % ("", all_of), lost * 2),
        ("classes that end by code", inner % ("use ends;", "m::B") + outer % ("", all_of), lost * 2),
        ("exceptions that end by code", inner % ("use ended;", error) + outer % ("", all_of), lost * 2),
        # A class may inherit from both bases, and which is the nearer one decides.
        ("two bases within one and all", inner % ("use heirs, made;", "any") + outer % ("use heirs;", all_of), lost * 2),
        ("two bases within themselves", inner % ("use heirs, made;", "any") + outer % ("use heirs, made;", all_of), []),
        ("one base within two", inner % ("use heirs;", error) + outer % ("use heirs, made;", ""), lost),
        # `never' of a base of enums forbids the name, `deny' the enums.
        ("enums", "channel inner { within outer; never enum::Enum; use heirs; root any; }\n" + outer % ("", enums), lost),
        ("no base of enums", "channel inner { within outer; never enum::auto; use heirs; root any; }\n" + outer % ("", enums.replace("Enum", "auto")), []),
        ("enums that are denied", "channel inner { within outer; root any; %s }\n" % enums + outer % ("", enums), []),
    )
    for name, text, expected in cases:
        status, found, _, err = codes(policyc, path, head + rows + text, *AGREED)
        good = found == expected if expected is not None else set(found) == {"P0087"}
        check("within: " + name, good and status == (2 if found else 0), "%s\n%s" % (found, err))
    _, _, _, err = codes(policyc, path, head + rows + cases[0][1], *AGREED)
    check("within: what is not known", "what a host has loaded is not known here" in err, err)


def descriptors(policyc, path):
    """A channel of that name asks a host for exceptions: `never' is in its table, and in comparisons."""
    text = "policy p 1;\n%smodule m { class K call(n: int); }\nchannel descriptor { root str; %s}\nchannel other { root str; }\n"
    status, _, out, err = codes(policyc, path, text % ("never m::Secret;\n", "never module os;\n"), command=("list",))
    descriptor, other = out.split("\n\n")[:2]
    check("descriptor: its list", "never m.Secret" in descriptor and "never module os " in descriptor and "never" not in other, out + err)
    nested = "policy p 1;\nchannel descriptor { within other; root str; }\nchannel other { root any cyclic; never m::Secret; %s }\n"
    found = codes(policyc, path, nested % (BLOCK % ("2028-06-30", "x", "deny module os;")), *AGREED)[1]
    check("descriptor: its values are within others", found == [], str(found))
    codes(policyc, path, text % ("never m::Secret;\n", "never module os;\n"))
    wider = path + ".wider"
    for name, now, expected in (("less is forbidden", text % ("", "never module os;\n"), 1), ("nothing is", text % ("", ""), 1),
                                ("the same", text % ("never m::Secret;\n", "never module os;\n"), 0)):
        with open(wider, "w") as file:
            file.write(now)
        status, out, err = policyc.run("diff", path, wider)
        check("descriptor: " + name, status == expected and ("channel descriptor: widened" in out) == bool(expected), "%d %s%s" % (status, out, err))


def emitted(policyc, path):
    out = os.path.join(os.path.dirname(path), "p.c")
    status, _, _, err = codes(policyc, path, policy(), *AGREED, "-o", out)
    check("C is written", status == 0, err)
    done = subprocess.run(["gcc", "-std=c11", "-Wall", "-Werror", "-Iruntime", "-c", out, "-o", out + ".o"], stderr=subprocess.PIPE)
    check("and compiles", done.returncode == 0, done.stderr.decode())


def main():
    policyc = Policyc(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.policy")
        for test in (consents, dates, blocks, listing, known_classes, nested, descriptors, emitted):
            test(policyc, path)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
