#!/bin/bash
# Time and memory of policyc for 1,000, 5,000 and 20,000 rows against their limits.  Run from the top folder; BUILD says where
# policyc was built.  Last line: N passed, N failed.
set -u

build=${BUILD:-build}
out=$build/find_class
passed=0
failed=0
mkdir -p "$out"

check() { # ROWS SECONDS: best of three, since other work may run beside it
    local n=$1 limit=$2
    python3 tests/find_class/gen_rows.py "$n" >"$out/time$n.policy"
    python3 - "$build/policyc" "$out/time$n.policy" "$out/time$n.c" "$n" "$limit" <<'PY'
import os, subprocess, sys, time
policyc, policy, c_file, rows, limit = sys.argv[1:]
best, peak, status = None, 0, 0
for _ in range(3):
    start = time.monotonic()
    child = subprocess.Popen([policyc, policy, "-o", c_file])
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - start
    best = seconds if best is None else min(best, seconds)
    peak = max(peak, usage.ru_maxrss / 1024)
    if status or seconds <= float(limit) / 2:
        break
good = status == 0 and best <= float(limit) and peak < 300
print("%6s rows: %5.2f s (at most %s), %4.0f MB (at most 300)%s" % (rows, best, limit, peak, "" if good else "  FAILED"))
sys.exit(not good)
PY
    if [ $? = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

check 1000 0.7
check 5000 2.5
check 20000 10

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
