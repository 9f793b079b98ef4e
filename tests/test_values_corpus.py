#!/usr/bin/python3
"""The verdict of policies/values.policy on every file of the corpus, exactly: accepted, or refused with this class.

usage: test_values_corpus.py BUILD      (from the top folder; the corpus stands unpacked in BUILD/corpus)
"""

import sys

from run_corpus import Corpus, run
from tally import Tally

POLICY = "policies/values.policy"

# What the policy is for: every file of these families is accepted, but for
GRANTED = ("plain", "container", "datetime", "numbers", "ids", "collections", "text", "misc")
NOT_GRANTED = {
    "cycle_obj": "a class of the application",
    "cycle_set": "a class of the application in a set that it holds",
    "cycle_frozenset": "the same with a frozenset",
    "tzinfo_subclass": "a tzinfo of the application: its methods would run",
    "typed_namedtuple": "a class of the application",
    "iterator_enumerate": "an iterator",
    "iterator_map": "an iterator that calls",
    "re_str": "a regular expression",
    "re_bytes": "a regular expression",
}

# Of the other families, the files that hold nothing but values all the same, by name.
ACCEPTED = {"py2_" + name for name in (
    "int long bigint float str unicode list dict set frozenset bytearray xrange complex datetime time timedelta "
    "decimal fraction uuid ordereddict defaultdict deque counter array").split()}

# Whatever else there is holds a name that the policy does not list.  The rest, by name (and protocol):
CLASSES = {
    "class_builtin": "root",          # int: a factory for defaultdict, no value
    "py2_type": "root",
    "py2_unicode_type": "root",
    "partial": "recipe",              # functools.partial is known as a spelling only
    "picklebuffer_oob_ro": "opcode",  # out of band
    "picklebuffer_oob_rw": "opcode",
    ("py2_oldinit", 0): "opcode",     # INST; the other protocols name the class before OBJ
}

# Hostile streams that this policy judges otherwise than the corpus's own.
HOSTILE = {
    "global_inst": "opcode",            # INST is not enabled
    # made of names that this policy does not list
    "recipe_re_debug": "global",
    "recipe_enum_functional": "global",
    "recipe_flag_bits": "global",
    "recipe_exc_class": "global",
    "recipe_slot_state": "global",
    "recipe_np_flags": "global",
    "recipe_np_class": "global",
    "native_np_length": "global",
    "native_np_field": "global",
    "native_regex": "global",
    "kind_newobj_ex_kw": "global",
}


def expected_good(entry, protocol):
    name = entry["name"]
    if name in NOT_GRANTED:
        return "global"
    granted = entry["family"] in GRANTED or name in ACCEPTED
    return CLASSES.get((name, protocol), CLASSES.get(name, "accept" if granted else "global"))


def check_verdicts(tally, build, policy, wanted, *options):
    """wanted: the outcome of each path, or several that may be."""
    verdicts, _ = run([build + "/policyc", "try", policy, "--print", "none", *options], list(wanted))
    for path, expected in wanted.items():
        got = verdicts[path]
        outcome = got[1] if got[0] == "refused" else got[0]
        tally.check(outcome == expected or isinstance(expected, tuple) and outcome in expected,
                    "%s: %s: expected %s, got %s" % (policy, path, expected, got))


def main():
    build = sys.argv[1]
    corpus, tally = Corpus(build + "/corpus"), Tally()
    wanted = {path: expected_good(entry, file["protocol"]) for path, entry, file, _ in corpus.good()}
    wanted.update((path, HOSTILE.get(entry["name"], entry["class"])) for path, entry in corpus.hostile())
    names = {entry["name"] for kind in ("good", "hostile") for entry in corpus.manifest[kind]}
    listed = set(NOT_GRANTED) | ACCEPTED | set(HOSTILE) | {key if isinstance(key, str) else key[0] for key in CLASSES}
    tally.check(listed <= names, "listed here, not in the corpus: %s" % sorted(listed - names))
    check_verdicts(tally, build, POLICY, wanted)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
