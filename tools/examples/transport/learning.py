"""What a profile's `learn` does: results that were refused are kept, and `policyc learn` writes what would admit them.

What is admitted teaches nothing, so data alone never opens a policy.  What is learned is rows for the names that were seen, to be reviewed and
compiled; the reply that taught it stays refused.  Learn from children that nobody attacks.

Layer: example, for the parent.
"""
import hashlib
import os
import subprocess
import tempfile

MOST_LESSONS = 1_000  # of them one pickle each, at most wire.PAYLOAD bytes


class Lessons:
    def __init__(self, base, policyc=("policyc",)):
        """`base`: FILE.policy:CHANNEL, what it admits is not learned."""
        self.base, self.policyc = base, tuple(policyc)
        self.pickles = {}

    def note(self, pickled):
        if len(self.pickles) < MOST_LESSONS:
            self.pickles.setdefault(hashlib.sha256(pickled).digest(), pickled)

    def write(self, policy):
        """Adds what was noted to the file: whether all of it is admitted then, and what policyc says.  The file is replaced at once, and
        its former one kept.  What was written is forgotten here, so a second call does nothing."""
        pickles, self.pickles = self.pickles, {}
        if not pickles:
            return True, ""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, "%d.pkl" % number) for number in range(len(pickles))]
            for path, pickled in zip(paths, pickles.values()):
                with open(path, "wb") as file:
                    file.write(pickled)
            done = subprocess.run([*self.policyc, "learn", "--into", policy, "-p", self.base, *paths], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode == 0, done.stdout.decode("utf-8", "replace")
