#!/usr/bin/python3
"""Build the examples as their users do: outside the tree, with an installed policyc and libupk, by make and by CMake.

usage: test_examples.py BUILD       (from the top folder, after `make`)
"""
import glob
import importlib.util
import os
import pickle
import shlex
import shutil
import subprocess
import sys
import tempfile

from scratch import copy_tree, environment
from tally import Tally
from test_documents import check_links

sys.dont_write_bytecode = True

CC = os.environ.get("CC", "gcc")
STRICT = "-O1 -std=c11 -Wall -Wextra -Wshadow -Wconversion -Werror"

REPORT = """nightly 1207: full build
  compile: exit 0 after 12.5 s
    warning: unused variable: n
    warning: comparison of different signs
  test: exit 1 after 3.2 s
"""
# Arguments, exit status, the beginning of the output.
RUNS = (
    ("report.pkl", 0, REPORT),
    ("failure.pkl", 0, "failed at step 1: no space left on device\n"),
    ("hostile.pkl", 1, "refused: global posix::system is not granted, and no policy should grant it [R201]\n"),
    ("wrong.pkl", 1, "refused: farm::Step: object is not made as its row says: state at .state.exit_code: expected int[-255..255]"),
    ("hostile.pkl failure.pkl", 1, "refused: "),
    ("nothing.pkl", 2, "nothing.pkl: "),
)

# What a host in C++ sees: both headers, a switch on rows, an enum's member, a refusal.
CPP_HOST = r"""
#include <cstdio>
#include <iterator>
#include <string>
#include <upk.h>
#include "farm.h"

static std::string text(const upk_doc *doc, upk_value v, const char *name) {
    const char *at = nullptr;
    std::size_t len = 0;
    return upk_field_str(doc, v, name, &at, &len) ? std::string(at, len) : std::string("?");
}

int main(int, char **argv) {
    std::FILE *file = std::fopen(argv[1], "rb");
    static char bytes[1 << 16];
    const std::size_t len = std::fread(bytes, 1, sizeof bytes, file);
    std::fclose(file);
    upk_doc *doc = nullptr;
    upk_error err;
    if (!upk_decode(&farm_results, bytes, len, nullptr, &doc, &err)) {
        upk_error_write(&err, stdout);
        return err.code == UPK_ERR_GLOBAL ? 1 : 2;
    }
    const upk_value root = upk_doc_root(doc);
    upk_value mode, value;
    switch (upk_value_row(doc, root)) {
    case FARM_RESULTS_FARM_REPORT:
        std::printf("%s\n", text(doc, root, "job").c_str());
        if (upk_object_field(doc, root, "mode", &mode) && upk_get_member(doc, mode, &value) && upk_str_is(value, "full"))
            std::puts("full");
        break;
    case FARM_RESULTS_FARM_BUILDERROR: std::printf("%s\n", text(doc, root, "message").c_str()); break;
    default: std::puts("?"); break;
    }
    upk_doc_free(doc);
    return 0;
}
"""


