#!/usr/bin/python3
"""What the documents promise: links lead somewhere, and each invariant of docs/security.md names tests that there are.

usage: test_documents.py BUILD       (from the top folder)
"""
import glob
import os
import re
import sys

from tally import Tally

# Files that no test of theirs can be named in: they are one.
WHOLE = ("tests/fuzz/", "tests/find_class/")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def anchors(text):
    """What `#...` may name: headings, as renderers of Markdown spell them."""
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def check_links(tally, path):
    text = re.sub(r"^```.*?^```$", "", read(path), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        tally.check(os.path.isfile(file), "%s: no file %s" % (path, target))
        tally.check(not anchor or os.path.isfile(file) and anchor in anchors(read(file)), "%s: no place %s" % (path, target))


def tests_in(path):
    """Names of the tests of a file: those that a unit test runs, the functions of a script."""
    text = read(path)
    if path.endswith(".py"):
        return set(re.findall(r"^def (\w+)\(", text, re.M))
    defined = set(re.findall(r"^static void (\w+)\(void \*\*", text, re.M))
    run = "".join(re.findall(r"\bstruct CMUnitTest \w+\[\] = \{(.*?)\};", text, re.S))
    return defined & set(re.findall(r"\w\((\w+)", run))


def check_invariant(tally, number, text):
    what = "docs/security.md, invariant %d" % number
    named, path = {}, None
    for word in re.findall(r"`([^`\s]+)`", text.partition("- Tests:")[2]):
        if re.search(r"\.(c|py|sh)$", word):
            path = "tests/" + word
            named[path] = []
        elif path:
            named[path].append(word)
    tally.check(named, what + ": no test")
    for path, names in named.items():
        if not os.path.isfile(path):
            tally.check(False, "%s: no file %s" % (what, path))
            continue
        tally.check(names or path.startswith(WHOLE), "%s: no test named in %s" % (what, path))
        for name in names:
            tally.check(name in tests_in(path), "%s: %s has no test %s" % (what, path, name))


def main():
    tally = Tally()
    for path in ["README.md"] + sorted(glob.glob("docs/*.md")):
        check_links(tally, path)
    section = read("docs/security.md").partition("\n## Invariants\n")[2].partition("\n## ")[0]
    invariants = re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |^#|\Z)", section, re.M | re.S)
    tally.check(len(invariants) > 20 and [int(n) for n, _ in invariants] == list(range(1, len(invariants) + 1)),
                "docs/security.md: invariants are not numbered in order")
    for number, text in invariants:
        check_invariant(tally, int(number), text)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
