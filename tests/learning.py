"""policyc learn, run in a folder of a test's own."""
import os

from assemble import assemble
from policyc import Policyc, check, write


class Learn:
    def __init__(self, build, folder):
        self.policyc, self.folder, self.build = Policyc(build), folder, build

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, value, protocol=4):
        """A pickle of the value in the folder."""
        return self.put_stream(name, assemble(value, protocol))

    def put_stream(self, name, stream):
        write(self.path(name), stream)
        return self.path(name)

    def learn(self, *arguments):
        return self.policyc.run("learn", *arguments)

    def admitted(self, policy, paths, *options):
        with open(self.path("paths.list"), "w", encoding="utf-8") as names:
            names.write("".join(path + "\n" for path in paths))
        _, out, _ = self.policyc.run("try", policy, "--tsv", "--print", "none", "--files-from", names.name, *options)
        return {line.split("\t")[0] for line in out.splitlines() if line.split("\t")[1] == "accept"}

    def canonical(self, name, policy):
        status, out, err = self.policyc.run("fmt", "--check", policy)
        check(name + ": canonical", status == 0, out + err)
