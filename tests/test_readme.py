#!/usr/bin/python3
"""Run the commands of README.md as shown, in a scratch copy of the tree, and compare what they print.

usage: test_readme.py BUILD       (from the top folder, after `make`)

In a block ```console a line `$ COMMAND` is a command (continued by lines `> ...`), and what follows it is what it prints,
standard error included; a line `...` stands for any lines.  A command ends with status 0, or with N where `# exit N` stands
behind it.  A block after a line `<!-- file NAME -->` is the text of that file: of the tree, where it has one of that name,
else it is written for the commands that follow.
"""
import os
import re
import subprocess
import sys
import tempfile

from scratch import copy_tree, environment
from tally import Tally


def blocks(text):
    """(language, file name or None, lines, number of the first line)."""
    language = name = None
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if language is None:
            if re.fullmatch(r"```\w+", line):
                language, lines, first = line[3:], [], number + 1
            elif line.strip():
                found = re.fullmatch(r"<!-- file (\S+) -->", line)
                name = found.group(1) if found else None
        elif line == "```":
            yield language, name, lines, first
            language = name = None
        else:
            lines.append(line)


def commands(lines, first):
    """(command, expected lines, line number)."""
    found = []
    for number, line in enumerate(lines, first):
        if line.startswith("$ "):
            found.append((line[2:], [], number))
        elif line.startswith("> ") and found and not found[-1][1]:
            command, expected, start = found[-1]
            found[-1] = command + "\n" + line[2:], expected, start
        elif found:
            found[-1][1].append(line)
        else:
            sys.exit("README.md:%d: output before a command" % number)
    return found


def matches(expected, got):
    """`...` in `expected` stands for any number of lines."""
    if not expected:
        return not got
    if expected[0] == "...":
        return any(matches(expected[1:], got[n:]) for n in range(len(got) + 1))
    return bool(got) and expected[0].rstrip() == got[0].rstrip() and matches(expected[1:], got[1:])


def main():
    build = sys.argv[1]
    with open("README.md", encoding="utf-8") as file:
        readme = file.read()
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        tree = os.path.join(scratch, "tree")
        copy_tree(build, tree)
        variables = environment()
        for language, name, lines, first in blocks(readme):
            if name and os.path.exists(name):
                with open(name, encoding="utf-8") as file:
                    same = file.read() == "\n".join(lines) + "\n"
                tally.check(same, "README.md:%d: not the text of %s" % (first, name))
            elif name:
                with open(os.path.join(tree, name), "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")
            if language != "console":
                continue
            for command, expected, number in commands(lines, first):
                done = subprocess.run(["bash", "-c", command], cwd=tree, env=variables, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
                got = done.stdout.decode("utf-8", "replace").split("\n")
                if got[-1] == "":
                    got.pop()
                wanted = re.search(r"# exit (\d+)$", command)
                status = int(wanted.group(1)) if wanted else 0
                tally.check(matches(expected, got) and done.returncode == status,
                            "README.md:%d: $ %s\nexit %d, expected %d; printed:\n%s"
                            % (number, command, done.returncode, status, "\n".join(got)))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
