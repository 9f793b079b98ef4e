#!/usr/bin/python3
"""What learning costs, and where it ends: time grows as the names do; a few names that no policy may have do not spoil the others;
hostile piles are refused for what they are, soon.

usage: test_learn_costs.py BUILD    (from the top folder)

Time is that of the processor, so other work on the machine makes no difference.
Last line: N passed, N failed.
"""
import os
import re
import resource
import sys
import tempfile

from learning import Learn
from policyc import check, read, tally

MOST_NAMES = 30000
NAMES = {  # how a stream uses the n-th name
    "objects": b"capp\nC%d\n)\x81",
    "modules": b"capp%d\nC\n)\x81",
    "names": b"capp\nC%d\n",
    "calls": b"capp\nmake%d\n)R",
    "members": b"capp\nC%d.RED\n",
    "states": b"capp\nC%d\n)\x81}U\x01aK\x01sb",
    "dangerous": b"cos\nf%d\n",
}


def short(text):
    return b"\x8c" + bytes([len(text)]) + text


def named(module, name):
    return short(module.encode()) + short(name.encode()) + b"\x93"


def stream(members):
    return b"\x80\x04(" + b"".join(members) + b"l."


class Timed(Learn):
    """Learn that says what the program took, and never asks the system for more than its own bounds."""

    def learn_timed(self, *arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = self.learn(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, *result)

    def pile(self, name, form, count, first=0):
        return self.put_stream(name, stream(form % i for i in range(first, first + count)))


def names(l):
    """Four times the names take about four times as long: the square would be sixteen."""
    for name, form in NAMES.items():
        refused = name == "dangerous"
        few, *_ = l.learn_timed(l.pile("few.pkl", form, 1500))
        many, status, out, err = l.learn_timed(l.pile("many.pkl", form, 6000))
        check(name + ": learned", status == refused and refused == ("1 not admitted" in err), err[:500])
        check(name + ": time", many < 6 and many < 9 * few + 0.5, "%.2f s for 1,500, %.2f s for 6,000" % (few, many))
    with open(l.path("many.policy"), "w", encoding="utf-8") as file:
        seconds, status, out, err = l.learn_timed(l.pile("most.pkl", NAMES["objects"], 20000))
        file.write(out)
    check("20,000 names", status == 0 and out.count("    class C") == 20000 and seconds < 20, "%.2f s\n%s" % (seconds, err[:500]))
    check("20,000 names: admitted", l.admitted(l.path("many.policy"), [l.path("most.pkl")]) == {l.path("most.pkl")})
    l.canonical("20,000 names", l.path("many.policy"))


def files(l):
    """As many pickles, each of another class."""
    paths = [l.pile("one%d.pkl" % i, NAMES["states"], 1, i) for i in range(3000)]
    with open(l.path("list"), "w", encoding="utf-8") as file:
        file.write("".join(path + "\n" for path in paths))
    seconds, status, out, err = l.learn_timed("--files-from", file.name)
    check("3,000 files", status == 0 and out.count("    class C") == 3000 and seconds < 10, "%.2f s\n%s" % (seconds, err[:500]))


def merges(l):
    policy = l.path("merged.policy")
    times = []
    for i, form in enumerate((NAMES["objects"], NAMES["states"], NAMES["dangerous"], NAMES["modules"])):
        path = l.pile("merge%d.pkl" % i, form, 4000, 4000 * (i == 1))
        seconds, status, _, err = l.learn_timed("--into", policy, path, l.put_stream("new%d.pkl" % i, stream([b"capp\nNew%d\n)\x81" % i])))
        check("merge %d" % i, status == (i == 2) and seconds < 10, "%.2f s\n%s" % (seconds, err[:500]))
        times.append(seconds)
    before = read(policy)
    seconds, status, _, err = l.learn_timed("--into", policy, l.path("merge0.pkl"), l.path("merge1.pkl"), l.path("merge3.pkl"))
    check("merged: again", status == 0 and read(policy) == before and "3 admitted already" in err and seconds < 10, err[:500])


def types(l):
    """Types that stand by themselves, each of another meaning."""
    def nested(i):
        return b"capp\nN%d\n)\x81}U\x01a" % i + b"]" * 7 + b"K\x01" + b"a" * 7 + b"s" + b"U\x02k%cK\x01s" % (97 + i % 26) + b"b"

    def subset(i):
        return b"capp\nN%d\n)\x81}U\x01a(" % i + b"".join(b"capp\nO%d\n)\x81" % ((i * k) % 997) for k in range(1, 9)) + b"lsb"
    for name, make in (("nested", nested), ("subsets", subset)):
        few, *_ = l.learn_timed(l.put_stream("few.pkl", stream(map(make, range(1000)))))
        many, status, _, err = l.learn_timed(l.put_stream("many.pkl", stream(map(make, range(4000)))))
        check("types: " + name, status == 0 and many < 9 * few + 0.5, "%.2f s for 1,000, %.2f s for 4,000\n%s" % (few, many, err[:500]))


def bad_names(l):
    """Whatever a pickle calls its names, those of other pickles are learned."""
    odd = ("a\x01b", "a..b", ".a", "a.", "\0", "x" * 253, "\u202e", "a b", 'q"q', "a\\b", "\xe9", "9x", "<locals>", "a\nb", "__class__", "a,b}", "#", "a;b")
    paths = {False: [], True: []}
    for i in range(40):
        for k, name in enumerate(odd):
            for where, module, qualname in (("n", "app", name + str(i)), ("m", name + str(i), name)):
                data = b"\x80\x04" + named(module, qualname) + b")\x81."
                paths[True].append(l.put_stream("odd%s%d_%d.pkl" % (where, i, k), data))
        paths[False].append(l.put_stream("good%d.pkl" % i, b"\x80\x04" + named("app", "C%d" % i) + b")\x81."))
    seconds, status, out, err = l.learn_timed(*paths[True], *paths[False])
    refused = set(re.findall(r"^(\S+): not learned: ", err, re.M))
    check("bad names: others are learned", status == 1 and not refused & set(paths[False]) and seconds < 5, "%.2f s\n%s" % (seconds, err[:500]))
    check("bad names: some are refused", {l.path("oddn%d_0.pkl" % i) for i in range(40)} < refused, sorted(refused)[:20])
    check("bad names: why", 'app::"a\\x01b7": control characters' in out, out[-3000:])
    with open(l.path("odd.policy"), "w", encoding="utf-8") as file:
        file.write(out)
    everything = set(paths[True]) | set(paths[False])
    check("bad names: admitted", l.admitted(file.name, sorted(everything)) == everything - refused)


def attributes(depth, i):
    """getattr, so many times."""
    parts = b"".join(b"X\1\0\0\0%c\x86R" % (97 + k % 26) for k in range(depth))
    return b"cbuiltins\ngetattr\n" * depth + b"capp\nA%d\n" % i + parts


def nested_names(l):
    """Names put together step by step come to light at once, however deep."""
    path = l.put_stream("deep.pkl", b"\x80\x02](" + b"".join(attributes(20, i) for i in range(300)) + b"e.")
    seconds, status, out, err = l.learn_timed(path)
    check("nested names", status == 0 and out.count("const A") == 300 and seconds < 5, "%.2f s\n%s" % (seconds, err[:500]))
    path = l.put_stream("deeper.pkl", b"\x80\x02](" + b"".join(attributes(200, i) for i in range(20)) + b"e.")
    seconds, status, out, err = l.learn_timed(path)
    check("nested names: too deep", status == 1 and out == "" and seconds < 5, "%.2f s\n%s" % (seconds, err[:500]))


def bounds(l):
    policy = l.path("bounds.policy")
    for name, form in NAMES.items():
        seconds, status, out, err = l.learn_timed("--into", policy, l.pile("over.pkl", form, MOST_NAMES + 1))
        check("too many " + name, status == 2 and "P0004" in err and "more than 30000" in err and out == "" and seconds < 5, "%.2f s\n%s" % (seconds, err[:500]))
        check("too many %s: nothing is written" % name, not os.path.exists(policy))
    files = [l.pile("over%d.pkl" % i, NAMES["objects"], 8000, 8000 * i) for i in range(4)]
    status, out, err = l.learn(*files)
    check("too many together", status == 2 and "P0004" in err and out == "", err[:500])

    # One list in the states of many classes: looked at as often.
    big = b"]\x94(" + b"K\x01" * 100000 + b"e0"
    shared = l.put_stream("shared.pkl", b"\x80\x04" + big + b"](" + b"".join(b"capp\nS%d\n)\x81}U\x01ah\x00sb" % i for i in range(2000)) + b"e.")
    seconds, status, out, err = l.learn_timed(shared, l.put_stream("beside.pkl", stream([b"capp\nC\n)\x81"])))
    check("shared", status == 1 and "class C new();" in out and "class S" not in out and seconds < 5, "%.2f s\n%s" % (seconds, out[:2000] + err[:500]))
    check("shared: why", "shared.pkl: not learned: what it shares stands at so many places" in err and "[P0004]" in err and "budget" not in err, err[:500])
    few = l.put_stream("fewer.pkl", b"\x80\x04" + big + b"](" + b"".join(b"capp\nS%d\n)\x81}U\x01ah\x00sb" % i for i in range(30)) + b"e.")
    status, out, err = l.learn(few)
    check("shared by fewer", status == 0 and out.count("class S") == 30, err[:500])


def memory(l):
    """With less and less of it: learned whole, or said to be too much, and never another verdict."""
    path, statuses = l.pile("memory.pkl", NAMES["objects"], 3000), set()
    for megabytes in range(12, 60, 2):
        def limit(most=megabytes << 20):
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        status, out, err = l.policyc.run("learn", path, preexec_fn=limit)
        statuses.add(status)
        whole = status == 0 and out.count("    class C") == 3000
        check("%d MB" % megabytes, whole or (status == 3 and out == "") or (status == 127 and not out), "%d %s" % (status, err[:500]))
        check("%d MB: says so" % megabytes, status != 3 or "out of memory" in err, err[:500])
    check("some memory is enough, some is not", {0, 3} <= statuses, statuses)


def main():
    with tempfile.TemporaryDirectory() as folder:
        l = Timed(sys.argv[1], folder)
        for part in (names, files, merges, types, bad_names, nested_names, bounds, memory):
            part(l)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
