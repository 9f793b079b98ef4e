#!/usr/bin/python3
"""Each alternative of each row of the shipped fragments has a case of its own that is accepted, and one that is refused.

usage: test_alternatives.py BUILD       (from the top folder)

The cases are those of test_*_grants.py and test_values_records.py.  With one in its place that fits nothing, one of its row's
accepted cases is refused; with one that takes everything, or without its native check, one of the refused cases is accepted.
Where that does not happen, no case tells what the alternative says.  The changed policies are made of listings; alternatives that no case has in common change together.
"""
import os
import re
import sys
import tempfile

import test_exceptions_grants
import test_numpy_grants
import test_systems_grants
import test_values_grants
import test_values_records
from assemble import Node, assemble
from policyc import Policyc, tally
from run_corpus import run
from test_list import GRANT, TAIL, as_policy, without_comment

POLICIES = {
    "policies/values.policy": {**test_values_grants.CASES, **test_values_records.TEXT, **test_values_records.MISC},
    "policies/exceptions.policy": test_exceptions_grants.ERRORS,
    "policies/numpy.policy": test_numpy_grants.ROWS,
    "tests/policy/objects.policy": test_numpy_grants.OBJECT_ROWS,
    "tests/policy/extra.policy:data": test_values_records.EXTRA,
    "tests/policy/extra.policy:errors": test_exceptions_grants.FLOW,
    "tests/policy/extra.policy:traceback": test_systems_grants.TBLIB,
}
STEPS = "state? Value items Value pairs Value: Value because \"all\""
# What stands in the place of an alternative: what fits nothing, and what takes everything.
NOTHING = {"call": "call(no: \"no such text\")", "new": "new(no: \"no such text\")", "func": "func(no: \"no such text\") -> %s because \"none\""}
EVERYTHING = {"call": "call(all: Value...) " + STEPS, "new": "new(all: Value...) kw { *: Value } " + STEPS,
              "func": "func(all: Value...) -> %s " + STEPS}
PROTOCOL = 4


def values_of(item):
    return item[0] if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], str) else item


def names_in(value):
    """(names of what is made or mentioned, those that are mentioned alone), as rows spell them."""
    if isinstance(value, Node):
        if value.verb == "raw":
            return set(), set()
        name = value.name.replace("numpy.core.", "numpy._core.").replace("pathlib._local", "pathlib")
        parts = [*value.args, *(value.state or ()), *(value.items or ()), *(x for kv in value.pairs or () for x in kv), value.kw]
        found = {name}, {name} if value.verb == "ref" else set()
    elif isinstance(value, dict):
        parts, found = [*value.keys(), *value.values()], (set(), set())
    else:
        parts, found = list(value) if isinstance(value, (tuple, list, set)) else [], (set(), set())
    for part in parts:
        for known, more in zip(found, names_in(part)):
            known.update(more)
    return found


class Cases:
    """The cases of one row, as files; `stays` are those with the outcome that the policy gives."""

    def __init__(self, folder, number, accepted, refused):
        self.accepted = [self.write(folder, "%d.a%d" % (number, i), value) for i, value in enumerate(accepted)]
        self.refused = [self.write(folder, "%d.r%d" % (number, i), values_of(item)) for i, item in enumerate(refused)]
        self.names = set().union(*(names_in(value)[0] for value in [*accepted, *map(values_of, refused)]))

    @staticmethod
    def write(folder, name, value):
        path = os.path.join(folder, name + ".pkl")
        with open(path, "wb") as file:
            file.write(assemble(value, PROTOCOL))
        return path


def without_check(line):
    return re.sub(r" check \w+", "", line)


def replaced(line, instead):
    """The listing's line with another alternative in the place of its own."""
    module, name, verb, rest = GRANT.match(without_comment(line)).groups()
    result = rest.partition(") -> ")[2].split(" ")[0]
    head, because, reason = (instead[verb] % result if verb == "func" else instead[verb]).partition(" because")
    return "%s::%s %s%s%s%s" % (module, name, head, TAIL.match(rest).group(2) or "", because, reason)


