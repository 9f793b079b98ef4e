#!/usr/bin/python3
"""Every file of the corpus, by guards: a good one is what pickle.loads makes of it, a hostile one is refused, and neither changes
anything else of the process.

The guard is of tests/policy/corpus.policy, for numpy of policies/numpy.policy.  The classes of an application are those of samples.py.
Files of libraries that this machine does not have are decided all the same: accepted by the policy, and then refused for what is not
there.

usage: test_python_corpus.py BUILD      (from the top folder, after `make test`)
"""
import collections
import os
import pickle
import sys
import warnings

import samples  # noqa: F401: its classes are looked for in sys.modules
from alike import difference
from guards import guard, sanitized
from run_corpus import Corpus
from tally import Tally
from test_corpus_policy import NATIVE, channel_of
from unchanged import changes, snapshot

tally = Tally()
check = tally.check

BUFFER = bytes(48)  # for each of the corpus's out-of-band buffers, none of which is larger
BUFFERS = 8
NOT_HERE = {"R221", "R222", "R223"}

# Good files that a guard treats otherwise, by name: (code of the refusal, or None where values differ on purpose; why).
OTHERWISE = {
    "zoneinfo_nocache": (None, "a zone comes from the cache"),
    "np_array_object": ("R205", "arrays of objects are in a fragment of their own"),
    "obj_reduce_items_pairs": ("R222", "items are put in by Python code"),
}


class Unpickler(pickle.Unpickler):
    def persistent_load(self, known):
        return known


def by_pickle(path):
    """(its value, None), or (None, why it has none)."""
    try:
        with open(path, "rb") as file:
            return Unpickler(file, buffers=[BUFFER] * BUFFERS).load(), None
    except Exception as error:
        return None, error


def by_guard(policy, path):
    """The same; what is not a refusal rises."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return policy.loads(data, buffers=[BUFFER] * BUFFERS, persistent_load=lambda known: known), None
    except pickle.UnpicklingError as error:
        return None, error


def good_file(policy, entry, file, path, counts):
    value, failure = by_pickle(path)
    built, refusal = by_guard(policy, path)
    if file["verdict"] != "accept":
        counts["not admitted"] += 1
        check(refusal and refusal.cls == file["verdict"], "%s: not %s: %s" % (path, file["verdict"], refusal))
        return
    code, _ = OTHERWISE.get(entry["name"], ("", ""))
    if failure:  # of another version or library
        counts["not here"] += 1
        check(not refusal or refusal.code in NOT_HERE, "%s: %s" % (path, refusal))
    elif code:
        check(refusal and refusal.code == code, "%s: not %s: %s" % (path, code, refusal))
    elif refusal:
        check(False, "%s: %s" % (path, refusal))
    else:
        counts["same"] += 1
        different = difference(value, built)
        check(not different if code == "" else different, "%s: %s" % (path, different))


def hostile_file(policy, entry, path):
    built, refusal = by_guard(policy, path)
    if entry["name"] in NATIVE:
        check(not refusal, "%s: %s" % (path, refusal))
    else:
        check(refusal and refusal.cls == entry["class"], "%s: not %s: %r, %s" % (path, entry["class"], built, refusal))


def main():
    build = os.path.abspath(sys.argv[1])
    warnings.simplefilter("ignore")  # of names that are going out of use
    corpus, guards = Corpus(build + "/corpus"), guard(build, "corpus_guard")
    counts = collections.Counter()

    def policy_of(entry):
        return guard(build, "numpy_guard") if entry.get("family") == "numpy" else getattr(guards, channel_of(entry))

    # torch does not go with sanitizers.
    good = [found for found in corpus.good() if not sanitized() or found[1]["family"] != "torch"]
    for path, entry, file, _ in good:
        good_file(policy_of(entry), entry, file, path, counts)
    check(counts["same"] > 1000 and counts["not here"] < 500, "good files: %s" % counts)
    check(set(OTHERWISE) <= {entry["name"] for entry in corpus.manifest["good"]}, "names that the corpus does not have")
    for path, entry in corpus.hostile():
        hostile_file(policy_of(entry), entry, path)

    before = snapshot()
    for path, entry, _, _ in good:
        by_guard(policy_of(entry), path)
    for path, entry in corpus.hostile():
        by_guard(policy_of(entry), path)
    changed = changes(before, snapshot())
    check(not changed, "changed by streams: %s" % "; ".join(changed))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
