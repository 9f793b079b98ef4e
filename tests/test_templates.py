#!/usr/bin/python3
"""Templates take what each Python found on this machine writes for such classes, and nothing else of them: the pickles of
producers/templates.py, and streams that no pickler writes, under the policy beside it.

usage: test_templates.py BUILD       (from the top folder)
"""
import itertools
import os
import sys
import tempfile

from assemble import assemble, call, new, ref
from run_corpus import run
from tally import Tally
from test_values_producers import decide_all

POLICY = "tests/producers/templates.policy"


def either(*members):
    """A chain of operator.or_ as CPython 3.11.2 nests it."""
    value = members[0]
    for member in members[1:]:
        value = call("_operator::or_", value, member)
    return value


R, W, X = (ref("app::Perm." + name) for name in "RWX")
A, B, C = (ref("app::Bits." + name) for name in "ABC")
FIELDS = {"x": 1, "y": "a"}
V1 = {"__dict__": FIELDS, "__fields_set__": {"x"}, "__private_attribute_values__": {}}
V2 = {"__dict__": FIELDS, "__pydantic_extra__": None, "__pydantic_fields_set__": {"y"}, "__pydantic_private__": None}


# Each of these yields (key of the root, value, outcome).


def chains():
    """Of or_: members of one flag, the chain to the left."""
    yield "perm", either(R, W), "accept"
    yield "perm", either(R, W, X, R, W), "accept"
    yield "perm", call("_operator::or_", either(R, W), either(W, X)), "recipe"
    yield "perm", call("_operator::or_", R, either(W, X)), "recipe"
    yield "perm", either(call("app::Perm", 6), X), "accept"
    yield "perm", either(call("app::Perm", 0), X), "accept"
    yield "bits", either(*[A] * 60), "accept"
    yield "bits", either(A, B), "accept"
    yield "perm", either(A, B), "root"
    yield "perm", either(R, A), "recipe"
    yield "bits", either(R, A), "recipe"
    yield "perm", either(either(R, W), C), "recipe"
    yield "perm", either(R, either(A, B)), "recipe"
    yield "perm", either(R, 1), "recipe"
    yield "perm", either(1, 2), "recipe"
    yield "perm", call("_operator::or_", R), "recipe"
    yield "perm", call("_operator::or_", R, W, X), "recipe"
    yield "perm", either(R, call("app::Perm", 8)), "recipe"
    yield "perm", either(R, call("app::Mode", "fast")), "recipe"
    yield "perm", either({}, {}), "recipe"
    yield "perm", ref("_operator::or_"), "root"
    yield "perm", call("_operator::or_", R, W, state=[{}]), "recipe"


def members():
    """By value and by name."""
    yield "perm", call("app::Perm", 7), "accept"
    yield "perm", call("app::Perm", 8), "recipe"
    yield "perm", call("app::Perm", -1), "recipe"
    yield "perm", call("app::Perm", True), "recipe"
    yield "perm", call("app::Perm", "R"), "recipe"
    yield "perm", call("app::Perm"), "recipe"
    yield "perm", call("app::Perm", 1, 2), "recipe"
    yield "perm", R, "accept"
    yield "perm", ref("app::Perm.S"), "global"
    yield "perm", ref("app::Perm"), "root"
    yield "mode", call("app::Mode", "quick"), "recipe"
    yield "mode", call("app::Mode", "fast"), "accept"
    yield "mode", ref("app::Mode.QUICK"), "accept"
    yield "mode", call("app::Mode", "fast", state=[{}]), "recipe"
    yield "mode", new("app::Mode"), "recipe"
    yield "mode", call("app::Mode.FAST"), "recipe"
    yield "odd", call("app::Odd", (1, "x")), "accept"
    yield "odd", call("app::Odd", (1, "y")), "recipe"
    yield "odd", call("app::Odd", 1), "recipe"


