#!/usr/bin/python3
"""Properties of a guard, looked for by hypothesis: what policy `values` admits goes round as through pickle, at every protocol; and of
bytes that were changed, a guard makes what pickle makes of them, or refuses.

usage: test_python_hypothesis.py BUILD       (from the top folder, after `make test`)

The examples are the same in every run.  Where one fails, hypothesis makes it smaller and prints it.
"""
import collections
import datetime
import io
import os
import pathlib
import pickle
import sys
import types
import zoneinfo

os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.devnull
from hypothesis import HealthCheck, Verbosity, given, settings, strategies as st  # noqa: E402

from alike import difference  # noqa: E402
from guards import guard, sanitized  # noqa: E402
from tally import Tally  # noqa: E402

tally = Tally()

EXAMPLES = 40 if sanitized() else 300
SETTINGS = settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, verbosity=Verbosity.quiet,
                    suppress_health_check=list(HealthCheck))
PROTOCOLS = st.integers(0, pickle.HIGHEST_PROTOCOL)

# ---- what policy `values` admits

text = st.text(st.characters(), max_size=600) | st.text("abc\0", max_size=4)
whole_minutes = st.integers(-23 * 60, 23 * 60).map(lambda m: datetime.timezone(datetime.timedelta(minutes=m)))
zones = st.sampled_from([None, datetime.timezone.utc, zoneinfo.ZoneInfo("UTC"), zoneinfo.ZoneInfo("Europe/Paris")]) | whole_minutes
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-2 ** 200, 2 ** 200), st.floats(), text, st.binary(max_size=600),
    st.complex_numbers(), st.dates(), st.times(timezones=zones), st.datetimes(timezones=zones), st.timedeltas(),
    st.decimals(), st.fractions(), st.uuids(), st.ip_addresses(),
    st.builds(range, st.integers(-99, 99), st.integers(-99, 99), st.integers(1, 9)),
    st.builds(pathlib.PurePosixPath, st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){0,3}", fullmatch=True)),
    st.builds(slice, st.none() | st.integers(), st.none() | st.integers(), st.none() | st.integers(1, 9)))
keys = st.one_of(st.integers(), text, st.binary(max_size=20), st.dates(), st.fractions(), st.uuids(),
                 st.tuples(st.integers(), text), st.frozensets(st.integers(), max_size=5))


def containers(inner):
    items = st.lists(inner, max_size=6)
    pairs = st.dictionaries(keys, inner, max_size=6)
    return st.one_of(
        items, items.map(tuple), pairs, st.sets(keys, max_size=6), st.frozensets(keys, max_size=6),
        st.binary(max_size=99).map(bytearray), pairs.map(collections.OrderedDict), items.map(collections.deque),
        st.builds(collections.deque, items, st.integers(6, 9)),
        st.builds(lambda d: collections.defaultdict(list, d), pairs),
        st.dictionaries(keys, st.integers(0, 99), max_size=6).map(collections.Counter),
        st.builds(lambda d: types.SimpleNamespace(**d), st.dictionaries(st.from_regex("[a-z]{1,6}", fullmatch=True), inner, max_size=4)))


values = st.recursive(scalars, containers, max_leaves=40)


@st.composite
def shared(draw):
    """Values that stand in several places, some of which hold themselves."""
    pool = draw(st.lists(values, min_size=1, max_size=4))
    lists = [[], {}, []]
    places = st.sampled_from(pool + lists)
    for into in lists:
        for value in draw(st.lists(places, max_size=4)):
            if isinstance(into, dict):
                into[len(into)] = value
            else:
                into.append(value)
    return draw(st.sampled_from([lists, tuple(lists), lists[0], {"x": lists, "y": pool}]))


# ---- properties


def same(a, b):
    found = difference(a, b)
    assert found is None, found


def both(g, data):
    """What pickle and the guard make of a pickle; the guard must admit it."""
    ours = g.loads(data)
    same(pickle.loads(data), ours)
    return ours


def round_trips(g, what=values):
    @SETTINGS
    @given(what, PROTOCOLS)
    def run(value, protocol):
        both(g, pickle.dumps(value, protocol))
    return run


def round_trips_of_shared(g):
    return round_trips(g, shared())


def writers_agree(g):
    """The pickler that is written in Python puts the same values otherwise."""
    @SETTINGS
    @given(shared(), PROTOCOLS)
    def run(value, protocol):
        ours = both(g, pickle._dumps(value, protocol))
        same(g.loads(pickle.dumps(value, protocol)), ours)
    return run


def loads_again(g):
    """What a guard made is pickled and admitted anew."""
    @SETTINGS
    @given(values, PROTOCOLS, PROTOCOLS)
    def run(value, first, second):
        once = g.loads(pickle.dumps(value, first))
        both(g, pickle.dumps(once, second))
    return run


def files_agree(g):
    """One pickle after the other from a file, and nothing read behind STOP."""
    @SETTINGS
    @given(st.lists(st.tuples(values, PROTOCOLS), min_size=1, max_size=3), st.binary(max_size=20))
    def run(wanted, rest):
        whole = b"".join(pickle.dumps(value, protocol) for value, protocol in wanted) + rest
        file, theirs = io.BytesIO(whole), io.BytesIO(whole)
        for _ in wanted:
            same(pickle.load(theirs), g.load(file))
            assert file.tell() == theirs.tell()
        assert file.read() == rest
    return run


def changed_bytes(g):
    """Bytes are replaced, left out, put in and moved: no exception but RefusedError, and no other value than pickle's.  pickle is
    asked only for what the guard admits: nothing else is safe to load."""
    opcodes = st.sampled_from([bytes([b]) for b in b".0N)]}()|*/~\x85\x86\x87\x88\x89\x8f\x90\x91\x93\x94abehjqrstuRQVISKMJGX\x80\x95"])
    change = st.tuples(st.integers(0, 10 ** 6), st.integers(0, 3), opcodes | st.binary(max_size=3))

    @settings(SETTINGS, max_examples=2 * EXAMPLES)
    @given(values, PROTOCOLS, st.lists(change, min_size=1, max_size=4))
    def run(value, protocol, changes):
        data = pickle.dumps(value, protocol)
        for at, cut, new in changes:
            at %= len(data) + 1
            data = data[:at] + new + data[at + cut:]
        before = set(sys.modules)
        try:
            ours = g.loads(data)
        except g.RefusedError:
            counts["refused"] += 1
            ours = None
        else:
            counts["admitted"] += 1
            same(pickle.loads(data), ours)
        assert set(sys.modules) == before
    counts = collections.Counter()
    run.counts = counts
    return run


def check_agrees(g):
    """check refuses what loads refuses before it builds, with the same words."""
    def refusal(of, data):
        try:
            of(data)
        except g.RefusedError as e:
            return str(e), e.code
        return None

    @SETTINGS
    @given(st.binary(max_size=60) | values.map(lambda v: pickle.dumps(v)[:-1] + b"0."))
    def run(data):
        verdict = refusal(g.check, data)
        assert verdict is None or verdict == refusal(g.loads, data)
    return run


def main(build):
    g = guard(build, "values_guard")
    for make in (round_trips, round_trips_of_shared, writers_agree, loads_again, files_agree, changed_bytes, check_agrees):
        run = make(g)
        try:
            run()
        except Exception as error:
            tally.check(False, "%s: %s: %s" % (make.__name__, type(error).__name__, error))
        else:
            tally.check(True, make.__name__)
        counts = getattr(run, "counts", None)
        if counts is not None:
            tally.check(min(counts["admitted"], counts["refused"]) >= EXAMPLES // 40, "one-sided changes: %s" % counts)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
