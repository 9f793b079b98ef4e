#!/usr/bin/python3
"""The manual pages: mandoc finds nothing to say of them, and they name what there is, no more and no less: options as --help has
them, functions as the headers declare them, words as the grammar knows them.  The example of policy(5) compiles.

usage: test_man.py BUILD       (from the top folder, after `make`)
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

from tally import Tally

OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def rendered(page):
    """The page as text, without overstriking."""
    return re.sub(r".\x08", "", run(["mandoc", "-Tascii", "-Owidth=200", page])[1])


def section(text, name):
    return re.search(r"^%s\n(.*?)(?=^[A-Z]|\Z)" % name, text, re.M | re.S).group(1)


def check_lint(tally, pages):
    """mandoc looks for references among the installed pages, where these may be missing: those are looked for here."""
    own = {"%s %s" % (name, section) for name, section in (os.path.basename(page).split(".") for page in pages)}
    for page in pages:
        output = run(["mandoc", "-Tlint", page])[1]
        said = [line for line in output.splitlines() if not line.startswith("mandoc: outdated mandoc.db")
                and re.sub(r".*referenced manual not found: Xr (\S+ \d).*", r"\1", line) not in own]
        tally.check(not said, "\n".join(said))
        tally.check(set(re.findall(r"^\.Xr (\S+ \d)", read(page), re.M)) <= own, page + ": refers to other pages")


def check_options(tally, build):
    page = section(rendered("docs/man/policyc.1"), "OPTIONS")
    parts = re.split(r"^ +(policyc \w+)\n", page, flags=re.M)
    texts = {"policyc": parts[0], **dict(zip(parts[1::2], parts[2::2])), **{name: section(rendered("docs/man/%s.1" % name), "OPTIONS") for name in ("unpickle", "upk-run")}}
    tally.check({"policyc list", "policyc diff", "policyc try", "policyc fmt"} <= set(texts), "policyc(1), its commands: %s" % sorted(texts))
    for program, text in texts.items():
        words = program.split()
        status, output = run([os.path.join(build, words[0]), *words[1:], "--help"])
        wanted = set(OPTION.findall(re.sub(r"`.*?`|^usage:.*?\n\n", "", output, flags=re.M | re.S)))
        named = {line for line in text.split("\n") if line.strip().startswith("-")}
        got = set(OPTION.findall("\n".join(named)))
        tally.check(status == 0 and wanted and got == wanted, "%s: --help has %s, the page %s" % (program, wanted - got, got - wanted))


HEADERS = {"upk.3": ["upk.h"], "upk_run.3": ["upk_environment.h", "upk_run.h"]}


def in_headers(names):
    """{name: prototype} of what they declare."""
    text = re.sub(r"/\*.*?\*/", "", "".join(read("runtime/" + name) for name in names), flags=re.S)
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
    return {name: (" ".join(kind.split()), *(" ".join(a.split()) for a in arguments.split(",")))
            for kind, name, arguments in re.findall(r"^((?:const |struct |enum )*\w+ \**)(upk_\w+)\(([^;{}]*)\);", text, re.M)}


def in_page(name):
    """The same of its synopsis."""
    text = read("docs/man/" + name).partition(".Sh SYNOPSIS\n")[2].partition("\n.Sh ")[0]
    found = {}
    for kind, name, arguments in re.findall(r'^\.Ft "?(.*?)"?\n\.F[no] (upk_\w+)((?: "[^"]*")*(?:\n\.Fa "[^"]*")*)', text, re.M):
        found[name] = (kind, *re.findall(r'"([^"]*)"', arguments))
    return found


def check_functions(tally):
    for own, names in HEADERS.items():
        header, page = in_headers(names), in_page(own)
        tally.check(len(header) > 8, "%s: few functions found" % names)
        for name in sorted(set(header) | set(page)):
            tally.check(header.get(name) == page.get(name), "%s: %s has %s, %s %s" % (name, names, header.get(name), own, page.get(name)))
    public = {os.path.basename(path) for path in glob.glob("runtime/upk*.h")} - {"upk_tables.h", "upk_version.h"}
    tally.check(public == {name for names in HEADERS.values() for name in names}, "headers without a page: %s" % public)


def check_words(tally, build):
    text = rendered("docs/man/policy.5")
    for word in re.findall(r"^(\w+), TOK_", read("grammar/keywords.gperf"), re.M):
        tally.check(re.search(r"(?<!\w)%s(?!\w)" % word, section(text, "DESCRIPTION")), "policy(5) does not have `%s'" % word)
    example = read("docs/man/policy.5").partition(".Sh EXAMPLES\n.Bd -literal\n")[2].partition(".Ed\n")[0]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "example.policy")
        with open(path, "w", encoding="utf-8") as file:
            file.write(example)
        status, output = run([os.path.join(build, "policyc"), path, "--policy-dir", "policies"])
        tally.check(example and status == 0 and not output, "policy(5), its example:\n" + output)


def main():
    build, tally = sys.argv[1], Tally()
    check_lint(tally, sorted(glob.glob("docs/man/*.[1-9]")))
    check_options(tally, build)
    check_functions(tally)
    check_words(tally, build)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
