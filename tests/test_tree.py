#!/usr/bin/python3
"""What the tree promises about itself: public headers stand alone, the library shows and needs no more than it says, the layers
point one way, files stay small, and docs/runtime.md says what each file of the library does.

usage: test_tree.py BUILD       (from the top folder, after `make`)
"""
import fnmatch
import glob
import os
import re
import subprocess
import sys

from tally import Tally

STRICT = ("-std=c11 -pedantic -Wall -Wextra -Wshadow -Wconversion -Wvla -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes "
          "-Werror").split()

# What the C library must not be asked for by the runtime: ends of the program, its own output, its own state.
FORBIDDEN = {"abort", "exit", "_exit", "_Exit", "quick_exit", "printf", "puts", "putchar", "perror", "stdout", "stderr", "longjmp",
             "setjmp", "_setjmp", "__longjmp_chk", "getenv", "setlocale", "rand", "srand", "time", "signal", "system", "popen", "fopen",
             "open", "read", "write", "dlopen", "alloca"}

# Of these, what runtime/run is for.
OF_PROCESSES = {"_exit", "open", "read", "write", "signal"}

MOST_LINES = 600


def headers_stand_alone(tally):
    for header in ("runtime/upk.h", "runtime/upk_tables.h", "runtime/upk_environment.h", "runtime/upk_run.h", "runtime/find_class.h"):
        for compiler in (os.environ.get("CC", "gcc"), os.environ.get("CLANG", "clang")):
            source = '#include "%s"\n#include "%s"\nextern int nothing;\n' % (header, header)
            done = subprocess.run([compiler, *STRICT, "-I.", "-fsyntax-only", "-xc", "-"], input=source.encode(),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            tally.check(done.returncode == 0, "%s alone by %s:\n%s" % (header, compiler, done.stdout.decode()))


def symbols_of(library, member):
    """(shown, needed, writable) names of an object of the library."""
    printed = subprocess.run(["nm", "-P", library], stdout=subprocess.PIPE, check=True).stdout.decode()
    lines = re.search(r"^\S*\[%s\]:\n(.*?)(?=^\S*\[|\Z)" % re.escape(member), printed, re.M | re.S).group(1).splitlines()
    symbols = [line.split()[:2] for line in lines if len(line.split()) >= 2]
    kinds = [{name for name, kind in symbols if kind in wanted} for wanted in ("TDBRVW", "U", "BbDdCc")]
    return kinds[0], kinds[1], {name for name in kinds[2] if not name.startswith(".")}


def library_shows_and_needs_little(build, tally):
    """What starts processes is an object of its own, which the rest does not need."""
    shown, needed, writable = symbols_of(build + "/libupk.a", "upk.o")
    run, run_needed, run_writable = symbols_of(build + "/libupk.a", "upk_run.o")
    for names in (shown, run):
        tally.check(names and all(name.startswith("upk_") for name in names), "shown: %s" % sorted(names))
    tally.check(needed and not needed & FORBIDDEN, "needed: %s" % sorted(needed & FORBIDDEN))
    tally.check(not needed & run, "needed of upk_run.o: %s" % sorted(needed & run))
    tally.check(not run_needed & (FORBIDDEN - OF_PROCESSES), "needed by upk_run.o: %s" % sorted(run_needed & FORBIDDEN))
    writable |= run_writable
    # Data with pointers in it is relocated once and never written by the library.
    sections = subprocess.run(["objdump", "-h", build + "/libupk.a"], stdout=subprocess.PIPE, check=True).stdout.decode()
    sizes = {name: int(size, 16) for name, size in re.findall(r"^\s*\d+ (\.data|\.bss)\s+([0-9a-f]+)", sections, re.M)}
    tally.check(not any(sizes.values()), "writable data: %s %s" % (sizes, sorted(writable)))

    for header, names in (("upk.h", shown), ("upk_environment.h", shown), ("upk_run.h", run)):
        declared = set(re.findall(r"\b(upk_[a-z0-9_]+)\(", open("runtime/" + header, encoding="utf-8").read()))
        tally.check(declared and declared <= names, "declared in %s, not in the library: %s" % (header, sorted(declared - names)))


def layers_point_one_way(tally):
    for path in sorted(glob.glob("runtime/*.[ch]") + glob.glob("runtime/python/*.[ch]") + glob.glob("runtime/run/*.[ch]")
                       + glob.glob("compiler/*.[ch]")
                       + glob.glob("tools/*.[ch]")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        tally.check(text.startswith("/*"), "%s: no comment at its head" % path)
        tally.check(text.count("\n") < MOST_LINES, "%s: %d lines" % (path, text.count("\n")))
        included = {os.path.normpath(os.path.join(os.path.dirname(path), name)) for name in re.findall(r'#include "([^"]+)"', text)}
        folders = {os.path.dirname(name) for name in included if "/" in name}
        of_hosts = {"runtime/upk.h", "runtime/upk_environment.h", "runtime/upk_run.h"}
        public = {"runtime/upk_tables.h"} | ({"runtime/compat_names.h"} if path.startswith("compiler/") else of_hosts)
        if path == "compiler/names.c":
            public.add("runtime/upk.h")  # the list of dangerous names
        if path in ("compiler/environment.c", "compiler/environment_lines.c", "compiler/list_child.c"):
            public.add("runtime/upk_environment.h")  # the rules of values, which have one meaning
        if path == "compiler/diff_open.c":
            public.add("runtime/deny.h")  # which denied names spare what inherits from them
        private = {name for name in included if name.startswith("runtime/")} - public
        if path.startswith("runtime/python/"):
            tally.check(folders <= {"runtime", "runtime/python"}, "%s includes %s" % (path, sorted(included)))
        elif path.startswith("runtime/run/"):
            tally.check(private <= {"runtime/run/run.h"} and folders <= {"runtime", "runtime/run"}, "%s includes %s" % (path, sorted(included)))
        elif path.startswith("runtime/"):
            tally.check("Python.h" not in text, "%s includes Python.h" % path)
            tally.check(folders <= {"runtime"}, "%s includes %s" % (path, sorted(included)))
        else:
            above = {"tools"} if path.startswith("compiler/") else set()
            tally.check(not private and not folders & above, "%s includes %s" % (path, sorted(included)))


def documents_name_files(tally):
    with open("docs/runtime.md", encoding="utf-8") as file:
        cells = re.findall(r"^\| (`[^|]*\.[ch]`) \|", file.read(), re.M)
    named = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    files = [os.path.basename(path) for path in sorted(glob.glob("runtime/*.c"))]
    for file in files:
        tally.check(any(fnmatch.fnmatchcase(file, name) for name in named), "docs/runtime.md does not name %s" % file)
    for name in named:
        tally.check(glob.glob("runtime/" + name), "docs/runtime.md names %s, which is not there" % name)


def main():
    tally = Tally()
    headers_stand_alone(tally)
    library_shows_and_needs_little(sys.argv[1], tally)
    layers_point_one_way(tally)
    documents_name_files(tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
