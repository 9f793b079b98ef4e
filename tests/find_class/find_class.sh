#!/bin/bash
# The generated look-up, compiled by gcc and clang as a release is, for 10 to 20,000 rows: its machine code, its exactness, its
# counts under callgrind.  Run from the top folder; BUILD says where policyc was built.  Last line: N passed, N failed.
set -u

build=${BUILD:-build}
cc=${CC:-gcc}
clang=${CLANG:-clang}
out=$build/find_class
strict="-std=c11 -Wall -Wextra -Wshadow -Wconversion -Wvla -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes -Werror"
sizes="10 200 1000 5000 20000"
passed=0
failed=0

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
}
check() { # STATUS WHAT...
    if [ "$1" = 0 ]; then pass; else shift && fail "$@"; fi
}

mkdir -p "$out"

for n in $sizes; do
    python3 tests/find_class/gen_rows.py "$n" >"$out/rows$n.policy" &&
        "$build/policyc" "$out/rows$n.policy" -o "$out/rows$n.c"
    check $? "policyc, $n rows"
done

# Functions, conditional jumps and calls in the *_find_class* functions of an object.
machine_code() {
    objdump -d --no-show-raw-insn "$1" | awk '
        /^[0-9a-f]+ <.*>:$/ { inside = $2 ~ /_find_class(_old)?>:$/; functions += inside }
        inside && $2 ~ /^(j[a-z]+|loop[a-z]*)$/ && $2 != "jmp" { jumps++ }
        inside && $2 ~ /^(call|jmp)/ && $0 ~ /[<*]/ { calls++ }
        END { print functions + 0, jumps + 0, calls + 0 }'
}

# Without -g: valgrind 3.19 cannot read what clang 14 writes, and names of functions are enough.
for compiler in "$cc" "$clang"; do
    objects=
    for n in $sizes; do
        object=$out/rows$n.$(basename "$compiler").o
        # shellcheck disable=SC2086
        "$compiler" $strict -O2 -Iruntime -c "$out/rows$n.c" -o "$object"
        check $? "$compiler rows$n.c"
        objects="$objects $object"
        [ "$(uname -m)" = x86_64 ] || continue # the patterns above are those of x86
        read -r functions jumps calls <<<"$(machine_code "$object")"
        [ "$functions $jumps $calls" = "2 0 0" ]
        check $? "$compiler, $n rows: $functions functions, $jumps conditional jumps, $calls calls"
    done
    for flags in -O1 -O3 -Os "-O2 -fPIC -fstack-protector-strong"; do
        object=$out/flags.o
        # shellcheck disable=SC2086
        "$compiler" $strict $flags -Iruntime -c "$out/rows200.c" -o "$object"
        check $? "$compiler $flags rows200.c"
        [ "$(uname -m)" = x86_64 ] || continue
        read -r functions jumps calls <<<"$(machine_code "$object")"
        [ "$functions $jumps $calls" = "2 0 0" ]
        check $? "$compiler $flags: $functions functions, $jumps conditional jumps, $calls calls"
    done

    program=$out/generated.$(basename "$compiler")
    # shellcheck disable=SC2086
    "$compiler" $strict -O2 -Iruntime -o "$program" tests/find_class/generated.c tests/unit/find_class_probe.c $objects \
        "$build/libupk.a"
    status=$?
    check $status "$compiler generated.c"
    [ $status = 0 ] || continue
    answers=$("$program" probe)
    read -r good _ bad _ <<<"$(tail -n 1 <<<"$answers")"
    passed=$((passed + ${good:-0}))
    failed=$((failed + ${bad:-1}))
    grep -v ' passed, ' <<<"$answers"

    rm -f "$out"/callgrind.*
    valgrind -q --tool=callgrind --branch-sim=yes --collect-atstart=no '--toggle-collect=synthetic_rows_*_find_class*' \
        "--callgrind-out-file=$out/callgrind" "$program" count >"$out/count" 2>&1
    check $? "callgrind: $(cat "$out/count")"
    counts=$(python3 tests/find_class/counts.py "$(tail -n 1 "$out/count")" "$out"/callgrind.*)
    read -r good _ bad _ <<<"$(tail -n 1 <<<"$counts")"
    passed=$((passed + ${good:-0}))
    failed=$((failed + ${bad:-1}))
    echo "$(basename "$compiler"):"
    grep -v ' passed, ' <<<"$counts"
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
