#!/usr/bin/python3
"""`--diagnostics=json`: the same messages as text, for programs.

usage: test_diagnostics.py BUILD       (from the top folder, after `make`)

Each file of tests/policy/bad is compiled with both forms: the text, less its excerpts, can be written from the JSON, and places are
those of the bytes that the offsets name.
"""
import glob
import json
import os
import sys
import tempfile

from policyc import Policyc, tally

PLACE = ["file", "line", "column", "end_line", "end_column", "offset", "end_offset"]
RECORD = ["severity", "code", "message", *PLACE, "notes", "hint"]


class Diagnosing(Policyc):
    def records(self, *arguments, cwd=None):
        """Exit status and the objects; none where a line is no object or not plain ASCII."""
        at = 1 if arguments[0] in ("try", "list") else 0
        status, _, err = self.run_bytes(*arguments[:at], "--diagnostics=json", *arguments[at:], cwd=cwd)
        good = all(0x20 <= byte < 0x7f or byte == 10 for byte in err) and (not err or err.endswith(b"\n"))
        tally.check(good, "%s: plain ASCII lines: %r" % (arguments, err))
        try:
            return status, [json.loads(line) for line in err.decode("ascii").splitlines()]
        except ValueError as wrong:
            tally.check(False, "%s: %s: %r" % (arguments, wrong, err))
            return status, []


def is_excerpt(line):
    return line[:8].lstrip(" 0123456789").startswith("| ")


def where(place):
    return "policyc: " if place["file"] is None else "%(file)s:%(line)d:%(column)d: " % place


def as_text(records):
    lines = []
    for r in records:
        if r["severity"] == "more":
            lines.append("policyc: %d more errors are not shown" % r["errors"])
            continue
        lines.append("%serror: %s [%s]" % (where(r), r["message"], r["code"]))
        lines += ["%snote: %s" % (where(note), note["message"]) for note in r["notes"]]
        if r["hint"] is not None:
            lines.append("      = hint: " + r["hint"])
    return lines


def position(data, offset):
    """Line and column of a byte, from 1, columns in characters."""
    start = data.rfind(b"\n", 0, offset) + 1
    return data.count(b"\n", 0, offset) + 1, sum(byte & 0xc0 != 0x80 for byte in data[start:offset]) + 1


def check_place(path, place):
    if place["file"] is None:
        tally.check(all(place[key] is None for key in PLACE), "%s: %s" % (path, place))
        return
    with open(place["file"], "rb") as file:
        data = file.read()
    begin, end = place["offset"], place["end_offset"]
    tally.check(0 <= begin <= end <= len(data), "%s: offsets %s" % (path, place))
    tally.check(position(data, begin) == (place["line"], place["column"]), "%s: begin %s" % (path, place))
    tally.check(position(data, end) == (place["end_line"], place["end_column"]), "%s: end %s" % (path, place))


def check_policies(policyc):
    count = 0
    for path in sorted(glob.glob("tests/policy/bad/*.policy")):
        text_run = policyc.run_bytes(path)
        text_status, _, text = text_run
        status, records = policyc.records(path)
        text = [line for line in text.decode("utf-8", "replace").splitlines() if not is_excerpt(line)]
        tally.check(status == text_status == 2 and text == as_text(records), "%s:\n%s\n---\n%s" % (
            path, "\n".join(text), "\n".join(as_text(records))))
        tally.check(policyc.run_bytes("--diagnostics=text", path) == text_run, "%s: text is what holds where nothing is said" % path)
        for r in records:
            count += 1
            if r["severity"] == "more":
                continue
            tally.check(list(r) == RECORD and r["severity"] == "error", "%s: members of %s" % (path, r))
            check_place(path, r)
            for note in r["notes"]:
                tally.check(list(note) == ["message", *PLACE], "%s: members of %s" % (path, note))
                check_place(path, note)
    tally.check(count > 100, "only %d messages" % count)


def check_commands(policyc, folder):
    def write(name, data):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(data)
        return name

    bad = write(b"bad.policy", b"policy p 1;\nroot Nothing;\n").decode()
    for arguments in ([bad], ["list", bad], ["try", bad, "-"]):
        status, records = policyc.records(*arguments, cwd=folder)
        tally.check(status == 2 and [r["code"] for r in records] == ["P0030"] and records[0]["file"] == bad, "%s: %s" % (arguments, records))
    status, records = policyc.records("none.policy", cwd=folder)
    tally.check(status == 3 and [(r["code"], r["file"]) for r in records] == [("P0001", None)], "no file: %s" % records)
    channels = write(b"channels.policy", b"policy p 1;\nchannel a { }\nchannel b { }\n").decode()
    for arguments in (["--nothing"], [bad, bad], [bad, "-o"], ["list", "--nothing"], ["list", channels + ":c"], ["try", "--nothing"],
                      ["try", channels, "-"], ["try", channels + ":c", "-"], ["try"]):
        status, records = policyc.records(*arguments, cwd=folder)
        tally.check(status == 2 and [(r["code"], r["file"]) for r in records] == [("P0008", None)], "%s: %s" % (arguments, records))
    good = write(b"good.policy", b"policy p 1;\n").decode()
    status, records = policyc.records(good, cwd=folder)
    tally.check(status == 0 and not records, "nothing to say: %s" % records)
    odd = {b"\xff\x1b.policy": "\\xFF\x1b.policy", "\u202e\U0001f600.policy".encode(): "\u202e\U0001f600.policy"}
    for name, shown in odd.items():
        write(name, b"policy p 1;\nroot Nothing | \"\xff\";\n")
        status, records = policyc.records(name, cwd=folder)
        tally.check(status == 2 and records and all(r["file"] == shown for r in records), "%r: %s" % (name, records))
    long = write(b"long.policy", b"policy p 1;\nroot " + "é".encode() * 4000 + b"Nothing" * 200 + b";\n").decode()
    status, records = policyc.records(long, cwd=folder)
    tally.check(status == 2 and records, "a long name: %s" % records)
    many = write(b"many.policy", b"policy p 1;\n" + b"budget nothing 1;\n" * 25).decode()
    status, records = policyc.records(many, cwd=folder)
    tally.check(status == 2 and len(records) == 21 and records[-1] == {"severity": "more", "errors": 5}, "beyond the cap: %s" % records[-1:])
    for value in ("xml", "", "JSON"):
        for arguments in ([bad], ["list", bad], ["try", bad, "-"]):
            command = arguments[:-1] + ["--diagnostics", value] + arguments[-1:]
            status, out, err = policyc.run_bytes(*command, cwd=folder)
            tally.check(status == 2 and not out and err.startswith(b"policyc"), "%s: %r" % (command, err))


def main():
    policyc = Diagnosing(sys.argv[1])
    check_policies(policyc)
    with tempfile.TemporaryDirectory() as folder:
        check_commands(policyc, folder)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
