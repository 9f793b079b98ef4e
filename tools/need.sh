#!/bin/sh
# Make sure that what a make target needs is installed (Debian).
#
#   tools/need.sh build|test|asan|fuzz|check|check-full|cov|bench|lint|python ...
#
# Nothing is done when all is there.  What is missing is installed with apt-get, as root or through `sudo -n`; where that is
# not possible, or NEED_INSTALL=no, one line names the packages and the command to run, and the exit status is 1.
set -eu

cc=${CC:-gcc}
clang=${CLANG:-clang}

has_command() {
    command -v "$1" >/dev/null 2>&1
}

# A header as the compiler finds it.
has_header() {
    [ -e "/usr/include/$1" ] || { has_command "$cc" && echo "#include <$1>" | "$cc" -E -xc - >/dev/null 2>&1; }
}

has_file() {
    [ -e "$1" ]
}

# What modules of PYTHON are compiled with.
has_python_headers() {
    [ -e "$("$1" -c 'import sysconfig; print(sysconfig.get_paths()["include"])' 2>/dev/null)/Python.h" ]
}

# CPython's own tests.
has_python_tests() {
    "$1" -c 'import importlib.util, sys; sys.exit(not importlib.util.find_spec("test.pickletester"))' 2>/dev/null
}

# clang's sanitizer and fuzzer libraries.
has_sanitizers() {
    has_command "$clang" || return 1
    set -- "$("$clang" -print-resource-dir)"/lib/*/libclang_rt.fuzzer*.a
    [ -e "$1" ]
}

# need TEST ARGUMENT PACKAGES: note the packages if the test fails.
need() {
    "$1" "$2" || missing="$missing $3"
}

find_missing() {
    missing=
    for level in "$@"; do
        case $level in
        check-full)
            level=check
            need has_file /usr/lib/python3/dist-packages/torch "python3-torch"
            ;;
        esac
        need has_command "$cc" "gcc"
        need has_header stdlib.h "libc6-dev"
        need has_command flex "flex"
        need has_command bison "bison"
        need has_command gperf "gperf"
        need has_header sha2.h "libmd-dev"
        need has_header jansson.h "libjansson-dev"
        case $level in
        test | asan | fuzz | check | cov)
            need has_command xz "xz-utils"
            need has_command /usr/bin/python3 "python3"
            ;;
        bench)
            need has_command /usr/bin/python3 "python3"
            need has_header valgrind/callgrind.h "valgrind"
            ;;
        esac
        case $level in
        test | asan | check | cov)
            need has_header cmocka.h "libcmocka-dev"
            need has_file /usr/share/i18n/charmaps "locales" # localedef works from it
            ;;
        esac
        case $level in
        test | check | cov)
            need has_file /usr/lib/python3/dist-packages/numpy "python3-numpy"
            need has_file /usr/lib/python3/dist-packages/celery "python3-celery" # with kombu
            need has_file /usr/lib/python3/dist-packages/hypothesis "python3-hypothesis"
            need has_command mandoc "mandoc"
            need has_command bwrap "bubblewrap"
            ;;
        esac
        case $level in
        test | asan | check | python) need has_python_headers "${PYTHON:-/usr/bin/python3}" "python3-dev" ;;
        esac
        case $level in
        test | asan | check) need has_python_tests "${PYTHON:-/usr/bin/python3}" \
            "lib$(basename "$(readlink -f "$(command -v "${PYTHON:-/usr/bin/python3}")")")-testsuite" ;;
        esac
        case $level in
        test | check)
            need has_command pkg-config "pkg-config"
            need has_command cmake "cmake"
            need has_command g++ "g++"
            need has_file /usr/lib/python3/dist-packages/setuptools "python3-setuptools"
            need has_file /usr/lib/python3/dist-packages/pip "python3-pip"
            need has_file /usr/lib/python3/dist-packages/wheel "python3-wheel"
            ;;
        esac
        case $level in
        test | asan | fuzz | check | cov) need has_command "$clang" "clang" ;;
        esac
        case $level in
        cov) need has_command gcovr "gcovr" ;;
        esac
        case $level in
        lint | check) need has_command clang-format "clang-format" ;;
        esac
        case $level in
        asan | fuzz | check) need has_sanitizers "" "libclang-rt-14-dev" ;;
        esac
        case $level in
        check)
            need has_command objdump "binutils"
            need has_command valgrind "valgrind"
            need has_command /usr/bin/python3-dbg "python3-dbg"
            ;;
        esac
    done
    # shellcheck disable=SC2086
    missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
    missing=${missing% }
}

find_missing "$@"
[ -n "$missing" ] || exit 0

sudo=
can=yes
if [ "$(id -u)" != 0 ]; then
    sudo="sudo -n"
    $sudo true 2>/dev/null || { sudo=sudo && can=no; }
fi
command="${sudo:+$sudo }apt-get install -y --no-install-recommends $missing"

if [ "${NEED_INSTALL:-yes}" = no ] || [ $can = no ] || ! has_command apt-get; then
    echo "missing: $missing; run: $command" >&2
    exit 1
fi

echo "installing: $missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
run_apt() {
    # shellcheck disable=SC2086
    $sudo apt-get -o DPkg::Lock::Timeout=300 -y "$@" >>"$log" 2>&1
}
install() {
    # shellcheck disable=SC2086
    run_apt install --no-install-recommends $missing
}
install || { run_apt update && install; } || {
    cat "$log" >&2
    echo "could not install: $missing; run: $command" >&2
    exit 1
}
find_missing "$@"
[ -z "$missing" ] || {
    echo "still missing after the installation: $missing" >&2
    exit 1
}
