"""What the test scripts count: a line for each failure, and at the end `N passed, N failed`, which run_check.py adds up."""


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, condition, message):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            if self.failed <= 40:
                print("FAILED " + message[:4000])

    def run(self, tests, *arguments):
        """Calls each; one that raises has failed."""
        for test in tests:
            try:
                test(*arguments)
            except Exception as error:
                self.check(False, "%s: %s: %s" % (getattr(test, "__name__", test), type(error).__name__, error))

    def finish(self):
        """The last line; returns the exit status.  A script that checked nothing has failed."""
        if not self.passed + self.failed:
            self.check(False, "nothing was checked")
        print("%d passed, %d failed" % (self.passed, self.failed))
        return 1 if self.failed else 0
