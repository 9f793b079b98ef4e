#!/usr/bin/python3
"""Run tests that make has built, some at a time, and add up what they say.

usage: run_check.py BUILD [--seconds T] GROUP...       (from the top folder)

groups:
    unit        the unit tests, gcc
    asan        the unit tests and the tests of Python modules, clang with address and undefined-behaviour sanitizers
    scripts     corpus, policy texts, golden output, documents, replay of the fuzz seeds
    find_class  the lookup's machine code and counts
    fuzz        each fuzz target for T seconds (20)
    cov         unit tests and scripts of a build that counts lines

The last line is `N passed, N failed` over all of them.  The output of a step is shown where it fails.  The longest begin first:
BUILD/seconds.json keeps how long each took.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

STEP_SECONDS = 800
LONGEST_INPUT = 4096  # bytes that a fuzz target is given
INPUT_SECONDS = 120  # on the clock: other work may hold it up

TIMED = {"release test_bombs", "find_class: compile_time.sh"}  # measure time: alone, when all others are done

# Seconds of those that are worth beginning with in a build folder that knows none yet.
LONG = {"find_class: find_class.sh": 35, "fuzz: cpython": 20, "fuzz: decode": 20, "fuzz: environment": 20, "fuzz: policy": 20, "fuzz: same": 20,
        "test_pages.py": 30, "test_list.py": 25, "test_examples.py": 20, "asan test_attacks": 20,
        "replay: cpython": 15, "test_policyc.py": 12, "test_exceptions_producers.py": 10, "test_templates.py": 9,
        "test_values_producers.py": 9, "test_alternatives.py": 16, "test_exceptions_printed.py": 10, "test_diagnostics.py": 8,
        "test_repr.py": 8, "run_policy_tests.py": 8, "test_grant_lines.py": 8, "test_learn_costs.py": 35, "test_advice.py": 20}

# Scripts that judge the library's symbols, or link it into programs without what counts lines; and those that measure time.
NOT_COUNTED = {"test_tree.py", "test_pages.py", "test_examples.py", "release test_bombs", "release test_costs"}

DULL = re.compile(r"\[ RUN  |\[       OK \]|\s*$")


class Step:
    """`count` is how a step says what passed: "cmocka", "line" (a last line `N passed, N failed`) or "exit"."""

    def __init__(self, name, count, *command, seconds=STEP_SECONDS):
        self.name, self.count, self.command, self.seconds = name, count, command, seconds
        self.alone = name in TIMED


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
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(step.command, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT, env=environment)
        late = threading.Timer(step.seconds, os.kill, (process.pid, signal.SIGKILL))
        late.start()
        status, usage = os.wait4(process.pid, 0)[1:]
        late.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        output = printed.read().decode("utf-8", "replace")
    seconds = time.monotonic() - start
    if seconds >= step.seconds:
        output += "\n(not done in time)\n"
    passed, failed = count_results(step, output, process.returncode)
    return step, passed, failed, seconds, usage.ru_utime + usage.ru_stime, output


def tests_of(build, variant):
    return sorted(path for path in glob.glob("%s/%s/tests/unit/test_*" % (build, variant))
                  if os.access(path, os.X_OK) and "." not in os.path.basename(path))


def unit_steps(build, variant):
    return [Step(variant + " " + os.path.basename(path), "cmocka", path) for path in tests_of(build, variant)]


def preloaded():
    """What Python must find in its environment before a module with sanitizers is imported."""
    done = subprocess.run([os.environ.get("CLANG", "clang"), "-print-file-name=libclang_rt.asan-%s.so" % os.uname().machine],
                          stdout=subprocess.PIPE, check=True)
    return ["env", "GUARDS=python-asan", "PYTHONMALLOC=malloc", "LD_PRELOAD=" + done.stdout.decode().strip(),
            "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1"]


def python_steps(build):
    return [Step("asan " + os.path.basename(script), "line", *preloaded(), sys.executable, script, build)
            for script in sorted(glob.glob("tests/test_python_*.py"))]


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
    if target == "environment":
        return ["tests/fuzz/environments"]
    return [build + "/corpus/good", build + "/corpus/hostile", build + "/seeds/pickle"]


def fuzz_steps(build, seconds):
    steps = []
    for name in fuzz_targets():
        found = "%s/fuzz/found/%s" % (build, name)
        os.makedirs(found, exist_ok=True)
        command = ["%s/fuzz/tests/fuzz/%s" % (build, name), "-max_total_time=%d" % seconds, "-timeout=%d" % INPUT_SECONDS, "-rss_limit_mb=2048",
                   "-print_final_stats=1", "-verbosity=1", "-max_len=%d" % LONGEST_INPUT, "-artifact_prefix=%s-" % found]
        dictionary = "tests/fuzz/%s.dict" % (name if name in ("policy", "environment") else "pickle")
        steps.append(Step("fuzz: " + name, "exit", *command, "-dict=" + dictionary, found, *seeds(build, name),
                          seconds=seconds + STEP_SECONDS))
    return steps


def cov_steps(build):
    return [step for step in unit_steps(build, "release") + script_steps(build)
            if step.name not in NOT_COUNTED and not step.name.startswith("test_python_")]


def find_class_steps():
    return [Step("find_class: " + os.path.basename(script), "line", script)
            for script in sorted(glob.glob("tests/find_class/*.sh"))]


def longest_first(steps, known):
    """The processors' time of the last run counts, which other work on the machine does not stretch."""
    return sorted(steps, key=lambda step: -known.get(step.name, LONG.get(step.name, 0)))


def read_seconds(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("groups", nargs="+", choices=("unit", "asan", "scripts", "find_class", "fuzz", "cov"))
    options = parser.parse_args()
    makers = {
        "unit": lambda: unit_steps(options.build, "release"),
        "asan": lambda: unit_steps(options.build, "asan") + python_steps(options.build),
        "scripts": lambda: script_steps(options.build),
        "find_class": find_class_steps,
        "fuzz": lambda: fuzz_steps(options.build, options.seconds),
        "cov": lambda: cov_steps(options.build),
    }
    steps = [step for group in options.groups for step in makers[group]()]
    if "cov" in options.groups:
        os.environ["LDFLAGS"] = "-lgcov"  # what counts lines, for programs that scripts link

    known = read_seconds(options.build + "/seconds.json")
    all_passed = all_failed = 0

    def report(result):
        nonlocal all_passed, all_failed
        step, passed, failed, seconds, work, output = result
        all_passed, all_failed = all_passed + passed, all_failed + failed
        known[step.name] = round(work, 1)
        print("%-6s %-40s %6d passed, %d failed  %6.1f s  %6.1f s of processors"
              % ("FAILED" if failed else "ok", step.name, passed, failed, seconds, work), flush=True)
        for line in re.findall(r"^not run: .*$", output, re.M):
            print("    " + line, flush=True)
        if failed:
            print("\n".join("    " + line for line in output[-20000:].split("\n") if not DULL.match(line)), flush=True)

    together = longest_first([step for step in steps if not step.alone], known)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for result in concurrent.futures.as_completed([pool.submit(run, step, options.build) for step in together]):
            report(result.result())
    for step in steps:
        if step.alone:
            report(run(step, options.build))
    with open(options.build + "/seconds.json", "w", encoding="utf-8") as file:
        json.dump(known, file, indent=0, sort_keys=True)
    print("%d passed, %d failed" % (all_passed, all_failed))
    return 1 if all_failed else 0


if __name__ == "__main__":
    sys.exit(main())