def fields():
    """In one of the three states, all of them, no more."""
    yield "slots", new("app::Slots", state=[(None, FIELDS)]), "accept"
    yield "slots", new("app::Slots", state=[FIELDS]), "accept"
    yield "slots", new("app::Slots", state=[[1, "a"]]), "accept"
    yield "slots", new("app::Slots", state=[["a", 1]]), "recipe"
    yield "slots", new("app::Slots", state=[[1]]), "recipe"
    yield "slots", new("app::Slots", state=[[1, "a", None]]), "recipe"
    yield "slots", new("app::Slots", state=[(FIELDS, FIELDS)]), "recipe"
    yield "slots", new("app::Slots", state=[({}, FIELDS)]), "recipe"
    yield "slots", new("app::Slots", state=[(None, dict(FIELDS, __class__=None))]), "recipe"
    yield "slots", new("app::Slots", state=[(1, "a")]), "recipe"
    yield "slots", new("app::Slots"), "recipe"
    yield "slots", call("app::Slots", 1, "a"), "recipe"
    yield "optional", new("app::Optional"), "accept"
    yield "optional", new("app::Optional", state=[(None, {})]), "accept"
    yield "optional", new("app::Optional", state=[[1]]), "accept"
    yield "optional", new("app::Optional", state=[[]]), "accept"
    yield "optional", new("app::Optional", state=[["a"]]), "recipe"
    yield "nothing", new("app::Nothing", state=[[]]), "accept"
    yield "nothing", new("app::Nothing", state=[[1]]), "recipe"


def exceptions():
    """They have no state but their attributes'."""
    yield "bare", call("app::Bare", state=[{}]), "recipe"
    yield "noted", call("app::Noted", "m", state=[{}]), "accept"
    yield "noted", call("app::Noted", "m", state=[{"__notes__": ["a"], "__cause__": None}]), "recipe"
    yield "noted", call("app::Noted", "m", state=[[]]), "recipe"


def models():
    """Of pydantic: one version's state, not a mixture."""
    yield "model", new("app::Model", state=[V1]), "accept"
    yield "model", new("app::Model", state=[V2]), "accept"
    yield "model", new("app::Model", state=[dict(V2, __pydantic_extra__={}, __pydantic_private__={})]), "accept"
    yield "model", new("app::Model", state=[dict(V1, **V2)]), "recipe"
    yield "model", new("app::Model", state=[dict(V2, __pydantic_extra__={"z": 1})]), "recipe"
    yield "model", new("app::Model", state=[dict(V2, __pydantic_fields_set__={"z"})]), "recipe"
    yield "model", new("app::Model", state=[dict(V1, __private_attribute_values__={"_p": 1})]), "recipe"
    yield "model", new("app::Model", state=[FIELDS]), "recipe"
    yield "hollow", new("app::Hollow", state=[dict(V1, __dict__={}, __fields_set__=set())]), "accept"
    yield "hollow", new("app::Hollow", state=[dict(V1, __dict__={})]), "recipe"


def decide_streams(build):
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        wanted = {}
        for number, (key, value, outcome) in enumerate(itertools.chain(chains(), members(), fields(), exceptions(), models())):
            for protocol in 0, 2, 3, 4:
                path = os.path.join(folder, "%s%d.p%d.pkl" % (key, number, protocol))
                with open(path, "wb") as file:
                    file.write(assemble({key: value}, protocol))
                wanted[path] = outcome
        verdicts, _ = run([build + "/policyc", "try", POLICY, "--print", "none"], list(wanted))
        for path, outcome in wanted.items():
            got = verdicts[path]
            tally.check((got[1] if got[0] == "refused" else got[0]) == outcome,
                        "%s: expected %s, got %s" % (os.path.basename(path), outcome, got))
    return tally


def main():
    streams_tally = decide_streams(sys.argv[1])
    return decide_all(sys.argv[1], POLICY, "tests/producers/templates.py", streams_tally)


if __name__ == "__main__":
    sys.exit(main())
