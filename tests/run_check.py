#!/usr/bin/python3
"""Run tests that make has built, some at a time, and add up what they say.

usage: run_check.py BUILD [--seconds T] GROUP...       (from the top folder)

groups:
    unit        the unit tests, gcc
    asan        the unit tests, clang with address and undefined-behaviour sanitizers
    scripts     corpus, policy texts, golden output, README, replay of the fuzz seeds
    find_class  the lookup's machine code and counts
    fuzz        each fuzz target for T seconds (20)

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

TIMED = {"release test_bombs"}  # measures time: alone, when all others are done


DULL = re.compile(r"\[ RUN  |\[       OK \]|\s*$")


class Step:
    """`count` is how a step says what passed: "cmocka", "line" (a last line `N passed, N failed`) or "exit"."""

    def __init__(self, name, count, *command, alone=False):
        self.name, self.count, self.command, self.alone = name, count, command, alone


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
                              env=environment, timeout=STEP_SECONDS)
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
    for target in sorted(glob.glob("tests/fuzz/*.c")):
        name = os.path.splitext(os.path.basename(target))[0]
        if name != "replay":
            steps.append(Step("replay: " + name, "line", "%s/release/tests/fuzz/%s" % (build, name), *seeds(build, name)))
    return steps


def seeds(build, target):
    """Folders of inputs a fuzz target starts from."""
    folders = {"decode": [build + "/corpus/good", build + "/corpus/hostile"], "policy": ["tests/policy", "policies"]}
    return [folder for folder in folders.get(target, []) + ["tests/fuzz/seeds/" + target] if os.path.isdir(folder)]


def fuzz_steps(build, seconds):
    steps = []
    for target in sorted(glob.glob("tests/fuzz/*.c")):
        name = os.path.splitext(os.path.basename(target))[0]
        if name == "replay":
            continue
        found = "%s/fuzz/found/%s" % (build, name)
        os.makedirs(found, exist_ok=True)
        command = ["%s/fuzz/tests/fuzz/%s" % (build, name), "-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=2048",
                   "-print_final_stats=1", "-verbosity=1", "-artifact_prefix=%s/" % found]
        dictionary = "tests/fuzz/%s.dict" % name
        if os.path.exists(dictionary):
            command.append("-dict=" + dictionary)
        steps.append(Step("fuzz: " + name, "exit", *command, found, *seeds(build, name)))
    return steps


def find_class_steps():
    return [Step("find_class: " + os.path.basename(script), "line", script, alone=True)
            for script in sorted(glob.glob("tests/find_class/*.sh"))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("groups", nargs="+", choices=("unit", "asan", "scripts", "find_class", "fuzz"))
    options = parser.parse_args()
    makers = {
        "unit": lambda: unit_steps(options.build, "release"),
        "asan": lambda: unit_steps(options.build, "asan"),
        "scripts": lambda: script_steps(options.build),
        "find_class": find_class_steps,
        "fuzz": lambda: fuzz_steps(options.build, options.seconds),
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