def batches(tasks, cases):
    """Sets of changes, no two of one row or of rows whose cases know the other."""
    left = list(tasks)
    while left:
        batch, rest = [], []
        for task in left:
            name = task[0]
            clash = any(name == other or name in cases[other].names or other in cases[name].names for other, _ in batch)
            (rest if clash else batch).append(task)
        yield batch
        left = rest


def decide(policyc, folder, lines, paths):
    path = os.path.join(folder, "changed.policy")
    with open(path, "w", encoding="utf-8") as file:
        file.write(as_policy("\n".join(lines) + "\n"))
    status, _, messages = policyc.run(path)
    tally.check(status == 0, messages)
    return {path: verdict[0] for path, verdict in run([policyc.program, "try", path, "--print", "none"], paths)[0].items()} if not status else {}


def check_policy(policyc, folder, policy, rows):
    status, listing, messages = policyc.run("list", policy, "--policy-dir", "policies")
    tally.check(status == 0, messages)
    mentioned = ["ref %s::%s" % match.group(1, 2) for match in map(GRANT.match, listing.splitlines()) if match and match.group(3) == "ref"]
    # Members of enums are written by templates alone.
    lines = [line for line in listing.splitlines() if " const = " not in line and " const -> " not in line]
    lines.insert(1, "type Value = " + " | ".join(["any", *mentioned]))
    cases = {name: Cases(folder, number, *pair) for number, (name, pair) in enumerate(rows.items())}
    grants = {}
    for line in lines:
        match = GRANT.match(line)
        if match and "::".join(match.group(1, 2)).replace('"', "") in rows:
            grants.setdefault("::".join(match.group(1, 2)).replace('"', ""), []).append((match.group(3), line))
    check_mentions(policy, rows, [name for name, forms in grants.items() for verb, _ in forms if verb in ("ref", "const")])
    made = [(name, line) for name, forms in grants.items() for verb, line in forms if verb not in ("ref", "const")]
    tally.check(made and set(rows) == set(grants), policy + ": its rows are not those of the cases")
    honest = decide(policyc, folder, lines, [path for one in cases.values() for path in one.accepted + one.refused])

    def check_changes(tasks, kind, before):
        """Each task, a row and what comes in the place of lines, gives one of its cases of a kind another outcome."""
        for batch in batches(tasks, cases):
            other = {line: instead for _, change in batch for line, instead in change.items()}
            paths = {name: [path for path in getattr(cases[name], kind) if honest.get(path) == before] for name, _ in batch}
            verdicts = decide(policyc, folder, [other.get(line, line) for line in lines], [p for some in paths.values() for p in some])
            for name, change in batch:
                tally.check(any(verdicts.get(path) != before for path in paths[name]),
                            "%s: no case is %s because of: %s" % (policy, kind, "\n".join(change)))

    check_changes([(name, {line: replaced(line, NOTHING)}) for name, line in made], "accepted", "accept")
    check_changes([(name, {line: replaced(line, EVERYTHING)}) for name, line in made], "refused", "refused")
    checked = {name: {line: without_check(line) for other, line in made if other == name and " check " in line} for name, _ in made}
    check_changes([(name, change) for name, change in checked.items() if change], "refused", "refused")


def check_mentions(policy, rows, names):
    """A name that is data, or that may be mentioned: cases mention it where they may, and where they may not."""
    taken = set().union(*(names_in(value)[1] for accepted, _ in rows.values() for value in accepted))
    refused = set().union(*(names_in(values_of(item))[0] for _, refused in rows.values() for item in refused))
    for name in names:
        tally.check(name in taken, "%s: no case mentions %s" % (policy, name))
        tally.check(name in refused, "%s: no case mentions %s where it may not" % (policy, name))


def main():
    policyc = Policyc(sys.argv[1])
    for policy, rows in POLICIES.items():
        with tempfile.TemporaryDirectory() as folder:
            check_policy(policyc, folder, policy, rows)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