def run(command, folder, variables):
    done = subprocess.run(command if isinstance(command, list) else shlex.split(command), cwd=folder, env=variables,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def copy_example(to):
    shutil.copytree("tools/examples/build-farm", to, ignore=shutil.ignore_patterns("out"))


def install(build, scratch):
    """Staged as packages are, then moved to where it says it is.  Returns the environment of a user."""
    tree, stage, prefix = scratch + "/tree", scratch + "/stage", scratch + "/prefix"
    copy_tree(build, tree)
    status, output = run(["make", "-s", "install", "DESTDIR=" + stage, "PREFIX=" + prefix, "CC=" + CC], tree, environment())
    if status != 0:
        sys.exit("make install:\n" + output)
    os.rename(stage + prefix, prefix)
    return environment(PATH=prefix + "/bin:" + os.environ["PATH"], PKG_CONFIG_PATH=prefix + "/lib/pkgconfig")


def write_by_value(example):
    """The report as it is pickled where members of enums go by value; the one that is checked in has them by name."""
    spec = importlib.util.spec_from_file_location("make_pickles", example + "/make_pickles.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.Mode.__reduce_ex__ = lambda self, protocol: (type(self), (self.value,))
    report = module.values()["report"]
    names = []
    for protocol in range(2, 6):
        names.append("by_value.p%d.pkl" % protocol)
        with open(os.path.join(example, names[-1]), "wb") as file:
            file.write(pickle.dumps(report, protocol))
    return names


def check_runs(tally, what, program, example, variables):
    for arguments, status, beginning in RUNS:
        got, output = run([program] + arguments.split(), example, variables)
        tally.check(got == status and output.startswith(beginning),
                    "%s: farm %s: exit %d, expected %d; printed:\n%s" % (what, arguments, got, status, output))
    for name in write_by_value(example):
        got, output = run([program, name], example, variables)
        tally.check((got, output) == (0, REPORT), "%s: farm %s: exit %d; printed:\n%s" % (what, name, got, output))


def times(*paths):
    return [os.stat(path).st_mtime_ns for path in paths]


def edit(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert old in text, path
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


def check_rebuild(tally, what, build, program, made, example, variables):
    """A build without news makes nothing; one after a change of the included fragment makes all of it again."""
    before = times(program, made)
    tally.check(build() and times(program, made) == before, what + ": a second build made something")
    fragment = example + "/types.policy"
    edit(fragment, "str[..200]", "str[..5]")
    tally.check(build() and all(new > old for new, old in zip(times(program, made), before)),
                what + ": nothing is made when an included fragment changes")
    got, output = run([program, "report.pkl"], example, variables)
    tally.check(got == 1 and "expected str[..5]" in output, "%s: the new fragment does not hold:\n%s" % (what, output))
    edit(fragment, "str[..5]", "str[..5")
    tally.check(not build(), what + ": a mistake in the fragment does not stop the build")
    edit(fragment, "str[..5", "str[..200]")
    tally.check(build() and run([program, "report.pkl"], example, variables)[0] == 0, what + ": the mended fragment does not hold")


def check_project(tally, what, steps, example, variables):
    """`steps`: the commands of a build into `out`, the last of which builds again."""
    program, made = example + "/out/farm", example + "/out/farm.c"

    def build(commands=steps[-1:]):
        for command in commands:
            status, output = run(command, example, variables)
            if status != 0:
                build.output = output
                return False
        return True

    build.output = ""
    if not build(steps):
        tally.check(False, "%s: does not build:\n%s" % (what, build.output))
        return
    check_runs(tally, what, program, example, variables)
    check_rebuild(tally, what, build, program, made, example, variables)


def check_cpp(tally, example, variables):
    """The headers in C++, against the tables compiled as C."""
    with open(example + "/host.cpp", "w", encoding="utf-8") as file:
        file.write(CPP_HOST)
    for compiler in ("g++", "clang++"):
        if not shutil.which(compiler):
            continue
        flags = shlex.split(run("pkg-config --cflags --libs upk", example, variables)[1])
        status, output = run([compiler, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-Iout",
                              "-o", "cpp_host", "host.cpp", "out/farm.o", *flags], example, variables)
        tally.check(status == 0, "%s:\n%s" % (compiler, output))
        for name, expected in (("report.pkl", (0, "nightly 1207\nfull\n")), ("failure.pkl", (0, "no space left on device\n"))):
            got = run(["./cpp_host", name], example, variables) if status == 0 else None
            tally.check(got == expected, "%s: %s: %s" % (compiler, name, got))
        tally.check(status == 0 and run(["./cpp_host", "hostile.pkl"], example, variables)[0] == 1, compiler + ": hostile.pkl")


def check_documents(tally, prefix):
    """Pages stand where their links lead; manual pages where man looks."""
    pages = glob.glob(prefix + "/share/doc/upk/**/*.md", recursive=True)
    tally.check(len(pages) > 5, "pages are installed: %s" % pages)
    for page in pages:
        check_links(tally, page)
    for page in os.listdir("docs/man"):
        path = "%s/share/man/man%s/%s" % (prefix, page[-1], page)
        tally.check(os.path.isfile(path), "not installed: " + path)


def main():
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        variables = install(sys.argv[1], scratch)
        check_documents(tally, scratch + "/prefix")
        example = scratch + "/make/farm"
        copy_example(example)
        check_project(tally, "make", [["make", "-s", "CC=" + CC, "CFLAGS=" + STRICT]], example, variables)
        check_cpp(tally, example, variables)
        for generator in ("Unix Makefiles", "Ninja"):
            if generator == "Ninja" and not shutil.which("ninja"):
                continue
            example = "%s/%s/farm" % (scratch, generator.split()[-1])
            copy_example(example)
            steps = [["cmake", "-G", generator, "-S", ".", "-B", "out", "-DCMAKE_C_COMPILER=" + CC, "-DCMAKE_C_FLAGS=" + STRICT],
                     ["cmake", "--build", "out"]]
            check_project(tally, "cmake, " + generator, steps, example, variables)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
