#!/usr/bin/python3
"""Run the commands of README.md and docs/*.md as shown, each page in a scratch copy of the tree, and compare what they print.

usage: test_pages.py BUILD [PAGE...]       (from the top folder, after `make`)

In a block ```console a line `$ COMMAND` is a command (continued by lines `> ...`), and what follows it is what it prints,
standard error included; a line `...` stands for any lines.  A command ends with status 0, or with N where `# exit N` stands
behind it.  What runs upk-run is left out, and said to be so, where this machine confines no child.  Folder and exported variables last from one command to the next, as in a terminal.  A block after a line
`<!-- file NAME -->` is the text of that file: of the tree, where it has one of that name, else it is written for the commands
that follow.
"""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

import children
from scratch import copy_tree, environment
from tally import Tally


# What needs that a child can be confined.
CONFINES = re.compile(r"build/upk-run -|\./parent |_guard\.run\(")


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


def commands(page, lines, first):
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
            sys.exit("%s:%d: output before a command" % (page, number))
    return found


def matches(expected, got):
    """`...` in `expected` stands for any number of lines."""
    if not expected:
        return not got
    if expected[0] == "...":
        return any(matches(expected[1:], got[n:]) for n in range(len(got) + 1))
    return bool(got) and expected[0].rstrip() == got[0].rstrip() and matches(expected[1:], got[1:])


# Where a fresh system has its programs: a confined child is told where another one comes first.
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Session:
    """A terminal, whose folder and exported variables are kept in a file between commands."""

    def __init__(self, scratch, tree):
        self.tree, self.kept, self.variables = tree, os.path.join(scratch, "kept"), environment(PATH=SYSTEM)
        with open(self.kept, "w", encoding="utf-8") as file:
            file.write("cd %s\n" % shlex.quote(tree))

    def run(self, command):
        """(exit status, lines printed)."""
        kept = shlex.quote(self.kept)
        script = ". %s\ntrap '{ printf \"cd %%q\\n\" \"$PWD\"; export -p; } >%s' EXIT\n%s\n" % (kept, kept, command)
        done = subprocess.run(["bash", "-c", script], cwd=self.tree, env=self.variables, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        lines = done.stdout.decode("utf-8", "replace").split("\n")
        return done.returncode, lines[:-1] if lines[-1] == "" else lines


def provide(tally, tree, page, name, lines, first):
    """The file `name` of the page is the tree's, or comes to stand there."""
    text = "\n".join(lines) + "\n"
    if os.path.exists(name):
        with open(name, encoding="utf-8") as file:
            tally.check(file.read() == text, "%s:%d: not the text of %s" % (page, first, name))
        return
    path = os.path.join(tree, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def run_page(tally, build, page, text):
    with tempfile.TemporaryDirectory() as scratch:
        tree = os.path.join(scratch, "tree")
        copy_tree(build, tree)
        session = Session(scratch, tree)
        for language, name, lines, first in blocks(text):
            if name:
                provide(tally, tree, page, name, lines, first)
            if language != "console":
                continue
            for command, expected, number in commands(page, lines, first):
                if CONFINES.search(command) and children.confinement():
                    print("not run: %s:%d: $ %s: %s" % (page, number, command, children.confinement()))
                    continue
                wanted = re.search(r"# exit (\d+)$", command)
                status = int(wanted.group(1)) if wanted else 0
                got, printed = session.run(command)
                tally.check(matches(expected, printed) and got == status, "%s:%d: $ %s\nexit %d, expected %d; printed:\n%s"
                            % (page, number, command, got, status, "\n".join(printed)))


def main():
    tally = Tally()
    pages = sys.argv[2:] or ["README.md"] + sorted(glob.glob("docs/*.md"))
    for page in pages:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        if "\n```console\n" in text:
            run_page(tally, sys.argv[1], page, text)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
