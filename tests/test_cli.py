#!/usr/bin/python3
"""The command line of `unpickle` and `policyc try`: options and their order, verdicts as text and TSV, exit status.

usage: test_cli.py BUILD       (from the top folder, after `make`)

Prints one line for each failure, and at the end `N passed, N failed`.
"""
import json
import os
import pickle
import subprocess
import sys
import tempfile

from tally import Tally

CHANNELS = """policy t.channels 1;
channel numbers { root int; }
channel texts { root str; }
"""
ONE = """policy t.one 1;
opcodes core, buffer;
root any | buffer;
"""
BROKEN = """policy t.broken 1;
root nosuch;
"""

# PROTO 5, NEXT_BUFFER, STOP
BUFFER = b"\x80\x05\x97."


class Cli(Tally):
    def __init__(self, build, folder):
        self.build = os.path.abspath(build)
        self.folder = folder
        super().__init__()

    def write(self, name, data):
        with open(os.path.join(os.fsencode(self.folder), os.fsencode(name)), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def run(self, program, *arguments, stdin=b""):
        command = [os.path.join(self.build, program)] + (["try"] if program == "policyc" else [])
        done = subprocess.run(command + list(arguments), input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def expect(self, program, arguments, status, out=None, err=None, stdin=b""):
        """`out` is the whole of stdout; `err` some text within stderr, or b"" for nothing at all."""
        got = self.run(program, *arguments, stdin=stdin)
        right = got[0] == status and (out is None or got[1] == out)
        right = right and (err is None or (err in got[2] if err else not got[2]))
        self.check(right, "%s %s: expected %r, got %r" % (program, arguments, (status, out, err), got))

    def unpickle(self, arguments, *expected, **more):
        self.expect("unpickle", arguments, *expected, **more)

    def attempt(self, arguments, *expected, **more):
        self.expect("policyc", arguments, *expected, **more)


def write_files(cli):
    cli.write("channels.policy", CHANNELS)
    cli.write("one.policy", ONE)
    cli.write("broken.policy", BROKEN)
    cli.write("one.pkl", pickle.dumps(1, 4))
    cli.write("text.pkl", pickle.dumps("x\ty", 4))
    cli.write("list.pkl", pickle.dumps([1, "a"], 2))
    cli.write("call.pkl", b"cos\nsystem\n(S'true'\ntR.")
    cli.write("cut.pkl", pickle.dumps([1] * 100, 4)[:50])
    cli.write("python2.pkl", b"S'a'\n.")
    cli.write("buffer.pkl", BUFFER)
    cli.write("buffer.bin", b"0123")
    cli.write("odd\tname\n.pkl", pickle.dumps(1, 4))
    cli.write(b"\xff.pkl", pickle.dumps(1, 4))
    cli.write("-dash.pkl", pickle.dumps(2, 4))
    cli.write("a:b.policy", "policy t.colon 1;\nroot int;\n")
    cli.write("files.list", "one.pkl\n\ntext.pkl")
    cli.write("nul.list", "one.pkl\0\n")


def test_exit_status(cli):
    cli.unpickle(["-p", "values", "one.pkl"], 0, b"1\n", b"")
    cli.unpickle(["-p", "values", "call.pkl"], 1, None, b"")
    cli.unpickle(["-p", "values", "one.pkl", "cut.pkl", "list.pkl"], 1, None, b"")
    cli.unpickle(["-p", "values", "missing.pkl"], 3, b"", b"missing.pkl: No such file")
    cli.unpickle(["-p", "values", "missing.pkl", "call.pkl", "one.pkl"], 3)
    cli.unpickle(["-p", "values", "."], 3, b"", b"Is a directory")
    cli.attempt(["one.policy", "one.pkl"], 0, b"1\n", b"")
    cli.attempt(["one.policy", "call.pkl"], 1)
    cli.attempt(["one.policy", "missing.pkl"], 3, b"", b"No such file")
    cli.unpickle(["--files-from", "missing.list", "-p", "values"], 3, b"", b"missing.list")


def test_usage(cli):
    for arguments in ([], ["one.pkl"], ["-p", "values"], ["-p"], ["-p", "nosuch", "one.pkl"], ["-p", "values:x", "one.pkl"],
                      ["--nosuch", "-p", "values", "one.pkl"], ["-p", "values", "--print", "xml", "one.pkl"],
                      ["--inspect", "-p", "values", "one.pkl"], ["--inspect", "--opcodes", "core,", "one.pkl"],
                      ["--inspect", "--opcodes", "all", "one.pkl"], ["-p", "values", "--opcodes", "core", "one.pkl"],
                      ["--tsv=1", "-p", "values", "one.pkl"], ["--print"], ["-I", ".", "-p", "values", "one.pkl"]):
        status, out, err = cli.run("unpickle", *arguments)
        cli.check((status, out) == (2, b"") and err.startswith(b"unpickle: "),
                  "usage %s: %r" % (arguments, (status, out, err)))
    for arguments in ([], ["one.policy"], ["nosuch.policy", "one.pkl"], ["broken.policy", "one.pkl"],
                      ["channels.policy", "one.pkl"], ["channels.policy:nosuch", "one.pkl"], ["one.policy:x", "one.pkl"],
                      ["--inspect", "one.pkl"], ["-p", "values", "one.policy", "one.pkl"]):
        status, out, err = cli.run("policyc", *arguments)
        cli.check((status, out) == (2, b"") and err, "try usage %s: %r" % (arguments, (status, out, err)))
    for program in ("unpickle", "policyc"):
        cli.expect(program, ["--help"], 0, None, b"")
        cli.expect(program, ["--version"], 0, None, b"")
    for program in ("unpickle", "policyc"):
        cli.check(cli.run(program, "-h")[1].startswith(b"usage: "), program + " -h")
    for name in ("one.policy", "./nosuch", "one.policy:x"):
        cli.unpickle(["-p", name, "one.pkl"], 2, b"", b"for a policy file: policyc try")
    cli.check(b"policyc try" not in cli.run("unpickle", "-p", "nosuch", "one.pkl")[2], "no hint for a name")
    status, out, err = cli.run("unpickle", "--list-policies")
    cli.check(status == 0 and b"values" in out.split(b"\n") and not err, "--list-policies: %r" % ((status, out, err),))
    for name in out.split():
        cli.unpickle(["--print", "none", "-p", name.decode(), "missing.pkl"], 3)


def test_order(cli):
    tree = b'(list 1 "a")\n'
    cli.unpickle(["--print", "tree", "-p", "values", "list.pkl"], 0, tree)
    cli.unpickle(["-p", "values", "list.pkl", "--print", "tree"], 0, tree)
    cli.unpickle(["list.pkl", "--print=tree", "-pvalues"], 0, tree)
    cli.unpickle(["list.pkl", "--policy=values", "--print", "json", "--print", "tree"], 0, tree)
    cli.unpickle(["--print", "tree", "-p", "values", "--", "-dash.pkl"], 0, b"2\n")
    cli.unpickle(["-dash.pkl", "-p", "values"], 2)
    cli.attempt(["--print", "tree", "one.policy", "list.pkl"], 0, tree)
    cli.attempt(["one.policy", "--print", "tree", "list.pkl"], 0, tree)
    cli.attempt(["one.policy", "list.pkl", "--print", "tree"], 0, tree)
    cli.attempt(["--tsv", "one.policy", "--print", "none", "list.pkl"], 0, b"list.pkl\taccept\t\n")


def test_forms(cli):
    cli.unpickle(["-p", "values", "list.pkl"], 0, b"[1, 'a']\n")
    cli.unpickle(["-p", "values", "--print", "repr", "list.pkl"], 0, b"[1, 'a']\n")
    cli.unpickle(["-p", "values", "--print", "json", "list.pkl"], 0, b'[1, "a"]\n')
    cli.unpickle(["-p", "values", "--print", "none", "list.pkl"], 0, b"accepted\n")
    cli.unpickle(["-p", "values", "one.pkl", "list.pkl"], 0, b"one.pkl: 1\nlist.pkl: [1, 'a']\n")
    status, out, _ = cli.run("unpickle", "-p", "values", "call.pkl")
    cli.check(status == 1 and out.startswith(b"refused: ") and b"at byte 0" in out and b"policy values" in out,
              "refusal: %r" % out)
    large = pickle.dumps(["x" * 1000] * 3000, 4)
    cli.write("large.pkl", large)
    for form, quote in (("json", '"'), ("repr", "'")):
        expected = "[" + ", ".join([quote + "x" * 1000 + quote] * 3000) + "]\n"
        cli.unpickle(["-p", "values", "--print", form, "large.pkl"], 0, expected.encode())


def test_cycles(cli):
    """Nine lists that hold each other have a million paths: refused while printing, and soon."""
    lists = [[] for _ in range(9)]
    for each in lists:
        each.extend(lists)
    cli.write("nine.pkl", pickle.dumps(lists[0], 4))
    own = []
    own.append(own)
    cli.write("own.pkl", pickle.dumps(own, 4))
    cli.unpickle(["-p", "values", "--print", "none", "nine.pkl"], 0, b"accepted\n")
    for form in ("tree", "json", "repr"):
        status, out, err = cli.run("unpickle", "-p", "values", "--print", form, "--tsv", "nine.pkl")
        cli.check(status == 1 and out.startswith(b"nine.pkl\trefused\tlimit\tR301\t") and len(out) < 1000 and not err,
                  "nine lists as %s: %r" % (form, out))
    cli.unpickle(["-p", "values", "own.pkl"], 0, b"[[...]]\n")
    cli.unpickle(["-p", "values", "--print", "tree", "own.pkl"], 0, b"(list (up 1))\n")
    cli.unpickle(["-p", "values", "--print", "json", "own.pkl"], 0, b'[{"$up": 1}]\n')


def test_tsv(cli):
    cli.unpickle(["-p", "values", "--tsv", "one.pkl", "missing.pkl", "text.pkl"], 3,
                 b"one.pkl\taccept\t1\nmissing.pkl\tio\tNo such file or directory\ntext.pkl\taccept\t'x\\ty'\n", b"")
    status, out, err = cli.run("unpickle", "-p", "values", "--tsv", "call.pkl", "cut.pkl")
    lines = [line.split(b"\t") for line in out.split(b"\n")]
    cli.check(status == 1 and not err and len(lines) == 3 and lines[2] == [b""], "tsv lines: %r" % out)
    cli.check(lines[0][:5] == [b"call.pkl", b"refused", b"global", b"R201", b"0"] and len(lines[0]) == 6,
              "tsv: %r" % lines[0])
    cli.check(lines[1][:3] == [b"cut.pkl", b"refused", b"truncated"] and len(lines[1]) == 6, "tsv: %r" % lines[1])
    cli.write("names.pkl", pickle.PROTO + b"\x04" + b"\x8c\x04a\tb\n\x8c\x05\xc3\xa9\x1b[0\x93.")
    status, out, _ = cli.run("unpickle", "-p", "values", "--tsv", "names.pkl")
    cli.check(status == 1 and out.count(b"\n") == 1 and out.count(b"\t") == 5
              and all(0x20 <= c < 0x7f or c in b"\t\n" for c in out), "names of a stream in TSV: %r" % out)
    cli.unpickle(["-p", "values", "--tsv", "odd\tname\n.pkl"], 0, b"odd\\tname\\n.pkl\taccept\t1\n")
    cli.unpickle(["-p", "values", "--tsv", b"\xff.pkl"], 0, b"\\xff.pkl\taccept\t1\n")
    cli.unpickle(["-p", "values", b"\xff.pkl", "odd\tname\n.pkl"], 0, b"\\xff.pkl: 1\nodd\\x09name\\x0a.pkl: 1\n")
    cli.unpickle(["-p", "values", "no\nsuch\x1b.pkl"], 3, b"", b"no\\x0asuch\\x1b.pkl: ")
    names = {  # a file's name: as a field
        "evil.pkl\taccept\tNone\ngood.pkl": b"evil.pkl\\taccept\\tNone\\ngood.pkl",
        "esc\x1b[2K\r\x7f": b"esc\\x1b[2K\\r\\x7f",
        "c1\x9b2K": b"c1\\xc2\\x9b2K",
        "bidi\u202egpj.lkp": b"bidi\\xe2\\x80\\xaegpj.lkp",
        "line\u2028end": b"line\\xe2\\x80\\xa8end",
        b"\xc3(\xed\xa0\x80": b"\\xc3(\\xed\\xa0\\x80",
        "back\\tslash": b"back\\tslash",
        "back\\slash\t": b"back\\\\slash\\t",
        "plain \u00e9\u4e2d\U0001f600 'quoted' \"too\"": "plain \u00e9\u4e2d\U0001f600 'quoted' \"too\"".encode(),
    }
    for name, field in names.items():
        cli.write(name, pickle.dumps(1, 4))
        cli.unpickle(["-p", "values", "--tsv", name], 0, field + b"\taccept\t1\n")
        cli.write(name, b"\xff")
        status, out, _ = cli.run("unpickle", "-p", "values", "--tsv", name)
        cli.check(status == 1 and out.startswith(field + b"\trefused\t") and out.count(b"\n") == 1, "refused: %r" % out)
        os.remove(os.path.join(os.fsencode(cli.folder), os.fsencode(name)))
        cli.unpickle(["-p", "values", "--tsv", name], 3, field + b"\tio\tNo such file or directory\n")
        status, out, err = cli.run("unpickle", "-p", "values", name, "one.pkl")
        cli.check(status == 3 and out == b"one.pkl: 1\n" and err.isascii() and err.decode()[:-1].isprintable(),
                  "names for people: %r" % err)


def test_json_lines(cli):
    """An object a line; names of files and texts of errors can be anything."""
    status, out, err = cli.run("unpickle", "-p", "values", "--json-lines", "list.pkl", "missing.pkl", "call.pkl", "cut.pkl")
    lines = [json.loads(line) for line in out.splitlines()]
    cli.check(status == 3 and not err and out.isascii() and len(lines) == 4, "json lines: %r" % ((status, out, err),))
    cli.check(lines[0] == {"file": "list.pkl", "verdict": "accept"}, "accept: %r" % lines[0])
    cli.check(lines[1] == {"file": "missing.pkl", "verdict": "io", "message": "No such file or directory"}, "io: %r" % lines[1])
    members = ["file", "verdict", "class", "code", "offset", "opcode", "module", "name", "path", "policy", "rule", "message",
               "change", "grant", "shipped"]
    cli.check(all(list(line) == members for line in lines[2:]), "members: %r" % lines[2:])
    cli.check(lines[2] == dict(zip(members, ("call.pkl", "refused", "global", "R201", 0, "GLOBAL", "os", "system", "$",
                                             "policy values 1", "", "global os::system is not granted, and no policy should "
                                             "grant it", "", "", ""))), "refused: %r" % lines[2])
    cli.unpickle(["-p", "values", "--json-lines", "--print", "json", "list.pkl"], 0,
                 b'{"file": "list.pkl", "verdict": "accept", "value": [1, "a"]}\n', b"")
    cli.unpickle(["-p", "values", "--print", "none", "--json-lines", "list.pkl"], 0, b'{"file": "list.pkl", "verdict": "accept"}\n')
    cli.unpickle(["-p", "values", "--json-lines", "--print", "repr", "list.pkl"], 2, b"", b"json or none")
    cli.unpickle(["-p", "values", "--json-lines", "--tsv", "list.pkl"], 2, b"", b"exclude each other")
    for name in (b'quote" back\\slash', b"tab\t line\n\x1b[0m", "caf\u00e9 \u4e2d \U0001f600".encode(), b"\xff\xc3(\xed\xa0\x80"):
        cli.write(name, pickle.dumps(1, 4))
        status, out, _ = cli.run("unpickle", "-p", "values", "--json-lines", name)
        cli.check(status == 0 and out.isascii() and out.count(b"\n") == 1 and os.fsencode(json.loads(out)["file"]) == name,
                  "a file's name: %r" % out)


def test_shipped(cli):
    """A name that a shipped fragment grants: how it gets into the policy, in the place of a row."""
    cli.write("uuid.pkl", b"cuuid\nUUID\n.")
    cli.write("use.policy", "policy t.use 1;\n")
    cli.write("included.policy", 'policy t.included 1;\ninclude "std/ids.policy";\nchannel a { use std.ids; }\nchannel b { root any; }\n')
    cli.write("channel.policy", "policy t.channel 1;\nchannel only { root any; }\n")
    for policy, line in (("use.policy", 'include "std/ids.policy"; use std.ids;'),
                         ("included.policy:b", "channel b { use std.ids; }"),
                         ("channel.policy", 'include "std/ids.policy"; channel only { use std.ids; }')):
        _, out, _ = cli.run("policyc", policy, "uuid.pkl")
        cli.check(b"\n    shipped: %s\n" % line.encode() in out and b"grant:" not in out, "shipped: %r" % out)
        _, out, _ = cli.run("policyc", policy, "--json-lines", "uuid.pkl")
        refusal = json.loads(out)
        cli.check((refusal["shipped"], refusal["grant"]) == (line, ""), "shipped as JSON: %r" % out)
    cli.write("array.pkl", b"cnumpy.core.multiarray\n_reconstruct\n.")
    dtypes = 'include "numpy/dtypes.policy";\n'
    for text, line in (("", 'include "numpy/arrays.policy"; include "numpy/dtypes.policy"; use numpy.arrays, numpy.dtypes;'),
                       (dtypes + "use numpy.dtypes;\n", 'include "numpy/arrays.policy"; use numpy.arrays;'),
                       (dtypes + "channel a { use numpy.dtypes; root any; }\n",
                        'include "numpy/arrays.policy"; channel a { use numpy.arrays; }'),
                       (dtypes + "channel a { root any; }\nchannel b { use numpy.dtypes; root any; }\n",
                        'include "numpy/arrays.policy"; channel a { use numpy.arrays, numpy.dtypes; }')):
        cli.write("array.policy", "policy t.array 1;\n" + text)
        _, out, err = cli.run("policyc", "array.policy:a" if "channel" in text else "array.policy", "array.pkl")
        cli.check(b"\n    shipped: %s\n" % line.encode() in out, "what stands beside it: %r" % ((line, out, err),))
    _, out, _ = cli.run("unpickle", "-p", "plain", "uuid.pkl")
    cli.check(b"\n    shipped: include \"std/ids.policy\"; use std.ids;\n" in out, "unpickle: %r" % out)
    cli.write("ids.policy", 'policy t.ids 1;\ninclude "std/ids.policy";\nuse std.ids;\n')
    cli.write("decimal.pkl", b"cdecimal\nDecimal\n.")
    _, out, _ = cli.run("policyc", "ids.policy", "decimal.pkl")
    cli.check(b"\n    shipped: include \"std/numbers.policy\"; use std.numbers;\n" in out, "another fragment: %r" % out)


def test_no_pickle(cli):
    """What a file is comes before what the policy says of its protocol."""
    cli.write("binary.policy", "policy t.binary 1;\nprotocol 2..5;\n")
    for name, data, expected in (("a.gz", b"\x1f\x8b\x08data", b"byte 0x1f is no opcode (this is gzip data, not a pickle) [R103]"),
                                 ("a.json", b'{"a": 1}', b"byte 0x7b is no opcode (this is JSON, not a pickle) [R103]"),
                                 ("a.zip", b"PK\x03\x04", b"(this is a zip archive, not a pickle) [R204]")):
        cli.write(name, data)
        status, out, _ = cli.run("policyc", "binary.policy", name)
        cli.check(status == 1 and expected in out and b"change:" not in out, "%s: %r" % (name, out))
    cli.write("old.pkl", b"N.")
    _, out, _ = cli.run("policyc", "binary.policy", "old.pkl")
    cli.check(b"change: widen `protocol 2..5` to `1..5`\n" in out, "no PROTO: %r" % out)


def test_input(cli):
    cli.unpickle(["-p", "values", "-"], 0, b"[7]\n", stdin=pickle.dumps([7], 5))
    cli.unpickle(["-p", "values", "--tsv", "-", "one.pkl"], 0, b"-\taccept\t7\none.pkl\taccept\t1\n", stdin=pickle.dumps(7))
    cli.unpickle(["-p", "values", "--tsv", "-", "-"], 3, b"-\taccept\t7\n-\tio\tstandard input was read already\n",
                 stdin=pickle.dumps(7))
    cli.unpickle(["-p", "values", "-"], 1, stdin=b"")
    cli.attempt(["one.policy", "-"], 0, b"7\n", stdin=pickle.dumps(7))
    expected = b"one.pkl: 1\ntext.pkl: 'x\\ty'\n"
    cli.unpickle(["-p", "values", "--files-from", "files.list"], 0, expected)
    cli.unpickle(["-p", "values", "--files-from", "-"], 0, expected, stdin=b"one.pkl\ntext.pkl\n")
    cli.unpickle(["-p", "values", "list.pkl", "--files-from", "files.list", "one.pkl", "--tsv", "--print", "none"], 0,
                 b"list.pkl\taccept\t\none.pkl\taccept\t\ntext.pkl\taccept\t\none.pkl\taccept\t\n")
    cli.unpickle(["-p", "values", "--files-from", "/dev/null"], 0, b"", b"")
    cli.unpickle(["-p", "values", "--files-from", "nul.list"], 2, b"")
    cli.attempt(["--files-from", "files.list", "one.policy"], 0, expected)
    cli.write("crlf.list", "one.pkl\r\n\r\ntext.pkl\r\n")
    cli.unpickle(["-p", "values", "--files-from", "crlf.list"], 0, expected)


def test_large(cli):
    """A file over the budget `bytes` is refused with its true size, and not read."""
    path = os.path.join(cli.folder, "large.bin")
    with open(path, "wb") as file:
        file.truncate(300 << 30)
    size = b"%d bytes" % (300 << 30)
    for arguments in (["large.bin"], ["--buffer", "large.bin", "one.pkl"]):
        status, out, err = cli.run("unpickle", "-p", "values", *arguments)
        cli.check(status == 1 and b"[R301]" in out and (size in out or arguments[0] != "large.bin") and not err,
                  "large %s: %r" % (arguments, (status, out, err)))
    cli.unpickle(["-p", "values", "--files-from", "large.bin"], 2, b"", b"no list of files")
    os.unlink(path)


def test_buffers(cli):
    cli.attempt(["one.policy", "--print", "tree", "--buffer", "buffer.bin", "buffer.pkl"], 0, b"(buffer 0)\n")
    cli.attempt(["one.policy", "--tsv", "buffer.pkl"], 1)
    _, out, _ = cli.run("policyc", "one.policy", "--tsv", "buffer.pkl")
    cli.check(out.startswith(b"buffer.pkl\trefused\targument\tR116\t2\t"), "missing buffer: %r" % out)
    cli.unpickle(["--inspect", "--opcodes", "core,buffer", "--print", "tree", "buffer.pkl"], 0, b"(buffer 0)\n")
    cli.unpickle(["--inspect", "--opcodes", "core,buffer", "--print", "tree", "--buffer", "buffer.bin",
                  "--buffer", "buffer.bin", "buffer.pkl"], 0, b"(buffer 0)\n")
    cli.attempt(["one.policy", "--buffer", "missing.bin", "buffer.pkl"], 3, b"", b"missing.bin")


def test_inspection(cli):
    cli.unpickle(["--inspect", "--print", "tree", "call.pkl"], 1)
    cli.unpickle(["--inspect", "--print", "tree", "--opcodes", "core,python2", "call.pkl"], 0,
                 b'(reduce (global "os" "system") (tuple (str8 74727565)))\n')
    _, out, _ = cli.run("unpickle", "--inspect", "--tsv", "python2.pkl")
    cli.check(out.startswith(b"python2.pkl\trefused\topcode\t"), "default family: %r" % out)
    cli.unpickle(["--opcodes", "python2", "--inspect", "python2.pkl"], 0, b"'a'\n")


def test_channels(cli):
    cli.attempt(["channels.policy:numbers", "one.pkl"], 0, b"1\n")
    cli.attempt(["channels.policy:texts", "one.pkl"], 1)
    cli.attempt(["channels.policy:texts", "text.pkl"], 0, b"'x\\ty'\n")
    cli.attempt(["a:b.policy", "one.pkl"], 0, b"1\n")
    status, out, err = cli.run("policyc", "channels.policy", "one.pkl")
    cli.check(status == 2 and b"channel" in err and not out, "several channels: %r" % ((status, out, err),))


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        cli = Cli(build, folder)
        write_files(cli)
        for test in (test_exit_status, test_usage, test_order, test_forms, test_cycles, test_tsv, test_json_lines, test_shipped,
                     test_no_pickle, test_input, test_large, test_buffers, test_inspection, test_channels):
            test(cli)
    return cli.finish()


if __name__ == "__main__":
    sys.exit(main())
