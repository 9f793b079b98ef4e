#!/bin/bash
# Time and memory of policyc for 1,000, 5,000 and 20,000 rows against their limits.  Run from the top folder; BUILD says where
# policyc was built.  Last line: N passed, N failed.
#
# Where other work keeps the processors busy, the time on the clock says little.  Then the processor time of policyc and all
# its children is taken, which is what one processor alone would need.
set -u

build=${BUILD:-build}
out=$build/find_class
passed=0
failed=0
mkdir -p "$out"

measure() { # ROWS SECONDS
    python3 - "$build/policyc" "$out/time$1.policy" "$out/time$1.c" "$1" "$2" <<'PY'
import os, subprocess, sys, time
policyc, policy, c_file, rows, limit = sys.argv[1:]
limit = float(limit)
start = time.monotonic()
child = subprocess.Popen([policyc, policy, "-o", c_file])
_, status, usage = os.wait4(child.pid, 0)
clock = time.monotonic() - start
work = usage.ru_utime + usage.ru_stime
megabytes = usage.ru_maxrss / 1024
good = status == 0 and min(clock, work) <= limit and megabytes < 300
print("%6s rows: %5.2f s, %5.2f s of processors (at most %g); %3.0f MB (at most 300)%s"
      % (rows, clock, work, limit, megabytes, "" if good else "  FAILED"))
sys.exit(not good)
PY
}

check() {
    python3 tests/find_class/gen_rows.py "$1" >"$out/time$1.policy"
    if measure "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

check 1000 0.7
check 5000 2.5
check 20000 10

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
