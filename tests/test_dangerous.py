#!/usr/bin/python3
"""policies/std/dangerous.policy: every name in it binds the policy that includes it, the runtime knows it as dangerous, and
what the runtime knows (runtime/dangerous.c) is in it.  Every shipped policy includes it.

usage: test_dangerous.py BUILD      (from the top folder)
"""
import glob
import os
import re
import sys
import tempfile

from policyc import Policyc, tally, write

LIST = "policies/std/dangerous.policy"
REACHES_SYSTEM, NEVER_VIOLATED = "P0064", "P0075"
BATCH = 9  # policyc stops at twenty errors, and each name gives two


def listed_names():
    with open(LIST, encoding="utf-8") as file:
        text = re.sub(r"#[^\n]*", "", file.read())
    return [(module, name.strip('"')) for module, name in re.findall(r'([\w.]+)::("?[\w.]+"?)', text)], text


def known_names():
    """(module names, {module: callables}) of the two tables in runtime/dangerous.c."""
    with open("runtime/dangerous.c", encoding="utf-8") as file:
        text = re.sub(r'"\n *"', "", file.read())  # one text of two lines
    modules, callables = re.findall(r"\}\s*(modules|callables)\[\] = \{(.*?)^\};", text, re.M | re.S)
    return (re.findall(r'\{"([\w.]+)",', modules[1]),
            {module: words.split() for module, words in re.findall(r'\{"([\w.]+)",\s*"([^"]*)"\}', callables[1])})


def errors_of(policyc, policy):
    """{(code, module, name)} of the messages of policyc."""
    messages = policyc.run(policy, "--policy-dir", "policies")[2]
    return set(re.findall(r"error: `([\w.]+)::([\w.]+)' .* \[(P\d+)\]", messages))


def check_names(policyc, names, folder):
    for first in range(0, len(names), BATCH):
        batch = names[first:first + BATCH]
        path = os.path.join(folder, "grants.policy")
        write(path, 'policy grants 1;\ninclude "std/dangerous.policy";\n'
              + "".join('module %s { class "%s" ref; }\n' % name for name in batch))
        errors = errors_of(policyc, path)
        for name in batch:
            tally.check((*name, NEVER_VIOLATED) in errors, "%s::%s does not bind who includes the list" % name)
            tally.check((*name, REACHES_SYSTEM) in errors, "%s::%s is listed, and runtime/dangerous.c does not know it" % name)


def main():
    names, text = listed_names()
    tally.check(len(names) > 200 and len(names) == len(set(names)), "names: few, or one twice")
    tally.check("*" not in text and not re.search(r"(?<!::)\b(module|opcodes)\b", text), "%s holds more than exact names" % LIST)
    modules, callables = known_names()
    tally.check(len(modules) > 20 and len(callables) > 10, "runtime/dangerous.c: tables not found")
    known = {(module, word) for module, words in callables.items() for word in words}
    with tempfile.TemporaryDirectory() as folder:
        check_names(Policyc(sys.argv[1]), sorted(known.union(names)), folder)
    for module in modules:
        tally.check(any(m == module or m.startswith(module + ".") for m, _ in names), "no name of module %s is listed" % module)
    for policy in glob.glob("policies/*.policy"):
        with open(policy, encoding="utf-8") as file:
            tally.check('include "std/dangerous.policy";' in file.read(), "%s does not include the list" % policy)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
