#!/usr/bin/python3
"""The verdicts of policies/plain.policy, policies/exceptions.policy, policies/numpy.policy, tests/policy/extra.policy and
tests/policy/objects.policy on the corpus.  That of policies/values.policy is test_values_corpus.py.

usage: test_shipped_corpus.py BUILD     (from the top folder; the corpus stands unpacked in BUILD/corpus)
"""
import re
import sys
import tempfile

from run_corpus import MACHINE_CLASSES, Corpus
from tally import Tally
from test_values_corpus import check_verdicts

REFUSED = MACHINE_CLASSES + ("global", "recipe", "root", "native")

# Names that only spell plain data in old protocols.
SPELLINGS = re.compile(r'"_codecs" "encode"|"builtins" "(bytearray|bytes|set|frozenset)"')

# Exceptions that policies/exceptions.policy refuses, and with which class; all others of the family it accepts.
NO_EXCEPTIONS = {
    "exc_KeyboardInterrupt": "global", "exc_StopIteration": "global", "exc_SystemExit": "global",
    "exc_stopiteration_value": "global", "exc_systemexit_code": "global", "exc_cancelled": "global",
    "exc_user": "global", "exc_user_kw": "global",               # of an application
    "exc_mp_pool": "global", "exc_futures_process": "global",    # calls that set a cause
    "exc_with_attr": "recipe",                                   # an attribute that no state lists
}

OF_PYTHON_2 = {"py2_exc", "py2_ioerror", "py2_key_error", "py2_standarderror", "py2_unicode_error"}

# What tests/policy/extra.policy is for, by channel.
EXTRA = {
    "data": """re_str re_bytes iterator_enumerate picklebuffer_oob_ro picklebuffer_oob_rw cycle_obj cycle_set cycle_frozenset
        typed_namedtuple tzinfo_subclass exc_user exc_user_kw exc_with_attr""".split(),
    "errors": """exc_KeyboardInterrupt exc_StopIteration exc_SystemExit exc_stopiteration_value exc_systemexit_code
        exc_cancelled""".split(),
}
# Hostile streams that are meant for its fragments.
HOSTILE = {
    "data": {"recipe_re_debug": "recipe"},
    "errors": {"recipe_exc_class": "recipe"},
}
OUT_OF_BAND = b"abc"

# Of the family numpy, what policies/numpy.policy refuses; with arrays of objects it is tests/policy/objects.policy that accepts.
NO_ARRAYS = {"np_array_object": "recipe", "np_dtype_metadata": "recipe", "np_ufunc": "global", "np_function": "global"}
HOSTILE_ARRAYS = {"recipe_np_flags": "recipe", "recipe_np_class": "recipe", "native_np_length": "native",
                  "native_np_field": "native"}
ARRAY_BYTES = bytes(6 * 8)  # the data of those that are out of band


def plain_outcomes(corpus):
    for path, entry, file, tree in corpus.good():
        names = re.findall(r'\(global ("[^"]*" "[^"]*")', tree)
        plain = all(SPELLINGS.fullmatch(name) for name in names)
        family = entry["family"] in ("plain", "container")
        yield path, ("accept" if plain else REFUSED) if family else ("accept", *REFUSED) if plain else REFUSED


def exception_outcomes(corpus):
    for path, entry, _, _ in corpus.good():
        family = entry["family"] == "exceptions" or entry["name"] in OF_PYTHON_2
        yield path, NO_EXCEPTIONS.get(entry["name"], "accept") if family else REFUSED


def hostile_outcomes(corpus):
    """A stream that the machine refuses gets its class, unless a name that is not granted comes first."""
    for path, entry in corpus.hostile():
        yield path, (entry["class"], "global") if entry["class"] in MACHINE_CLASSES else REFUSED


def check_extra(tally, build, corpus):
    names = {entry["name"] for kind in ("good", "hostile") for entry in corpus.manifest[kind]}
    listed = OF_PYTHON_2.union(NO_EXCEPTIONS, *EXTRA.values(), *HOSTILE.values())
    tally.check(listed <= names, "listed here, not in the corpus: %s" % sorted(listed - names))
    with tempfile.NamedTemporaryFile() as buffer:
        buffer.write(OUT_OF_BAND)
        buffer.flush()
        for channel, accepted in EXTRA.items():
            wanted = {path: "accept" for path, entry, _, _ in corpus.good() if entry["name"] in accepted}
            for path, entry in corpus.hostile():
                if entry["name"] in HOSTILE[channel]:
                    wanted[path] = HOSTILE[channel][entry["name"]]
            out_of_band = [path for path in wanted if "_oob_" in path]
            policy = "tests/policy/extra.policy:" + channel
            if out_of_band:
                check_verdicts(tally, build, policy, {path: wanted.pop(path) for path in out_of_band}, "--buffer", buffer.name)
            check_verdicts(tally, build, policy, wanted)


def check_numpy(tally, build, corpus):
    policy, objects = "policies/numpy.policy", "tests/policy/objects.policy"
    wanted, alone, out_of_band = {}, {}, {}
    for path, entry, _, _ in corpus.good():
        if entry["family"] != "numpy":
            continue
        outcome = NO_ARRAYS.get(entry["name"], "accept")
        (out_of_band if "oob" in entry["tags"] else wanted)[path] = outcome
        alone[path] = "argument" if "oob" in entry["tags"] else "accept" if entry["name"] == "np_array_object" else outcome
    hostile = {path: HOSTILE_ARRAYS[entry["name"]] for path, entry in corpus.hostile() if entry["name"] in HOSTILE_ARRAYS}
    tally.check(len(hostile) == len(HOSTILE_ARRAYS) and out_of_band, "the corpus lacks files of numpy")
    check_verdicts(tally, build, policy, {**wanted, **hostile})
    check_verdicts(tally, build, objects, {**alone, **hostile})
    with tempfile.NamedTemporaryFile() as buffer:
        buffer.write(ARRAY_BYTES)
        buffer.flush()
        check_verdicts(tally, build, policy, out_of_band, "--buffer", buffer.name)
        buffer.truncate(len(ARRAY_BYTES) - 1)
        check_verdicts(tally, build, policy, dict.fromkeys(out_of_band, "native"), "--buffer", buffer.name)


def main():
    build = sys.argv[1]
    corpus, tally = Corpus(build + "/corpus"), Tally()
    hostile = dict(hostile_outcomes(corpus))
    check_verdicts(tally, build, "policies/plain.policy", {**dict(plain_outcomes(corpus)), **hostile})
    exceptions = {**dict(exception_outcomes(corpus)), **hostile}
    exceptions.update((path, "recipe") for path, entry in corpus.hostile() if entry["name"] == "recipe_exc_class")
    check_verdicts(tally, build, "policies/exceptions.policy", exceptions)
    check_extra(tally, build, corpus)
    check_numpy(tally, build, corpus)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
