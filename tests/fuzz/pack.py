#!/usr/bin/python3
"""Minimise what fuzzing has found and keep it: tests/fuzz/seeds.tar.xz, which `make test` replays and fuzzing starts from.

usage: pack.py BUILD        (from the top folder, after `make fuzz`)

libFuzzer picks, of the seeds kept before and of what stands in BUILD/fuzz/found, the smallest inputs that together reach as much
as all of them; targets that read pickles share one folder.  The archive is the same for the same inputs.
"""
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile

ARCHIVE = "tests/fuzz/seeds.tar.xz"
LONGEST = 1024  # bytes of a seed
# Folder of seeds, the target that says what they reach, and the targets whose findings go there.
KEPT = (("pickle", "decode", ("decode", "same", "cpython")), ("policy", "policy", ("policy",)))


def is_short(path):
    return os.path.getsize(path) <= LONGEST


def short_files(folder, into):
    """Copies of the short files of a folder, by name of their content."""
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if os.path.isfile(path) and is_short(path):
            with open(path, "rb") as file:
                data = file.read()
            with open(os.path.join(into, hashlib.sha1(data).hexdigest()), "wb") as file:
                file.write(data)


def minimise(build, target, folders):
    """Contents of the files that are worth keeping."""
    with tempfile.TemporaryDirectory() as work:
        before, after = os.path.join(work, "before"), os.path.join(work, "after")
        os.mkdir(before)
        os.mkdir(after)
        for folder in folders:
            short_files(folder, before)
        subprocess.run(["%s/fuzz/tests/fuzz/%s" % (build, target), "-merge=1", after, before], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        contents = []
        for name in os.listdir(after):
            with open(os.path.join(after, name), "rb") as file:
                contents.append(file.read())
        return sorted(contents)


def main():
    build = sys.argv[1]
    with tarfile.open(ARCHIVE + ".new", "w:xz", preset=9) as archive:
        for folder, target, found in KEPT:
            contents = minimise(build, target, ["%s/seeds/%s" % (build, folder)] + ["%s/fuzz/found/%s" % (build, name) for name in found])
            entry = tarfile.TarInfo("seeds/" + folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
            for data in contents:
                entry = tarfile.TarInfo("seeds/%s/%s" % (folder, hashlib.sha1(data).hexdigest()[:12]))
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
            print("%s: %d seeds, %d bytes" % (folder, len(contents), sum(map(len, contents))))
    os.replace(ARCHIVE + ".new", ARCHIVE)


if __name__ == "__main__":
    main()
