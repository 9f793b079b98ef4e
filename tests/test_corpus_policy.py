#!/usr/bin/python3
"""The verdict of tests/policy/corpus.policy on every file of the corpus, exactly: accepted, or refused with the class that the
manifest says.

usage: test_corpus_policy.py BUILD      (from the top folder; the corpus stands unpacked in BUILD/corpus)
"""
import os
import subprocess
import sys
import tempfile

from policyc import Policyc, tally
from run_corpus import Corpus, run

POLICY = "tests/policy/corpus.policy"

# Streams of class `native` that pass: what is wrong with them is beyond types and the checks of the runtime.
NATIVE = {"native_regex": "what a pattern costs to match is not in its length"}

OUT_OF_BAND = 48  # bytes in the largest out-of-band buffer of the corpus, an array of six doubles


def channel_of(entry):
    if {"python2", "inst"} & set(entry["families"]):
        return "python2"
    return "torch" if entry.get("family") == "torch" else "main"


def compiles(build, scratch):
    """The policy has every kind of row and template, so its C is a good sample: no warning."""
    source = os.path.join(scratch, "corpus.c")
    status, out, messages = Policyc(build).run(POLICY, "-o", source)
    tally.check(status == 0 and not out + messages, "policyc: " + out + messages)
    flags = "-std=c11 -Wall -Wextra -Wshadow -Wconversion -Wcast-qual -Werror -Iruntime -fsyntax-only".split()
    done = subprocess.run([os.environ.get("CC", "gcc"), *flags, source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    tally.check(done.returncode == 0, "its C: %s" % done.stdout.decode("utf-8", "replace"))


def main():
    build = sys.argv[1]
    corpus = Corpus(build + "/corpus")
    wanted, channels = {}, {}
    for path, entry, file, _ in corpus.good():
        wanted[path] = file["verdict"]
        channels.setdefault(channel_of(entry), []).append(path)
    for path, entry in corpus.hostile():
        wanted[path] = "accept" if entry["name"] in NATIVE else entry["class"]
        channels.setdefault(channel_of(entry), []).append(path)
    names = {entry["name"] for entry in corpus.manifest["hostile"] if entry["class"] == "native"}
    tally.check(set(NATIVE) <= names, "listed here, not in the corpus: %s" % sorted(set(NATIVE) - names))
    with tempfile.TemporaryDirectory() as scratch:
        compiles(build, scratch)
    with tempfile.NamedTemporaryFile() as buffer:
        buffer.write(bytes(OUT_OF_BAND))
        buffer.flush()
        for channel, paths in sorted(channels.items()):
            command = [build + "/policyc", "try", "%s:%s" % (POLICY, channel), "--print", "none", "--buffer", buffer.name]
            verdicts, _ = run(command, paths)
            for path in paths:
                got = verdicts[path]
                tally.check((got[1] if got[0] == "refused" else got[0]) == wanted[path],
                            "%s: channel %s: expected %s, got %s" % (path, channel, wanted[path], got))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
