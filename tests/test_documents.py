#!/usr/bin/python3
"""What the documents promise: links lead somewhere, each invariant of docs/security.md names tests that there are,
docs/refusals.md has all codes, docs/policies.md names what is shipped.

usage: test_documents.py BUILD       (from the top folder)
"""
import glob
import os
import re
import sys

from grants import granted_names
from tally import Tally

# Fragments of which docs/policies.md names all that they grant.
FRAGMENTS = "plain numbers decimal-context datetime ids collections text misc regex iterators random".split()

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
        return set(re.findall(r"^(?:async )?def (\w+)\(", text, re.M))
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


def check_refusals(tally):
    """docs/refusals.md has a section for each code, under the sentence that a refusal says, and names its class."""
    codes = re.findall(r'^ +X\((\d+), \w+, (\w+), "(.*)"\)', read("runtime/upk.h").partition("#define UPK_CODES(X)")[2], re.M)
    tally.check(len(codes) > 50, "runtime/upk.h: few codes found")
    sections = re.findall(r"^### (.*)\n\n(.*)", read("docs/refusals.md"), re.M)
    wanted, got = ["R%s %s" % (number, sentence) for number, _, sentence in codes], [head for head, _ in sections]
    tally.check(got == wanted, "docs/refusals.md: not the codes of runtime/upk.h, or in another order: %s" % sorted(set(wanted) ^ set(got)))
    for number, cls, _ in codes:
        text = next((text for head, text in sections if head.startswith("R" + number)), "")
        tally.check(text.startswith("Class `%s`. " % cls.lower()), "docs/refusals.md: R%s is of class %s" % (number, cls))


def check_shipped(tally):
    """docs/policies.md names each policy, each fragment and what that grants; of exceptions their modules, or `concurrent.futures`
    with what stands below it."""
    text = read("docs/policies.md")
    named = {word for code in re.findall(r"`([^`\n]+)`", text) for word in (code, code.rpartition(".")[2])}
    for path in sorted(glob.glob("policies/*.policy") + glob.glob("policies/*/*.policy")):
        folder, _, name = path[len("policies/"):-len(".policy")].rpartition("/")
        tally.check((folder + "." * bool(folder) + name.replace("-", "_")) in named, "docs/policies.md does not name %s" % path)
    for name in granted_names(FRAGMENTS):
        last = name.rpartition("::")[2]
        tally.check(last in named or last.rpartition(".")[2] in named, "docs/policies.md does not name %s" % name)
    for module in {name.partition("::")[0] for name in granted_names(["exceptions"])} - {"builtins"}:
        outer, _, inner = module.rpartition(".")
        tally.check(module in named or outer in named and inner in named, "docs/policies.md does not name the exceptions of %s" % module)


def main():
    tally = Tally()
    check_refusals(tally)
    check_shipped(tally)
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
