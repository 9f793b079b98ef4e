#!/usr/bin/python3
"""Run tests that make has built, some at a time, and add up what they say.

usage: run_check.py BUILD [--seconds T] GROUP...       (from the top folder)

groups:
    unit        the unit tests, gcc
    asan        the unit tests, clang with address and undefined-behaviour sanitizers
    scripts     corpus, policy texts, golden output, README, replay of the fuzz seeds
    find_class  the lookup's machine code and counts
    fuzz        each fuzz target for T seconds (20)
    cov         unit tests and scripts of a build that counts lines

The last line is `N passed, N failed` over all of them.  The output of a step is shown where it fails.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import time

STEP_SECONDS = 800
LONGEST_INPUT = 4096  # bytes that a fuzz target is given

TIMED = {"release test_bombs"}  # measures time: alone, when all others are done


# Scripts that judge the library's symbols, or link it into programs without what counts lines; and one that measures time.
NOT_COUNTED = {"test_tree.py", "test_readme.py", "test_examples.py", "release test_bombs"}

DULL = re.compile(r"\[ RUN  |\[       OK \]|\s*$")


class Step:
    """`count` is how a step says what passed: "cmocka", "line" (a last line `N passed, N failed`) or "exit"."""

    def __init__(self, name, count, *command, alone=False, seconds=STEP_SECONDS):
        self.name, self.count, self.command, self.alone, self.seconds = name, count, command, alone, seconds


def count_results(step, output, status):
    passed = failed = 0
    if step.count == "cmocka":
        passed = sum(map(int, re.findall(r"^\[  PASSED  \] (\d+) test", output, re.M)))
        failed = sum(map(int, re.findall(r"^\[  FAILED  \] (\d+) test", output, re.M)))
    elif step.count == "line":
        found = re.findall(r"^(\d+) passed, (\d+) failed$", output, re.M)
        if found:
            passed, failed = map(int, found[-1])
    else:
        passed = int(status == 0)
    if (status != 0 and not failed) or not passed + failed:
        failed += 1  # it ended early, or tested nothing
    return passed, failed


def run(step, build):
    start = time.monotonic()
    environment = dict(os.environ, BUILD=build, CMOCKA_MESSAGE_OUTPUT="stdout", LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1",
                       ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1", UBSAN_OPTIONS="print_stacktrace=1")
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        environment.pop(name, None)
    try:
        done = subprocess.run(step.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, timeout=step.seconds)
        output, status = done.stdout.decode("utf-8", "replace"), done.returncode
    except subprocess.TimeoutExpired as late:
        output, status = (late.stdout or b"").decode("utf-8", "replace") + "\n(not done in time)\n", -1
    passed, failed = count_results(step, output, status)
    return step, passed, failed, time.monotonic() - start, output


def tests_of(build, variant):
    return sorted(path for path in glob.glob("%s/%s/tests/unit/test_*" % (build, variant))
                  if os.access(path, os.X_OK) and "." not in os.path.basename(path))


def unit_steps(build, variant):
    names = [(variant + " " + os.path.basename(path), path) for path in tests_of(build, variant)]
    return [Step(name, "cmocka", path, alone=name in TIMED) for name, path in names]


def script_steps(build):
    python = sys.executable
    steps = [
        Step("corpus: inspect", "line", python, "tests/run_corpus.py", build, "inspect"),
        Step("corpus: compiled and tried", "line", python, "tests/run_corpus.py", build, "same"),
    ]
    for script in sorted(glob.glob("tests/test_*.py") + glob.glob("tests/run_*_tests.py")):
        steps.append(Step(os.path.basename(script), "line", python, script, build))
    for name in fuzz_targets():
        steps.append(Step("replay: " + name, "line", "%s/release/tests/fuzz/%s" % (build, name), *seeds(build, name)))
    return steps


def fuzz_targets():
    names = [os.path.splitext(os.path.basename(path))[0] for path in sorted(glob.glob("tests/fuzz/*.c"))]
    return [name for name in names if name != "replay"]


def seeds(build, target):
    """Folders of inputs a fuzz target starts from."""
    if target == "policy":
        return ["tests/policy", "policies", build + "/seeds/policy"]
    return [build + "/corpus/good", build + "/corpus/hostile", build + "/seeds/pickle"]


def fuzz_steps(build, seconds):
    steps = []
    for name in fuzz_targets():
        found = "%s/fuzz/found/%s" % (build, name)
        os.makedirs(found, exist_ok=True)
        command = ["%s/fuzz/tests/fuzz/%s" % (build, name), "-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=2048",
                   "-print_final_stats=1", "-verbosity=1", "-max_len=%d" % LONGEST_INPUT, "-artifact_prefix=%s-" % found]
        dictionary = "tests/fuzz/%s.dict" % ("policy" if name == "policy" else "pickle")
        steps.append(Step("fuzz: " + name, "exit", *command, "-dict=" + dictionary, found, *seeds(build, name),
                          seconds=seconds + STEP_SECONDS))
    return steps


def cov_steps(build):
    return [step for step in unit_steps(build, "release") + script_steps(build) if step.name not in NOT_COUNTED]


def find_class_steps():
    return [Step("find_class: " + os.path.basename(script), "line", script, alone=True)
            for script in sorted(glob.glob("tests/find_class/*.sh"))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("groups", nargs="+", choices=("unit", "asan", "scripts", "find_class", "fuzz", "cov"))
    options = parser.parse_args()
    makers = {
        "unit": lambda: unit_steps(options.build, "release"),
        "asan": lambda: unit_steps(options.build, "asan"),
        "scripts": lambda: script_steps(options.build),
        "find_class": find_class_steps,
        "fuzz": lambda: fuzz_steps(options.build, options.seconds),
        "cov": lambda: cov_steps(options.build),
    }
    steps = [step for group in options.groups for step in makers[group]()]

    all_passed = all_failed = 0

    def report(result):
        nonlocal all_passed, all_failed
        step, passed, failed, seconds, output = result
        all_passed, all_failed = all_passed + passed, all_failed + failed
        print("%-6s %-40s %6d passed, %d failed  %6.1f s"
              % ("FAILED" if failed else "ok", step.name, passed, failed, seconds), flush=True)
        if failed:
            print("\n".join("    " + line for line in output[-20000:].split("\n") if not DULL.match(line)), flush=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for result in concurrent.futures.as_completed([pool.submit(run, step, options.build) for step in steps if not step.alone]):
            report(result.result())
    for step in steps:
        if step.alone:
            report(run(step, options.build))
    print("%d passed, %d failed" % (all_passed, all_failed))
    return 1 if all_failed else 0


if __name__ == "__main__":
    sys.exit(main())
