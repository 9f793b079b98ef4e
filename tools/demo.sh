#!/bin/sh
# The demo: compile a policy, compile a small host program with it, and let that decide some pickles.
#
#   tools/demo.sh BUILD
#
# Run from the top folder, after `make`.
set -eu

build=$1
out=$build/demo
here=tools/demo
mkdir -p "$out"

say() {
    printf '\n$ %s\n' "$*"
    "$@"
}

say "$build/policyc" $here/demo.policy -o "$out/demo.c"
say "${CC:-gcc}" -O2 -Iruntime -I"$out" -o "$out/host" $here/host.c "$out/demo.c" "$build/libupk.a"

for file in \
    "meeting.pkl:        a meeting, protocol 4" \
    "python2.pkl:        written by Python 2.7" \
    "os_system.pkl:      would run a command" \
    "price.pkl:          a Decimal, which this policy does not grant" \
    "wrong_type.pkl:     a date made of text" \
    "sharing_bomb.pkl:   254 bytes that mean 2^40 lists" \
    "truncated.pkl:      the first 100 bytes of meeting.pkl" \
    "lfs_pointer.pkl:    no pickle at all"; do
    printf '\n# %s\n' "$(echo "${file#*:}" | sed 's/^ *//')"
    # A refusal is what most of these are for.
    "$out/host" "$here/${file%%:*}" || [ $? = 2 ]
done
